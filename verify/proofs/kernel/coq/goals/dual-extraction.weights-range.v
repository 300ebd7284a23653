From Coq Require Import Lra.
From f2csa Require Import weights.
Goal.
Proof.
  assert (range : forall alpha ys lam i, 0 < alpha -> 0 <= rho alpha ys lam i <= 1).
  { intros alpha ys lam i a0. assert (w0 : 0 < h_width alpha).
    { unfold h_width, delta. pose proof (Rmax_l 1 row_norm). pose proof (pow_lt alpha 3 a0). apply Rmult_lt_0_compat; lra. }
    replace (rho alpha ys lam i) with (weight (h_width alpha) lam_width (h ys i) (lam i)); [apply weight_range|].
    unfold weight, ramp, rho, weigh, ramp_h, ramp_lam, cut.
    replace (add (scale (/ h_width alpha) (h ys)) ones i) with (/ h_width alpha * h ys i + 1) by reflexivity.
    replace (scale (/ lam_width) lam i) with (/ lam_width * lam i) by reflexivity.
    replace ((h_width alpha + h ys i) / h_width alpha) with (/ h_width alpha * h ys i + 1) by (field; lra).
    replace ((lam_width + (lam i - lam_width)) / lam_width) with (/ lam_width * lam i); [reflexivity|]. unfold lam_width. field. }
  unfold sentence, each. split; intros alpha a0 e_ys _ e_lam _ i _ _; pose proof (range alpha (ys_t alpha e_ys) (lam_t alpha e_lam) i a0); lra.
Qed.
