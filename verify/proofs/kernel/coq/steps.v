(* Steps of the paper's proofs that are a line or two each: bounds by distance, three terms, orders of the weights.
   X is the space of x, V of y, W of the rows. *)
From Coq Require Import Reals Lra Psatz.
From f2csa Require Import hilbert.
Local Open Scope R_scope.

(* On a ball of radius R a gradient is at most its value at the centre plus C R. *)
Theorem bounded_near (V : space) (g centre : V) (C distance R : R) :
  0 <= C -> norm (sub g centre) <= C * distance -> distance <= R -> norm g <= norm centre + C * R.
Proof.
  intros HC H HR. assert (E : norm g = norm (add (sub g centre) centre)).
  { unfold norm. f_equal. expand_inner. rewrite (inner_sym _ centre g). ring. }
  pose proof (triangle V (sub g centre) centre). rewrite E. assert (C * distance <= C * R) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* A Lipschitz constant bounds the gradient: |grad f(z)| <= L. *)
Theorem lipschitz_bounds_gradient (V : space) (f : V -> R) (z grad : V) (L : R) : 0 <= L ->
  (forall v, derivable_pt_lim (fun t => f (add z (scale t v))) 0 (inner grad v)) ->
  (forall v t, Rabs (f (add z (scale t v)) - f (add z (scale 0 v))) <= L * (Rabs t * norm v)) ->
  norm grad <= L.
Proof.
  intros HL D Lip. apply norm_dual; [assumption|]. intro v. destruct (Rle_dec (inner grad v) (L * norm v)) as [|n]; [assumption|].
  exfalso. assert (p : 0 < inner grad v - L * norm v) by lra. destruct (D v _ p) as [d Hd]. pose proof (cond_pos d).
  assert (nz : d / 2 <> 0) by lra. assert (sm : Rabs (d / 2) < d) by (rewrite Rabs_right; lra).
  specialize (Hd (d / 2) nz sm). pose proof (Lip v (d / 2)) as Q. rewrite Rplus_0_l in Hd. rewrite (Rabs_right (d / 2)) in Q by lra.
  set (q := f (add z (scale (d / 2) v)) - f (add z (scale 0 v))) in *.
  apply Rabs_def2 in Hd. destruct Hd as [_ Hd]. pose proof (Rle_abs q). assert (K : q / (d / 2) <= L * norm v).
  { apply (Rmult_le_reg_r (d / 2)); [lra|]. replace (q / (d / 2) * (d / 2)) with q by (field; lra). lra. }
  lra.
Qed.

(* Independent rows have one multiplier. *)
Theorem one_multiplier (V W : space) (B : V -> W) (Bt : W -> V) (sigma : R) (l1 l2 : W) : 0 < sigma ->
  (forall v w, inner (Bt w) v = inner w (B v)) -> (forall w, sigma * norm w <= norm (Bt w)) ->
  (forall v, inner l1 (B v) = inner l2 (B v)) -> norm (sub l1 l2) = 0.
Proof.
  intros Hs adj licq same. pose proof (licq (sub l1 l2)) as L. pose proof (norm_pos W (sub l1 l2)).
  assert (Z : norm (Bt (sub l1 l2)) <= 0).
  { apply norm_dual; [lra|]. intro v. rewrite adj, inner_sub, same. lra. }
  destruct (Req_dec (norm (sub l1 l2)) 0); [assumption|]. assert (0 < sigma * norm (sub l1 l2)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

(* A strongly convex lower level has one solution: two pairs that meet the optimality conditions have y1 = y2.
   e = y1 - y2, dg = g_y(x, y1) - g_y(x, y2) = B' (l1 - l2), h1 and h2 the rows' values, h1 - h2 = - B e; rows are at
   most 0, multipliers at least 0, and l1 h1 = l2 h2 = 0. *)
Theorem one_solution (V W : space) (B : V -> W) (mu : R) (e dg : V) (l1 l2 h1 h2 : W) : 0 < mu ->
  mu * inner e e <= inner dg e -> (forall v, inner dg v = inner l1 (B v) - inner l2 (B v)) ->
  (forall l, inner l (B e) = inner l h2 - inner l h1) ->
  inner l1 h1 = 0 -> inner l2 h2 = 0 -> inner l1 h2 <= 0 -> inner l2 h1 <= 0 -> norm e = 0.
Proof.
  intros Hm strong stationary rows c1 c2 f1 f2. rewrite stationary, !rows in strong. pose proof (inner_pos V e) as p.
  assert (z : inner e e = 0).
  { destruct (Req_dec (inner e e) 0) as [z|nz]; [exact z|]. assert (0 < mu * inner e e) by (apply Rmult_lt_0_compat; lra). lra. }
  unfold norm. rewrite z. apply sqrt_0.
Qed.

(* F(x) = f(x, y-star(x)) is Lipschitz with L_fx + L_fy L_y. *)
Theorem lipschitz_value (X V : space) (f : X -> V -> R) (ys : X -> V) (Lfx Lfy Ly : R) : 0 <= Lfy ->
  (forall x x' y, Rabs (f x y - f x' y) <= Lfx * norm (sub x x')) ->
  (forall x y y', Rabs (f x y - f x y') <= Lfy * norm (sub y y')) ->
  (forall x x', norm (sub (ys x) (ys x')) <= Ly * norm (sub x x')) ->
  forall x x', Rabs (f x (ys x) - f x' (ys x')) <= (Lfx + Lfy * Ly) * norm (sub x x').
Proof.
  intros H0 Hx Hy H x x'. replace (f x (ys x) - f x' (ys x')) with ((f x (ys x) - f x' (ys x)) + (f x' (ys x) - f x' (ys x'))) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). pose proof (Hx x x' (ys x)). pose proof (Hy x' (ys x) (ys x')). pose proof (H x x').
  assert (Lfy * norm (sub (ys x) (ys x')) <= Lfy * (Ly * norm (sub x x'))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma part (V W : space) (v : V) (w : W) : norm v <= sqrt (inner v v + inner w w).
Proof. pose proof (inner_pos W w). apply sqrt_le_1_alt. lra. Qed.

(* One part of a vector in (x, y) is no longer than the whole. *)
Theorem part_of_whole (X V : space) (x : X) (y : V) : norm y <= sqrt (inner x x + inner y y).
Proof. rewrite Rplus_comm. apply part. Qed.

(* |[A, -B]| <= |A| + |B| *)
Theorem jacobian_bound (X V W : space) (A : X -> W) (B : V -> W) (a b : R) : 0 <= a -> 0 <= b ->
  (forall x, norm (A x) <= a * norm x) -> (forall y, norm (B y) <= b * norm y) ->
  forall x y, norm (sub (A x) (B y)) <= (a + b) * sqrt (inner x x + inner y y).
Proof.
  intros Ha Hb HA HB x y. pose proof (norm_sub W (A x) (B y)). pose proof (HA x). pose proof (HB y).
  pose proof (part X V x y). pose proof (part_of_whole X V x y).
  assert (a * norm x <= a * sqrt (inner x x + inner y y)) by (apply Rmult_le_compat_l; lra).
  assert (b * norm y <= b * sqrt (inner x x + inner y y)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* h_i(x, y) - h_i(x, y') = B_i (y' - y), for h_i(x, y) = t - B_i y, t = A_i x - b_i *)
Theorem row_difference (V : space) (row y y' : V) (t : R) : (t - inner row y) - (t - inner row y') = inner row (sub y' y).
Proof. rewrite inner_sub_r. ring. Qed.

(* alpha_1 B' dl is of order alpha: |dl| <= C alpha^3. *)
Theorem linear_term (V W : space) (Bt : W -> V) (dl : W) (alpha LB C : R) : 0 < alpha -> 0 <= LB ->
  (forall w, norm (Bt w) <= LB * norm w) -> norm dl <= C * (alpha * alpha * alpha) ->
  norm (scale (/ (alpha * alpha)) (Bt dl)) <= LB * C * alpha.
Proof.
  intros Ha HL HB Hd. assert (i : 0 < / (alpha * alpha)) by (apply Rinv_0_lt_compat; nra). rewrite norm_scale, Rabs_right by lra.
  pose proof (HB dl). assert (LB * norm dl <= LB * (C * (alpha * alpha * alpha))) by (apply Rmult_le_compat_l; lra).
  replace (LB * C * alpha) with (/ (alpha * alpha) * (LB * (C * (alpha * alpha * alpha)))) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

(* alpha_1 times the change of grad_x g over a distance alpha^3 is at most C_g alpha; norms may be root mean squares. *)
Theorem value_term (X : space) (gx gx' : X) (alpha Cg distance : R) : 0 < alpha -> 0 <= Cg ->
  norm (sub gx gx') <= Cg * distance -> distance <= alpha * alpha * alpha ->
  norm (scale (/ (alpha * alpha)) (sub gx gx')) <= Cg * alpha.
Proof.
  intros Ha HC H Hd. assert (i : 0 < / (alpha * alpha)) by (apply Rinv_0_lt_compat; nra). rewrite norm_scale, Rabs_right by lra.
  assert (Cg * distance <= Cg * (alpha * alpha * alpha)) by (apply Rmult_le_compat_l; lra).
  replace (Cg * alpha) with (/ (alpha * alpha) * (Cg * (alpha * alpha * alpha))) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

(* bias <= T1 + T2 + T3 + the change due to y-star-hat *)
Theorem three_terms (X : space) (computed at_minimiser at_multiplier exact grad : X) :
  norm (sub computed grad) <= norm (sub computed at_minimiser) + norm (sub at_minimiser at_multiplier)
    + norm (sub at_multiplier exact) + norm (sub exact grad).
Proof.
  assert (chain : forall a b c : X, norm (sub a c) <= norm (sub a b) + norm (sub b c)).
  { intros a b c. pose proof (triangle X (sub a b) (sub b c)) as T. apply Rle_trans with (2 := T). right. unfold norm. f_equal.
    expand_inner. rewrite (inner_sym _ b a), (inner_sym _ c a), (inner_sym _ c b). ring. }
  pose proof (chain computed at_minimiser grad). pose proof (chain at_minimiser at_multiplier grad). pose proof (chain at_multiplier exact grad). lra.
Qed.

(* alpha_1 + alpha_2 is of order alpha^-4, from both sides. *)
Theorem penalty_weights (alpha : R) : 0 < alpha <= 1 ->
  / (alpha * alpha * (alpha * alpha)) <= / (alpha * alpha) + / (alpha * alpha * (alpha * alpha)) <= 2 * / (alpha * alpha * (alpha * alpha)).
Proof.
  intros [Ha H1]. assert (u : 0 < alpha * alpha) by nra. assert (v : 0 < alpha * alpha * (alpha * alpha)) by nra.
  assert (0 < / (alpha * alpha)) by (now apply Rinv_0_lt_compat).
  assert (u1 : alpha * alpha <= 1) by nra.
  assert (/ (alpha * alpha) <= / (alpha * alpha * (alpha * alpha))) by (apply Rinv_le_contravar; [assumption|nra]). lra.
Qed.

(* Every alpha in (0, sqrt(mu / (2 Cf))] meets the repaired hypothesis: there is no smallest one. *)
Theorem small_alphas (alpha mu Cf : R) : 0 < mu -> 0 < Cf -> 0 < alpha <= sqrt (mu / (2 * Cf)) -> 2 * (alpha * alpha) * Cf <= mu.
Proof.
  intros Hm Hc [Ha Hs]. assert (q : 0 <= mu / (2 * Cf)) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  pose proof (sqrt_sqrt _ q) as s. set (root := sqrt (mu / (2 * Cf))) in *.
  assert (P : alpha * alpha <= root * root) by (apply Rmult_le_compat; lra). rewrite s in P.
  apply (Rmult_le_compat_r (2 * Cf)) in P; [|lra]. replace (mu / (2 * Cf) * (2 * Cf)) with mu in P by (field; lra). lra.
Qed.

(* A Hessian Hölder-1/2: a rest H e^(3/2) at a distance e <= C alpha^2 costs alpha^-2 H e^(3/2) <= H C^(3/2) alpha. *)
Theorem holder_rest (alpha C e H rest : R) : 0 < alpha -> 0 <= H -> 0 <= e <= C * (alpha * alpha) -> rest <= H * (e * sqrt e) ->
  rest / (alpha * alpha) <= H * (C * sqrt C) * alpha.
Proof.
  intros Ha HH [E0 E1] Hr. assert (u : 0 < alpha * alpha) by nra.
  assert (C0 : 0 <= C) by (apply (Rmult_le_reg_r (alpha * alpha)); lra).
  assert (S : sqrt e <= sqrt C * alpha).
  { replace (sqrt C * alpha) with (sqrt (C * (alpha * alpha))) by (rewrite sqrt_mult by lra; rewrite sqrt_square by lra; reflexivity).
    now apply sqrt_le_1_alt. }
  pose proof (sqrt_pos e). pose proof (sqrt_pos C).
  assert (P : e * sqrt e <= C * (alpha * alpha) * (sqrt C * alpha)) by (apply Rmult_le_compat; lra).
  apply (Rmult_le_compat_l H) in P; [|lra]. apply (Rmult_le_reg_r (alpha * alpha)); [assumption|].
  replace (rest / (alpha * alpha) * (alpha * alpha)) with rest by (field; lra). lra.
Qed.

(* The gradient of a row's penalty rho h^2 / 2 has two pieces. *)
Theorem product_rule (rho h : R -> R) (x drho dh : R) : derivable_pt_lim rho x drho -> derivable_pt_lim h x dh ->
  derivable_pt_lim (fun t => rho t * (h t * h t)) x (drho * (h x * h x) + rho x * (2 * (h x * dh))).
Proof.
  intros Hr Hh. replace (2 * (h x * dh)) with (dh * h x + h x * dh) by ring.
  exact (derivable_pt_lim_mult rho (fun t => h t * h t) x _ _ Hr (derivable_pt_lim_mult h h x _ _ Hh Hh)).
Qed.

(* Strong monotonicity: mu |d| <= |change of the gradient over d|. *)
Theorem monotonicity (V : space) (change d : V) (mu : R) : 0 < mu -> mu * inner d d <= inner change d -> mu * norm d <= norm change.
Proof.
  intros Hm H. pose proof (cauchy_schwarz V change d) as C. pose proof (norm_pos V d). pose proof (norm_pos V change). rewrite <- norm_sq in H.
  destruct (Req_dec (norm d) 0) as [z|nz]; [rewrite z; lra|]. apply (Rmult_le_reg_r (norm d)); lra.
Qed.

(* <g, D - w> = (|D - w|^2 - |D - eta g - w|^2 + eta^2 |g|^2) / (2 eta), for D the step taken and w any reference. *)
Theorem three_point (V : space) (g step w : V) (eta : R) : 0 < eta ->
  inner g (sub step w) = (inner (sub step w) (sub step w)
    - inner (sub (sub step (scale eta g)) w) (sub (sub step (scale eta g)) w) + eta * eta * inner g g) / (2 * eta).
Proof.
  intro He. expand_inner. rewrite (inner_sym _ w step), (inner_sym _ step g), (inner_sym _ w g). field. lra.
Qed.
