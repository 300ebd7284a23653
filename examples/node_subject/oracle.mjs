// Algorithm 1 on one call: its stages, and samples of the noisy gradients from given normals or a seed.
import { activation, add, gradientX, h, lowerLevel, norm, penaltyShift } from "./f2csa.mjs";

/** Lines 2 to 5: what L holds constant and the minimiser's shift, taken from the call where it gives them. */
export function stagesOf(p, x, call) {
  const found = call.y_star && call.lam ? {} : lowerLevel(p, x);
  const [y_star, lam] = [call.y_star ?? found.y_star, call.lam ?? found.lam];
  const rho = call.rho ?? activation(h(p, x, y_star), lam, call.h_width, call.parameters.lam_width);
  const L = { alpha: call.alpha, y_star, lam, rho };
  return [L, call.y_penalty ? add(call.y_penalty, y_star, -1) : penaltyShift(p, x, L)];
}

/** Line 6: averages of N_g samples each, shape (replications, n). */
export function estimates(p, { x, call, seed }, replications) {
  const [L, w] = stagesOf(p, x, call);
  const [mean, y] = [gradientX(p, x, w, L, call.reading.dual_term === "frozen"), add(L.y_star, w)];
  if (p.noise.model === "none") return new Array(replications).fill(mean);
  const [N, { normal }] = [call.parameters.N_g, generator(seed ?? 0)];
  const normals = (block, k, j) => call.draws?.[block][j] ?? Array.from({ length: k }, normal);
  const sample = (j) => noiseX(p, x, L.y_star, y, call, (block, k) => normals(block, k, j));
  return Array.from({ length: replications }, (_, r) => {
    let estimate = mean;
    for (let j = r * N; j < (r + 1) * N; j++) estimate = add(estimate, sample(j), 1 / N);
    return estimate;
  });
}

/** Noise of one sample of ∇_x f(x, y) + α₁(∇_x g(x, y) - ∇_x g(x, y*)); z(block, width) gives its standard normals. */
function noiseX({ noise, n }, x, yStar, y, { alpha, reading }, z) {
  const on = (name, sigma) => (noise.model !== "none" && noise.on.includes(name) ? sigma : 0);
  const [sigmaF, sigmaG] = [on("f.x", noise.sigma_f), on("g.x", noise.sigma_g)];
  const [matrix, common] = [noise.model === "matrix", reading.noise_pairing === "common"];
  const length = (...vectors) => norm(vectors.flat());
  const total = sigmaF ? z("f_x", n).map((v) => sigmaF * (matrix ? length(x, y) : 1) * v) : new Array(n).fill(0);
  if (!sigmaG || (common && noise.model === "additive")) return total; // the same draw at both points cancels
  const width = noise.model === "jump" ? 1 : n;
  const here = z("g_x", width);
  const there = common ? here : z("g_x_star", width);
  const jump = (v, zeta) => Number(v[0] > zeta) - normalCdf(v[0]);
  let difference = [jump(y, here[0]) - jump(yStar, there[0])];
  // A matrix of iid normals times v is ‖v‖ z; the same matrix at both points sees y - y* alone.
  if (matrix && common) difference = here.map((v) => v * length(add(y, yStar, -1)));
  else if (matrix) difference = here.map((v, i) => v * length(x, y) - there[i] * length(x, yStar));
  else if (noise.model === "additive") difference = add(here, there, -1);
  return total.map((v, i) => v + (sigmaG / alpha ** 2) * (difference[i] ?? 0));
}

/** Φ by its series at 0, to rounding. */
function normalCdf(x) {
  if (Math.abs(x) > 9) return Number(x > 0);
  let [sum, term, k] = [x, x, 1];
  for (let before = NaN; sum !== before; k += 2) [before, term] = [sum, (term * x * x) / (k + 2)], sum += term;
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/** Uniform and normal numbers that a seed below 2⁵³ determines (sfc32; Box and Muller). */
export function generator(seed) {
  let [a, b, c, count] = [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0, 0x9e3779b9, 1];
  const word = () => {
    const made = (a + b + count++) | 0;
    [a, b, c] = [b ^ (b >>> 9), (c + (c << 3)) | 0, (((c << 21) | (c >>> 11)) + made) | 0];
    return made >>> 0;
  };
  for (let k = 0; k < 20; k++) word();
  const uniform = () => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53;
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}
