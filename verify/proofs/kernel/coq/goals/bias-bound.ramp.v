From Coq Require Import Lra Psatz.
From f2csa Require Import accuracy.
Goal.
Proof.
  unfold sentence. destruct premise_smoothness_strong_convexity as [m0 _].
  destruct (spectral_bounds V (coords p) spectral_p_m B spectral_p_m_is) as [b0 b1].
  destruct (accuracy X V p f_xx f_xy g_xy f_yy g_yy A B f_x x zero_x f_y g_y y_star b lam_star Dy_star Dlam_star mu_g lam_width C_lambda
    row_norm (spectral_p_m B)) as [C [least_alpha [C0 [ap near]]]]; try assumption;
    [apply least_curves, least_m_m_is|unfold lam_width; lra|lra|lra|].
  destruct (minimum X V p f_xy g_xy f_yy g_yy A B x f_y g_y b mu_g lam_width row_norm solve_m_m) as [other [op zero_at]]; try assumption;
    [apply least_curves, least_m_m_is|].
  exists C, (Rmin least_alpha other). split; [now apply Rmin_glb_lt|]. intros alpha [a0 al] e_ys ys1 clear.
  assert (stops : forall ys lam, norm (grad_y_L alpha ys lam (y_min alpha ys lam)) <= alpha).
  { intros ys lam. unfold norm. replace (inner _ _) with 0; [rewrite sqrt_0; lra|]. symmetry. apply zero_at; split; [lra|].
    apply Rle_trans with (1 := al), Rmin_r. }
  assert (small : 0 < alpha <= least_alpha) by (split; [lra|]; apply Rle_trans with (1 := al), Rmin_l).
  assert (d0 : 0 < alpha ^ 3) by (apply pow_lt; lra).
  assert (lower : norm (sub (ys_t alpha e_ys) y_star) <= alpha ^ 3).
  { rewrite (same_norm V _ (scale (alpha ^ 3) e_ys)) by (intro u; unfold ys_t, delta; rewrite inner_sub, inner_add; ring).
    rewrite norm_scale, Rabs_right, <- Rmult_1_r by lra. apply Rmult_le_compat_l; lra. }
  assert (exact_lam : norm (sub lam_star lam_star) <= C_lambda * alpha ^ 3).
  { unfold norm. rewrite inner_sub, Rminus_diag_eq by reflexivity. rewrite sqrt_0. apply Rmult_le_pos; lra. }
  exact (near alpha small (ys_t alpha e_ys) lam_star _ lower exact_lam clear (stops (ys_t alpha e_ys) lam_star)).
Qed.
