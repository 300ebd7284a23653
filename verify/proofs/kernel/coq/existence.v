(* Quadratic f and g: the penalty Lagrangian has a minimiser in y, one only, whatever the rows and their weights are.
   H = alpha^-2 g_yy + f_yy, k_i = rho_i / alpha^4 on row i < N; that H can be inverted is asked for, and
   proven where y has finitely many components. *)
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

  (* In R^m positivity is enough: y a combination of m vectors, one after the other made H-orthogonal to those before. *)
  Lemma solvable_on m (b : nat -> V) : forall c, exists e, (exists a, forall x, inner e x = sum m (fun i => a i * inner (b i) x)) /\
    forall i, (i < m)%nat -> inner (H e) (b i) + inner c (b i) = 0.
  Proof.
    induction m as [|m IH]; intro c.
    - exists zero. split; [exists (fun _ => 0); intro; now rewrite inner_zero|intros; lia].
    - destruct (IH c) as [e [[a Ea] He]]. destruct (IH (H (b m))) as [w [[aw Ew] Hw]]. set (z := add (b m) w).
      assert (along : forall y, (forall i, (i < m)%nat -> inner y (b i) = 0) -> inner y w = 0).
      { intros y Hy. rewrite inner_sym, Ew, (sum_ext m _ (fun _ => 0)), sum_const; [ring|]. intros i Hi. rewrite (inner_sym _ (b i)), Hy by assumption. ring. }
      assert (zb : forall i, (i < m)%nat -> inner (H z) (b i) = 0) by (intros i Hi; unfold z; rewrite H_add; pose proof (Hw i Hi); lra).
      assert (zz : inner (H z) (b m) = inner (H z) z) by (pose proof (inner_add_r V (b m) w (H z)) as Q; rewrite (along (H z) zb) in Q; change (add (b m) w) with z in Q; lra).
      assert (ew : inner (H e) w + inner c w = 0).
      { rewrite <- inner_add. apply along. intros i Hi. rewrite inner_add. now apply He. }
      destruct (Req_dec (inner z z) 0) as [n0|n1].
      + exists e. split.
        * exists (fun i => if Nat.eq_dec i m then 0 else a i). intro x. simpl. destruct (Nat.eq_dec m m); [|contradiction]. rewrite Ea, Rmult_0_l, Rplus_0_r.
          apply sum_ext. intros i Hi. destruct (Nat.eq_dec i m); [lia|reflexivity].
        * assert (null : forall y, inner y z = 0) by (intro y; pose proof (cauchy_schwarz_sq V y z) as CS; rewrite n0, Rmult_0_r in CS; nra).
          intros i Hi. destruct (Nat.eq_dec i m) as [->|ne]; [|apply He; lia]. pose proof (null (H e)) as A. pose proof (null c) as B. unfold z in A, B.
          rewrite inner_add_r in A, B. lra.
      + assert (hz : 0 < inner (H z) z) by (pose proof (H_pos z); pose proof (inner_pos V z); assert (0 < mu * inner z z) by (apply Rmult_lt_0_compat; lra); lra).
        set (t := - (inner (H e) (b m) + inner c (b m)) / inner (H z) z). exists (add e (scale t z)). split.
        * exists (fun i => if Nat.eq_dec i m then t else a i + t * aw i). intro x. simpl. destruct (Nat.eq_dec m m); [|contradiction].
          rewrite (sum_ext m _ (fun i => a i * inner (b i) x + t * (aw i * inner (b i) x))).
          -- rewrite sum_plus, sum_scale, <- Ea, <- Ew, inner_add, inner_scale. unfold z. rewrite inner_add. ring.
          -- intros i Hi. destruct (Nat.eq_dec i m); [lia|ring].
        * intros i Hi. rewrite H_add, H_scale. destruct (Nat.eq_dec i m) as [->|ne].
          -- rewrite zz. unfold t. field. lra.
          -- rewrite zb by lia. pose proof (He i ltac:(lia)). lra.
  Qed.

  (* y has m components: then H is onto, and the next premise holds *)
  Theorem invertible m (b : nat -> V) : (forall v, exists a, forall x, inner v x = sum m (fun i => a i * inner (b i) x)) ->
    forall c, exists e, forall v, inner (H e) v + inner c v = 0.
  Proof.
    intros span c. destruct (solvable_on m b c) as [e [_ He]]. exists e. intro v. destruct (span v) as [a Ha].
    rewrite (inner_sym _ (H e)), (inner_sym _ c), !Ha, <- sum_plus, (sum_ext m _ (fun _ => 0)), sum_const; [ring|].
    intros i Hi. rewrite (inner_sym _ (b i) (H e)), (inner_sym _ (b i) c). pose proof (He i Hi) as E. replace (inner c (b i)) with (- inner (H e) (b i)) by lra. ring.
  Qed.

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
