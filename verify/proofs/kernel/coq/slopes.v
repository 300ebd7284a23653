(* Derivatives along x of what the estimator holds still, and the estimator's parts: the weights, the multiplier, T2, and the
   deterministic method's gradient. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer rows weights.
Local Open Scope R_scope.

(* two functions that agree near a point have the same derivative there *)
Lemma derive_locally (f f' : R -> R) t l (d : posreal) : (forall s, Rabs (s - t) < d -> f s = f' s) -> derivable_pt_lim f' t l -> derivable_pt_lim f t l.
Proof.
  intros same D eps He. destruct (D eps He) as [d' Hd]. assert (m : 0 < Rmin d d') by (apply Rmin_glb_lt; apply cond_pos).
  exists (mkposreal _ m). intros h nz small. simpl in small. pose proof (Rmin_l d d'). pose proof (Rmin_r d d'). pose proof (cond_pos d).
  rewrite !same; [apply Hd; [assumption|lra]|rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; lra|replace (t + h - t) with h by ring; lra].
Qed.

(* the slope of a ramp off its corners -w and 0 *)
Definition slope (w z : R) : R := if Rlt_dec z (- w) then 0 else if Rlt_dec 0 z then 0 else / w.

Lemma ramp_derivative w z : 0 < w -> z <> - w -> z <> 0 -> derivable_pt_lim (ramp w) z (slope w z).
Proof.
  intros Hw n1 n0. assert (iw : 0 < / w) by now apply Rinv_0_lt_compat. assert (E : forall s, (w + s) / w = 1 + s * / w) by (intro; field; lra).
  unfold slope. destruct (Rlt_dec z (- w)) as [in0|o0]; [|destruct (Rlt_dec 0 z) as [up|mid]].
  - assert (p : 0 < - w - z) by lra. apply derive_locally with (f' := fun _ => 0) (d := mkposreal _ p); [|apply derivable_pt_lim_const].
    simpl. intros s Hs. apply Rabs_def2 in Hs. unfold ramp. rewrite E. assert (s * / w < - w * / w) by (apply Rmult_lt_compat_r; lra).
    replace (- w * / w) with (-1) in * by (field; lra). rewrite Rmin_right, Rmax_left; lra.
  - apply derive_locally with (f' := fun _ => 1) (d := mkposreal _ up); [|apply derivable_pt_lim_const].
    simpl. intros s Hs. apply Rabs_def2 in Hs. unfold ramp. rewrite E. assert (0 < s * / w) by (apply Rmult_lt_0_compat; lra). rewrite Rmin_left, Rmax_right; lra.
  - assert (p : 0 < Rmin (z + w) (- z)) by (apply Rmin_glb_lt; lra). apply derive_locally with (f' := fun s => 1 + / w * s) (d := mkposreal _ p).
    + simpl. intros s Hs. apply Rabs_def2 in Hs. pose proof (Rmin_l (z + w) (- z)). pose proof (Rmin_r (z + w) (- z)). unfold ramp. rewrite E.
      assert (- w * / w < s * / w) by (apply Rmult_lt_compat_r; lra). assert (s * / w < 0 * / w) by (apply Rmult_lt_compat_r; lra).
      replace (- w * / w) with (-1) in * by (field; lra). rewrite Rmin_right, Rmax_right; lra.
    + assert (Q : derivable_pt_lim (fun s => 1 + / w * s) z (0 + / w * 1)).
      { apply (derivable_pt_lim_plus (fun _ => 1) (fun s => / w * s)); [apply derivable_pt_lim_const|].
        apply (derivable_pt_lim_scal id (/ w)). apply derivable_pt_lim_id. }
      now replace (0 + / w * 1) with (/ w) in Q by ring.
Qed.

(* dρ_i/dx = σ_λσ_h′ dh_i/dx + σ_hσ_λ′ dλ_i/dx along any direction, both ramps off their corners; a row that stays active has
   dh_i/dx = 0, and inside the ramp of λ what is left is σ_h/ε_λ dλ_i/dx *)
Theorem weights_gradient (w eps : R) (h lam : R -> R) dh dlam : 0 < w -> 0 < eps -> h 0 <> - w -> h 0 <> 0 -> lam 0 <> 0 -> lam 0 <> eps ->
  derivable_pt_lim h 0 dh -> derivable_pt_lim lam 0 dlam ->
  derivable_pt_lim (fun t => weight w eps (h t) (lam t)) 0 (slope w (h 0) * dh * ramp eps (lam 0 - eps) + ramp w (h 0) * (slope eps (lam 0 - eps) * dlam)) /\
  (dh = 0 -> 0 < lam 0 < eps -> derivable_pt_lim (fun t => weight w eps (h t) (lam t)) 0 (ramp w (h 0) / eps * dlam)).
Proof.
  intros Hw He n1 n2 n3 n4 Dh Dl.
  assert (D : derivable_pt_lim (fun t => weight w eps (h t) (lam t)) 0 (slope w (h 0) * dh * ramp eps (lam 0 - eps) + ramp w (h 0) * (slope eps (lam 0 - eps) * dlam))).
  { apply (derivable_pt_lim_mult (fun t => ramp w (h t)) (fun t => ramp eps (lam t - eps))).
    - apply (derivable_pt_lim_comp h (ramp w)); [exact Dh|]. apply ramp_derivative; assumption.
    - apply (derivable_pt_lim_comp (fun t => lam t - eps) (ramp eps)).
      + replace dlam with (dlam - 0) by ring. apply (derivable_pt_lim_minus lam (fun _ => eps)); [exact Dl|apply derivable_pt_lim_const].
      + apply ramp_derivative; lra. }
  split; [exact D|]. intros z [l0 l1]. replace (ramp w (h 0) / eps * dlam) with (slope w (h 0) * dh * ramp eps (lam 0 - eps) + ramp w (h 0) * (slope eps (lam 0 - eps) * dlam)); [exact D|].
  rewrite z. unfold slope at 2. destruct (Rlt_dec (lam 0 - eps) (- eps)); [lra|]. destruct (Rlt_dec 0 (lam 0 - eps)); [lra|]. unfold Rdiv. ring.
Qed.

Lemma derive_sum n (f : nat -> R -> R) (l : nat -> R) t : (forall i, (i < n)%nat -> derivable_pt_lim (f i) t (l i)) -> derivable_pt_lim (fun s => sum n (fun i => f i s)) t (sum n l).
Proof.
  induction n as [|n IH]; intro H; simpl; [apply derivable_pt_lim_const|].
  apply (derivable_pt_lim_plus (fun s => sum n (fun i => f i s)) (f n)); [apply IH; auto|auto].
Qed.

(* d/dx (L_λ* − L_λ̃) at a fixed y, weights' part apart, is α₁AᵀΔλ and a third part α₁(dΔλ/dx)ᵀh; a: the derivatives of h_i *)
Theorem multiplier_derivative n (u : R) (dl drho h : nat -> R -> R) (a dl' drho' : nat -> R) : 
  (forall i, (i < n)%nat -> derivable_pt_lim (dl i) 0 (dl' i) /\ derivable_pt_lim (drho i) 0 (drho' i) /\ derivable_pt_lim (h i) 0 (a i)) ->
  derivable_pt_lim (fun t => sum n (fun i => / u * (dl i t * h i t) + / (2 * (u * u)) * (drho i t * (h i t * h i t)))) 0
    (/ u * sum n (fun i => dl i 0 * a i) + / u * sum n (fun i => dl' i * h i 0)
      + / (2 * (u * u)) * sum n (fun i => drho' i * (h i 0 * h i 0) + drho i 0 * (2 * (h i 0 * a i)))).
Proof.
  intro H. rewrite <- !sum_scale, <- !sum_plus.
  apply (derive_sum n (fun i t => / u * (dl i t * h i t) + / (2 * (u * u)) * (drho i t * (h i t * h i t)))). intros i Hi. destruct (H i Hi) as [D1 [D2 D3]].
  apply (derivable_pt_lim_plus (fun t => / u * (dl i t * h i t)) (fun t => / (2 * (u * u)) * (drho i t * (h i t * h i t)))).
  - replace (/ u * (dl i 0 * a i) + / u * (dl' i * h i 0)) with (/ u * (dl' i * h i 0 + dl i 0 * a i)) by ring.
    apply (derivable_pt_lim_scal (fun t => dl i t * h i t) (/ u)). now apply (derivable_pt_lim_mult (dl i) (h i)).
  - apply (derivable_pt_lim_scal (fun t => drho i t * (h i t * h i t)) (/ (2 * (u * u)))).
    replace (2 * (h i 0 * a i)) with (a i * h i 0 + h i 0 * a i) by ring.
    apply (derivable_pt_lim_mult (drho i) (fun t => h i t * h i t)); [assumption|]. now apply (derivable_pt_lim_mult (h i) (h i)).
Qed.

(* T2 as a vector, dual term cancelled, f and g quadratic: T2 = ∇²_xyL Δy + α⁻⁴Aᵀ(Δρ∘h), d = Δy, h the rows' values at the minimiser
   for lambda-star, ∇²_xyL = f_xy + α⁻²g_xy − α⁻⁴Aᵀdiag(ρ̃)B *)
Theorem T2_split (X V : space) n (A : X -> coords n) (B : V -> coords n) (Rt St : X -> V) (u : R) (d : V) (h rho1 rho2 : coords n) (t2 : X) : 
  (forall dx, inner t2 dx = inner (Rt dx) d + inner (St dx) d / u + (inner (weigh rho2 (sub h (B d))) (A dx) - inner (weigh rho1 h) (A dx)) / (u * u)) ->
  forall dx, inner t2 dx = (inner (Rt dx) d + inner (St dx) d / u - inner (weigh rho2 (B d)) (A dx) / (u * u)) + inner (weigh (sub rho2 rho1) h) (A dx) / (u * u).
Proof. intros H dx. rewrite H, weigh_sub, weigh_weights. unfold Rdiv. ring. Qed.

(* The deterministic method subtracts the value g(x, y-star(x)), whose derivative along x is ∇_xg + Aᵀλ*: with the multiplier
   term cancelled the estimator is its gradient, exactly.  gy = ∇_yg = Bᵀλ*, BDy* = A. *)
Theorem parent_limit (X V W : space) (A : X -> W) (B : V -> W) (Y : X -> V) (u : R) (fx gxy gx value rows det est : X) (gy : V) (lam : W) :
  (forall v, inner gy v = inner lam (B v)) -> (forall dx, inner lam (B (Y dx)) = inner lam (A dx)) ->
  (forall dx, inner value dx = inner gx dx + inner gy (Y dx)) ->
  (forall dx, inner det dx = inner fx dx + (inner gxy dx + inner lam (A dx) - inner value dx) / u + inner rows dx) ->
  (forall dx, inner est dx = inner fx dx + (inner gxy dx - inner gx dx) / u + inner rows dx) ->
  forall dx, inner value dx = inner gx dx + inner lam (A dx) /\ inner est dx = inner det dx.
Proof. intros Hg HY Hv Hd He dx. assert (E : inner value dx = inner gx dx + inner lam (A dx)) by (rewrite Hv, Hg, HY; reflexivity). split; [exact E|]. rewrite He, Hd, E. unfold Rdiv. ring. Qed.

(* ∇²_xyL = f_xy + α⁻²g_xy − α⁻⁴Aᵀdiag(ρ)B, the Lipschitz constant of ∇_xL in y: m v is it times v; 0 ≤ ρ ≤ 1 shortens *)
Theorem mixed_derivative (X V W : space) (Rt St : X -> V) (A : X -> W) (B : V -> W) (P : W -> W) (m : V -> X) (u Cf Cg LA LB : R) :
  0 < u <= 1 -> 0 <= Cf -> 0 <= Cg -> 0 <= LA -> 0 <= LB ->
  (forall v dx, inner (m v) dx = inner (Rt dx) v + inner (St dx) v / u - inner (P (B v)) (A dx) / (u * u)) ->
  (forall dx, norm (Rt dx) <= Cf * norm dx) -> (forall dx, norm (St dx) <= Cg * norm dx) -> (forall dx, norm (A dx) <= LA * norm dx) ->
  (forall v, norm (B v) <= LB * norm v) -> (forall w, norm (P w) <= norm w) ->
  (forall v, norm (m v) <= (Cf + Cg / u + LA * LB / (u * u)) * norm v) /\
  Cf + Cg / u + LA * LB / (u * u) <= (Cf + Cg + LA * LB) / (u * u) /\ (LA = 0 -> Cf + Cg / u + LA * LB / (u * u) <= (Cf + Cg) / u).
Proof.
  intros [Hu H1] Hf Hg HA HB Hm R_le S_le A_le B_le P_le. assert (iu : 0 < / u) by now apply Rinv_0_lt_compat. assert (i2 : 0 < / (u * u)) by (apply Rinv_0_lt_compat; nra).
  assert (ab : 0 <= LA * LB) by now apply Rmult_le_pos. assert (u1 : 1 <= / u) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (u2 : / u <= / (u * u)) by (apply Rinv_le_contravar; nra). split; [|split].
  - intro v. pose proof (norm_pos V v) as pv. assert (0 <= Cg / u) by (apply Rmult_le_pos; lra). assert (0 <= LA * LB / (u * u)) by (apply Rmult_le_pos; lra).
    apply norm_dual; [apply Rmult_le_pos; lra|]. intro dx. rewrite Hm. pose proof (norm_pos X dx) as px.
    pose proof (cauchy_schwarz V (Rt dx) v). pose proof (cauchy_schwarz V (St dx) v). pose proof (cauchy_schwarz_neg W (P (B v)) (A dx)).
    assert (norm (Rt dx) * norm v <= Cf * norm dx * norm v) by (apply Rmult_le_compat_r; auto).
    assert (norm (St dx) * norm v <= Cg * norm dx * norm v) by (apply Rmult_le_compat_r; auto).
    assert (Q : norm (P (B v)) * norm (A dx) <= LB * norm v * (LA * norm dx)).
    { apply Rmult_le_compat; [apply norm_pos|apply norm_pos| |apply A_le]. apply Rle_trans with (1 := P_le (B v)). apply B_le. }
    assert (inner (St dx) v / u <= Cg * norm dx * norm v / u) by (apply Rmult_le_compat_r; lra).
    assert (- (LB * norm v * (LA * norm dx)) / (u * u) <= inner (P (B v)) (A dx) / (u * u)) by (apply Rmult_le_compat_r; lra).
    replace ((Cf + Cg / u + LA * LB / (u * u)) * norm v * norm dx) with (Cf * norm dx * norm v + Cg * norm dx * norm v / u - - (LB * norm v * (LA * norm dx)) / (u * u))
      by (unfold Rdiv; ring). lra.
  - unfold Rdiv. rewrite !Rmult_plus_distr_r. assert (Cf * 1 <= Cf * / (u * u)) by (apply Rmult_le_compat_l; lra). assert (Cg * / u <= Cg * / (u * u)) by (apply Rmult_le_compat_l; lra). lra.
  - intros ->. unfold Rdiv. rewrite Rmult_plus_distr_r. assert (Cf * 1 <= Cf * / u) by (apply Rmult_le_compat_l; lra). lra.
Qed.
