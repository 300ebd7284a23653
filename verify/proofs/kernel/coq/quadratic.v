(* The penalty Lagrangian of quadratic data, as a function of y: its gradient changes by its Hessian, its Hessian is
   curved where alpha_1 g outweighs f, and one Newton step ends where its gradient is 0. *)
From Coq Require Import Reals Lra Psatz.
From f2csa Require Import hilbert outer rows terms.
Local Open Scope R_scope.

Lemma weigh_swap n (r u v : coords n) : inner (weigh r u) v = inner u (weigh r v).
Proof. unfold weigh. simpl. apply sum_ext. intros. ring. Qed.

Section quadratic.
  Variables (V : space) (p : nat) (F G : matrix V V) (B : matrix V (coords p)) (r : coords p) (a c : R).

  Lemma hessian_linear : is_linear (fun v => add (add (F v) (scale a (G v))) (scale c (back B (weigh r (B v))))).
  Proof.
    intros t u v w. expand_inner. rewrite !transpose. rewrite !(weigh_swap p r). rewrite !times_add, !times_scale. ring.
  Qed.

  (* f takes at most Cf of the curvature; rows add some *)
  Lemma hessian_curves mu Cf : 0 <= a -> 0 <= c -> (forall i, (i < p)%nat -> 0 <= r i) -> curves G mu ->
    (forall v, - (Cf * inner v v) <= inner (F v) v) ->
    curves (fun v => add (add (F v) (scale a (G v))) (scale c (back B (weigh r (B v))))) (a * mu - Cf).
  Proof.
    intros Ha Hc Hr HG HF v. expand_inner. rewrite !transpose. pose proof (weigh_pos p r (B v) Hr) as P. pose proof (HF v). pose proof (HG v) as Q.
    apply (Rmult_le_compat_l a) in Q; [|assumption]. apply (Rmult_le_compat_l c) in P; [|assumption]. lra.
  Qed.

  Lemma gradient_change (f0 g0 l : V) (t b : coords p) y z w :
    inner (sub (add (add f0 (F y)) (scale a (sub (add g0 (G y)) l))) (scale c (back B (weigh r (sub (sub t (B y)) b))))) w
    - inner (sub (add (add f0 (F z)) (scale a (sub (add g0 (G z)) l))) (scale c (back B (weigh r (sub (sub t (B z)) b))))) w
    = inner (add (add (F (sub y z)) (scale a (G (sub y z)))) (scale c (back B (weigh r (B (sub y z)))))) w.
  Proof.
    expand_inner. rewrite !transpose. rewrite !(weigh_swap p r). expand_inner. rewrite !times_sub. ring.
  Qed.
End quadratic.

(* where a Newton step for a gradient that changes by M ends, the gradient is 0 *)
Lemma newton (V : space) (name : (V -> V) -> V -> V) (M grad : V -> V) (y : V) : is_solve name -> is_linear M ->
  (exists k, 0 < k /\ curves M k) -> (forall u v w, inner (grad u) w - inner (grad v) w = inner (M (sub u v)) w) ->
  forall w, inner (grad (sub y (name M (grad y)))) w = 0.
Proof.
  intros S L K D w. pose proof (S M L K (grad y) w) as E. pose proof (D y (sub y (name M (grad y))) w) as Q.
  set (s := name M (grad y)) in *.
  assert (T : inner (M (sub y (sub y s))) w = inner (M s) w) by (unfold sub; rewrite !L; ring). lra.
Qed.

Lemma block_bounded (X V : space) (Fxx : matrix X X) (Fxy : matrix V X) (F : matrix V V) :
  exists K, @stretches (both X V) (both X V)
    (fun point => (add (Fxx (fst point)) (Fxy (snd point)), add (back Fxy (fst point)) (F (snd point)))) K.
Proof.
  destruct (bounded Fxx) as [k1 [p1 H1]]. destruct (back_bounded V X Fxy) as [k2 [p2 [H2 H3]]]. destruct (bounded F) as [k4 [p4 H4]].
  exists (k1 + 2 * k2 + k4). split; [lra|]. intros [u v]. simpl.
  assert (W : forall (x : X) (y : V), @norm (both X V) (x, y) <= norm x + norm y).
  { intros x y. pose proof (norm_pos X x). pose proof (norm_pos V y). apply le_of_squares; [lra|]. rewrite norm_sq. simpl.
    rewrite <- !norm_sq. nra. }
  assert (U1 : norm u <= @norm (both X V) (u, v)) by (unfold norm at 2; simpl; unfold norm; apply sqrt_le_1_alt; pose proof (inner_pos V v); lra).
  assert (U2 : norm v <= @norm (both X V) (u, v)) by (unfold norm at 2; simpl; unfold norm; apply sqrt_le_1_alt; pose proof (inner_pos X u); lra).
  set (N := @norm (both X V) (u, v)) in *.
  apply Rle_trans with (1 := W _ _). pose proof (triangle X (Fxx u) (Fxy v)). pose proof (triangle V (back Fxy u) (F v)).
  pose proof (H1 u). pose proof (H2 v). pose proof (H3 u). pose proof (H4 v).
  assert (k1 * norm u <= k1 * N) by (apply Rmult_le_compat_l; lra). assert (k2 * norm v <= k2 * N) by (apply Rmult_le_compat_l; lra).
  assert (k2 * norm u <= k2 * N) by (apply Rmult_le_compat_l; lra). assert (k4 * norm v <= k4 * N) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* f_yy is a block of the Hessian of f *)
Lemma block_curvature (X V : space) (Fxx : matrix X X) (Fxy : matrix V X) (F : matrix V V) (K : R) :
  @stretches (both X V) (both X V)
    (fun point => (add (Fxx (fst point)) (Fxy (snd point)), add (back Fxy (fst point)) (F (snd point)))) K ->
  forall v, - (K * inner v v) <= inner (F v) v.
Proof.
  intros [K0 H] v. pose proof (cauchy_schwarz_neg (both X V) (add (Fxx zero) (Fxy v), add (back Fxy zero) (F v)) (zero, v)) as Q.
  specialize (H (zero, v)). cbn [fst snd] in H. pose proof (norm_pos (both X V) (zero, v)) as N.
  pose proof (Rmult_le_compat_r _ _ _ N H) as P. rewrite Rmult_assoc, norm_sq in P. simpl in Q, P.
  rewrite inner_zero_r, inner_add, transpose, inner_zero in Q. rewrite inner_zero in P. lra.
Qed.
