(* The activation weights of the text, rho = sigma_h(h) sigma_lambda(lambda): two linear ramps, of widths w and eps. *)
From Coq Require Import Reals Lra Psatz.
From f2csa Require Import hilbert outer.
Local Open Scope R_scope.

(* 0 below -w, 1 from 0 on, straight between *)
Definition ramp (w z : R) : R := Rmax 0 (Rmin 1 ((w + z) / w)).
Definition weight (w eps h lam : R) : R := ramp w h * ramp eps (lam - eps).

(* 0 ≤ σ_h ≤ 1 *)
Theorem ramp_range w z : 0 <= ramp w z <= 1.
Proof. unfold ramp, Rmax, Rmin. destruct (Rle_dec 1 ((w + z) / w)); destruct (Rle_dec 0 _); lra. Qed.

(* slope at most 1/w *)
Theorem ramp_slope w z z' : 0 < w -> Rabs (ramp w z - ramp w z') <= Rabs (z - z') / w.
Proof.
  intro Hw. assert (clamp : forall a b, Rabs (Rmax 0 (Rmin 1 a) - Rmax 0 (Rmin 1 b)) <= Rabs (a - b)).
  { intros a b. unfold Rmax, Rmin, Rabs. repeat (destruct (Rle_dec _ _) || destruct (Rcase_abs _)); lra. }
  apply Rle_trans with (1 := clamp _ _). right.
  replace ((w + z) / w - (w + z') / w) with ((z - z') * / w) by (field; lra).
  rewrite Rabs_mult, (Rabs_right (/ w)); [reflexivity|]. apply Rle_ge. left. now apply Rinv_0_lt_compat.
Qed.

(* 0 ≤ ρ_i ≤ 1 *)
Theorem weight_range w eps h lam : 0 <= weight w eps h lam <= 1.
Proof. unfold weight. pose proof (ramp_range w h). pose proof (ramp_range eps (lam - eps)). nra. Qed.

(* |rho - rho'| <= |h - h'| / w + |lambda - lambda'| / eps *)
Theorem weight_lipschitz w eps h h' lam lam' : 0 < w -> 0 < eps ->
  Rabs (weight w eps h lam - weight w eps h' lam') <= Rabs (h - h') / w + Rabs (lam - lam') / eps.
Proof.
  intros Hw He. unfold weight. set (a := ramp w h). set (a' := ramp w h'). set (b := ramp eps (lam - eps)). set (b' := ramp eps (lam' - eps)).
  pose proof (ramp_slope w h h' Hw) as S1. pose proof (ramp_slope eps (lam - eps) (lam' - eps) He) as S2.
  replace (lam - eps - (lam' - eps)) with (lam - lam') in S2 by ring. fold a a' in S1. fold b b' in S2.
  assert (0 <= b <= 1) by apply ramp_range. assert (0 <= a' <= 1) by apply ramp_range.
  replace (a * b - a' * b') with ((a - a') * b + a' * (b - b')) by ring. apply Rle_trans with (1 := Rabs_triang _ _).
  rewrite !Rabs_mult, (Rabs_right b), (Rabs_right a') by lra. pose proof (Rabs_pos (a - a')). pose proof (Rabs_pos (b - b')). nra.
Qed.

(* A row further inside than the ramp is wide has weight 0, whatever its multiplier. *)
Theorem inside_weightless w eps h lam : 0 < w -> h < - w -> weight w eps h lam = 0.
Proof.
  intros Hw Hh. unfold weight, ramp at 1. assert ((w + h) / w < 0).
  { apply (Rmult_lt_reg_r w); [assumption|]. replace ((w + h) / w * w) with (w + h) by (field; lra). lra. }
  rewrite Rmin_right, Rmax_left by lra. ring.
Qed.

(* From 2 |B| delta on, a ramp leaves a row that delta moves inwards half its weight. *)
Theorem wide_ramp w z : 0 < w -> - (w / 2) <= z -> / 2 <= ramp w z.
Proof.
  intros Hw Hz. unfold ramp. assert (/ 2 <= (w + z) / w).
  { apply (Rmult_le_reg_r w); [assumption|]. replace ((w + z) / w * w) with (w + z) by (field; lra). lra. }
  apply Rle_trans with (2 := Rmax_r _ _). apply Rmin_glb; lra.
Qed.

(* What the change of the weights adds: alpha_2 |sum over p rows of drho_i h_i grad h_i|, each weight off by at most
   C alpha^3 / eps, each |h_i| <= H, each |grad h_i| <= J. *)
Theorem weights_part (V : space) (p : nat) (drho h : nat -> R) (row : nat -> V) (alpha C eps H J : R) :
  0 < alpha -> 0 <= C -> 0 < eps -> 0 <= H -> 0 <= J ->
  (forall i, Rabs (drho i) <= C * (alpha * alpha * alpha) / eps) -> (forall i, Rabs (h i) <= H) -> (forall i, norm (row i) <= J) ->
  norm (scale (/ (alpha * alpha * (alpha * alpha))) (vsum p (fun i => scale (drho i * h i) (row i)))) <= INR p * (C * H * J / eps) / alpha.
Proof.
  intros Ha HC He HH HJ Hd Hh Hr. assert (v : 0 < alpha * alpha * (alpha * alpha)) by (repeat apply Rmult_lt_0_compat; lra).
  assert (iv : 0 < / (alpha * alpha * (alpha * alpha))) by now apply Rinv_0_lt_compat. assert (ie : 0 < / eps) by now apply Rinv_0_lt_compat.
  assert (a3 : 0 < alpha * alpha * alpha) by (repeat apply Rmult_lt_0_compat; lra).
  rewrite norm_scale, Rabs_right by lra. pose proof (norm_vsum V p (fun i => scale (drho i * h i) (row i))) as N.
  assert (S : sum p (fun i => norm (scale (drho i * h i) (row i))) <= sum p (fun _ => C * (alpha * alpha * alpha) / eps * H * J)).
  { apply sum_le. intros i _. rewrite norm_scale, Rabs_mult. pose proof (Hd i). pose proof (Hh i). pose proof (Hr i).
    pose proof (Rabs_pos (drho i)). pose proof (Rabs_pos (h i)). pose proof (norm_pos V (row i)).
    apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra. }
  rewrite sum_const in S.
  replace (INR p * (C * H * J / eps) / alpha) with (/ (alpha * alpha * (alpha * alpha)) * (INR p * (C * (alpha * alpha * alpha) / eps * H * J)))
    by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

(* Both parts at a fixed y: order 1/alpha. *)
Theorem gradient_difference (V : space) (linear moved : V) (alpha a b : R) : 0 < alpha <= 1 -> 0 <= a ->
  norm linear <= a * alpha -> norm moved <= b / alpha -> norm (add linear moved) <= (a + b) / alpha.
Proof.
  intros [Ha H1] H0 Hl Hm. pose proof (triangle V linear moved). assert (1 <= / alpha) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (a * alpha <= a * / alpha) by (apply Rmult_le_compat_l; lra). unfold Rdiv in *. lra.
Qed.
