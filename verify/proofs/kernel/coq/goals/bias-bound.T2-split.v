From Coq Require Import Lra.
From f2csa Require Import quadratic slopes.
Goal.
Proof.
  unfold sentence. intros alpha a0 e_lam _ dx. set (y2 := y_min alpha y_star (lam_t alpha e_lam)). set (y1 := y_min alpha y_star lam_star).
  set (r2 := rho alpha y_star (lam_t alpha e_lam)). set (r1 := rho alpha y_star lam_star). set (d := sub y2 y1).
  assert (i2 : alpha_2 alpha = / (alpha * alpha * (alpha * alpha))) by (unfold alpha_2; f_equal; ring).
  assert (i1 : alpha_1 alpha = / (alpha * alpha)) by (unfold alpha_1; f_equal; ring).
  assert (f_back : forall v, inner (back f_xy v) d = inner (f_xy d) v) by (intro; rewrite transpose; apply inner_sym).
  assert (g_back : forall v, inner (back g_xy v) d = inner (g_xy d) v) by (intro; rewrite transpose; apply inner_sym).
  assert (moved : forall w, inner (weigh r2 (h y2)) w = inner (weigh r2 (sub (h y1) (B d))) w).
  { intro w. rewrite !(weigh_swap p r2). unfold h, d. rewrite !inner_sub, times_sub. ring. }
  rewrite (T2_split X V p (times A) (times B) (back f_xy) (back g_xy) (alpha * alpha) d (h y1) r1 r2 (T2 alpha e_lam)).
  - rewrite f_back, g_back, inner_add, inner_scale, transpose, i2. unfold hess_xy_L. fold r2. rewrite inner_sub, inner_add, !inner_scale, transpose, i1, i2.
    unfold Rdiv. ring.
  - clear dx. intro dx. rewrite f_back, g_back, <- moved. unfold T2, exact_estimate, estimate, grad_x_f, dual_term. fold y1 y2 r1 r2.
    rewrite inner_sub, !inner_add, !inner_scale, !transpose, i1, i2. unfold d. rewrite !times_sub. unfold Rdiv. ring.
Qed.
