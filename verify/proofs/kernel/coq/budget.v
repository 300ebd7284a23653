(* Splits of squared errors, batch sizes, conditioning from above, and how many steps the parameters of
   Section 5 take.  s = sigma^2. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert convexity outer.
Local Open Scope R_scope.

(* Noise of the samples, deviation of the stages and bias are orthogonal in mean square: the total error is their sum. *)
Theorem total_error (V : space) (noise stages bias : V) :
  inner noise stages = 0 -> inner noise bias = 0 -> inner stages bias = 0 ->
  inner (add (add noise stages) bias) (add (add noise stages) bias) = inner noise noise + inner stages stages + inner bias bias.
Proof. intros ns nb sb. expand_inner. rewrite (inner_sym _ stages noise), (inner_sym _ bias noise), (inner_sym _ bias stages), ns, nb, sb. ring. Qed.

(* N >= sigma^2 / alpha^2 samples: variance at most alpha^2 ... *)
Theorem batch_size (variance s N alpha : R) : 0 < N -> variance <= s / N -> s <= N * (alpha * alpha) -> variance <= alpha * alpha.
Proof.
  intros HN Hv Hs. apply Rle_trans with (1 := Hv). apply (Rmult_le_reg_r N); [assumption|].
  replace (s / N * N) with s by (field; lra). lra.
Qed.

(* ... and no fewer: sigma / sqrt N <= alpha just when N >= sigma^2 / alpha^2. *)
Theorem batch_arithmetic (sigma N alpha : R) : 0 <= sigma -> 0 < N -> 0 < alpha ->
  (sigma / sqrt N <= alpha <-> sigma * sigma / (alpha * alpha) <= N).
Proof.
  intros Hs HN Ha. pose proof (sqrt_lt_R0 N HN) as q. pose proof (sqrt_sqrt N (Rlt_le _ _ HN)) as s. assert (0 < alpha * alpha) by nra. split; intro H'.
  - apply (Rmult_le_reg_r (alpha * alpha)); [assumption|]. replace (sigma * sigma / (alpha * alpha) * (alpha * alpha)) with (sigma * sigma) by (field; lra).
    apply (Rmult_le_compat_r (sqrt N)) in H'; [|lra]. replace (sigma / sqrt N * sqrt N) with sigma in H' by (field; lra). rewrite <- s.
    replace (sqrt N * sqrt N * (alpha * alpha)) with (alpha * sqrt N * (alpha * sqrt N)) by ring. apply Rmult_le_compat; lra.
  - apply (Rmult_le_compat_r (alpha * alpha)) in H'; [|lra]. replace (sigma * sigma / (alpha * alpha) * (alpha * alpha)) with (sigma * sigma) in H' by (field; lra).
    apply (Rmult_le_reg_r (sqrt N)); [assumption|]. replace (sigma / sqrt N * sqrt N) with sigma by (field; lra).
    apply le_of_squares; [nra|]. rewrite <- s in H'. lra.
Qed.

(* Curvature from above: at most b / alpha^4 + C_g / alpha^2 + C_f, with b the largest <rho B v, B v> / |v|^2. *)
Theorem curvature_le (V W : space) (F G : V -> V) (B : V -> W) (P : W -> W) (Cf Cg u b : R) (v : V) : 0 < u ->
  inner (G v) v <= Cg * inner v v -> inner (F v) v <= Cf * inner v v -> inner (P (B v)) (B v) <= b * inner v v ->
  curvature V W F G B P u v <= (b / (u * u) + Cg / u + Cf) * inner v v.
Proof.
  intros Hu Hg Hf Hb. unfold curvature. assert (0 < / u) by now apply Rinv_0_lt_compat.
  assert (0 < / (u * u)) by (apply Rinv_0_lt_compat; nra).
  assert (inner (G v) v / u <= Cg * inner v v / u) by (apply Rmult_le_compat_r; lra).
  assert (inner (P (B v)) (B v) / (u * u) <= b * inner v v / (u * u)) by (apply Rmult_le_compat_r; lra).
  replace ((b / (u * u) + Cg / u + Cf) * inner v v) with (b * inner v v / (u * u) + Cg * inner v v / u + Cf * inner v v) by (field; lra). lra.
Qed.

Section regret.
  Variable V : space.

  (* The change of F is the regret against w plus the part along w. *)
  Theorem regret_split (M : nat) (grad step : nat -> V) (w : V) :
    sum M (fun m => inner (grad m) (step m)) = sum M (fun m => inner (grad m) (sub (step m) w)) + inner (vsum M grad) w.
  Proof. rewrite inner_vsum, <- sum_plus. induction M; simpl; [reflexivity|]. rewrite IHM, inner_sub_r. ring. Qed.

  (* Regret of the gradients = regret of the estimates - that of their errors. *)
  Theorem estimate_split (M : nat) (grad g step : nat -> V) (w : V) :
    sum M (fun m => inner (grad m) (sub (step m) w))
      = sum M (fun m => inner (g m) (sub (step m) w)) - sum M (fun m => inner (sub (g m) (grad m)) (sub (step m) w)).
  Proof. induction M; simpl; [ring|]. rewrite IHM, (inner_sub V (g M) (grad M)). ring. Qed.

  (* Clipped steps, the one at 0 included, are no longer than D. *)
  Theorem step_length (D : R) (v : V) : 0 < D -> norm (clip V D v) <= D.
  Proof. apply norm_clip. Qed.

  (* clip_D(0) = 0: the factor is 1 there *)
  Theorem clip_at_zero (D : R) (v : V) : 0 < D -> norm v = 0 -> clip V D v = v.
  Proof. intros HD H. unfold clip. destruct (Rle_dec (norm v) D); [reflexivity|lra]. Qed.
End regret.

(* M and K of the theorem, rounded up: M K <= 288 G^2 C0 / (radius eps^3) steps, one sample each. *)
Theorem oracle_calls (G eps C0 radius M K : R) : 0 < G -> 0 < eps <= 6 * G -> 0 < radius -> radius * eps <= 2 * C0 -> 0 <= M -> 0 <= K ->
  M <= 36 * (G * G) / (eps * eps) + 1 -> K <= 2 * C0 / (radius * eps) + 1 ->
  M * K <= 288 * (G * G) * C0 / (radius * (eps * eps * eps)).
Proof.
  intros HG [He H6] Hr HC HM HK M1 K1. assert (e2 : 0 < eps * eps) by nra. assert (re : 0 < radius * eps) by nra.
  assert (A : 1 <= 36 * (G * G) / (eps * eps)).
  { apply (Rmult_le_reg_r (eps * eps)); [assumption|]. replace (36 * (G * G) / (eps * eps) * (eps * eps)) with (36 * (G * G)) by (field; lra). nra. }
  assert (B : 1 <= 2 * C0 / (radius * eps)).
  { apply (Rmult_le_reg_r (radius * eps)); [assumption|]. replace (2 * C0 / (radius * eps) * (radius * eps)) with (2 * C0) by (field; lra). lra. }
  replace (288 * (G * G) * C0 / (radius * (eps * eps * eps))) with (2 * (36 * (G * G) / (eps * eps)) * (2 * (2 * C0 / (radius * eps)))) by (field; lra).
  apply Rmult_le_compat; lra.
Qed.

(* The printed second moment at the least batch: bounded, and it does not vanish. *)
Theorem moment_order (L s N alpha : R) : 0 < N -> 0 <= s -> s <= N * (alpha * alpha) -> L * L <= L * L + s / N <= L * L + alpha * alpha.
Proof.
  intros HN Hs H. assert (0 <= s / N) by (apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat]).
  assert (s / N <= alpha * alpha). { apply (Rmult_le_reg_r N); [assumption|]. replace (s / N * N) with s by (field; lra). lra. } lra.
Qed.

(* With eta = 2 D / (G sqrt M) the regret over a block is at most 2 D G sqrt M. *)
Theorem block_regret (D G M eta regret : R) : 0 < D -> 0 < G -> 0 < M -> eta = 2 * D / (G * sqrt M) ->
  regret <= 4 * D * D / (2 * eta) + eta / 2 * (M * (G * G)) -> regret <= 2 * D * G * sqrt M.
Proof.
  intros HD HG HM -> H. pose proof (sqrt_lt_R0 M HM) as q. pose proof (sqrt_sqrt M (Rlt_le _ _ HM)) as s. apply Rle_trans with (1 := H). right.
  replace (M * (G * G)) with (sqrt M * sqrt M * (G * G)) by (rewrite s; ring). field. lra.
Qed.
