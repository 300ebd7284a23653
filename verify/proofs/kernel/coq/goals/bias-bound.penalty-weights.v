From Coq Require Import Lra.
From f2csa Require Import steps.
Goal.
Proof.
  exists 1, 2, 1. split; [lra|]. split; [lra|]. intros alpha Ha. pose proof (penalty_weights alpha Ha) as [P Q].
  unfold alpha_1, alpha_2. replace (alpha ^ 2) with (alpha * alpha) by ring. replace (alpha ^ 4) with (alpha * alpha * (alpha * alpha)) by ring. lra.
Qed.
