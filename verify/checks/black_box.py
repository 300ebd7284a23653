"""The estimator from outside: x ↦ ĝ alone, no stage given and none asked for.

What a paper's reader can hold any program to. Errors of its inner solutions are the program's own; nothing is spent on
its behalf.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from spec import Noise, OracleParameters, Problem, Quadratic, parse_problem
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.estimates.samples import ADDITIVE, SampleSetting, second_moment
from verify.checks.measuring.estimates.silence import require_noise
from verify.checks.measuring.premises import h_width, regular_truth, sweep_ends
from verify.evidence.bets.betting import VarianceBound
from verify.evidence.model import Evidence, Point
from verify.evidence.rates.rates import fit_rate
from verify.truth.enclosures.pair import Truth, exact_bias
from verify.truth.geometry import Geometry, quadratic_of, spectral_norm
from verify.truth.lower_level import lower_level as exact_lower_level

SMALLEST_INNER_TOL = 1e-8
"""Algorithm 1 asks its lower-level solver for α³; a solver in doubles may be expected to reach this and no more."""
SHRINKING = (0.0, 0.75, 1.0)
"""Powers of α that rows are multiplied by. At ¾ the error in units of 1 + L_λ is of order 5/4 where ĝ is right and of
order ¾, too little, where it is anything bounded; at 1 the asserted order is reached, whatever is answered."""
AROUND_A_KINK = (Fraction(1, 10), Fraction(1))
"""Distances from a kink in units of α²ε_λ, where weights are no larger than α² ..."""
OUTSIDE_THE_BALL = (Fraction(1001, 1000), Fraction(3, 2), Fraction(4))
"""... and in units of α, just outside the ball that still meets the kink, where the rest of its pull is largest."""
OUTSIDE_INSTANCES = (
    "toy1", "two-of-three", "kink", "absolute-moving", "random-2x3x4", "experiment-1d", "moving-box", "random-10x12x6",
)  # fmt: skip
"""Where ∇F is not 0: an answer of 0 is right nowhere here."""
BATCHES = (1, 8)
BLOCK = 1 << 5
"""Samples drawn at a time: complete calls, solved from the start by a subject that offers single ones only."""
AN_ANSWER = 0.5
"""Largest distance from ∇F, in units of its size, of what is an answer at all: 0 is at distance 1."""
SEEN = 1.0
"""Relative deviation of a variance that must be seen."""


@check("bias-bound/black-box", instances=OUTSIDE_INSTANCES, needs=("hypergradient",), unaided=True)
def bias_from_outside(case: Case) -> Measurement:
    """‖ĝ - ∇F‖ over 1 + L_λ, the rows multiplied by 1 and, repaired, by α^¾ and α, which changes neither F nor y*.

    These take LICQ's modulus to zero with α: what is bounded is the order that needs no modulus. Where in its tolerance
    line 5 stops is no power of α: a sweep that shows none is held, point by point, against what the
    stopping rule allows, ‖T₃‖ + α‖E H⁻¹‖, whose order then decides.
    """
    truth = regular_truth(case.instance)
    points, allowed = [], []
    for alpha in _alphas(case):
        scaled_errors = list(_scaled_errors(case, truth, alpha))
        sizes, roundings, bounds = zip(*scaled_errors, strict=True)
        points.append(Point(at=alpha, measured=max(sizes), uncertainty=max(roundings)))
        allowed.append(Point(at=alpha, measured=max(bounds), uncertainty=max(roundings)))
    name = "‖ĝ - ∇F‖/(1 + L_λ)"
    rate = fit_rate(points, quantity=name, variable="alpha")
    shares = [(p.measured - p.uncertainty) / w.measured for p, w in zip(points, allowed, strict=True) if w.measured]
    evidence: tuple[Evidence, ...] = (rate,)
    if not rate.settled and shares and max(shares) <= 1:
        within = compare(f"{name} over what the stopping rule allows", max(shares), "<=", 1.0)
        order = fit_rate(allowed, quantity=f"{name} that the stopping rule allows", variable="alpha")
        evidence = (order, within, rate.model_copy(update={"role": "support"}))
    scales = "as they are" if case.as_written else "multiplied by 1, by α^¾ and by α, the worst counts"
    return Measurement(evidence, sweep_ends(points), f"Nothing is given to the subject; the rows are {scales}.")


def _alphas(case: Case) -> list[float]:
    return [alpha for alpha in case.profile.alphas if alpha**3 >= SMALLEST_INNER_TOL]


def _scaled_errors(case: Case, truth: Truth, alpha: float) -> Iterator[tuple[float, float, float]]:
    """Error, its rounding, and what a gradient of norm α left at ỹ allows, for each scaling, all over 1 + L_λ."""
    problem = quadratic_of(case.instance.problem)
    for power in SHRINKING[:1] if case.as_written else SHRINKING:
        scale = Fraction(alpha**power)
        posed: Problem = case.instance.problem if scale == 1 else _with_rows_times(problem, scale)
        scaled = quadratic_of(posed)
        answer = case.stages.hypergradient(posed, case.x, case.call(alpha))
        unit = 1 + _slope_of_multipliers(scaled, truth.strictly_active)
        rho = np.where(truth.active > 0, 1.0, 0.0)
        geometry = Geometry(scaled, case.x, alpha, truth.y_star, truth.lam / float(scale), rho)
        there = replace(case.instance, problem=posed)
        width = h_width(replace(case, instance=there), alpha, case.call(alpha))
        rounding = geometry.rounding(geometry.minimiser, dual_term=case.reading.dual_term, h_width=width)
        bias = exact_bias(there, truth, geometry, dual_term=case.reading.dual_term)
        allowed = bias + alpha * spectral_norm(geometry.lagrangian.left_to_estimate)
        yield float(np.linalg.norm(answer - truth.grad_F)) / unit, rounding / unit, allowed / unit


def _with_rows_times(problem: Quadratic, scale: Fraction) -> Quadratic:
    """The same problem with A, B and b multiplied: the same feasible set, multipliers divided."""
    rows, data = problem.constraints, problem.to_dict()
    A, B, b = ([[value * scale for value in row] for row in block.to_fractions()] for block in (rows.A, rows.B, rows.b))
    return quadratic_of(parse_problem(data | {"constraints": {"A": A, "B": B, "b": b[0]}}))


def _slope_of_multipliers(problem: Quadratic, rows: Sequence[int]) -> float:
    """L_λ, the norm of dλ*/dx on the rows held as equations."""
    if not rows:
        return 0.0
    a, S = problem.arrays, list(rows)
    B = a.B[S]
    saddle = np.block([[a.g_yy, -B.T], [B, np.zeros((len(S), len(S)))]])
    return spectral_norm(np.linalg.solve(saddle, np.vstack([-a.g_xy.T, a.A[S]]))[problem.m :])


@check(
    "bias-bound/black-box-kinks", instances=("toy2", "kink", "experiment-1d"), needs=("hypergradient",), unaided=True
)
def kinks_from_outside(case: Case) -> Measurement:
    """The largest error at points that approach a kink of F with α: of ĝ against F', or against F' over a ball."""
    kink = Fraction(case.instance.known["kink"])
    points = []
    for alpha in _alphas(case):
        a, lam_width = Fraction(alpha), Fraction(case.call(alpha).parameters.lam_width)
        offsets = [a * a * lam_width * c for c in AROUND_A_KINK] + [a * c for c in OUTSIDE_THE_BALL]
        errors = [_error_at(case, alpha, kink + side * offset, kink) for offset in offsets for side in (1, -1)]
        rounding = _rounding_at(case, alpha, kink + a)
        points.append(Point(at=alpha, measured=max(errors), uncertainty=rounding))
    name = "sup over x of ‖ĝ - ∇F‖" if case.as_written else "sup over x of dist(ĝ, ∂_rF), r = α"
    note = f"x approaches the kink at {kink} as α²ε_λ and as 1.001α, from both sides; nothing is given."
    return Measurement((fit_rate(points, quantity=name, variable="alpha"),), sweep_ends(points), note)


def _rounding_at(case: Case, alpha: float, x: Fraction) -> float:
    """Rounding of one estimate beside a kink."""
    at = case.instance.at(x)
    truth = regular_truth(at)
    rho = np.where(truth.active > 0, 1.0, 0.0)
    geometry = Geometry(quadratic_of(at.problem), np.array([float(x)]), alpha, truth.y_star, truth.lam, rho)
    return geometry.rounding(
        geometry.minimiser, dual_term=case.reading.dual_term, h_width=h_width(case, alpha, case.call(alpha))
    )


def _error_at(case: Case, alpha: float, x: Fraction, kink: Fraction) -> float:
    answer = float(case.stages.hypergradient(case.instance.problem, np.array([float(x)]), case.call(alpha))[0])
    problem = quadratic_of(case.instance.problem)
    # The subject is asked at the double nearest to x: the truth is taken there.
    at = Fraction(float(x))

    def slope(z: Fraction) -> float:
        return float(exact_lower_level.hypergradient(problem, (z,))[0])

    if case.as_written:
        return abs(answer - slope(at))
    # F' is affine between kinks: over the ball it is extreme at the ends and on either side of the kink.
    radius = Fraction(alpha)
    samples = [at, at - radius, at + radius, kink - radius / 10**9, kink + radius / 10**9]
    slopes = [slope(z) for z in samples if abs(z - at) <= radius and z != kink]
    return max(0.0, min(slopes) - answer, answer - max(slopes))


@check("variance-bound/black-box", instances=("toy1", "two-of-three"), needs=("hypergradient",),
       decisions=3, sure=1, unaided=True)  # fmt: skip
def variance_from_outside(case: Case) -> Measurement:
    """Variance of the complete call for each N_g, at most σ_L²/N_g at a small α, around the subject's own quiet answer.

    The lemma bounds it from above: less noise breaks nothing, as long as there is any. As written the bound
    is the oracles' own σ²/N_g. A complete call is dear: the samples serve to see a variance
    twice as large, not a finer law. Noise around what is no answer has no variance to speak of, so repaired the quiet
    answer must be one.
    """
    truth = regular_truth(case.instance)
    alpha = case.profile.sample_alphas[1]
    quiet = case.instance.with_noise(Noise()).problem
    centre = case.stages.hypergradient(quiet, case.x, case.call(alpha))
    if not case.as_written:
        single = _unaided(case, truth, alpha, 1)
        require_noise(single, second_moment(single, ADDITIVE))
    evidence = []
    for N_g in BATCHES:
        setting = _unaided(case, truth, alpha, N_g)
        own = len(case.x) * float(ADDITIVE.sigma_f) ** 2
        decision = VarianceBound(
            quantity=f"variance of ĝ, N_g = {N_g}", width=len(case.x), share=case.share, block=BLOCK,
            level=(own if case.as_written else second_moment(setting, ADDITIVE)) / N_g,
            relation="<=", wanted=SEEN, context={"alpha": alpha, "N_g": float(N_g)},
        )  # fmt: skip
        evidence.append(decision.run(setting.sampler(block=BLOCK, around=centre)))
    values: dict[str, float | str] = {item.quantity: item.measured for item in evidence}
    if case.as_written:
        return Measurement(tuple(evidence), values)
    off = float(np.linalg.norm(centre - truth.grad_F) / np.linalg.norm(truth.grad_F))
    quantity = "distance of the answer without noise from ∇F, in units of its size"
    return Measurement((*evidence, compare(quantity, off, "<=", AN_ANSWER, context={"alpha": alpha})), values)


def _unaided(case: Case, truth: Truth, alpha: float, N_g: int) -> SampleSetting:
    """A setting whose call is given nothing."""
    plain = case.call(alpha, parameters=OracleParameters(N_g=N_g))
    return replace(SampleSetting.at(case, truth, alpha, ADDITIVE, N_g=N_g), call=plain)
