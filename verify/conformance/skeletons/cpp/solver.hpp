// Your F2CSA in C++: write the four functions that throw NotWritten; F2CSA.md has the commands.
#pragma once
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/** A stage still to write: a fault where it is asked for, never a pass. */
struct NotWritten : std::runtime_error {
  NotWritten(int place, const std::string& stage, const std::string& what)
      : std::runtime_error(stage + " is not written yet, stage " + std::to_string(place) + " of 5: " + what) {}
};

/** ½xᵀ(xx)x + xᵀ(xy)y + ½yᵀ(yy)y + x0ᵀx + y0ᵀy */
struct Objective { Matrix xx, xy, yy; Vector x0, y0; };

/** Upper level f, lower level g, rows h(x, y) = Ax - By - b <= 0. */
struct Problem { Objective f, g; Matrix A, B; Vector b; };

/** What the penalty Lagrangian holds constant. */
struct Held { double alpha; Vector y_star, lam, rho; };

struct Pair { Vector y_star, lam; };
struct OuterRun { Matrix x_bar, path; };

/** Line 3: y* and λ* of min_y g(x, y) subject to Ax - By - b <= 0. */
inline Pair lower_level(const Problem&, const Vector& /* x */) {
  throw NotWritten(1, "lower_level", "y* and its multipliers, of min g(x, y) with Ax - By - b <= 0");
}

/** Line 4: ρ = σ_h(h) σ_λ(λ). Written: stage 2 of 5. */
inline Vector activation(const Vector& h, const Vector& lam, double h_width, double lam_width) {
  Vector rho(h.size());
  for (size_t i = 0; i < h.size(); ++i)
    rho[i] = std::clamp((h[i] + h_width) / h_width, 0.0, 1.0) * std::clamp(lam[i] / lam_width, 0.0, 1.0);
  return rho;
}

/** Line 5: the minimiser ỹ of the penalty Lagrangian in y, as its shift ỹ - ỹ*, which keeps its digits. */
inline Vector penalty_shift(const Problem&, const Vector& /* x */, const Held&) {
  throw NotWritten(3, "penalty_minimiser", "the y that is least for f + (g + λᵀh)/α² + Σ ρh²/(2α⁴)");
}

/** Line 6: ∇_x f(x, ỹ) + (∇_x g(x, ỹ) - ∇_x g(x, ỹ*))/α² + Aᵀ(ρ∘h(x, ỹ))/α⁴ at ỹ = ỹ* + shift. */
inline Vector gradient_x(const Problem&, const Vector& /* x */, const Held&, const Vector& /* shift */) {
  throw NotWritten(4, "hypergradient", "line 6, the penalty Lagrangian's gradient in x");
}

/** Algorithm 2: the means of its K blocks of M steps, and its T + 1 iterates; s has T numbers. */
inline OuterRun outer_loop(const std::function<Vector(const Vector&)>& /* oracle */, const Vector& /* x0 */,
                           double /* D */, double /* eta */, int /* M */, int /* K */, const Vector& /* s */) {
  throw NotWritten(5, "optimise", "z = x + sΔ, x + Δ, Δ - η oracle(z) clipped to D, K blocks of M steps");
}
