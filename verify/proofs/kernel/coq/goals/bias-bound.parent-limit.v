From Coq Require Import Lra Psatz Lia Bool.
From f2csa Require Import penalty slopes.
Lemma none_left n a : (forall k, (k < n)%nat -> a k <= 0) -> sum n a = 0 -> forall i, (i < n)%nat -> a i = 0.
Proof.
  induction n as [|n IH]; intros H Z i Hi; [lia|]. simpl in Z. pose proof (H n ltac:(lia)) as Hn.
  assert (S : sum n a <= 0).
  { pose proof (sum_le n a (fun _ => 0)) as L. rewrite sum_const in L. assert (sum n a <= INR n * 0) by (apply L; intros; apply H; lia). lra. }
  destruct (Nat.eq_dec i n) as [->|ne]; [lra|]. apply IH; [intros; apply H; lia|lra|lia].
Qed.
Goal.
Proof.
  unfold sentence. intros alpha a0 [clear inside]. set (y := y_min alpha y_star lam_star).
  destruct (spectral_bounds V (coords p) spectral_p_m B spectral_p_m_is) as [b0 _].
  assert (d0 : 0 < delta alpha) by (apply pow_lt, a0). pose proof (Rmax_l 1 row_norm) as M1.
  assert (w0 : 0 < h_width alpha) by (unfold h_width; apply Rmult_lt_0_compat; lra).
  assert (Bdelta : 0 <= spectral_p_m B * delta alpha) by (apply Rmult_le_pos; lra). assert (Cdelta : 0 <= C_lambda * delta alpha) by (apply Rmult_le_pos; lra).
  assert (zero_at : forall i, active i = true -> h y_star i = 0).
  { intros i. unfold active, at_zero. destruct (Req_EM_T (h y_star i) 0); [now intros|discriminate]. }
  assert (lam0 : forall i, (i < p)%nat -> active i = false -> lam_star i = 0).
  { intros i Hi Hs. assert (P : lam_star i * h y_star i = 0).
    { apply (none_left p (fun k => lam_star k * h y_star k)); [|exact y_star_known_2|exact Hi]. intros k Hk.
      pose proof (y_star_known_0 k Hk eq_refl). pose proof (y_star_known_1 k Hk eq_refl). nra. }
    assert (N : h y_star i <> 0) by (unfold active, at_zero in Hs; destruct (Req_EM_T (h y_star i) 0); [discriminate|assumption]).
    apply Rmult_integral in P. tauto. }
  assert (weights : forall i, (i < p)%nat -> rho alpha y_star lam_star i = if active i then 1 else 0).
  { intros i Hi. unfold rho, weigh, ramp_h, ramp_lam, cut.
    replace (scale (/ lam_width) lam_star i) with (/ lam_width * lam_star i) by reflexivity.
    replace (add (scale (/ h_width alpha) (h y_star)) ones i) with (/ h_width alpha * h y_star i + 1) by reflexivity.
    destruct (active i) eqn:Hs.
    - pose proof (clear i Hi Hs). rewrite (ramp_full lam_width) by (unfold lam_width in *; lra). rewrite (zero_at i Hs), Rmult_0_r, Rplus_0_l, Rmult_1_r.
      rewrite Rmin_left, Rmax_right by lra. reflexivity.
    - assert (O : inactive i = true) by (unfold inactive, off; now rewrite Hs). pose proof (inside i Hi O). rewrite ramp_none by lra. ring. }
  assert (rows : forall w, inner (weigh (rho alpha y_star lam_star) (h y)) w = inner (within active (h y)) w).
  { intro w. simpl. apply sum_ext. intros i Hi. unfold weigh, within. rewrite (weights i Hi). destruct (active i); ring. }
  assert (i1 : alpha_1 alpha = / (alpha * alpha)) by (unfold alpha_1; f_equal; ring).
  assert (zx : forall w, inner zero_x w = 0) by (intro w; rewrite (zero_x_known_0 w), inner_scale; ring).
  assert (E : forall w, inner (exact_estimate alpha) w = inner (parent_gradient alpha) w).
  { apply (parent_limit X V (coords p) (times A) (times B) (times Dy_star) (alpha * alpha) (grad_x_f y) (grad_x_g y) (grad_x_g y_star)
      (add (grad_x_g y_star) (back Dy_star (grad_y_g y_star))) (scale (alpha_2 alpha) (back A (within active (h y)))) _ _ (grad_y_g y_star) lam_star).
    - intro v. rewrite (y_star_known_3 v). apply transpose.
    - intro w. rewrite <- !(among_all p active) by (intros i Hi Hs; rewrite (lam0 i Hi Hs); ring).
      rewrite (inner_sym (among p active) lam_star), Dy_star_known_1. apply inner_sym.
    - intro w. now rewrite inner_add, transpose.
    - intro w. unfold parent_gradient. fold y. rewrite !inner_add, !inner_scale, inner_sub, !inner_add, !transpose, i1. unfold Rdiv. ring.
    - intro w. unfold exact_estimate, estimate, dual_term. fold y. rewrite !inner_add, !inner_scale, zx, !transpose, rows, i1.
      unfold grad_x_g. rewrite !inner_add, times_sub. unfold Rdiv. ring. }
  unfold norm. replace (inner _ _) with 0; [apply sqrt_0|]. rewrite inner_sub, E. ring.
Qed.
