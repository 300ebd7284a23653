(* Several rows with weights between 0 and 1: the estimate is a convex combination of the estimates of pieces, in each of
   which every row is either dropped or enforced as an equation.  Rows i < N; k_i = rho_i / alpha^4; H is symmetric and
   mu-positive (it may hold further rows, whose weights do not switch), c any vector; n_i is what row i pulls with.  That H
   alone can be inverted is asked for. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer rows.
Local Open Scope R_scope.

(* The convex hull: the smallest set that has the points of Q and, with two points, all between them. *)
Inductive hull {X : space} (Q : X -> Prop) : X -> Prop :=
  | hull_point g : Q g -> hull Q g
  | hull_between w p q g : 0 <= w <= 1 -> hull Q p -> hull Q q -> (forall v, inner g v = (1 - w) * inner p v + w * inner q v) -> hull Q g.

(* Points of Q each within K of one of Q': so are the points of their hulls. *)
Lemma hull_near (X : space) (Q Q' : X -> Prop) K (g : X) :
  (forall p, Q p -> exists p', Q' p' /\ norm (sub p p') <= K) -> hull Q g -> exists g', hull Q' g' /\ norm (sub g g') <= K.
Proof.
  intros near H. induction H as [g Hg|w p q g Hw Hp [p' [Pp Np]] Hq [q' [Pq Nq]] E].
  - destruct (near g Hg) as [g' [A B]]. exists g'. split; [now apply hull_point|exact B].
  - exists (add (scale (1 - w) p') (scale w q')). split.
    + apply hull_between with (w := w) (p := p') (q := q'); try assumption. intro v. now rewrite inner_add, !inner_scale.
    + pose proof (norm_pos _ (sub p p')). apply norm_dual; [lra|]. intro v. rewrite inner_sub, E, inner_add, !inner_scale.
      pose proof (cauchy_schwarz _ (sub p p') v) as C1. pose proof (cauchy_schwarz _ (sub q q') v) as C2. rewrite inner_sub in C1, C2. pose proof (norm_pos _ v).
      assert (norm (sub p p') * norm v <= K * norm v) by (apply Rmult_le_compat_r; lra).
      assert (norm (sub q q') * norm v <= K * norm v) by (apply Rmult_le_compat_r; lra). nra.
Qed.

Lemma one_of_sum N f j : (j < N)%nat -> (forall i, (i < N)%nat -> i <> j -> 0 <= f i) -> f j <= sum N f.
Proof.
  induction N as [|N IH]; intros Hj Hf; [lia|]. simpl. destruct (Nat.eq_dec j N) as [->|ne].
  - assert (0 <= sum N f) by (apply sum_pos; intros; apply Hf; lia). lra.
  - assert (f j <= sum N f) by (apply IH; [lia|intros; apply Hf; lia]). assert (0 <= f N) by (apply Hf; lia). lra.
Qed.

Lemma sum_one N j x : (j < N)%nat -> sum N (fun i => if Nat.eq_dec i j then x i else 0) = x j.
Proof.
  intro Hj. induction N as [|N IH]; [lia|]. simpl. destruct (Nat.eq_dec N j) as [->|ne].
  - rewrite (sum_ext j _ (fun _ => 0)), sum_const; [ring|]. intros k Hk. destruct (Nat.eq_dec k j); [lia|reflexivity].
  - rewrite IH by lia. ring.
Qed.

Inductive mode := dropped | enforced | weighted.

Section several.
  Variables (V : space) (N : nat) (H : V -> V) (row : nat -> V) (k : nat -> R) (mu : R).
  Hypothesis H_add : forall u v w, inner (H (add u v)) w = inner (H u) w + inner (H v) w.
  Hypothesis H_scale : forall a v w, inner (H (scale a v)) w = a * inner (H v) w.
  Hypothesis H_zero : forall w, inner (H zero) w = 0.
  Hypothesis H_sym : forall v w, inner (H v) w = inner (H w) v.
  Hypothesis mu_pos : 0 < mu.
  Hypothesis H_pos : forall v, mu * inner v v <= inner (H v) v.
  Hypothesis k_pos : forall i, (i < N)%nat -> 0 <= k i.

  (* what a row demands of its value x and its pull n *)
  Definition obeys (s : mode) (weight x n : R) : Prop :=
    match s with dropped => n = 0 | enforced => x = 0 | weighted => n = weight * x end.

  Definition solves (s : nat -> mode) (c e : V) (n : nat -> R) : Prop :=
    (forall v, inner (H e) v + inner c v + sum N (fun i => n i * inner (row i) v) = 0) /\
    forall i, (i < N)%nat -> obeys (s i) (k i) (inner (row i) e) (n i).

  Definition set (s : nat -> mode) j m i := if Nat.eq_dec i j then m else s i.

  Lemma pos v : 0 <= inner (H v) v.
  Proof. pose proof (H_pos v). pose proof (inner_pos V v). nra. Qed.

  (* rows in the same mode at two solutions never pull apart *)
  Lemma same_mode m weight x x' n n' : 0 <= weight -> obeys m weight x n -> obeys m weight x' n' -> 0 <= (n - n') * (x - x').
  Proof. intros Hw A B. destruct m; simpl in A, B; subst; [lra|lra|]. pose proof (Rle_0_sqr (x - x')) as q. unfold Rsqr in q. nra. Qed.

  Lemma difference s s' c e e' n n' : solves s c e n -> solves s' c e' n' ->
    inner (H (sub e e')) (sub e e') + sum N (fun i => (n i - n' i) * (inner (row i) e - inner (row i) e')) = 0.
  Proof.
    intros [A _] [B _]. specialize (A (sub e e')). specialize (B (sub e e')).
    assert (E : sum N (fun i => (n i - n' i) * (inner (row i) e - inner (row i) e'))
      = sum N (fun i => n i * inner (row i) (sub e e')) - sum N (fun i => n' i * inner (row i) (sub e e'))).
    { rewrite <- sum_minus. apply sum_ext. intros. rewrite inner_sub_r. ring. }
    rewrite E. unfold sub at 1. rewrite H_add, H_scale. lra.
  Qed.

  (* One row with a weight, every other one in any mode: between the solutions without it and with it enforced. *)
  Lemma one_row s j c e0 n0 e1 n1 : (j < N)%nat -> s j = weighted ->
    solves (set s j dropped) c e0 n0 -> solves (set s j enforced) c e1 n1 ->
    exists w, 0 <= w <= 1 /\ solves s c (add (scale (1 - w) e0) (scale w e1)) (fun i => (1 - w) * n0 i + w * n1 i).
  Proof.
    intros Hj Hs S0 S1. set (x0 := inner (row j) e0). set (p := n1 j).
    assert (same : forall i m, i <> j -> set s j m i = s i) by (intros i m ne; unfold set; destruct (Nat.eq_dec i j); [contradiction|reflexivity]).
    assert (here : forall m, set s j m j = m) by (intro m; unfold set; destruct (Nat.eq_dec j j); [reflexivity|contradiction]).
    assert (z0 : n0 j = 0) by (destruct S0 as [_ O]; specialize (O j Hj); rewrite here in O; exact O).
    assert (z1 : inner (row j) e1 = 0) by (destruct S1 as [_ O]; specialize (O j Hj); rewrite here in O; exact O).
    assert (sign : 0 <= p * x0).
    { pose proof (difference _ _ _ _ _ _ _ S1 S0) as D. pose proof (pos (sub e1 e0)) as P.
      pose proof (one_of_sum N (fun i => (n1 i - n0 i) * (inner (row i) e1 - inner (row i) e0)) j Hj) as one. cbv beta in one.
      assert (le : (n1 j - n0 j) * (inner (row j) e1 - inner (row j) e0) <= sum N (fun i => (n1 i - n0 i) * (inner (row i) e1 - inner (row i) e0))).
      { apply one. intros i Hi ne. destruct S0 as [_ O0]. destruct S1 as [_ O1]. specialize (O0 i Hi). specialize (O1 i Hi).
        rewrite same in O0, O1 by assumption. now apply same_mode with (m := s i) (weight := k i); [apply k_pos| |]. }
      rewrite z0, z1 in le. fold x0 p in le. lra. }
    assert (W : exists w, 0 <= w <= 1 /\ w * p = k j * ((1 - w) * x0)).
    { pose proof (k_pos j Hj) as kj. destruct (Req_dec (k j * x0) 0) as [z|nz].
      - exists 0. split; [lra|]. replace (k j * ((1 - 0) * x0)) with (k j * x0) by ring. rewrite z. ring.
      - assert (x0 <> 0) by (intro Z; apply nz; rewrite Z; ring). assert (k j <> 0) by (intro Z; apply nz; rewrite Z; ring).
        assert (q : 0 < x0 * x0) by (destruct (Rtotal_order x0 0) as [l|[l|l]]; nra). assert (kq : 0 < k j * (x0 * x0)) by (apply Rmult_lt_0_compat; lra).
        exists (k j * (x0 * x0) / (k j * (x0 * x0) + p * x0)). assert (d : 0 < k j * (x0 * x0) + p * x0) by lra. split; [split|].
        + apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat].
        + apply (Rmult_le_reg_r (k j * (x0 * x0) + p * x0)); [assumption|].
          replace (k j * (x0 * x0) / (k j * (x0 * x0) + p * x0) * (k j * (x0 * x0) + p * x0)) with (k j * (x0 * x0)) by (field; lra). lra.
        + field. lra. }
    destruct W as [w [w01 Hw]]. exists w. split; [assumption|]. split.
    - intro v. destruct S0 as [A _]. destruct S1 as [B _]. specialize (A v). specialize (B v). rewrite H_add, !H_scale.
      assert (E : sum N (fun i => ((1 - w) * n0 i + w * n1 i) * inner (row i) v)
        = (1 - w) * sum N (fun i => n0 i * inner (row i) v) + w * sum N (fun i => n1 i * inner (row i) v)).
      { rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros. ring. }
      rewrite E. replace ((1 - w) * inner (H e0) v + w * inner (H e1) v + inner c v + ((1 - w) * sum N (fun i => n0 i * inner (row i) v) + w * sum N (fun i => n1 i * inner (row i) v)))
        with ((1 - w) * (inner (H e0) v + inner c v + sum N (fun i => n0 i * inner (row i) v)) + w * (inner (H e1) v + inner c v + sum N (fun i => n1 i * inner (row i) v))) by ring.
      rewrite A, B. ring.
    - intros i Hi. rewrite inner_add_r, !inner_scale_r. destruct (Nat.eq_dec i j) as [->|ne].
      + rewrite Hs. simpl. rewrite z0, z1. fold x0 p. rewrite Rmult_0_r, Rmult_0_r, Rplus_0_l, Rplus_0_r. exact Hw.
      + destruct S0 as [_ O0]. destruct S1 as [_ O1]. specialize (O0 i Hi). specialize (O1 i Hi). rewrite same in O0, O1 by assumption.
        destruct (s i); simpl in *; rewrite O0, O1; ring.
  Qed.

  (* Independent rows, any of them enforced and the others dropped: solved for every right side, where H alone is. *)
  Hypothesis solvable : forall c, exists e, forall v, inner (H e) v + inner c v = 0.
  Hypothesis independent : forall n, (forall v, sum N (fun i => n i * inner (row i) v) = 0) -> forall i, (i < N)%nat -> n i = 0.

  Lemma pieces_up_to m : (m <= N)%nat -> forall s c, (forall i, (i < N)%nat -> s i <> weighted) ->
    (forall i, (m <= i < N)%nat -> s i = dropped) -> exists e n, solves s c e n.
  Proof.
    induction m as [|m IH]; intros Hm s c pure rest.
    - destruct (solvable c) as [e He]. exists e, (fun _ => 0). split.
      + intro v. rewrite (sum_ext N _ (fun _ => 0)), sum_const; [|intros; ring]. rewrite He. ring.
      + intros i Hi. rewrite rest by lia. reflexivity.
    - destruct (s m) eqn:Em.
      + apply IH; [lia|assumption|]. intros i Hi. destruct (Nat.eq_dec i m) as [->|]; [assumption|apply rest; lia].
      + set (s0 := set s m dropped).
        assert (p0 : forall i, (i < N)%nat -> s0 i <> weighted) by (intros i Hi; unfold s0, set; destruct (Nat.eq_dec i m); [discriminate|now apply pure]).
        assert (r0 : forall i, (m <= i < N)%nat -> s0 i = dropped) by (intros i Hi; unfold s0, set; destruct (Nat.eq_dec i m); [reflexivity|apply rest; lia]).
        assert (other : forall i, i <> m -> s0 i = s i) by (intros i ne; unfold s0, set; destruct (Nat.eq_dec i m); [contradiction|reflexivity]).
        destruct (IH ltac:(lia) s0 c p0 r0) as [e [n [E O]]]. destruct (IH ltac:(lia) s0 (row m) p0 r0) as [z [p [Z Q]]].
        assert (energy : inner (row m) z = - inner (H z) z).
        { pose proof (Z z) as Zz. rewrite (sum_ext N _ (fun _ => 0)), sum_const in Zz; [lra|]. intros i Hi. specialize (Q i Hi). pose proof (p0 i Hi).
          destruct (s0 i); simpl in Q; [rewrite Q; ring|rewrite Q; ring|contradiction]. }
        assert (nz : inner (row m) z <> 0).
        { intro Z0. assert (zz : inner (H z) z = 0) by lra.
          assert (weak : forall v, inner (H z) v = 0).
          { intro v. pose proof (energy_cauchy_schwarz V H H_add H_scale H_zero H_sym pos z v) as CS. rewrite zz, Rmult_0_l in CS. nra. }
          assert (I : p m + 1 = 0).
          { rewrite <- (independent (fun i => p i + (if Nat.eq_dec i m then 1 else 0))) with (i := m); [|intro v|lia].
            - destruct (Nat.eq_dec m m); [reflexivity|contradiction].
            - pose proof (Z v) as Zv. rewrite weak in Zv. rewrite (sum_ext N _ (fun i => p i * inner (row i) v + (if Nat.eq_dec i m then inner (row i) v else 0))).
              + rewrite sum_plus, (sum_one N m (fun i => inner (row i) v)) by lia. lra.
              + intros i Hi. destruct (Nat.eq_dec i m); ring. }
          assert (P0 : p m = 0) by (specialize (Q m ltac:(lia)); rewrite r0 in Q by lia; exact Q). lra. }
        set (t := - inner (row m) e / inner (row m) z).
        exists (add e (scale t z)), (fun i => n i + t * p i + (if Nat.eq_dec i m then t else 0)). split.
        * intro v. rewrite H_add, H_scale. specialize (E v). specialize (Z v).
          rewrite (sum_ext N _ (fun i => (n i * inner (row i) v + t * (p i * inner (row i) v)) + (if Nat.eq_dec i m then t * inner (row i) v else 0)))
            by (intros i Hi; destruct (Nat.eq_dec i m); ring).
          rewrite !sum_plus, sum_scale, (sum_one N m (fun i => t * inner (row i) v)) by lia.
          replace (inner (H e) v + t * inner (H z) v + inner c v + (sum N (fun i => n i * inner (row i) v) + t * sum N (fun i => p i * inner (row i) v) + t * inner (row m) v))
            with ((inner (H e) v + inner c v + sum N (fun i => n i * inner (row i) v)) + t * (inner (H z) v + inner (row m) v + sum N (fun i => p i * inner (row i) v))) by ring.
          rewrite E, Z. ring.
        * intros i Hi. rewrite inner_add_r, inner_scale_r. destruct (Nat.eq_dec i m) as [->|ne].
          -- rewrite Em. simpl. unfold t. field. assumption.
          -- specialize (O i Hi). specialize (Q i Hi). rewrite other in O, Q by assumption. pose proof (pure i Hi).
             destruct (s i); simpl in *; [rewrite O, Q; ring|rewrite O, Q; ring|contradiction].
      + exfalso. now apply (pure m).
  Qed.

  (* every choice of rows has its piece *)
  Theorem pieces_exist s c : (forall i, (i < N)%nat -> s i <> weighted) -> exists e n, solves s c e n.
  Proof. intro pure. apply (pieces_up_to N); [lia|assumption|lia]. Qed.

  (* The minimiser, and with it every linear quantity, is a convex combination of the pieces'. *)
  Section estimate.
    Variables (X : space) (est : V -> (nat -> R) -> X) (T : X -> V) (A : nat -> X) (fx : X) (c : V).
    Hypothesis estimate : forall e n dx, inner (est e n) dx = inner fx dx + inner (T dx) e - sum N (fun i => n i * inner (A i) dx).

    Definition of_piece (g : X) : Prop := exists s e n, (forall i, (i < N)%nat -> s i <> weighted) /\ solves s c e n /\ g = est e n.

    Lemma blend_up_to m : (m <= N)%nat -> forall s, (forall i, (m <= i < N)%nat -> s i <> weighted) ->
      exists e n, solves s c e n /\ hull of_piece (est e n).
    Proof.
      induction m as [|m IH]; intros Hm s rest.
      - assert (pure : forall i, (i < N)%nat -> s i <> weighted) by (intros; apply rest; lia).
        destruct (pieces_exist s c pure) as [e [n S]]. exists e, n. split; [assumption|]. apply hull_point. now exists s, e, n.
      - destruct (s m) eqn:Em; try (apply IH; [lia|]; intros i Hi; destruct (Nat.eq_dec i m) as [->|]; [rewrite Em; discriminate|apply rest; lia]).
        assert (upd : forall m', m' <> weighted -> forall i, (m <= i < N)%nat -> set s m m' i <> weighted).
        { intros m' Hm' i Hi. unfold set. destruct (Nat.eq_dec i m); [assumption|apply rest; lia]. }
        destruct (IH ltac:(lia) (set s m dropped) (upd dropped ltac:(discriminate))) as [e0 [n0 [S0 H0]]].
        destruct (IH ltac:(lia) (set s m enforced) (upd enforced ltac:(discriminate))) as [e1 [n1 [S1 H1]]].
        destruct (one_row s m c e0 n0 e1 n1 ltac:(lia) Em S0 S1) as [w [w01 S]].
        eexists. eexists. split; [exact S|]. apply hull_between with (w := w) (p := est e0 n0) (q := est e1 n1); try assumption.
        intro dx. rewrite !estimate, inner_add_r, !inner_scale_r.
        rewrite (sum_ext N (fun i => ((1 - w) * n0 i + w * n1 i) * inner (A i) dx) (fun i => (1 - w) * (n0 i * inner (A i) dx) + w * (n1 i * inner (A i) dx)))
          by (intros; ring).
        rewrite sum_plus, !sum_scale. ring.
    Qed.

    (* several weighted rows: the estimate at the minimiser lies in the convex hull of the pieces' estimates *)
    Theorem estimate_in_hull e :
      (forall v, inner (H e) v + inner c v + sum N (fun i => k i * inner (row i) e * inner (row i) v) = 0) ->
      hull of_piece (est e (fun i => k i * inner (row i) e)).
    Proof.
      intro E. destruct (blend_up_to N ltac:(lia) (fun _ => weighted) ltac:(lia)) as [e' [n' [S' Hh]]].
      assert (S : solves (fun _ => weighted) c e (fun i => k i * inner (row i) e)) by (split; [exact E|intros; reflexivity]).
      assert (D : inner (sub e e') (sub e e') = 0).
      { pose proof (difference _ _ _ _ _ _ _ S S') as D. pose proof (H_pos (sub e e')). pose proof (inner_pos V (sub e e')).
        assert (0 <= sum N (fun i => (k i * inner (row i) e - n' i) * (inner (row i) e - inner (row i) e'))).
        { apply sum_pos. intros i Hi. destruct S' as [_ O]. specialize (O i Hi).
          apply same_mode with (m := weighted) (weight := k i); [now apply k_pos|reflexivity|exact O]. }
        nra. }
      assert (null : forall v, inner v e = inner v e').
      { intro v. pose proof (cauchy_schwarz_sq V v (sub e e')) as CS. rewrite D, Rmult_0_r, inner_sub_r in CS. nra. }
      apply hull_between with (w := 0) (p := est e' n') (q := est e' n'); [lra|assumption|assumption|]. intro dx. rewrite !estimate, null.
      rewrite (sum_ext N (fun i => k i * inner (row i) e * inner (A i) dx) (fun i => n' i * inner (A i) dx)); [ring|].
      intros i Hi. destruct S' as [_ O]. specialize (O i Hi). simpl in O. now rewrite O, null.
    Qed.
  End estimate.
End several.
