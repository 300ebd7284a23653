(* The repaired bias lemma with its constant: every allowed inner error spent at once.
   g1 = gradient left at y, |g1| <= alpha; dl = lambda-hat - lambda-star, |dl| <= Cl alpha^3;
   y-star-hat off by at most alpha^3, which moves the value term by at most Cg alpha; weights at least rho on active rows. *)
From Coq Require Import Reals Lra Psatz.
From f2csa Require Import hilbert shift bias.
Local Open Scope R_scope.

Section total.
  Variables X V W W' : space.  (* W: active rows, W': all rows *)
  Variables (A : X -> W) (B : V -> W) (Ball : V -> W') (G : V -> V) (St Y : X -> V) (Lam : X -> W).
  Variables (alpha u mu Cf Cg Cl LB LY LL rho rest Gamma : R) (fx dfx dgx est est' grad : X) (c df dg g1 r e : V) (nu : W) (dl : W').
  Hypothesis alpha_pos : 0 < alpha.
  Hypothesis u_alpha : u = alpha * alpha.
  Hypothesis rho_pos : 0 < rho.
  Hypothesis small : 0 < mu - u * Cf.
  Hypothesis diff_stationary : forall dx v, inner (G (Y dx)) v + inner (St dx) v = inner (Lam dx) (B v).
  Hypothesis diff_rows : forall dx w, inner w (B (Y dx)) = inner w (A dx).
  Hypothesis truth : forall dx, inner grad dx = inner fx dx + inner c (Y dx).
  Hypothesis estimator : forall dx,
    inner est dx = inner fx dx + inner dfx dx + inner dgx dx / u - inner nu (A dx).
  Hypothesis gradient : forall v, inner c v + inner df v + inner dg v / u + inner nu (B v) = inner r v.
  (* y has gradient g1 for the multiplier lambda-hat *)
  Hypothesis residual : forall v, inner r v = inner g1 v + inner dl (Ball v) / u.
  Hypothesis gradient_stop : norm g1 <= alpha.
  Hypothesis dual_accuracy : norm dl <= Cl * (alpha * alpha * alpha).
  Hypothesis rows_bounded : forall v, norm (Ball v) <= LB * norm v.
  Hypothesis value_term : norm (sub est' est) <= Cg * alpha.
  Hypothesis strong : mu * inner e e <= inner dg e.
  Hypothesis curve_f : - (Cf * inner e e) <= inner df e.
  Hypothesis weights : rho * inner (B e) (B e) <= u * u * inner nu (B e).
  Hypothesis Cf_pos : 0 <= Cf.
  Hypothesis Cl_pos : 0 <= Cl.
  Hypothesis LB_pos : 0 <= LB.
  Hypothesis LY_pos : 0 <= LY.
  Hypothesis LL_pos : 0 <= LL.
  Hypothesis lipschitz_y : forall dx, norm (Y dx) <= LY * norm dx.
  Hypothesis lipschitz_lam : forall dx, norm (Lam dx) <= LL * norm dx.
  Hypothesis smooth_fx : norm dfx <= Cf * norm e.
  Hypothesis smooth_fy : norm df <= Cf * norm e.
  Hypothesis rest_x : forall dx, inner dgx dx - inner (St dx) e <= rest * norm dx.
  Hypothesis rest_y : forall v, inner dg v - inner (G v) e <= rest * norm v.
  Hypothesis rest_pos : 0 <= rest.
  Hypothesis Gamma_is : norm c + alpha * (1 + LB * Cl) <= Gamma.

  Lemma residual_bound : norm r <= alpha * (1 + LB * Cl).
  Proof.
    assert (up : 0 < u) by (rewrite u_alpha; nra). assert (iu : 0 < / u) by now apply Rinv_0_lt_compat.
    assert (LC : 0 <= LB * Cl) by (apply Rmult_le_pos; assumption).
    apply norm_dual; [apply Rmult_le_pos; lra|]. intro v. rewrite residual.
    pose proof (cauchy_schwarz V g1 v). pose proof (cauchy_schwarz W' dl (Ball v)). pose proof (norm_pos V v). pose proof (norm_pos V g1).
    pose proof (norm_pos W' dl). pose proof (norm_pos W' (Ball v)). pose proof (rows_bounded v).
    assert (norm g1 * norm v <= alpha * norm v) by (apply Rmult_le_compat_r; lra).
    assert (norm dl * norm (Ball v) <= Cl * (alpha * alpha * alpha) * (LB * norm v)) by (apply Rmult_le_compat; lra).
    assert (inner dl (Ball v) / u <= Cl * (alpha * alpha * alpha) * (LB * norm v) / u) by (apply Rmult_le_compat_r; lra).
    replace (Cl * (alpha * alpha * alpha) * (LB * norm v) / u) with (alpha * (LB * Cl) * norm v) in *
      by (rewrite u_alpha; field; lra). lra.
  Qed.

  (* |bias| <= alpha (LY (1 + |B| Cl) + Cg + LL Gamma / (2 sqrt(rho (mu - alpha^2 Cf)))) + alpha^2 Cf (1 + LY) Gamma / (mu - alpha^2 Cf)
              + (1 + LY) rest / alpha^2 *)
  Theorem repaired_bias_bound :
    norm (sub est' grad) <=
      alpha * (LY * (1 + LB * Cl) + Cg + LL * Gamma / (2 * sqrt (rho * (mu - u * Cf))))
      + alpha * alpha * (Cf * (1 + LY) * Gamma / (mu - u * Cf)) + (1 + LY) * rest / (alpha * alpha).
  Proof.
    pose proof (bias_bound_alpha X V W A B G St Y Lam alpha u mu Cf LY LL rho rest fx dfx dgx est grad c df dg r e nu
      alpha_pos u_alpha rho_pos small diff_stationary diff_rows truth estimator gradient strong curve_f weights Cf_pos LY_pos LL_pos
      lipschitz_y lipschitz_lam smooth_fx smooth_fy rest_x rest_y rest_pos) as E.
    pose proof residual_bound as R0. pose proof (norm_sub V r c) as g. pose proof (norm_pos V (sub r c)) as g0.
    assert (gG : norm (sub r c) <= Gamma) by lra.
    assert (T : norm (sub est' grad) <= norm (sub est' est) + norm (sub est grad)).
    { pose proof (triangle X (sub est' est) (sub est grad)) as T. apply Rle_trans with (2 := T). right. unfold norm. f_equal.
      expand_inner. rewrite (inner_sym _ est est'), (inner_sym _ grad est'), (inner_sym _ grad est). ring. }
    assert (pq : 0 < rho * (mu - u * Cf)) by (apply Rmult_lt_0_compat; lra). pose proof (sqrt_lt_R0 _ pq) as sq.
    assert (i1 : 0 < / (2 * sqrt (rho * (mu - u * Cf)))) by (apply Rinv_0_lt_compat; lra).
    assert (i2 : 0 < / (mu - u * Cf)) by (now apply Rinv_0_lt_compat).
    assert (T1 : LY * norm r <= LY * (alpha * (1 + LB * Cl))) by (apply Rmult_le_compat_l; lra).
    assert (T2 : alpha * (LL * norm (sub r c) / (2 * sqrt (rho * (mu - u * Cf)))) <= alpha * (LL * Gamma / (2 * sqrt (rho * (mu - u * Cf))))).
    { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
    assert (T3 : alpha * alpha * (Cf * (1 + LY) * norm (sub r c) / (mu - u * Cf)) <= alpha * alpha * (Cf * (1 + LY) * Gamma / (mu - u * Cf))).
    { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|lra]. }
    lra.
  Qed.
End total.
