(* One switching row near its kink: how much the piece without the row weighs, how far the kink is, and hence how far the
   estimate is from the Goldstein subdifferential of any radius. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer rows several pieces.
Local Open Scope R_scope.

(* The weight of blend.v in numbers: e0 without the row b, e1 with it enforced, H z + b = 0, W = -b z = b H^-1 b. *)
Section weight.
  Variables (V : space) (H : V -> V) (b : V -> R) (c e0 e1 z : V) (n1 k : R).
  Hypothesis H_add : forall v w x, inner (H (add v w)) x = inner (H v) x + inner (H w) x.
  Hypothesis H_scale : forall a v w, inner (H (scale a v)) w = a * inner (H v) w.
  Hypothesis H_sym : forall v w, inner (H v) w = inner (H w) v.
  Hypothesis b_add : forall v w, b (add v w) = b v + b w.
  Hypothesis b_scale : forall a v, b (scale a v) = a * b v.
  Hypothesis k_pos : 0 <= k.
  Hypothesis without : forall v, inner (H e0) v + inner c v = 0.
  Hypothesis enforced : forall v, inner (H e1) v + inner c v + n1 * b v = 0.
  Hypothesis on_row : b e1 = 0.
  Hypothesis pulled : forall v, inner (H z) v + b v = 0.
  Hypothesis W_pos : 0 <= - b z.

  (* the minimiser is w₀(without the row) + (1 − w₀)(with it enforced), w₀ = 1/(1 + kW) *)
  Theorem blend_weight : let w0 := / (1 + k * - b z) in let e := add (scale w0 e0) (scale (1 - w0) e1) in
    0 < w0 <= 1 /\ (forall v, inner (H e) v + inner c v + k * b e * b v = 0) /\ k * b e = (1 - w0) * n1.
  Proof.
    intros w0 e. set (W := - b z) in *. assert (kW : 0 <= k * W) by now apply Rmult_le_pos. assert (d : 0 < 1 + k * W) by lra.
    assert (b0 : b e0 = n1 * W).
    { pose proof (without z) as A. pose proof (enforced z) as B. rewrite H_sym in A, B. pose proof (pulled e0). pose proof (pulled e1). rewrite on_row in *. unfold W. lra. }
    assert (be : k * b e = (1 - w0) * n1) by (unfold e; rewrite b_add, !b_scale, on_row, b0; unfold w0; field; lra).
    split; [split|split; [|exact be]].
    - now apply Rinv_0_lt_compat.
    - unfold w0. rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
    - intro v. rewrite be. unfold e. rewrite H_add, !H_scale. pose proof (without v). pose proof (enforced v). nra.
  Qed.
End weight.

(* With rho = t / eps, k = rho / u^2 and W = u W': the piece without the row weighs at most u eps / (t W'). *)
Theorem far_weight u t eps W : 0 < u -> 0 < t -> 0 < eps -> 0 < W -> / (1 + t / eps / (u * u) * (u * W)) <= u * eps / (t * W).
Proof.
  intros Hu Ht He HW. assert (d : 0 < t * W / (eps * u)) by (apply Rmult_lt_0_compat; [nra|apply Rinv_0_lt_compat; nra]).
  replace (t / eps / (u * u) * (u * W)) with (t * W / (eps * u)) by (field; lra).
  replace (u * eps / (t * W)) with (/ (t * W / (eps * u))) by (field; repeat split; lra). apply Rinv_le_contravar; lra.
Qed.

(* Along the row's own piece its multiplier is t + <dl, z - x>: it is gone at a distance t / |dl|. *)
Theorem kink_distance (X : space) (x dl : X) t : 0 <= t -> 0 < norm dl ->
  exists z, t + inner dl (sub z x) = 0 /\ norm (sub z x) = t / norm dl.
Proof.
  intros Ht Hd. pose proof (norm_sq X dl) as q. set (a := - t / (norm dl * norm dl)). exists (add x (scale a dl)).
  assert (E : forall v, inner v (sub (add x (scale a dl)) x) = a * inner v dl) by (intro v; rewrite inner_sub_r, inner_add_r, inner_scale_r; ring).
  split.
  - rewrite E, <- q. unfold a. field. lra.
  - assert (N : norm (sub (add x (scale a dl)) x) = norm (scale a dl)).
    { unfold norm. f_equal. rewrite E, inner_sym, E, inner_scale, inner_scale_r. reflexivity. }
    rewrite N, norm_scale. unfold a. replace (- t / (norm dl * norm dl)) with (- (t / (norm dl * norm dl))) by (unfold Rdiv; ring).
    rewrite Rabs_Ropp, Rabs_right; [field; lra|]. apply Rle_ge, Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; nra].
Qed.

(* est = w0 E0 + (1 - w0) E1; E0, E1 within K of the gradients g0, g1 of the pieces without the row and with it; g1 is F's at
   x, and the other piece's gradient gk is one at a point z no further than t / theta, off from g0 by at most L0 times that. *)
Section one_row.
  Variables (X : space) (subgradient : X -> X -> Prop) (x z est E0 E1 g0 g1 gk : X) (w0 K u eps W theta t L0 jump : R).
  Hypothesis u_pos : 0 < u.
  Hypothesis eps_pos : 0 < eps.
  Hypothesis W_pos : 0 < W.
  Hypothesis theta_pos : 0 < theta.
  Hypothesis t_pos : 0 < t.
  Hypothesis L0_pos : 0 <= L0.
  Hypothesis weight : 0 <= w0 <= 1.
  Hypothesis far : w0 <= u * eps / (t * W).
  Hypothesis blended : forall v, inner est v = w0 * inner E0 v + (1 - w0) * inner E1 v.
  Hypothesis near0 : norm (sub E0 g0) <= K.
  Hypothesis near1 : norm (sub E1 g1) <= K.
  Hypothesis here : subgradient g1 x.
  Hypothesis there : subgradient gk z.
  Hypothesis distance : norm (sub z x) <= t / theta.
  Hypothesis lipschitz : norm (sub g0 gk) <= L0 * (t / theta).
  Hypothesis jumps : norm (sub g0 g1) <= jump.

  Lemma self (v : X) : norm (sub v v) = 0.
  Proof. unfold norm. rewrite inner_sub, inner_sub_r, Rminus_diag_eq by reflexivity. apply sqrt_0. Qed.

  (* dist(est, ∂_rF(x)) ≤ K + α²(ε_λ/(Wθ))(L_∅ + jump/r), for every radius r *)
  Theorem uniformity_one_row r : 0 < r ->
    exists q, within subgradient x r q /\ norm (sub est q) <= K + u * (eps / (W * theta) * (L0 + jump / r)).
  Proof.
    intro Hr. assert (iW : 0 < W * theta) by nra. pose proof (norm_pos _ (sub E0 g0)). pose proof (norm_pos _ (sub g0 gk)). pose proof (norm_pos _ (sub g0 g1)).
    assert (c0 : 0 <= u * (eps / (W * theta))).
    { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. nra. }
    assert (ir : 0 < / r) by now apply Rinv_0_lt_compat. assert (it : 0 < / theta) by now apply Rinv_0_lt_compat.
    assert (jr : 0 <= jump / r) by (apply Rmult_le_pos; lra).
    assert (point : within subgradient x r g1).
    { apply hull_point. exists x. split; [rewrite self; lra|exact here]. }
    destruct (Rle_dec (t / theta) r) as [close|apart].
    - exists (add (scale w0 gk) (scale (1 - w0) g1)). split.
      + apply hull_between with (w := w0) (p := g1) (q := gk); [assumption|exact point| |].
        * apply hull_point. exists z. split; [lra|exact there].
        * intro v. rewrite inner_add, !inner_scale. ring.
      + assert (wt : w0 * (L0 * (t / theta)) <= u * (eps / (W * theta)) * L0).
        { replace (u * (eps / (W * theta)) * L0) with (u * eps / (t * W) * (L0 * (t / theta))) by (field; repeat split; lra).
          apply Rmult_le_compat_r; [|exact far]. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
        assert (G0 : 0 <= u * (eps / (W * theta) * (L0 + jump / r))) by (rewrite <- Rmult_assoc; apply Rmult_le_pos; lra).
        apply norm_dual; [lra|]. intro v. rewrite inner_sub, blended, inner_add, !inner_scale. pose proof (norm_pos _ v).
        pose proof (cauchy_schwarz _ (sub E0 g0) v) as C0. pose proof (cauchy_schwarz _ (sub E1 g1) v) as C1. pose proof (cauchy_schwarz _ (sub g0 gk) v) as C2.
        rewrite inner_sub in C0, C1, C2. assert (norm (sub E0 g0) * norm v <= K * norm v) by (apply Rmult_le_compat_r; lra).
        assert (norm (sub E1 g1) * norm v <= K * norm v) by (apply Rmult_le_compat_r; lra).
        assert (norm (sub g0 gk) * norm v <= L0 * (t / theta) * norm v) by (apply Rmult_le_compat_r; lra).
        assert (D0 : w0 * (inner E0 v - inner g0 v) <= w0 * (K * norm v)) by (apply Rmult_le_compat_l; lra).
        assert (D1 : (1 - w0) * (inner E1 v - inner g1 v) <= (1 - w0) * (K * norm v)) by (apply Rmult_le_compat_l; lra).
        assert (D2 : w0 * (inner g0 v - inner gk v) <= w0 * (L0 * (t / theta) * norm v)) by (apply Rmult_le_compat_l; lra).
        assert (D3 : w0 * (L0 * (t / theta)) * norm v <= u * (eps / (W * theta)) * L0 * norm v) by (apply Rmult_le_compat_r; lra).
        assert (D4 : 0 <= u * (eps / (W * theta)) * (jump / r) * norm v) by (apply Rmult_le_pos; [now apply Rmult_le_pos|lra]).
        replace ((K + u * (eps / (W * theta) * (L0 + jump / r))) * norm v)
          with (K * norm v + u * (eps / (W * theta)) * L0 * norm v + u * (eps / (W * theta)) * (jump / r) * norm v) by ring. lra.
    - exists g1. split; [exact point|].
      assert (wj : w0 * jump <= u * (eps / (W * theta)) * (jump / r)).
      { apply Rle_trans with (u * eps / (t * W) * jump); [apply Rmult_le_compat_r; lra|].
        replace (u * (eps / (W * theta)) * (jump / r)) with (u * eps / W * jump * / (theta * r)) by (field; repeat split; lra).
        replace (u * eps / (t * W) * jump) with (u * eps / W * jump * / t) by (field; repeat split; lra).
        apply Rmult_le_compat_l; [repeat apply Rmult_le_pos; try lra; left; now apply Rinv_0_lt_compat|].
        apply Rinv_le_contravar; [nra|]. assert (r < t / theta) by lra.
        apply (Rmult_le_reg_r (/ theta)); [assumption|]. replace (theta * r * / theta) with r by (field; lra). unfold Rdiv in *. lra. }
      assert (G0 : 0 <= u * (eps / (W * theta) * (L0 + jump / r))) by (rewrite <- Rmult_assoc; apply Rmult_le_pos; lra).
      apply norm_dual; [lra|]. intro v. rewrite inner_sub, blended. pose proof (norm_pos _ v).
      pose proof (cauchy_schwarz _ (sub E0 g0) v) as C0. pose proof (cauchy_schwarz _ (sub E1 g1) v) as C1. pose proof (cauchy_schwarz _ (sub g0 g1) v) as C2.
      rewrite inner_sub in C0, C1, C2. assert (norm (sub E0 g0) * norm v <= K * norm v) by (apply Rmult_le_compat_r; lra).
      assert (norm (sub E1 g1) * norm v <= K * norm v) by (apply Rmult_le_compat_r; lra).
      assert (norm (sub g0 g1) * norm v <= jump * norm v) by (apply Rmult_le_compat_r; lra).
      assert (D0 : w0 * (inner E0 v - inner g0 v) <= w0 * (K * norm v)) by (apply Rmult_le_compat_l; lra).
      assert (D1 : (1 - w0) * (inner E1 v - inner g1 v) <= (1 - w0) * (K * norm v)) by (apply Rmult_le_compat_l; lra).
      assert (D2 : w0 * (inner g0 v - inner g1 v) <= w0 * (jump * norm v)) by (apply Rmult_le_compat_l; lra).
      assert (D3 : w0 * jump * norm v <= u * (eps / (W * theta)) * (jump / r) * norm v) by (apply Rmult_le_compat_r; lra).
      assert (D4 : 0 <= u * (eps / (W * theta)) * L0 * norm v) by (apply Rmult_le_pos; [now apply Rmult_le_pos|lra]).
      replace ((K + u * (eps / (W * theta) * (L0 + jump / r))) * norm v)
        with (K * norm v + u * (eps / (W * theta)) * L0 * norm v + u * (eps / (W * theta)) * (jump / r) * norm v) by ring. lra.
  Qed.
End one_row.
