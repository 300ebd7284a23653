(* Query points of a block around their mean: each within (M + 1) D / 2 of it.  Letters of outer.v: z_t on the segment from x_t
   to x_t+1 = x_t + step_t, |step_t| <= D. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer rows.
Local Open Scope R_scope.

Section block.
  Variables (V : space) (D : R) (x step z : nat -> V) (s : nat -> R).
  Hypothesis D_pos : 0 <= D.
  Hypothesis short : forall t, norm (step t) <= D.
  Hypothesis between : forall t, 0 <= s t <= 1.
  Hypothesis moves : forall t v, inner (x (S t)) v = inner (x t) v + inner (step t) v.
  Hypothesis query : forall t v, inner (z t) v = inner (x t) v + s t * inner (step t) v.

  Lemma step_le t v : - (D * norm v) <= inner (step t) v <= D * norm v.
  Proof.
    pose proof (cauchy_schwarz V (step t) v). pose proof (cauchy_schwarz_neg V (step t) v). pose proof (norm_pos V v).
    assert (norm (step t) * norm v <= D * norm v) by (apply Rmult_le_compat_r; [lra|apply short]). lra.
  Qed.

  Lemma points_apart t k v : Rabs (inner (x (t + k)%nat) v - inner (x t) v) <= INR k * (D * norm v).
  Proof.
    induction k as [|k IH]; [rewrite Nat.add_0_r; simpl; rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; lra|].
    rewrite S_INR. replace (t + S k)%nat with (S (t + k)) by lia. rewrite moves. pose proof (step_le (t + k) v) as B.
    apply Rabs_le. pose proof (Rle_abs (inner (x (t + k)%nat) v - inner (x t) v)).
    pose proof (Rle_abs (- (inner (x (t + k)%nat) v - inner (x t) v))) as N. rewrite Rabs_Ropp in N. lra.
  Qed.

  (* z_t+k+1 and z_t: at most k + 2 steps apart *)
  Lemma queries_apart t k v : Rabs (inner (z (t + S k)%nat) v - inner (z t) v) <= (INR (S k) + 1) * (D * norm v).
  Proof.
    rewrite !query, S_INR. replace (t + S k)%nat with (S t + k)%nat by lia. pose proof (points_apart (S t) k v) as A. rewrite moves in A.
    pose proof (step_le t v) as B. pose proof (step_le (S t + k) v) as C. pose proof (between t) as b. pose proof (between (S t + k)) as c.
    pose proof (norm_pos V v). assert (d : 0 <= D * norm v) by now apply Rmult_le_pos.
    set (a1 := inner (x (S t + k)%nat) v) in *. set (a0 := inner (x t) v) in *. set (p := inner (step t) v) in *. set (q := inner (step (S t + k)%nat) v) in *.
    pose proof (Rle_abs (a1 - (a0 + p))). pose proof (Rle_abs (- (a1 - (a0 + p)))) as N. rewrite Rabs_Ropp in N. apply Rabs_le.
    set (w := s (S t + k)%nat) in *. set (y := s t) in *.
    assert (E1 : - (D * norm v) <= w * q <= D * norm v) by (split; nra). assert (E2 : - (D * norm v) <= (1 - y) * p <= D * norm v) by (split; nra).
    replace (a1 + w * q - (a0 + y * p)) with (a1 - (a0 + p) + w * q + (1 - y) * p) by ring. lra.
  Qed.

  (* how many steps apart two queries are at most *)
  Definition apart (p j : nat) : R := if Nat.eq_dec j p then 0 else Rabs (INR p - INR j) + 1.

  Lemma apart_le t p j v : Rabs (inner (z (t + p)%nat) v - inner (z (t + j)%nat) v) <= apart p j * (D * norm v).
  Proof.
    unfold apart. destruct (Nat.eq_dec j p) as [->|ne]; [rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; lra|].
    destruct (le_lt_dec p j) as [le|lt].
    - rewrite <- Rabs_Ropp. replace (- (inner (z (t + p)%nat) v - inner (z (t + j)%nat) v)) with (inner (z (t + j)%nat) v - inner (z (t + p)%nat) v) by ring.
      replace (t + j)%nat with (t + p + S (j - p - 1))%nat by lia. pose proof (queries_apart (t + p) (j - p - 1) v) as Q.
      replace (S (j - p - 1)) with (j - p)%nat in * by lia. rewrite minus_INR in Q by lia.
      rewrite <- (Rabs_Ropp (INR p - INR j)), (Rabs_right (- (INR p - INR j))); [replace (- (INR p - INR j) + 1) with (INR j - INR p + 1) by ring; exact Q|].
      apply le_INR in le. lra.
    - replace (t + p)%nat with (t + j + S (p - j - 1))%nat by lia. pose proof (queries_apart (t + j) (p - j - 1) v) as Q.
      replace (S (p - j - 1)) with (p - j)%nat in * by lia. rewrite minus_INR in Q by lia. rewrite (Rabs_right (INR p - INR j)); [exact Q|]. apply lt_INR in lt. lra.
  Qed.

  Lemma before p m : (m <= p)%nat -> 2 * sum m (apart p) = INR m * (2 * INR p + 3 - INR m).
  Proof.
    induction m as [|m IH]; intro H; [simpl; ring|]. rewrite S_INR. simpl sum. rewrite Rmult_plus_distr_l, IH by lia. unfold apart.
    destruct (Nat.eq_dec m p); [lia|]. rewrite Rabs_right; [ring|]. assert (L : (m < p)%nat) by lia. apply lt_INR in L. lra.
  Qed.

  Lemma all_apart p q : 2 * sum (p + 1 + q) (apart p) = INR p * (INR p + 3) + INR q * (INR q + 3).
  Proof.
    induction q as [|q IH].
    - replace (p + 1 + 0)%nat with (S p) by lia. simpl sum. rewrite Rmult_plus_distr_l, before by lia. unfold apart.
      destruct (Nat.eq_dec p p); [simpl; ring|contradiction].
    - replace (p + 1 + S q)%nat with (S (p + 1 + q)) by lia. simpl sum. rewrite Rmult_plus_distr_l, IH, S_INR. unfold apart.
      destruct (Nat.eq_dec (p + 1 + q) p); [lia|]. rewrite !plus_INR. simpl INR. pose proof (pos_INR q).
      rewrite <- Rabs_Ropp, Rabs_right; [ring|lra].
  Qed.

  (* ‖z_t+p − mean of z_t, …, z_t+M−1‖ ≤ (M + 1)D/2 *)
  Theorem block_radius (mean : V) t p M : (p < M)%nat -> (forall v, INR M * inner mean v = sum M (fun j => inner (z (t + j)%nat) v)) ->
    norm (sub (z (t + p)%nat) mean) <= (INR M + 1) / 2 * D.
  Proof.
    intros Hp Hm. assert (M0 : 0 < INR M) by (apply lt_0_INR; lia).
    apply norm_dual; [apply Rmult_le_pos; lra|]. intro v. rewrite inner_sub. pose proof (norm_pos V v). assert (d : 0 <= D * norm v) by now apply Rmult_le_pos.
    assert (S1 : INR M * (inner (z (t + p)%nat) v - inner mean v) <= sum M (apart p) * (D * norm v)).
    { rewrite Rmult_minus_distr_l, Hm, <- sum_const, <- sum_minus, Rmult_comm, <- sum_scale. apply sum_le. intros j Hj.
      rewrite Rmult_comm. apply Rle_trans with (2 := apart_le t p j v). apply Rle_abs. }
    pose proof (all_apart p (M - 1 - p)) as A. replace (p + 1 + (M - 1 - p))%nat with M in A by lia. rewrite !minus_INR in A by lia. simpl (INR 1) in A.
    assert (P : 0 <= INR p <= INR M - 1).
    { split; [apply pos_INR|]. assert (L : (p + 1 <= M)%nat) by lia. apply le_INR in L. rewrite plus_INR in L. simpl in L. lra. }
    assert (B : sum M (apart p) <= INR M * ((INR M + 1) / 2)) by nra.
    assert (C : sum M (apart p) * (D * norm v) <= INR M * ((INR M + 1) / 2) * (D * norm v)) by (apply Rmult_le_compat_r; lra).
    apply (Rmult_le_reg_l (INR M)); [assumption|]. lra.
  Qed.
End block.
