(* A Hessian of g that is only Hölder continuous, exponent s: on f = y, g = y^2/2 + xy + xy (x^2 + y^2)^(s/2) at x = 0, with the row
   -y - 100 <= 0 that never binds there, the penalty's error is exactly alpha^(2s), for s = 1/4, 1/2, 3/4, 1.  The powers are
   square roots of square roots. *)
From Coq Require Import Reals Lra Psatz.
From f2csa Require Import hilbert.
Local Open Scope R_scope.

(* what is used of z^(s/2): positive, at most 1 + sqrt z, small near 0, continuous *)
Definition root_like (p : R -> R) : Prop :=
  (forall z, 0 < z -> 0 < p z <= 1 + sqrt z) /\ (forall eta, 0 < eta -> exists d, 0 < d /\ forall z, 0 < z < d -> p z <= eta) /\
  forall z, 0 < z -> continuity_pt p z.

Section instance.
  Variable pow : R -> R.
  Hypothesis like : root_like pow.

  Definition power x y := pow (x * x + y * y).
  Definition g x y := y * y / 2 + x * y + x * y * power x y.

  Lemma power_pos x y : 0 < x * x + y * y -> 0 < power x y.
  Proof. intro p. now apply (proj1 like). Qed.

  Lemma power_le x y : 0 < x * x + y * y -> power x y <= 1 + Rabs x + Rabs y.
  Proof.
    intro p. pose proof (proj2 (proj1 like _ p)) as Q. unfold power. pose proof (Rabs_pos x). pose proof (Rabs_pos y).
    apply Rle_trans with (1 := Q). assert (sqrt (x * x + y * y) <= Rabs x + Rabs y); [|lra].
    apply le_of_squares; [lra|]. rewrite sqrt_sqrt by lra. pose proof (Rsqr_abs x) as a. pose proof (Rsqr_abs y) as b. unfold Rsqr in a, b. nra.
  Qed.

  (* the lower-level solution near x = 0: |y| <= 6 |x| *)
  Lemma solution_near x y : Rabs x <= / 8 -> (forall y', -100 <= y' -> g x y <= g x y') -> Rabs y <= 6 * Rabs x.
  Proof.
    intros Hx M. pose proof (M 0 ltac:(lra)) as M0. unfold g in M0. pose proof (Rabs_pos x). pose proof (Rabs_pos y).
    destruct (Req_dec y 0) as [->|ny]; [rewrite Rabs_R0; lra|].
    assert (p : 0 < x * x + y * y) by (assert (0 < y * y) by (destruct (Rtotal_order y 0) as [|[|]]; nra); nra).
    pose proof (power_le x y p) as L. pose proof (power_pos x y p) as P. set (q := power x y) in *.
    replace (0 * 0 / 2 + x * 0 + x * 0 * power x 0) with 0 in M0 by (unfold Rdiv; ring).
    assert (N : - (x * y) <= Rabs x * Rabs y) by (rewrite <- Rabs_mult, <- Rabs_Ropp; apply Rle_abs).
    pose proof (Rsqr_abs y) as b. unfold Rsqr in b.
    assert (K : Rabs y * Rabs y / 2 <= Rabs x * Rabs y * (1 + q)).
    { rewrite <- b. assert (- (x * y) * (1 + q) <= Rabs x * Rabs y * (1 + q)) by (apply Rmult_le_compat_r; lra). lra. }
    assert (yp : 0 < Rabs y) by now apply Rabs_pos_lt.
    assert (K2 : Rabs y / 2 <= Rabs x * (1 + q)) by (apply (Rmult_le_reg_r (Rabs y)); lra).
    assert (Rabs x * (1 + q) <= Rabs x * (2 + Rabs x + Rabs y)) by (apply Rmult_le_compat_l; lra). nra.
  Qed.

  (* the true gradient: F = y-star, grad F(0) = -1 *)
  Lemma truth_at_zero (ys : R -> R) : (forall x y, -100 <= y -> g x (ys x) <= g x y) -> derivable_pt_lim ys 0 (-1).
  Proof.
    intro M. assert (y0 : ys 0 = 0).
    { pose proof (M 0 0 ltac:(lra)) as M0. unfold g in M0. pose proof (Rle_0_sqr (ys 0)) as q. unfold Rsqr in q.
      assert (ys 0 * ys 0 = 0) by lra. nra. }
    intros eps He. assert (e0 : 0 < eps * eps / 13) by nra. destruct (proj1 (proj2 like) _ e0) as [d37 [d37p near0]]. set (d := d37 / 37).
    assert (dp : 0 < d) by (unfold d; lra).
    assert (mp : 0 < Rmin (/ 8) (sqrt d)) by (apply Rmin_glb_lt; [lra|now apply sqrt_lt_R0]).
    exists (mkposreal _ mp). intros x nz small. simpl in small. rewrite Rplus_0_l, y0.
    assert (x8 : Rabs x <= / 8) by (pose proof (Rmin_l (/ 8) (sqrt d)); lra). assert (xd : Rabs x < sqrt d) by (pose proof (Rmin_r (/ 8) (sqrt d)); lra).
    set (y := ys x). pose proof (solution_near x y x8 (M x)) as near. fold y in near.
    assert (xp : 0 < Rabs x) by now apply Rabs_pos_lt. pose proof (Rabs_pos y) as yp. pose proof (Rsqr_abs x) as ax. pose proof (Rsqr_abs y) as ay. unfold Rsqr in ax, ay.
    assert (x2 : Rabs x * Rabs x < d).
    { rewrite <- (sqrt_sqrt d) by lra. apply Rmult_le_0_lt_compat; lra. }
    assert (R37 : x * x + y * y <= 37 * (Rabs x * Rabs x)) by (rewrite ax, ay; nra).
    assert (rp : 0 < x * x + y * y) by (rewrite ax, ay; nra).
    assert (Pq : power x y <= eps * eps / 13) by (apply near0; split; [exact rp|unfold d in x2; lra]).
    pose proof (M x (- x)) as C. fold y in C. assert (xr : -100 <= - x) by (pose proof (Rle_abs x); lra). specialize (C xr). unfold g in C.
    pose proof (power_pos x y rp). assert (rx : 0 < x * x + - x * - x) by (rewrite ax in rp |- *; nra). pose proof (power_pos x (- x) rx).
    assert (N : - (x * y) <= Rabs x * Rabs y) by (rewrite <- Rabs_mult, <- Rabs_Ropp; apply Rle_abs).
    assert (S : (y + x) * (y + x) < eps * eps * (x * x)).
    { assert (A : - (x * y) * power x y <= Rabs x * Rabs y * power x y) by (apply Rmult_le_compat_r; lra).
      assert (B : Rabs x * Rabs y * power x y <= Rabs x * (6 * Rabs x) * (eps * eps / 13)).
      { apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra| |exact Pq]. apply Rmult_le_compat_l; lra. }
      assert (D : 0 <= x * x * power x (- x)) by (apply Rmult_le_pos; [apply Rle_0_sqr|lra]).
      assert (0 < eps * eps * (Rabs x * Rabs x)) by (apply Rmult_lt_0_compat; nra). rewrite ax in *. nra. }
    replace ((y - 0) / x - -1) with ((y + x) / x) by (field; assumption).
    assert (Q : Rabs ((y + x) / x) * Rabs ((y + x) / x) < eps * eps).
    { rewrite <- Rabs_mult, Rabs_right by (apply Rle_ge, Rle_0_sqr). assert (xx : 0 < x * x) by (rewrite ax; nra). apply (Rmult_lt_reg_r (x * x)); [assumption|].
      replace ((y + x) / x * ((y + x) / x) * (x * x)) with ((y + x) * (y + x)) by (field; assumption). lra. }
    pose proof (Rabs_pos ((y + x) / x)). nra.
  Qed.

  (* the penalty Lagrangian with exact stages at x = 0: ys = 0, no multiplier, no weight *)
  Definition L u x y := y + (g x y - g x 0) / u.

  Lemma derive_at_zero (phi : R -> R) : continuity_pt phi 0 -> derivable_pt_lim (fun x => x * phi x) 0 (phi 0).
  Proof.
    intros C eps He. destruct (C eps He) as [d [dp Hd]]. exists (mkposreal d dp). intros h nz small. simpl in small.
    rewrite Rplus_0_l. replace ((h * phi h - 0 * phi 0) / h - phi 0) with (phi h - phi 0) by (field; assumption).
    apply (Hd h). split; [split; [exact I|auto]|]. simpl. unfold R_dist. now rewrite Rminus_0_r.
  Qed.

  (* the estimate there *)
  Lemma estimate_at_zero alpha y : 0 < alpha -> (forall y', L (alpha * alpha) 0 y <= L (alpha * alpha) 0 y') ->
    derivable_pt_lim (fun x => L (alpha * alpha) x y) 0 (-1 - pow (alpha * alpha * (alpha * alpha))).
  Proof.
    intros Ha M. set (u := alpha * alpha) in *. assert (Hu : 0 < u) by (unfold u; nra).
    assert (E : y = - u).
    { specialize (M (- u)). unfold L, g in M. assert (Q : (y + u) * (y + u) / (2 * u) <= 0).
      { replace ((y + u) * (y + u) / (2 * u)) with (y + y * y / 2 / u + u / 2) by (field; lra).
        assert (A : (y * y / 2 + 0 * y + 0 * y * power 0 y - (0 * 0 / 2 + 0 * 0 + 0 * 0 * power 0 0)) / u = y * y / 2 / u) by (field; lra).
        assert (B : (- u * - u / 2 + 0 * - u + 0 * - u * power 0 (- u) - (0 * 0 / 2 + 0 * 0 + 0 * 0 * power 0 0)) / u = u / 2) by (field; lra). lra. }
      assert (0 <= (y + u) * (y + u)) by apply Rle_0_sqr.
      assert ((y + u) * (y + u) <= 0).
      { apply (Rmult_le_reg_r (/ (2 * u))); [apply Rinv_0_lt_compat; lra|]. unfold Rdiv in Q. lra. }
      nra. }
    subst y. assert (pw : power 0 (- u) = pow (u * u)) by (unfold power; f_equal; ring). assert (uu : 0 < u * u) by nra.
    assert (C : continuity_pt (fun x => - (1 + power x (- u))) 0).
    { apply (continuity_pt_opp (fun x => 1 + power x (- u))). apply (continuity_pt_plus (fun _ => 1)); [apply continuity_pt_const; now intros ? ?|].
      apply (continuity_pt_comp (fun x => x * x + - u * - u) pow); [apply derivable_continuous_pt; reg|]. apply (proj2 (proj2 like)). nra. }
    replace (-1 - pow (u * u)) with (- (1 + power 0 (- u)) + 0) by (rewrite pw; ring).
    assert (D : derivable_pt_lim (fun x => x * - (1 + power x (- u)) + (- u + u / 2)) 0 (- (1 + power 0 (- u)) + 0)).
    { apply derivable_pt_lim_plus; [now apply derive_at_zero with (phi := fun x => - (1 + power x (- u)))|apply derivable_pt_lim_const]. }
    intros eps He. destruct (D eps He) as [d Hd]. exists d. intros h nz small. specialize (Hd h nz small).
    assert (same : forall x, L u x (- u) = x * - (1 + power x (- u)) + (- u + u / 2)) by (intro x; unfold L, g; field; lra).
    rewrite !same. exact Hd.
  Qed.
End instance.


Lemma root_like_sqrt : root_like sqrt.
Proof.
  split; [|split].
  - intros z Hz. pose proof (sqrt_lt_R0 z Hz). lra.
  - intros eta He. exists (eta * eta). split; [nra|]. intros z [z0 z1]. rewrite <- (sqrt_square eta) by lra. apply sqrt_le_1_alt. lra.
  - intros z Hz. apply continuity_pt_sqrt. lra.
Qed.

Lemma root_like_next p : root_like p -> root_like (fun z => sqrt (p z)).
Proof.
  intros [A [B C]]. split; [|split].
  - intros z Hz. destruct (A z Hz) as [a0 a1]. split; [now apply sqrt_lt_R0|]. pose proof (sqrt_pos z). destruct (Rle_dec (p z) 1) as [le|gt].
    + assert (sqrt (p z) <= sqrt 1) by (now apply sqrt_le_1_alt). rewrite sqrt_1 in *. lra.
    + apply Rle_trans with (p z); [|lra]. pose proof (sqrt_sqrt (p z) (Rlt_le _ _ a0)) as s. pose proof (sqrt_pos (p z)).
      assert (1 <= sqrt (p z)) by (rewrite <- sqrt_1; apply sqrt_le_1_alt; lra). nra.
  - intros eta He. destruct (B (eta * eta) ltac:(nra)) as [d [d0 D]]. exists d. split; [assumption|]. intros z Hz. rewrite <- (sqrt_square eta) by lra. apply sqrt_le_1_alt, D, Hz.
  - intros z Hz. apply (continuity_pt_comp p sqrt); [now apply C|]. apply continuity_pt_sqrt. destruct (A z Hz). lra.
Qed.

(* z^(s/2) and alpha^(2s) for s = 1/4, 1/2, 3/4, 1 *)
Inductive exponent := quarter | half | three_quarters | one.
Definition root (s : exponent) (z : R) : R :=
  match s with quarter => sqrt (sqrt (sqrt z)) | half => sqrt (sqrt z) | three_quarters => sqrt (sqrt z) * sqrt (sqrt (sqrt z)) | one => sqrt z end.
Definition order (s : exponent) (alpha : R) : R :=
  match s with quarter => sqrt alpha | half => alpha | three_quarters => alpha * sqrt alpha | one => alpha * alpha end.

Lemma root_like_root s : root_like (root s).
Proof.
  pose proof root_like_sqrt as R1. pose proof (root_like_next _ R1) as R2. pose proof (root_like_next _ R2) as R3. destruct s; [exact R3|exact R2| |exact R1].
  destruct R2 as [A2 [B2 C2]]. destruct R3 as [A3 [B3 C3]]. split; [|split].
  - intros z Hz. destruct (A2 z Hz) as [a0 a1]. destruct (A3 z Hz) as [b0 b1]. simpl. split; [now apply Rmult_lt_0_compat|].
    pose proof (sqrt_pos z) as r1. pose proof (sqrt_sqrt _ r1) as q2. pose proof (sqrt_sqrt _ (Rlt_le _ _ a0)) as q3.
    set (r2 := sqrt (sqrt z)) in *. set (r3 := sqrt r2) in *. destruct (Rle_dec r2 1) as [le|gt]; [|].
    + assert (r3 <= 1) by nra. nra.
    + assert (r3 <= r2) by nra. nra.
  - intros eta He. destruct (B2 1 ltac:(lra)) as [d [d0 D]]. destruct (B3 eta He) as [d' [d0' D']]. exists (Rmin d d'). split; [now apply Rmin_glb_lt|].
    intros z [z0 z1]. pose proof (Rmin_l d d'). pose proof (Rmin_r d d'). pose proof (D z ltac:(lra)). pose proof (D' z ltac:(lra)). destruct (A2 z z0). destruct (A3 z z0). simpl. nra.
  - intros z Hz. exact (continuity_pt_mult _ _ z (C2 z Hz) (C3 z Hz)).
Qed.

Lemma root_order s alpha : 0 < alpha -> root s (alpha * alpha * (alpha * alpha)) = order s alpha.
Proof. intro Ha. destruct s; simpl; rewrite !sqrt_square by nra; reflexivity. Qed.

(* any minimisers y-star(x) of g(x, .) over the row have derivative -1 at 0, so grad F(0) = -1 *)
Theorem holder_truth s (ys : R -> R) : (forall x y, -100 <= y -> g (root s) x (ys x) <= g (root s) x y) -> derivable_pt_lim ys 0 (-1).
Proof. exact (truth_at_zero (root s) (root_like_root s) ys). Qed.

(* the estimate at the penalty minimiser is -1 - alpha^(2s): off by exactly alpha^(2s) *)
Theorem holder_estimate s alpha y : 0 < alpha -> (forall y', L (root s) (alpha * alpha) 0 y <= L (root s) (alpha * alpha) 0 y') ->
  derivable_pt_lim (fun x => L (root s) (alpha * alpha) x y) 0 (-1 - order s alpha).
Proof. intros Ha M. rewrite <- root_order by assumption. exact (estimate_at_zero (root s) (root_like_root s) alpha y Ha M). Qed.

(* s = 1/4: more than any multiple of alpha *)
Theorem holder_refuted C : exists alpha, 0 < alpha < 1 /\ C * alpha < order quarter alpha.
Proof.
  set (K := Rabs C + 2). assert (HK : 2 <= K) by (unfold K; pose proof (Rabs_pos C); lra). assert (i : 0 < / K) by (apply Rinv_0_lt_compat; lra).
  assert (i1 : / K <= / 2) by (apply Rinv_le_contravar; lra). exists (/ K * / K). split; [nra|]. simpl. rewrite sqrt_square by lra. pose proof (Rle_abs C).
  apply (Rmult_lt_reg_r (K * K)); [nra|]. replace (C * (/ K * / K) * (K * K)) with C by (field; lra). replace (/ K * (K * K)) with K by (field; lra). unfold K. lra.
Qed.
