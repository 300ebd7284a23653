From Coq Require Import Lra Psatz.
From f2csa Require Import penalty.
Goal.
Proof.
  unfold sentence. destruct premise_smoothness_strong_convexity as [m0 _].
  destruct (bounded f_xy) as [k1 [k1p K1]]. destruct (bounded f_yy) as [k2 [k2p K2]]. destruct (bounded g_xy) as [Cg [Cgp KG]].
  destruct (bounded Dy_star) as [LY [LYp KY]]. destruct (bounded Dlam_star) as [LL [LLp KL]].
  destruct (spectral_bounds V (coords p) spectral_p_m B spectral_p_m_is) as [LBp KB]. set (LB := spectral_p_m B) in *.
  set (Cf := k1 + k2). set (Gamma := norm (grad_y_f y_star) + (1 + LB * C_lambda)).
  assert (Cl : 0 <= C_lambda) by lra. assert (LC : 0 <= LB * C_lambda) by (apply Rmult_le_pos; assumption).
  set (root := 2 * sqrt (1 / 2 * (mu_g / 2))). assert (r0 : 0 < root) by (unfold root; apply Rmult_lt_0_compat; [lra|apply sqrt_lt_R0; lra]).
  exists (LY * (1 + LB * C_lambda) + Cg + LL * Gamma / root + Cf * (1 + LY) * Gamma / (mu_g / 2)), (Rmin 1 (mu_g / (2 * (Cf + 1)))).
  assert (Cf0 : 0 <= Cf) by (unfold Cf; lra).
  assert (q0 : 0 < mu_g / (2 * (Cf + 1))) by (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]).
  split; [apply Rmin_glb_lt; lra|]. intros alpha [a0 al] e_ys ys1 e_lam lam1 e_y _ stop [clear inside].
  assert (al1 : alpha <= 1) by (apply Rle_trans with (1 := al), Rmin_l).
  assert (alm : alpha * Cf <= mu_g / 2).
  { assert (alpha <= mu_g / (2 * (Cf + 1))) as Q by (apply Rle_trans with (1 := al), Rmin_r).
    apply (Rmult_le_compat_r (2 * (Cf + 1))) in Q; [|lra]. replace (mu_g / (2 * (Cf + 1)) * (2 * (Cf + 1))) with mu_g in Q by (field; lra). lra. }
  assert (half : mu_g / 2 <= mu_g - alpha * alpha * Cf).
  { assert (alpha * (alpha * Cf) <= 1 * (alpha * Cf)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]). lra. }
  assert (d3 : delta alpha = alpha * alpha * alpha) by (unfold delta; ring). assert (d0 : 0 < delta alpha) by (apply pow_lt, a0).
  assert (lower : norm (sub (ys_t alpha e_ys) y_star) <= delta alpha).
  { rewrite (same_norm V _ (scale (delta alpha) e_ys)) by (intro u; unfold ys_t; rewrite inner_sub, inner_add; ring).
    rewrite norm_scale, Rabs_right by lra. rewrite <- Rmult_1_r. apply Rmult_le_compat_l; lra. }
  assert (dual : norm (sub (lam_t alpha e_lam) lam_star) <= C_lambda * delta alpha).
  { rewrite (same_norm (coords p) _ (scale (C_lambda * delta alpha) e_lam)) by (intro u; unfold lam_t; rewrite inner_sub, inner_add; ring).
    assert (0 <= C_lambda * delta alpha) by (apply Rmult_le_pos; lra). rewrite norm_scale, Rabs_right by lra.
    rewrite <- Rmult_1_r. apply Rmult_le_compat_l; lra. }
  assert (wide : 2 * LB * delta alpha <= h_width alpha).
  { unfold h_width. apply Rmult_le_compat_r; [lra|]. pose proof (Rmax_r 1 row_norm). lra. }
  assert (wide0 : 0 < h_width alpha).
  { unfold h_width. apply Rmult_lt_0_compat; [|exact d0]. pose proof (Rmax_l 1 row_norm). lra. }
  assert (zero_at : forall i, active i = true -> h y_star i = 0).
  { intros i. unfold active, at_zero. destruct (Req_EM_T (h y_star i) 0); [now intros|discriminate]. }
  assert (lw : 0 < lam_width) by (unfold lam_width; lra).
  assert (E : norm (bias alpha e_ys e_lam e_y) <=
    alpha * (LY * (1 + LB * C_lambda) + Cg + LL * Gamma / (2 * sqrt (1 / 2 * (mu_g - alpha * alpha * Cf))))
    + alpha * alpha * (Cf * (1 + LY) * Gamma / (mu_g - alpha * alpha * Cf))).
  { apply (first_order X V p f_xx f_xy g_xy f_yy g_yy A B f_x x zero_x f_y g_y y_star (ys_t alpha e_ys) (y_t alpha e_ys e_lam e_y) b
      lam_star (lam_t alpha e_lam) (rho alpha (ys_t alpha e_ys) (lam_t alpha e_lam)) Dy_star Dlam_star active alpha (alpha_1 alpha)
      (alpha_2 alpha) mu_g Cf); try assumption; try reflexivity.
    - intros i Hi Hs. exact (on_active X V p A B x y_star (ys_t alpha e_ys) b lam_star (lam_t alpha e_lam) active (h_width alpha) lam_width
        (delta alpha) C_lambda LB wide0 wide lw KB LBp lower dual zero_at clear i Hi Hs).
    - intros i Hi Hs. exact (off_active X V p A B x y_star (ys_t alpha e_ys) b (lam_t alpha e_lam) active (h_width alpha) lam_width
        (delta alpha) LB wide0 KB LBp lower inside i Hi Hs).
    - apply least_curves, least_m_m_is.
    - intro v. apply Rle_trans with (1 := K2 v). apply Rmult_le_compat_r; [apply norm_pos|unfold Cf; lra].
    - intro v. apply Rle_trans with (1 := K1 v). apply Rmult_le_compat_r; [apply norm_pos|unfold Cf; lra].
    - lra.
    - rewrite <- d3. exact dual.
    - rewrite <- d3. exact lower.
    - unfold Gamma, grad_y_f. apply Rplus_le_compat_l. rewrite <- (Rmult_1_l (1 + LB * C_lambda)) at 2. apply Rmult_le_compat_r; lra. }
  assert (G0 : 0 <= Gamma) by (unfold Gamma; pose proof (norm_pos V (grad_y_f y_star)); lra).
  assert (S : LL * Gamma / (2 * sqrt (1 / 2 * (mu_g - alpha * alpha * Cf))) <= LL * Gamma / root).
  { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. apply Rinv_le_contravar; [exact r0|]. unfold root. apply Rmult_le_compat_l; [lra|].
    apply sqrt_le_1_alt. lra. }
  assert (T : Cf * (1 + LY) * Gamma / (mu_g - alpha * alpha * Cf) <= Cf * (1 + LY) * Gamma / (mu_g / 2)).
  { apply Rmult_le_compat_l; [repeat apply Rmult_le_pos; lra|]. apply Rinv_le_contravar; lra. }
  set (s := LL * Gamma / (2 * sqrt (1 / 2 * (mu_g - alpha * alpha * Cf)))) in *.
  set (t := Cf * (1 + LY) * Gamma / (mu_g - alpha * alpha * Cf)) in *. set (t' := Cf * (1 + LY) * Gamma / (mu_g / 2)) in *.
  assert (t0 : 0 <= t') by (unfold t'; apply Rmult_le_pos; [repeat apply Rmult_le_pos; lra|left; apply Rinv_0_lt_compat; lra]).
  apply Rle_trans with (1 := E). apply (Rmult_le_compat_l alpha) in S; [|lra].
  assert (Q : alpha * alpha * t <= alpha * t').
  { rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. assert (alpha * t <= alpha * t') by (apply Rmult_le_compat_l; lra).
    assert (alpha * t' <= 1 * t') by (apply Rmult_le_compat_r; lra). lra. }
  lra.
Qed.
