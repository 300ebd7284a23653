// Your F2CSA in JavaScript: write the four functions that throw NotWritten; F2CSA.md has the commands.
// A problem p holds its blocks as arrays of rows: f(x, y) = ½xᵀ(f_xx)x + xᵀ(f_xy)y + ½yᵀ(f_yy)y + f_xᵀx + f_yᵀy, g
// alike, and the rows h(x, y) = Ax - By - b <= 0. subject.mjs asks them what the suite asks.

/** A stage still to write: a fault where it is asked for, never a pass. */
export class NotWritten extends Error {
  constructor(place, stage, what) {
    super(`${stage} is not written yet, stage ${place} of 5: ${what}`);
  }
}

/** Line 3: { y_star, lam } of min_y g(x, y) subject to Ax - By - b <= 0. */
export function lowerLevel(p, x) {
  throw new NotWritten(1, "lower_level", "y* and its multipliers, of min g(x, y) with Ax - By - b <= 0");
}

const clamp = (value) => Math.min(Math.max(value, 0), 1);
/** Line 4: ρ = σ_h(h) σ_λ(λ). Written: stage 2 of 5. */
export function activation(h, lam, hWidth, lamWidth) {
  return h.map((value, i) => clamp((value + hWidth) / hWidth) * clamp(lam[i] / lamWidth));
}

/** Line 5: the minimiser ỹ of the penalty Lagrangian in y, as its shift ỹ - ỹ*, which keeps its digits. */
export function penaltyShift(p, x, { alpha, y_star, lam, rho }) {
  throw new NotWritten(3, "penalty_minimiser", "the y that is least for f + (g + λᵀh)/α² + Σ ρh²/(2α⁴)");
}

/** Line 6: ∇_x f(x, ỹ) + (∇_x g(x, ỹ) - ∇_x g(x, ỹ*))/α² + Aᵀ(ρ∘h(x, ỹ))/α⁴ at ỹ = ỹ* + shift. */
export function gradientX(p, x, { alpha, y_star, lam, rho }, shift) {
  throw new NotWritten(4, "hypergradient", "line 6, the penalty Lagrangian's gradient in x");
}

/** Algorithm 2: { x_bar, path }, the means of its K blocks of M steps and its T + 1 iterates; s has T numbers. */
export function outerLoop(oracle, x0, { D, eta, M, K }, s) {
  throw new NotWritten(5, "optimise", "z = x + sΔ, x + Δ, Δ - η oracle(z) clipped to D, K blocks of M steps");
}
