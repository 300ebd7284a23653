(* How ill conditioned the penalty problem in y is, from both sides.  The condition number is the supremum of
   (<Lv, v> / <v, v>) / (<Lw, w> / <w, w>), L the Hessian in y: here each such quotient is bounded, and one bounded below.
   Notation of convexity.v: F = f_yy, G = g_yy, P the weights, b the largest <P B v, B v> / <v, v>. *)
From Coq Require Import Reals Lra Psatz.
From f2csa Require Import hilbert convexity budget.
Local Open Scope R_scope.

Section conditioning.
  Variables (V W : space) (F G : V -> V) (B : V -> W) (P : W -> W) (mu Cf Cg u b : R).
  Hypothesis u_pos : 0 < u.
  Hypothesis mu_pos : 0 < mu.
  Hypothesis Cf_pos : 0 <= Cf.
  Hypothesis Cg_pos : 0 <= Cg.
  Hypothesis b_pos : 0 <= b.
  Hypothesis strong : forall v, mu * inner v v <= inner (G v) v.
  Hypothesis curve_f : forall v, - (Cf * inner v v) <= inner (F v) v.
  Hypothesis smooth_g : forall v, inner (G v) v <= Cg * inner v v.
  Hypothesis smooth_f : forall v, inner (F v) v <= Cf * inner v v.
  Hypothesis rows_le : forall v, inner (P (B v)) (B v) <= b * inner v v.
  Hypothesis small : u * Cf < mu.

  Let L := curvature V W F G B P u.
  Let top := b / (u * u) + Cg / u + Cf.

  (* a quotient of two quotients, from bounds of each *)
  Lemma quotient (v w : V) lo hi : 0 < lo -> 0 <= hi -> L v <= hi * inner v v -> lo * inner w w <= L w ->
    L v * inner w w <= hi / lo * (L w * inner v v).
  Proof.
    intros Hl Hh A C. pose proof (inner_pos V v) as pv. pose proof (inner_pos V w) as pw.
    apply Rle_trans with (hi * inner v v * inner w w); [apply Rmult_le_compat_r; assumption|].
    replace (hi / lo * (L w * inner v v)) with (hi * inner v v * (L w / lo)) by (field; lra).
    apply Rmult_le_compat_l; [now apply Rmult_le_pos|]. apply (Rmult_le_reg_l lo); [assumption|].
    replace (lo * (L w / lo)) with (L w) by (field; lra). exact C.
  Qed.

  Lemma top_pos : 0 <= top.
  Proof.
    unfold top. assert (0 < / u) by now apply Rinv_0_lt_compat. assert (0 < / (u * u)) by (apply Rinv_0_lt_compat; nra).
    assert (0 <= b / (u * u)) by (apply Rmult_le_pos; lra). assert (0 <= Cg / u) by (apply Rmult_le_pos; lra). lra.
  Qed.

  Lemma top_le v : L v <= top * inner v v.
  Proof. apply curvature_le; auto. Qed.

  Lemma modulus_pos : 0 < mu / u - Cf.
  Proof. apply (Rmult_lt_reg_r u); [assumption|]. replace ((mu / u - Cf) * u) with (mu - u * Cf) by (field; lra). lra. Qed.

  Hypothesis weights : forall w, 0 <= inner (P w) w.

  (* κ(L) ≤ (α⁻⁴‖B‖² + α⁻²C_g + C_f)/(α⁻²μ − C_f) *)
  Theorem condition_upper v w : L v * inner w w <= (b / (u * u) + Cg / u + Cf) / (mu / u - Cf) * (L w * inner v v).
  Proof.
    apply quotient; [exact modulus_pos|exact top_pos|apply top_le|].
    exact (curvature_ge V W F G B P mu Cf u u_pos strong curve_f weights w).
  Qed.

  (* κ(L) ≥ (α⁻⁴β + α⁻²μ − C_f)/(α⁻²C_g + C_f): v weighted with ⟨ρBv, Bv⟩ ≥ β‖v‖², w along no weighted row *)
  Theorem condition_lower v w beta : 0 < Cg -> inner (P (B w)) (B w) = 0 -> 0 <= beta -> beta * inner v v <= inner (P (B v)) (B v) ->
    (beta / (u * u) + mu / u - Cf) / (Cg / u + Cf) * (L w * inner v v) <= L v * inner w w.
  Proof.
    intros Hg Hw Hb Hv. pose proof (flat V W F G B P Cf Cg u u_pos smooth_g smooth_f w Hw) as A. fold L in A.
    pose proof (steep V W F G B P mu Cf u u_pos strong curve_f v beta Hv) as S. fold L in S.
    pose proof (inner_pos V v) as pv. pose proof (inner_pos V w) as pw. pose proof modulus_pos as m.
    assert (iu : 0 < / u) by now apply Rinv_0_lt_compat. assert (0 < / (u * u)) by (apply Rinv_0_lt_compat; nra).
    assert (d : 0 < Cg / u + Cf) by (assert (0 < Cg / u) by (apply Rmult_lt_0_compat; lra); lra).
    assert (n : 0 <= beta / (u * u) + mu / u - Cf) by (assert (0 <= beta / (u * u)) by (apply Rmult_le_pos; lra); lra).
    set (lo := Cg / u + Cf) in *. set (hi := beta / (u * u) + mu / u - Cf) in *.
    apply Rle_trans with (hi * inner v v * inner w w); [|apply Rmult_le_compat_r; assumption].
    replace (hi / lo * (L w * inner v v)) with (hi * inner v v * (L w / lo)) by (field; lra).
    apply Rmult_le_compat_l; [now apply Rmult_le_pos|]. apply (Rmult_le_reg_l lo); [assumption|].
    replace (lo * (L w / lo)) with (L w) by (field; lra). exact A.
  Qed.

  (* as many independent weighted rows as y has components: κ(L) ≤ (‖B‖² + α²C_g + α⁴C_f)/(σ² + α²μ − α⁴C_f), bounded *)
  Theorem condition_vertex v w s : 0 < s -> (forall v, s * inner v v <= inner (P (B v)) (B v)) ->
    L v * inner w w <= (b + u * Cg + u * u * Cf) / (s + u * mu - u * u * Cf) * (L w * inner v v).
  Proof.
    intros Hs rows_ge. pose proof modulus_pos as m. assert (0 < / (u * u)) by (apply Rinv_0_lt_compat; nra).
    assert (0 < s / (u * u)) by (apply Rmult_lt_0_compat; lra).
    assert (lo : 0 < s / (u * u) + mu / u - Cf) by lra.
    pose proof (quotient v w (s / (u * u) + mu / u - Cf) top lo top_pos (top_le v) (steep V W F G B P mu Cf u u_pos strong curve_f w s (rows_ge w))) as Q.
    replace ((b + u * Cg + u * u * Cf) / (s + u * mu - u * u * Cf)) with (top / (s / (u * u) + mu / u - Cf)); [exact Q|].
    unfold top. assert (0 < (s / (u * u) + mu / u - Cf) * (u * u)) by (apply Rmult_lt_0_compat; nra).
    replace ((s / (u * u) + mu / u - Cf) * (u * u)) with (s + u * mu - u * u * Cf) in * by (field; lra). field. split; [lra|]. nra.
  Qed.

  (* no weighted row: κ(L) ≤ (C_g + α²C_f)/(μ − α²C_f), bounded *)
  Theorem condition_interior v w : (forall v, inner (P (B v)) (B v) = 0) ->
    L v * inner w w <= (Cg + u * Cf) / (mu - u * Cf) * (L w * inner v v).
  Proof.
    intro none. assert (iu : 0 < / u) by now apply Rinv_0_lt_compat. assert (hi : 0 <= Cg / u + Cf) by (assert (0 <= Cg / u) by (apply Rmult_le_pos; lra); lra).
    pose proof (quotient v w (mu / u - Cf) (Cg / u + Cf) modulus_pos hi (flat V W F G B P Cf Cg u u_pos smooth_g smooth_f v (none v))
      (curvature_ge V W F G B P mu Cf u u_pos strong curve_f weights w)) as Q.
    replace ((Cg + u * Cf) / (mu - u * Cf)) with ((Cg / u + Cf) / (mu / u - Cf)); [exact Q|]. field. repeat split; try lra.
  Qed.
End conditioning.

(* Both bounds are of order alpha^-2: with alpha <= 1 and 2 alpha^2 C_f <= mu. *)
Theorem condition_order (mu Cf Cg u b beta : R) : 0 < u <= 1 -> 0 < mu -> 0 <= Cf -> 0 < Cg -> 0 <= b -> 0 < beta -> 2 * u * Cf <= mu ->
  beta / (Cg + Cf) / u <= (beta / (u * u) + mu / u - Cf) / (Cg / u + Cf) /\
  (b / (u * u) + Cg / u + Cf) / (mu / u - Cf) <= 2 * (b + Cg + Cf) / mu / u.
Proof.
  intros [Hu H1] Hm Hf Hg Hb Hbe half. assert (d : 0 < Cg + u * Cf) by nra. assert (m : 0 < mu - u * Cf) by lra. assert (c : 0 < Cg + Cf) by lra. split.
  - replace ((beta / (u * u) + mu / u - Cf) / (Cg / u + Cf)) with ((beta + u * (mu - u * Cf)) / (Cg + u * Cf) / u) by (field; repeat split; lra).
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|]. apply Rmult_le_compat; [lra|left; now apply Rinv_0_lt_compat| |].
    + assert (0 <= u * (mu - u * Cf)) by (apply Rmult_le_pos; lra). lra.
    + apply Rinv_le_contravar; nra.
  - replace ((b / (u * u) + Cg / u + Cf) / (mu / u - Cf)) with ((b + u * Cg + u * u * Cf) / (mu - u * Cf) / u) by (field; repeat split; lra).
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    replace (2 * (b + Cg + Cf) / mu) with ((b + Cg + Cf) * / (mu / 2)) by (field; lra). assert (u * u <= 1) by nra.
    apply Rmult_le_compat; [|left; now apply Rinv_0_lt_compat| |apply Rinv_le_contravar; lra].
    + assert (0 <= u * u * Cf) by (apply Rmult_le_pos; nra). nra.
    + assert (u * u * Cf <= 1 * Cf) by (apply Rmult_le_compat_r; lra). assert (u * Cg <= 1 * Cg) by (apply Rmult_le_compat_r; lra). lra.
Qed.
