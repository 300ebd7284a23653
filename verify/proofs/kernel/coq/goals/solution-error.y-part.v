From f2csa Require Import steps.
Goal.
Proof. unfold sentence. intros. exact (part_of_whole X V _ _). Qed.
