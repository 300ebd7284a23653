From Coq Require Import Lra.
From f2csa Require Import steps.
Goal.
Proof.
  unfold sentence, h. intros alpha _ e_ys _ w. rewrite inner_sub, !inner_sub, times_sub.
  pose proof (row_difference V (back B w) y_any (ys_t alpha e_ys) (inner (A x) w)) as D.
  rewrite inner_sub_r, !transpose, !(inner_sym _ w) in D. lra.
Qed.
