(* Quadratic f and g: the penalty Lagrangian has a minimiser in y, one only, whatever the rows and their weights are.
   H = alpha^-2 g_yy + f_yy, k_i = rho_i / alpha^4 on row i < N; that H can be inverted is asked for (it can in finite dimension). *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer rows.
Local Open Scope R_scope.

Section existence.
  Variables (V : space) (H : V -> V) (row : nat -> V) (k : nat -> R) (mu : R).
  Hypothesis H_add : forall u v w, inner (H (add u v)) w = inner (H u) w + inner (H v) w.
  Hypothesis H_scale : forall a v w, inner (H (scale a v)) w = a * inner (H v) w.
  Hypothesis H_sym : forall v w, inner (H v) w = inner (H w) v.
  Hypothesis mu_pos : 0 < mu.
  Hypothesis H_pos : forall v, mu * inner v v <= inner (H v) v.
  Hypothesis solvable : forall c, exists e, forall v, inner (H e) v + inner c v = 0.

  (* the weighted rows' part of grad_y L, b_i = row i *)
  Definition pull N e v := sum N (fun i => k i * inner (row i) e * inner (row i) v).

  (* the quadratic part of L around ys, along c = grad_y f *)
  Definition penalty N c e := inner c e + inner (H e) e / 2 + pull N e e / 2.

  Lemma pull_pos N v : (forall i, (i < N)%nat -> 0 <= k i) -> 0 <= pull N v v.
  Proof.
    intro Hk. apply sum_pos. intros i Hi. rewrite Rmult_assoc. pose proof (Hk i Hi). pose proof (Rle_0_sqr (inner (row i) v)). unfold Rsqr in *.
    now apply Rmult_le_pos.
  Qed.

  (* one row after the other *)
  Theorem stationary_point N : (forall i, (i < N)%nat -> 0 <= k i) ->
    forall c, exists e, forall v, inner (H e) v + inner c v + pull N e v = 0.
  Proof.
    unfold pull. induction N as [|N IH]; intros Hk c; simpl.
    - destruct (solvable c) as [e He]. exists e. intro v. rewrite He. ring.
    - assert (Hk' : forall i, (i < N)%nat -> 0 <= k i) by (intros; apply Hk; lia). pose proof (Hk N (Nat.lt_succ_diag_r N)) as kN.
      destruct (IH Hk' c) as [e He]. destruct (IH Hk' (row N)) as [z Hz]. set (x := inner (row N) e). set (y := inner (row N) z).
      assert (yn : y <= 0).
      { pose proof (Hz z) as Z. fold y in Z. pose proof (pull_pos N z Hk') as P. unfold pull in P. pose proof (H_pos z). pose proof (inner_pos V z).
        assert (0 <= mu * inner z z) by (apply Rmult_le_pos; lra). lra. }
      assert (d : 0 < 1 - k N * y) by (assert (0 <= k N * - y) by (apply Rmult_le_pos; lra); lra).
      set (t := k N * x / (1 - k N * y)). assert (Ht : k N * (x + t * y) = t) by (unfold t; field; lra).
      exists (add e (scale t z)). intro v. rewrite H_add, H_scale, inner_add_r, inner_scale_r. fold x y. rewrite Ht.
      rewrite (sum_ext N _ (fun i => k i * inner (row i) e * inner (row i) v + t * (k i * inner (row i) z * inner (row i) v)))
        by (intros; rewrite inner_add_r, inner_scale_r; ring).
      rewrite sum_plus, sum_scale. specialize (He v). specialize (Hz v). nra.
  Qed.

  Lemma expansion N c e d :
    penalty N c (add e d) - penalty N c e = (inner (H e) d + inner c d + pull N e d) + inner (H d) d / 2 + pull N d d / 2.
  Proof.
    unfold penalty, pull. rewrite inner_add_r, H_add, !inner_add_r, (H_sym d e).
    rewrite (sum_ext N (fun i => k i * inner (row i) (add e d) * inner (row i) (add e d))
      (fun i => (k i * inner (row i) e * inner (row i) e + 2 * (k i * inner (row i) e * inner (row i) d)) + k i * inner (row i) d * inner (row i) d))
      by (intros; rewrite inner_add_r; ring).
    rewrite !sum_plus, sum_scale. lra.
  Qed.

  (* a stationary point is the minimiser, and every other point is worse by mu‖d‖²/2 *)
  Theorem stationary_is_minimal N c e : (forall i, (i < N)%nat -> 0 <= k i) ->
    (forall v, inner (H e) v + inner c v + pull N e v = 0) -> forall d, penalty N c e + mu * inner d d / 2 <= penalty N c (add e d).
  Proof.
    intros Hk E d. pose proof (expansion N c e d) as X. rewrite E in X. pose proof (pull_pos N d Hk). pose proof (H_pos d). lra.
  Qed.
End existence.
