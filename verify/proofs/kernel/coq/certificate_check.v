(* A certificate checked by computation with polynomials in alpha, and the proof that what passes is true. *)
From Coq Require Import Reals Lra Lia QArith Qreals List Bool ZArith.
From f2csa Require Import polynomials coordinates definite stages certificate.
Import ListNotations.
Local Open Scope R_scope.

(* What makes the check possible, believed in nothing: the quantity as numerators over a denominator (polynomials in
   alpha, or in its square), the penalty minimisers as Y1 / d1 and Y2 / d2 (in alpha). *)
Record witness := Witness { numerators : list poly; denominator : poly; in_square : bool;
  d1 : poly; Y1 : list poly; d2 : poly; Y2 : list poly }.

(* p(t^2) *)
Fixpoint zspread (p : list Z) : list Z := match p with [] => [] | a :: q => a :: 0%Z :: zspread q end.
Definition spread (p : poly) : poly := (zspread (fst p), snd p).
Definition nonzero_to (c : Q) (p : poly) : bool := if positive_to c p then true else positive_to c (negative p).
Definition not_positive (p : poly) : bool := (at_zero p <=? 0)%Z.
Definition not_negative (p : poly) : bool := (0 <=? at_zero p)%Z.

Section check.
  Variable c : certificate.
  Variable w : witness.
  Let P := of_problem c.
  Let vec := constants polynomials.

  Definition is_minimiser (s : stage) (left : list (nat * list Q)) (d : poly) (Y : list poly) : bool :=
    Nat.eqb (length Y) (dimension c) && nonzero_to (alpha_0 c) d
    && are_null (minus (grad_y_L polynomials monomial (monomial 4) (monomial 2) (monomial 0) P s (d : polynomials) Y)
                       (scaled (pproduct (monomial 4) d : polynomials) (errors polynomials monomial left)))
    && is_definite_fraction (alpha_0 c) (dimension c) (hessian polynomials (monomial 4) (monomial 2) (monomial 0) P s).

  Definition e1 := d1 w.
  Definition e2 := if has_second c then d2 w else monomial 0.
  Definition Z2 := if has_second c then Y2 w else [].
  Definition N := if in_square w then map spread (numerators w) else numerators w.
  Definition D := if in_square w then spread (denominator w) else denominator w.

  Definition is_the_quantity : bool :=
    are_null (minus (scaled (pproduct (monomial 4) (pproduct e1 e2) : polynomials) N)
                    (scaled (D : polynomials) (quantity polynomials monomial (monomial 4) (monomial 2) (monomial 0) c (e1 : polynomials) (Y1 w) (e2 : polynomials) Z2))).

  Definition is_bounded : bool :=
    let squares := @dot polynomials N N in
    let allowed := pproduct (pconstant (constant_squared c)) (pproduct (monomial (Z.to_nat (2 * exponent c))) (pproduct D D)) in
    let found := pproduct (monomial (Z.to_nat (2 * - exponent c))) squares in
    nonzero_to (alpha_0 c) D && nonnegative_to (alpha_0 c) (if upper c then psum allowed (negative found) else psum found (negative allowed)).

  Definition is_solved : bool :=
    let y := vec (y_star (given c)) in let l := vec (lam (given c)) in let h := rows polynomials P (monomial 0) y in
    Nat.eqb (length (y_star (given c))) (dimension c) && forallb not_positive h && forallb not_negative l && are_null (each l h)
    && are_null (minus (grad_y_g polynomials P (monomial 0) y) (pull (matrix polynomials (B P)) l))
    && are_null (minus (pull (matrix polynomials (g_yy P)) y) (apply (matrix polynomials (g_yy P)) y))
    && is_definite_fraction 1 (dimension c) (matrix polynomials (g_yy P)).

  Definition is_symmetric (n : nat) (M : list (list Q)) : bool :=
    forallb (fun i => forallb (fun j => Qeq_bool (nth j (nth i M []) 0%Q) (nth i (nth j M []) 0%Q)) (seq 0 n)) (seq 0 n).

  Definition check : bool :=
    negb (Qle_bool (alpha_0 c) 0) && forallb (fun a => Qle_bool 0 a && Qle_bool a 1) (rho (given c))
    && is_symmetric (length (x P)) (f_xx P) && is_symmetric (dimension c) (f_yy P) && is_symmetric (dimension c) (g_yy P)
    && is_solved && Nat.eqb (length (piece c)) (length (B P))
    && (negb (needs_maps c) || forallb (forallb are_null) (differentiated c polynomials))
    && (negb (needs_gradient c) || are_null (chain_rule c polynomials))
    && is_minimiser (first c) (residual c) e1 (Y1 w) && (negb (has_second c) || is_minimiser (second c) [] (d2 w) (Y2 w))
    && is_the_quantity && is_bounded.
End check.

Lemma nonzero_to_sound c p t : nonzero_to c p = true -> 0 < t <= Q2R c -> value p t <> 0.
Proof.
  unfold nonzero_to. destruct (positive_to c p) eqn:E; intros H T; [pose proof (positive_to_sound _ _ _ E T); lra|].
  pose proof (positive_to_sound _ _ _ H T) as V.
  rewrite value_negative in V. lra.
Qed.

Lemma monomial_0 t : value (monomial 0) t = 1.
Proof. rewrite value_monomial. reflexivity. Qed.

Lemma at_quantity t c w0 w1 w2 (e : polynomials) Y (e' : polynomials) Y' : at_ t (quantity polynomials monomial w0 w1 w2 c e Y e' Y')
  = quantity reals (pow t) (value w0 t : reals) (value w1 t : reals) (value w2 t : reals) c (value e t : reals) (at_ t Y) (value e' t : reals) (at_ t Y').
Proof.
  unfold quantity. destruct (bounded c); repeat first [rewrite at_minus | rewrite at_scaled | rewrite at_estimate | rewrite at_sum | rewrite at_errors
    | rewrite at_constants | rewrite value_product]; cbn [times polynomials]; rewrite ?value_product; reflexivity.
Qed.

Lemma quantity_scaled (power : nat -> R) (w0 w1 w2 k e e' : R) c (y y' : list reals) :
  quantity reals power (k * w0 : reals) (k * w1 : reals) (k * w2 : reals) c (e * 1 : reals) (scaled (e : reals) y) (e' * 1 : reals) (scaled (e' : reals) y')
  = scaled (k * (e * e') : reals) (quantity reals power (w0 : reals) (w1 : reals) (w2 : reals) c (1 : reals) y (1 : reals) y').
Proof.
  assert (M : forall E : list reals, vsum (scaled (e : reals) y) (scaled (e * 1 : reals) E) = scaled (e : reals) (vsum y (scaled (1 : reals) E)))
    by (intro E; now rewrite scaled_sum, (scaled_scaled e)).
  assert (C : forall (a b : R) (v : list reals), a = b -> scaled (a : reals) v = scaled (b : reals) v) by (intros; now subst).
  unfold quantity. destruct (bounded c); cbn [times reals];
    rewrite ?M, ?estimate_weighted, ?estimate_scaled;
    rewrite ?scaled_minus, ?scaled_scaled, ?scaled_minus, ?scaled_scaled; apply (f_equal2 minus); apply C; ring.
Qed.

Section soundness.
  Variable c : certificate.
  Variable w : witness.
  Let P := of_problem c.
  Variable alpha : R.
  Hypothesis range : 0 < alpha <= Q2R (alpha_0 c).
  Let one : reals := 1.
  Let a2 : R := / alpha ^ 2.
  Let a4 : R := / alpha ^ 4.
  Let k := alpha ^ 4.

  Lemma k_positive : 0 < k.
  Proof. unfold k. apply pow_lt. lra. Qed.

  Lemma weights_scaled : value (monomial 4) alpha = k * 1 /\ value (monomial 2) alpha = k * a2 /\ value (monomial 0) alpha = k * a4.
  Proof. rewrite !value_monomial. unfold k, a2, a4. repeat split; field; lra. Qed.

  Lemma convex_right s : is_definite_fraction (alpha_0 c) (dimension c) (hessian polynomials (monomial 4) (monomial 2) (monomial 0) P s) = true ->
    convex c s alpha.
  Proof.
    intros H v L Nv. pose proof (is_definite_fraction_sound _ _ _ alpha H range v L Nv) as F.
    rewrite at_hessian in F. destruct weights_scaled as [W4 [W2 W0]]. rewrite W4, W2, W0 in F. fold P. fold one a2 a4.
    unfold hessian in *. rewrite !apply_msum, !apply_mscaled, !dot_sum_r, !dot_scaled_r in *. unfold one.
    apply (Rmult_lt_reg_l k); [apply k_positive|]. lra.
  Qed.

  Lemma minimiser_right s left d Y : is_minimiser c s left d Y = true ->
    value d alpha <> 0 /\ convex c s alpha /\ stationary c s left alpha (scaled (/ value d alpha : reals) (at_ alpha Y)) /\
    forall y, stationary c s left alpha y -> y = scaled (/ value d alpha : reals) (at_ alpha Y).
  Proof.
    unfold is_minimiser. rewrite !andb_true_iff, Nat.eqb_eq. intros [[[L Nz] S] H].
    apply (fun h => nonzero_to_sound _ _ alpha h range) in Nz. apply convex_right in H. apply (are_null_right _ alpha) in S.
    set (e := value d alpha) in *. set (y0 := scaled (/ e : reals) (at_ alpha Y)).
    assert (S0 : stationary c s left alpha y0).
    { split; [unfold y0, scaled, at_; now rewrite !map_length|]. fold P. fold one a2 a4.
      fold P in S. rewrite at_minus, at_grad_y_L, at_scaled, at_errors in S. destruct weights_scaled as [W4 [W2 W0]]. rewrite W4, W2, W0 in S.
      rewrite value_product, W4 in S. fold e in S. rewrite grad_y_L_weighted in S.
      replace (at_ alpha Y) with (scaled (e : reals) y0) in S by (unfold y0; rewrite scaled_scaled, Rinv_r by assumption; unfold scaled; cbn; erewrite map_ext; [apply map_id|intro; cbn; ring]).
      replace e with (e * 1) in S at 1 by ring. rewrite grad_y_L_scaled, (scaled_scaled k) in S.
      replace (k * 1 * e) with (k * e) in S by ring. rewrite <- scaled_minus in S. apply null_scaled in S; [exact S|].
      pose proof k_positive. apply Rmult_integral_contrapositive_currified; lra. }
    repeat split; try assumption; try apply S0.
    intros y [Ly Sy]. destruct S0 as [L0 S0]. fold P in S0, Sy. fold one a2 a4 in S0, Sy.
    apply minus_null; [congruence|]. set (v := minus y y0).
    destruct (Req_EM_T (dot v (apply (hessian reals one (a2 : reals) (a4 : reals) P s) v)) 0) as [Z|Z].
    - destruct (null_or_not v) as [V|V]; [assumption|]. exfalso. specialize (H v). fold P in H. fold one a2 a4 in H.
      assert (length v = dimension c) by (unfold v; rewrite minus_length; congruence). specialize (H H0 V). lra.
    - exfalso. apply Z. unfold v at 2. unfold one. rewrite <- (grad_y_L_difference (pow alpha)).
      pose proof (dot_null_r v _ S0) as E0. pose proof (dot_null_r v _ Sy) as Ey. rewrite dot_minus_r in *. unfold one in *. lra.
  Qed.

  Lemma power_split e : powerRZ alpha (2 * e) * alpha ^ Z.to_nat (2 * - e) = alpha ^ Z.to_nat (2 * e).
  Proof.
    destruct e as [|p|p]; cbn [Z.mul Z.opp Z.to_nat powerRZ]; cbn [Pos.mul]; [simpl; ring|simpl; ring|].
    rewrite Rinv_l; [reflexivity|]. apply pow_nonzero. lra.
  Qed.

  Lemma bound_right y y' : is_the_quantity c w = true -> is_bounded c w = true -> value (e1 w) alpha <> 0 -> value (e2 c w) alpha <> 0 ->
    scaled (value (e1 w) alpha : reals) y = at_ alpha (Y1 w) -> scaled (value (e2 c w) alpha : reals) y' = at_ alpha (Z2 c w) ->
    let bound := Q2R (constant_squared c) * powerRZ alpha (2 * exponent c) in
    if upper c then norm_squared c alpha y y' <= bound else bound <= norm_squared c alpha y y'.
  Proof.
    intros H Hb V1 V2 E1 E2 bound. apply (are_null_right _ alpha) in H. unfold is_bounded in Hb. cbv zeta in Hb.
    rewrite andb_true_iff in Hb. destruct Hb as [Nz Hb]. apply (fun h => nonzero_to_sound _ _ alpha h range) in Nz.
    apply (fun h => nonnegative_to_sound _ _ alpha h range) in Hb.
    rewrite at_minus, !at_scaled, at_quantity, <- E1, <- E2 in H. rewrite !value_product in H.
    destruct weights_scaled as [W4 [W2 W0]]. rewrite W4, W2, W0 in H.
    set (v1 := value (e1 w) alpha) in *. set (v2 := value (e2 c w) alpha) in *. set (vd := value (D w) alpha) in *.
    replace (quantity reals (pow alpha) (k * 1 : reals) (k * a2 : reals) (k * a4 : reals) c (v1 : reals) (scaled (v1 : reals) y) (v2 : reals) (scaled (v2 : reals) y'))
      with (scaled (k * (v1 * v2) : reals) (quantity reals (pow alpha) (1 : reals) (a2 : reals) (a4 : reals) c (1 : reals) y (1 : reals) y')) in H
      by (rewrite <- quantity_scaled; now rewrite !Rmult_1_r).
    set (q := quantity reals _ _ _ _ c _ y _ y') in H. rewrite (scaled_swap vd) in H. replace (k * 1 * (v1 * v2)) with (k * (v1 * v2)) in H by ring.
    rewrite <- scaled_minus in H. apply null_scaled in H; [|apply Rmult_integral_contrapositive_currified; [pose proof k_positive; lra|now apply Rmult_integral_contrapositive_currified]].
    apply minus_null_square in H. rewrite dot_scaled_l, dot_scaled_r in H.
    assert (Q : norm_squared c alpha y y' = dot q q) by reflexivity. rewrite Q. clear Q.
    assert (M : 0 < alpha ^ Z.to_nat (2 * - exponent c)) by (apply pow_lt; lra).
    assert (S : 0 < vd * vd) by (destruct (Rdichotomy _ _ Nz); nra).
    pose proof (power_split (exponent c)) as PS. set (m := alpha ^ Z.to_nat (2 * - exponent c)) in *.
    assert (F : bound * (m * (vd * vd)) = Q2R (constant_squared c) * (alpha ^ Z.to_nat (2 * exponent c) * (vd * vd)))
      by (rewrite <- PS; unfold bound; ring).
    assert (G : dot q q * (m * (vd * vd)) = m * (vd * (vd * dot q q))) by ring. rewrite <- H in G.
    assert (T : 0 < m * (vd * vd)) by now apply Rmult_lt_0_compat.
    destruct (upper c); rewrite value_sum, value_negative, !value_product, at_dot, !value_monomial, value_constant in Hb; fold m in Hb; fold vd in Hb;
      apply (Rmult_le_reg_r (m * (vd * vd))); try assumption; rewrite F, G; lra.
  Qed.
End soundness.

Lemma signs_not_positive v : forallb not_positive v = true -> Forall (fun h : R => h <= 0) (at_ 0 v).
Proof.
  intro H. unfold at_. rewrite Forall_map. apply Forall_forall. intros p I. rewrite forallb_forall in H. specialize (H p I).
  apply Z.leb_le, IZR_le in H. cbn. rewrite value_at_zero. pose proof (Rinv_0_lt_compat _ (denominator_positive (snd p))). unfold Rdiv. nra.
Qed.

Lemma signs_not_negative v : forallb not_negative v = true -> Forall (fun h : R => 0 <= h) (at_ 0 v).
Proof.
  intro H. unfold at_. rewrite Forall_map. apply Forall_forall. intros p I. rewrite forallb_forall in H. specialize (H p I).
  apply Z.leb_le, IZR_le in H. cbn. rewrite value_at_zero. pose proof (Rinv_0_lt_compat _ (denominator_positive (snd p))). unfold Rdiv. nra.
Qed.

Lemma dot_of_signs (l : list reals) : Forall (fun a : R => 0 <= a) l -> forall h : list reals, Forall (fun a : R => a <= 0) h -> dot l h <= 0.
Proof.
  induction 1 as [|a l A L IH]; intros h H; [cbn; lra|]. destruct H as [|c h C H]; [cbn; lra|]. specialize (IH h H). cbn. nra.
Qed.

Lemma dot_each_null (l : list reals) : forall h, null (each l h) -> dot l h = 0.
Proof. induction l as [|a l IH]; intros [|c h] N; try reflexivity. cbn in *. inversion N; subst. rewrite IH by assumption. lra. Qed.

(* The optimality conditions with g strictly convex: y* alone minimises over the feasible points. *)
Lemma lower_level_right c : is_solved c = true -> lower_level c.
Proof.
  unfold is_solved. cbv zeta. rewrite !andb_true_iff, Nat.eqb_eq. intros [[[[[[L F] S] E] G] Sy] De].
  apply signs_not_positive in F. apply signs_not_negative in S. apply (are_null_right _ 0) in E, G, Sy.
  rewrite at_each in E. rewrite at_rows in E, F. rewrite at_minus, at_grad_y_g, at_pull, at_matrix in G. rewrite at_minus, at_pull, at_apply, at_matrix in Sy.
  rewrite !at_constants in E. rewrite !at_constants in F. rewrite !at_constants in S. rewrite !at_constants in G. rewrite !at_constants in Sy. rewrite !monomial_0 in *.
  apply (fun h => is_definite_fraction_sound 1 _ _ 1 h ltac:(unfold Q2R; simpl; lra)) in De. rewrite at_matrix in De.
  set (y := constants reals (y_star (given c))) in *. set (l := constants reals (lam (given c))) in *. set (M := matrix reals (g_yy (of_problem c))) in *.
  unfold lower_level. fold y l. repeat split; try assumption; [unfold y, constants; now rewrite map_length|].
  intros z Lz Fz Ne. set (v := minus z y).
  assert (Ly : length y = dimension c) by (unfold y, constants; now rewrite map_length).
  assert (Nv : ~ null v) by (intro H; apply Ne, minus_null; [congruence|assumption]).
  assert (Lv : length v = dimension c) by (unfold v; rewrite minus_length; congruence).
  specialize (De v Lv Nv).
  pose proof (dot_null_r v _ G) as Gv. rewrite dot_minus_r, dot_pull in Gv.
  set (B' := matrix reals (B (of_problem c))) in *.
  (* <B v, lambda> = <lambda, h(y)> - <lambda, h(z)> >= 0 *)
  assert (Hl : 0 <= dot (apply B' v) l).
  { pose proof (dot_of_signs l S _ Fz) as A. apply dot_each_null in E. unfold rows in A, E. fold B' in A, E.
    rewrite dot_minus_r in A, E. unfold v. rewrite apply_minus, dot_sym, dot_minus_r. lra. }
  unfold grad_y_g in Gv. fold M in Gv. set (e := vsum (constants reals (g_y (of_problem c))) _) in Gv.
  rewrite dot_sum_r, dot_scaled_r in Gv. unfold g. fold M. fold e.
  pose proof (dot_null_r v _ Sy) as Sv. rewrite dot_minus_r, dot_pull in Sv.
  unfold v in De, Gv, Sv, Hl. rewrite apply_minus, !dot_minus_l, !dot_minus_r in De. rewrite apply_minus, !dot_minus_l in Sv.
  rewrite !dot_minus_l in Gv. rewrite (dot_sym (apply M z) y), (dot_sym (apply M y) y) in Sv. lra.
Qed.

Lemma at_differentiated c : map (mat_ 0) (differentiated c polynomials) = differentiated c reals.
Proof.
  unfold differentiated. cbv zeta. cbn [map].
  rewrite !at_msum, !at_mscaled, at_map_apply, at_map_pull, at_masked, at_msum, at_mscaled, at_map_apply, at_map_each, !at_matrix, !at_constants.
  unfold mat_. cbn [map]. rewrite !at_each, at_rows, !at_constants.
  assert (m : value (constant polynomials (-1 # 1)) 0 = constant reals (-1 # 1)) by apply value_constant.
  assert (o : value (constant polynomials 1) 0 = constant reals 1) by apply value_constant. rewrite !m, !o. reflexivity.
Qed.

Lemma symmetric_right n M : is_symmetric n M = true -> symmetric n M.
Proof.
  intros H i j I J. unfold is_symmetric in H. rewrite forallb_forall in H. specialize (H i). rewrite in_seq in H.
  specialize (H (conj (Nat.le_0_l i) I)). rewrite forallb_forall in H. specialize (H j). rewrite in_seq in H.
  now apply Qeq_bool_eq, H; split; [apply Nat.le_0_l|].
Qed.

(* A certificate that passes the check is true. *)
Theorem certificate_sound c w : check c w = true -> certified c.
Proof.
  unfold check. rewrite !andb_true_iff, Nat.eqb_eq. intros [[[[[[[[[[[[Po We] S1] S2] S3] So] Le] Di] Ch] Mi] Mi2] Qu] Bo].
  split; [|split].
  { apply negb_true_iff in Po. rewrite <- RMicromega.Q2R_0. apply Qlt_Rlt, Qnot_le_lt. intro N. apply Qle_bool_iff in N. congruence. }
  { apply Forall_forall. intros a I. rewrite forallb_forall in We. specialize (We a I). rewrite andb_true_iff, !Qle_bool_iff in We.
    destruct We as [W0 W1]. apply Qle_Rle in W0, W1. unfold Q2R at 1 in W0. unfold Q2R at 2 in W1. simpl in W0, W1. lra. }
  split; [now apply symmetric_right|]. split; [now apply symmetric_right|]. split; [now apply symmetric_right|]. clear S1 S2 S3.
  split; [now apply lower_level_right|]. split; [assumption|]. split; [|split].
  - intro Ne. rewrite Ne in Di. cbn [negb orb] in Di. rewrite <- at_differentiated. rewrite Forall_map. apply Forall_forall. intros M I.
    rewrite forallb_forall in Di. now apply all_null_right, Di.
  - intro Ne. rewrite Ne in Ch. cbn [negb orb] in Ch. apply (are_null_right _ 0) in Ch. unfold chain_rule in *.
    rewrite at_minus, at_sum, at_grad_x_f, at_apply, at_grad_y_f, at_matrix, !at_constants in Ch.
    assert (o : value (constant polynomials 1) 0 = constant reals 1) by apply value_constant. rewrite !o in Ch. exact Ch.
  - intros alpha T. destruct (minimiser_right c alpha T _ _ _ _ Mi) as [V1 [C1 [S1 U1]]].
    set (y := scaled _ _) in S1, U1.
    assert (back : forall (v : R) (Y : list reals), v <> 0 -> scaled (v : reals) (scaled (/ v : reals) Y) = Y).
    { intros v Y V. rewrite scaled_scaled, Rinv_r by assumption. unfold scaled. erewrite map_ext; [apply map_id|intro; cbn; ring]. }
    unfold points. destruct (has_second c) eqn:Two.
    + cbn [negb orb] in Mi2. destruct (minimiser_right c alpha T _ _ _ _ Mi2) as [V2 [C2 [S2 U2]]]. set (y2 := scaled _ _) in S2, U2.
      repeat split; try assumption; [intros _; assumption|exists y, y2; split; assumption|].
      intros z z' [Z Z']. rewrite (U1 z Z), (U2 z' Z'). apply (bound_right c w alpha T); try assumption; unfold e2, Z2; rewrite ?Two; try assumption; now apply back.
    + repeat split; try assumption; [discriminate|exists y, []; split; [assumption|reflexivity]|].
      intros z z' [Z Z']. rewrite (U1 z Z), Z'. apply (bound_right c w alpha T); try assumption; unfold e2, Z2; rewrite ?Two; rewrite ?monomial_0; try lra; try reflexivity. now apply back.
Qed.
