From Coq Require Import Lra Psatz.
From f2csa Require Import slopes.
Goal.
Proof.
  unfold sentence. destruct (back_bounded V X f_xy) as [Cf [Cf0 [_ HF]]]. destruct (back_bounded V X g_xy) as [Cg [Cg0 [_ HG]]].
  destruct (bounded A) as [LA [LA0 HA]]. destruct (bounded B) as [LB [LB0 HB]].
  exists (Cf + Cg + LA * LB), 1. split; [lra|]. intros alpha [a0 a1].
  assert (w0 : 0 < h_width alpha).
  { unfold h_width, delta. pose proof (Rmax_l 1 row_norm). pose proof (pow_lt alpha 3 a0). apply Rmult_lt_0_compat; lra. }
  assert (range : forall i, 0 <= rho alpha y_star lam_star i <= 1).
  { intro i. unfold rho, weigh, ramp_h, ramp_lam, cut.
    assert (unit : forall t, 0 <= Rmax 0 (Rmin 1 t) <= 1).
    { intro t. split; [apply Rmax_l|apply Rmax_lub; [lra|apply Rmin_l]]. }
    pose proof (unit (add (scale (/ h_width alpha) (h y_star)) ones i)) as P. pose proof (unit (scale (/ lam_width) lam_star i)) as Q. nra. }
  assert (u : 0 < alpha * alpha <= 1) by nra. set (m := hess_xy_L alpha y_star lam_star).
  assert (M : (forall v, norm (m v) <= (Cf + Cg / (alpha * alpha) + LA * LB / (alpha * alpha * (alpha * alpha))) * norm v) /\
    Cf + Cg / (alpha * alpha) + LA * LB / (alpha * alpha * (alpha * alpha)) <= (Cf + Cg + LA * LB) / (alpha * alpha * (alpha * alpha)) /\
    (LA = 0 -> Cf + Cg / (alpha * alpha) + LA * LB / (alpha * alpha * (alpha * alpha)) <= (Cf + Cg) / (alpha * alpha))).
  { apply (mixed_derivative X V (coords p) (back f_xy) (back g_xy) (times A) (times B) (@weigh p (rho alpha y_star lam_star)) m (alpha * alpha));
      try assumption.
    - intros v dx. unfold m, hess_xy_L, alpha_1, alpha_2. rewrite inner_sub, inner_add, !inner_scale, !transpose, (inner_sym _ dx), (inner_sym _ dx (g_xy v)).
      replace (/ alpha ^ 2) with (/ (alpha * alpha)) by (f_equal; ring). replace (/ alpha ^ 4) with (/ (alpha * alpha * (alpha * alpha))) by (f_equal; ring).
      unfold Rdiv. ring.
    - intro w. rewrite <- (Rmult_1_l (norm w)). apply weigh_le; [lra|]. intros i Hi. pose proof (range i). pose proof (Rabs_pos (w i)).
      rewrite Rabs_mult, Rabs_right by lra. apply Rmult_le_compat_r; lra. }
  destruct M as [bound [size _]]. replace (alpha ^ 4) with (alpha * alpha * (alpha * alpha)) by ring. apply Rle_trans with (2 := size).
  assert (K : stretches m (Cf + Cg / (alpha * alpha) + LA * LB / (alpha * alpha * (alpha * alpha)))).
  { split; [|exact bound]. assert (0 < / (alpha * alpha)) by (apply Rinv_0_lt_compat; lra).
    assert (0 < / (alpha * alpha * (alpha * alpha))) by (apply Rinv_0_lt_compat; nra).
    assert (0 <= Cg / (alpha * alpha)) by (apply Rmult_le_pos; lra).
    assert (0 <= LA * LB / (alpha * alpha * (alpha * alpha))) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]). lra. }
  destruct (spectral_n_m_is m (ex_intro _ _ K)) as [_ least]. exact (least _ K).
Qed.
