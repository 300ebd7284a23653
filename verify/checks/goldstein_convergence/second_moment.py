"""Proof of the convergence theorem: the second moment of what Algorithm 1 answers, along a run and in two parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from spec import Noise, OuterParameters, parse_problem
from spec.atlas import Instance
from spec.blocks.exact_json import plain
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.estimates.samples import SampleSetting, second_moment
from verify.checks.measuring.finite_laws import (
    ZERO,
    ExactOracle,
    Law,
    LawOutcome,
    mean,
    mean_square,
    plus,
    signs,
    square,
)
from verify.checks.measuring.formula_evidence import brought
from verify.checks.measuring.premises import PremiseUnmetError, additive, regular_truth
from verify.checks.measuring.runs.outer_runs import Recorded, record
from verify.evidence.bets.squares import SquareBound
from verify.evidence.model import Counterexample
from verify.evidence.samples.laws import SquareLaw
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Sampler, Streams
from verify.truth.algebra.rationals import Vector as Rationals
from verify.truth.enclosures.pair import solve_any
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein.lipschitz import lipschitz_constant
from verify.truth.point_values import moved

ALPHA = 0.2
STEEP_ALPHA = 0.4
"""Where F is nearly at its steepest: there the bias must exceed what is left to the end."""
STEEP = Fraction(97, 100)
"""Of the way to where F is steepest."""
NOISE = additive("1/30")
QUESTIONS = 100
"""Answers along one run; runs are added until both comparisons are decided."""
STEP = 1e-6
"""Clipping length: over a whole run the exact mean moves by less than the sampling error."""
SEEN = 0.02
"""Relative error of the mean square that must be seen: a third of what the bias adds."""
ORTHOGONAL_ALPHA = Fraction(1, 10)
ENDS = (Fraction(0), Fraction(1, 64))
"""How far the two places of z_t are along the first axis."""
SIGNS = Fraction(1, 40)
"""Noise of one component of a sample."""


@check("goldstein-convergence/second-moment", instances=("concave-upper", "random-4x6x6", "rows-nearly-dependent"),
       needs=("optimise", "hypergradient"), decisions=2, sure=1)  # fmt: skip
def second_moment_of_answers(case: Case) -> Measurement:
    """Mean squared answer of the subject's Algorithm 1 along its own runs, where the bias lies along the gradient.

    As written only where F is Lipschitz on all of R^n; repaired against the gradient's length along the run, no more.
    """
    bounded = between_rows(case.instance)
    alpha = ALPHA if bounded is case.instance else STEEP_ALPHA
    case = replace(case, instance=bounded)
    truth = regular_truth(case.instance)
    L = _lipschitz(case) if case.as_written else float(np.linalg.norm(truth.grad_F))
    setting = SampleSetting.at(case, truth, alpha, NOISE)
    noisy, call = setting.case.instance.problem, case.call(alpha)
    V, mean = second_moment(setting, NOISE), setting.mean
    beta = float(np.linalg.norm(mean - truth.grad_F))
    # A third of a run goes by until its steps are clipped: till then they tell what was answered.
    eta = 3 * STEP / (QUESTIONS * float(np.linalg.norm(mean)))
    schedule = OuterParameters(goldstein_radius=QUESTIONS * STEP, epsilon=1.0, D=STEP, eta=eta, M=QUESTIONS, K=1)

    def run(rng: np.random.Generator) -> Recorded:
        return record(case, lambda z: case.stages.hypergradient(noisy, z, call, rng), case.x, schedule, rng)

    def answers(rng: np.random.Generator, _: int) -> Vector:
        return run(rng).g

    def sampler() -> Sampler:
        return case.ledger.keep(Sampler(answers, Streams.of(case.rng), Moments(np.zeros(len(mean))), QUESTIONS))

    shown = run(case.rng)
    # The law of an answer at the start; along a run its mean moves by the slack at most. Line 5 may stop before the
    # minimiser: the mean that its parts are taken around is that of the subject's own answers without noise.
    own = _own_mean(case, case.x, alpha)
    slack = abs(_square_at(case, shown.z[-1], alpha) - float(mean @ mean))
    own_end = _own_mean(case, shown.z[-1], alpha)
    own_slack = abs(float(own_end @ own_end) - float(own @ own))
    exact = SquareBound("E‖g‖² along runs, against ‖E g‖² + V", case.share, law=_law(own, V), wanted=SEEN)
    slope, right = ("L_F", "L_F²") if case.as_written else ("‖∇F‖", "(‖∇F‖ + β)²")
    bound, name = (L if case.as_written else L + beta) ** 2 + V, f"E‖g‖² along runs, against {right} + V"
    within = SquareBound(name, case.share, law=_law(mean, V), relation="<=", predicted=bound, wanted=SEEN)
    estimates = [(item.run(sampler()), moves) for item, moves in ((within, slack), (exact, own_slack))]
    widened = [item.model_copy(update={"tolerance": item.tolerance + moves}) for item, moves in estimates]
    values: dict[str, float | str] = {
        "E‖g‖²": estimates[0][0].measured, "bound": bound, "β": beta, slope: L, "V": V,
    }  # fmt: skip
    example = Counterexample(
        problem=plain(case.instance.problem.to_dict()), x=[str(value) for value in case.instance.x], values=values,
        note=f"α = {alpha:g}: where F is nearly at its steepest the answers' mean is off ∇F by β, away from 0.",
    )  # fmt: skip
    return Measurement((*widened, shown.followed), counterexample=example)


def between_rows(instance: Instance) -> Instance:
    """Of one y with one row that does not move, a second one on its other side, x near the end; else as it is."""
    a = quadratic_of(instance.problem).arrays
    if a.B.shape != (1, 1) or a.A.any():
        return instance
    data, end = instance.problem.to_dict(), abs(Fraction(instance.problem.to_dict()["constraints"]["b"][0]))
    both = {"A": [[0], [0]], "B": [[1], [-1]], "b": [str(end), str(end)]}
    problem = parse_problem({**data, "constraints": both})
    return Instance(instance.name, problem, (STEEP * end,), instance.purpose, instance.strata)


def _lipschitz(case: Case) -> float:
    """L_F.

    Raises:
        PremiseUnmetError: Where F is not known to have one.
    """
    constant = lipschitz_constant(quadratic_of(case.instance.problem))
    if constant is None:
        raise PremiseUnmetError("lipschitz", "∇F is not bounded on R^n, or not known to be")
    return constant


def _law(mean: Vector, V: float) -> SquareLaw:
    return SquareLaw.of(mean, V / len(mean) * np.eye(len(mean)))


def _own_mean(case: Case, x: Vector, alpha: float) -> Vector:
    """What the subject answers without noise, shape (n,)."""
    return case.stages.hypergradient(case.instance.with_noise(Noise()).problem, x, case.call(alpha), case.rng)


def _square_at(case: Case, z: Vector, alpha: float) -> float:
    """Squared length of the exact mean of an answer at another point."""
    there = replace(case, instance=case.instance.at(*(Fraction(v) for v in z.tolist())))
    mean = SampleSetting.at(there, solve_any(quadratic_of(case.instance.problem), z.tolist()), alpha, NOISE).mean
    return float(mean @ mean)


@check("goldstein-convergence/orthogonality", instances=("two-of-three", "scalar-rational", "toy1"))
def mean_and_noise(case: Case) -> Measurement:
    """E‖g‖² against the second moments of mean and noise, z_t on a segment's two ends and the samples' signs drawn."""
    start = case.instance.x
    ends = [ExactOracle.at(case.instance.at(*moved(start, 0, by)), ORTHOGONAL_ALPHA) for by in ENDS]
    given = [[LawOutcome(o.weight, plus(oracle.estimate(), o.value, SIGNS)) for o in signs(len(start), 2)]
             for oracle in ends]  # fmt: skip
    return parted(case, given, [mean(law) for law in given])


def parted(case: Case, given: Sequence[Law], centres: Sequence[Rationals]) -> Measurement:
    """What the formula says of laws of the answer given z_t, each z_t as likely, around given centres."""
    share, nought = Fraction(1, len(given)), (ZERO,) * len(centres[0])
    whole = share * sum((mean_square(law, nought) for law in given), ZERO)
    of_mean = share * sum((square(centre) for centre in centres), ZERO)
    of_noise = share * sum((mean_square(law, c) for law, c in zip(given, centres, strict=True)), ZERO)
    values: dict[str, float | str] = {"E‖centre‖²": float(of_mean), "E‖g - centre‖²": float(of_noise)}
    return Measurement(brought(case, (whole, of_mean, of_noise)), values)
