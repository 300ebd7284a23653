(* T1 from both sides: what a gradient r left at y does to the estimator.  It adds -Y'r, Y = D y-star, up to a higher order, so
   the constant of |T1| <= L_y |r| + ... is attained where Y' does not shorten r.
   ytr is the vector Y'r; the other letters are those of bias.v, W holds the weighted rows. *)
From Coq Require Import Reals Lra Psatz.
From f2csa Require Import hilbert shift bias as_written.
Local Open Scope R_scope.

Section residual.
  Variables X V W : space.
  Variables (A : X -> W) (B : V -> W) (G : V -> V) (St Y : X -> V) (Lam : X -> W).
  Variables (alpha u mu Cf LY LL rho rest : R) (fx dfx dgx est grad ytr : X) (c df dg r e : V) (nu : W).
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
  Hypothesis ytr_is : forall dx, inner ytr dx = inner r (Y dx).
  Hypothesis strong : mu * inner e e <= inner dg e.
  Hypothesis curve_f : - (Cf * inner e e) <= inner df e.
  Hypothesis weights : rho * inner (B e) (B e) <= u * u * inner nu (B e).
  Hypothesis Cf_pos : 0 <= Cf.
  Hypothesis LY_pos : 0 <= LY.
  Hypothesis LL_pos : 0 <= LL.
  Hypothesis lipschitz_y : forall dx, norm (Y dx) <= LY * norm dx.
  Hypothesis lipschitz_lam : forall dx, norm (Lam dx) <= LL * norm dx.
  Hypothesis smooth_fx : norm dfx <= Cf * norm e.
  Hypothesis smooth_fy : norm df <= Cf * norm e.
  Hypothesis rest_x : forall dx, inner dgx dx - inner (St dx) e <= rest * norm dx.
  Hypothesis rest_y : forall v, inner dg v - inner (G v) e <= rest * norm v.
  Hypothesis rest_pos : 0 <= rest.

  Let gamma := norm (sub r c).

  Lemma without_residual : norm (add (sub est grad) ytr) <= Cf * (1 + LY) * norm e + LL * norm (B e) / u + (1 + LY) * rest / u.
  Proof.
    assert (up : 0 < u) by (rewrite u_alpha; nra). assert (iu : 0 < / u) by now apply Rinv_0_lt_compat.
    pose proof (norm_pos V e) as pe. pose proof (norm_pos W (B e)) as pb.
    assert (0 <= Cf * (1 + LY) * norm e) by (repeat apply Rmult_le_pos; lra). assert (0 <= LL * norm (B e) / u) by (repeat apply Rmult_le_pos; lra).
    assert (0 <= (1 + LY) * rest / u) by (repeat apply Rmult_le_pos; lra).
    apply norm_dual; [lra|]. intro dx.
    rewrite inner_add, inner_sub, (master_identity X V W A B G St Y Lam u fx dfx dgx est grad c df dg r e nu up diff_stationary diff_rows truth estimator gradient), ytr_is.
    pose proof (norm_pos X dx) as pd. pose proof (norm_pos V (Y dx)) as py. pose proof (lipschitz_y dx) as ly. pose proof (lipschitz_lam dx) as ll.
    pose proof (cauchy_schwarz X dfx dx). pose proof (cauchy_schwarz V df (Y dx)). pose proof (cauchy_schwarz W (Lam dx) (B e)).
    pose proof (rest_x dx). pose proof (rest_y (Y dx)). pose proof (norm_pos V df).
    assert (norm dfx * norm dx <= Cf * norm e * norm dx) by (apply Rmult_le_compat_r; lra).
    assert (norm df * norm (Y dx) <= Cf * norm e * (LY * norm dx)) by (apply Rmult_le_compat; lra).
    assert (norm (Lam dx) * norm (B e) <= LL * norm dx * norm (B e)) by (apply Rmult_le_compat_r; lra).
    assert (inner (Lam dx) (B e) / u <= LL * norm dx * norm (B e) / u) by (apply Rmult_le_compat_r; lra).
    assert (rest * norm (Y dx) <= rest * (LY * norm dx)) by (apply Rmult_le_compat_l; lra).
    assert ((inner dgx dx - inner (St dx) e + (inner dg (Y dx) - inner (G (Y dx)) e)) / u <= (rest * norm dx + rest * (LY * norm dx)) / u) by (apply Rmult_le_compat_r; lra).
    replace ((Cf * (1 + LY) * norm e + LL * norm (B e) / u + (1 + LY) * rest / u) * norm dx)
      with (Cf * norm e * norm dx + Cf * norm e * (LY * norm dx) + LL * norm dx * norm (B e) / u + (rest * norm dx + rest * (LY * norm dx)) / u) by (unfold Rdiv; ring).
    lra.
  Qed.

  (* ‖est − ∇F + (Dy-star)ᵀr‖ ≤ αL_λγ/(2√(ρμ_α)) + α²C_f(1 + L_y)γ/μ_α + α⁻²(1 + L_y)·rest, γ = ‖r − ∇_yf‖ *)
  Theorem residual_part :
    norm (add (sub est grad) ytr) <= alpha * (LL * gamma / (2 * sqrt (rho * (mu - u * Cf)))) + u * (Cf * (1 + LY) * gamma / (mu - u * Cf)) + (1 + LY) * rest / u.
  Proof.
    assert (up : 0 < u) by (rewrite u_alpha; nra). assert (iu : 0 < / u) by now apply Rinv_0_lt_compat. pose proof without_residual as E.
    pose proof (shift_bound V W B mu Cf u alpha rho c df dg r e nu alpha_pos u_alpha rho_pos small strong curve_f weights gradient) as S.
    pose proof (row_bound V W B mu Cf u alpha rho c df dg r e nu alpha_pos u_alpha rho_pos small strong curve_f weights gradient) as Q.
    fold gamma in S, Q. assert (0 <= Cf * (1 + LY)) by (apply Rmult_le_pos; lra).
    assert (pq : 0 < rho * (mu - u * Cf)) by nra. pose proof (sqrt_lt_R0 _ pq) as sq.
    apply (Rmult_le_compat_l (Cf * (1 + LY))) in S; [|assumption]. apply (Rmult_le_compat_l (LL * / u)) in Q; [|apply Rmult_le_pos; lra].
    replace (LL * / u * (u * alpha * gamma / (2 * sqrt (rho * (mu - u * Cf))))) with (alpha * (LL * gamma / (2 * sqrt (rho * (mu - u * Cf))))) in Q by (field; lra).
    replace (Cf * (1 + LY) * (u * gamma / (mu - u * Cf))) with (u * (Cf * (1 + LY) * gamma / (mu - u * Cf))) in S by (field; lra).
    replace (LL * norm (B e) / u) with (LL * / u * norm (B e)) in E by (unfold Rdiv; ring). lra.
  Qed.

  (* With sigma_min(B) >= sigma the rest is of order alpha^2, whatever r is, and the left error on active rows of order alpha^4 gamma. *)
  Variables (Bt : W -> V) (Cg sigma : R).
  Hypothesis sigma_pos : 0 < sigma.
  Hypothesis Cg_pos : 0 <= Cg.
  Hypothesis adjoint : forall v w, inner (Bt w) v = inner w (B v).
  Hypothesis licq : forall w, sigma * norm w <= norm (Bt w).
  Hypothesis smooth_g : norm dg <= Cg * norm e.
  Hypothesis weights_norm : rho * norm (B e) <= u * u * norm nu.

  (* ‖B_I(y − y-star)‖ ≤ α⁴(1 + κ_α)γ/(ρσ) *)
  Theorem rows_left : norm (B e) <= u * u * ((1 + (Cg + u * Cf) / (mu - u * Cf)) * gamma / (rho * sigma)).
  Proof.
    pose proof (multiplier_bound V W B mu Cf u alpha rho c df dg r e nu alpha_pos u_alpha rho_pos small strong curve_f weights gradient
      Bt Cg sigma sigma_pos Cg_pos Cf_pos adjoint licq smooth_g smooth_fy) as Q. fold gamma in Q.
    apply (Rmult_le_reg_l rho); [assumption|]. assert (uu : 0 <= u * u) by nra.
    replace (rho * (u * u * ((1 + (Cg + u * Cf) / (mu - u * Cf)) * gamma / (rho * sigma)))) with (u * u * ((1 + (Cg + u * Cf) / (mu - u * Cf)) * gamma / sigma)) by (field; lra).
    apply (Rmult_le_compat_l (u * u)) in Q; lra.
  Qed.

  (* | ‖est − ∇F‖ − ‖(Dy-star)ᵀr‖ | ≤ α²(C_f(1 + L_y)/μ_α + L_λ(1 + κ_α)/(ρσ))γ + α⁻²(1 + L_y)·rest *)
  Theorem error_both_sides :
    Rabs (norm (sub est grad) - norm ytr) <=
      u * ((Cf * (1 + LY) / (mu - u * Cf) + LL * (1 + (Cg + u * Cf) / (mu - u * Cf)) / (rho * sigma)) * gamma) + (1 + LY) * rest / u.
  Proof.
    assert (up : 0 < u) by (rewrite u_alpha; nra). assert (iu : 0 < / u) by now apply Rinv_0_lt_compat.
    pose proof without_residual as E. pose proof rows_left as Q.
    pose proof (shift_bound V W B mu Cf u alpha rho c df dg r e nu alpha_pos u_alpha rho_pos small strong curve_f weights gradient) as S. fold gamma in S.
    assert (0 <= Cf * (1 + LY)) by (apply Rmult_le_pos; lra).
    apply (Rmult_le_compat_l (Cf * (1 + LY))) in S; [|assumption]. apply (Rmult_le_compat_l (LL * / u)) in Q; [|apply Rmult_le_pos; lra].
    replace (LL * norm (B e) / u) with (LL * / u * norm (B e)) in E by (unfold Rdiv; ring).
    set (k := (Cg + u * Cf) / (mu - u * Cf)) in *.
    replace (u * ((Cf * (1 + LY) / (mu - u * Cf) + LL * (1 + k) / (rho * sigma)) * gamma))
      with (Cf * (1 + LY) * (u * gamma / (mu - u * Cf)) + LL * / u * (u * u * ((1 + k) * gamma / (rho * sigma)))) by (field; lra).
    set (m := norm (add (sub est grad) ytr)) in *.
    pose proof (reverse_triangle X ytr (sub est grad)) as R1. pose proof (reverse_triangle X (sub est grad) ytr) as R2.
    assert (C : norm (add ytr (sub est grad)) = m).
    { unfold m, norm. f_equal. rewrite !inner_add, !inner_add_r, (inner_sym _ ytr (sub est grad)). ring. }
    rewrite C in R1. fold m in R2. apply Rabs_le. lra.
  Qed.
End residual.

(* T1 itself: y with a gradient r left against the exact penalty minimiser.  e, dfx, df, dgx, dg are the changes between the two,
   t1 that of the estimator; G, St are second derivatives of g at y-star, the rests what they leave of dgx and dg. *)
Section T1.
  Variables X V W : space.
  Variables (A : X -> W) (B : V -> W) (G : V -> V) (St Y : X -> V) (Lam : X -> W) (Bt : W -> V).
  Variables (alpha u mu Cf Cg LY LL rho sigma rest : R) (dfx dgx t1 ytr : X) (df dg r e : V) (nu : W).
  Hypothesis alpha_pos : 0 < alpha.
  Hypothesis u_alpha : u = alpha * alpha.
  Hypothesis rho_pos : 0 < rho.
  Hypothesis sigma_pos : 0 < sigma.
  Hypothesis small : 0 < mu - u * Cf.
  Hypothesis diff_stationary : forall dx v, inner (G (Y dx)) v + inner (St dx) v = inner (Lam dx) (B v).
  Hypothesis diff_rows : forall dx w, inner w (B (Y dx)) = inner w (A dx).
  Hypothesis change : forall dx, inner t1 dx = inner dfx dx + inner dgx dx / u - inner nu (A dx).
  Hypothesis left_gradient : forall v, inner df v + inner dg v / u + inner nu (B v) = inner r v.
  Hypothesis ytr_is : forall dx, inner ytr dx = inner r (Y dx).
  Hypothesis rest_x : forall dx, inner dgx dx - inner (St dx) e <= rest * norm dx.
  Hypothesis rest_y : forall v, inner dg v - inner (G v) e <= rest * norm v.
  Hypothesis rest_pos : 0 <= rest.
  Hypothesis strong : mu * inner e e <= inner dg e.
  Hypothesis curve_f : - (Cf * inner e e) <= inner df e.
  Hypothesis weights : rho * inner (B e) (B e) <= u * u * inner nu (B e).
  Hypothesis weights_norm : rho * norm (B e) <= u * u * norm nu.
  Hypothesis Cf_pos : 0 <= Cf.
  Hypothesis Cg_pos : 0 <= Cg.
  Hypothesis LY_pos : 0 <= LY.
  Hypothesis LL_pos : 0 <= LL.
  Hypothesis lipschitz_y : forall dx, norm (Y dx) <= LY * norm dx.
  Hypothesis lipschitz_lam : forall dx, norm (Lam dx) <= LL * norm dx.
  Hypothesis smooth_fx : norm dfx <= Cf * norm e.
  Hypothesis smooth_fy : norm df <= Cf * norm e.
  Hypothesis smooth_g : norm dg <= Cg * norm e.
  Hypothesis adjoint : forall v w, inner (Bt w) v = inner w (B v).
  Hypothesis licq : forall w, sigma * norm w <= norm (Bt w).

  Let k := (Cg + u * Cf) / (mu - u * Cf).

  Lemma zero_c : norm (sub r zero) = norm r.
  Proof. unfold norm. f_equal. rewrite inner_sub, !inner_sub_r, inner_zero, !inner_zero_r. ring. Qed.

  Lemma with_zero v : inner zero v + inner df v + inner dg v / u + inner nu (B v) = inner r v.
  Proof. rewrite inner_zero, <- left_gradient. ring. Qed.

  (* ‖∇_yL‖ ≤ α leaves at most α⁵(1 + κ_α)/(ρσ) along the active rows and α³/μ_α in all *)
  Theorem stop_error : norm r <= alpha ->
    norm (B e) <= alpha * alpha * alpha * alpha * alpha * ((1 + k) / (rho * sigma)) /\ norm e <= alpha * alpha * alpha / (mu - u * Cf).
  Proof.
    intro stop. assert (up : 0 < u) by (rewrite u_alpha; nra). assert (im : 0 < / (mu - u * Cf)) by now apply Rinv_0_lt_compat.
    pose proof (rows_left V W B alpha u mu Cf rho zero df dg r e nu alpha_pos u_alpha rho_pos small with_zero strong curve_f weights Cf_pos smooth_fy
      Bt Cg sigma sigma_pos Cg_pos adjoint licq smooth_g weights_norm) as Q.
    pose proof (shift_bound V W B mu Cf u alpha rho zero df dg r e nu alpha_pos u_alpha rho_pos small strong curve_f weights with_zero) as S.
    rewrite zero_c in Q, S. fold k in Q. assert (k0 : 0 <= k) by (unfold k; apply Rmult_le_pos; [assert (0 <= u * Cf) by (apply Rmult_le_pos; lra)|]; lra).
    assert (irs : 0 < / (rho * sigma)) by (apply Rinv_0_lt_compat; nra). split.
    - apply Rle_trans with (1 := Q). replace (alpha * alpha * alpha * alpha * alpha * ((1 + k) / (rho * sigma))) with (u * u * ((1 + k) * alpha / (rho * sigma)))
        by (rewrite u_alpha; unfold Rdiv; ring).
      apply Rmult_le_compat_l; [nra|]. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra.
    - apply Rle_trans with (1 := S). rewrite u_alpha. apply Rmult_le_compat_r; [rewrite <- u_alpha; lra|]. apply Rmult_le_compat_l; [nra|exact stop].
  Qed.

  (* | ‖T₁‖ − ‖(Dy-star)ᵀr‖ | ≤ α²(C_f(1 + L_y)/μ_α + L_λ(1 + κ_α)/(ρσ))‖r‖ + α⁻²(1 + L_y)·rest *)
  Theorem T1_both_sides :
    Rabs (norm t1 - norm ytr) <= u * ((Cf * (1 + LY) / (mu - u * Cf) + LL * (1 + k) / (rho * sigma)) * norm r) + (1 + LY) * rest / u.
  Proof.
    assert (F : Rabs (norm (sub t1 zero) - norm ytr) <= u * ((Cf * (1 + LY) / (mu - u * Cf) + LL * (1 + k) / (rho * sigma)) * norm (sub r zero)) + (1 + LY) * rest / u).
    { apply error_both_sides with (V := V) (W := W) (A := A) (B := B) (G := G) (St := St) (Y := Y) (Lam := Lam) (alpha := alpha) (fx := zero) (dfx := dfx) (dgx := dgx)
        (df := df) (dg := dg) (e := e) (nu := nu) (Bt := Bt); try assumption; try exact with_zero.
      - intro dx. rewrite !inner_zero. ring.
      - intro dx. rewrite change, inner_zero. ring. }
    rewrite zero_c in F. assert (Z : norm (sub t1 zero) = norm t1) by (unfold norm; f_equal; rewrite inner_sub, !inner_sub_r, inner_zero, !inner_zero_r; ring).
    rewrite Z in F. exact F.
  Qed.
End T1.

(* An error within K alpha^2 of |Y'r|, with |r| = alpha and |Y'r| = L_y |r|: it is L_y alpha up to order alpha^2, from both sides. *)
Theorem stop_attains (error ytr ly alpha K : R) : Rabs (error - ytr) <= K * (alpha * alpha) -> ytr = ly * alpha ->
  ly * alpha - K * (alpha * alpha) <= error <= ly * alpha + K * (alpha * alpha).
Proof. intros H ->. pose proof (Rle_abs (error - ly * alpha)). pose proof (Rle_abs (- (error - ly * alpha))) as N. rewrite Rabs_Ropp in N. lra. Qed.
