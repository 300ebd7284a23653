From Coq Require Import Lra.
From f2csa Require Import quadratic steps.
Goal.
Proof.
  unfold sentence. assert (S : @stretches (both X V) (both X V) hess_g C_g) by apply spectral_nm_nm_is, block_bounded.
  destruct S as [C0 S]. apply (bounded_near (both X V) (grad_g x y_any) (grad_g x y_star) C_g (norm (sub y_any y_star))).
  - exact C0.
  - rewrite (same_norm (both X V) _ (hess_g (sub x x, sub y_any y_star))).
    + replace (norm (sub y_any y_star)) with (@norm (both X V) (sub x x, sub y_any y_star)); [apply S|].
      unfold norm. f_equal. simpl. rewrite inner_sub. ring.
    + intros [u v]. unfold grad_g, hess_g. simpl. expand_inner. rewrite !times_sub, !transpose, inner_sub. ring.
  - apply Rle_refl.
Qed.
