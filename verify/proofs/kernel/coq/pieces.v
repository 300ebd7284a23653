(* Near a kink: rows i < N switch, each at its own weight k_i = rho_i / alpha^4; the rows B keep weights P of at least rho.
   A piece is a mode of every switching row, dropped or enforced; it has a solution, a gradient and, at an exact penalty
   minimiser, an estimate.  e = y - ys, H = f_yy + g_yy / alpha^2 + B' P B / alpha^4.
   subgradient g z: g is a Clarke subgradient of F at z; nothing is used of it. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer rows several.
Local Open Scope R_scope.

(* what has gradients within r of x, and all that lies between them: in the Goldstein subdifferential of radius r *)
Definition within {X : space} (subgradient : X -> X -> Prop) (x : X) (r : R) (g : X) : Prop :=
  hull (fun p => exists z, norm (sub z x) <= r /\ subgradient p z) g.

Definition pure N (s : nat -> mode) := forall i, (i < N)%nat -> s i <> weighted.

(* m p^2 / u + rho q^2 / u^2 <= g p: p is at most u g / m, and q at most u alpha g / (2 sqrt(rho m)) *)
Lemma energy_splits alpha m rho g p q : 0 < alpha -> 0 < m -> 0 < rho -> 0 <= g -> 0 <= p -> 0 <= q ->
  let u := alpha * alpha in m * (p * p) / u + rho * (q * q) / (u * u) <= g * p ->
  p <= u * g / m /\ q <= u * alpha * g / (2 * sqrt (rho * m)).
Proof.
  intros Ha Hm Hr Hg Hp Hq u E. assert (up : 0 < u) by (unfold u; nra). assert (uu : 0 < u * u) by nra.
  assert (K : m * u * (p * p) + rho * (q * q) <= u * u * g * p).
  { apply (Rmult_le_compat_r (u * u)) in E; [|lra]. replace ((m * (p * p) / u + rho * (q * q) / (u * u)) * (u * u)) with (m * u * (p * p) + rho * (q * q)) in E by (field; lra). lra. }
  assert (rq : 0 <= rho * (q * q)) by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]). split.
  - apply (Rmult_le_reg_r m); [assumption|]. replace (u * g / m * m) with (u * g) by (field; lra).
    destruct (Req_dec p 0) as [->|nz]; [nra|]. assert (m * u * (p * p) <= u * u * g * p) by lra.
    apply (Rmult_le_reg_r (u * p)); [nra|]. lra.
  - assert (pq : 0 < rho * m) by nra. pose proof (sqrt_lt_R0 _ pq) as sp. pose proof (sqrt_sqrt _ (Rlt_le _ _ pq)) as ss. set (s := sqrt (rho * m)) in *.
    assert (K2 : 4 * (rho * m) * (q * q) <= u * u * u * (g * g)).
    { pose proof (Rle_0_sqr (2 * m * p - u * g)) as sqr. unfold Rsqr in sqr. assert (0 <= u * ((2 * m * p - u * g) * (2 * m * p - u * g))) by nra. nra. }
    apply (Rmult_le_reg_r (2 * s)); [lra|]. replace (u * alpha * g / (2 * s) * (2 * s)) with (u * alpha * g) by (field; lra).
    apply le_of_squares; [repeat apply Rmult_le_pos; lra|]. replace (q * (2 * s) * (q * (2 * s))) with (4 * (s * s) * (q * q)) by ring. rewrite ss.
    replace (u * alpha * g * (u * alpha * g)) with (u * u * (alpha * alpha) * (g * g)) by ring. exact K2.
Qed.

Section pieces.
  Variables (X V W : space) (N : nat) (H G Phi : V -> V) (B : V -> W) (P : W -> W) (row : nat -> V) (k : nat -> R) (alpha mu Cf LY LL rho : R)
    (est : V -> (nat -> R) -> X) (T St Rt : X -> V) (A : nat -> X) (AB : X -> W) (fx : X) (c : V)
    (Y : (nat -> mode) -> X -> V) (Lam : (nat -> mode) -> X -> nat -> R) (LamB : (nat -> mode) -> X -> W) (gradF : (nat -> mode) -> X).
  Let u := alpha * alpha.
  Let K := u * (Cf * (1 + LY) * norm c / (mu - u * Cf)) + alpha * (LL * norm c / (2 * sqrt (rho * (mu - u * Cf)))).
  Hypothesis alpha_pos : 0 < alpha.
  Hypothesis rho_pos : 0 < rho.
  Hypothesis Cf_pos : 0 <= Cf.
  Hypothesis LY_pos : 0 <= LY.
  Hypothesis LL_pos : 0 <= LL.
  Hypothesis small : 0 < mu - u * Cf.
  Hypothesis H_is : forall v w, inner (H v) w = inner (Phi v) w + inner (G v) w / u + inner (P (B v)) (B w) / (u * u).
  (* the estimator at y = ys + e where row i pulls with n_i = alpha^-4 rho_i B_i e, dual term cancelled *)
  Hypothesis estimate : forall e n dx, inner (est e n) dx = inner fx dx + inner (T dx) e - sum N (fun i => n i * inner (A i) dx).
  Hypothesis T_is : forall dx e, inner (T dx) e = inner (Rt dx) e + inner (St dx) e / u - inner (P (B e)) (AB dx) / (u * u).
  Hypothesis G_sym : forall v w, inner (G v) w = inner (G w) v.
  Hypothesis strong : forall v, mu * inner v v <= inner (G v) v.
  Hypothesis curve_f : forall v, - (Cf * inner v v) <= inner (Phi v) v.
  Hypothesis weights : forall w, rho * inner w w <= inner (P w) w.
  (* the differentiated KKT system of a piece *)
  Hypothesis piece_stationary : forall s dx v,
    inner (G (Y s dx)) v + inner (St dx) v = inner (LamB s dx) (B v) + sum N (fun i => Lam s dx i * inner (row i) v).
  Hypothesis piece_kept : forall s dx w, inner w (B (Y s dx)) = inner w (AB dx).
  Hypothesis piece_rows : forall s dx i, (i < N)%nat -> s i = enforced -> inner (row i) (Y s dx) = inner (A i) dx.
  Hypothesis piece_free : forall s dx i, (i < N)%nat -> s i = dropped -> Lam s dx i = 0.
  Hypothesis truth : forall s dx, inner (gradF s) dx = inner fx dx + inner c (Y s dx).

  (* est_J − ∇F_J = (f_xy + (Dy_J)ᵀf_yy)e_J + α⁻²(Dλ_J)ᵀBe_J, exactly *)
  Theorem piece_identity s e n dx : pure N s -> solves V N H row k s c e n ->
    inner (est e n) dx - inner (gradF s) dx = inner (Rt dx) e + inner (Phi e) (Y s dx) + inner (LamB s dx) (B e) / u.
  Proof.
    intros ps [E O]. assert (up : 0 < u) by (unfold u; nra). rewrite estimate, truth, T_is. specialize (E (Y s dx)). rewrite H_is, piece_kept in E. pose proof (piece_stationary s dx e) as D.
    assert (P0 : sum N (fun i => Lam s dx i * inner (row i) e) = 0).
    { rewrite (sum_ext N _ (fun _ => 0)), sum_const; [ring|]. intros i Hi. specialize (O i Hi). pose proof (ps i Hi). destruct (s i) eqn:Ei; simpl in O.
      - rewrite piece_free by assumption. ring.
      - rewrite O. ring.
      - contradiction. }
    assert (A0 : sum N (fun i => n i * inner (row i) (Y s dx)) = sum N (fun i => n i * inner (A i) dx)).
    { apply sum_ext. intros i Hi. specialize (O i Hi). pose proof (ps i Hi). destruct (s i) eqn:Ei; simpl in O.
      - rewrite O. ring.
      - rewrite piece_rows by assumption. reflexivity.
      - contradiction. }
    rewrite P0, G_sym in D. rewrite A0 in E. replace (inner (St dx) e) with (inner (LamB s dx) (B e) - inner (G e) (Y s dx)) by lra.
    unfold Rdiv in *. nra.
  Qed.

  Hypothesis R_le : forall dx, norm (Rt dx) <= Cf * norm dx.
  Hypothesis Phi_le : forall v, norm (Phi v) <= Cf * norm v.
  Hypothesis lipschitz_y : forall s dx, norm (Y s dx) <= LY * norm dx.
  Hypothesis lipschitz_lam : forall s dx, norm (LamB s dx) <= LL * norm dx.

  (* ‖est_J − ∇F_J‖ ≤ K = α²C_f(1 + L_y)‖∇_yf‖/μ_α + αL_λ‖∇_yf‖/(2√(ρμ_α)), μ_α = μ − α²C_f *)
  Theorem piece_bound s e n : pure N s -> solves V N H row k s c e n -> norm (sub (est e n) (gradF s)) <= K.
  Proof.
    intros ps S. assert (up : 0 < u) by (unfold u; nra). assert (iu : 0 < / u) by now apply Rinv_0_lt_compat. assert (i2 : 0 < / (u * u)) by (apply Rinv_0_lt_compat; nra).
    pose proof (norm_pos V e) as pe. pose proof (norm_pos V c) as pc. pose proof (norm_pos W (B e)) as pb.
    assert (En : (mu - u * Cf) * (norm e * norm e) / u + rho * (norm (B e) * norm (B e)) / (u * u) <= norm c * norm e).
    { destruct S as [E O]. specialize (E e). rewrite (sum_ext N _ (fun _ => 0)), sum_const, H_is in E.
      - rewrite !norm_sq. pose proof (strong e). pose proof (curve_f e). pose proof (weights (B e)). pose proof (cauchy_schwarz_neg V c e).
        assert (mu * inner e e / u <= inner (G e) e / u) by (apply Rmult_le_compat_r; lra).
        assert (rho * inner (B e) (B e) / (u * u) <= inner (P (B e)) (B e) / (u * u)) by (apply Rmult_le_compat_r; lra).
        replace ((mu - u * Cf) * inner e e / u) with (mu * inner e e / u - Cf * inner e e) by (field; lra). lra.
      - intros i Hi. specialize (O i Hi). pose proof (ps i Hi). destruct (s i); simpl in O; [rewrite O; ring|rewrite O; ring|contradiction]. }
    destruct (energy_splits alpha (mu - u * Cf) rho (norm c) (norm e) (norm (B e)) alpha_pos small rho_pos pc pe pb En) as [Ee Eb]. fold u in Ee, Eb.
    assert (C0 : 0 <= Cf * (1 + LY)) by (apply Rmult_le_pos; lra). pose proof (Rinv_0_lt_compat _ small) as im.
    assert (pq : 0 < rho * (mu - u * Cf)) by nra. pose proof (sqrt_lt_R0 _ pq) as sq.
    assert (M : Cf * (1 + LY) * norm e + LL * norm (B e) / u <= K).
    { unfold K. apply (Rmult_le_compat_l (Cf * (1 + LY))) in Ee; [|assumption]. apply (Rmult_le_compat_l (LL * / u)) in Eb; [|apply Rmult_le_pos; lra].
      replace (LL * / u * (u * alpha * norm c / (2 * sqrt (rho * (mu - u * Cf))))) with (alpha * (LL * norm c / (2 * sqrt (rho * (mu - u * Cf))))) in Eb by (field; lra).
      replace (Cf * (1 + LY) * (u * norm c / (mu - u * Cf))) with (u * (Cf * (1 + LY) * norm c / (mu - u * Cf))) in Ee by (field; lra).
      replace (LL * norm (B e) / u) with (LL * / u * norm (B e)) by (unfold Rdiv; ring). lra. }
    assert (z1 : 0 <= Cf * (1 + LY) * norm e) by (now apply Rmult_le_pos). assert (z2 : 0 <= LL * norm (B e) / u) by (repeat apply Rmult_le_pos; lra).
    apply Rle_trans with (2 := M). apply norm_dual; [lra|]. intro dx. rewrite inner_sub, piece_identity by assumption.
    pose proof (cauchy_schwarz V (Rt dx) e). pose proof (cauchy_schwarz V (Phi e) (Y s dx)). pose proof (cauchy_schwarz W (LamB s dx) (B e)).
    pose proof (R_le dx). pose proof (Phi_le e). pose proof (lipschitz_y s dx). pose proof (lipschitz_lam s dx).
    pose proof (norm_pos X dx). pose proof (norm_pos V (Phi e)). pose proof (norm_pos V (Y s dx)).
    assert (norm (Rt dx) * norm e <= Cf * norm dx * norm e) by (apply Rmult_le_compat_r; lra).
    assert (norm (Phi e) * norm (Y s dx) <= Cf * norm e * (LY * norm dx)) by (apply Rmult_le_compat; lra).
    assert (norm (LamB s dx) * norm (B e) <= LL * norm dx * norm (B e)) by (apply Rmult_le_compat_r; lra).
    assert (inner (LamB s dx) (B e) / u <= LL * norm dx * norm (B e) / u) by (apply Rmult_le_compat_r; lra).
    replace ((Cf * (1 + LY) * norm e + LL * norm (B e) / u) * norm dx) with (Cf * norm dx * norm e + Cf * norm e * (LY * norm dx) + LL * norm dx * norm (B e) / u)
      by (unfold Rdiv; ring). lra.
  Qed.

  (* the switching rows are independent, the penalty's Hessian without them can be inverted (several.v) *)
  Hypothesis H_add : forall v w z, inner (H (add v w)) z = inner (H v) z + inner (H w) z.
  Hypothesis H_scale : forall a v w, inner (H (scale a v)) w = a * inner (H v) w.
  Hypothesis H_zero : forall w, inner (H zero) w = 0.
  Hypothesis H_sym : forall v w, inner (H v) w = inner (H w) v.
  Hypothesis k_pos : forall i, (i < N)%nat -> 0 <= k i.
  Hypothesis solvable : forall b, exists e, forall v, inner (H e) v + inner b v = 0.
  Hypothesis independent : forall n, (forall v, sum N (fun i => n i * inner (row i) v) = 0) -> forall i, (i < N)%nat -> n i = 0.
  Variable e : V.
  (* e minimises the penalty Lagrangian with all weights *)
  Hypothesis minimiser : forall v, inner (H e) v + inner c v + sum N (fun i => k i * inner (row i) e * inner (row i) v) = 0.
  Let estimated := est e (fun i => k i * inner (row i) e).

  Lemma H_modulus v : (mu - u * Cf) / u * inner v v <= inner (H v) v.
  Proof.
    assert (up : 0 < u) by (unfold u; nra). assert (iu : 0 < / u) by now apply Rinv_0_lt_compat. assert (i2 : 0 < / (u * u)) by (apply Rinv_0_lt_compat; nra).
    rewrite H_is. pose proof (strong v). pose proof (curve_f v). pose proof (weights (B v)). pose proof (inner_pos W (B v)).
    assert (mu * inner v v / u <= inner (G v) v / u) by (apply Rmult_le_compat_r; lra).
    assert (0 <= inner (P (B v)) (B v) / (u * u)) by (apply Rmult_le_pos; [nra|lra]).
    replace ((mu - u * Cf) / u * inner v v) with (mu * inner v v / u - Cf * inner v v) by (field; lra). lra.
  Qed.

  (* dist(est, conv{∇F_J}) ≤ K: the estimate blends the pieces' gradients *)
  Theorem distance_to_pieces : exists q, hull (fun g => exists s, pure N s /\ g = gradF s) q /\ norm (sub estimated q) <= K.
  Proof.
    assert (up : 0 < u) by (unfold u; nra). assert (m : 0 < (mu - u * Cf) / u) by (apply Rmult_lt_0_compat; [assumption|now apply Rinv_0_lt_compat]).
    apply (hull_near X (of_piece V N H row k X est c)).
    - intros p [s [e' [n' [ps [S ->]]]]]. exists (gradF s). split; [now exists s|now apply piece_bound].
    - exact (estimate_in_hull V N H row k _ H_add H_scale H_zero H_sym m H_modulus k_pos solvable independent X est T A fx c estimate e minimiser).
  Qed.

  (* Where every piece J is found within r of x, with a gradient that is off by at most L·r: dist(est, ∂_rF) ≤ K + L·r. *)
  Theorem distance_to_goldstein (subgradient : X -> X -> Prop) (x : X) (r L : R) :
    (forall s, pure N s -> exists z g, norm (sub z x) <= r /\ subgradient g z /\ norm (sub (gradF s) g) <= L * r) ->
    exists q, within subgradient x r q /\ norm (sub estimated q) <= K + L * r.
  Proof.
    intro found. destruct distance_to_pieces as [q [Hq Nq]].
    assert (near : forall p, (exists s, pure N s /\ p = gradF s) -> exists p', (exists z, norm (sub z x) <= r /\ subgradient p' z) /\ norm (sub p p') <= L * r).
    { intros p [s [ps ->]]. destruct (found s ps) as [z [g [A1 [A2 A3]]]]. exists g. split; [now exists z|assumption]. }
    destruct (hull_near X _ _ (L * r) q near Hq) as [q' [Hq' Nq']]. exists q'. split; [exact Hq'|].
    pose proof (triangle X (sub estimated q) (sub q q')) as Tr.
    assert (E : norm (sub estimated q') = norm (add (sub estimated q) (sub q q'))).
    { unfold norm. f_equal. expand_inner. rewrite (inner_sym _ q estimated), (inner_sym _ q' estimated), (inner_sym _ q' q). ring. }
    rewrite E. lra.
  Qed.
End pieces.
