(* T2 with errors of the multiplier on any rows, inactive ones too: the part along the active rows loses one power of
   alpha against errors on active rows alone, and T2 stays O(alpha) for |dl| = O(alpha^3).
   Notation of multiplier_error.v: d = shift of the minimiser, dl = lambda-hat - lambda-star, nu = alpha^-4 rho (B d),
   B the active rows, Ball all of them. *)
From Coq Require Import Reals Lra Psatz.
From f2csa Require Import hilbert bias solution multiplier_error.
Local Open Scope R_scope.

Section shifts.
  Variables V W W' : space.
  Variables (B : V -> W) (Ball : V -> W') (mu Cf LB u rho : R) (df dg d : V) (nu : W) (dl : W').
  Hypothesis u_pos : 0 < u.
  Hypothesis rho_pos : 0 < rho.
  Hypothesis LB_pos : 0 <= LB.
  Hypothesis small : 0 < mu - u * Cf.
  Hypothesis strong : mu * inner d d <= inner dg d.
  Hypothesis curve_f : - (Cf * inner d d) <= inner df d.
  Hypothesis weights : rho * inner (B d) (B d) <= u * u * inner nu (B d).
  Hypothesis all_rows : norm (Ball d) <= LB * norm d.
  Hypothesis stationary : forall v, inner df v + inner dg v / u + inner nu (B v) = inner dl (Ball v) / u.

  Lemma energy : u * ((mu - u * Cf) * (norm d * norm d)) + rho * (norm (B d) * norm (B d)) <= u * (LB * norm dl * norm d).
  Proof.
    pose proof (stationary d) as S. pose proof (cauchy_schwarz W' dl (Ball d)) as CS.
    pose proof (norm_pos W' dl). pose proof (norm_pos V d).
    assert (norm dl * norm (Ball d) <= norm dl * (LB * norm d)) by (apply Rmult_le_compat_l; lra).
    rewrite !norm_sq.
    assert (Q : (mu - u * Cf) * inner d d <= u * (inner df d + inner dg d / u)).
    { replace (u * (inner df d + inner dg d / u)) with (u * inner df d + inner dg d) by (field; lra). nra. }
    assert (E : u * u * inner nu (B d) = u * inner dl (Ball d) - u * (u * (inner df d + inner dg d / u))).
    { replace (inner nu (B d)) with (inner dl (Ball d) / u - (inner df d + inner dg d / u)) by lra. field. lra. }
    assert (u * ((mu - u * Cf) * inner d d) <= u * (u * (inner df d + inner dg d / u))) by (apply Rmult_le_compat_l; lra).
    assert (u * inner dl (Ball d) <= u * (norm dl * (LB * norm d))) by (apply Rmult_le_compat_l; lra).
    replace (u * (LB * norm dl * norm d)) with (u * (norm dl * (LB * norm d))) by ring. lra.
  Qed.

  (* 2√(ρ(μ − α²C_f))‖B_IΔy‖ ≤ α‖B‖‖λ̃ − lambda-star‖, squared *)
  Theorem any_rows_shift_sq :
    4 * (rho * (mu - u * Cf)) * (norm (B d) * norm (B d)) <= u * ((LB * norm dl) * (LB * norm dl)).
  Proof.
    pose proof energy as En. pose proof (Rle_0_sqr (LB * norm dl - 2 * (mu - u * Cf) * norm d)) as q. unfold Rsqr in q.
    assert (u * 0 <= u * ((LB * norm dl - 2 * (mu - u * Cf) * norm d) * (LB * norm dl - 2 * (mu - u * Cf) * norm d)))
      by (apply Rmult_le_compat_l; lra).
    assert (4 * (mu - u * Cf) * (rho * (norm (B d) * norm (B d)))
      <= 4 * (mu - u * Cf) * (u * (LB * norm dl * norm d) - u * ((mu - u * Cf) * (norm d * norm d))))
      by (apply Rmult_le_compat_l; lra).
    lra.
  Qed.

  (* ‖Δy‖ ≤ ‖B‖‖λ̃ − lambda-star‖/(μ − α²C_f) *)
  Theorem any_rows_shift : norm d <= LB * norm dl / (mu - u * Cf).
  Proof.
    pose proof energy as En. pose proof (norm_pos V d). pose proof (norm_pos W' dl).
    assert (0 <= rho * (norm (B d) * norm (B d))) by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]).
    assert (K : (mu - u * Cf) * (norm d * norm d) <= LB * norm dl * norm d) by (apply (Rmult_le_reg_l u); [assumption|lra]).
    apply (Rmult_le_reg_r (mu - u * Cf)); [assumption|].
    replace (LB * norm dl / (mu - u * Cf) * (mu - u * Cf)) with (LB * norm dl) by (field; lra).
    destruct (Req_dec (norm d) 0) as [z|nz].
    - rewrite z. assert (0 <= LB * norm dl) by (apply Rmult_le_pos; lra). lra.
    - apply (Rmult_le_reg_r (norm d)); lra.
  Qed.
End shifts.

Section T2_any.
  Variables X V W W' : space.
  Variables (A : X -> W) (B : V -> W) (Ball : V -> W') (G : V -> V) (St Y : X -> V) (Lam : X -> W).
  Variables (alpha u mu Cf LA LB LY LL rho : R) (t2 dfx dgx : X) (df dg d r : V) (nu : W) (dl : W').
  Hypothesis alpha_pos : 0 < alpha.
  Hypothesis u_alpha : u = alpha * alpha.
  Hypothesis rho_pos : 0 < rho.
  Hypothesis small : 0 < mu - u * Cf.
  Hypothesis diff_stationary : forall dx v, inner (G (Y dx)) v + inner (St dx) v = inner (Lam dx) (B v).
  Hypothesis diff_rows : forall dx w, inner w (B (Y dx)) = inner w (A dx).
  Hypothesis change : forall dx, inner t2 dx = inner dfx dx + inner dgx dx / u - inner nu (A dx).
  Hypothesis stationary : forall v, inner df v + inner dg v / u + inner nu (B v) = inner r v.
  Hypothesis residual : forall v, inner r v = inner dl (Ball v) / u.
  Hypothesis linear_x : forall dx, inner dgx dx = inner (St dx) d.
  Hypothesis linear_y : forall v, inner dg v = inner (G v) d.
  Hypothesis strong : mu * inner d d <= inner dg d.
  Hypothesis curve_f : - (Cf * inner d d) <= inner df d.
  Hypothesis weights : rho * inner (B d) (B d) <= u * u * inner nu (B d).
  Hypothesis all_rows : norm (Ball d) <= LB * norm d.
  Hypothesis Cf_pos : 0 <= Cf.
  Hypothesis LA_pos : 0 <= LA.
  Hypothesis LB_pos : 0 < LB.
  Hypothesis LY_pos : 0 <= LY.
  Hypothesis LL_pos : 0 <= LL.
  Hypothesis moving_rows : forall dx, norm (Ball (Y dx)) <= LA * norm dx.
  Hypothesis lipschitz_y : forall dx, norm (Y dx) <= LY * norm dx.
  Hypothesis lipschitz_lam : forall dx, norm (Lam dx) <= LL * norm dx.
  Hypothesis smooth_fx : norm dfx <= Cf * norm d.
  Hypothesis smooth_fy : norm df <= Cf * norm d.

  (* ‖T₂‖ ≤ ‖λ̃ − lambda-star‖(‖B Dy-star‖/α² + L_λ‖B‖/(2α√(ρ(μ − α²C_f))) + C_f(1 + L_y)‖B‖/(μ − α²C_f)) *)
  Theorem T2_any_rows :
    norm t2 <= norm dl * (LA / u + LL * LB / (2 * alpha * sqrt (rho * (mu - u * Cf))) + Cf * (1 + LY) * LB / (mu - u * Cf)).
  Proof.
    assert (stat : forall v, inner df v + inner dg v / u + inner nu (B v) = inner dl (Ball v) / u)
      by (intro v; rewrite stationary; apply residual).
    assert (up : 0 < u) by (rewrite u_alpha; nra).
    assert (pq : 0 < rho * (mu - u * Cf)) by (apply Rmult_lt_0_compat; lra). pose proof (sqrt_lt_R0 _ pq) as sq.
    pose proof (sqrt_sqrt _ (Rlt_le _ _ pq)) as ss. set (s := sqrt (rho * (mu - u * Cf))) in *.
    assert (as_pos : 0 < 2 * alpha * s) by (repeat apply Rmult_lt_0_compat; lra).
    pose proof (any_rows_shift V W W' B Ball mu Cf LB u rho df dg d nu dl up rho_pos (Rlt_le _ _ LB_pos) small strong curve_f
      weights all_rows stat) as S.
    pose proof (any_rows_shift_sq V W W' B Ball mu Cf LB u rho df dg d nu dl up small strong curve_f
      weights all_rows stat) as Q.
    pose proof (norm_pos W (B d)) as pb. pose proof (norm_pos W' dl) as pl.
    assert (R1 : 2 * s * norm (B d) <= alpha * (LB * norm dl)).
    { apply Rsqr_incr_0_var; [|repeat apply Rmult_le_pos; lra]. unfold Rsqr. rewrite u_alpha in Q.
      replace (2 * s * norm (B d) * (2 * s * norm (B d))) with (4 * (s * s) * (norm (B d) * norm (B d))) by ring. rewrite ss, u_alpha. lra. }
    assert (rows : norm (B d) <= u * norm dl / (2 * alpha * s / LB)).
    { replace (u * norm dl / (2 * alpha * s / LB)) with (alpha * (LB * norm dl) / (2 * s)) by (rewrite u_alpha; field; repeat split; lra).
      apply (Rmult_le_reg_r (2 * s)); [lra|]. replace (alpha * (LB * norm dl) / (2 * s) * (2 * s)) with (alpha * (LB * norm dl)) by (field; lra). lra. }
    assert (rp : 0 < 2 * alpha * s / LB) by (apply Rmult_lt_0_compat; [lra|now apply Rinv_0_lt_compat]).
    pose proof (T2_bound X V W W' A B Ball G St Y Lam u mu Cf LA LB LY LL (2 * alpha * s / LB) t2 dfx dgx df dg d r nu dl
      up diff_stationary diff_rows change stationary residual linear_x linear_y small Cf_pos LA_pos (Rlt_le _ _ LB_pos)
      LY_pos LL_pos moving_rows lipschitz_y lipschitz_lam smooth_fx smooth_fy S rows rp) as T.
    replace (LL * LB / (2 * alpha * s)) with (LL / (2 * alpha * s / LB)) by (field; repeat split; lra). exact T.
  Qed.
End T2_any.
