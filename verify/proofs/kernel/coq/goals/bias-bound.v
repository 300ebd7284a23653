From Coq Require Import Lra Psatz.
From f2csa Require Import accuracy.
Goal.
Proof.
  unfold sentence. destruct premise_smoothness_strong_convexity as [m0 _].
  destruct (spectral_bounds V (coords p) spectral_p_m B spectral_p_m_is) as [b0 b1].
  destruct (accuracy X V p f_xx f_xy g_xy f_yy g_yy A B f_x x zero_x f_y g_y y_star b lam_star Dy_star Dlam_star mu_g lam_width C_lambda
    row_norm (spectral_p_m B)) as [C [least_alpha [C0 [ap near]]]]; try assumption;
    [apply least_curves, least_m_m_is|unfold lam_width; lra|lra|lra|].
  exists C, least_alpha. split; [exact ap|]. intros alpha small e_ys ys1 e_lam lam1 e_y _ stop [clear _].
  assert (d0 : 0 < alpha ^ 3) by (apply pow_lt; lra).
  assert (lower : norm (sub (ys_t alpha e_ys) y_star) <= alpha ^ 3).
  { rewrite (same_norm V _ (scale (alpha ^ 3) e_ys)) by (intro u; unfold ys_t, delta; rewrite inner_sub, inner_add; ring).
    rewrite norm_scale, Rabs_right, <- Rmult_1_r by lra. apply Rmult_le_compat_l; lra. }
  assert (dual : norm (sub (lam_t alpha e_lam) lam_star) <= C_lambda * alpha ^ 3).
  { rewrite (same_norm (coords p) _ (scale (C_lambda * alpha ^ 3) e_lam)) by (intro u; unfold lam_t, delta; rewrite inner_sub, inner_add; ring).
    assert (0 <= C_lambda * alpha ^ 3) by (apply Rmult_le_pos; lra). rewrite norm_scale, Rabs_right, <- Rmult_1_r by lra.
    apply Rmult_le_compat_l; lra. }
  exact (near alpha small (ys_t alpha e_ys) (lam_t alpha e_lam) (y_t alpha e_ys e_lam e_y) lower dual clear stop).
Qed.
