(* Polynomials with rational coefficients, lowest power first; and a test, by computation, that one is positive on
   (0, end]: halve the interval until all Bernstein coefficients are >= 0. *)
From Coq Require Import Reals Lra QArith Qreals List Bool ZArith.
Import ListNotations.
Local Open Scope R_scope.

(* p(t) for p = [a0; a1; ...], whole coefficients *)
Fixpoint zvalue (p : list Z) (t : R) : R := match p with [] => 0 | a :: q => IZR a + t * zvalue q t end.

Fixpoint zsum (p q : list Z) : list Z :=
  match p, q with [], _ => q | _, [] => p | a :: p', b :: q' => (a + b)%Z :: zsum p' q' end.

(* p(t + 1) *)
Fixpoint zshift (p : list Z) : list Z :=
  match p with [] => [] | a :: q => let moved := zshift q in zsum [a] (zsum moved (0%Z :: moved)) end.

(* 2^n p(t / 2), n one less than the number of coefficients *)
Fixpoint zhalf (p : list Z) : list Z :=
  match p with [] => [] | a :: q => (a * 2 ^ Z.of_nat (length q))%Z :: zhalf q end.

(* Bernstein coefficients of p on (0, 1), up to positive factors: >= 0 all, and not 0 all *)
Definition bernstein (p : list Z) : bool :=
  let b := zshift (rev p) in forallb (fun a => (0 <=? a)%Z) b && existsb (fun a => (0 <? a)%Z) b.

(* on (0, 1), halved at most depth times; written with if, so that the second half is looked at after the first alone *)
Fixpoint is_positive (depth : nat) (p : list Z) : bool :=
  if bernstein p then true else match depth with
  | O => false
  | S less => let left := zhalf p in let right := zshift left in
      if (0 <? hd 0 right)%Z then if is_positive less left then is_positive less right else false else false
  end.

Lemma zvalue_sum p : forall q t, zvalue (zsum p q) t = zvalue p t + zvalue q t.
Proof. induction p as [|a p IH]; intros [|b q] t; simpl; try lra. rewrite IH, plus_IZR. lra. Qed.

Lemma zvalue_shift p t : zvalue (zshift p) t = zvalue p (t + 1).
Proof. induction p as [|a p IH]; [reflexivity|]. cbn [zshift]. rewrite !zvalue_sum. cbn [zvalue]. rewrite IH. simpl IZR. lra. Qed.

Lemma zvalue_half p t : 2 * zvalue (zhalf p) t = 2 ^ length p * zvalue p (t / 2).
Proof.
  induction p as [|a p IH]; simpl; [lra|]. rewrite mult_IZR, <- pow_IZR.
  replace (2 * (IZR a * 2 ^ length p + t * zvalue (zhalf p) t)) with (2 * (IZR a * 2 ^ length p) + t * (2 * zvalue (zhalf p) t)) by ring.
  rewrite IH. simpl IZR. field.
Qed.

Lemma zvalue_snoc p a t : zvalue (p ++ [a]) t = zvalue p t + IZR a * t ^ length p.
Proof. induction p as [|b p IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma zvalue_rev p t : t <> 0 -> zvalue (rev p) (/ t) * t ^ length p = t * zvalue p t.
Proof.
  intro T. induction p as [|a p IH]; simpl; [ring|]. rewrite zvalue_snoc, rev_length.
  replace ((zvalue (rev p) (/ t) + IZR a * (/ t) ^ length p) * (t * t ^ length p))
    with (t * (zvalue (rev p) (/ t) * t ^ length p) + IZR a * t * ((/ t) ^ length p * t ^ length p)) by ring.
  rewrite IH, <- Rpow_mult_distr, Rinv_l, pow1 by assumption. ring.
Qed.

Lemma coefficients_nonnegative p t : 0 < t -> forallb (fun a => (0 <=? a)%Z) p = true -> 0 <= zvalue p t.
Proof.
  intro T. induction p as [|a p IH]; simpl; [lra|]. rewrite andb_true_iff, Z.leb_le. intros [A P].
  apply IZR_le in A. specialize (IH P). nra.
Qed.

Lemma coefficients_positive p t : 0 < t -> forallb (fun a => (0 <=? a)%Z) p = true ->
  existsb (fun a => (0 <? a)%Z) p = true -> 0 < zvalue p t.
Proof.
  intro T. induction p as [|a p IH]; simpl; [discriminate|]. rewrite andb_true_iff, orb_true_iff, Z.leb_le, Z.ltb_lt.
  intros [A P] [B|B].
  - apply IZR_lt in B. pose proof (coefficients_nonnegative p t T P). nra.
  - apply IZR_le in A. specialize (IH P B). nra.
Qed.

Lemma bernstein_positive p t : bernstein p = true -> 0 < t < 1 -> 0 < zvalue p t.
Proof.
  unfold bernstein. rewrite andb_true_iff. intros [A B] T.
  assert (S : 0 < / t - 1) by (apply Rlt_Rminus; rewrite <- Rinv_1; apply Rinv_lt_contravar; lra).
  pose proof (coefficients_positive _ _ S A B) as P. rewrite zvalue_shift in P.
  replace (/ t - 1 + 1) with (/ t) in P by ring.
  assert (E := zvalue_rev p t). assert (0 < t ^ length p) by (apply pow_lt; lra).
  assert (0 < t * zvalue p t) by (rewrite <- E by lra; apply Rmult_lt_0_compat; assumption). nra.
Qed.

(* The test says true: p > 0 on (0, 1); so it has no root there. *)
Theorem is_positive_sound depth : forall p t, is_positive depth p = true -> 0 < t < 1 -> 0 < zvalue p t.
Proof.
  induction depth as [|depth IH]; intros p t; cbn [is_positive]; destruct (bernstein p) eqn:Be; intros H T; try (now apply bernstein_positive).
  cbv zeta in H. destruct (zshift (zhalf p)) as [|a right] eqn:E; cbn [hd] in H; [discriminate|].
    destruct (Z.ltb_spec 0 a) as [A|A]; [|discriminate]. destruct (is_positive depth (zhalf p)) eqn:L; [|discriminate].
    rename H into M. apply IZR_lt in A.
    assert (two : 0 < 2 ^ length p) by (apply pow_lt; lra).
    assert (half : forall s, 0 < zvalue (zhalf p) (2 * s) -> 0 < zvalue p s).
    { intros s P. pose proof (zvalue_half p (2 * s)) as V. replace (2 * s / 2) with s in V by field. nra. }
    assert (moved : forall s, zvalue (a :: right) s = zvalue (zhalf p) (s + 1)) by (intro s; rewrite <- E; apply zvalue_shift).
    destruct (Rtotal_order t (/ 2)) as [C|[C|C]]; apply half.
    + apply IH; [assumption|lra].
    + pose proof (moved 0) as V. simpl in V. replace (2 * t) with (0 + 1) by lra. lra.
    + replace (2 * t) with (2 * t - 1 + 1) by ring. rewrite <- moved. apply IH; [assumption|lra].
Qed.

(* ---- rational coefficients: whole ones over a common denominator ---- *)

Definition poly : Type := list Z * positive.
Definition value (p : poly) (t : R) : R := zvalue (fst p) t / IZR (Zpos (snd p)).

Definition ztimes (a : Z) (p : list Z) : list Z := map (Z.mul a) p.
Fixpoint zproduct (p q : list Z) : list Z :=
  match p with [] => [] | a :: p' => zsum (ztimes a q) (0%Z :: zproduct p' q) end.
Definition psum (p q : poly) : poly :=
  let (a, m) := p in let (b, n) := q in
  if Pos.eqb m n then (zsum a b, m)
  else let '(_, (k, l)) := Pos.ggcd m n in (zsum (ztimes (Zpos l) a) (ztimes (Zpos k) b), (k * n)%positive).
Definition pproduct (p q : poly) : poly := (zproduct (fst p) (fst q), (snd p * snd q)%positive).
Definition pconstant (a : Q) : poly := ([Qnum a], Qden a).
Definition negative (p : poly) : poly := (ztimes (-1) (fst p), snd p).
(* t^k *)
Fixpoint zmonomial (k : nat) : list Z := match k with O => [1%Z] | S l => 0%Z :: zmonomial l end.
Definition monomial (k : nat) : poly := (zmonomial k, 1%positive).
Definition is_null (p : poly) : bool := forallb (Z.eqb 0) (fst p).
(* the sign at 0 is that of *)
Definition at_zero (p : poly) : Z := hd 0%Z (fst p).

(* b^n p(a t / b) *)
Fixpoint zstretch (a b : Z) (p : list Z) : list Z :=
  match p with [] => [] | c :: q => (c * b ^ Z.of_nat (length q))%Z :: ztimes a (zstretch a b q) end.
Definition ztotal (p : list Z) : Z := fold_right Z.add 0%Z p.
Definition DEPTH : nat := 12.

(* positive on (0, end], respectively nowhere negative there; end is c > 0 *)
Definition positive_to (c : Q) (p : poly) : bool :=
  let q := zstretch (Qnum c) (Zpos (Qden c)) (fst p) in is_positive DEPTH q && (0 <? ztotal q)%Z.
Definition nonnegative_to (c : Q) (p : poly) : bool :=
  is_null p || (let q := zstretch (Qnum c) (Zpos (Qden c)) (fst p) in is_positive DEPTH q && (0 <=? ztotal q)%Z).

Lemma denominator_positive (m : positive) : 0 < IZR (Zpos m).
Proof. now apply IZR_lt. Qed.

Lemma zvalue_times a p t : zvalue (ztimes a p) t = IZR a * zvalue p t.
Proof. unfold ztimes. induction p as [|b p IH]; cbn [map zvalue]; [ring|]. rewrite IH, mult_IZR. ring. Qed.

Lemma zvalue_product p q t : zvalue (zproduct p q) t = zvalue p t * zvalue q t.
Proof. induction p as [|a p IH]; cbn [zproduct zvalue]; [ring|]. rewrite zvalue_sum, zvalue_times. cbn [zvalue]. rewrite IH. ring. Qed.

Lemma value_sum p q t : value (psum p q) t = value p t + value q t.
Proof.
  destruct p as [a m], q as [b n]. unfold psum, value. destruct (Pos.eqb_spec m n) as [E|E].
  - subst. cbn [fst snd]. rewrite zvalue_sum. pose proof (denominator_positive n). field. lra.
  - pose proof (Pos.ggcd_correct_divisors m n) as C. destruct (Pos.ggcd m n) as [g [k l]]. destruct C as [C1 C2]. subst. cbn [fst snd].
    rewrite zvalue_sum, !zvalue_times, !Pos2Z.inj_mul, !mult_IZR.
    pose proof (denominator_positive g). pose proof (denominator_positive k). pose proof (denominator_positive l). field. lra.
Qed.

Lemma value_product p q t : value (pproduct p q) t = value p t * value q t.
Proof.
  unfold value, pproduct. cbn [fst snd]. rewrite zvalue_product, Pos2Z.inj_mul, mult_IZR.
  pose proof (denominator_positive (snd p)). pose proof (denominator_positive (snd q)). field. lra.
Qed.

Lemma value_constant a t : value (pconstant a) t = Q2R a.
Proof. unfold value, pconstant, Q2R. cbn. rewrite Rmult_0_r, Rplus_0_r. reflexivity. Qed.

Lemma value_zero t : value ([], 1%positive) t = 0.
Proof. unfold value. cbn. field. Qed.

Lemma value_negative p t : value (negative p) t = - value p t.
Proof. unfold value, negative. cbn [fst snd]. rewrite zvalue_times. unfold Rdiv. ring. Qed.

Lemma value_monomial k t : value (monomial k) t = t ^ k.
Proof.
  unfold value, monomial. cbn [fst snd]. replace (zvalue (zmonomial k) t) with (t ^ k); [field|].
  induction k as [|k IH]; cbn [zmonomial zvalue pow]; [ring|]. rewrite <- IH. ring.
Qed.

Lemma value_positive p t : 0 < zvalue (fst p) t <-> 0 < value p t.
Proof.
  unfold value, Rdiv. pose proof (Rinv_0_lt_compat _ (denominator_positive (snd p))) as I. split; intro H; [now apply Rmult_lt_0_compat|].
  apply (Rmult_lt_reg_r (/ IZR (Zpos (snd p)))); [assumption|]. now rewrite Rmult_0_l.
Qed.

Lemma zero_right p t : forallb (Z.eqb 0) p = true -> zvalue p t = 0.
Proof.
  induction p as [|a p IH]; cbn [forallb zvalue]; [reflexivity|]. rewrite andb_true_iff, Z.eqb_eq. intros [A P]. subst. rewrite (IH P). ring.
Qed.

Lemma is_null_right p t : is_null p = true -> value p t = 0.
Proof. intro H. unfold value. rewrite zero_right by exact H. unfold Rdiv. ring. Qed.

Lemma value_at_zero p : value p 0 = IZR (at_zero p) / IZR (Zpos (snd p)).
Proof. unfold value, at_zero. destruct (fst p); cbn; unfold Rdiv; ring. Qed.

Lemma zvalue_stretch a b p t : b <> 0%Z -> IZR b * zvalue (zstretch a b p) t = IZR b ^ length p * zvalue p (IZR a * t / IZR b).
Proof.
  intro B. apply IZR_neq in B. induction p as [|c p IH]; cbn [zstretch zvalue length pow]; [ring|]. rewrite zvalue_times, mult_IZR, <- pow_IZR.
  replace (IZR b * (IZR c * IZR b ^ length p + t * (IZR a * zvalue (zstretch a b p) t)))
    with (IZR b * (IZR c * IZR b ^ length p) + IZR a * t * (IZR b * zvalue (zstretch a b p) t)) by ring.
  rewrite IH. field. assumption.
Qed.

Lemma ztotal_right p : IZR (ztotal p) = zvalue p 1.
Proof. induction p as [|a p IH]; cbn [ztotal fold_right zvalue]; [reflexivity|]. unfold ztotal in IH. rewrite plus_IZR, IH. ring. Qed.

(* from (0, 1] to (0, c] *)
Lemma stretched c p t : 0 < t <= Q2R c -> exists s k, 0 < s <= 1 /\ (t < Q2R c -> s < 1) /\ (t = Q2R c -> s = 1) /\ 0 < k /\
  k * zvalue p t = zvalue (zstretch (Qnum c) (Zpos (Qden c)) p) s.
Proof.
  intro T. pose proof (denominator_positive (Qden c)) as B. assert (C : 0 < Q2R c) by lra.
  assert (W : t / Q2R c * Q2R c = t) by (field; lra).
  exists (t / Q2R c), (IZR (Zpos (Qden c)) ^ length p / IZR (Zpos (Qden c))). repeat split.
  - apply Rmult_lt_0_compat; [lra|now apply Rinv_0_lt_compat].
  - apply (Rmult_le_reg_r (Q2R c)); lra.
  - intro L. apply (Rmult_lt_reg_r (Q2R c)); lra.
  - intro E. subst t. field. lra.
  - apply Rmult_lt_0_compat; [now apply pow_lt|now apply Rinv_0_lt_compat].
  - apply (Rmult_eq_reg_l (IZR (Zpos (Qden c)))); [|lra]. rewrite zvalue_stretch by discriminate.
    assert (E : IZR (Qnum c) * (t / Q2R c) / IZR (Z.pos (Qden c)) = t).
    { replace (IZR (Qnum c)) with (Q2R c * IZR (Z.pos (Qden c))) by (unfold Q2R; field; lra). field. lra. }
    rewrite E. field. lra.
Qed.

(* p > 0 on (0, c] *)
Theorem positive_to_sound c p t : positive_to c p = true -> 0 < t <= Q2R c -> 0 < value p t.
Proof.
  unfold positive_to. cbv zeta. rewrite andb_true_iff, Z.ltb_lt. intros [P E] T. apply value_positive.
  destruct (stretched c (fst p) t T) as [s [k [S [L [M [K V]]]]]].
  assert (0 < k * zvalue (fst p) t); [rewrite V|nra]. destruct (Rle_lt_or_eq_dec _ _ (proj2 S)) as [F|F].
  - apply (is_positive_sound DEPTH); [assumption|lra].
  - rewrite F, <- ztotal_right. now apply IZR_lt.
Qed.

(* p >= 0 on (0, c] *)
Theorem nonnegative_to_sound c p t : nonnegative_to c p = true -> 0 < t <= Q2R c -> 0 <= value p t.
Proof.
  unfold nonnegative_to. cbv zeta. rewrite orb_true_iff, andb_true_iff, Z.leb_le. intros [N|[P E]] T.
  - right. symmetry. now apply is_null_right.
  - destruct (stretched c (fst p) t T) as [s [k [S [L [M [K V]]]]]].
    assert (0 <= k * zvalue (fst p) t).
    { rewrite V. destruct (Rle_lt_or_eq_dec _ _ (proj2 S)) as [F|F].
      - left. apply (is_positive_sound DEPTH); [assumption|lra].
      - rewrite F, <- ztotal_right. now apply IZR_le. }
    unfold value, Rdiv. apply Rmult_le_pos; [nra|]. left. apply Rinv_0_lt_compat, denominator_positive.
Qed.
