(* Finitely many rows: vectors of n components, weights that act on each of them, and sums over rows. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer.
Local Open Scope R_scope.

Lemma sum_ext n a b : (forall k, (k < n)%nat -> a k = b k) -> sum n a = sum n b.
Proof. induction n; simpl; intro H; [reflexivity|]. rewrite IHn, H by auto. reflexivity. Qed.

Lemma sum_pos n a : (forall k, (k < n)%nat -> 0 <= a k) -> 0 <= sum n a.
Proof. intro H. replace 0 with (sum n (fun _ => 0)) by (rewrite sum_const; ring). now apply sum_le. Qed.

Lemma sum_minus n a b : sum n (fun k => a k - b k) = sum n a - sum n b.
Proof. induction n; simpl; lra. Qed.

(* Components beyond the n-th do not count. *)
Definition coords (n : nat) : space.
Proof.
  refine (Space (nat -> R) (fun _ => 0) (fun v w i => v i + w i) (fun a v i => a * v i) (fun v w => sum n (fun i => v i * w i)) _ _ _ _ _).
  - intros. apply sum_ext. intros. ring.
  - intros. rewrite <- sum_plus. apply sum_ext. intros. ring.
  - intros. rewrite <- sum_scale. apply sum_ext. intros. ring.
  - intro w. transitivity (sum n (fun _ => 0)); [apply sum_ext; intros; ring|]. rewrite sum_const. ring.
  - intros. apply sum_pos. intros. apply Rle_0_sqr.
Defined.

(* weights times components *)
Definition weigh {n} (rho v : coords n) : coords n := fun i => rho i * v i.

Section rows.
  Variable n : nat.
  Implicit Types rho v w : coords n.

  Lemma weigh_sub rho v w z : inner (weigh rho (sub v w)) z = inner (weigh rho v) z - inner (weigh rho w) z.
  Proof. unfold weigh, sub. simpl. rewrite <- sum_minus. apply sum_ext. intros. ring. Qed.

  Lemma weigh_weights rho rho' v z : inner (weigh (sub rho rho') v) z = inner (weigh rho v) z - inner (weigh rho' v) z.
  Proof. unfold weigh, sub. simpl. rewrite <- sum_minus. apply sum_ext. intros. ring. Qed.

  Lemma weigh_pos rho v : (forall i, (i < n)%nat -> 0 <= rho i) -> 0 <= inner (weigh rho v) v.
  Proof. intro H. unfold weigh. simpl. apply sum_pos. intros i Hi. pose proof (H i Hi). pose proof (Rle_0_sqr (v i)). unfold Rsqr in *.
    rewrite Rmult_assoc. now apply Rmult_le_pos. Qed.

  (* a component is no longer than the whole *)
  Lemma component v i : (i < n)%nat -> Rabs (v i) <= norm v.
  Proof.
    intro Hi. apply le_of_squares; [apply norm_pos|]. rewrite norm_sq, <- Rabs_mult. unfold inner. simpl.
    assert (P : forall m, (i < m)%nat -> v i * v i <= sum m (fun k => v k * v k)).
    { induction m; intro Hm; [lia|]. simpl. pose proof (Rle_0_sqr (v m)). unfold Rsqr in *. destruct (Nat.eq_dec i m) as [->|ne].
      - assert (0 <= sum m (fun k => v k * v k)) by (apply sum_pos; intros; apply Rle_0_sqr). lra.
      - assert (v i * v i <= sum m (fun k => v k * v k)) by (apply IHm; lia). lra. }
    rewrite Rabs_right; [now apply P|]. apply Rle_ge, Rle_0_sqr.
  Qed.

  (* |rho_i v_i| <= K |w_i| row by row *)
  Lemma weigh_le rho v w K : 0 <= K -> (forall i, (i < n)%nat -> Rabs (rho i * v i) <= K * Rabs (w i)) -> norm (weigh rho v) <= K * norm w.
  Proof.
    intros HK H. apply le_of_squares; [pose proof (norm_pos _ w); nra|].
    replace (K * norm w * (K * norm w)) with (K * K * (norm w * norm w)) by ring. rewrite !norm_sq. unfold inner. simpl. rewrite <- sum_scale.
    apply sum_le. intros i Hi. pose proof (H i Hi) as Q. pose proof (Rabs_pos (rho i * v i)). unfold weigh.
    assert (S : Rabs (rho i * v i) * Rabs (rho i * v i) <= K * Rabs (w i) * (K * Rabs (w i))) by (apply Rmult_le_compat; lra).
    rewrite <- Rabs_mult, (Rabs_right (rho i * v i * (rho i * v i))) in S by (apply Rle_ge, Rle_0_sqr).
    replace (K * Rabs (w i) * (K * Rabs (w i))) with (K * K * (Rabs (w i) * Rabs (w i))) in S by ring.
    rewrite <- Rabs_mult, (Rabs_right (w i * w i)) in S by (apply Rle_ge, Rle_0_sqr). exact S.
  Qed.
End rows.
