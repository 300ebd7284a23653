(* Vectors as lists, over any kind of number: over the reals they say what is meant, over polynomials they are computed.
   A list that is too short stands for one with zeros behind. *)
From Coq Require Import Reals Lra QArith Qreals List Bool.
From f2csa Require Import polynomials.
Import ListNotations.
Local Open Scope R_scope.

Record numbers := Numbers { number :> Type; zero : number; plus : number -> number -> number;
  times : number -> number -> number; constant : Q -> number }.
Definition reals := Numbers R 0 Rplus Rmult Q2R.
Definition polynomials := Numbers poly ([], 1%positive) psum pproduct pconstant.

Section vectors.
  Variable K : numbers.
  Fixpoint vsum (v w : list K) : list K :=
    match v, w with [], _ => w | _, [] => v | a :: v', b :: w' => plus K a b :: vsum v' w' end.
  Definition scaled (a : K) (v : list K) : list K := map (times K a) v.
  Definition minus (v w : list K) : list K := vsum v (scaled (constant K (-1 # 1)) w).
  Fixpoint dot (v w : list K) : K :=
    match v, w with a :: v', b :: w' => plus K (times K a b) (dot v' w') | _, _ => zero K end.
  (* M v, and M' v for the transposed matrix *)
  Definition apply (M : list (list K)) (v : list K) : list K := map (fun row => dot row v) M.
  Fixpoint pull (M : list (list K)) (v : list K) : list K :=
    match M, v with row :: M', a :: v' => vsum (scaled a row) (pull M' v') | _, _ => [] end.
  (* diag(v) w *)
  Fixpoint each (v w : list K) : list K :=
    match v, w with a :: v', b :: w' => times K a b :: each v' w' | _, _ => [] end.
  (* diag(v) M *)
  Fixpoint masked (v : list K) (M : list (list K)) : list (list K) :=
    match v, M with a :: v', r :: M' => scaled a r :: masked v' M' | _, _ => [] end.
  Definition constants (v : list Q) : list K := map (constant K) v.
  Definition matrix (M : list (list Q)) : list (list K) := map constants M.
  Fixpoint msum (M N : list (list K)) : list (list K) :=
    match M, N with [], _ => N | _, [] => M | r :: M', s :: N' => vsum r s :: msum M' N' end.
  Definition mscaled (a : K) (M : list (list K)) : list (list K) := map (scaled a) M.
  (* B' diag(rho) B *)
  Fixpoint gram (B : list (list K)) (rho : list K) : list (list K) :=
    match B, rho with
    | r :: B', a :: rho' => msum (map (fun c => scaled (times K a c) r) r) (gram B' rho')
    | _, _ => []
    end.
End vectors.

Arguments vsum {K}. Arguments scaled {K}. Arguments minus {K}. Arguments dot {K}. Arguments apply {K}.
Arguments pull {K}. Arguments each {K}. Arguments msum {K}. Arguments mscaled {K}. Arguments gram {K}. Arguments masked {K}.

(* ---- from polynomials to their values at t: every operation commutes with that ---- *)

Section values.
  Variable t : R.
  Definition at_ (v : list polynomials) : list reals := map (fun p => value p t) v.
  Definition mat_ (M : list (list polynomials)) : list (list reals) := map at_ M.

  Lemma at_sum v : forall w, at_ (vsum v w) = vsum (at_ v) (at_ w).
  Proof. induction v as [|a v IH]; intros [|b w]; try reflexivity. cbn. f_equal; [apply value_sum|apply IH]. Qed.

  Lemma at_scaled a v : at_ (scaled a v) = scaled (value a t : reals) (at_ v).
  Proof. induction v as [|b v IH]; [reflexivity|]. cbn. f_equal; [apply value_product|apply IH]. Qed.

  Lemma at_constants v : at_ (constants polynomials v) = constants reals v.
  Proof. induction v as [|b v IH]; [reflexivity|]. cbn. f_equal; [apply value_constant|apply IH]. Qed.

  Lemma at_minus v w : at_ (minus v w) = minus (at_ v) (at_ w).
  Proof. unfold minus. now rewrite at_sum, at_scaled, value_constant. Qed.

  Lemma at_dot (v : list polynomials) : forall w, value (dot v w) t = dot (at_ v) (at_ w).
  Proof. induction v as [|a v IH]; intros [|b w]; try apply value_zero.
    change (value (psum (pproduct a b) (dot v w)) t = value a t * value b t + dot (at_ v) (at_ w)). now rewrite value_sum, value_product, IH. Qed.

  Lemma at_apply M v : at_ (apply M v) = apply (mat_ M) (at_ v).
  Proof. induction M as [|r M IH]; [reflexivity|]. cbn. f_equal; [apply at_dot|apply IH]. Qed.

  Lemma at_pull M : forall v, at_ (pull M v) = pull (mat_ M) (at_ v).
  Proof. induction M as [|r M IH]; intros [|a v]; try reflexivity. cbn. rewrite at_sum, at_scaled, IH. reflexivity. Qed.

  Lemma at_each v : forall w, at_ (each v w) = each (at_ v) (at_ w).
  Proof. induction v as [|a v IH]; intros [|b w]; try reflexivity. cbn. f_equal; [apply value_product|apply IH]. Qed.

  Lemma at_masked v : forall M, mat_ (masked v M) = masked (at_ v) (mat_ M).
  Proof. induction v as [|a v IH]; intros [|r M]; try reflexivity. cbn. f_equal; [apply at_scaled|apply IH]. Qed.

  Lemma at_map_apply M N : mat_ (map (apply M) N) = map (apply (mat_ M)) (mat_ N).
  Proof. induction N as [|r N IH]; [reflexivity|]. cbn. f_equal; [apply at_apply|apply IH]. Qed.

  Lemma at_map_pull M N : mat_ (map (pull M) N) = map (pull (mat_ M)) (mat_ N).
  Proof. induction N as [|r N IH]; [reflexivity|]. cbn. f_equal; [apply at_pull|apply IH]. Qed.

  Lemma at_map_each v N : mat_ (map (each v) N) = map (each (at_ v)) (mat_ N).
  Proof. induction N as [|r N IH]; [reflexivity|]. cbn. f_equal; [apply at_each|apply IH]. Qed.

  Lemma at_matrix M : mat_ (matrix polynomials M) = matrix reals M.
  Proof. induction M as [|r M IH]; [reflexivity|]. cbn. f_equal; [apply at_constants|apply IH]. Qed.

  Lemma at_msum M : forall N, mat_ (msum M N) = msum (mat_ M) (mat_ N).
  Proof. induction M as [|r M IH]; intros [|s N]; try reflexivity. cbn. f_equal; [apply at_sum|apply IH]. Qed.

  Lemma at_mscaled a M : mat_ (mscaled a M) = mscaled (value a t : reals) (mat_ M).
  Proof. induction M as [|r M IH]; [reflexivity|]. cbn. f_equal; [apply at_scaled|apply IH]. Qed.

  Lemma at_gram B : forall rho, mat_ (gram B rho) = gram (mat_ B) (at_ rho).
  Proof.
    induction B as [|r B IH]; intros [|a rho]; try reflexivity.
    change (mat_ (r :: B)) with (at_ r :: mat_ B). change (at_ (a :: rho)) with ((value a t : reals) :: at_ rho).
    cbn [gram]. rewrite at_msum, IH. f_equal. generalize (at_scaled) as E. intro E.
    enough (H : forall s, mat_ (map (fun c => scaled (times polynomials a c) r) s)
      = map (fun c => scaled (times reals (value a t : reals) c) (at_ r)) (at_ s)) by apply H.
    induction s as [|c s IHs]; [reflexivity|]. cbn. f_equal; [|apply IHs]. rewrite E. f_equal. apply value_product.
  Qed.
End values.

(* ---- linear algebra over the reals ---- *)

Definition null (v : list reals) := Forall (fun a : R => a = 0) v.

Lemma dot_nil_r (v : list reals) : dot v [] = 0.
Proof. now destruct v. Qed.

Lemma dot_sum_r (v : list reals) : forall u w, dot v (vsum u w) = dot v u + dot v w.
Proof. induction v as [|a v IH]; intros [|b u] [|c w]; cbn; try lra. rewrite IH. ring. Qed.

Lemma dot_sym (v : list reals) : forall w, dot v w = dot w v.
Proof. induction v as [|a v IH]; intros [|b w]; cbn; try reflexivity. rewrite IH. ring. Qed.

Lemma dot_sum_l (u w v : list reals) : dot (vsum u w) v = dot u v + dot w v.
Proof. rewrite !(dot_sym _ v). apply dot_sum_r. Qed.

Lemma dot_scaled_r (v : list reals) a : forall w, dot v (scaled (a : reals) w) = a * dot v w.
Proof. induction v as [|b v IH]; intros [|c w]; cbn; try ring. unfold scaled in IH. cbn in IH. rewrite IH. ring. Qed.

Lemma dot_scaled_l (v w : list reals) a : dot (scaled (a : reals) v) w = a * dot v w.
Proof. rewrite !(dot_sym _ w). apply dot_scaled_r. Qed.

Lemma dot_minus_r (v u w : list reals) : dot v (minus u w) = dot v u - dot v w.
Proof. unfold minus. rewrite dot_sum_r, dot_scaled_r. cbn. unfold Q2R. simpl. lra. Qed.

Lemma dot_minus_l (v u w : list reals) : dot (minus u w) v = dot u v - dot w v.
Proof. rewrite !(dot_sym _ v). apply dot_minus_r. Qed.

Lemma dot_null_r (v w : list reals) : null w -> dot v w = 0.
Proof. revert w. induction v as [|a v IH]; intros [|b w] N; cbn; try reflexivity. inversion N; subst. rewrite IH by assumption. ring. Qed.

Lemma scaled_sum (a : reals) (v : list reals) : forall w, scaled a (vsum v w) = vsum (scaled a v) (scaled a w).
Proof. induction v as [|b v IH]; intros [|c w]; try reflexivity. cbn. f_equal; [ring|apply IH]. Qed.

Lemma scaled_scaled (a b : R) (v : list reals) : scaled (a : reals) (scaled (b : reals) v) = scaled (a * b : reals) v.
Proof. unfold scaled. rewrite map_map. apply map_ext. intro. cbn. ring. Qed.

Lemma scaled_swap (a b : R) (v : list reals) : scaled (a : reals) (scaled (b : reals) v) = scaled (b : reals) (scaled (a : reals) v).
Proof. rewrite !scaled_scaled. now rewrite Rmult_comm. Qed.

Lemma scaled_minus (a : reals) (v w : list reals) : scaled a (minus v w) = minus (scaled a v) (scaled a w).
Proof. unfold minus. rewrite scaled_sum. f_equal. apply scaled_swap. Qed.

Lemma apply_scaled M (a : reals) (v : list reals) : apply M (scaled a v) = scaled a (apply M v).
Proof. unfold apply, scaled. rewrite map_map. apply map_ext. intro. apply dot_scaled_r. Qed.

Lemma pull_scaled (a : reals) M : forall v : list reals, pull M (scaled a v) = scaled a (pull M v).
Proof.
  induction M as [|r M IH]; intros [|b v]; try reflexivity. change (scaled a (b :: v)) with (times reals a b :: scaled a v). cbn [pull].
  rewrite scaled_sum, scaled_scaled, IH. reflexivity.
Qed.

Lemma each_scaled (a : reals) (v : list reals) : forall w, each v (scaled a w) = scaled a (each v w).
Proof. induction v as [|b v IH]; intros [|c w]; try reflexivity. cbn. f_equal; [ring|apply IH]. Qed.

Lemma each_sum (v : list reals) : forall w u, each v (vsum w u) = vsum (each v w) (each v u).
Proof. induction v as [|a v IH]; intros [|c w] [|d u]; try reflexivity. cbn. f_equal; [ring|apply IH]. Qed.

Lemma each_minus (v w u : list reals) : each v (minus w u) = minus (each v w) (each v u).
Proof. unfold minus. now rewrite each_sum, each_scaled. Qed.

Lemma apply_sum M (v w : list reals) : apply M (vsum v w) = vsum (apply M v) (apply M w).
Proof. induction M as [|r M IH]; [reflexivity|]. cbn. f_equal; [apply dot_sum_r|apply IH]. Qed.

Lemma apply_minus M (v w : list reals) : apply M (minus v w) = minus (apply M v) (apply M w).
Proof. unfold minus. now rewrite apply_sum, apply_scaled. Qed.

Lemma null_scaled a (v : list reals) : a <> 0 -> null (scaled (a : reals) v) <-> null v.
Proof.
  intro A. unfold null, scaled. rewrite Forall_map. split; apply Forall_impl; cbn; intros b B.
  - destruct (Rmult_integral _ _ B); [contradiction|assumption].
  - rewrite B. ring.
Qed.

Lemma square_nonnegative (v : list reals) : 0 <= dot v v.
Proof. induction v as [|a v IH]; cbn; [lra|]. pose proof (Rle_0_sqr a). unfold Rsqr in *. lra. Qed.

Lemma minus_null (v : list reals) : forall w, length v = length w -> null (minus v w) -> v = w.
Proof.
  induction v as [|a v IH]; intros [|b w] L N; try reflexivity; try discriminate. cbn in N. inversion N; subst.
  f_equal; [|apply IH; [now injection L|assumption]]. cbn in H1. unfold Q2R in H1. simpl in H1. lra.
Qed.

Lemma minus_length (v : list reals) : forall w, length v = length w -> length (minus v w) = length v.
Proof. induction v as [|a v IH]; intros [|b w] L; try reflexivity; try discriminate. cbn. f_equal. apply IH. now injection L. Qed.

Lemma null_or_not (v : list reals) : null v \/ ~ null v.
Proof.
  induction v as [|b v [V|V]]; [left; constructor| |right; intro F; inversion F; contradiction].
  destruct (Req_EM_T b 0); [left; now constructor|right; intro F; inversion F; contradiction].
Qed.

(* v - w = 0, be one longer by zeros, gives the same norm *)
Lemma minus_null_square (v w : list reals) : null (minus v w) -> dot v v = dot w w.
Proof.
  intro N. pose proof (dot_null_r v _ N) as A. pose proof (dot_null_r w _ N) as B. rewrite dot_minus_r in A, B.
  rewrite (dot_sym w v) in B. lra.
Qed.

Lemma apply_msum (M : list (list reals)) : forall N v, apply (msum M N) v = vsum (apply M v) (apply N v).
Proof. induction M as [|r M IH]; intros [|s N] v; try reflexivity. cbn. f_equal; [apply dot_sum_l|apply IH]. Qed.

Lemma apply_mscaled (a : reals) M (v : list reals) : apply (mscaled a M) v = scaled a (apply M v).
Proof. unfold apply, mscaled, scaled at 2. rewrite !map_map. apply map_ext. intro. apply dot_scaled_l. Qed.

Lemma apply_gram (B : list (list reals)) : forall rho v, apply (gram B rho) v = pull B (each rho (apply B v)).
Proof.
  induction B as [|r B IH]; intros [|a rho] v; try reflexivity.
  change (each (a :: rho) (apply (r :: B) v)) with (times reals a (dot r v) :: each rho (apply B v)). cbn [gram pull].
  rewrite apply_msum, IH. f_equal. unfold apply, scaled at 2. rewrite map_map. apply map_ext. intro c. rewrite dot_scaled_l. cbn. ring.
Qed.

Lemma dot_pull (B : list (list reals)) v : forall z, dot v (pull B z) = dot (apply B v) z.
Proof.
  induction B as [|r B IH]; intros [|a z]; try apply dot_nil_r. change (apply (r :: B) v) with (dot r v :: apply B v).
  cbn [pull dot]. rewrite dot_sum_r, IH, dot_scaled_r, (dot_sym v r). set (s := dot (apply B v) z). set (q := dot r v). cbn. ring.
Qed.
