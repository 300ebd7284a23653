(* What the totals are made of: steps of Algorithm 2 times calls of a step, from both sides where the text says Theta.
   G bounds the root mean square of the estimates, radius is the Goldstein radius, C0 the initial gap. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer budget.
Local Open Scope R_scope.

(* K = ⌈2C₀/(δε)⌉ blocks: at least one, and of that order *)
Theorem block_count (C0 radius eps : R) (K : nat) : 0 < C0 -> 0 < radius -> 0 < eps ->
  2 * C0 / (radius * eps) <= INR K -> INR K <= 2 * C0 / (radius * eps) + 1 ->
  (1 <= K)%nat /\ (radius * eps <= 2 * C0 -> 2 * C0 / (radius * eps) <= INR K <= 4 * C0 / (radius * eps)).
Proof.
  intros HC Hr He lo hi. assert (re : 0 < radius * eps) by nra. assert (p : 0 < 2 * C0 / (radius * eps)) by (apply Rmult_lt_0_compat; [lra|now apply Rinv_0_lt_compat]).
  split.
  - destruct K; [simpl in lo; lra|lia].
  - intro H. split; [assumption|]. assert (1 <= 2 * C0 / (radius * eps)).
    { apply (Rmult_le_reg_r (radius * eps)); [assumption|]. replace (2 * C0 / (radius * eps) * (radius * eps)) with (2 * C0) by (field; lra). lra. }
    replace (4 * C0 / (radius * eps)) with (2 * C0 / (radius * eps) + 2 * C0 / (radius * eps)) by (field; lra). lra.
Qed.

(* T = KM with M = ⌈36G²/ε²⌉: 72G²C₀/(δε³) ≤ T ≤ 288G²C₀/(δε³) *)
Theorem steps_tight (G eps C0 radius M K : R) : 0 < G -> 0 < eps <= 6 * G -> 0 < radius -> radius * eps <= 2 * C0 -> 0 <= M -> 0 <= K ->
  36 * (G * G) / (eps * eps) <= M <= 36 * (G * G) / (eps * eps) + 1 -> 2 * C0 / (radius * eps) <= K <= 2 * C0 / (radius * eps) + 1 ->
  72 * (G * G) * C0 / (radius * (eps * eps * eps)) <= M * K <= 288 * (G * G) * C0 / (radius * (eps * eps * eps)).
Proof.
  intros HG He Hr HC HM HK [m0 m1] [k0 k1]. split; [|now apply oracle_calls]. assert (e2 : 0 < eps * eps) by nra. assert (re : 0 < radius * eps) by nra.
  replace (72 * (G * G) * C0 / (radius * (eps * eps * eps))) with (36 * (G * G) / (eps * eps) * (2 * C0 / (radius * eps))) by (field; lra).
  apply Rmult_le_compat; try assumption.
  - apply Rmult_le_pos; [nra|left; now apply Rinv_0_lt_compat].
  - apply Rmult_le_pos; [nra|left; now apply Rinv_0_lt_compat].
Qed.

(* η = 2D/(G√M), D = δ/M, M between 36G²/ε² and twice that: δε³/(365G⁴) ≤ η ≤ δε³/(108G⁴) *)
Theorem eta_order (G eps radius M eta : R) : 0 < G -> 0 < eps -> 0 < radius -> 36 * (G * G) / (eps * eps) <= M <= 72 * (G * G) / (eps * eps) ->
  eta = 2 * (radius / M) / (G * sqrt M) ->
  radius * (eps * eps * eps) / (365 * (G * G * G * G)) <= eta <= radius * (eps * eps * eps) / (108 * (G * G * G * G)).
Proof.
  intros HG He Hr [m0 m1] ->. assert (e2 : 0 < eps * eps) by nra. assert (q : 0 < G / eps) by (apply Rmult_lt_0_compat; [assumption|now apply Rinv_0_lt_compat]).
  set (x := G / eps) in *. assert (x2 : G * G / (eps * eps) = x * x) by (unfold x; field; lra).
  replace (36 * (G * G) / (eps * eps)) with (36 * (x * x)) in m0 by (rewrite <- x2; field; lra).
  replace (72 * (G * G) / (eps * eps)) with (72 * (x * x)) in m1 by (rewrite <- x2; field; lra).
  assert (Mp : 0 < M) by nra. pose proof (sqrt_lt_R0 M Mp) as sp. pose proof (sqrt_sqrt M (Rlt_le _ _ Mp)) as ss. set (r := sqrt M) in *.
  assert (r0 : 6 * x <= r) by (apply le_of_squares; nra). assert (r1 : r <= 85 / 10 * x) by (apply le_of_squares; nra).
  replace (2 * (radius / M) / (G * r)) with (2 * radius / G * / (r * r * r)) by (rewrite <- ss; field; lra).
  replace (radius * (eps * eps * eps) / (365 * (G * G * G * G))) with (2 * radius / G * / (730 * (x * x * x))) by (unfold x; field; lra).
  replace (radius * (eps * eps * eps) / (108 * (G * G * G * G))) with (2 * radius / G * / (216 * (x * x * x))) by (unfold x; field; lra).
  assert (c : 0 <= 2 * radius / G) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]). assert (x3 : 0 < x * x * x) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; exact q|exact q]).
  assert (lo : 216 * (x * x * x) <= r * r * r).
  { replace (216 * (x * x * x)) with (6 * x * (6 * x) * (6 * x)) by ring. apply Rmult_le_compat; try nra. }
  assert (hi : r * r * r <= 730 * (x * x * x)).
  { apply Rle_trans with (85 / 10 * x * (85 / 10 * x) * (85 / 10 * x)); [apply Rmult_le_compat; try nra|]. nra. }
  split; apply Rmult_le_compat_l; try assumption; apply Rinv_le_contravar; lra.
Qed.

(* T ≤ a/(δε³) steps of at most b/p calls each: ab/(δε³p) calls in all; p = ε⁶, ε⁴ or ε² *)
Theorem total_calls (T : nat) (calls : nat -> R) (a b radius eps p : R) : 0 < radius -> 0 < eps -> 0 < p -> 0 <= b ->
  INR T <= a / (radius * (eps * eps * eps)) -> (forall t, (t < T)%nat -> calls t <= b / p) ->
  sum T calls <= a * b / (radius * (eps * eps * eps * p)).
Proof.
  intros Hr He Hp Hb HT Hc. assert (e3 : 0 < eps * eps * eps) by (repeat apply Rmult_lt_0_compat; assumption).
  apply Rle_trans with (INR T * (b / p)); [rewrite <- sum_const; now apply sum_le|].
  replace (a * b / (radius * (eps * eps * eps * p))) with (a / (radius * (eps * eps * eps)) * (b / p)) by (field; lra).
  apply Rmult_le_compat_r; [apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat]|assumption].
Qed.

(* Without noise, T steps of order 1/(δε³) and κ of order ε⁻²: Tκ is of order 1/(δε⁵) and T√κ of order 1/(δε⁴), from both sides. *)
Theorem noise_free_total (T kappa a b c d radius eps : R) : 0 < radius -> 0 < eps -> 0 < a -> 0 < c ->
  a / (radius * (eps * eps * eps)) <= T <= b / (radius * (eps * eps * eps)) -> c / (eps * eps) <= kappa <= d / (eps * eps) ->
  a * c / (radius * (eps * eps * eps * eps * eps)) <= T * kappa <= b * d / (radius * (eps * eps * eps * eps * eps)) /\
  a * sqrt c / (radius * (eps * eps * eps * eps)) <= T * sqrt kappa <= b * sqrt d / (radius * (eps * eps * eps * eps)).
Proof.
  intros Hr He Ha Hc [t0 t1] [k0 k1]. assert (e3 : 0 < radius * (eps * eps * eps)) by (repeat apply Rmult_lt_0_compat; assumption). assert (e2 : 0 < eps * eps) by nra.
  assert (t : 0 < a / (radius * (eps * eps * eps))) by (apply Rmult_lt_0_compat; [assumption|now apply Rinv_0_lt_compat]).
  assert (k : 0 < c / (eps * eps)) by (apply Rmult_lt_0_compat; [assumption|now apply Rinv_0_lt_compat]).
  assert (root : forall z, 0 < z -> sqrt (z / (eps * eps)) = sqrt z / eps).
  { intros z Hz. rewrite sqrt_div by lra. now rewrite sqrt_square by lra. }
  assert (dp : 0 < d). { apply (Rmult_lt_reg_r (/ (eps * eps))); [now apply Rinv_0_lt_compat|]. unfold Rdiv in *. lra. }
  split; split.
  - replace (a * c / (radius * (eps * eps * eps * eps * eps))) with (a / (radius * (eps * eps * eps)) * (c / (eps * eps))) by (field; lra). apply Rmult_le_compat; lra.
  - replace (b * d / (radius * (eps * eps * eps * eps * eps))) with (b / (radius * (eps * eps * eps)) * (d / (eps * eps))) by (field; lra). apply Rmult_le_compat; lra.
  - replace (a * sqrt c / (radius * (eps * eps * eps * eps))) with (a / (radius * (eps * eps * eps)) * sqrt (c / (eps * eps))) by (rewrite root by assumption; field; lra).
    apply Rmult_le_compat; try lra; [apply sqrt_pos|now apply sqrt_le_1_alt].
  - replace (b * sqrt d / (radius * (eps * eps * eps * eps))) with (b / (radius * (eps * eps * eps)) * sqrt (d / (eps * eps))) by (rewrite root by assumption; field; lra).
    apply Rmult_le_compat; try lra; [apply sqrt_pos|now apply sqrt_le_1_alt].
Qed.

(* t inner calls a step and N_g samples, σ²/α² ≤ N_g ≤ σ²/α² + 1: as σ → 0 the inner calls stay *)
Theorem noise_proportional (T t N s alpha : R) : 0 <= T -> 0 < alpha -> 0 <= s -> s / (alpha * alpha) <= N <= s / (alpha * alpha) + 1 ->
  T * t <= T * (t + N) <= T * (t + 1) + T / (alpha * alpha) * s.
Proof.
  intros HT Ha Hs [n0 n1]. assert (0 < alpha * alpha) by nra. assert (0 <= s / (alpha * alpha)) by (apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat]).
  split; [apply Rmult_le_compat_l; lra|]. replace (T * (t + 1) + T / (alpha * alpha) * s) with (T * (t + (s / (alpha * alpha) + 1))) by (field; lra). apply Rmult_le_compat_l; lra.
Qed.
