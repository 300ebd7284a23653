(* A symmetric matrix of polynomials is positive definite on all of (0, end]: by elimination without fractions, each
   pivot, a leading minor, positive there. *)
From Coq Require Import Reals Lra QArith Qreals List Bool.
From f2csa Require Import polynomials coordinates.
Import ListNotations.
Local Open Scope R_scope.

(* <M v, v> > 0 for every v <> 0 in R^n *)
Definition definite (n : nat) (M : list (list reals)) : Prop :=
  forall v : list reals, length v = n -> ~ null v -> 0 < dot v (apply M v).

(* quotients of whole polynomials; what they are is checked where they are used *)
Fixpoint long_division (n : nat) (p q : list Z) : list Z :=
  match n, p, q with
  | S k, a :: p', b :: q' => let c := (a / b)%Z in c :: long_division k (zsum p' (ztimes (- c) q')) q
  | _, _, _ => []
  end.
Fixpoint stripped (p : list Z) : list Z := match p with a :: q => if Z.eqb a 0 then stripped q else p | [] => [] end.
Definition quotient (p q : poly) : poly :=
  let p' := stripped (rev (fst p)) in let q' := stripped (rev (fst q)) in
  (rev (long_division (S (length p') - length q') p' q'), 1%positive).

Definition head_ (r : list polynomials) : polynomials := match r with [] => zero polynomials | a :: _ => a end.
Definition outer (K : numbers) (v w : list K) : list (list K) := map (fun c => scaled c w) v.
Definition are_null (v : list polynomials) : bool := forallb is_null v.

Definition minus_one : poly := pconstant (-1 # 1).

(* previous: the pivot before; the next matrix is (pivot M - column row) / previous *)
Fixpoint is_definite (c : Q) (n : nat) (previous : polynomials) (M : list (list polynomials)) : bool :=
  match n, M with
  | O, [] => true
  | S k, (a :: r) :: rows =>
      let column := map head_ rows in
      let rest := map (@tl polynomials) rows in
      let product := msum (mscaled (a : polynomials) rest) (mscaled (minus_one : polynomials) (outer polynomials column r)) in
      let next := map (map (fun p => quotient p previous)) product in
      positive_to c a && are_null (minus column r)
        && forallb are_null (msum (mscaled previous next) (mscaled (minus_one : polynomials) product))
        && is_definite c k a next
  | _, _ => false
  end.

Lemma are_null_right v t : are_null v = true -> null (at_ t v).
Proof.
  unfold are_null, null, at_. intro H. rewrite Forall_map. apply Forall_forall. intros p I. apply is_null_right.
  rewrite forallb_forall in H. now apply H.
Qed.

Lemma null_matrix (M : list (list reals)) v : Forall null M -> null (apply M v).
Proof.
  intro H. unfold apply, null. rewrite Forall_map. apply Forall_forall. intros r I. rewrite Forall_forall in H.
  rewrite dot_sym. apply dot_null_r. now apply H.
Qed.

Lemma all_null_right M t : forallb are_null M = true -> Forall null (mat_ t M).
Proof.
  intro H. unfold mat_. rewrite Forall_map. apply Forall_forall. intros r I. apply are_null_right.
  rewrite forallb_forall in H. now apply H.
Qed.

Lemma at_heads rows t : at_ t (map head_ rows) = map (fun r : list reals => match r with [] => 0 | a :: _ => a end) (mat_ t rows).
Proof. unfold at_, mat_. rewrite !map_map. apply map_ext. intros [|a r]; [apply value_zero|reflexivity]. Qed.

Lemma at_tails rows t : mat_ t (map (@tl polynomials) rows) = map (@tl reals) (mat_ t rows).
Proof. unfold mat_. rewrite !map_map. apply map_ext. intros [|a r]; reflexivity. Qed.

Lemma at_outer v w t : mat_ t (outer polynomials v w) = outer reals (at_ t v) (at_ t w).
Proof. induction v as [|a v IH]; [reflexivity|]. cbn. f_equal; [apply at_scaled|apply IH]. Qed.

Lemma dot_outer (v w u : list reals) : forall z, dot z (apply (outer reals v w) u) = dot z v * dot w u.
Proof.
  induction v as [|a v IH]; intros [|b z]; try (cbn; ring). change (apply (outer reals (a :: v) w) u) with (dot (scaled a w) u :: apply (outer reals v w) u).
  cbn [dot]. rewrite IH, dot_scaled_l. cbn [plus times reals]. set (s := dot w u). set (q := dot z v). cbn. ring.
Qed.

Lemma dot_columns (rows : list (list reals)) a (w : list reals) : forall z,
  dot z (apply rows ((a : reals) :: w)) =
  a * dot z (map (fun r : list reals => match r with [] => 0 : reals | b :: _ => b end) rows) + dot z (apply (map (@tl reals) rows) w).
Proof.
  induction rows as [|r rows IH]; intros [|b z]; try (cbn; ring).
  cbn [map dot apply]. change (map (fun row : list reals => dot row (a :: w)) rows) with (apply rows (a :: w)). rewrite IH.
  change (map (fun row : list reals => dot row w) (map (@tl reals) rows)) with (apply (map (@tl reals) rows) w).
  set (s := dot z _). set (q := dot z (apply (map (@tl reals) rows) w)). destruct r as [|c r]; cbn; [ring|].
  set (e := dot r w). cbn. ring.
Qed.

Lemma not_null_cases (a : R) (w : list reals) : ~ null ((a : reals) :: w) -> ~ null w \/ null w /\ a <> 0.
Proof.
  intro N.
  destruct (null_or_not w) as [W|W]; [right; split; [assumption|]|now left]. intro A. apply N. now constructor.
Qed.

(* The check says true: positive definite at every t in (0, c]. *)
Theorem is_definite_sound c n : forall previous M t, is_definite c n previous M = true -> 0 < t <= Q2R c ->
  0 < value previous t -> definite n (mat_ t M).
Proof.
  induction n as [|n IH]; intros previous M t H T P v L N.
  - destruct v; [exfalso; apply N; constructor|discriminate].
  - destruct M as [|[|a r] rows]; try discriminate. destruct v as [|v0 w]; [discriminate|]. injection L as L.
    cbn [is_definite] in H. cbv zeta in H. rewrite !andb_true_iff in H. destruct H as [[[Pa Sy] Nx] De].
    set (column := map head_ rows) in *. set (rest := map (@tl polynomials) rows) in *.
    set (product := msum (mscaled (a : polynomials) rest) (mscaled (minus_one : polynomials) (outer polynomials column r))) in *.
    set (next := map (map (fun p => quotient p previous)) product) in *.
    pose proof (positive_to_sound _ _ _ Pa T) as A. pose proof (IH a next t De T A w L) as I. clear IH De Pa.
    apply (are_null_right _ t) in Sy. apply (all_null_right _ t) in Nx.
    pose proof (dot_null_r w _ Sy) as Sw. rewrite at_minus, dot_minus_r in Sw.
    pose proof (dot_null_r w _ (null_matrix _ w Nx)) as Nw. rewrite at_msum, !at_mscaled in Nw. unfold product in Nw.
    rewrite at_msum, !at_mscaled, at_outer, !apply_msum, !apply_mscaled, !apply_msum, !apply_mscaled in Nw.
    rewrite !dot_sum_r, !dot_scaled_r, !dot_sum_r, !dot_scaled_r, dot_outer in Nw.
    assert (one : value minus_one t = -1) by (unfold minus_one; rewrite value_constant; unfold Q2R; simpl; lra).
    rewrite !one in Nw.
    change (mat_ t ((a :: r) :: rows)) with (((value a t : reals) :: at_ t r) :: mat_ t rows).
    assert (F : dot (v0 :: w) (apply (((value a t : reals) :: at_ t r) :: mat_ t rows) (v0 :: w))
      = v0 * (value a t * v0 + dot (at_ t r) w) + (v0 * dot w (at_ t column) + dot w (apply (mat_ t rest) w))).
    { change (apply (((value a t : reals) :: at_ t r) :: mat_ t rows) (v0 :: w))
        with (dot ((value a t : reals) :: at_ t r) (v0 :: w) :: apply (mat_ t rows) (v0 :: w)).
      cbn [dot]. rewrite dot_columns. unfold column, rest. rewrite at_heads, at_tails. reflexivity. }
    rewrite F. clear F. rewrite (dot_sym (at_ t r) w) in *.
    set (b := dot w (at_ t r)) in *. set (k := dot w (at_ t column)) in *. set (q := dot w (apply (mat_ t rest) w)) in *.
    set (s := dot w (apply (mat_ t next) w)) in *. set (pa := value a t) in *. set (pp := value previous t) in *.
    assert (K : k = b) by lra. rewrite K in *. clear K Sw k.
    assert (S : pa * q = pp * s + b * b) by lra.
    assert (G : pa * (v0 * (pa * v0 + b) + (v0 * b + q)) = (pa * v0 + b) * (pa * v0 + b) + pp * s) by (replace (pa * (v0 * (pa * v0 + b) + (v0 * b + q))) with ((pa * v0 + b) * (pa * v0 + b) - b * b + pa * q) by ring; lra).
    apply (Rmult_lt_reg_l pa); [assumption|]. rewrite Rmult_0_r, G. pose proof (Rle_0_sqr (pa * v0 + b)) as Z. unfold Rsqr in Z.
    destruct (not_null_cases v0 w N) as [W|[W V]].
    + specialize (I W). assert (0 < pp * s) by now apply Rmult_lt_0_compat. lra.
    + assert (B : b = 0) by (unfold b; rewrite dot_sym; now apply dot_null_r).
      assert (E : s = 0) by (unfold s; rewrite dot_sym; now apply dot_null_r). rewrite B, E.
      replace ((pa * v0 + 0) * (pa * v0 + 0) + pp * 0) with (pa * pa * (v0 * v0)) by ring.
      apply Rmult_lt_0_compat; [nra|]. destruct (Rdichotomy _ _ V); nra.
Qed.

(* The entries times a common multiple of their denominators, so that they are whole. *)
Definition multiple (M : list (list polynomials)) : positive := fold_right (fun r m => fold_right (fun p k => snd (psum ([], snd p) ([], k))) m r) 1%positive M.
Definition cleared (M : list (list polynomials)) : list (list polynomials) :=
  let m := multiple M in map (map (fun p => (ztimes (Zpos m / Zpos (snd p)) (fst p), 1%positive))) M.
Definition is_definite_fraction (c : Q) (n : nat) (M : list (list polynomials)) : bool :=
  let m := pconstant (Zpos (multiple M) # 1) in
  forallb are_null (msum (mscaled (m : polynomials) M) (mscaled (minus_one : polynomials) (cleared M))) && is_definite c n (monomial 0) (cleared M).

Theorem is_definite_fraction_sound c n M t : is_definite_fraction c n M = true -> 0 < t <= Q2R c -> definite n (mat_ t M).
Proof.
  unfold is_definite_fraction. cbv zeta. rewrite andb_true_iff. intros [E H] T v L N.
  apply (is_definite_sound _ _ _ _ t) in H; [|assumption|rewrite value_monomial; cbn; lra]. specialize (H v L N).
  apply (all_null_right _ t) in E. pose proof (dot_null_r v _ (null_matrix _ v E)) as F.
  rewrite at_msum, !at_mscaled, apply_msum, !apply_mscaled, dot_sum_r, !dot_scaled_r in F.
  assert (one : value minus_one t = -1) by (unfold minus_one; rewrite value_constant; unfold Q2R; simpl; lra).
  rewrite one, value_constant in F. assert (P : 0 < Q2R (Zpos (multiple M) # 1)).
  { unfold Q2R. cbn [Qnum Qden]. rewrite Rinv_1, Rmult_1_r. apply denominator_positive. }
  set (k := Q2R (Zpos (multiple M) # 1)) in *. apply (Rmult_lt_reg_l k); [assumption|]. lra.
Qed.
