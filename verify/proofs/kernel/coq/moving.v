(* How far an inexact multiplier moves the penalty minimiser when the weights move with it.
   Rows i < n; h0 = h(x, ys), ys the lower-level solution; y1 = ys + e minimises the penalty Lagrangian with lambda-star (lam1)
   and its weights rho1, y2 = y1 + d the one with lambda-hat (lam2) and rho2; h1, h2 the rows' values there.
   df0, dg0 are the changes of grad_y f, grad_y g from ys to y1, df and dg those from y1 to y2; c = grad_y f(x, ys). *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer rows weights.
Local Open Scope R_scope.

Section moving.
  Variables (V : space) (n : nat) (B : V -> coords n).
  Variables (mu Cf LB u eps w : R) (c df0 dg0 e df dg d : V) (rho1 rho2 lam1 lam2 h0 : coords n).
  Let h1 : coords n := sub h0 (B e).
  Let h2 : coords n := sub h1 (B d).
  Let dl : coords n := sub lam2 lam1.
  Hypothesis u_pos : 0 < u.
  Hypothesis eps_pos : 0 < eps.
  Hypothesis LB_pos : 0 <= LB.
  Hypothesis small : 0 < mu - u * Cf.
  Hypothesis B_le : forall v, norm (B v) <= LB * norm v.
  (* grad_y L = 0 at y1 and at y2; grad_y g(x, ys) = B' lambda-star *)
  Hypothesis minimiser1 : forall v, inner c v + inner df0 v + inner dg0 v / u - inner (weigh rho1 h1) (B v) / (u * u) = 0.
  Hypothesis minimiser2 : forall v,
    inner c v + inner df0 v + inner df v + (inner dg0 v + inner dg v) / u - inner (weigh rho2 h2) (B v) / (u * u) = inner dl (B v) / u.
  (* mu-strong convexity of g(x, .) and curvature of f at least -Cf, between the points *)
  Hypothesis strong : mu * inner d d <= inner dg d.
  Hypothesis curve_f : - (Cf * inner d d) <= inner df d.
  Hypothesis weight1 : forall i, (i < n)%nat -> 0 <= rho1 i.
  Hypothesis weight2 : forall i, (i < n)%nat -> 0 <= rho2 i.
  (* |rho2_i - rho1_i| <= |lam2_i - lam1_i| / eps *)
  Hypothesis ramp : forall i, (i < n)%nat -> Rabs (rho2 i - rho1 i) <= Rabs (lam2 i - lam1 i) / eps.

  (* what a change of the weights weighs where |h_i| <= H on the rows whose weight moves *)
  Lemma weights_force (h : coords n) H : 0 <= H -> (forall i, (i < n)%nat -> rho2 i <> rho1 i -> Rabs (h i) <= H) ->
    norm (weigh (sub rho2 rho1) h) <= H / eps * norm dl.
  Proof.
    intros H0 Hh. assert (ie : 0 < / eps) by now apply Rinv_0_lt_compat. apply weigh_le.
    { apply Rmult_le_pos; lra. }
    intros i Hi. change (sub rho2 rho1 i) with (rho2 i + -1 * rho1 i). change (dl i) with (lam2 i + -1 * lam1 i).
    replace (rho2 i + -1 * rho1 i) with (rho2 i - rho1 i) by ring. replace (lam2 i + -1 * lam1 i) with (lam2 i - lam1 i) by ring.
    destruct (Req_dec (rho2 i) (rho1 i)) as [s|m].
    - replace (rho2 i - rho1 i) with 0 by lra. rewrite Rmult_0_l, Rabs_R0. apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply Rabs_pos].
    - rewrite Rabs_mult. pose proof (ramp i Hi). pose proof (Hh i Hi m). pose proof (Rabs_pos (rho2 i - rho1 i)). pose proof (Rabs_pos (h i)).
      replace (H / eps * Rabs (lam2 i - lam1 i)) with (Rabs (lam2 i - lam1 i) / eps * H) by (field; lra). apply Rmult_le_compat; lra.
  Qed.

  (* ‖Δy‖ ≤ ‖B‖‖Δλ‖(1 + H/(α²ε_λ))/(μ − α²C_f) where |h_i| ≤ H at y1 on the rows whose weight moves *)
  Theorem moving_shift H : 0 <= H -> (forall i, (i < n)%nat -> rho2 i <> rho1 i -> Rabs (h1 i) <= H) ->
    norm d <= LB * norm dl * (1 + H / (u * eps)) / (mu - u * Cf).
  Proof.
    intros H0 Hh. pose proof (weights_force h1 H H0 Hh) as F. pose proof (minimiser1 d) as S1. pose proof (minimiser2 d) as S2.
    assert (iu : 0 < / u) by now apply Rinv_0_lt_compat. assert (ie : 0 < / eps) by now apply Rinv_0_lt_compat.
    unfold h2 in S2. rewrite weigh_sub in S2. pose proof (weigh_pos n rho2 (B d) weight2) as P.
    pose proof (weigh_weights n rho2 rho1 h1 (B d)) as M.
    set (f := weigh (sub rho2 rho1) h1) in *. set (a := inner (weigh rho2 h1) (B d)) in *. set (b := inner (weigh rho1 h1) (B d)) in *.
    set (p := inner (weigh rho2 (B d)) (B d)) in *.
    assert (E : u * inner df d + inner dg d = inner dl (B d) + inner f (B d) / u - p / u).
    { rewrite M. assert (Q : inner df d + inner dg d / u = inner dl (B d) / u + (a - p) / (u * u) - b / (u * u)) by lra.
      apply (Rmult_eq_compat_l u) in Q. replace (u * (inner df d + inner dg d / u)) with (u * inner df d + inner dg d) in Q by (field; lra).
      rewrite Q. field. lra. }
    pose proof (cauchy_schwarz _ dl (B d)) as C1. pose proof (cauchy_schwarz _ f (B d)) as C2.
    pose proof (norm_pos _ d) as pd. pose proof (norm_pos _ dl) as pl. pose proof (norm_pos _ f) as pf. pose proof (B_le d) as Bd.
    assert (N1 : norm dl * norm (B d) <= norm dl * (LB * norm d)) by (apply Rmult_le_compat_l; lra).
    assert (N2 : norm f * norm (B d) <= H / eps * norm dl * (LB * norm d)) by (apply Rmult_le_compat; [lra|apply norm_pos|exact F|exact Bd]).
    assert (N3 : inner f (B d) / u <= H / eps * norm dl * (LB * norm d) / u) by (apply Rmult_le_compat_r; lra).
    assert (N4 : 0 <= p / u) by (apply Rmult_le_pos; lra).
    assert (K : (mu - u * Cf) * (norm d * norm d) <= LB * norm dl * (1 + H / (u * eps)) * norm d).
    { rewrite norm_sq. replace (LB * norm dl * (1 + H / (u * eps)) * norm d) with (norm dl * (LB * norm d) + H / eps * norm dl * (LB * norm d) / u) by (field; lra). nra. }
    apply (Rmult_le_reg_r (mu - u * Cf)); [assumption|].
    replace (LB * norm dl * (1 + H / (u * eps)) / (mu - u * Cf) * (mu - u * Cf)) with (LB * norm dl * (1 + H / (u * eps))) by (field; lra).
    assert (0 <= LB * norm dl * (1 + H / (u * eps))).
    { assert (0 <= H / (u * eps)) by (apply Rmult_le_pos; [assumption|left; apply Rinv_0_lt_compat; nra]). repeat apply Rmult_le_pos; lra. }
    destruct (Req_dec (norm d) 0) as [z|nz]; [rewrite z; lra|]. apply (Rmult_le_reg_r (norm d)); [lra|]. lra.
  Qed.

  (* The change of grad_y L at any point y with rows' values h: ‖∇_yL(lambda-star) − ∇_yL(lambda-hat)‖ ≤ α⁻²‖B‖‖Δλ‖(1 + H/(α²ε_λ)) *)
  Theorem moving_gradient (change : V) (h : coords n) H : 0 <= H -> (forall i, (i < n)%nat -> rho2 i <> rho1 i -> Rabs (h i) <= H) ->
    (forall v, inner change v = inner dl (B v) / u + inner (weigh (sub rho2 rho1) h) (B v) / (u * u)) ->
    norm change <= LB * norm dl * (1 + H / (u * eps)) / u.
  Proof.
    intros H0 Hh Hc. pose proof (weights_force h H H0 Hh) as F. set (f := weigh (sub rho2 rho1) h) in *.
    assert (iu : 0 < / u) by now apply Rinv_0_lt_compat. assert (i2 : 0 < / (u * u)) by (apply Rinv_0_lt_compat; nra).
    assert (ie : 0 < / eps) by now apply Rinv_0_lt_compat. pose proof (norm_pos _ dl) as pl.
    assert (0 <= H / (u * eps)) by (apply Rmult_le_pos; [assumption|left; apply Rinv_0_lt_compat; nra]).
    apply norm_dual; [repeat apply Rmult_le_pos; lra|]. intro v. rewrite Hc.
    pose proof (cauchy_schwarz _ dl (B v)) as C1. pose proof (cauchy_schwarz _ f (B v)) as C2. pose proof (B_le v) as Bv. pose proof (norm_pos _ f).
    assert (N1 : norm dl * norm (B v) <= norm dl * (LB * norm v)) by (apply Rmult_le_compat_l; lra).
    assert (N2 : norm f * norm (B v) <= H / eps * norm dl * (LB * norm v)) by (apply Rmult_le_compat; [lra|apply norm_pos|exact F|exact Bv]).
    assert (inner dl (B v) / u <= norm dl * (LB * norm v) / u) by (apply Rmult_le_compat_r; lra).
    assert (inner f (B v) / (u * u) <= H / eps * norm dl * (LB * norm v) / (u * u)) by (apply Rmult_le_compat_r; lra).
    replace (LB * norm dl * (1 + H / (u * eps)) / u * norm v) with (norm dl * (LB * norm v) / u + H / eps * norm dl * (LB * norm v) / (u * u)) by (field; lra). lra.
  Qed.

  (* The rows' values at the minimiser for lambda-star: rows with a weight hold with equality at ys, and those whose weight
     moves are within w of it. *)
  Hypothesis strong0 : mu * inner e e <= inner dg0 e.
  Hypothesis curve_f0 : - (Cf * inner e e) <= inner df0 e.
  Hypothesis complementary : forall i, (i < n)%nat -> rho1 i * h0 i = 0.
  Hypothesis near : forall i, (i < n)%nat -> rho2 i <> rho1 i -> Rabs (h0 i) <= w.

  Lemma first_shift : norm e <= u * norm c / (mu - u * Cf).
  Proof.
    pose proof (minimiser1 e) as S. assert (Z : inner (weigh rho1 h0) (B e) = 0).
    { unfold weigh. simpl. rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_const; ring|]. intros i Hi. rewrite complementary by assumption. ring. }
    unfold h1 in S. rewrite weigh_sub, Z in S. pose proof (weigh_pos n rho1 (B e) weight1) as P. set (p := inner (weigh rho1 (B e)) (B e)) in *.
    pose proof (cauchy_schwarz_neg _ c e) as CS. pose proof (norm_pos _ e). pose proof (norm_pos _ c). assert (iu : 0 < / u) by now apply Rinv_0_lt_compat.
    assert (E : u * inner df0 e + inner dg0 e = - (u * inner c e) - p / u).
    { assert (Q : inner df0 e + inner dg0 e / u = - inner c e + (0 - p) / (u * u)) by lra.
      apply (Rmult_eq_compat_l u) in Q. replace (u * (inner df0 e + inner dg0 e / u)) with (u * inner df0 e + inner dg0 e) in Q by (field; lra).
      rewrite Q. field. lra. }
    assert (0 <= p / u) by (apply Rmult_le_pos; lra).
    assert (K : (mu - u * Cf) * (norm e * norm e) <= u * norm c * norm e) by (rewrite norm_sq; nra).
    apply (Rmult_le_reg_r (mu - u * Cf)); [assumption|]. replace (u * norm c / (mu - u * Cf) * (mu - u * Cf)) with (u * norm c) by (field; lra).
    destruct (Req_dec (norm e) 0) as [z|nz]; [rewrite z; nra|]. apply (Rmult_le_reg_r (norm e)); [lra|]. lra.
  Qed.

  Lemma first_rows i : (i < n)%nat -> rho2 i <> rho1 i -> Rabs (h1 i) <= w + LB * (u * norm c / (mu - u * Cf)).
  Proof.
    intros Hi Hm. change (h1 i) with (h0 i + -1 * B e i). pose proof (near i Hi Hm). pose proof (component n (B e) i Hi) as K.
    pose proof (B_le e). pose proof first_shift. pose proof (Rabs_triang (h0 i) (-1 * B e i)) as T.
    rewrite Rabs_mult, (Rabs_left (-1)) in T by lra.
    assert (LB * norm e <= LB * (u * norm c / (mu - u * Cf))) by (apply Rmult_le_compat_l; lra). lra.
  Qed.

  Hypothesis w_pos : 0 <= w.
  Let bound := w / u + LB * norm c / (mu - u * Cf).

  Lemma bound_is : w + LB * (u * norm c / (mu - u * Cf)) = u * bound.
  Proof. unfold bound. field. lra. Qed.

  Lemma bound_pos : 0 <= bound.
  Proof.
    unfold bound. pose proof (norm_pos _ c). assert (0 <= w / u) by (apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat]).
    assert (0 <= LB * norm c / (mu - u * Cf)) by (apply Rmult_le_pos; [now apply Rmult_le_pos|left; now apply Rinv_0_lt_compat]). lra.
  Qed.

  (* ‖Δy‖ ≤ ‖B‖‖Δλ‖(1 + (w/α² + ‖B‖‖∇_yf‖/μ_α)/ε_λ)/μ_α, μ_α = μ − α²C_f; w = 0: rows whose weight moves are active *)
  Theorem solution_shift_moving :
    norm d <= LB * norm dl * (1 + (w / u + LB * norm c / (mu - u * Cf)) / eps) / (mu - u * Cf).
  Proof.
    pose proof bound_pos as bp. fold bound. assert (0 <= u * bound) by (apply Rmult_le_pos; lra).
    replace (bound / eps) with (u * bound / (u * eps)) by (field; lra).
    apply moving_shift; [assumption|]. intros. rewrite <- bound_is. now apply first_rows.
  Qed.

  (* At the minimiser for lambda-hat: ‖∇_yL(lambda-star) − ∇_yL(lambda-hat)‖ ≤ α⁻²‖B‖‖Δλ‖(1 + (w/α² + ‖B‖(‖∇_yf‖/μ_α + ‖Δy‖/α²))/ε_λ) *)
  Theorem gradient_difference_moving (change : V) :
    (forall v, inner change v = inner dl (B v) / u + inner (weigh (sub rho2 rho1) h2) (B v) / (u * u)) ->
    norm change <= LB * norm dl * (1 + (w / u + LB * (norm c / (mu - u * Cf) + norm d / u)) / eps) / u.
  Proof.
    intro Hc. pose proof bound_pos as bp. pose proof (norm_pos _ d) as pd. set (H := u * bound + LB * norm d).
    assert (H0 : 0 <= H) by (unfold H; assert (0 <= LB * norm d) by (apply Rmult_le_pos; lra); assert (0 <= u * bound) by (apply Rmult_le_pos; lra); lra).
    assert (E : (w / u + LB * (norm c / (mu - u * Cf) + norm d / u)) / eps = H / (u * eps)) by (unfold H, bound; field; lra).
    rewrite E. apply moving_gradient with (h := h2); [assumption| |assumption]. intros i Hi Hm.
    change (h2 i) with (h1 i + -1 * B d i). pose proof (first_rows i Hi Hm) as K. rewrite bound_is in K. pose proof (component n (B d) i Hi). pose proof (B_le d).
    pose proof (Rabs_triang (h1 i) (-1 * B d i)) as T. rewrite Rabs_mult, (Rabs_left (-1)) in T by lra. unfold H. lra.
  Qed.

  (* ∇_xL at the minimiser for lambda-star, dual term cancelled, moves with the weights alone:
     ‖α⁻⁴Aᵀ(Δρ∘h)‖ ≤ α⁻²‖A‖‖Δλ‖(w/α² + ‖B‖‖∇_yf‖/μ_α)/ε_λ *)
  Theorem multiplier_lipschitz (X : space) (A : X -> coords n) (LA : R) (change : X) : 0 <= LA -> (forall x, norm (A x) <= LA * norm x) ->
    (forall x, inner change x = inner (weigh (sub rho2 rho1) h1) (A x) / (u * u)) ->
    norm change <= LA * (w / u + LB * norm c / (mu - u * Cf)) / eps / u * norm dl.
  Proof.
    intros HA A_le Hc. fold bound. pose proof bound_pos as bp. assert (ub : 0 <= u * bound) by (apply Rmult_le_pos; lra).
    assert (F : norm (weigh (sub rho2 rho1) h1) <= u * bound / eps * norm dl).
    { apply weights_force; [assumption|]. intros. rewrite <- bound_is. now apply first_rows. }
    assert (ie : 0 < / eps) by now apply Rinv_0_lt_compat. assert (iu : 0 < / u) by now apply Rinv_0_lt_compat. assert (i2 : 0 < / (u * u)) by (apply Rinv_0_lt_compat; nra).
    pose proof (norm_pos _ dl). apply norm_dual; [unfold Rdiv; repeat apply Rmult_le_pos; lra|]. intro x. rewrite Hc.
    pose proof (cauchy_schwarz _ (weigh (sub rho2 rho1) h1) (A x)) as C. pose proof (A_le x). pose proof (norm_pos _ x).
    assert (norm (weigh (sub rho2 rho1) h1) * norm (A x) <= u * bound / eps * norm dl * (LA * norm x)) by (apply Rmult_le_compat; try assumption; apply norm_pos).
    assert (inner (weigh (sub rho2 rho1) h1) (A x) / (u * u) <= u * bound / eps * norm dl * (LA * norm x) / (u * u)) by (apply Rmult_le_compat_r; lra).
    replace (LA * bound / eps / u * norm dl * norm x) with (u * bound / eps * norm dl * (LA * norm x) / (u * u)) by (field; lra). lra.
  Qed.
  (* Where the rows that carry a weight are independent, their multiplier estimate is bounded, and so is what moves. *)
  Section constants.
    Variables (Bt : coords n -> V) (Cg sigma low m : R).
    Hypothesis Cf_pos : 0 <= Cf.
    Hypothesis Cg_pos : 0 <= Cg.
    Hypothesis sigma_pos : 0 < sigma.
    Hypothesis low_pos : 0 < low.
    Hypothesis m_pos : 0 <= m.
    Hypothesis adjoint : forall v z, inner (Bt z) v = inner z (B v).
    Hypothesis licq : forall z : coords n, (forall i, (i < n)%nat -> rho1 i = 0 -> z i = 0) -> sigma * norm z <= norm (Bt z).
    Hypothesis smooth_g : norm dg0 <= Cg * norm e.
    Hypothesis smooth_f : norm df0 <= Cf * norm e.
    (* each weight moves by at most m, and no row of weight below low does *)
    Hypothesis moves : forall i, (i < n)%nat -> Rabs (rho2 i - rho1 i) <= m.
    Hypothesis lowest : forall i, (i < n)%nat -> rho2 i <> rho1 i -> low <= rho1 i.

    Lemma first_multiplier : norm (weigh rho1 h1) <= u * u * ((1 + (Cg + u * Cf) / (mu - u * Cf)) * norm c / sigma).
    Proof.
      set (z := weigh rho1 h1). assert (uu : 0 < u * u) by nra. pose proof (norm_pos _ e) as pe. pose proof (norm_pos _ c) as pc.
      assert (iu : 0 < / u) by now apply Rinv_0_lt_compat.
      assert (D : norm (Bt z) <= u * u * (norm c + (Cf + Cg / u) * norm e)).
      { assert (0 <= Cg / u) by (apply Rmult_le_pos; lra). assert (0 <= (Cf + Cg / u) * norm e) by (apply Rmult_le_pos; lra).
        apply norm_dual; [apply Rmult_le_pos; lra|]. intro v. rewrite adjoint. pose proof (minimiser1 v) as S. fold z in S. pose proof (norm_pos _ v).
        assert (E : inner z (B v) = u * u * (inner c v + inner df0 v + inner dg0 v / u)).
        { replace (inner c v + inner df0 v + inner dg0 v / u) with (inner z (B v) / (u * u)) by lra. field. lra. }
        rewrite E, (Rmult_assoc (u * u)). apply Rmult_le_compat_l; [lra|]. pose proof (cauchy_schwarz _ c v). pose proof (cauchy_schwarz _ df0 v). pose proof (cauchy_schwarz _ dg0 v).
        assert (norm df0 * norm v <= Cf * norm e * norm v) by (apply Rmult_le_compat_r; lra).
        assert (norm dg0 * norm v <= Cg * norm e * norm v) by (apply Rmult_le_compat_r; lra).
        assert (inner dg0 v / u <= Cg * norm e * norm v / u) by (apply Rmult_le_compat_r; lra).
        replace ((norm c + (Cf + Cg / u) * norm e) * norm v) with (norm c * norm v + Cf * norm e * norm v + Cg * norm e * norm v / u) by (unfold Rdiv; ring). lra. }
      assert (L : sigma * norm z <= norm (Bt z)).
      { apply licq. intros i Hi Z. unfold z, weigh. rewrite Z. ring. }
      pose proof first_shift as F. assert (K : (Cf + Cg / u) * norm e <= (Cg + u * Cf) / (mu - u * Cf) * norm c).
      { replace ((Cg + u * Cf) / (mu - u * Cf) * norm c) with ((Cf + Cg / u) * (u * norm c / (mu - u * Cf))) by (field; lra).
        apply Rmult_le_compat_l; [|exact F]. assert (0 <= Cg / u) by (apply Rmult_le_pos; lra). lra. }
      apply (Rmult_le_reg_l sigma); [assumption|].
      replace (sigma * (u * u * ((1 + (Cg + u * Cf) / (mu - u * Cf)) * norm c / sigma))) with (u * u * (norm c + (Cg + u * Cf) / (mu - u * Cf) * norm c)) by (field; lra).
      apply Rle_trans with (1 := L). apply Rle_trans with (1 := D). apply Rmult_le_compat_l; lra.
    Qed.

    (* α⁻²μ_α‖Δy‖ ≤ ‖B‖(α⁻²‖Δλ‖ + m(1 + κ_α)‖∇_yf‖/(ρσ)): what grows with ‖∇_yf‖ is the part of the weights *)
    Theorem constants_grow :
      (mu - u * Cf) / u * norm d <= LB * (norm dl / u + m / low * ((1 + (Cg + u * Cf) / (mu - u * Cf)) * norm c / sigma)).
    Proof.
      set (N := (1 + (Cg + u * Cf) / (mu - u * Cf)) * norm c / sigma). assert (iu : 0 < / u) by now apply Rinv_0_lt_compat.
      assert (il : 0 < / low) by now apply Rinv_0_lt_compat. assert (ml : 0 <= m / low) by (apply Rmult_le_pos; lra). assert (uu : 0 < u * u) by nra.
      assert (F : norm (weigh (sub rho2 rho1) h1) <= u * u * (m / low * N)).
      { apply Rle_trans with (m / low * norm (weigh rho1 h1)); [|].
        - apply weigh_le; [assumption|]. intros i Hi. change (sub rho2 rho1 i) with (rho2 i + -1 * rho1 i). unfold weigh.
          replace (rho2 i + -1 * rho1 i) with (rho2 i - rho1 i) by ring. rewrite !Rabs_mult. pose proof (Rabs_pos (h1 i)). pose proof (weight1 i Hi).
          rewrite (Rabs_right (rho1 i)) by lra. destruct (Req_dec (rho2 i) (rho1 i)) as [s|mv].
          + replace (rho2 i - rho1 i) with 0 by lra. rewrite Rabs_R0, Rmult_0_l. repeat apply Rmult_le_pos; lra.
          + pose proof (moves i Hi). pose proof (lowest i Hi mv). rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [assumption|].
            apply Rle_trans with m; [assumption|]. replace m with (m / low * low) at 1 by (field; lra). apply Rmult_le_compat_l; assumption.
        - pose proof first_multiplier as M. fold N in M. replace (u * u * (m / low * N)) with (m / low * (u * u * N)) by ring. now apply Rmult_le_compat_l. }
      pose proof (minimiser1 d) as S1. pose proof (minimiser2 d) as S2. unfold h2 in S2. rewrite weigh_sub in S2.
      pose proof (weigh_pos n rho2 (B d) weight2) as P. pose proof (weigh_weights n rho2 rho1 h1 (B d)) as M.
      set (f := weigh (sub rho2 rho1) h1) in *. set (a := inner (weigh rho2 h1) (B d)) in *. set (b := inner (weigh rho1 h1) (B d)) in *.
      set (p := inner (weigh rho2 (B d)) (B d)) in *.
      assert (E : inner df d + inner dg d / u = inner dl (B d) / u + inner f (B d) / (u * u) - p / (u * u)).
      { rewrite M. replace (inner df d + inner dg d / u) with (inner dl (B d) / u + (a - p) / (u * u) - b / (u * u)) by lra. field. lra. }
      pose proof (cauchy_schwarz _ dl (B d)) as C1. pose proof (cauchy_schwarz _ f (B d)) as C2. pose proof (norm_pos _ d) as pd. pose proof (norm_pos _ dl). pose proof (norm_pos _ f).
      pose proof (B_le d) as Bd. assert (i2 : 0 < / (u * u)) by now apply Rinv_0_lt_compat.
      assert (norm dl * norm (B d) <= norm dl * (LB * norm d)) by (apply Rmult_le_compat_l; lra).
      assert (norm f * norm (B d) <= u * u * (m / low * N) * (LB * norm d)) by (apply Rmult_le_compat; [lra|apply norm_pos|exact F|exact Bd]).
      assert (Q1 : inner dl (B d) / u <= norm dl * (LB * norm d) / u) by (apply Rmult_le_compat_r; lra).
      assert (Q2 : inner f (B d) / (u * u) <= u * u * (m / low * N) * (LB * norm d) / (u * u)) by (apply Rmult_le_compat_r; lra).
      assert (Q3 : 0 <= p / (u * u)) by (apply Rmult_le_pos; lra).
      assert (Q4 : (mu - u * Cf) / u * (norm d * norm d) <= inner df d + inner dg d / u).
      { rewrite norm_sq. assert (mu * inner d d / u <= inner dg d / u) by (apply Rmult_le_compat_r; lra).
        replace ((mu - u * Cf) / u * inner d d) with (mu * inner d d / u - Cf * inner d d) by (field; lra). lra. }
      replace (u * u * (m / low * N) * (LB * norm d) / (u * u)) with (LB * (m / low * N) * norm d) in Q2 by (field; lra).
      replace (norm dl * (LB * norm d) / u) with (LB * (norm dl / u) * norm d) in Q1 by (unfold Rdiv; ring).
      assert (0 <= N).
      { unfold N. pose proof (norm_pos _ c). assert (0 <= (Cg + u * Cf) / (mu - u * Cf)).
        { apply Rmult_le_pos; [assert (0 <= u * Cf) by (apply Rmult_le_pos; lra); lra|left; now apply Rinv_0_lt_compat]. }
        apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; now apply Rinv_0_lt_compat]. }
      destruct (Req_dec (norm d) 0) as [z|nz].
      - rewrite z, Rmult_0_r. apply Rmult_le_pos; [assumption|]. assert (0 <= norm dl / u) by (apply Rmult_le_pos; lra). assert (0 <= m / low * N) by (apply Rmult_le_pos; lra). lra.
      - apply (Rmult_le_reg_r (norm d)); [lra|]. lra.
    Qed.
  End constants.
End moving.

(* The premises above are what the text's weights do: both ramps, h taken at a point where h_i is within reach of h_i(x, ys). *)
Theorem weights_as_computed (width eps reach h0 h lam1 lam2 : R) : 0 < width -> 0 < eps -> h0 <= 0 -> lam1 * h0 = 0 -> Rabs (h - h0) <= reach ->
  let rho1 := weight width eps h lam1 in let rho2 := weight width eps h lam2 in
  (0 <= rho1 <= 1 /\ 0 <= rho2 <= 1) /\ Rabs (rho2 - rho1) <= Rmin 1 (Rabs (lam2 - lam1) / eps) /\
  rho1 * h0 = 0 /\ (rho2 <> rho1 -> Rabs h0 <= width + reach).
Proof.
  intros Hw He Hh Hc Hr rho1 rho2. pose proof (weight_range width eps h lam1) as R1. pose proof (weight_range width eps h lam2) as R2.
  fold rho1 in R1. fold rho2 in R2. split; [split; assumption|]. split; [|split].
  - apply Rmin_glb; [apply Rabs_le; lra|]. pose proof (weight_lipschitz width eps h h lam2 lam1 Hw He) as L. fold rho1 rho2 in L.
    replace (h - h) with 0 in L by ring. rewrite Rabs_R0 in L. replace (0 / width) with 0 in L by (field; lra). lra.
  - destruct (Req_dec h0 0) as [z|nz]; [rewrite z; ring|]. assert (l0 : lam1 = 0) by (apply (Rmult_eq_reg_r h0); lra).
    unfold rho1, weight. replace (ramp eps (lam1 - eps)) with 0; [ring|]. unfold ramp. rewrite l0. replace ((eps + (0 - eps)) / eps) with 0 by (field; lra).
    rewrite Rmin_right, Rmax_left; lra.
  - intro m. destruct (Rlt_dec h (- width)) as [lt|ge].
    + exfalso. apply m. unfold rho1, rho2. now rewrite !inside_weightless.
    + rewrite Rabs_left1 by assumption. pose proof (Rle_abs (h - h0)). lra.
Qed.

(* a row whose multipliers are both beyond the ramp keeps its weight *)
Theorem ramp_cleared (width eps h lam1 lam2 : R) : 0 < eps -> eps <= lam1 -> eps <= lam2 -> weight width eps h lam1 = weight width eps h lam2.
Proof.
  intros He H1 H2. assert (one : forall l, eps <= l -> ramp eps (l - eps) = 1).
  { intros l Hl. unfold ramp. assert (1 <= (eps + (l - eps)) / eps).
    { apply (Rmult_le_reg_r eps); [assumption|]. replace ((eps + (l - eps)) / eps * eps) with l by (field; lra). lra. }
    rewrite Rmin_left, Rmax_right; lra. }
  unfold weight. now rewrite !one.
Qed.

(* In powers of alpha: alpha^2 <= mu / (2 Cf), |dl| <= Cl alpha^3, rows whose weight moves within Cw alpha^2 of their boundary. *)
Section powers.
  Variables (alpha mu Cf LB Cl Cw nc eps shift dl gradient : R).
  Let u := alpha * alpha.
  Let S := 2 * LB / mu * (1 + (Cw + 2 * LB * nc / mu) / eps) * Cl.
  Hypothesis alpha_pos : 0 < alpha.
  Hypothesis eps_pos : 0 < eps.
  Hypothesis mu_pos : 0 < mu.
  Hypothesis half : 2 * u * Cf <= mu.
  Hypothesis LB_pos : 0 <= LB.
  Hypothesis nc_pos : 0 <= nc.
  Hypothesis Cw_pos : 0 <= Cw.
  Hypothesis dl_pos : 0 <= dl.
  Hypothesis dual_accuracy : dl <= Cl * (alpha * alpha * alpha).

  Lemma half_curvature : 0 < mu - u * Cf /\ / (mu - u * Cf) <= 2 / mu.
  Proof.
    assert (h : mu / 2 <= mu - u * Cf) by lra. split; [lra|]. replace (2 / mu) with (/ (mu / 2)) by (field; lra). apply Rinv_le_contravar; lra.
  Qed.

  (* ‖Δy‖ ≤ (2‖B‖/μ)(1 + (C_w + 2‖B‖‖∇_yf‖/μ)/ε_λ)C_λα³ *)
  Theorem shift_order : shift <= LB * dl * (1 + (Cw * u / u + LB * nc / (mu - u * Cf)) / eps) / (mu - u * Cf) -> shift <= S * (alpha * alpha * alpha).
  Proof.
    intro H. destruct half_curvature as [q iq]. assert (up : 0 < u) by (unfold u; nra). assert (ie : 0 < / eps) by now apply Rinv_0_lt_compat.
    assert (i0 : 0 < / (mu - u * Cf)) by now apply Rinv_0_lt_compat. replace (Cw * u / u) with Cw in H by (field; lra).
    apply Rle_trans with (1 := H). set (k := / (mu - u * Cf)) in *. assert (k1 : 0 < k <= 2 / mu) by lra.
    assert (A : LB * nc * k <= 2 * LB * nc / mu).
    { replace (2 * LB * nc / mu) with (LB * nc * (2 / mu)) by (field; lra). apply Rmult_le_compat_l; [now apply Rmult_le_pos|lra]. }
    assert (A0 : 0 <= LB * nc * k) by (repeat apply Rmult_le_pos; lra).
    assert (Bb : (Cw + LB * nc * k) / eps <= (Cw + 2 * LB * nc / mu) / eps) by (apply Rmult_le_compat_r; lra).
    assert (B0 : 0 <= (Cw + LB * nc * k) / eps) by (apply Rmult_le_pos; lra).
    change (LB * dl * (1 + (Cw + LB * nc * k) / eps) * k <= S * (alpha * alpha * alpha)).
    apply Rle_trans with (LB * (Cl * (alpha * alpha * alpha)) * (1 + (Cw + 2 * LB * nc / mu) / eps) * (2 / mu)).
    - apply Rmult_le_compat; [repeat apply Rmult_le_pos; lra|lra| |lra]. apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra|apply Rmult_le_compat_l; lra|lra].
    - right. unfold S. field. split; lra.
  Qed.

  (* ‖∇_yL(lambda-star) − ∇_yL(lambda-hat)‖ ≤ ‖B‖C_λ(1 + (C_w + ‖B‖(2‖∇_yf‖/μ + αS))/ε_λ)α, S the constant above *)
  Theorem gradient_order : 0 <= shift -> shift <= S * (alpha * alpha * alpha) ->
    gradient <= LB * dl * (1 + (Cw * u / u + LB * (nc / (mu - u * Cf) + shift / u)) / eps) / u ->
    gradient <= LB * Cl * (1 + (Cw + LB * (2 * nc / mu + alpha * S)) / eps) * alpha.
  Proof.
    intros s0 Hs H. destruct half_curvature as [q iq]. assert (up : 0 < u) by (unfold u; nra). assert (ie : 0 < / eps) by now apply Rinv_0_lt_compat.
    assert (i0 : 0 < / (mu - u * Cf)) by now apply Rinv_0_lt_compat. assert (iu : 0 < / u) by now apply Rinv_0_lt_compat.
    replace (Cw * u / u) with Cw in H by (field; lra). apply Rle_trans with (1 := H).
    assert (A : nc / (mu - u * Cf) <= 2 * nc / mu).
    { replace (2 * nc / mu) with (nc * (2 / mu)) by (field; lra). apply Rmult_le_compat_l; lra. }
    assert (A0 : 0 <= nc / (mu - u * Cf)) by (apply Rmult_le_pos; lra).
    assert (B1 : shift / u <= alpha * S).
    { apply (Rmult_le_reg_r u); [assumption|]. replace (shift / u * u) with shift by (field; lra). unfold u. lra. }
    assert (B0 : 0 <= shift / u) by (apply Rmult_le_pos; lra).
    assert (C : LB * (nc / (mu - u * Cf) + shift / u) <= LB * (2 * nc / mu + alpha * S)) by (apply Rmult_le_compat_l; lra).
    assert (C0 : 0 <= LB * (nc / (mu - u * Cf) + shift / u)) by (apply Rmult_le_pos; lra).
    assert (D : (Cw + LB * (nc / (mu - u * Cf) + shift / u)) / eps <= (Cw + LB * (2 * nc / mu + alpha * S)) / eps) by (apply Rmult_le_compat_r; lra).
    assert (D0 : 0 <= (Cw + LB * (nc / (mu - u * Cf) + shift / u)) / eps) by (apply Rmult_le_pos; lra).
    apply Rle_trans with (LB * (Cl * (alpha * alpha * alpha)) * (1 + (Cw + LB * (2 * nc / mu + alpha * S)) / eps) * / u).
    - apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra|apply Rmult_le_compat_l; lra|lra].
    - right. unfold u. field. lra.
  Qed.
End powers.
