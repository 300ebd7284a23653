(* What the printed sentences of statements are made of: matrices, vectors with a number for each row, points (x, y) together, and
   what is said of the names that no sentence can define: the norm and the extreme eigenvalues of a matrix, the solution
   of a linear system. *)
From Coq Require Import Reals Lra Psatz Lia Bool.
From f2csa Require Import hilbert outer rows.
Local Open Scope R_scope.

(* A matrix is a linear map with a transpose, and bounded, as every matrix is. *)
Record matrix (X V : space) := Matrix {
  times :> X -> V; back : V -> X;
  times_add : forall u v w, inner (times (add u v)) w = inner (times u) w + inner (times v) w;
  times_scale : forall a v w, inner (times (scale a v)) w = a * inner (times v) w;
  transpose : forall u w, inner (back w) u = inner w (times u);
  bounded : exists K, 0 <= K /\ forall v, norm (times v) <= K * norm v }.
Arguments times {X V}. Arguments back {X V}. Arguments times_add {X V}. Arguments times_scale {X V}.
Arguments transpose {X V}. Arguments bounded {X V}.

(* Vectors have no equality but that of their inner products. *)
Definition same {V : space} (v w : V) : Prop := forall u, inner v u = inner w u.

(* Vectors of p entries of which those in a set count. *)
Definition among (p : nat) (s : nat -> bool) : space.
Proof.
  refine (Space (nat -> R) (fun _ => 0) (fun v w i => v i + w i) (fun a v i => a * v i)
    (fun v w => sum p (fun i => if s i then v i * w i else 0)) _ _ _ _ _).
  - intros. apply sum_ext. intros i _. destruct (s i); ring.
  - intros. rewrite <- sum_plus. apply sum_ext. intros i _. destruct (s i); ring.
  - intros. rewrite <- sum_scale. apply sum_ext. intros i _. destruct (s i); ring.
  - intro w. transitivity (sum p (fun _ => 0)); [apply sum_ext; intros i _; destruct (s i); ring|]. rewrite sum_const. ring.
  - intros. apply sum_pos. intros i _. destruct (s i); [apply Rle_0_sqr|lra].
Defined.

(* The rows of a set, and 0 for all others. *)
Definition within {p : nat} (s : nat -> bool) (v : among p s) : coords p := fun i => if s i then v i else 0.
Definition off (s : nat -> bool) (i : nat) : bool := negb (s i).
Definition at_zero {p : nat} (v : coords p) (i : nat) : bool := if Req_EM_T (v i) 0 then true else false.
Definition positive_too {p : nat} (s : nat -> bool) (v : coords p) (i : nat) : bool := s i && (if Rlt_dec 0 (v i) then true else false).

(* entries cut to [0, 1]; the vector of ones; each entry of a set of rows *)
Definition cut {p : nat} (v : coords p) : coords p := fun i => Rmax 0 (Rmin 1 (v i)).
Definition ones {p : nat} : coords p := fun _ => 1.
Definition each (p : nat) (s : nat -> bool) (v : nat -> R) (P : R -> Prop) : Prop := forall i, (i < p)%nat -> s i = true -> P (v i).

(* The rows of M in a set are independent. *)
Definition independent {V : space} {p : nat} (s : nat -> bool) (M : matrix V (coords p)) : Prop :=
  exists sigma, 0 < sigma /\ forall w, sigma * @norm (among p s) w <= norm (back M (within s w)).

(* x and y as one point *)
Definition both (X V : space) : space.
Proof.
  refine (Space (point X * point V) (zero, zero) (fun a c => (add (fst a) (fst c), add (snd a) (snd c)))
    (fun t a => (scale t (fst a), scale t (snd a))) (fun a c => inner (fst a) (fst c) + inner (snd a) (snd c)) _ _ _ _ _).
  - intros. rewrite (inner_sym _ (fst v)), (inner_sym _ (snd v)). ring.
  - intros. simpl. rewrite !inner_add. ring.
  - intros. simpl. rewrite !inner_scale. ring.
  - intros. simpl. rewrite !inner_zero. ring.
  - intros. pose proof (inner_pos X (fst v)). pose proof (inner_pos V (snd v)). lra.
Defined.

(* ---- names that no sentence defines ---- *)
Definition stretches {X V : space} (M : X -> V) (K : R) : Prop := 0 <= K /\ forall v, norm (M v) <= K * norm v.
(* the norm of a matrix: the smallest number that bounds |M v| / |v| *)
Definition is_spectral {X V : space} (name : (X -> V) -> R) : Prop :=
  forall M, (exists K, stretches M K) -> stretches M (name M) /\ forall K, stretches M K -> name M <= K.

Definition curves {V : space} (M : V -> V) (c : R) : Prop := forall v, c * inner v v <= inner (M v) v.
(* the least eigenvalue of a symmetric matrix: the largest number below all v'Mv / v'v *)
Definition is_least {V : space} (name : (V -> V) -> R) : Prop :=
  forall M, (exists c, curves M c) -> curves M (name M) /\ forall c, (exists v : V, 0 < inner v v) -> curves M c -> c <= name M.

Definition flattens {V : space} (M : V -> V) (c : R) : Prop := forall v, inner (M v) v <= c * inner v v.
(* the largest eigenvalue *)
Definition is_greatest {V : space} (name : (V -> V) -> R) : Prop :=
  forall M, (exists c, flattens M c) -> flattens M (name M) /\ forall c, (exists v : V, 0 < inner v v) -> flattens M c -> name M <= c.

Definition is_linear {X V : space} (M : X -> V) : Prop :=
  forall a u v w, inner (M (add u (scale a v))) w = inner (M u) w + a * inner (M v) w.
(* the solution of M v = b, for M positive definite; in R^m there is one (existence.invertible) *)
Definition is_solve {V : space} (name : (V -> V) -> V -> V) : Prop :=
  forall M, is_linear M -> (exists c, 0 < c /\ curves M c) -> forall b, same (M (name M b)) b.

(* ---- what proofs use of them ---- *)
Section facts.
  Variables X V : space.

  Lemma times_sub (M : matrix X V) u v w : inner (M (sub u v)) w = inner (M u) w - inner (M v) w.
  Proof. unfold sub. rewrite times_add, times_scale. ring. Qed.

  Lemma times_linear (M : matrix X V) : is_linear M.
  Proof. intros a u v w. now rewrite times_add, times_scale. Qed.

  Lemma transpose_r (M : matrix X V) u w : inner u (back M w) = inner w (M u).
  Proof. now rewrite inner_sym, transpose. Qed.

  (* the transpose is bounded, too *)
  Lemma back_bounded (M : matrix X V) : exists K, 0 <= K /\ (forall v, norm (M v) <= K * norm v) /\ forall w, norm (back M w) <= K * norm w.
  Proof.
    destruct (bounded M) as [K [K0 HK]]. exists K. repeat split; [assumption|assumption|]. intro w. pose proof (norm_pos V w).
    apply norm_dual; [apply Rmult_le_pos; assumption|]. intro v. rewrite transpose. pose proof (cauchy_schwarz V w (M v)).
    pose proof (HK v). assert (norm w * norm (M v) <= norm w * (K * norm v)) by (apply Rmult_le_compat_l; assumption). lra.
  Qed.

  Lemma same_norm (v w : V) : same v w -> norm v = norm w.
  Proof. intro H. unfold norm. f_equal. rewrite H, inner_sym, H. reflexivity. Qed.

  Lemma spectral_bounds (name : (X -> V) -> R) (M : matrix X V) : is_spectral name -> 0 <= name M /\ forall v, norm (M v) <= name M * norm v.
  Proof. intro H. destruct (H M (bounded M)) as [[a c] _]. now split. Qed.

  Lemma form_bounded (M : matrix V V) : exists K, 0 <= K /\ forall v, Rabs (inner (M v) v) <= K * inner v v.
  Proof.
    destruct (bounded M) as [K [K0 HK]]. exists K. split; [assumption|]. intro v. pose proof (cauchy_schwarz V (M v) v).
    pose proof (cauchy_schwarz_neg V (M v) v). pose proof (HK v). pose proof (norm_pos V v). rewrite <- norm_sq.
    assert (norm (M v) * norm v <= K * norm v * norm v) by (apply Rmult_le_compat_r; assumption).
    apply Rabs_le. lra.
  Qed.

  Lemma least_curves (name : (V -> V) -> R) (M : matrix V V) : is_least name -> curves M (name M).
  Proof.
    intro H. apply H. destruct (form_bounded M) as [K [_ HK]]. exists (- K). intro v. pose proof (HK v) as Q.
    pose proof (Rle_abs (- inner (M v) v)) as S. rewrite Rabs_Ropp in S. lra.
  Qed.
End facts.
