From Coq Require Import Lra.
From f2csa Require Import steps.
Goal.
Proof.
  unfold sentence, bias, T1, T2, T3. intros.
  match goal with |- norm (sub ?a ?d) <= norm (sub _ ?b) + norm (sub ?c ?e) + _ + _ => pose proof (three_terms X a b c e d) end. lra.
Qed.
