From Coq Require Import Lra Psatz.
From f2csa Require Import quadratic steps.
Goal.
Proof.
  unfold sentence. intros alpha a0 e_lam _ convex small.
  assert (a1 : 0 < alpha_1 alpha) by (apply Rinv_0_lt_compat, pow_lt, a0).
  assert (a2 : 0 < alpha_2 alpha) by (apply Rinv_0_lt_compat, pow_lt, a0).
  assert (Cf : forall v, - (C_f * inner v v) <= inner (f_yy v) v).
  { apply (block_curvature X V f_xx f_xy). apply spectral_nm_nm_is, block_bounded. }
  assert (C0 : 0 <= C_f) by apply spectral_nm_nm_is, block_bounded.
  destruct premise_smoothness_strong_convexity as [m0 _].
  assert (k0 : 0 < alpha_1 alpha * mu_g - C_f).
  { assert (E : alpha_1 alpha * (alpha ^ 2) = 1) by (unfold alpha_1; apply Rinv_l; pose proof (pow_lt alpha 2 a0); lra).
    pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ a1) small) as Q.
    replace (alpha_1 alpha * (2 * C_f * alpha ^ 2)) with (2 * C_f * (alpha_1 alpha * alpha ^ 2)) in Q by ring. rewrite E in Q.
    assert (0 < alpha_1 alpha * mu_g) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (range : forall ys lam i, (i < p)%nat -> 0 <= rho alpha ys lam i).
  { intros. unfold rho, weigh, ramp_h, ramp_lam, cut. apply Rmult_le_pos; apply Rmax_l. }
  assert (curved : forall ys lam, curves (hess_yy_L alpha ys lam) (alpha_1 alpha * mu_g - C_f)).
  { intros. apply hessian_curves; [lra|lra|apply range|apply least_curves, least_m_m_is|exact Cf]. }
  assert (zero_at : forall lam w, inner (grad_y_L alpha y_star lam (y_min alpha y_star lam)) w = 0).
  { intros. apply newton; [apply solve_m_m_is|apply hessian_linear|eexists; split; [exact k0|apply curved]|]. intros. apply gradient_change. }
  set (u := y_min alpha y_star lam_star). set (w := y_min alpha y_star (lam_t alpha e_lam)). set (d := sub u w).
  set (g := grad_y_L alpha y_star lam_star).
  assert (same : norm (sub (g w) (grad_y_L alpha y_star (lam_t alpha e_lam) w)) = norm (sub (g u) (g w))).
  { assert (zu : forall v, inner (g u) v = 0) by (intro; apply zero_at).
    assert (zt : forall v, inner (grad_y_L alpha y_star (lam_t alpha e_lam) w) v = 0) by (intro; apply zero_at).
    unfold norm. f_equal. rewrite !inner_sub, !inner_sub_r, !zu, !zt, (inner_sym _ (g w) (g u)), zu,
      (inner_sym _ (g w) (grad_y_L alpha y_star (lam_t alpha e_lam) w)), zt. ring. }
  rewrite same. apply monotonicity; [lra|].
  assert (change : inner (sub (g u) (g w)) d = inner (hess_yy_L alpha y_star lam_star d) d).
  { rewrite inner_sub. apply gradient_change. }
  rewrite change. assert (L : curves (hess_yy_L alpha y_star lam_star) (least_m_m (hess_yy_L alpha y_star lam_star))).
  { apply least_m_m_is. eexists. apply curved. }
  apply L.
Qed.
