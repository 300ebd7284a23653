(* Rows that are weakly active: with the ramp of the multiplier they carry a weight of at most |lambda-hat_j| / eps, and what they
   pull is of order alpha; a hard active set takes such a row in or leaves it out, which moves the estimate by order 1.
   h: their values at y, of order alpha^2; Bw, Aw: the rows; r0 and est0: gradient and estimator without them. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer rows weights toys.
Local Open Scope R_scope.

(* lambda-star_j = 0: the weight of row j is at most |lambda-hat_j| / eps *)
Theorem weak_weight (width eps h lam : R) : 0 < eps -> 0 <= weight width eps h lam <= Rabs lam / eps.
Proof.
  intro He. pose proof (weight_range width eps h lam) as W. split; [lra|]. unfold weight in *. pose proof (ramp_range width h) as A. pose proof (ramp_range eps (lam - eps)) as B.
  assert (C : ramp eps (lam - eps) <= Rabs lam / eps).
  { unfold ramp. replace ((eps + (lam - eps)) / eps) with (lam / eps) by (field; lra). assert (ie : 0 < / eps) by now apply Rinv_0_lt_compat.
    apply Rmax_lub; [apply Rmult_le_pos; [apply Rabs_pos|lra]|]. apply Rle_trans with (1 := Rmin_r _ _). apply Rmult_le_compat_r; [lra|apply Rle_abs]. }
  assert (0 <= Rabs lam / eps) by (apply Rmult_le_pos; [apply Rabs_pos|left; now apply Rinv_0_lt_compat]).
  apply Rle_trans with (1 * ramp eps (lam - eps)); [apply Rmult_le_compat_r; lra|lra].
Qed.

Section weak_rows.
  Variables (X V : space) (n : nat) (Aw : X -> coords n) (Bw : V -> coords n) (alpha eps Cl H LA LB : R) (rho h : coords n) (est est0 : X) (r r0 : V).
  Let u := alpha * alpha.
  Hypothesis alpha_pos : 0 < alpha.
  Hypothesis eps_pos : 0 < eps.
  Hypothesis Cl_pos : 0 <= Cl.
  Hypothesis H_pos : 0 <= H.
  Hypothesis LA_pos : 0 <= LA.
  Hypothesis LB_pos : 0 <= LB.
  Hypothesis A_le : forall x, norm (Aw x) <= LA * norm x.
  Hypothesis B_le : forall v, norm (Bw v) <= LB * norm v.
  Hypothesis light : forall i, (i < n)%nat -> Rabs (rho i) <= Cl * (alpha * alpha * alpha) / eps.
  Hypothesis close : norm h <= H * u.

  Lemma pull_small : norm (weigh rho h) <= u * u * (alpha * (Cl * H / eps)).
  Proof.
    assert (k : 0 <= Cl * (alpha * alpha * alpha) / eps).
    { apply Rmult_le_pos; [apply Rmult_le_pos; [assumption|repeat apply Rmult_le_pos; lra]|left; now apply Rinv_0_lt_compat]. }
    apply Rle_trans with (Cl * (alpha * alpha * alpha) / eps * norm h).
    - apply weigh_le; [assumption|]. intros i Hi. rewrite Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|now apply light].
    - apply Rle_trans with (Cl * (alpha * alpha * alpha) / eps * (H * u)); [now apply Rmult_le_compat_l|]. right. unfold u. field. lra.
  Qed.

  Lemma dual_small (Z : space) (z : Z) (C : Z -> coords n) K : 0 <= K -> (forall v, norm (C v) <= K * norm v) ->
    (forall v, inner z v = inner (weigh rho h) (C v) / (u * u)) -> norm z <= alpha * (K * Cl * H / eps).
  Proof.
    intros HK C_le Hz. assert (up : 0 < u) by (unfold u; nra). assert (uu : 0 < u * u) by nra. assert (i2 : 0 < / (u * u)) by now apply Rinv_0_lt_compat.
    assert (ie : 0 < / eps) by now apply Rinv_0_lt_compat.
    apply norm_dual; [unfold Rdiv; repeat apply Rmult_le_pos; lra|]. intro v. rewrite Hz. pose proof (cauchy_schwarz _ (weigh rho h) (C v)) as S.
    assert (P : norm (weigh rho h) * norm (C v) <= u * u * (alpha * (Cl * H / eps)) * (K * norm v)).
    { apply Rmult_le_compat; [apply norm_pos|apply norm_pos|exact pull_small|apply C_le]. }
    assert (Q : inner (weigh rho h) (C v) / (u * u) <= u * u * (alpha * (Cl * H / eps)) * (K * norm v) / (u * u)) by (apply Rmult_le_compat_r; lra).
    replace (alpha * (K * Cl * H / eps) * norm v) with (u * u * (alpha * (Cl * H / eps)) * (K * norm v) / (u * u)) by (field; lra). exact Q.
  Qed.

  (* est = est0 + α⁻⁴Aᵀ(ρ∘h): off by at most α‖A‖C_λH/ε_λ *)
  Theorem weak_estimate : (forall x, inner est x = inner est0 x + inner (weigh rho h) (Aw x) / (u * u)) ->
    norm (sub est est0) <= alpha * (LA * Cl * H / eps).
  Proof. intro He. apply (dual_small X _ Aw); [assumption|assumption|]. intro x. rewrite inner_sub, He. ring. Qed.

  (* the gradient left in y moves by at most α‖B‖C_λH/ε_λ: a residual for the bounds of the other rows *)
  Theorem weak_gradient : (forall v, inner r v = inner r0 v + inner (weigh rho h) (Bw v) / (u * u)) ->
    norm (sub r r0) <= alpha * (LB * Cl * H / eps).
  Proof. intro Hr. apply (dual_small V _ Bw); [assumption|assumption|]. intro v. rewrite inner_sub, Hr. ring. Qed.
End weak_rows.

(* estimates with exact and with inexact stages, both near one gradient *)
Theorem two_estimates (X : space) (e1 e2 g : X) K1 K2 alpha : norm (sub e1 g) <= K1 * alpha -> norm (sub e2 g) <= K2 * alpha ->
  norm (sub e1 e2) <= (K1 + K2) * alpha.
Proof.
  intros H1 H2. pose proof (norm_sub X (sub e1 g) (sub e2 g)) as T. assert (E : norm (sub (sub e1 g) (sub e2 g)) = norm (sub e1 e2)).
  { unfold norm. f_equal. expand_inner. rewrite (inner_sym _ g e1), (inner_sym _ g e2), (inner_sym _ e2 e1). ring. }
  rewrite E in T. lra.
Qed.

(* f = y, g = y^2/2, row x - y <= 0 at x = 0: y-star = 0, lambda-star = 0, the row is weakly active.  rho = 1: a hard active set
   takes it in; rho = 0: leaves it out. *)
Definition hard_L (rho u x y : R) : R := y + (y * y / 2) / u + rho * ((x - y) * (x - y)) / (2 * (u * u)).

(* the estimates are 1/(1 + α²) and 0 *)
Theorem hard_activation_jumps alpha rho y : 0 < alpha -> let u := alpha * alpha in rho = 0 \/ rho = 1 ->
  derivable_pt_lim (fun t => hard_L rho u 0 t) y 0 -> derivable_pt_lim (fun x => hard_L rho u x y) 0 (rho / (1 + u)).
Proof.
  intros Ha u Hrho St. assert (Hu : 0 < u) by (unfold u; nra).
  assert (D : derivable_pt_lim (fun t => hard_L rho u 0 t) y (1 + 2 * (/ (2 * u) + rho / (2 * (u * u))) * y)).
  { apply derive_quadratic with (a := 0). intro t. unfold hard_L. field. lra. }
  pose proof (uniqueness_limite _ _ _ _ St D) as E. assert (Q : (u + rho) * y = - (u * u)).
  { apply (Rmult_eq_compat_r (u * u)) in E. replace ((1 + 2 * (/ (2 * u) + rho / (2 * (u * u))) * y) * (u * u)) with (u * u + (u + rho) * y) in E by (field; lra). lra. }
  replace (rho / (1 + u)) with (- (rho * y) / (u * u) + 2 * (rho / (2 * (u * u))) * 0).
  - apply derive_quadratic with (a := y + y * y / 2 / u + rho * (y * y) / (2 * (u * u))). intro t. unfold hard_L. field. lra.
  - destruct Hrho as [-> | ->]; [field; lra|]. assert (Y : y = - (u * u) / (1 + u)) by (apply (Rmult_eq_reg_l (u + 1)); [rewrite Q; field; lra|lra]).
    rewrite Y. field. lra.
Qed.

(* Accuracy in the mean is not enough: f = y, g = y^2/2, row x - y <= 0 at x = 1, lambda-star = 1, ramp of width 2 delta.  ys is
   1 on every other run and 1 + 2 delta on the rest, so off by delta in the mean; the row then has its full weight or none. *)
Definition ramp_L (ys rho u x y : R) : R := y + (y * y / 2 + (x - y) - (ys * ys / 2 + (x - ys))) / u + rho * ((x - y) * (x - y)) / (2 * (u * u)).

(* the mean of the two estimates is 1/(2(1 + α²)), ∇F = 1 *)
Theorem mean_accuracy_refuted alpha y1 y2 : 0 < alpha -> let u := alpha * alpha in let delta := alpha * alpha * alpha in
  let ys1 := 1 in let ys2 := 1 + 2 * delta in let rho1 := ramp (2 * delta) (1 - ys1) in let rho2 := ramp (2 * delta) (1 - ys2) in
  (Rabs (ys1 - 1) + Rabs (ys2 - 1)) / 2 = delta /\
  (derivable_pt_lim (fun t => ramp_L ys1 rho1 u 1 t) y1 0 -> derivable_pt_lim (fun t => ramp_L ys2 rho2 u 1 t) y2 0 ->
   derivable_pt_lim (fun x => (ramp_L ys1 rho1 u x y1 + ramp_L ys2 rho2 u x y2) / 2) 1 (/ (2 * (1 + u)))).
Proof.
  intros Ha u delta ys1 ys2 rho1 rho2. assert (Hu : 0 < u) by (unfold u; nra). assert (d : 0 < delta) by (unfold delta; repeat apply Rmult_lt_0_compat; lra). split.
  - unfold ys1, ys2. replace (1 - 1) with 0 by ring. replace (1 + 2 * delta - 1) with (2 * delta) by ring. rewrite Rabs_R0, Rabs_right by lra. field.
  - assert (R1 : rho1 = 1) by (unfold rho1, ys1, ramp; replace ((2 * delta + (1 - 1)) / (2 * delta)) with 1 by (field; lra); rewrite Rmin_left, Rmax_right; lra).
    assert (R2 : rho2 = 0) by (unfold rho2, ys2, ramp; replace ((2 * delta + (1 - (1 + 2 * delta))) / (2 * delta)) with 0 by (field; lra); rewrite Rmin_right, Rmax_left; lra).
    rewrite R1, R2. intros S1 _. assert (D : derivable_pt_lim (fun t => ramp_L ys1 1 u 1 t) y1 ((1 - / u - / (u * u)) + 2 * (/ (2 * u) + / (2 * (u * u))) * y1)).
    { apply derive_quadratic with (a := (1 - (ys1 * ys1 / 2 + (1 - ys1))) / u + / (2 * (u * u))). intro t. unfold ramp_L. field. lra. }
    pose proof (uniqueness_limite _ _ _ _ S1 D) as E. assert (Q : (1 + u) * (1 - y1) = u * u).
    { apply (Rmult_eq_compat_r (u * u)) in E. replace ((1 - / u - / (u * u) + 2 * (/ (2 * u) + / (2 * (u * u))) * y1) * (u * u)) with (u * u - (1 + u) * (1 - y1)) in E by (field; lra). lra. }
    assert (Y : y1 = 1 - u * u / (1 + u)) by (apply (Rmult_eq_reg_l (1 + u)); [|lra]; replace ((1 + u) * y1) with (1 + u - (1 + u) * (1 - y1)) by ring; rewrite Q; field; lra).
    replace (/ (2 * (1 + u))) with (- y1 / (2 * (u * u)) + 2 * / (4 * (u * u)) * 1).
    + apply derive_quadratic with (a := (y1 + (y1 * y1 / 2 - y1 - (ys1 * ys1 / 2 - ys1)) / u + y1 * y1 / (2 * (u * u)) + (y2 + (y2 * y2 / 2 - y2 - (ys2 * ys2 / 2 - ys2)) / u)) / 2).
      intro x. unfold ramp_L. field. lra.
    + rewrite Y. field. lra.
Qed.
