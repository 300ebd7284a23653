(* The premises of the files on moving weights, pieces, residuals and means given the stages can be met: each is instantiated on
   f = y, g = y^2/2 with the row x - y <= 0, or on a coin. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer goldstein witness rows moving several pieces residual conditional.
Local Open Scope R_scope.

Lemma norm_one_row (v : coords 1) : norm v = Rabs (v O).
Proof. unfold norm. simpl. rewrite Rplus_0_l. exact (sqrt_Rsqr_abs (v O)). Qed.

(* lambda-star = 1 on a ramp of width 2, lambda-hat = 1 + t: weights 1/2 and (1 + t)/2; the minimisers are |t| 3/2 apart at most *)
Theorem moving_instance alpha t : 0 < alpha -> 0 <= 1 + t -> let u := alpha * alpha in
  let e := - (u * u) / (u + / 2) in let d := (t * u - t / 2 * e) / (u + (1 + t) / 2) in Rabs d <= 3 / 2 * Rabs t.
Proof.
  intros Ha Ht u e d. assert (Hu : 0 < u) by (unfold u; nra). assert (d2 : 0 < u + (1 + t) / 2) by lra.
  pose proof (solution_shift_moving line 1 (fun v _ => v) 1 0 1 u 2 0 1 0 e e 0 d d (fun _ => / 2) (fun _ => (1 + t) / 2) (fun _ => 1) (fun _ => 1 + t) (fun _ => 0)) as M.
  assert (G : norm (V := line) d <= 1 * norm (V := coords 1) (sub (V := coords 1) (fun _ => 1 + t) (fun _ => 1)) * (1 + (0 / u + 1 * norm (V := line) 1 / (1 - u * 0)) / 2) / (1 - u * 0)).
  { apply M; clear M; try lra.
    - intro v. rewrite norm_one_row, norm_line. lra.
    - intro v. unfold weigh, sub. simpl. unfold e. field. lra.
    - intro v. unfold weigh, sub. simpl. unfold d. assert (E : e = - (u * u) / (u + / 2)) by reflexivity. assert (Q : (u + / 2) * e = - (u * u)) by (rewrite E; field; lra).
      replace (1 * v + 0 * v + 0 * v + (e * v + (t * u - t / 2 * e) / (u + (1 + t) / 2) * v) / u
        - (0 + (1 + t) / 2 * (0 + -1 * e + -1 * ((t * u - t / 2 * e) / (u + (1 + t) / 2))) * v) / (u * u))
        with (v * (u * u + (u + / 2) * e) / (u * u) + t * v / u) by (field; lra). rewrite Q. field. lra.
    - change (- (0 * (d * d)) <= 0 * d). clearbody d. lra.
    - intros. lra.
    - intros. lra.
    - intros. replace ((1 + t) / 2 - / 2) with (t * / 2) by field. replace (1 + t - 1) with t by ring. rewrite Rabs_mult, (Rabs_right (/ 2)) by lra. lra.
    - change (- (0 * (e * e)) <= 0 * e). lra.
    - intros. ring.
    - intros. rewrite Rabs_R0. lra. }
  rewrite norm_one_row, !norm_line in G. unfold sub in G. simpl in G. replace (1 + t + -1 * 1) with t in G by ring. rewrite Rabs_R1 in G.
  replace (1 * Rabs t * (1 + (0 / u + 1 * 1 / (1 - u * 0)) / 2) / (1 - u * 0)) with (3 / 2 * Rabs t) in G by (field; lra). exact G.
Qed.

(* one switching row of any weight, none that does not switch: the estimate is between the gradients 0 and 1 of the two pieces *)
Theorem pieces_instance alpha k : 0 < alpha -> 0 <= k -> let u := alpha * alpha in let e := - / (/ u + k) in
  exists q : line, hull (X := line) (fun g => g = 0 \/ g = 1) q /\ norm (V := line) (sub (V := line) (- (k * e)) q) <= 0.
Proof.
  intros Ha Hk u e. assert (Hu : 0 < u) by (unfold u; nra). assert (iu : 0 < / u) by now apply Rinv_0_lt_compat.
  set (on := fun (s : nat -> mode) => match s O with enforced => 1 | _ => 0 end).
  destruct (distance_to_pieces line line line 1 (fun v => v / u) (fun v => v) (fun _ => 0) (fun _ => 0) (fun w => w) (fun _ => 1) (fun _ => k) alpha 1 0 1 0 1
    (fun _ n => - n O) (fun _ => 0) (fun _ => 0) (fun _ => 0) (fun _ => 1) (fun _ => 0) 0 1 (fun s dx => on s * dx) (fun s dx _ => on s * dx) (fun _ _ => 0) on)
    with (e := e) as [q [Hq Nq]]; try (intros; simpl; lra).
  - intros. simpl. fold u. field. lra.
  - intros s dx i Hi Es. assert (i = O) by lia. subst i. unfold on. rewrite Es. simpl. ring.
  - intros s dx i Hi Es. assert (i = O) by lia. subst i. unfold on. rewrite Es. ring.
  - intros dx. rewrite !norm_line, Rabs_R0. lra.
  - intros v. rewrite !norm_line, Rabs_R0. lra.
  - intros s dx. rewrite !norm_line, Rabs_mult. pose proof (Rabs_pos dx). unfold on. destruct (s O); rewrite ?Rabs_R0, ?Rabs_R1; lra.
  - intros s dx. rewrite !norm_line, Rabs_R0. lra.
  - intro b. exists (- (u * b)). intro v. simpl. field. lra.
  - intros n Hn i Hi. specialize (Hn 1). simpl in Hn. assert (i = O) by lia. subst i. lra.
  - intro v. simpl. unfold e. field. split; nra.
  - exists q. split.
    + clear Nq. induction Hq as [g [s [ps ->]]|w p q0 g Hw _ Hp _ Hq E].
      * apply hull_point. unfold on. destruct (s O); [now left|now right|now left].
      * now apply hull_between with (w := w) (p := p) (q := q0).
    + fold u in Nq. replace (u * (0 * (1 + 1) * norm (V := line) 1 / (1 - u * 0)) + alpha * (0 * norm (V := line) 1 / (2 * sqrt (1 * (1 - u * 0))))) with 0 in Nq.
      2: unfold Rdiv; ring.
      change (@inner line 1 e) with (1 * e) in Nq. rewrite Rmult_1_l in Nq. exact Nq.
Qed.

(* y off by e: T1 = -e / alpha^4, the gradient left e / alpha^2 + e / alpha^4 *)
Theorem residual_instance alpha e : 0 < alpha -> let u := alpha * alpha in let r := e / u + e / (u * u) in
  Rabs (Rabs (- (e / (u * u))) - Rabs r) <= 2 * u * Rabs r.
Proof.
  intros Ha u r. assert (Hu : 0 < u) by (unfold u; nra).
  pose proof (T1_both_sides line line line (fun x => x) (fun v => v) (fun v => v) (fun _ => 0) (fun x => x) (fun x => x) (fun w => w) alpha u 1 0 1 1 1 1 1 0 0 0 (- (e / (u * u))) r 0 e r e (e / (u * u))) as T.
  assert (G : Rabs (norm (V := line) (- (e / (u * u))) - norm (V := line) r) <= u * ((0 * (1 + 1) / (1 - u * 0) + 1 * (1 + (1 + u * 0) / (1 - u * 0)) / (1 * 1)) * norm (V := line) r) + (1 + 1) * 0 / u).
  { apply T; clear T; try (unfold u; nra); try (intros; simpl; unfold r; field; lra); try (intros; simpl; lra); try (intros; rewrite ?norm_line, ?Rabs_R0; pose proof (Rabs_pos e); lra).
    - right. simpl. field. lra.
    - rewrite !norm_line. right. replace e with (u * u * (e / (u * u))) at 1 by (field; lra). rewrite Rabs_mult, (Rabs_right (u * u)) by nra. ring. }
  rewrite !norm_line in G. replace (u * ((0 * (1 + 1) / (1 - u * 0) + 1 * (1 + (1 + u * 0) / (1 - u * 0)) / (1 * 1)) * Rabs r) + (1 + 1) * 0 / u) with (2 * u * Rabs r) in G by (field; lra). exact G.
Qed.

(* a fair coin; the stages do not see it *)
Definition coin : expectation.
Proof.
  refine (Expectation bool (fun _ => True) (fun a => (a true + a false) / 2) _ _ _ _ _ _ _ _); try (intros; exact I); intros; try (simpl; field).
  pose proof (H1 true). pose proof (H1 false). lra.
Defined.

(* E(3 ± 1)² = 1 + 3²: noise ±1 about a stage's 3 *)
Theorem coin_instance (v : R) : let a := fun o : bool => v + (if o then 1 else -1) in (a true * a true + a false * a false) / 2 = 1 + v * v.
Proof.
  intro a.
  pose proof (mean_given_stages coin line (fun _ => True) (fun _ => True) (fun w => w true = w false)) as M.
  pose proof (total_variance coin line (fun _ => True) (fun _ => True) (fun w => w true = w false)) as T.
  assert (G : mean_given coin line (fun _ => True) (fun w => w true = w false) (fun o => v + / INR 1 * (0 + (if o then 1 else -1))) (fun _ => v)).
  { apply (M (fun _ _ _ _ _ _ => I) I (fun _ _ _ _ => I) (fun _ _ _ => I) (fun _ _ => I) I (fun _ => v) (fun _ o => if o then 1 else -1) 1%nat); try reflexivity.
    intros _ w Hw. simpl. rewrite Hw. field. }
  assert (Q := T (fun _ _ _ _ _ _ => I) (fun _ _ _ _ => I) (fun _ _ _ => I) (fun _ _ => I)). simpl in Q.
  assert (P := Q ltac:(intros x y Hx Hy; simpl; now rewrite Hx, Hy) ltac:(intros t x Hx; simpl; now rewrite Hx) I _ _ (fun _ => 0) G eq_refl).
  unfold sub in P. simpl in P. unfold a. lra.
Qed.
