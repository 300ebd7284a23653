// F2CSA in JavaScript: the paper's Algorithms 1 and 2, with gradients by hand and no packages.
// It knows nothing of the suite; adapter.mjs beside it holds it against the claims. Vectors and rows are plain arrays.

const NEWTON_STEPS = 50;

export const dot = (u, v) => u.reduce((sum, value, i) => sum + value * v[i], 0);
export const times = (M, v) => M.map((row) => dot(row, v));
export const add = (u, v, scale = 1) => u.map((value, i) => value + scale * v[i]);
export const norm = (v) => Math.hypot(...v);
export const transpose = (M, width) => Array.from({ length: width }, (_, j) => M.map((row) => row[j]));
const zeros = (n) => new Array(n).fill(0);

/** Solve the square system M X = R for the columns of R: elimination with partial pivoting. */
export function solve(M, R) {
  const n = M.length;
  const rows = M.map((row, i) => [...row, ...R[i]]);
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    if (!(Math.abs(rows[pivot][k]) > 0)) throw new Error("a linear system is singular");
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    for (let i = 0; i < n; i++) {
      if (i === k) continue;
      const factor = rows[i][k] / rows[k][k];
      if (factor) for (let j = k; j < rows[i].length; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  return rows.map((row, k) => row.slice(n).map((value) => value / row[k]));
}

const solveVector = (M, r) => solve(M, r.map((value) => [value])).map(([value]) => value);

/** A quadratic ½xᵀ(xx)x + xᵀ(xy)y + ½yᵀ(yy)y + x0ᵀx + y0ᵀy by its derivatives. */
export function quadratic(xx, xy, yy, x0, y0) {
  const yx = transpose(xy, y0.length);
  return {
    gradX: (x, y) => add(add(times(xx, x), times(xy, y)), x0),
    gradY: (x, y) => add(add(times(yx, x), times(yy, y)), y0),
    hessianYY: () => yy,
  };
}

/** g = y²/2 + xy + xy r^s with r = |(x, y)|, by its derivatives. */
export function holder(s) {
  const powers = (x, y) => {
    const r = Math.hypot(x, y);
    return r > 0 ? [r ** s, s * r ** (s - 2), s * (s - 2) * r ** (s - 4)] : [0, 0, 0];
  };
  const slope = ([x], [y]) => [y * (1 + powers(x, y)[0] + powers(x, y)[1] * x * x)];
  const slopeY = ([x], [y]) => [y + x * (1 + powers(x, y)[0] + powers(x, y)[1] * y * y)];
  const curvature = ([x], [y]) => [[1 + x * y * (3 * powers(x, y)[1] + powers(x, y)[2] * y * y)]];
  return { gradX: slope, gradY: slopeY, hessianYY: curvature };
}

export const h = (p, x, y) => add(add(times(p.A, x), times(p.B, y), -1), p.b, -1);

/** Which rows hold as equations where ½yᵀGy + cᵀy is least under By >= d: Lemke's complementary pivots on the dual. */
function activeRows(G, c, B, d) {
  const p = d.length;
  const half = solve(G, transpose(B, c.length).map((row, i) => [...row, -c[i]])); // G⁻¹[Bᵀ, -c]
  const tableau = B.map((row, i) => {
    const products = half[0].map((_, j) => dot(row, half.map((line) => line[j])));
    const slack = zeros(p).map((_, j) => Number(i === j));
    return [...slack, ...products.slice(0, p).map((v) => -v), -1, products[p] - d[i]]; // w - Mλ - z₀ = q
  });
  const q = tableau.map((row) => row[2 * p + 1]);
  if (Math.min(...q) >= 0) return [];
  const basis = q.map((_, i) => i);
  let entering = 2 * p;
  let row = q.indexOf(Math.min(...q));
  for (let k = 0; k < 100 * (p + 1); k++) {
    const pivot = tableau[row][entering];
    tableau[row] = tableau[row].map((value) => value / pivot);
    for (let i = 0; i < p; i++) {
      const factor = tableau[i][entering];
      if (i !== row && factor) tableau[i] = tableau[i].map((value, j) => value - factor * tableau[row][j]);
    }
    const leaving = basis[row];
    basis[row] = entering;
    if (leaving === 2 * p) return basis.filter((j) => j >= p && j < 2 * p).map((j) => j - p);
    entering = leaving < p ? leaving + p : leaving - p;
    const ratios = tableau.map((line) => (line[entering] > 1e-11 ? Math.max(line[2 * p + 1], 0) / line[entering] : Infinity));
    const least = Math.min(...ratios);
    if (least === Infinity) throw new Error("no y satisfies the rows at this x");
    const tied = ratios.map((ratio) => ratio <= least * (1 + 1e-12) + 1e-15);
    const last = basis.indexOf(2 * p);
    row = tied[last] ? last : ratios.indexOf(least);
  }
  throw new Error("the pivots cycle");
}

function solveQP(G, c, B, d) {
  const m = c.length;
  const active = activeRows(G, c, B, d);
  const KKT = [
    ...G.map((row, i) => [...row, ...active.map((k) => -B[k][i])]),
    ...active.map((k) => [...B[k], ...zeros(active.length)]),
  ];
  const right = [...c.map((value) => -value), ...active.map((k) => d[k])];
  let found = zeros(right.length);
  for (let k = 0; k < 3; k++) found = add(found, solveVector(KKT, add(right, times(KKT, found), -1)));
  const lam = zeros(d.length);
  active.forEach((k, i) => (lam[k] = Math.max(found[m + i], 0)));
  return [found.slice(0, m), lam];
}

/** Line 3: (y*, λ*) by sequential quadratic programs; one program is exact where g is quadratic. */
export function lowerLevel(p, x) {
  const d = add(times(p.A, x), p.b, -1);
  let [y, lam, moved] = [zeros(p.B[0].length), zeros(d.length), Infinity];
  for (let k = 0; k < NEWTON_STEPS; k++) {
    const G = p.g.hessianYY(x, y);
    const [next, multipliers] = solveQP(G, add(p.g.gradY(x, y), times(G, y), -1), p.B, d);
    const before = moved;
    moved = norm(add(next, y, -1));
    [y, lam] = [next, multipliers];
    const scale = 1 + norm(y);
    if (moved <= 1e-15 * scale || (moved >= before && moved <= 1e-9 * scale)) return { y_star: y, lam };
  }
  throw new Error("the quadratic programs do not settle: is g convex in y here?");
}

const clamp = (value) => Math.min(Math.max(value, 0), 1);

/** The smooth activation ρ = σ_h(h) σ_λ(λ). */
export const activation = (rows, lam, hWidth, lamWidth) =>
  rows.map((value, i) => clamp((hWidth + value) / hWidth) * clamp(lam[i] / lamWidth));

/** Line 5: the minimiser's shift w = y - ỹ* by Newton's method; in the shift α⁻² and α⁻⁴ lose no digits. */
export function penaltyShift(p, x, { alpha, y_star, lam, rho }) {
  const m = y_star.length;
  const Bt = transpose(p.B, m);
  const hStar = h(p, x, y_star);
  const slope = (w) => {
    const y = add(y_star, w);
    const rows = add(hStar, times(p.B, w), -1).map((value, i) => rho[i] * value);
    const lower = add(p.g.gradY(x, y), times(Bt, lam), -1);
    return add(add(p.f.gradY(x, y), lower, alpha ** -2), times(Bt, rows), -(alpha ** -4));
  };
  const curvature = (w) => {
    const y = add(y_star, w);
    const [F, G] = [p.f.hessianYY(x, y), p.g.hessianYY(x, y)];
    return G.map((row, i) => row.map((value, j) =>
      F[i][j] + value / alpha ** 2 + Bt[i].reduce((sum, b, k) => sum + rho[k] * b * Bt[j][k], 0) / alpha ** 4));
  };
  let [best, w, least] = [zeros(m), zeros(m), Infinity];
  for (let k = 0; k < NEWTON_STEPS; k++) {
    const at = slope(w);
    if (!(norm(at) < least)) break;
    [best, least] = [w, norm(at)];
    w = add(w, solveVector(curvature(w), at), -1);
  }
  return best;
}

/** Line 6 without noise: ∇_x L. ``frozen`` keeps the multiplier out of the value term, so that α₁Aᵀλ̃ stays. */
export function gradientX(p, x, w, { alpha, y_star, lam, rho }, frozen) {
  const y = add(y_star, w);
  const At = transpose(p.A, x.length);
  const rows = add(h(p, x, y_star), times(p.B, w), -1).map((value, i) => rho[i] * value);
  const difference = add(p.g.gradX(x, y), p.g.gradX(x, y_star), -1);
  const dual = frozen ? times(At, lam) : zeros(x.length);
  return add(add(p.f.gradX(x, y), add(difference, dual), alpha ** -2), times(At, rows), alpha ** -4);
}

/** Algorithm 2 on R runs at once, the rows of x; uniform(t) gives R points on the segments. */
export function outerLoop(oracle, start, { D, eta, M, K }, uniform) {
  let [x, steps] = [start, start.map((row) => zeros(row.length))];
  const [path, means] = [[x], []];
  for (let k = 0; k < K; k++) {
    let mean = start.map((row) => zeros(row.length));
    for (let i = 0; i < M; i++) {
      const s = uniform(k * M + i);
      const z = x.map((row, r) => add(row, steps[r], s[r]));
      x = x.map((row, r) => add(row, steps[r]));
      const answers = oracle(z);
      steps = steps.map((step, r) => {
        const next = add(step, answers[r], -eta);
        const length = norm(next);
        return length > D ? next.map((value) => value * (D / length)) : next;
      });
      mean = mean.map((row, r) => add(row, z[r], 1 / M));
      path.push(x);
    }
    means.push(mean);
  }
  return { x_bar: means, path };
}
