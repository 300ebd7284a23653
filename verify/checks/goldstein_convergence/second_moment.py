"""Proof of the convergence theorem: the second moment of what Algorithm 1 answers along a run of Algorithm 2."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.outer_runs import record
from verify.checks.measuring.premises import additive, regular_truth
from verify.checks.measuring.samples import Setting, second_moment
from verify.evidence.decisions import SquareDecision
from verify.evidence.laws import SquareLaw
from verify.truth.geometry import quadratic_of
from verify.truth.pair import solve_any

ALPHA = 0.2
NOISE = additive("1/30")
QUESTIONS = 300
STEP = 1e-6
"""Clipping length: over a whole run the exact mean moves by less than the sampling error."""
SEEN = 0.02
"""Relative error of the mean square that must be seen: a third of what the bias adds."""


@check("goldstein-convergence/second-moment", instances=("rows-nearly-dependent", "random-4x6x6"),
       needs=("optimise", "hypergradient"), decisions=2, sure=1)  # fmt: skip
def second_moment_of_answers(case: Case) -> Measurement:
    """Mean squared answer of the subject's Algorithm 1 along its own run, where the bias lies along the gradient."""
    truth = regular_truth(case.instance)
    setting = Setting.at(case, truth, ALPHA, NOISE)
    noisy, call = setting.case.instance.problem, case.call(ALPHA)
    V, mean = second_moment(setting, NOISE), setting.mean
    L, beta = float(np.linalg.norm(truth.grad_F)), float(np.linalg.norm(mean - truth.grad_F))
    runs = case.share.times(QUESTIONS)
    # A third of the run goes by until its steps are clipped: till then they tell what was answered.
    eta = 3 * STEP / (runs * float(np.linalg.norm(mean)))
    schedule = OuterParameters(goldstein_radius=runs * STEP, epsilon=1.0, D=STEP, eta=eta, M=runs, K=1)
    recorded = record(case, lambda z: case.stages.hypergradient(noisy, z, call, case.rng), case.x, schedule)
    measured = float((recorded.g**2).sum(axis=1).mean())
    # The law of an answer at the start; along the run its exact mean moves by the slack at most.
    law = SquareLaw.of(mean, V / len(mean) * np.eye(len(mean)), runs)
    slack = abs(_square_at(case, recorded.z[-1]) - float(mean @ mean))
    exact = SquareDecision("E‖g‖² along a run, against ‖E g‖² + V", case.share, law=law, wanted=SEEN)
    bound = L**2 + V if case.as_written else (L + beta) ** 2 + V
    name = "E‖g‖² along a run, against L_F² + V" if case.as_written else "E‖g‖² along a run, against (L_F + β)² + V"
    within = SquareDecision(name, case.share, law=law, relation="<=", predicted=bound, wanted=SEEN)
    found = [item.evidence(measured) for item in (within, exact)]
    widened = [item.model_copy(update={"tolerance": item.tolerance + slack}) for item in found]
    values: dict[str, float | str] = {"E‖g‖²": measured, "bound": bound, "β": beta, "L_F near x": L, "V": V}
    return Measurement((*widened, recorded.followed), values)


def _square_at(case: Case, z: Vector) -> float:
    """Squared length of the exact mean of an answer at another point."""
    there = replace(case, instance=case.instance.at(*(Fraction(v) for v in z.tolist())))
    mean = Setting.at(there, solve_any(quadratic_of(case.instance.problem), z.tolist()), ALPHA, NOISE).mean
    return float(mean @ mean)
