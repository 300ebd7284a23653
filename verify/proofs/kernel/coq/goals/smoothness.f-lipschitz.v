From Coq Require Import Lra.
From f2csa Require Import quadratic steps.
Goal.
Proof.
  unfold sentence. assert (S : @stretches (both X V) (both X V) hess_f C_f) by apply spectral_nm_nm_is, block_bounded.
  destruct S as [C0 S]. apply (bounded_near (both X V) (grad_f x_other y_any) (grad_f x y_star) C_f (@norm (both X V) (sub x_other x, sub y_any y_star))).
  - exact C0.
  - rewrite (same_norm (both X V) _ (hess_f (sub x_other x, sub y_any y_star))); [apply S|].
    intros [u v]. unfold grad_f, hess_f. simpl. expand_inner. rewrite !times_sub, !transpose, inner_sub. ring.
  - apply Rle_refl.
Qed.
