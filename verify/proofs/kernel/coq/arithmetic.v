(* Numbers and first steps of the text: batch sizes, blocks, and what Algorithm 2 does while nothing is clipped. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer.
Local Open Scope R_scope.

(* N_g = max(1, ⌈σ²/α²⌉): the least whole number of at least 1 with σ² ≤ N_gα² *)
Theorem batch_integer (s alpha : R) : 0 <= s -> 0 < alpha ->
  exists N : nat, (1 <= N)%nat /\ s <= INR N * (alpha * alpha) /\ forall n : nat, (1 <= n)%nat -> s <= INR n * (alpha * alpha) -> (N <= n)%nat.
Proof.
  intros Hs Ha. assert (u : 0 < alpha * alpha) by nra.
  assert (some : exists N : nat, (1 <= N)%nat /\ s <= INR N * (alpha * alpha)).
  { destruct (archimed (s / (alpha * alpha))) as [above _]. assert (x0 : 0 <= s / (alpha * alpha)) by (apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat]).
    set (k := up (s / (alpha * alpha))) in *. assert (z : (0 < k)%Z) by (apply lt_IZR; lra).
    exists (Z.to_nat k). split; [lia|]. rewrite INR_IZR_INZ, Z2Nat.id by lia.
    apply Rlt_le, (Rmult_le_compat_r (alpha * alpha)) in above; [|lra]. replace (s / (alpha * alpha) * (alpha * alpha)) with s in above by (field; lra). exact above. }
  destruct some as [N0 [p0 q0]]. revert p0 q0. induction N0 as [N0 IH] using lt_wf_ind. intros p0 q0.
  destruct (le_lt_dec N0 1) as [one|more].
  - exists N0. split; [assumption|]. split; [assumption|]. intros. lia.
  - destruct (Rle_dec s (INR (N0 - 1) * (alpha * alpha))) as [less|not].
    + apply (IH (N0 - 1)%nat); [lia|lia|assumption].
    + exists N0. split; [assumption|]. split; [assumption|]. intros n Hn Hq. destruct (le_lt_dec N0 n) as [|lt]; [assumption|]. exfalso. apply not.
      apply Rle_trans with (1 := Hq). apply Rmult_le_compat_r; [lra|]. apply le_INR. lia.
Qed.

(* D = δ/M with a whole M ≥ 1: MD is the radius, exactly *)
Theorem whole_radius (M : nat) (radius : R) : (1 <= M)%nat -> INR M * (radius / INR M) = radius.
Proof. intro H. field. apply not_0_INR. lia. Qed.

(* T = KM: the K blocks hold all steps; else up to M − 1 of them are in none *)
Theorem whole_steps (K M T : nat) : (1 <= M)%nat -> ((K * M) / M * M = K * M)%nat /\ (T - T / M * M <= M - 1)%nat.
Proof.
  intro H. split; [now rewrite Nat.div_mul by lia|]. pose proof (Nat.div_mod T M ltac:(lia)). pose proof (Nat.mod_upper_bound T M ltac:(lia)). nia.
Qed.

Section first_steps.
  Variables (V : space) (D eta : R) (g step : nat -> V).
  Hypothesis update : forall t, step (S t) = clip V D (sub (step t) (scale eta (g t))).
  Hypothesis start : step O = zero.

  (* while nothing is clipped: Δ_t = −ηΣ_{s<t} g_s *)
  Theorem momentum t : (forall s, (s < t)%nat -> norm (sub (step s) (scale eta (g s))) <= D) ->
    forall v, inner (step t) v = - eta * inner (vsum t g) v.
  Proof.
    intros free v. induction t as [|t IH]; [rewrite start; simpl; rewrite inner_zero; ring|].
    rewrite update. unfold clip. destruct (Rle_dec (norm (sub (step t) (scale eta (g t)))) D) as [|n]; [|exfalso; apply n, free; lia].
    rewrite inner_sub, inner_scale, IH by (intros; apply free; lia). simpl. rewrite inner_add. ring.
  Qed.

  (* z₁ = x₁ = x₀, and of T steps at most T − 1 move *)
  Theorem first_step (x z : nat -> V) (s : R) T : (forall v, inner (x 1%nat) v = inner (x O) v + inner (step O) v) ->
    (forall v, inner (z O) v = inner (x O) v + s * inner (step O) v) -> (1 <= T)%nat ->
    (forall v, inner (x 1%nat) v = inner (x O) v /\ inner (z O) v = inner (x O) v) /\
    sum T (fun t => if Req_EM_T (norm (step t)) 0 then 0 else 1) <= INR T - 1.
  Proof.
    intros Hx Hz HT. split.
    - intro v. rewrite Hx, Hz, start, inner_zero. split; ring.
    - induction T as [|T IH]; [lia|]. rewrite S_INR. simpl. destruct (Nat.eq_dec T 0) as [->|ne].
      + rewrite start. assert (Z : norm (@zero V) = 0) by (unfold norm; rewrite inner_zero; apply sqrt_0). simpl. destruct (Req_EM_T (norm zero) 0); [lra|contradiction].
      + assert (sum T (fun t => if Req_EM_T (norm (step t)) 0 then 0 else 1) <= INR T - 1) by (apply IH; lia). destruct (Req_EM_T (norm (step T)) 0); lra.
  Qed.
End first_steps.
