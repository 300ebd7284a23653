(* The stages of Algorithm 1 on a quadratic problem at a point x, written once for any kind of number. A point y is given
   as Y / d, so that polynomials need no division; over the reals d is 1. The weights w0, w1, w2 stand before f, before
   the difference of g and before the rows' squares: 1, 1/alpha^2, 1/alpha^4, or all that times alpha^4. *)
From Coq Require Import Reals Lra QArith Qreals List Bool.
From f2csa Require Import polynomials coordinates.
Import ListNotations.
Local Open Scope R_scope.

(* f = <x, f_xx x>/2 + <x, f_xy y> + <y, f_yy y>/2 + <f_x, x> + <f_y, y>, g alike; rows h = A x - B y - b *)
Record problem := Problem { x : list Q; f_xx : list (list Q); f_xy : list (list Q); f_yy : list (list Q); f_x : list Q;
  f_y : list Q; g_xy : list (list Q); g_yy : list (list Q); g_y : list Q; A : list (list Q); B : list (list Q); b : list Q }.

(* what an estimator is made from: y* and lambda*, their errors as powers of alpha, the weights rho, and what is kept of
   the dual part: nothing, lambda with frozen maps, y* a map of x, or both maps, with derivatives Dy, Dlambda *)
Inductive dual_part := cancelled | frozen | map_of_y | both_maps.
Record stage := Stage { y_star : list Q; lam : list Q; y_star_error : list (nat * list Q); lam_error : list (nat * list Q);
  rho : list Q; kept : dual_part; Dy : list (list Q); Dlam : list (list Q) }.

Section stages.
  Variable K : numbers.
  Variable power : nat -> K.
  Variables w0 w1 w2 : K.
  Variable P : problem.
  Let vec := constants K.
  Let mat := matrix K.

  (* sum of alpha^k v *)
  Definition errors (es : list (nat * list Q)) : list K :=
    fold_right (fun e rest => vsum (scaled (power (fst e)) (vec (snd e))) rest) [] es.

  Definition grad_x_f (d : K) (Y : list K) := vsum (scaled d (vsum (vec (f_x P)) (apply (mat (f_xx P)) (vec (x P))))) (apply (mat (f_xy P)) Y).
  Definition grad_y_f (d : K) (Y : list K) := vsum (scaled d (vsum (vec (f_y P)) (pull (mat (f_xy P)) (vec (x P))))) (apply (mat (f_yy P)) Y).
  Definition grad_y_g (d : K) (Y : list K) := vsum (scaled d (vsum (vec (g_y P)) (pull (mat (g_xy P)) (vec (x P))))) (apply (mat (g_yy P)) Y).
  (* h(x, y) *)
  Definition rows (d : K) (Y : list K) := minus (scaled d (minus (apply (mat (A P)) (vec (x P))) (vec (b P)))) (apply (mat (B P)) Y).

  Variable s : stage.
  Definition y_star_hat := vsum (vec (y_star s)) (errors (y_star_error s)).
  Definition lam_hat := vsum (vec (lam s)) (errors (lam_error s)).

  (* grad_y L = grad_y f + (grad_y g - B' lambda) / alpha^2 - B' diag(rho) h / alpha^4 *)
  Definition grad_y_L (d : K) (Y : list K) : list K :=
    minus (vsum (scaled w0 (grad_y_f d Y)) (scaled w1 (minus (grad_y_g d Y) (scaled d (pull (mat (B P)) lam_hat)))))
          (scaled w2 (pull (mat (B P)) (each (vec (rho s)) (rows d Y)))).

  (* its derivative in y *)
  Definition hessian : list (list K) :=
    msum (mscaled w0 (mat (f_yy P))) (msum (mscaled w1 (mat (g_yy P))) (mscaled w2 (gram (mat (B P)) (vec (rho s))))).

  Definition dual (d : K) (Y : list K) : list K :=
    let term := pull (mat (A P)) lam_hat in
    let moved := minus term (apply (mat (Dy s)) (grad_y_g (constant K 1) y_star_hat)) in
    match kept s with
    | cancelled => []
    | frozen => scaled d term
    | map_of_y => scaled d moved
    | both_maps => vsum (scaled d moved) (apply (mat (Dlam s)) (rows d Y))
    end.

  (* est = grad_x f + (g_xy (y - y_star) + dual) / alpha^2 + A' diag(rho) h / alpha^4 *)
  Definition estimate (d : K) (Y : list K) : list K :=
    vsum (scaled w0 (grad_x_f d Y))
      (vsum (scaled w1 (vsum (apply (mat (g_xy P)) (minus Y (scaled d y_star_hat))) (dual d Y)))
            (scaled w2 (pull (mat (A P)) (each (vec (rho s)) (rows d Y))))).
End stages.

(* ---- polynomials in alpha, at a value of alpha ---- *)
Section values.
  Variable t : R.
  Variable P : problem.
  Variable s : stage.
  Variables w0 w1 w2 : poly.
  Let at_point := at_ t.

  Lemma at_errors es : at_ t (errors polynomials monomial es) = errors reals (pow t) es.
  Proof. induction es as [|e es IH]; [reflexivity|]. cbn [errors fold_right]. rewrite at_sum, at_scaled, at_constants, value_monomial. f_equal. exact IH. Qed.

  Ltac down := repeat first [rewrite at_sum | rewrite at_minus | rewrite at_scaled | rewrite at_apply | rewrite at_pull | rewrite at_each
    | rewrite at_constants | rewrite at_matrix | rewrite at_msum | rewrite at_mscaled | rewrite at_gram | rewrite at_errors].

  Lemma at_rows (d : polynomials) Y : at_ t (rows polynomials P d Y) = rows reals P (value d t : reals) (at_ t Y).
  Proof. unfold rows. down. reflexivity. Qed.

  Lemma at_grad_y_g (d : polynomials) Y : at_ t (grad_y_g polynomials P d Y) = grad_y_g reals P (value d t : reals) (at_ t Y).
  Proof. unfold grad_y_g. down. reflexivity. Qed.

  Lemma at_grad_y_f (d : polynomials) Y : at_ t (grad_y_f polynomials P d Y) = grad_y_f reals P (value d t : reals) (at_ t Y).
  Proof. unfold grad_y_f. down. reflexivity. Qed.

  Lemma at_grad_x_f (d : polynomials) Y : at_ t (grad_x_f polynomials P d Y) = grad_x_f reals P (value d t : reals) (at_ t Y).
  Proof. unfold grad_x_f. down. reflexivity. Qed.

  Lemma at_y_star : at_ t (y_star_hat polynomials monomial s) = y_star_hat reals (pow t) s.
  Proof. unfold y_star_hat. down. reflexivity. Qed.

  Lemma at_lam : at_ t (lam_hat polynomials monomial s) = lam_hat reals (pow t) s.
  Proof. unfold lam_hat. down. reflexivity. Qed.

  Lemma at_grad_y_L (d : polynomials) Y : at_ t (grad_y_L polynomials monomial w0 w1 w2 P s d Y)
    = grad_y_L reals (pow t) (value w0 t : reals) (value w1 t : reals) (value w2 t : reals) P s (value d t : reals) (at_ t Y).
  Proof. unfold grad_y_L. down. rewrite at_rows, at_grad_y_f, at_grad_y_g, at_lam. reflexivity. Qed.

  Lemma at_hessian : mat_ t (hessian polynomials w0 w1 w2 P s) = hessian reals (value w0 t : reals) (value w1 t : reals) (value w2 t : reals) P s.
  Proof. unfold hessian. down. reflexivity. Qed.

  Lemma at_dual (d : polynomials) Y : at_ t (dual polynomials monomial P s d Y) = dual reals (pow t) P s (value d t : reals) (at_ t Y).
  Proof.
    assert (one : (value (constant polynomials 1) t : R) = constant reals 1) by apply value_constant.
    unfold dual. destruct (kept s); [reflexivity| | |]; down; rewrite ?at_lam, ?at_grad_y_g, ?at_y_star, ?at_rows, ?one; reflexivity.
  Qed.

  Lemma at_estimate (d : polynomials) Y : at_ t (estimate polynomials monomial w0 w1 w2 P s d Y)
    = estimate reals (pow t) (value w0 t : reals) (value w1 t : reals) (value w2 t : reals) P s (value d t : reals) (at_ t Y).
  Proof. unfold estimate. down. rewrite at_grad_x_f, at_rows, at_dual, at_y_star. reflexivity. Qed.
End values.

(* ---- over the reals: all of it is linear in (d, Y) together, and in the weights together ---- *)
Section scaling.
  Variable power : nat -> R.
  Variable P : problem.
  Variable s : stage.
  Variables w0 w1 w2 k : R.
  Local Arguments reals : simpl never.

  Lemma rows_scaled (d : R) Y : rows reals P (k * d : reals) (scaled (k : reals) Y) = scaled (k : reals) (rows reals P (d : reals) Y).
  Proof. unfold rows. now rewrite apply_scaled, <- scaled_scaled, <- scaled_minus. Qed.

  Lemma grad_y_g_scaled (d : R) Y : grad_y_g reals P (k * d : reals) (scaled (k : reals) Y) = scaled (k : reals) (grad_y_g reals P (d : reals) Y).
  Proof. unfold grad_y_g. now rewrite apply_scaled, <- scaled_scaled, <- scaled_sum. Qed.

  Lemma grad_y_f_scaled (d : R) Y : grad_y_f reals P (k * d : reals) (scaled (k : reals) Y) = scaled (k : reals) (grad_y_f reals P (d : reals) Y).
  Proof. unfold grad_y_f. now rewrite apply_scaled, <- scaled_scaled, <- scaled_sum. Qed.

  Lemma grad_x_f_scaled (d : R) Y : grad_x_f reals P (k * d : reals) (scaled (k : reals) Y) = scaled (k : reals) (grad_x_f reals P (d : reals) Y).
  Proof. unfold grad_x_f. now rewrite apply_scaled, <- scaled_scaled, <- scaled_sum. Qed.

  Lemma grad_y_L_scaled (d : R) Y : grad_y_L reals power (w0 : reals) (w1 : reals) (w2 : reals) P s (k * d : reals) (scaled (k : reals) Y)
    = scaled (k : reals) (grad_y_L reals power (w0 : reals) (w1 : reals) (w2 : reals) P s (d : reals) Y).
  Proof.
    unfold grad_y_L. rewrite rows_scaled, grad_y_f_scaled, grad_y_g_scaled, each_scaled, pull_scaled, <- (scaled_scaled k d), <- scaled_minus.
    now rewrite !(scaled_swap _ k), <- scaled_sum, <- scaled_minus.
  Qed.

  Lemma dual_scaled (d : R) Y : dual reals power P s (k * d : reals) (scaled (k : reals) Y) = scaled (k : reals) (dual reals power P s (d : reals) Y).
  Proof. unfold dual. destruct (kept s); rewrite ?rows_scaled, ?apply_scaled, ?scaled_sum, ?scaled_scaled; reflexivity. Qed.

  Lemma estimate_scaled (d : R) Y : estimate reals power (w0 : reals) (w1 : reals) (w2 : reals) P s (k * d : reals) (scaled (k : reals) Y)
    = scaled (k : reals) (estimate reals power (w0 : reals) (w1 : reals) (w2 : reals) P s (d : reals) Y).
  Proof.
    unfold estimate. rewrite rows_scaled, grad_x_f_scaled, dual_scaled, each_scaled, pull_scaled, <- (scaled_scaled k d), <- scaled_minus, apply_scaled, <- scaled_sum.
    now rewrite !(scaled_swap _ k), <- !scaled_sum.
  Qed.

  Lemma grad_y_L_weighted (d : R) Y : grad_y_L reals power (k * w0 : reals) (k * w1 : reals) (k * w2 : reals) P s (d : reals) Y
    = scaled (k : reals) (grad_y_L reals power (w0 : reals) (w1 : reals) (w2 : reals) P s (d : reals) Y).
  Proof. unfold grad_y_L. now rewrite <- !(scaled_scaled k), <- scaled_sum, <- scaled_minus. Qed.

  Lemma estimate_weighted (d : R) Y : estimate reals power (k * w0 : reals) (k * w1 : reals) (k * w2 : reals) P s (d : reals) Y
    = scaled (k : reals) (estimate reals power (w0 : reals) (w1 : reals) (w2 : reals) P s (d : reals) Y).
  Proof. unfold estimate. now rewrite <- !(scaled_scaled k), <- !scaled_sum. Qed.

  (* the difference of the gradient at two points is the Hessian's *)
  Lemma grad_y_L_difference v y z : dot v (minus (grad_y_L reals power (w0 : reals) (w1 : reals) (w2 : reals) P s (1 : reals) y)
      (grad_y_L reals power (w0 : reals) (w1 : reals) (w2 : reals) P s (1 : reals) z))
    = dot v (apply (hessian reals (w0 : reals) (w1 : reals) (w2 : reals) P s) (minus y z)).
  Proof.
    assert (E : forall u : list reals, dot u (each (constants reals (rho s)) (minus (rows reals P (1 : reals) y) (rows reals P (1 : reals) z)))
      = - dot u (each (constants reals (rho s)) (apply (matrix reals (B P)) (minus y z)))).
    { intro u. rewrite apply_minus. unfold rows. set (c := scaled _ _). rewrite !each_minus, !dot_minus_r. set (p := dot u (each _ c)). lra. }
    unfold grad_y_L, hessian. rewrite !apply_msum, !apply_mscaled, apply_gram. rewrite dot_minus_r, !dot_sum_r.
    rewrite !dot_minus_r, !dot_scaled_r, !dot_sum_r, !dot_scaled_r, !dot_minus_r, !dot_pull, !apply_minus, !dot_minus_r.
    specialize (E (apply (matrix reals (B P)) v)). rewrite each_minus, dot_minus_r in E. rewrite apply_minus, each_minus, dot_minus_r in E.
    rewrite each_minus, dot_minus_r.
    unfold grad_y_f, grad_y_g. rewrite !dot_sum_r.
    set (e1 := dot _ (each _ (rows reals P (1 : reals) y))) in *. set (e2 := dot _ (each _ (rows reals P (1 : reals) z))) in *. nra.
  Qed.
End scaling.
