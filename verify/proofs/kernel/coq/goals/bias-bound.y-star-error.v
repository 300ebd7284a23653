From Coq Require Import Lra.
From f2csa Require Import steps.
Goal.
Proof.
  unfold sentence. destruct (bounded g_xy) as [K [K0 HK]]. exists K, 1. split; [lra|]. intros alpha [a0 a1]. intros.
  assert (D : norm (sub (ys_t alpha e_ys) y_star) <= alpha * alpha * alpha).
  { rewrite (same_norm V _ (scale (delta alpha) e_ys)).
    - rewrite norm_scale. unfold delta. pose proof (pow_lt alpha 3 a0). rewrite Rabs_right by lra. simpl in *. rewrite Rmult_1_r in *.
      replace (alpha * alpha * alpha) with (alpha * (alpha * alpha) * 1) by ring. apply Rmult_le_compat_l; lra.
    - intro u. unfold ys_t. rewrite inner_sub, inner_add. ring. }
  pose proof (value_term X (grad_x_g (ys_t alpha e_ys)) (grad_x_g y_star) alpha K (norm (sub (ys_t alpha e_ys) y_star)) a0 K0) as T.
  unfold alpha_1. replace (alpha ^ 2) with (alpha * alpha) by ring. apply T; [|exact D].
  rewrite (same_norm X _ (g_xy (sub (ys_t alpha e_ys) y_star))); [apply HK|].
  intro u. unfold grad_x_g. rewrite times_sub, inner_sub, !inner_add. ring.
Qed.
