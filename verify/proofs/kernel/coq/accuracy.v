(* The estimator of quadratic data at a fixed point with strict complementarity: every allowed inner error costs O(alpha). *)
From Coq Require Import Reals Lra Psatz Lia Bool.
From f2csa Require Import hilbert outer rows terms quadratic penalty.
Local Open Scope R_scope.

(* finitely many numbers below 0 stay away from it *)
Lemma gap p (s : nat -> bool) (v : nat -> R) : (forall i, (i < p)%nat -> s i = false -> v i < 0) ->
  exists eta, 0 < eta /\ forall i, (i < p)%nat -> s i = false -> v i <= - eta.
Proof.
  induction p as [|p IH]; intro H; [exists 1; split; [lra|intros; lia]|].
  destruct IH as [eta [e0 He]]; [intros; apply H; [lia|assumption]|]. destruct (s p) eqn:Hs.
  - exists eta. split; [assumption|]. intros i Hi Si. destruct (Nat.eq_dec i p) as [->|ne]; [congruence|]. apply He; [lia|assumption].
  - pose proof (H p ltac:(lia) Hs) as Hp. exists (Rmin eta (- v p)). split; [apply Rmin_glb_lt; lra|]. intros i Hi Si.
    pose proof (Rmin_l eta (- v p)). pose proof (Rmin_r eta (- v p)). destruct (Nat.eq_dec i p) as [->|ne]; [lra|].
    pose proof (He i ltac:(lia) Si). lra.
Qed.

Section accuracy.
  Variables (X V : space) (p : nat) (Fxx : matrix X X) (Fxy Gxy : matrix V X) (Fyy Gyy : matrix V V) (A : matrix X (coords p))
    (B : matrix V (coords p)) (fx0 x zx : X) (fy0 gy0 ystar : V) (b lam : coords p) (DY : matrix X V) (DL : matrix X (coords p))
    (mu lw Cl row_norm norm_B : R) (name : (V -> V) -> V -> V).
  Let h (v : V) : coords p := sub (sub (A x) (B v)) b.
  Let s : nat -> bool := at_zero (h ystar).
  Let weights (alpha : R) (ys : V) (lt : coords p) : coords p :=
    weigh (@cut p (add (scale (/ (2 * Rmax 1 row_norm * alpha ^ 3)) (h ys)) (@ones p))) (@cut p (scale (/ lw) lt)).
  Let gxf (v : V) : X := add (add fx0 (Fxx x)) (Fxy v).
  Let gyf (v : V) : V := add (add fy0 (back Fxy x)) (Fyy v).
  Let gyg (v : V) : V := add (add gy0 (back Gxy x)) (Gyy v).
  Let est (alpha : R) (ys : V) (lt : coords p) (y : V) : X :=
    add (add (add (gxf y) (scale (/ alpha ^ 2) (Gxy (sub y ys)))) (scale (/ alpha ^ 4) (back A (weigh (weights alpha ys lt) (h y))))) zx.
  Let gF : X := add (gxf ystar) (back DY (gyf ystar)).
  Let gL (alpha : R) (ys : V) (lt : coords p) (y : V) : V :=
    sub (add (gyf y) (scale (/ alpha ^ 2) (sub (gyg y) (back B lt)))) (scale (/ alpha ^ 4) (back B (weigh (weights alpha ys lt) (h y)))).
  Let hess (alpha : R) (ys : V) (lt : coords p) (v : V) : V :=
    add (add (Fyy v) (scale (/ alpha ^ 2) (Gyy v))) (scale (/ alpha ^ 4) (back B (weigh (weights alpha ys lt) (B v)))).
  Hypothesis strong : curves Gyy mu.
  Hypothesis mu_pos : 0 < mu.

  Section minimum.
    Hypothesis solves : is_solve name.

    Theorem minimum : exists alpha_0, 0 < alpha_0 /\ forall alpha, 0 < alpha <= alpha_0 -> forall ys lt w,
      inner (gL alpha ys lt (sub ys (name (hess alpha ys lt) (gL alpha ys lt ys)))) w = 0.
    Proof.
      destruct (bounded Fyy) as [Cf [C0 K]]. exists (Rmin 1 (mu / (2 * (Cf + 1)))).
      assert (q0 : 0 < mu / (2 * (Cf + 1))) by (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]).
      split; [apply Rmin_glb_lt; lra|]. intros alpha [a0 al] ys lt w.
      assert (al1 : alpha <= 1) by (apply Rle_trans with (1 := al), Rmin_l).
      assert (alm : alpha * Cf <= mu / 2).
      { assert (alpha <= mu / (2 * (Cf + 1))) as Q by (apply Rle_trans with (1 := al), Rmin_r).
        apply (Rmult_le_compat_r (2 * (Cf + 1))) in Q; [|lra]. replace (mu / (2 * (Cf + 1)) * (2 * (Cf + 1))) with mu in Q by (field; lra). lra. }
      assert (half : alpha * (alpha * Cf) <= 1 * (alpha * Cf)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
      assert (a1 : 0 < / alpha ^ 2) by (apply Rinv_0_lt_compat, pow_lt, a0). assert (a2 : 0 < / alpha ^ 4) by (apply Rinv_0_lt_compat, pow_lt, a0).
      apply (newton V name (hess alpha ys lt) (gL alpha ys lt) ys solves).
      - apply hessian_linear.
      - exists (/ alpha ^ 2 * mu - Cf). split.
        + replace (/ alpha ^ 2 * mu - Cf) with (/ alpha ^ 2 * (mu - alpha * alpha * Cf)) by (field; lra). apply Rmult_lt_0_compat; lra.
        + apply hessian_curves; [lra|lra| |exact strong|].
          * intros. unfold weights, weigh, cut. apply Rmult_le_pos; apply Rmax_l.
          * intro v. pose proof (cauchy_schwarz_neg V (Fyy v) v). pose proof (norm_pos V v). pose proof (K v). rewrite <- norm_sq.
            assert (norm (Fyy v) * norm v <= Cf * norm v * norm v) by (apply Rmult_le_compat_r; assumption). lra.
      - intros. apply gradient_change.
    Qed.
  End minimum.

  Hypothesis zero_is : same zx (scale 0 zx).
  Hypothesis symmetric : forall v, same (back Gyy v) (Gyy v).
  Hypothesis kkt : same (gyg ystar) (back B lam).
  Hypothesis below : each p (fun _ => true) (h ystar) (fun entry => entry <= 0).
  Hypothesis D_stationary : forall v, same (add (Gyy (DY v)) (back Gxy v)) (back B (DL v)).
  Hypothesis D_rows : forall v, @same (among p s) (B (DY v)) (A v).
  Hypothesis D_others : forall v, @same (among p (off s)) (DL v) (@scale (among p (off s)) 0 (A v)).
  Hypothesis lw_pos : 0 < lw.
  Hypothesis Cl_pos : 0 <= Cl.
  Hypothesis norm_B_pos : 0 <= norm_B.
  Hypothesis norm_B_is : forall v, norm (B v) <= norm_B * norm v.
  Hypothesis wide : norm_B <= row_norm.

  Theorem accuracy : exists C alpha_0, 0 <= C /\ 0 < alpha_0 /\ forall alpha, 0 < alpha <= alpha_0 -> forall ys lt y,
    norm (sub ys ystar) <= alpha ^ 3 -> norm (sub lt lam) <= Cl * alpha ^ 3 ->
    each p s lam (fun entry => entry >= lw + Cl * alpha ^ 3) ->
    norm (gL alpha ys lt y) <= alpha -> norm (sub (est alpha ys lt y) gF) <= C * alpha.
  Proof.
    destruct (bounded Fxy) as [k1 [k1p K1]]. destruct (bounded Fyy) as [k2 [k2p K2]]. destruct (bounded Gxy) as [Cg [Cgp KG]].
    destruct (bounded DY) as [LY [LYp KY]]. destruct (bounded DL) as [LL [LLp KL]].
    destruct (gap p s (h ystar)) as [eta [eta0 Heta]].
    { intros i Hi Hs. pose proof (below i Hi eq_refl). unfold s, at_zero in Hs. destruct (Req_EM_T (h ystar i) 0); [discriminate|lra]. }
    set (Cf := k1 + k2). set (Gamma := norm (gyf ystar) + (1 + norm_B * Cl)).
    assert (LC : 0 <= norm_B * Cl) by (apply Rmult_le_pos; assumption).
    set (root := 2 * sqrt (1 / 2 * (mu / 2))). assert (r0 : 0 < root) by (unfold root; apply Rmult_lt_0_compat; [lra|apply sqrt_lt_R0; lra]).
    set (breadth := 2 * Rmax 1 row_norm + norm_B). assert (M1 : 1 <= Rmax 1 row_norm) by apply Rmax_l.
    assert (br0 : 0 < breadth) by (unfold breadth; lra). assert (Cf0 : 0 <= Cf) by (unfold Cf; lra).
    assert (G0 : 0 <= Gamma) by (unfold Gamma; pose proof (norm_pos V (gyf ystar)); lra).
    exists (LY * (1 + norm_B * Cl) + Cg + LL * Gamma / root + Cf * (1 + LY) * Gamma / (mu / 2)),
      (Rmin 1 (Rmin (mu / (2 * (Cf + 1))) (eta / (2 * breadth)))).
    assert (q0 : 0 < mu / (2 * (Cf + 1))) by (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]).
    assert (q1 : 0 < eta / (2 * breadth)) by (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]).
    set (t' := Cf * (1 + LY) * Gamma / (mu / 2)).
    assert (t0 : 0 <= t') by (unfold t'; apply Rmult_le_pos; [repeat apply Rmult_le_pos; lra|left; apply Rinv_0_lt_compat; lra]).
    assert (s0 : 0 <= LL * Gamma / root) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; now apply Rinv_0_lt_compat]).
    assert (l0 : 0 <= LY * (1 + norm_B * Cl)) by (apply Rmult_le_pos; lra).
    split; [lra|]. split; [repeat apply Rmin_glb_lt; lra|]. intros alpha [a0 al] ys lt y lower dual clear stop.
    assert (al1 : alpha <= 1) by (apply Rle_trans with (1 := al), Rmin_l).
    assert (al2 : alpha <= Rmin (mu / (2 * (Cf + 1))) (eta / (2 * breadth))) by (apply Rle_trans with (1 := al), Rmin_r).
    assert (alm : alpha * Cf <= mu / 2).
    { assert (alpha <= mu / (2 * (Cf + 1))) as Q by (apply Rle_trans with (1 := al2), Rmin_l).
      apply (Rmult_le_compat_r (2 * (Cf + 1))) in Q; [|lra]. replace (mu / (2 * (Cf + 1)) * (2 * (Cf + 1))) with mu in Q by (field; lra). lra. }
    assert (ale : alpha * breadth <= eta / 2).
    { assert (alpha <= eta / (2 * breadth)) as Q by (apply Rle_trans with (1 := al2), Rmin_r).
      apply (Rmult_le_compat_r breadth) in Q; [|lra]. replace (eta / (2 * breadth) * breadth) with (eta / 2) in Q by (field; lra). lra. }
    assert (half : mu / 2 <= mu - alpha * alpha * Cf).
    { assert (alpha * (alpha * Cf) <= 1 * (alpha * Cf)) by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]). lra. }
    assert (d3 : alpha ^ 3 = alpha * alpha * alpha) by ring. assert (d0 : 0 < alpha ^ 3) by (apply pow_lt, a0).
    assert (d1 : alpha ^ 3 <= alpha).
    { rewrite d3. assert (alpha * alpha <= 1) by nra. rewrite <- (Rmult_1_l alpha) at 4. apply Rmult_le_compat_r; lra. }
    set (w := 2 * Rmax 1 row_norm * alpha ^ 3). assert (w0 : 0 < w) by (unfold w; apply Rmult_lt_0_compat; lra).
    assert (width : 2 * norm_B * alpha ^ 3 <= w) by (unfold w; apply Rmult_le_compat_r; [lra|]; pose proof (Rmax_r 1 row_norm); lra).
    assert (inside : each p (off s) (h ystar) (fun entry => entry < - (w + norm_B * alpha ^ 3))).
    { intros i Hi O. assert (Hs : s i = false) by (unfold off in O; destruct (s i); [discriminate|reflexivity]). pose proof (Heta i Hi Hs).
      assert (breadth * alpha ^ 3 <= breadth * alpha) by (apply Rmult_le_compat_l; lra). unfold w. unfold breadth in *. lra. }
    assert (zero_at : forall i, s i = true -> h ystar i = 0).
    { intros i. unfold s, at_zero. destruct (Req_EM_T (h ystar i) 0); [now intros|discriminate]. }
    assert (E : norm (sub (est alpha ys lt y) gF) <=
      alpha * (LY * (1 + norm_B * Cl) + Cg + LL * Gamma / (2 * sqrt (1 / 2 * (mu - alpha * alpha * Cf))))
      + alpha * alpha * (Cf * (1 + LY) * Gamma / (mu - alpha * alpha * Cf))).
    { apply (first_order X V p Fxx Fxy Gxy Fyy Gyy A B fx0 x zx fy0 gy0 ystar ys y b lam lt (weights alpha ys lt) DY DL s alpha
        (/ alpha ^ 2) (/ alpha ^ 4) mu Cf); try assumption; try reflexivity.
      - intros i Hi Hs. exact (on_active X V p A B x ystar ys b lam lt s w lw (alpha ^ 3) Cl norm_B w0 width lw_pos norm_B_is norm_B_pos
          lower dual zero_at clear i Hi Hs).
      - intros i Hi Hs. exact (off_active X V p A B x ystar ys b lt s w lw (alpha ^ 3) norm_B w0 norm_B_is norm_B_pos lower inside i Hi Hs).
      - intro v. apply Rle_trans with (1 := K2 v). apply Rmult_le_compat_r; [apply norm_pos|unfold Cf; lra].
      - intro v. apply Rle_trans with (1 := K1 v). apply Rmult_le_compat_r; [apply norm_pos|unfold Cf; lra].
      - lra.
      - rewrite <- d3. exact dual.
      - rewrite <- d3. exact lower.
      - unfold Gamma. apply Rplus_le_compat_l. rewrite <- (Rmult_1_l (1 + norm_B * Cl)) at 2. apply Rmult_le_compat_r; lra. }
    assert (S : LL * Gamma / (2 * sqrt (1 / 2 * (mu - alpha * alpha * Cf))) <= LL * Gamma / root).
    { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. apply Rinv_le_contravar; [exact r0|]. unfold root. apply Rmult_le_compat_l; [lra|].
      apply sqrt_le_1_alt. lra. }
    assert (T : Cf * (1 + LY) * Gamma / (mu - alpha * alpha * Cf) <= t').
    { apply Rmult_le_compat_l; [repeat apply Rmult_le_pos; lra|]. apply Rinv_le_contravar; lra. }
    set (s' := LL * Gamma / (2 * sqrt (1 / 2 * (mu - alpha * alpha * Cf)))) in *.
    set (t := Cf * (1 + LY) * Gamma / (mu - alpha * alpha * Cf)) in *.
    apply Rle_trans with (1 := E). apply (Rmult_le_compat_l alpha) in S; [|lra].
    assert (Q : alpha * alpha * t <= alpha * t').
    { rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. assert (alpha * t <= alpha * t') by (apply Rmult_le_compat_l; lra).
      assert (alpha * t' <= 1 * t') by (apply Rmult_le_compat_r; lra). lra. }
    lra.
  Qed.
End accuracy.

(* two vectors near a third *)
Lemma between (V : space) (a c d : V) : norm (sub a c) <= norm (sub a d) + norm (sub c d).
Proof.
  rewrite (same_norm V (sub a c) (sub (sub a d) (sub c d))); [apply norm_sub|]. intro u. rewrite !inner_sub. ring.
Qed.
