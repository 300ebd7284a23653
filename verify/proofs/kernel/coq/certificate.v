(* What a certificate claims, over the reals, and nothing of how it is proven. *)
From Coq Require Import Reals Lra QArith Qreals List Bool ZArith.
From f2csa Require Import polynomials coordinates definite stages.
Import ListNotations.
Local Open Scope R_scope.

(* the norm bounded: of the estimate less the gradient of F; of its parts in the proof of the bias bound; of the move of
   the penalty minimiser with the multiplier's error, or from y* *)
Inductive bounded_quantity := bias | T1 | T2 | T3 | solution_shift | penalty_shift.

(* y_error, gradient_error: of the penalty minimiser, as powers of alpha; piece: the rows held as equations, weight 1;
   the claim: norm <= C alpha^exponent (upper), or >=, on (0, alpha_0] *)
Record certificate := Certificate { of_problem : problem; given : stage; y_error : list (nat * list Q); gradient_error : list (nat * list Q);
  reference : list Q; piece : list Q; bounded : bounded_quantity; upper : bool; exponent : Z; constant_squared : Q; alpha_0 : Q }.

Definition dimension (c : certificate) : nat := length (f_yy (of_problem c)).

(* the same stages with no error and weight 1 on the active rows *)
Definition active (c : certificate) : list Q :=
  map (fun h => if Z.eqb (at_zero h) 0 then 1%Q else 0%Q) (rows polynomials (of_problem c) (monomial 0) (constants polynomials (y_star (given c)))).
Definition exact (c : certificate) : stage := let s := given c in Stage (y_star s) (lam s) [] [] (active c) (kept s) (Dy s) (Dlam s).

(* the penalty minimisers that enter: the first, with the gradient left there, and for a difference the second *)
Definition first (c : certificate) : stage := match bounded c with T3 => exact c | _ => given c end.
Definition second (c : certificate) : stage := match bounded c with T2 | solution_shift => exact c | _ => given c end.
Definition has_second (c : certificate) : bool := match bounded c with T1 | T2 | solution_shift => true | _ => false end.
Definition residual (c : certificate) := match bounded c with bias | T1 => gradient_error c | _ => [] end.

(* the quantity at y = Y1 / d1 and, where there is a second point, y' = Y2 / d2; times w0 d1 d2 *)
Definition quantity (K : numbers) (power : nat -> K) (w0 w1 w2 : K) (c : certificate) (d1 : K) (Y1 : list K) (d2 : K) (Y2 : list K) : list K :=
  let sampled := vsum Y1 (scaled d1 (errors K power (y_error c))) in
  let est := estimate K power w0 w1 w2 (of_problem c) in
  let gradient := scaled (times K w0 d1) (constants K (reference c)) in
  match bounded c with
  | bias => scaled d2 (minus (est (given c) d1 sampled) gradient)
  | T1 => minus (scaled d2 (est (given c) d1 sampled)) (scaled d1 (est (given c) d2 Y2))
  | T2 => minus (scaled d2 (est (given c) d1 Y1)) (scaled d1 (est (exact c) d2 Y2))
  | T3 => scaled d2 (minus (est (exact c) d1 Y1) gradient)
  | solution_shift => scaled w0 (minus (scaled d2 Y1) (scaled d1 Y2))
  | penalty_shift => scaled w0 (scaled d2 (minus Y1 (scaled d1 (constants K (y_star (given c))))))
  end.

(* ---- over the reals, with weights 1, 1/alpha^2, 1/alpha^4 and points given as they are ---- *)
Section meaning.
  Variable c : certificate.
  Let P := of_problem c.
  Let one : reals := 1.
  Let ys := constants reals (y_star (given c)).
  Let ls := constants reals (lam (given c)).

  (* grad_y L(x, y) is what is left there *)
  Definition stationary (s : stage) (left : list (nat * list Q)) (alpha : R) (y : list reals) : Prop :=
    length y = dimension c /\
    null (minus (grad_y_L reals (pow alpha) one (/ alpha ^ 2 : reals) (/ alpha ^ 4 : reals) P s one y) (errors reals (pow alpha) left)).

  Definition points (alpha : R) (y y' : list reals) : Prop :=
    stationary (first c) (residual c) alpha y /\ if has_second c then stationary (second c) [] alpha y' else y' = [].

  Definition norm_squared (alpha : R) (y y' : list reals) : R :=
    let e := quantity reals (pow alpha) one (/ alpha ^ 2 : reals) (/ alpha ^ 4 : reals) c one y one y' in dot e e.

  (* the penalty Lagrangian is strictly convex in y *)
  Definition convex (s : stage) (alpha : R) : Prop :=
    definite (dimension c) (hessian reals one (/ alpha ^ 2 : reals) (/ alpha ^ 4 : reals) P s).

  (* g(x, y) up to what does not depend on y *)
  Definition g (y : list reals) : R :=
    dot y (apply (matrix reals (g_yy P)) y) / 2 + dot y (vsum (constants reals (g_y P)) (pull (matrix reals (g_xy P)) (constants reals (x P)))).
  Definition feasible (y : list reals) : Prop := Forall (fun h : R => h <= 0) (rows reals P one y).

  (* y* alone solves the lower level, lambda* are its multipliers *)
  Definition lower_level : Prop :=
    length ys = dimension c /\ feasible ys /\ (forall y, length y = dimension c -> feasible y -> y <> ys -> g ys < g y) /\
    null (minus (grad_y_g reals P one ys) (pull (matrix reals (B P)) ls)) /\ Forall (fun l : R => 0 <= l) ls /\ null (each ls (rows reals P one ys)).

  (* Dy, Dlambda (a row for each component of x) solve the differentiated system: g_yy Dy - B' Dlambda + g_xy = 0, and
     A - B Dy = 0 on the piece's rows, Dlambda = 0 on the others; these rows are active, and the others have lambda = 0 *)
  Definition differentiated (K : numbers) : list (list (list K)) :=
    let Y := matrix K (Dy (given c)) in let L := matrix K (Dlam (given c)) in let minus_one := constant K (-1 # 1) in
    let others := map (fun a => Qminus 1 a) (piece c) in
    [ msum (map (apply (matrix K (g_yy P))) Y) (msum (mscaled minus_one (map (pull (matrix K (B P))) L)) (matrix K (g_xy P)));
      masked (constants K (piece c)) (msum (matrix K (A P)) (mscaled minus_one (map (apply Y) (matrix K (B P)))));
      map (each (constants K others)) L;
      [each (constants K others) (constants K (lam (given c))); each (constants K (piece c)) (rows K P (constant K 1) (constants K (y_star (given c))))] ].
  Definition needs_gradient : bool := match bounded c with bias | T3 => true | _ => false end.
  Definition needs_maps : bool := needs_gradient || match kept (given c) with map_of_y | both_maps => true | _ => false end.

  (* the gradient of F = f(x, y*(x)) by the chain rule *)
  Definition chain_rule (K : numbers) : list K :=
    let y := constants K (y_star (given c)) in
    minus (constants K (reference c)) (vsum (grad_x_f K P (constant K 1) y) (apply (matrix K (Dy (given c))) (grad_y_f K P (constant K 1) y))).

  (* f_xx, f_yy and g_yy are symmetric, so that the formulas above are gradients *)
  Definition symmetric (n : nat) (M : list (list Q)) : Prop :=
    forall i j, (i < n)%nat -> (j < n)%nat -> (nth j (nth i M []) 0 == nth i (nth j M []) 0)%Q.

  (* all that a certificate says: the data make sense; y* and lambda* solve the lower level; Dy and Dlambda are their
     derivatives; the reference is the gradient of F; and for every alpha in (0, alpha_0] L is strictly convex in y, so that
     the penalty minimisers exist, and at them, whichever points satisfy grad_y L = the rest allowed, the norm is bounded
     by C alpha^exponent, or is no less *)
  Definition certified : Prop :=
    0 < Q2R (alpha_0 c) /\ Forall (fun a => 0 <= Q2R a <= 1) (rho (given c)) /\
    symmetric (length (x P)) (f_xx P) /\ symmetric (dimension c) (f_yy P) /\ symmetric (dimension c) (g_yy P) /\
    lower_level /\
    length (piece c) = length (B P) /\
    (needs_maps = true -> Forall (Forall null) (differentiated reals)) /\
    (needs_gradient = true -> null (chain_rule reals)) /\
    forall alpha, 0 < alpha <= Q2R (alpha_0 c) ->
      convex (first c) alpha /\ (has_second c = true -> convex (second c) alpha) /\
      (exists y y', points alpha y y') /\
      forall y y', points alpha y y' ->
        let bound := Q2R (constant_squared c) * powerRZ alpha (2 * exponent c) in
        if upper c then norm_squared alpha y y' <= bound else bound <= norm_squared alpha y y'.
End meaning.
