From Coq Require Import Lra.
From f2csa Require Import steps.
Goal.
Proof.
  unfold sentence, jac_h.
  destruct (spectral_bounds X (coords p) spectral_p_n A spectral_p_n_is) as [a0 a].
  destruct (spectral_bounds V (coords p) spectral_p_m B spectral_p_m_is) as [b0 b].
  assert (S : @stretches (both X V) (coords p) (fun u => @add (coords p) (A (fst u)) (@scale (coords p) (-1) (B (snd u)))) (spectral_p_n A + spectral_p_m B)).
  { split; [lra|]. intros [u v]. exact (jacobian_bound X V (coords p) A B _ _ a0 b0 a b u v). }
  destruct (spectral_p_nm_is _ (ex_intro _ _ S)) as [_ least]. exact (least _ S).
Qed.
