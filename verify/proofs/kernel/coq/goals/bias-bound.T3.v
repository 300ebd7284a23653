From Coq Require Import Lra Psatz.
From f2csa Require Import quadratic penalty.
Goal.
Proof.
  unfold sentence. destruct premise_smoothness_strong_convexity as [m0 _]. destruct premise_licq as [sigma [sigma0 licq]].
  destruct (bounded f_xy) as [k1 [k1p K1]]. destruct (bounded f_yy) as [k2 [k2p K2]]. destruct (bounded g_yy) as [Cg [Cgp KG]].
  destruct (bounded Dy_star) as [LY [LYp KY]]. destruct (bounded Dlam_star) as [LL [LLp KL]].
  destruct (spectral_bounds V (coords p) spectral_p_m B spectral_p_m_is) as [LBp KB]. set (LB := spectral_p_m B) in *.
  set (Cf := k1 + k2). set (size := norm (grad_y_f y_star)).
  exists ((Cf * (1 + LY) / (mu_g / 2) + LL * (1 + (Cg + Cf) / (mu_g / 2)) / (1 / 2 * sigma)) * size), (Rmin 1 (mu_g / (2 * (Cf + 1)))).
  assert (Cf0 : 0 <= Cf) by (unfold Cf; lra).
  assert (q0 : 0 < mu_g / (2 * (Cf + 1))) by (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]).
  split; [apply Rmin_glb_lt; lra|]. intros alpha [a0 al] [clear inside].
  assert (al1 : alpha <= 1) by (apply Rle_trans with (1 := al), Rmin_l).
  assert (alm : alpha * Cf <= mu_g / 2).
  { assert (alpha <= mu_g / (2 * (Cf + 1))) as Q by (apply Rle_trans with (1 := al), Rmin_r).
    apply (Rmult_le_compat_r (2 * (Cf + 1))) in Q; [|lra]. replace (mu_g / (2 * (Cf + 1)) * (2 * (Cf + 1))) with mu_g in Q by (field; lra). lra. }
  assert (uC : 0 <= alpha * alpha * Cf <= Cf).
  { split; [repeat apply Rmult_le_pos; lra|]. rewrite <- (Rmult_1_l Cf) at 2. apply Rmult_le_compat_r; [exact Cf0|nra]. }
  assert (half : mu_g / 2 <= mu_g - alpha * alpha * Cf).
  { assert (alpha * (alpha * Cf) <= 1 * (alpha * Cf)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]). lra. }
  assert (d0 : 0 < delta alpha) by (apply pow_lt, a0).
  assert (lower : norm (sub y_star y_star) <= delta alpha).
  { replace (norm (sub y_star y_star)) with 0; [lra|]. symmetry. unfold norm. rewrite inner_sub, Rminus_diag_eq by reflexivity. apply sqrt_0. }
  assert (dual : norm (sub lam_star lam_star) <= C_lambda * delta alpha).
  { replace (norm (sub lam_star lam_star)) with 0; [apply Rmult_le_pos; lra|]. symmetry. unfold norm.
    rewrite inner_sub, Rminus_diag_eq by reflexivity. apply sqrt_0. }
  assert (wide : 2 * LB * delta alpha <= h_width alpha).
  { unfold h_width. apply Rmult_le_compat_r; [lra|]. pose proof (Rmax_r 1 row_norm). lra. }
  assert (wide0 : 0 < h_width alpha).
  { unfold h_width. apply Rmult_lt_0_compat; [|exact d0]. pose proof (Rmax_l 1 row_norm). lra. }
  assert (zero_at : forall i, active i = true -> h y_star i = 0).
  { intros i. unfold active, at_zero. destruct (Req_EM_T (h y_star i) 0); [now intros|discriminate]. }
  assert (lw : 0 < lam_width) by (unfold lam_width; lra).
  set (y := y_min alpha y_star lam_star). set (r := grad_y_L alpha y_star lam_star y).
  assert (a1 : 0 < alpha_1 alpha) by (apply Rinv_0_lt_compat, pow_lt, a0).
  assert (a2 : 0 < alpha_2 alpha) by (apply Rinv_0_lt_compat, pow_lt, a0).
  assert (k0 : 0 < alpha_1 alpha * mu_g - Cf).
  { replace (alpha_1 alpha * mu_g - Cf) with (alpha_1 alpha * (mu_g - alpha * alpha * Cf)) by (unfold alpha_1; field; lra).
    apply Rmult_lt_0_compat; lra. }
  assert (curved : curves (hess_yy_L alpha y_star lam_star) (alpha_1 alpha * mu_g - Cf)).
  { apply hessian_curves; [lra|lra| |apply least_curves, least_m_m_is|].
    - intros. unfold rho, weigh, ramp_h, ramp_lam, cut. apply Rmult_le_pos; apply Rmax_l.
    - intro v. pose proof (cauchy_schwarz_neg V (f_yy v) v). pose proof (norm_pos V v). rewrite <- norm_sq.
      assert (norm (f_yy v) * norm v <= Cf * norm v * norm v).
      { apply Rmult_le_compat_r; [assumption|]. apply Rle_trans with (1 := K2 v). apply Rmult_le_compat_r; [assumption|unfold Cf; lra]. }
      lra. }
  assert (stationary : forall w, inner r w = 0).
  { intro w. apply (newton V solve_m_m (hess_yy_L alpha y_star lam_star) (grad_y_L alpha y_star lam_star) y_star solve_m_m_is).
    - apply hessian_linear.
    - exists (alpha_1 alpha * mu_g - Cf). now split.
    - intros. apply gradient_change. }
  set (left := add r (scale (alpha_1 alpha) (back B (sub lam_star lam_star)))).
  assert (none : forall w, inner left w = 0).
  { intro w. unfold left. rewrite inner_add, inner_scale, stationary, transpose, inner_sub. ring. }
  assert (left0 : norm left = 0) by (unfold norm; rewrite none; apply sqrt_0).
  assert (left_size : norm (sub left (grad_y_f y_star)) = size).
  { unfold size. rewrite (same_norm V _ (scale (-1) (grad_y_f y_star))).
    - rewrite norm_scale, Rabs_left by lra. ring.
    - intro w. rewrite inner_sub, none, inner_scale. ring. }
  assert (E : norm (T3 alpha) <= LY * norm left + alpha * alpha * ((Cf * (1 + LY) / (mu_g - alpha * alpha * Cf)
    + LL * (1 + (Cg + alpha * alpha * Cf) / (mu_g - alpha * alpha * Cf)) / (1 / 2 * sigma)) * norm (sub left (grad_y_f y_star)))).
  { apply (second_order X V p f_xx f_xy g_xy f_yy g_yy A B f_x x zero_x f_y g_y y_star y b
      lam_star lam_star (rho alpha y_star lam_star) Dy_star Dlam_star active alpha (alpha_1 alpha)
      (alpha_2 alpha) mu_g Cf); try assumption; try reflexivity.
    - intros i Hi Hs. exact (on_active X V p A B x y_star y_star b lam_star lam_star active (h_width alpha) lam_width
        (delta alpha) C_lambda LB wide0 wide lw KB LBp lower dual zero_at clear i Hi Hs).
    - intros i Hi Hs. exact (off_active X V p A B x y_star y_star b lam_star active (h_width alpha) lam_width
        (delta alpha) LB wide0 KB LBp lower inside i Hi Hs).
    - apply least_curves, least_m_m_is.
    - intro v. apply Rle_trans with (1 := K2 v). apply Rmult_le_compat_r; [apply norm_pos|unfold Cf; lra].
    - intro v. apply Rle_trans with (1 := K1 v). apply Rmult_le_compat_r; [apply norm_pos|unfold Cf; lra].
    - lra. }
  rewrite left0, left_size in E. assert (s0 : 0 <= size) by apply norm_pos.
  assert (i1 : / (mu_g - alpha * alpha * Cf) <= / (mu_g / 2)) by (apply Rinv_le_contravar; lra).
  assert (i0 : 0 < / (mu_g - alpha * alpha * Cf)) by (apply Rinv_0_lt_compat; lra).
  assert (S : Cf * (1 + LY) / (mu_g - alpha * alpha * Cf) <= Cf * (1 + LY) / (mu_g / 2)).
  { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact i1]. }
  assert (T : (Cg + alpha * alpha * Cf) / (mu_g - alpha * alpha * Cf) <= (Cg + Cf) / (mu_g / 2)) by (apply Rmult_le_compat; lra).
  assert (U : LL * (1 + (Cg + alpha * alpha * Cf) / (mu_g - alpha * alpha * Cf)) / (1 / 2 * sigma) <= LL * (1 + (Cg + Cf) / (mu_g / 2)) / (1 / 2 * sigma)).
  { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. apply Rmult_le_compat_l; lra. }
  apply Rle_trans with (1 := E). rewrite Rmult_0_r, Rplus_0_l.
  match goal with |- _ * (?k * size) <= ?k' * size * _ => replace (k' * size * alpha ^ 2) with (alpha * alpha * (k' * size)) by ring end.
  apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat_r; lra.
Qed.
