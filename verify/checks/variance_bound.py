"""Lemma "Variance Bound": averaging N_g samples, and how large one sample's variance is."""

from __future__ import annotations

from dataclasses import replace
from math import erfc, sqrt
from typing import TYPE_CHECKING

from spec import Noise, OracleParameters
from verify.checks.bias_bound import at_truth
from verify.evidence import ComparisonEvidence, Point, PremiseEvidence, RateEvidence
from verify.rates import fit_rate, fit_statistical_rate
from verify.registry import Case, Measurement, check
from verify.truth import Truth, regular_truth

if TYPE_CHECKING:
    from verify.geometry import Geometry
    from verify.subjects.protocol import Call

INSTANCES = ("toy1", "two-of-three", "box-rational", "random-3x5x4")
ADDITIVE = Noise(model="additive", sigma_f="1/10", sigma_g="1/10")  # type: ignore[arg-type]  # exact spellings are parsed
MATRIX = Noise(model="matrix", sigma_f="1/10", sigma_g="1/10")  # type: ignore[arg-type]  # as above
JUMP = Noise(model="jump", sigma_f=0, sigma_g=1)
STANDARD_ERRORS = 5.33
"""Half-width of one variance's interval in standard errors: two-sided error 1e-7 under the normal limit."""
JUMP_ALPHAS = (0.4, 0.3, 0.2, 0.15, 0.1)
"""A jump is met with probability of order alpha²; below these alphas a run would wait too long for one."""
BATCHES = (1, 4, 16, 64)


@check("variance-bound", instances=INSTANCES, needs=("hypergradient",))
def averaging(case: Case) -> Measurement:
    """Variance of the average of N_g samples against N_g, at one alpha, additive noise."""
    noisy = replace(case, instance=case.instance.with_noise(ADDITIVE))
    truth = regular_truth(case.instance)
    alpha = case.profile.sample_alphas[0]
    geometry, call = at_truth(noisy, truth, alpha)
    points = []
    for N_g in BATCHES:
        given = replace(call, y_penalty=geometry.minimiser, parameters=OracleParameters(N_g=N_g))
        points.append(_variance(noisy, given, at=float(N_g), replications=case.profile.replications))
    rate = fit_statistical_rate(points, quantity="variance of the average", variable="N_g", error_rate=_error(points))
    exact = _predicted(noisy, geometry, ADDITIVE)
    at_one = ComparisonEvidence(
        quantity="variance of one sample against its exact second moment",
        measured=points[0].measured, relation="==", predicted=exact, tolerance=points[0].uncertainty,
        context={"alpha": alpha}, rung="statistical", error_rate=_error(points[:1]), role="support",
    )  # fmt: skip
    return Measurement((rate, at_one), {"variance of one sample": points[0].measured, "exact": exact})


@check("variance-bound/per-sample", instances=INSTANCES, needs=("hypergradient",))
def per_sample(case: Case) -> Measurement:
    """Variance of one sample against alpha, under additive noise and under matrix noise."""
    truth = regular_truth(case.instance)
    evidence: list[RateEvidence] = []
    values: dict[str, float | str] = {}
    for noise in (ADDITIVE, MATRIX):
        noisy = replace(case, instance=case.instance.with_noise(noise))
        points = [_at_alpha(noisy, truth, alpha, noise) for alpha in case.profile.sample_alphas]
        name = f"per-sample variance, {noise.model} noise"
        evidence.append(fit_statistical_rate(points, quantity=name, variable="alpha", error_rate=_error(points)))
        values |= {f"{name}, alpha = {p.at:g}": p.measured for p in points[:1]}
    note = (
        "Independent draws at ỹ and ỹ* add up to 2α₁²σ_g² a component; the same draw cancels up to the noise's own "
        "change between the two points."
    )
    return Measurement(tuple(evidence), values, note)


@check("variance-bound/pairing-alone", instances=("two-of-three", "interior"), needs=("hypergradient",))
def pairing_alone(case: Case) -> Measurement:
    """Common draws of an oracle that jumps in y: unbiased, bounded variance, not mean-square smooth."""
    truth = regular_truth(case.instance)
    noisy = replace(case, instance=case.instance.with_noise(JUMP), reading=case.repaired)
    points = [_at_alpha(noisy, truth, alpha, JUMP, factor=5) for alpha in JUMP_ALPHAS]
    rate = fit_statistical_rate(
        points, quantity="per-sample variance, jump noise, common draws", variable="alpha", error_rate=_error(points)
    )
    values: dict[str, float | str] = {f"variance at alpha = {p.at:g}": p.measured for p in points}
    note = "Two points α² apart see different noise with probability of order α²; α₁² times that is α⁻²."
    if case.as_written:
        return Measurement((rate,), values, note)
    return Measurement((_jump_smoothness(), rate.model_copy(update={"role": "support"})), values, note)


def _at_alpha(case: Case, truth: Truth, alpha: float, noise: Noise, factor: int = 1) -> Point:
    geometry, call = at_truth(case, truth, alpha)
    given = replace(call, y_penalty=geometry.minimiser)
    found = _variance(case, given, at=alpha, replications=factor * case.profile.replications)
    return found.model_copy(update={"predicted": _predicted(case, geometry, noise)})


def _variance(case: Case, call: Call, *, at: float, replications: int) -> Point:
    """Total variance of the estimate with its stages given, and the half-width of its confidence interval."""
    samples = case.stages.hypergradient_samples(case.instance.problem, case.x, call, case.rng, replications)
    squares = ((samples - samples.mean(axis=0)) ** 2).sum(axis=1)
    variance = float(squares.sum() / (replications - 1))
    half_width = STANDARD_ERRORS * float(squares.std(ddof=1)) / sqrt(replications)
    return Point(at=at, measured=variance, uncertainty=half_width)


def _error(points: list[Point]) -> float:
    """Probability that some of these points is off by more than its half-width."""
    return len(points) * erfc(STANDARD_ERRORS / sqrt(2))


def _predicted(case: Case, geometry: Geometry, noise: Noise) -> float:
    """Exact second moment of one sample, from the noise model alone; jump noise with common draws only."""
    w = geometry.weights
    x, y, y_star = geometry.x, geometry.minimiser, geometry.y_star
    n = len(x)
    s_f, s_g = noise.scale("f.x") ** 2, noise.scale("g.x") ** 2
    independent = case.reading.noise_pairing == "independent"
    if noise.model == "additive":
        return n * (s_f + (2 * w.alpha_1**2 * s_g if independent else 0.0))
    if noise.model == "matrix":
        upper = n * s_f * float(x @ x + y @ y)
        apart = float(2 * x @ x + y @ y + y_star @ y_star) if independent else float((y - y_star) @ (y - y_star))
        return upper + n * w.alpha_1**2 * s_g * apart
    p = abs(_phi(float(y[0])) - _phi(float(y_star[0])))
    return s_g * w.alpha_1**2 * p * (1 - p)


def _phi(value: float) -> float:
    return 0.5 * erfc(-value / sqrt(2))


def _jump_smoothness() -> PremiseEvidence:
    """E‖noise(y) - noise(y')‖² of the jump oracle against ‖y - y'‖: mean-square smooth means exponent 2."""
    points = []
    for k in range(2, 12):
        distance = 2.0**-k
        p = _phi(distance) - _phi(0.0)
        points.append(Point(at=distance, measured=p * (1 - p)))
    rate = fit_rate(points, quantity="mean-square change of the noise", variable="distance")
    finding = f"the jump oracle's noise changes like distance^{rate.exponent:.2f} in mean square, not distance^2"
    return PremiseEvidence(premise="mean-square-smooth", holds=rate.interval[0] >= 1.9, finding=finding)
