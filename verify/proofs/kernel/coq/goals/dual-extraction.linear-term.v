From Coq Require Import Lra.
From f2csa Require Import steps.
Goal.
Proof.
  unfold sentence. destruct (back_bounded V (coords p) B) as [K [K0 [_ HK]]]. exists (K * C_lambda), 1. split; [lra|].
  intros alpha [a0 a1] e_lam small. set (d := sub lam_star (lam_t alpha e_lam)).
  assert (D : norm d <= C_lambda * (alpha * alpha * alpha)).
  { unfold d. rewrite (same_norm (coords p) _ (scale (- (C_lambda * delta alpha)) e_lam)) by (intro u; unfold lam_t; rewrite inner_sub, inner_add, !inner_scale; ring).
    assert (d0 : 0 < delta alpha) by (apply pow_lt, a0). assert (0 <= C_lambda * delta alpha) by (apply Rmult_le_pos; lra).
    rewrite norm_scale, Rabs_Ropp, Rabs_right by lra. replace (C_lambda * (alpha * alpha * alpha)) with (C_lambda * delta alpha * 1) by (unfold delta; ring).
    apply Rmult_le_compat_l; lra. }
  pose proof (linear_term V (coords p) (back B) d alpha K C_lambda a0 K0 HK D) as T.
  replace (alpha_1 alpha) with (/ (alpha * alpha)) by (unfold alpha_1; f_equal; ring).
  apply Rle_trans with (2 := T). right. unfold norm. f_equal. simpl. unfold dual_term. rewrite inner_sub, Rminus_diag_eq by reflexivity.
  rewrite Rplus_0_l. reflexivity.
Qed.
