From Coq Require Import Lra.
From f2csa Require Import quadratic steps.
Goal.
Proof.
  unfold sentence. assert (S : @stretches (both X V) (both X V) hess_g C_g) by apply spectral_nm_nm_is, block_bounded.
  destruct S as [C0 S]. apply (bounded_near V (grad_y_g y_any) (grad_y_g y_star) C_g (norm (sub y_any y_star))).
  - exact C0.
  - set (d := sub y_any y_star). specialize (S (zero, d)).
    apply Rle_trans with (@norm (both X V) (hess_g (zero, d))).
    + unfold norm. apply sqrt_le_1_alt. unfold hess_g. simpl. pose proof (inner_pos X (add (g_xx zero) (g_xy d))) as P.
      replace (inner (sub (grad_y_g y_any) (grad_y_g y_star)) (sub (grad_y_g y_any) (grad_y_g y_star)))
        with (inner (add (back g_xy zero) (g_yy d)) (add (back g_xy zero) (g_yy d))); [lra|].
      assert (E : same (add (back g_xy zero) (g_yy d)) (sub (grad_y_g y_any) (grad_y_g y_star))).
      { intro u. unfold grad_y_g, d. rewrite inner_sub, !inner_add, transpose, inner_zero, times_sub. ring. }
      rewrite E, inner_sym, E. reflexivity.
    + replace (norm d) with (@norm (both X V) (zero, d)); [exact S|]. unfold norm. f_equal. simpl. rewrite inner_zero. ring.
  - apply Rle_refl.
Qed.
