// F2CSA in C++: the paper's Algorithms 1 and 2 for quadratic problems; it knows nothing of the suite.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

inline double dot(const Vector& u, const Vector& v) { return std::inner_product(u.begin(), u.end(), v.begin(), 0.0); }
inline double norm(const Vector& v) { return std::sqrt(dot(v, v)); }
/** u + scale * v */
inline Vector add(Vector u, const Vector& v, double scale = 1) {
  for (size_t i = 0; i < u.size(); ++i) u[i] += scale * v[i];
  return u;
}
inline Vector times(const Matrix& M, const Vector& v) {
  Vector made;
  for (const Vector& row : M) made.push_back(dot(row, v));
  return made;
}
inline Matrix transpose(const Matrix& M, size_t width) {
  Matrix made(width, Vector(M.size()));
  for (size_t i = 0; i < M.size(); ++i)
    for (size_t j = 0; j < width; ++j) made[j][i] = M[i][j];
  return made;
}

/** X with M X = R, by elimination with partial pivoting. */
inline Matrix solve(Matrix M, const Matrix& R) {
  const size_t n = M.size();
  for (size_t i = 0; i < n; ++i) M[i].insert(M[i].end(), R[i].begin(), R[i].end());
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; ++i) if (std::abs(M[i][k]) > std::abs(M[pivot][k])) pivot = i;
    if (!(std::abs(M[pivot][k]) > 0)) throw std::runtime_error("a linear system is singular");
    std::swap(M[k], M[pivot]);
    for (size_t i = 0; i < n; ++i)
      if (i != k && M[i][k] != 0) M[i] = add(M[i], M[k], -M[i][k] / M[k][k]);
  }
  Matrix X;
  for (size_t k = 0; k < n; ++k) {
    X.emplace_back(M[k].begin() + n, M[k].end());
    for (double& value : X[k]) value /= M[k][k];
  }
  return X;
}
inline Vector solve(const Matrix& M, const Vector& r) { return transpose(solve(M, transpose({r}, r.size())), 1)[0]; }

/** o(x, y) = ½xᵀ(xx)x + xᵀ(xy)y + ½yᵀ(yy)y + x0ᵀx + y0ᵀy */
struct Objective {
  Matrix xx, xy, yy;
  Vector x0, y0;
  Vector grad_x(const Vector& x, const Vector& y) const { return add(add(times(xx, x), times(xy, y)), x0); }
  Vector grad_y(const Vector& x, const Vector& y) const {
    return add(add(times(transpose(xy, y.size()), x), times(yy, y)), y0);
  }
};

struct Problem {
  Objective f, g;
  Matrix A, B;
  Vector b;
  Vector h(const Vector& x, const Vector& y) const { return add(add(times(A, x), times(B, y), -1), b, -1); }
};

/** Rows that hold as equations where ½yᵀGy + cᵀy is least under By >= d: Lemke's complementary pivots on the dual. */
inline std::vector<size_t> active_rows(const Matrix& G, const Vector& c, const Matrix& B, const Vector& d) {
  const size_t p = d.size(), last = 2 * p + 1;
  Matrix right = transpose(B, c.size());
  for (size_t i = 0; i < c.size(); ++i) right[i].push_back(-c[i]);
  const Matrix half = transpose(solve(G, right), p + 1);  // columns of G⁻¹[Bᵀ, -c]
  Matrix tableau(p, Vector(last + 1));                    // w - Mλ - z₀ = q
  std::vector<size_t> basis(p), active;
  size_t row = 0, entering = 2 * p;
  for (size_t i = 0; i < p; ++i) {
    basis[i] = i;
    tableau[i][i] = 1;
    for (size_t j = 0; j < p; ++j) tableau[i][p + j] = -dot(B[i], half[j]);
    tableau[i][2 * p] = -1;
    tableau[i][last] = dot(B[i], half[p]) - d[i];
    if (tableau[i][last] < tableau[row][last]) row = i;
  }
  if (tableau[row][last] >= 0) return active;
  for (size_t step = 0; step < 100 * (p + 1); ++step) {
    const double pivot = tableau[row][entering];
    for (double& value : tableau[row]) value /= pivot;
    for (size_t i = 0; i < p; ++i)
      if (i != row && tableau[i][entering] != 0) tableau[i] = add(tableau[i], tableau[row], -tableau[i][entering]);
    const size_t leaving = std::exchange(basis[row], entering);
    if (leaving == 2 * p) {
      for (const size_t j : basis) if (j >= p && j < 2 * p) active.push_back(j - p);
      return active;
    }
    entering = leaving < p ? leaving + p : leaving - p;
    const double infinite = std::numeric_limits<double>::infinity();
    Vector ratios;
    for (const Vector& line : tableau)
      ratios.push_back(line[entering] > 1e-11 ? std::max(line[last], 0.0) / line[entering] : infinite);
    row = std::min_element(ratios.begin(), ratios.end()) - ratios.begin();
    if (ratios[row] == infinite) throw std::runtime_error("no y satisfies the rows at this x");
    for (size_t i = 0; i < p; ++i)  // of equal ratios, z₀ leaves first
      if (basis[i] == 2 * p && ratios[i] <= ratios[row] * (1 + 1e-12) + 1e-15) row = i;
  }
  throw std::runtime_error("the pivots cycle");
}

struct Pair { Vector y, lam; };

/** Line 3: (y*, λ*), the equations of the active rows solved and refined. */
inline Pair lower_level(const Problem& q, const Vector& x) {
  const Vector d = add(times(q.A, x), q.b, -1), c = q.g.grad_y(x, Vector(q.g.y0.size()));
  const std::vector<size_t> active = active_rows(q.g.yy, c, q.B, d);
  const size_t m = c.size(), all = m + active.size();
  Matrix KKT(all, Vector(all));
  Vector right(all), found(all), lam(d.size());
  for (size_t i = 0; i < m; ++i) {
    right[i] = -c[i];
    std::copy(q.g.yy[i].begin(), q.g.yy[i].end(), KKT[i].begin());
    for (size_t k = 0; k < active.size(); ++k) KKT[i][m + k] = -(KKT[m + k][i] = q.B[active[k]][i]);
  }
  for (size_t k = 0; k < active.size(); ++k) right[m + k] = d[active[k]];
  for (int k = 0; k < 3; ++k) found = add(found, solve(KKT, add(right, times(KKT, found), -1)));
  for (size_t k = 0; k < active.size(); ++k) lam[active[k]] = std::max(found[m + k], 0.0);
  return {Vector(found.begin(), found.begin() + m), lam};
}

/** The smooth activation ρ = σ_h(h) σ_λ(λ). */
inline Vector activation(const Vector& h, const Vector& lam, double h_width, double lam_width) {
  const auto clamp = [](double value) { return std::clamp(value, 0.0, 1.0); };
  Vector rho;
  for (size_t i = 0; i < h.size(); ++i)
    rho.push_back(clamp((h_width + h[i]) / h_width) * clamp(lam[i] / lam_width));
  return rho;
}

/** The penalty Lagrangian at x in the shift w = y - ỹ*, in which α⁻² and α⁻⁴ lose no digits. */
struct Lagrangian {
  const Problem& q;
  Vector x;
  double alpha;
  Vector y_star, lam, rho;
  bool frozen;  // whether the multiplier stays out of the value term, so that α₁Aᵀλ̃ stays

  Vector weighted_rows(const Vector& w) const {
    Vector h = add(q.h(x, y_star), times(q.B, w), -1);
    for (size_t i = 0; i < h.size(); ++i) h[i] *= rho[i];
    return h;
  }
  Vector grad_y(const Vector& w) const {
    const Vector y = add(y_star, w);
    const Matrix Bt = transpose(q.B, y.size());
    const Vector lower = add(q.g.grad_y(x, y), times(Bt, lam), -1);
    return add(add(q.f.grad_y(x, y), lower, std::pow(alpha, -2)), times(Bt, weighted_rows(w)), -std::pow(alpha, -4));
  }
  Matrix hessian() const {
    Matrix H = q.f.yy;
    for (size_t i = 0; i < H.size(); ++i) H[i] = add(H[i], q.g.yy[i], std::pow(alpha, -2));
    for (size_t k = 0; k < rho.size(); ++k)
      for (size_t i = 0; i < H.size(); ++i) H[i] = add(H[i], q.B[k], std::pow(alpha, -4) * rho[k] * q.B[k][i]);
    return H;
  }
  /** Line 5: the minimiser's shift, by Newton's method until rounding wins. */
  Vector minimiser() const {
    const Matrix H = hessian();
    Vector w(y_star.size()), best = w, slope = grad_y(w);
    double least = std::numeric_limits<double>::infinity();
    while (norm(slope) < least) {
      best = w, least = norm(slope);
      w = add(w, solve(H, slope), -1), slope = grad_y(w);
    }
    return best;
  }
  /** Line 6 without noise. */
  Vector grad_x(const Vector& w) const {
    const Matrix At = transpose(q.A, x.size());
    Vector change = times(q.g.xy, w);  // ∇_x g(x, y) - ∇_x g(x, ỹ*)
    if (frozen) change = add(change, times(At, lam));
    const Vector upper = q.f.grad_x(x, add(y_star, w));
    return add(add(upper, change, std::pow(alpha, -2)), times(At, weighted_rows(w)), std::pow(alpha, -4));
  }
};

struct OuterRuns { std::vector<Matrix> x_bar, path; };

/** Algorithm 2 on R runs at once, the rows of x; s(t, r) is where on its segment run r is asked at step t. */
inline OuterRuns outer_loop(const std::function<Matrix(const Matrix&)>& oracle, Matrix x, double D, double eta, int M,
                            int K, const std::function<double(int, size_t)>& s) {
  Matrix step(x.size(), Vector(x[0].size()));
  OuterRuns made{{}, {x}};
  for (int t = 0; t < K * M; ++t) {
    if (t % M == 0) made.x_bar.emplace_back(x.size(), Vector(x[0].size()));
    Matrix z = x;
    for (size_t r = 0; r < x.size(); ++r) {
      z[r] = add(x[r], step[r], s(t, r));
      x[r] = add(x[r], step[r]);
      made.x_bar.back()[r] = add(made.x_bar.back()[r], z[r], 1.0 / M);
    }
    const Matrix gradient = oracle(z);
    for (size_t r = 0; r < x.size(); ++r) {
      step[r] = add(step[r], gradient[r], -eta);
      if (const double length = norm(step[r]); length > D)
        for (double& value : step[r]) value *= D / length;
    }
    made.path.push_back(x);
  }
  return made;
}
