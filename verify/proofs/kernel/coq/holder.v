(* A Hessian of g that is only Hölder continuous, exponent s in (0, 1]: T3 is at most of order alpha^(2s), and exactly that on
   f = y, g = y^2/2 + xy + xy (x^2 + y^2)^(s/2) at x = 0 with the row -y - 100 <= 0, which never binds there. *)
From Coq Require Import Reals Lra Psatz.
From f2csa Require Import hilbert.
Local Open Scope R_scope.

(* a rest H e^(1+s) at a distance e <= C alpha^2 costs alpha^-2 H e^(1+s) <= H C^(1+s) alpha^(2s) *)
Theorem holder_rest_s (alpha C e H s rest : R) : 0 < alpha -> 0 <= H -> 0 < s -> 0 < e <= C * (alpha * alpha) ->
  rest <= H * Rpower e (1 + s) -> rest / (alpha * alpha) <= H * Rpower C (1 + s) * Rpower alpha (2 * s).
Proof.
  intros Ha HH Hs [E0 E1] Hr. assert (u : 0 < alpha * alpha) by nra.
  assert (C0 : 0 < C) by (apply (Rmult_lt_reg_r (alpha * alpha)); lra).
  assert (P : Rpower e (1 + s) <= Rpower (C * (alpha * alpha)) (1 + s)) by (apply Rle_Rpower_l; lra).
  rewrite <- Rpower_mult_distr in P by assumption.
  assert (Q : Rpower (alpha * alpha) (1 + s) = alpha * alpha * Rpower alpha (2 * s)).
  { rewrite Rpower_plus, Rpower_1 by assumption. f_equal. rewrite <- Rpower_mult_distr by assumption. rewrite <- Rpower_plus. f_equal. ring. }
  rewrite Q in P. apply (Rmult_le_compat_l H) in P; [|lra]. apply (Rmult_le_reg_r (alpha * alpha)); [assumption|].
  replace (rest / (alpha * alpha) * (alpha * alpha)) with rest by (field; lra). lra.
Qed.

Section instance.
  Variable s : R.
  Hypothesis s_range : 0 < s <= 1.

  Definition power x y := Rpower (x * x + y * y) (s / 2).
  Definition g x y := y * y / 2 + x * y + x * y * power x y.

  Lemma power_pos x y : 0 < power x y.
  Proof. apply exp_pos. Qed.

  Lemma power_le x y : 0 < x * x + y * y -> power x y <= 1 + Rabs x + Rabs y.
  Proof.
    intro p. unfold power. pose proof (Rabs_pos x). pose proof (Rabs_pos y). destruct (Rle_dec (x * x + y * y) 1) as [small|large].
    - assert (Rpower (x * x + y * y) (s / 2) <= Rpower 1 (s / 2)) by (apply Rle_Rpower_l; lra). unfold Rpower in H1 at 2. rewrite ln_1, Rmult_0_r, exp_0 in H1. lra.
    - assert (Q : Rpower (x * x + y * y) (s / 2) <= Rpower (x * x + y * y) (/ 2)) by (apply Rle_Rpower; lra). rewrite Rpower_sqrt in Q by assumption.
      apply Rle_trans with (1 := Q). apply Rle_trans with (Rabs x + Rabs y); [|lra].
      apply le_of_squares; [lra|]. rewrite sqrt_sqrt by lra. pose proof (Rsqr_abs x) as a. pose proof (Rsqr_abs y) as b. unfold Rsqr in a, b. nra.
  Qed.

  (* the lower-level solution near x = 0: |y| <= 6 |x| *)
  Lemma solution_near x y : Rabs x <= / 8 -> (forall y', -100 <= y' -> g x y <= g x y') -> Rabs y <= 6 * Rabs x.
  Proof.
    intros Hx M. pose proof (M 0 ltac:(lra)) as M0. unfold g in M0. pose proof (Rabs_pos x). pose proof (Rabs_pos y).
    destruct (Req_dec y 0) as [->|ny]; [rewrite Rabs_R0; lra|].
    assert (p : 0 < x * x + y * y) by (assert (0 < y * y) by (destruct (Rtotal_order y 0) as [|[|]]; nra); nra).
    pose proof (power_le x y p) as L. pose proof (power_pos x y) as P. set (q := power x y) in *.
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
  Theorem holder_truth (ys : R -> R) : (forall x y, -100 <= y -> g x (ys x) <= g x y) -> derivable_pt_lim ys 0 (-1).
  Proof.
    intro M. assert (y0 : ys 0 = 0).
    { pose proof (M 0 0 ltac:(lra)) as M0. unfold g in M0. pose proof (Rle_0_sqr (ys 0)) as q. unfold Rsqr in q.
      assert (ys 0 * ys 0 = 0) by lra. nra. }
    intros eps He. set (d := Rpower (eps * eps / 13) (2 / s) / 37). assert (e0 : 0 < eps * eps / 13) by nra.
    assert (dp : 0 < d) by (unfold d; apply Rmult_lt_0_compat; [apply exp_pos|lra]).
    assert (mp : 0 < Rmin (/ 8) (sqrt d)) by (apply Rmin_glb_lt; [lra|now apply sqrt_lt_R0]).
    exists (mkposreal _ mp). intros x nz small. simpl in small. rewrite Rplus_0_l, y0.
    assert (x8 : Rabs x <= / 8) by (pose proof (Rmin_l (/ 8) (sqrt d)); lra). assert (xd : Rabs x < sqrt d) by (pose proof (Rmin_r (/ 8) (sqrt d)); lra).
    set (y := ys x). pose proof (solution_near x y x8 (M x)) as near. fold y in near.
    assert (xp : 0 < Rabs x) by now apply Rabs_pos_lt. pose proof (Rabs_pos y) as yp. pose proof (Rsqr_abs x) as ax. pose proof (Rsqr_abs y) as ay. unfold Rsqr in ax, ay.
    assert (x2 : Rabs x * Rabs x < d).
    { rewrite <- (sqrt_sqrt d) by lra. apply Rmult_le_0_lt_compat; lra. }
    assert (R37 : x * x + y * y <= 37 * (Rabs x * Rabs x)) by (rewrite ax, ay; nra).
    assert (rp : 0 < x * x + y * y) by (rewrite ax, ay; nra).
    assert (Pq : power x y <= eps * eps / 13).
    { unfold power. apply Rle_trans with (Rpower (37 * d) (s / 2)); [apply Rle_Rpower_l; lra|]. right. unfold d.
      replace (37 * (Rpower (eps * eps / 13) (2 / s) / 37)) with (Rpower (eps * eps / 13) (2 / s)) by field.
      rewrite Rpower_mult. replace (2 / s * (s / 2)) with 1 by (field; lra). now apply Rpower_1. }
    pose proof (M x (- x)) as C. fold y in C. assert (xr : -100 <= - x) by (pose proof (Rle_abs x); lra). specialize (C xr). unfold g in C.
    pose proof (power_pos x y). pose proof (power_pos x (- x)).
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

  (* the estimate there: -1 - alpha^(2s), off from grad F = -1 by exactly alpha^(2s) *)
  Theorem holder_estimate alpha y : 0 < alpha -> (forall y', L (alpha * alpha) 0 y <= L (alpha * alpha) 0 y') ->
    derivable_pt_lim (fun x => L (alpha * alpha) x y) 0 (-1 - Rpower alpha (2 * s)).
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
    subst y. assert (pw : power 0 (- u) = Rpower alpha (2 * s)).
    { unfold power. replace (0 * 0 + - u * - u) with (u * u) by ring. unfold u. rewrite <- !Rpower_mult_distr by nra. rewrite <- !Rpower_plus. f_equal. field. }
    assert (C : continuity_pt (fun x => - (1 + power x (- u))) 0).
    { assert (lnd : derivable_pt (fun x => ln (x * x + - u * - u)) 0).
      { apply (derivable_pt_comp (fun x => x * x + - u * - u) ln); [reg|]. exists (/ (0 * 0 + - u * - u)). apply derivable_pt_lim_ln. nra. }
      assert (ed : derivable_pt (fun x => power x (- u)) 0).
      { apply (derivable_pt_comp (fun x => s / 2 * ln (x * x + - u * - u)) exp); [|apply derivable_pt_exp]. apply (derivable_pt_scal _ (s / 2)). exact lnd. }
      apply derivable_continuous_pt, derivable_pt_opp. apply (derivable_pt_plus (fun _ => 1)); [apply derivable_pt_const|exact ed]. }
    replace (-1 - Rpower alpha (2 * s)) with (- (1 + power 0 (- u)) + 0) by (rewrite pw; ring).
    assert (D : derivable_pt_lim (fun x => x * - (1 + power x (- u)) + (- u + u / 2)) 0 (- (1 + power 0 (- u)) + 0)).
    { apply derivable_pt_lim_plus; [now apply derive_at_zero with (phi := fun x => - (1 + power x (- u)))|apply derivable_pt_lim_const]. }
    intros eps He. destruct (D eps He) as [d Hd]. exists d. intros h nz small. specialize (Hd h nz small).
    assert (same : forall x, L u x (- u) = x * - (1 + power x (- u)) + (- u + u / 2)) by (intro x; unfold L, g; field; lra).
    rewrite !same. exact Hd.
  Qed.
End instance.

(* below s = 1/2 that is more than any multiple of alpha *)
Theorem holder_refuted (s C : R) : 0 < s < / 2 -> exists alpha, 0 < alpha < 1 /\ C * alpha < Rpower alpha (2 * s).
Proof.
  intros [s0 s1]. set (K := Rabs C + 2). assert (HK : 2 <= K) by (unfold K; pose proof (Rabs_pos C); lra). assert (l : 0 < ln K) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (d : 0 < 1 - 2 * s) by lra. exists (Rpower K (- / (1 - 2 * s))). assert (p : 0 < Rpower K (- / (1 - 2 * s))) by apply exp_pos.
  split; [split; [assumption|]|].
  - apply Rlt_le_trans with (Rpower K 0); [|right; apply Rpower_O; lra]. apply Rpower_lt; [lra|]. assert (0 < / (1 - 2 * s)) by now apply Rinv_0_lt_compat. lra.
  - assert (E : Rpower (Rpower K (- / (1 - 2 * s))) (2 * s) = K * Rpower K (- / (1 - 2 * s))).
    { rewrite Rpower_mult. transitivity (Rpower K 1 * Rpower K (- / (1 - 2 * s))); [|rewrite Rpower_1 by lra; reflexivity].
      rewrite <- Rpower_plus. f_equal. field. lra. }
    rewrite E. apply Rmult_lt_compat_r; [assumption|]. unfold K. pose proof (Rle_abs C). lra.
Qed.
