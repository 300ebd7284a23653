(* Means given the stages.  E is the mean of goldstein.v; `square` are random vectors of finite square mean, `stages` those of
   them that are functions of the stages (y-tilde, lambda-tilde, y-star-tilde), `known` bounded numbers that are.  The mean of
   a given the stages is the function m of the stages with E<w, a> = E<w, m> for every w that is one: its usual definition. *)
From Coq Require Import Reals Lra Psatz Lia.
From f2csa Require Import hilbert outer variance goldstein.
Local Open Scope R_scope.

Section conditional.
  Variables (P : expectation) (V : space).
  Variables (known : (Omega P -> R) -> Prop) (square stages : (Omega P -> V) -> Prop).
  Hypothesis square_ok : forall b v w, known b -> square v -> square w -> ok (fun o => b o * inner (v o) (w o)).
  Hypothesis square_zero : square (fun _ => zero).
  Hypothesis square_add : forall v w, square v -> square w -> square (fun o => add (v o) (w o)).
  Hypothesis square_scale : forall t v, square v -> square (fun o => scale t (v o)).
  Hypothesis stages_square : forall v, stages v -> square v.
  Hypothesis stages_const : forall v, stages (fun _ => v).
  Hypothesis stages_add : forall v w, stages v -> stages w -> stages (fun o => add (v o) (w o)).
  Hypothesis stages_scale : forall t v, stages v -> stages (fun o => scale t (v o)).
  Hypothesis known_one : known (fun _ => 1).

  Definition mean_given (a m : Omega P -> V) : Prop :=
    square a /\ stages m /\ forall w, stages w -> E (fun o => inner (w o) (a o)) = E (fun o => inner (w o) (m o)).

  Lemma pair_ok v w : square v -> square w -> ok (fun o => inner (v o) (w o)).
  Proof. intros Hv Hw. apply ok_ext with (2 := square_ok (fun _ => 1) v w known_one Hv Hw). intro. ring. Qed.

  (* Random vectors are an inner-product space, <v, w> = E b v'w with a weight b >= 0 that the stages fix: what variance.v
     says of spaces holds of them, given the stages. *)
  Definition random (b : Omega P -> R) (kb : known b) (pos : forall o, 0 <= b o) : space.
  Proof.
    refine (Space {v : Omega P -> V | square v} (exist _ _ square_zero)
      (fun v w => exist _ _ (square_add _ _ (proj2_sig v) (proj2_sig w))) (fun t v => exist _ _ (square_scale t _ (proj2_sig v)))
      (fun v w => E (fun o => b o * inner (proj1_sig v o) (proj1_sig w o))) _ _ _ _ _).
    - intros [v Hv] [w Hw]. simpl. apply E_ext; [now apply square_ok|]. intro. now rewrite inner_sym.
    - intros [u Hu] [v Hv] [w Hw]. simpl. rewrite <- E_add by now apply square_ok. apply E_ext; [now apply square_ok; [|apply square_add|]|].
      intro. rewrite inner_add. ring.
    - intros t [v Hv] [w Hw]. simpl. rewrite <- E_scale by now apply square_ok. apply E_ext; [now apply square_ok; [|apply square_scale|]|].
      intro. rewrite inner_scale. ring.
    - intros [w Hw]. simpl. rewrite <- (E_const P 0). apply E_ext; [now apply square_ok|]. intro. rewrite inner_zero. ring.
    - intros [v Hv]. simpl. rewrite <- (E_const P 0). apply E_le; [apply ok_const|now apply square_ok|]. intro. apply Rmult_le_pos; [apply pos|apply inner_pos].
  Defined.

  Lemma vsum_random b kb pos N (e : nat -> random b kb pos) o : proj1_sig (vsum N e) o = vsum N (fun i => proj1_sig (e i) o).
  Proof. induction N as [|N IH]; [reflexivity|]. simpl. now rewrite IH. Qed.

  (* The mean of N samples given the stages that no stage has seen: the noise-free gradient at the stages. *)
  Theorem mean_given_stages (s : Omega P -> V) (noise : nat -> Omega P -> V) N : stages s ->
    (forall i, square (noise i)) -> (forall i w, stages w -> E (fun o => inner (w o) (noise i o)) = 0) ->
    mean_given (fun o => add (s o) (scale (/ INR N) (vsum N (fun i => noise i o)))) s.
  Proof.
    intros Hs Hn unbiased. assert (sq : forall k, square (fun o => vsum k (fun i => noise i o))).
    { induction k; simpl; [exact square_zero|]. now apply square_add. }
    assert (zero_mean : forall w, stages w -> forall k, E (fun o => inner (w o) (vsum k (fun i => noise i o))) = 0).
    { intros w Hw. assert (qw := stages_square w Hw). induction k as [|k IH]; simpl.
      - rewrite <- (E_const P 0). apply E_ext; [now apply pair_ok|]. intro. now rewrite inner_zero_r.
      - assert (X : forall o, inner (w o) (vsum k (fun i => noise i o)) + inner (w o) (noise k o) = inner (w o) (add (vsum k (fun i => noise i o)) (noise k o)))
          by (intro; now rewrite inner_add_r).
        rewrite <- (E_ext P _ _ (ok_add P _ _ (pair_ok _ _ qw (sq k)) (pair_ok _ _ qw (Hn k))) X), E_add by now apply pair_ok. rewrite IH, unbiased by assumption. ring. }
    assert (qs := stages_square s Hs). split; [apply square_add; [exact qs|now apply square_scale]|]. split; [exact Hs|]. intros w Hw. assert (qw := stages_square w Hw).
    assert (X : forall o, inner (w o) (s o) + / INR N * inner (w o) (vsum N (fun i => noise i o)) = inner (w o) (add (s o) (scale (/ INR N) (vsum N (fun i => noise i o)))))
      by (intro; now rewrite inner_add_r, inner_scale_r).
    assert (o1 := pair_ok _ _ qw (sq N)). assert (o2 := ok_scale P (/ INR N) _ o1). assert (o3 := pair_ok _ _ qw qs).
    rewrite <- (E_ext P _ _ (ok_add P _ _ o3 o2) X), E_add, E_scale, zero_mean by assumption. ring.
  Qed.

  (* Averaged over the stages the mean given them is the mean over all randomness. *)
  Theorem average_over_stages (a m : Omega P -> V) (v : V) : mean_given a m -> E (fun o => inner v (a o)) = E (fun o => inner v (m o)).
  Proof. intros [_ [_ H]]. exact (H (fun _ => v) (stages_const v)). Qed.

  Lemma square_sub v w : square v -> square w -> square (fun o => sub (v o) (w o)).
  Proof. intros Hv Hw. unfold sub. apply square_add; [assumption|now apply square_scale]. Qed.

  Lemma stages_sub v w : stages v -> stages w -> stages (fun o => sub (v o) (w o)).
  Proof. intros Hv Hw. unfold sub. apply stages_add; [assumption|now apply stages_scale]. Qed.

  (* About any function t of the stages: E‖a − t‖² = E‖a − m‖² + E‖m − t‖², m the mean of a given the stages. *)
  Theorem total_variance (a m t : Omega P -> V) : mean_given a m -> stages t ->
    E (fun o => inner (sub (a o) (t o)) (sub (a o) (t o)))
      = E (fun o => inner (sub (a o) (m o)) (sub (a o) (m o))) + E (fun o => inner (sub (m o) (t o)) (sub (m o) (t o))).
  Proof.
    intros [Ha [Hm H]] Ht. assert (qm := stages_square m Hm). assert (qt := stages_square t Ht).
    set (w := fun o => sub (m o) (t o)). assert (Hw : stages w) by now apply stages_sub. assert (qw := stages_square w Hw).
    assert (qd : square (fun o => sub (a o) (m o))) by now apply square_sub.
    assert (cross : E (fun o => inner (w o) (sub (a o) (m o))) = 0).
    { assert (X : forall o, inner (w o) (a o) + -1 * inner (w o) (m o) = inner (w o) (sub (a o) (m o))) by (intro; rewrite inner_sub_r; ring).
      assert (o1 := pair_ok _ _ qw Ha). assert (o2 := ok_scale P (-1) _ (pair_ok _ _ qw qm)).
      rewrite <- (E_ext P _ _ (ok_add P _ _ o1 o2) X), E_add, E_scale, H by (try assumption; now apply pair_ok). ring. }
    assert (o1 := pair_ok _ _ qd qd). assert (o2 := pair_ok _ _ qw qw). assert (o3 := ok_scale P 2 _ (pair_ok _ _ qw qd)).
    assert (X : forall o, (inner (sub (a o) (m o)) (sub (a o) (m o)) + inner (w o) (w o)) + 2 * inner (w o) (sub (a o) (m o)) = inner (sub (a o) (t o)) (sub (a o) (t o))).
    { intro o. unfold w. expand_inner. rewrite (inner_sym _ (m o) (a o)), (inner_sym _ (t o) (a o)), (inner_sym _ (t o) (m o)). ring. }
    rewrite <- (E_ext P _ _ (ok_add P _ _ (ok_add P _ _ o1 o2) o3) X), E_add, E_add, E_scale, cross by (try assumption; try (now apply ok_add); now apply pair_ok).
    unfold w. ring.
  Qed.

  (* Given the stages the mean of N_g samples has variance σ²/N_g, σ² that of one: against every weight b ≥ 0 the stages fix. *)
  Theorem variance_given_stages (noise : nat -> Omega P -> V) (variance b : Omega P -> R) N : (0 < N)%nat -> known b -> (forall o, 0 <= b o) ->
    (forall i, square (noise i)) -> (forall i j, i <> j -> E (fun o => b o * inner (noise i o) (noise j o)) = 0) ->
    (forall i, E (fun o => b o * inner (noise i o) (noise i o)) = E (fun o => b o * variance o)) ->
    let mean := fun o => scale (/ INR N) (vsum N (fun i => noise i o)) in
    E (fun o => b o * inner (mean o) (mean o)) = E (fun o => b o * variance o) / INR N.
  Proof.
    intros HN kb pos Hn orth var mean. set (e := fun i => exist square (noise i) (Hn i) : random b kb pos).
    pose proof (batch_variance (random b kb pos) e N (E (fun o => b o * variance o)) HN orth var) as B. rewrite <- B. simpl.
    apply E_ext.
    - apply square_ok; [assumption| |]; unfold mean; apply square_scale; (clear - square_zero square_add Hn; induction N; simpl; [exact square_zero|now apply square_add]).
    - intro o. unfold mean. now rewrite vsum_random.
  Qed.

  (* About a mean that is given less (t): what the estimate owes to the rest of the stages stays, whatever N_g is. *)
  Theorem variance_given_less (a m t : Omega P -> V) : mean_given a m -> stages t ->
    E (fun o => inner (sub (m o) (t o)) (sub (m o) (t o))) <= E (fun o => inner (sub (a o) (t o)) (sub (a o) (t o))).
  Proof.
    intros H Ht. rewrite (total_variance a m t H Ht). destruct H as [Ha [Hm _]]. assert (qm := stages_square m Hm).
    assert (qd : square (fun o => sub (a o) (m o))) by now apply square_sub.
    assert (0 <= E (fun o => inner (sub (a o) (m o)) (sub (a o) (m o)))).
    { rewrite <- (E_const P 0). apply E_le; [apply ok_const|now apply pair_ok|]. intro. apply inner_pos. }
    lra.
  Qed.

  (* The bias over all randomness is at most the mean length of the bias given the stages ... *)
  Theorem bias_of_mean (a m : Omega P -> V) (truth bias : V) : mean_given a m -> ok (fun o => norm (sub (m o) truth)) ->
    (forall v, E (fun o => inner v (a o)) = inner v truth + inner v bias) -> norm bias <= E (fun o => norm (sub (m o) truth)).
  Proof.
    intros H okn Hb. assert (Hm := H). destruct Hm as [Ha [Hm _]]. assert (qm := stages_square m Hm).
    assert (qc : forall v, square (fun _ => v)) by (intro; apply stages_square, stages_const).
    assert (p : 0 <= E (fun o => norm (sub (m o) truth))).
    { rewrite <- (E_const P 0). apply E_le; [apply ok_const|assumption|]. intro. apply norm_pos. }
    apply norm_dual; [assumption|]. intro v. rewrite inner_sym. pose proof (Hb v) as B. rewrite (average_over_stages a m v H) in B.
    assert (o1 := pair_ok _ _ (qc v) qm). assert (X : forall o, inner v (m o) + - inner v truth = inner v (sub (m o) truth)) by (intro; rewrite inner_sub_r; ring).
    assert (S : E (fun o => inner v (sub (m o) truth)) = inner v bias).
    { rewrite <- (E_ext P _ _ (ok_add P _ _ o1 (ok_const P _)) X), E_add, E_const by (try assumption; apply ok_const). lra. }
    rewrite <- S. assert (Le : E (fun o => inner v (sub (m o) truth)) <= E (fun o => norm v * norm (sub (m o) truth))).
    { apply E_le; [|now apply ok_scale|intro; apply cauchy_schwarz]. apply ok_ext with (1 := X). apply ok_add; [assumption|apply ok_const]. }
    rewrite E_scale in Le by assumption. lra.
  Qed.

  (* ... hence O(alpha) where that is at most K alpha + alpha^-2 K (errors of the pair), the errors alpha^3 in the mean. *)
  Theorem bias_in_mean (a m : Omega P -> V) (truth bias : V) (ey el : Omega P -> R) alpha K C : 0 < alpha -> 0 <= K -> mean_given a m ->
    ok (fun o => norm (sub (m o) truth)) -> ok ey -> ok el -> (forall v, E (fun o => inner v (a o)) = inner v truth + inner v bias) ->
    (forall o, norm (sub (m o) truth) <= K * alpha + K / (alpha * alpha) * (ey o + el o)) ->
    E ey <= C * (alpha * alpha * alpha) -> E el <= C * (alpha * alpha * alpha) -> norm bias <= K * (1 + 2 * C) * alpha.
  Proof.
    intros Ha HK H okn oy ol Hb Hrun Hy Hl. pose proof (bias_of_mean a m truth bias H okn Hb) as B. assert (u : 0 < alpha * alpha) by nra.
    assert (o1 : ok (fun o => ey o + el o)) by now apply ok_add. assert (o2 := ok_scale P (K / (alpha * alpha)) _ o1).
    assert (Le : E (fun o => norm (sub (m o) truth)) <= E (fun o => K * alpha + K / (alpha * alpha) * (ey o + el o))).
    { apply E_le; [assumption|apply ok_add; [apply ok_const|assumption]|exact Hrun]. }
    rewrite E_add, E_const, E_scale, E_add in Le by (try assumption; apply ok_const).
    assert (Q : K / (alpha * alpha) * (E ey + E el) <= K / (alpha * alpha) * (2 * C * (alpha * alpha * alpha))).
    { apply Rmult_le_compat_l; [apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat]|lra]. }
    replace (K / (alpha * alpha) * (2 * C * (alpha * alpha * alpha))) with (K * (2 * C) * alpha) in Q by (field; lra). lra.
  Qed.

  (* A part of the error that is at most alpha^-2 K |dl| on every run has mean square K^2 alpha^2 where E|dl|^2 <= alpha^6. *)
  Theorem mean_square_part (part : Omega P -> V) (dl : Omega P -> R) alpha K : 0 < alpha -> square part -> ok (fun o => dl o * dl o) -> 0 <= K ->
    (forall o, 0 <= dl o /\ norm (part o) <= K / (alpha * alpha) * dl o) ->
    E (fun o => dl o * dl o) <= alpha * alpha * alpha * (alpha * alpha * alpha) ->
    E (fun o => inner (part o) (part o)) <= K * K * (alpha * alpha).
  Proof.
    intros Ha Hp Hd HK Hrun Hm. assert (u : 0 < alpha * alpha) by nra. assert (k : 0 <= K / (alpha * alpha)) by (apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat]).
    apply Rle_trans with (E (fun o => K / (alpha * alpha) * (K / (alpha * alpha)) * (dl o * dl o))).
    - apply E_le; [now apply pair_ok|now apply ok_scale|]. intro o. destruct (Hrun o) as [d0 d1]. rewrite <- norm_sq. pose proof (norm_pos V (part o)).
      replace (K / (alpha * alpha) * (K / (alpha * alpha)) * (dl o * dl o)) with (K / (alpha * alpha) * dl o * (K / (alpha * alpha) * dl o)) by ring.
      apply Rmult_le_compat; assumption.
    - rewrite E_scale by assumption. replace (K * K * (alpha * alpha)) with (K / (alpha * alpha) * (K / (alpha * alpha)) * (alpha * alpha * alpha * (alpha * alpha * alpha))) by (field; lra).
      apply Rmult_le_compat_l; [now apply Rmult_le_pos|assumption].
  Qed.

  (* eta / 2 of E|g|^2 holds eta V / 2 of noise: the mean given the stages takes the rest. *)
  Theorem noise_in_eta_term (a m : Omega P -> V) eta Vv : mean_given a m -> E (fun o => inner (sub (a o) (m o)) (sub (a o) (m o))) = Vv ->
    eta / 2 * (E (fun o => inner (a o) (a o)) - E (fun o => inner (m o) (m o))) = eta * Vv / 2.
  Proof.
    intros H HV. pose proof (total_variance a m (fun _ => zero) H (stages_const zero)) as T. rewrite HV in T. destruct H as [Ha [Hm _]]. assert (qm := stages_square m Hm).
    assert (Z : forall v : V, inner (sub v zero) (sub v zero) = inner v v) by (intro; rewrite inner_sub, !inner_sub_r, inner_zero, !inner_zero_r; ring).
    rewrite <- (E_ext P _ _ (pair_ok _ _ Ha Ha) (fun o => eq_sym (Z (a o)))), <- (E_ext P _ _ (pair_ok _ _ qm qm) (fun o => eq_sym (Z (m o)))) in T. rewrite T. field.
  Qed.
End conditional.

(* <bias, step - w> is at most 2 D |bias| over steps and w of length D, and is that much for one pair. *)
Theorem bias_in_D_term (V : space) (bias : V) D : 0 <= D ->
  (forall s w : V, norm s <= D -> norm w <= D -> inner bias (sub s w) <= 2 * D * norm bias) /\
  exists s w : V, norm s <= D /\ norm w <= D /\ inner bias (sub s w) = 2 * D * norm bias.
Proof.
  intro HD. pose proof (norm_pos V bias) as p. split.
  - intros s w Hs Hw. pose proof (cauchy_schwarz V bias (sub s w)) as C. pose proof (norm_sub V s w).
    assert (norm bias * norm (sub s w) <= norm bias * (2 * D)) by (apply Rmult_le_compat_l; lra). lra.
  - destruct (Req_dec (norm bias) 0) as [z|nz].
    + exists zero, zero. assert (Z : norm (@zero V) = 0) by (unfold norm; rewrite inner_zero; apply sqrt_0). rewrite Z, z. repeat split; try lra.
      rewrite inner_sub_r, !inner_zero_r. ring.
    + assert (b0 : 0 < norm bias) by lra. assert (ib : 0 < / norm bias) by now apply Rinv_0_lt_compat.
      exists (scale (D / norm bias) bias), (scale (- (D / norm bias)) bias). rewrite !norm_scale, Rabs_Ropp, Rabs_right by (apply Rle_ge, Rmult_le_pos; lra).
      replace (D / norm bias * norm bias) with D by (field; lra). repeat split; try lra. rewrite inner_sub_r, !inner_scale_r, <- norm_sq. field. lra.
Qed.

(* E F(x_T) = F(x_0) + sum of E<grad F(z_t), step_t>: the steps' means add up. *)
Theorem descent_in_mean (EF : nat -> R) (along : nat -> R) T : (forall t, EF (S t) - EF t = along t) -> EF T = EF O + sum T along.
Proof. intro H. induction T as [|T IH]; simpl; [ring|]. pose proof (H T). lra. Qed.
