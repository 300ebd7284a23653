(* The estimator of quadratic data against the gradient of F, where weights are at least 1/2 on the active rows and 0 on
   all others: what total.v and bias.v ask for, of the terms that printed sentences are made of. *)
From Coq Require Import Reals Lra Psatz Lia Bool.
From f2csa Require Import hilbert outer rows terms shift bias total.
Local Open Scope R_scope.

Lemma same_entries p (v w : coords p) i : same v w -> (i < p)%nat -> v i = w i.
Proof.
  intros H Hi. pose proof (component p (sub v w) i Hi) as C.
  assert (Z : norm (sub v w) = 0) by (unfold norm; rewrite inner_sub, H, Rminus_diag_eq by reflexivity; apply sqrt_0).
  rewrite Z in C. pose proof (Rabs_pos (sub v w i)). assert (E : sub v w i = 0) by (destruct (Req_dec (sub v w i) 0); [assumption|]; pose proof (Rabs_pos_lt _ H1); lra).
  unfold sub in E. simpl in E. lra.
Qed.

Lemma among_all p s (v w : coords p) : (forall i, (i < p)%nat -> s i = false -> v i * w i = 0) -> @inner (among p s) v w = inner v w.
Proof. intro H. simpl. apply sum_ext. intros i Hi. destruct (s i) eqn:E; [reflexivity|]. symmetry. now apply H. Qed.

Lemma among_split p s (v w : coords p) : inner v w = @inner (among p s) v w + @inner (among p (off s)) v w.
Proof. simpl. rewrite <- sum_plus. apply sum_ext. intros i _. unfold off. destruct (s i); simpl; ring. Qed.

Lemma among_le p s (v : coords p) : @norm (among p s) v <= norm v.
Proof. unfold norm. apply sqrt_le_1_alt. rewrite (among_split p s v v). pose proof (inner_pos (among p (off s)) v). lra. Qed.

Section penalty.
  Variables (X V : space) (p : nat) (Fxx : matrix X X) (Fxy Gxy : matrix V X) (Fyy Gyy : matrix V V) (A : matrix X (coords p))
    (B : matrix V (coords p)) (fx0 x zx : X) (fy0 gy0 ystar ys y : V) (b lam lt r : coords p) (DY : matrix X V) (DL : matrix X (coords p))
    (s : nat -> bool) (alpha a1 a2 mu Cf : R).
  Let h (v : V) : coords p := sub (sub (A x) (B v)) b.
  Let gxf (v : V) : X := add (add fx0 (Fxx x)) (Fxy v).
  Let gyf (v : V) : V := add (add fy0 (back Fxy x)) (Fyy v).
  Let gyg (v : V) : V := add (add gy0 (back Gxy x)) (Gyy v).
  Let est (v : V) : X := add (add (add (gxf y) (scale a1 (Gxy (sub y v)))) (scale a2 (back A (weigh r (h y))))) zx.
  Let gF : X := add (gxf ystar) (back DY (gyf ystar)).
  Let gL : V := sub (add (gyf y) (scale a1 (sub (gyg y) (back B lt)))) (scale a2 (back B (weigh r (h y)))).
  Hypothesis alpha_pos : 0 < alpha.
  Hypothesis a1_is : a1 = / (alpha ^ 2).
  Hypothesis a2_is : a2 = / (alpha ^ 4).
  Hypothesis zero_is : same zx (scale 0 zx).
  Hypothesis symmetric : forall v, same (back Gyy v) (Gyy v).
  Hypothesis kkt : same (gyg ystar) (back B lam).
  Hypothesis D_stationary : forall v, same (add (Gyy (DY v)) (back Gxy v)) (back B (DL v)).
  Hypothesis D_rows : forall v, @same (among p s) (B (DY v)) (A v).
  Hypothesis D_others : forall v, @same (among p (off s)) (DL v) (@scale (among p (off s)) 0 (A v)).
  Hypothesis on : forall i, (i < p)%nat -> s i = true -> h ystar i = 0 /\ 1 / 2 <= r i.
  Hypothesis others : forall i, (i < p)%nat -> s i = false -> r i = 0.
  Hypothesis strong : curves Gyy mu.
  Hypothesis Cf_pos : 0 <= Cf.
  Hypothesis Cf_yy : forall v, norm (Fyy v) <= Cf * norm v.
  Hypothesis Cf_xy : forall v, norm (Fxy v) <= Cf * norm v.
  Hypothesis small : 0 < mu - alpha * alpha * Cf.

  Let e := sub y ystar.
  Let nu : among p s := fun i => - a2 * (r i * h y i).
  Let left := add gL (scale a1 (back B (sub lt lam))).

  Lemma nu_inner (w : coords p) : @inner (among p s) nu w = - a2 * inner (weigh r (h y)) w.
  Proof.
    rewrite (among_all p s nu w). 2: { intros i Hi Hs. unfold nu. rewrite (others i Hi Hs). ring. }
    rewrite <- inner_scale. reflexivity.
  Qed.

  Lemma a1_alpha : a1 = / (alpha * alpha).
  Proof. rewrite a1_is. f_equal. ring. Qed.

  Lemma zero_inner w : inner zx w = 0.
  Proof. rewrite zero_is, inner_scale. ring. Qed.

  Lemma is_stationary : forall dx v, inner (Gyy (DY dx)) v + inner (back Gxy dx) v = @inner (among p s) (DL dx) (B v).
  Proof.
    intros. rewrite <- inner_add, D_stationary, transpose, (among_split p s), (D_others dx (B v)), (inner_scale (among p (off s))). ring.
  Qed.

  Lemma is_rows : forall dx (w : among p s), @inner (among p s) w (B (DY dx)) = @inner (among p s) w (A dx).
  Proof. intros. rewrite (inner_sym (among p s) w), D_rows. apply inner_sym. Qed.

  Lemma is_truth : forall dx, inner gF dx = inner (gxf ystar) dx + inner (gyf ystar) (DY dx).
  Proof. intros. unfold gF. now rewrite inner_add, transpose. Qed.

  Lemma is_estimator : forall dx,
    inner (est ystar) dx = inner (gxf ystar) dx + inner (Fxy e) dx + inner (Gxy e) dx / (alpha * alpha) - @inner (among p s) nu (A dx).
  Proof.
    intros. rewrite nu_inner. unfold est, gxf, e. expand_inner. rewrite transpose, zero_inner, !times_sub, a1_alpha. unfold Rdiv. ring.
  Qed.

  Lemma is_gradient : forall v,
    inner (gyf ystar) v + inner (Fyy e) v + inner (Gyy e) v / (alpha * alpha) + @inner (among p s) nu (B v) = inner left v.
  Proof.
    intros. rewrite nu_inner. pose proof (kkt v) as K. rewrite transpose in K. unfold left, gL. unfold gyg in K. unfold gyg, gyf, e. revert K. expand_inner.
    rewrite !transpose, !times_sub, a1_alpha. intro K. expand_inner. unfold Rdiv.
    replace (inner lam (B v)) with (inner gy0 v + inner x (Gxy v) + inner (Gyy ystar) v) by exact K. ring.
  Qed.

  Lemma row_error i : (i < p)%nat -> s i = true -> h y i = - B e i.
  Proof.
    intros Hi Hs. destruct (on i Hi Hs) as [Z _].
    assert (E : B e i = B y i - B ystar i).
    { apply (same_entries p (B e) (sub (B y) (B ystar)) i) in Hi as E; [rewrite E; unfold sub; simpl; ring|]. intro w. unfold e. now rewrite times_sub, inner_sub. }
    unfold h, sub in Z |- *. simpl in Z |- *. lra.
  Qed.

  Lemma is_weighted : 1 / 2 * @inner (among p s) (B e) (B e) <= alpha * alpha * (alpha * alpha) * @inner (among p s) nu (B e).
  Proof.
    simpl. rewrite <- !sum_scale. apply sum_le. intros i Hi. destruct (s i) eqn:Hs; [|lra]. unfold nu. rewrite (row_error i Hi Hs).
    destruct (on i Hi Hs) as [_ R]. set (q := B e i). assert (a4 : alpha * alpha * (alpha * alpha) * a2 = 1) by (rewrite a2_is; field; lra).
    replace (alpha * alpha * (alpha * alpha) * (- a2 * (r i * - q) * q)) with (alpha * alpha * (alpha * alpha) * a2 * (r i * (q * q))) by ring.
    rewrite a4, Rmult_1_l. apply Rmult_le_compat_r; [apply Rle_0_sqr|lra].
  Qed.

  Lemma is_strong : mu * inner e e <= inner (Gyy e) e.
  Proof. apply strong. Qed.

  Lemma is_curved : - (Cf * inner e e) <= inner (Fyy e) e.
  Proof.
    pose proof (cauchy_schwarz_neg V (Fyy e) e). pose proof (Cf_yy e). pose proof (norm_pos V e). rewrite <- norm_sq.
    assert (norm (Fyy e) * norm e <= Cf * norm e * norm e) by (apply Rmult_le_compat_r; assumption). lra.
  Qed.

  Lemma no_rest_x : forall dx, inner (Gxy e) dx - inner (back Gxy dx) e <= 0 * norm dx.
  Proof. intros. rewrite transpose, (inner_sym _ dx). lra. Qed.

  Lemma no_rest_y : forall v, inner (Gyy e) v - inner (Gyy v) e <= 0 * norm v.
  Proof. intros. rewrite <- (symmetric v e), transpose, (inner_sym _ v). lra. Qed.

  Section first_order.
    Variables Cg Cl LB LY LL Gamma : R.
    Hypothesis stop : norm gL <= alpha.
    Hypothesis dual : norm (sub lt lam) <= Cl * (alpha * alpha * alpha).
    Hypothesis lower : norm (sub ys ystar) <= alpha * alpha * alpha.
    Hypothesis Cl_pos : 0 <= Cl.
    Hypothesis Cg_pos : 0 <= Cg.
    Hypothesis Cg_is : forall v, norm (Gxy v) <= Cg * norm v.
    Hypothesis LB_pos : 0 <= LB.
    Hypothesis LB_is : forall v, norm (B v) <= LB * norm v.
    Hypothesis LY_pos : 0 <= LY.
    Hypothesis LY_is : forall v, norm (DY v) <= LY * norm v.
    Hypothesis LL_pos : 0 <= LL.
    Hypothesis LL_is : forall v, norm (DL v) <= LL * norm v.
    Hypothesis Gamma_is : norm (gyf ystar) + alpha * (1 + LB * Cl) <= Gamma.

    Lemma value_part : norm (sub (est ys) (est ystar)) <= Cg * alpha.
    Proof.
      assert (i : 0 < / (alpha * alpha)) by (apply Rinv_0_lt_compat; nra).
      rewrite (same_norm X _ (scale (- a1) (Gxy (sub ys ystar)))).
      2: { intro w. unfold est. expand_inner. rewrite !times_sub. ring. }
      rewrite norm_scale, Rabs_Ropp, a1_alpha, Rabs_right by lra. pose proof (Cg_is (sub ys ystar)).
      assert (Cg * norm (sub ys ystar) <= Cg * (alpha * alpha * alpha)) by (apply Rmult_le_compat_l; lra).
      replace (Cg * alpha) with (/ (alpha * alpha) * (Cg * (alpha * alpha * alpha))) by (field; lra). apply Rmult_le_compat_l; lra.
    Qed.

    Theorem first_order : norm (sub (est ys) gF) <=
      alpha * (LY * (1 + LB * Cl) + Cg + LL * Gamma / (2 * sqrt (1 / 2 * (mu - alpha * alpha * Cf))))
      + alpha * alpha * (Cf * (1 + LY) * Gamma / (mu - alpha * alpha * Cf)).
    Proof.
      assert (H : norm (sub (est ys) gF) <=
        alpha * (LY * (1 + LB * Cl) + Cg + LL * Gamma / (2 * sqrt (1 / 2 * (mu - alpha * alpha * Cf))))
        + alpha * alpha * (Cf * (1 + LY) * Gamma / (mu - alpha * alpha * Cf)) + (1 + LY) * 0 / (alpha * alpha)).
      { apply (repaired_bias_bound X V (among p s) (coords p) A B B Gyy (back Gxy) DY DL alpha (alpha * alpha) mu Cf Cg Cl LB LY LL (1 / 2) 0 Gamma
          (gxf ystar) (Fxy e) (Gxy e) (est ystar) (est ys) gF (gyf ystar) (Fyy e) (Gyy e) gL left e nu (sub lt lam));
          try assumption; try reflexivity; try lra; try apply Cf_yy; try apply Cf_xy.
        - exact is_stationary.
        - exact is_rows.
        - exact is_truth.
        - exact is_estimator.
        - exact is_gradient.
        - intro v. unfold left. rewrite inner_add, inner_scale, transpose, a1_alpha. unfold Rdiv. ring.
        - exact value_part.
        - exact is_strong.
        - exact is_curved.
        - exact is_weighted.
        - intro v. apply Rle_trans with (2 := LL_is v). apply among_le.
        - exact no_rest_x.
        - exact no_rest_y. }
      lra.
    Qed.
  End first_order.

  Section second_order.
    Variables Cg LY LL sigma : R.
    Hypothesis sigma_pos : 0 < sigma.
    Hypothesis licq : forall w, sigma * @norm (among p s) w <= norm (back B (within s w)).
    Hypothesis Cg_pos : 0 <= Cg.
    Hypothesis Cg_yy : forall v, norm (Gyy v) <= Cg * norm v.
    Hypothesis LY_pos : 0 <= LY.
    Hypothesis LY_is : forall v, norm (DY v) <= LY * norm v.
    Hypothesis LL_pos : 0 <= LL.
    Hypothesis LL_is : forall v, norm (DL v) <= LL * norm v.

    Lemma is_weighted_norm : 1 / 2 * @norm (among p s) (B e) <= alpha * alpha * (alpha * alpha) * @norm (among p s) nu.
    Proof.
      assert (q : 0 < alpha * alpha * (alpha * alpha)) by (assert (0 < alpha * alpha) by nra; nra).
      pose proof (norm_pos (among p s) (B e)). pose proof (norm_pos (among p s) nu).
      apply le_of_squares; [apply Rmult_le_pos; lra|].
      replace (1 / 2 * @norm (among p s) (B e) * (1 / 2 * @norm (among p s) (B e)))
        with (1 / 4 * (@norm (among p s) (B e) * @norm (among p s) (B e))) by field.
      replace (alpha * alpha * (alpha * alpha) * @norm (among p s) nu * (alpha * alpha * (alpha * alpha) * @norm (among p s) nu))
        with (alpha * alpha * (alpha * alpha) * (alpha * alpha * (alpha * alpha)) * (@norm (among p s) nu * @norm (among p s) nu)) by ring.
      rewrite !norm_sq. simpl. rewrite <- !sum_scale. apply sum_le. intros i Hi. destruct (s i) eqn:Hs; [|lra]. unfold nu.
      rewrite (row_error i Hi Hs). destruct (on i Hi Hs) as [_ R]. set (z := B e i). pose proof (Rle_0_sqr z) as Z. unfold Rsqr in Z.
      assert (a4 : alpha * alpha * (alpha * alpha) * a2 = 1) by (rewrite a2_is; field; lra).
      replace (alpha * alpha * (alpha * alpha) * (alpha * alpha * (alpha * alpha)) * (- a2 * (r i * - z) * (- a2 * (r i * - z))))
        with (alpha * alpha * (alpha * alpha) * a2 * (alpha * alpha * (alpha * alpha) * a2) * (r i * r i * (z * z))) by ring.
      rewrite a4, !Rmult_1_l. apply Rmult_le_compat_r; [exact Z|]. nra.
    Qed.

    Theorem second_order : norm (sub (est ystar) gF) <= LY * norm left
      + alpha * alpha * ((Cf * (1 + LY) / (mu - alpha * alpha * Cf)
        + LL * (1 + (Cg + alpha * alpha * Cf) / (mu - alpha * alpha * Cf)) / (1 / 2 * sigma)) * norm (sub left (gyf ystar))).
    Proof.
      assert (H : norm (sub (est ystar) gF) <= LY * norm left
        + alpha * alpha * ((Cf * (1 + LY) / (mu - alpha * alpha * Cf)
          + LL * (1 + (Cg + alpha * alpha * Cf) / (mu - alpha * alpha * Cf)) / (1 / 2 * sigma)) * norm (sub left (gyf ystar)))
        + (1 + LY) * 0 / (alpha * alpha)).
      { apply (bias_bound_alpha2 X V (among p s) A B Gyy (back Gxy) DY DL alpha (alpha * alpha) mu Cf LY LL (1 / 2) 0
          (gxf ystar) (Fxy e) (Gxy e) (est ystar) gF (gyf ystar) (Fyy e) (Gyy e) left e nu) with (Bt := fun w => back B (within s w));
          try assumption; try reflexivity; try lra; try apply Cf_yy; try apply Cf_xy; try apply Cg_yy.
        - exact is_stationary.
        - exact is_rows.
        - exact is_truth.
        - exact is_estimator.
        - exact is_gradient.
        - exact is_strong.
        - exact is_curved.
        - exact is_weighted.
        - intro v. apply Rle_trans with (2 := LL_is v). apply among_le.
        - exact no_rest_x.
        - exact no_rest_y.
        - intros v w. rewrite transpose. simpl. apply sum_ext. intros i _. unfold within. destruct (s i); ring.
        - exact is_weighted_norm. }
      lra.
    Qed.
  End second_order.
End penalty.

Lemma ramp_half w t : 0 < w -> - (w / 2) <= t -> 1 / 2 <= Rmax 0 (Rmin 1 (/ w * t + 1)).
Proof.
  intros Hw H. apply Rle_trans with (2 := Rmax_r _ _). apply Rmin_glb; [lra|].
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ (Rinv_0_lt_compat _ Hw)) H) as Q. replace (/ w * - (w / 2)) with (- (1 / 2)) in Q by (field; lra). lra.
Qed.

Lemma ramp_none w t : 0 < w -> t <= - w -> Rmax 0 (Rmin 1 (/ w * t + 1)) = 0.
Proof.
  intros Hw H. apply Rmax_left. apply Rle_trans with (1 := Rmin_r _ _).
  pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ (Rinv_0_lt_compat _ Hw)) H) as Q. replace (/ w * - w) with (- 1) in Q by (field; lra). lra.
Qed.

Lemma ramp_full w t : 0 < w -> w <= t -> Rmax 0 (Rmin 1 (/ w * t)) = 1.
Proof.
  intros Hw H. pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ (Rinv_0_lt_compat _ Hw)) H) as Q. rewrite Rinv_l in Q by lra.
  rewrite Rmin_left by lra. apply Rmax_right. lra.
Qed.

(* weights from a pair that is off by less than the margins *)
Section margins.
  Variables (X V : space) (p : nat) (A : matrix X (coords p)) (B : matrix V (coords p)) (x : X) (ystar ys : V) (b lam lt : coords p)
    (s : nat -> bool) (w lw d Cl LB norm_B : R).
  Let h (v : V) : coords p := sub (sub (A x) (B v)) b.
  Let weights : coords p := weigh (@cut p (add (scale (/ w) (h ys)) (@ones p))) (@cut p (scale (/ lw) lt)).
  Hypothesis d_pos : 0 <= d.
  Hypothesis wide : 0 < w.
  Hypothesis width : 2 * norm_B * d <= w.
  Hypothesis lw_pos : 0 < lw.
  Hypothesis LB_is : forall v, norm (B v) <= norm_B * norm v.
  Hypothesis LB_pos : 0 <= norm_B.
  Hypothesis lower : norm (sub ys ystar) <= d.
  Hypothesis dual : norm (sub lt lam) <= Cl * d.
  Hypothesis at_zero_is : forall i, s i = true -> h ystar i = 0.
  Hypothesis clear : each p s lam (fun entry => entry >= lw + Cl * d).
  Hypothesis inside : each p (off s) (h ystar) (fun entry => entry < - (w + norm_B * d)).

  Lemma row_moves i : (i < p)%nat -> Rabs (h ys i - h ystar i) <= norm_B * d.
  Proof.
    intro Hi. pose proof (component p (B (sub ys ystar)) i Hi) as C. pose proof (LB_is (sub ys ystar)) as L.
    assert (norm_B * norm (sub ys ystar) <= norm_B * d) by (apply Rmult_le_compat_l; assumption).
    assert (E : B (sub ys ystar) i = B ys i - B ystar i).
    { rewrite (same_entries p (B (sub ys ystar)) (sub (B ys) (B ystar)) i); [unfold sub; simpl; ring| |assumption]. intro u. now rewrite times_sub, inner_sub. }
    replace (h ys i - h ystar i) with (- B (sub ys ystar) i) by (rewrite E; unfold h, sub; simpl; ring). rewrite Rabs_Ropp. lra.
  Qed.

  Lemma on_active i : (i < p)%nat -> s i = true -> h ystar i = 0 /\ 1 / 2 <= weights i.
  Proof.
    intros Hi Hs. split; [now apply at_zero_is|]. pose proof (row_moves i Hi) as M. rewrite (at_zero_is i Hs) in M.
    pose proof (component p (sub lt lam) i Hi) as C. pose proof (clear i Hi Hs) as K. unfold weights, weigh, cut.
    replace (scale (/ lw) lt i) with (/ lw * lt i) by reflexivity. replace (add (scale (/ w) (h ys)) ones i) with (/ w * h ys i + 1) by reflexivity.
    assert (D : sub lt lam i = lt i - lam i) by (unfold sub; simpl; ring). rewrite D in C.
    pose proof (Rle_abs (- (lt i - lam i))) as Q. rewrite Rabs_Ropp in Q. pose proof (Rle_abs (- (h ys i - 0))) as P. rewrite Rabs_Ropp in P.
    rewrite (ramp_full lw) by lra. rewrite Rmult_1_r. apply ramp_half; lra.
  Qed.

  Lemma off_active i : (i < p)%nat -> s i = false -> weights i = 0.
  Proof.
    intros Hi Hs. pose proof (row_moves i Hi) as M. assert (O : off s i = true) by (unfold off; now rewrite Hs). pose proof (inside i Hi O) as K.
    pose proof (Rle_abs (h ys i - h ystar i)) as P. unfold weights, weigh, cut.
    replace (add (scale (/ w) (h ys)) ones i) with (/ w * h ys i + 1) by reflexivity. rewrite ramp_none by lra. ring.
  Qed.
End margins.
