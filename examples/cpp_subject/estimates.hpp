// Algorithm 1 on one call of the wire: its stages, and estimates under noise from given normals or from a seed.
#pragma once
#include <cstdint>

#include "f2csa.hpp"
#include "json.hpp"

struct Given {
  Problem q;
  size_t n;
  std::string noise;
  double sigma_f, sigma_g;  // on the gradients in x; 0 where there is none
};

/** Numbers that a seed below 2⁵³ stands for: SplitMix64 under Box and Muller. */
struct Generator {
  uint64_t seed;
  uint64_t word(uint64_t i) const {
    uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  double uniform(uint64_t i) const { return double(word(i) >> 11) * 0x1p-53; }
  double normal(uint64_t k) const {
    const double u = uniform(k & ~1ull), angle = 2 * M_PI * uniform(k | 1);
    return std::sqrt(-2 * std::log(1 - u)) * (k & 1 ? std::sin(angle) : std::cos(angle));
  }
};

/** The normals of a call: its lists, what its seed stands for, or, without draws, numbers of the request's seed. */
class Normals {
 public:
  Normals(const Json& draws, const Json& seed) : generator{uint64_t(seed.null() ? 0 : seed.number())} {
    const bool seeded = draws.has("generator");
    if (seeded) generator.seed = uint64_t(draws["seed"].number());
    uint64_t next = 0;
    for (const char* block : {"f_x", "g_x", "g_x_star"}) {
      start[block] = next;
      if (seeded && draws["shapes"].has(block))
        next += uint64_t(draws["shapes"][block].vector()[0] * draws["shapes"][block].vector()[1]);
      if (draws.null()) next += 1ull << 40;
      if (!seeded && draws.has(block) && !draws[block].null()) lists[block] = draws[block].matrix();
    }
  }
  Vector row(const std::string& block, size_t j, size_t width) const {
    if (const auto found = lists.find(block); found != lists.end()) return found->second.at(j);
    Vector made(width);
    for (size_t i = 0; i < width; ++i) made[i] = generator.normal(start.at(block) + j * width + i);
    return made;
  }

 private:
  Generator generator;
  std::map<std::string, uint64_t> start;
  std::map<std::string, Matrix> lists;
};

/** Lines 2 to 5: what L holds constant and the minimiser's shift, taken from the call where it gives them. */
inline std::pair<Lagrangian, Vector> stages_of(const Given& p, const Vector& x, const Json& call) {
  const auto given = [&](const char* name) { return call[name].null() ? Vector{} : call[name].vector(); };
  Vector y_star = given("y_star"), lam = given("lam"), rho = given("rho");
  if (y_star.empty() || lam.empty()) {
    const Pair found = lower_level(p.q, x);
    if (y_star.empty()) y_star = found.y;
    if (lam.empty()) lam = found.lam;
  }
  if (rho.empty())
    rho = activation(p.q.h(x, y_star), lam, call["h_width"].number(), call["parameters"]["lam_width"].number());
  const bool frozen = call["reading"]["dual_term"].text() == "frozen";
  const Lagrangian L{p.q, x, call["alpha"].number(), y_star, lam, rho, frozen};
  const Vector y = given("y_penalty");
  return {L, y.empty() ? L.minimiser() : add(y, y_star, -1)};
}

/** Noise of one sample, j, of ∇_x f(x, ỹ) + α₁(∇_x g(x, ỹ) - ∇_x g(x, ỹ*)). */
inline Vector noise_x(const Given& p, const Lagrangian& L, const Vector& w, bool common, const Normals& z, size_t j) {
  const Vector y = add(L.y_star, w), none(p.n);
  const auto length = [&](const Vector& other) { return std::hypot(norm(L.x), norm(other)); };
  const bool matrix = p.noise == "matrix", jump = p.noise == "jump";
  const double size = p.sigma_f * (matrix ? length(y) : 1);
  const Vector upper = p.sigma_f > 0 ? add(none, z.row("f_x", j, p.n), size) : none;
  if (p.sigma_g == 0 || (common && p.noise == "additive")) return upper;  // the same draw at both points cancels
  const size_t width = jump ? 1 : p.n;
  const Vector here = z.row("g_x", j, width), there = common ? here : z.row("g_x_star", j, width);
  Vector change = none;
  if (jump) {
    const auto side = [](double v, double zeta) { return double(v > zeta) - std::erfc(-v / std::sqrt(2)) / 2; };
    change[0] = side(y[0], here[0]) - side(L.y_star[0], there[0]);
  } else if (matrix && common) {
    change = add(none, here, norm(w));  // one matrix of normals at both points sees ỹ - ỹ* alone
  } else {
    change = add(add(none, here, matrix ? length(y) : 1), there, matrix ? -length(L.y_star) : -1);
  }
  return add(upper, change, p.sigma_g / (L.alpha * L.alpha));
}

/** Line 6: averages of N_g samples each, a row a replication. */
inline Matrix estimates(const Given& p, const Json& params, size_t replications) {
  const Json& call = params["call"];
  const auto [L, w] = stages_of(p, params["x"].vector(), call);
  Matrix made(replications, L.grad_x(w));
  if (p.noise == "none") return made;
  const Normals normals(call["draws"], params["seed"]);
  const bool common = call["reading"]["noise_pairing"].text() == "common";
  const size_t N = size_t(call["parameters"]["N_g"].number());
  for (size_t j = 0; j < replications * N; ++j)
    made[j / N] = add(made[j / N], noise_x(p, L, w, common, normals, j), 1.0 / double(N));
  return made;
}
