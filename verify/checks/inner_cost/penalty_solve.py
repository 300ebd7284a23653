"""Lemma "Inner-loop Oracle Complexity", step C2: curvature of the penalty Lagrangian, and minimising it from noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log, sqrt

import numpy as np

from spec import Noise, OracleParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.premises import activated, additive, at_truth, regular_truth, weighted
from verify.evidence.intervals import mean_square_interval, quantile_interval
from verify.evidence.model import Point, PremiseEvidence, RateEvidence
from verify.evidence.moments import Moments
from verify.evidence.premises_of_laws import Taken, law_of_variance
from verify.evidence.rates import Estimate, fit_power_law, fit_rate, invert
from verify.subjects.protocol import Call
from verify.truth.geometry import EPS, Geometry, quadratic_of, spectral_norm
from verify.truth.pair import Truth
from verify.verdict import NoEvidenceError

CURVED = ("toy1", "two-of-three", "box-rational", "interior", "experiment-5d", "random-3x5x4")
SVRG_ALPHA = 0.3
"""The fixed alpha of a sweep in δ."""
TERMS = 64
"""Terms of the finite sum."""
EPOCHS = (2, 3, 4, 5, 6, 7)
"""Epochs at which the finite sum's accuracy is read."""
SETTLED = 60
"""Epochs after which a finite sum's minimiser is taken as found."""
ANCHORS = (256, 512, 1024, 2048, 4096)
"""Samples of one anchor gradient on an expectation."""
FINITE_RUNS, RUNS = 240, 4000
FAINT_MATRIX = Noise(model="matrix", sigma_f="1/50", sigma_g="1/50")  # type: ignore[arg-type]  # exact spellings are parsed
ADDITIVE = additive("1/10")


@check("inner-cost/strong-convexity", instances=CURVED)
def strong_convexity(case: Case) -> Measurement:
    """Smallest curvature of L in y against alpha, and against half of α₁μ_g within the range asked for."""
    truth = regular_truth(case.instance)
    a = quadratic_of(case.instance.problem).arrays
    mu_g, C_f = float(np.linalg.eigvalsh(a.g_yy)[0]), spectral_norm(a.f_yy)
    edge = sqrt(mu_g / (2 * C_f)) if C_f > 0 else 1.0
    compared = []
    for alpha in (edge, edge / 2, edge / 8):
        H = weighted(case, truth, alpha).H
        smallest, tolerance = float(np.linalg.eigvalsh(H)[0]), 64 * EPS * spectral_norm(H)
        bound, context = mu_g / (2 * alpha**2), {"alpha": alpha}
        compared.append(compare("smallest eigenvalue of ∇²_yy L", smallest, ">=", bound, tolerance, context=context))
    return Measurement((_eigenvalues(case, truth, "smallest", weighted), *compared))


@check("inner-cost/smoothness", instances=CURVED, needs=("activation",))
def smoothness(case: Case) -> Measurement:
    """Largest curvature of L in y against alpha, where a row is active."""
    truth = regular_truth(case.instance)
    active = int(truth.active.sum())
    premise = PremiseEvidence(premise="some-row-active", holds=active > 0, finding=f"{active} rows are active")
    return Measurement((premise, _eigenvalues(case, truth, "largest", activated)))


@check("inner-cost/condition-number", instances=CURVED, needs=("activation",))
def condition_number(case: Case) -> Measurement:
    """κ of ∇²_yy L against alpha, where rows are active but leave a free direction."""
    truth = regular_truth(case.instance)
    active, m = int(truth.active.sum()), len(truth.y_star)
    finding = f"{active} of {m} directions are active"
    premise = PremiseEvidence(premise="some-but-not-all-active", holds=0 < active < m, finding=finding)
    return Measurement((premise, _eigenvalues(case, truth, "ratio", activated)))


@check("inner-cost/svrg", instances=("two-of-three", "toy1", "interior"), needs=("penalty_runs",), decisions=1)
def svrg(case: Case) -> Measurement:
    """Gradient samples against δ: SVRG with estimated anchors as written, on one finite sum repaired."""
    truth = regular_truth(case.instance)
    geometry, call = at_truth(case, truth, SVRG_ALPHA)
    given = replace(call, rho=geometry.rho)
    if case.as_written:
        rate = _on_expectation(case, given, geometry)
        note = "An anchor gradient estimated from N samples is wrong by σ/√N, and so is the point it leads to."
    else:
        rate = _on_finite_sum(case, given, truth.y_star)
        note = "The finite sum's full gradient is exact: each epoch shrinks the error by a constant factor."
    return Measurement((rate,), values_at("calls to δ", rate.points, ".3g"), note)


def _sized(given: Call, solver: str, samples: int, epochs: int) -> Call:
    parameters = OracleParameters(shared_samples=samples, penalty_steps=epochs)
    return replace(given, reading=given.reading.choose(inner_solver=solver), parameters=parameters)


def _on_expectation(case: Case, given: Call, geometry: Geometry) -> RateEvidence:
    problem = case.instance.with_noise(ADDITIVE).problem
    estimates, share, laws = [], case.share.single, list[Taken]()
    for anchor in ANCHORS:
        # What one sees more sharply bends more plainly: with the samples the anchors grow, so that it settles.
        call = _sized(given, "constant-step", anchor * 2**case.share.level, EPOCHS[-1])
        y, calls = case.stages.penalty_runs(problem, case.x, call, case.rng, case.share.times(RUNS))
        moments = Moments(geometry.minimiser)
        moments.add(y)
        each = share.error / 2 / len(ANCHORS)
        # The interval is one of components: what their sizes and correlations do to a length is no matter.
        laws.append(law_of_variance(_of_equal_components(y), each, base="exponent (mean squares)"))
        low, high = mean_square_interval(moments, each, isotropic=y.shape[1] == 1, worth=laws[-1].worth)
        at, square = {"calls": calls}, moments.mean_square
        estimates.append(Estimate(at, square, None, low, high, moments.count, law="exponent (mean squares)"))
    if len({estimate.at["calls"] for estimate in estimates}) == 1:
        raise NoEvidenceError("penalty_runs counted the same samples for anchors of every size: no rate shows")
    worst = min(laws, key=lambda taken: taken.worth)
    squares = fit_power_law(estimates, share, quantity="mean squared error")["calls"]
    squares = squares.model_copy(update={"law": worst.law, "checked": worst.checked})
    return invert(squares, quantity="gradient samples on an expectation", variable="inner_tol", power=0.5)


def _of_equal_components(y: Vector) -> Moments:
    """Samples, shape (N, m), as if their covariance were the identity; directions that do not scatter are left out."""
    off = y - y.mean(axis=0)
    values, vectors = np.linalg.eigh(off.T @ off / max(1, len(y) - 1))
    kept = values > 1e-12 * values[-1]
    moments = Moments(np.zeros(max(1, int(kept.sum()))))
    moments.add(off @ vectors[:, kept] / np.sqrt(values[kept]) if kept.any() else off[:, :1])
    return moments


def _on_finite_sum(case: Case, given: Call, y_star: Vector) -> RateEvidence:
    """Median over runs of the distance to each run's own empirical minimiser, found by many epochs."""
    problem = case.instance.with_noise(FAINT_MATRIX).problem
    seed = int(case.rng.integers(2**63))

    def after(epochs: int) -> tuple[Vector, float]:
        # The same generator state draws the same terms.
        call = _sized(given, "shared-sample", TERMS, epochs)
        return case.stages.penalty_runs(problem, case.x, call, np.random.default_rng(seed), runs)

    error, runs = case.share.single.error / 2 / (len(EPOCHS) + 1), case.share.times(FINITE_RUNS)
    end = after(SETTLED)[0]
    start = quantile_interval(np.linalg.norm(end - y_star, axis=1), 0.5, error)
    estimates = []
    for epochs in EPOCHS:
        y, calls = after(epochs)
        reached, low, high = quantile_interval(np.linalg.norm(y - end, axis=1), 0.5, error)
        if low <= 1e-14 * start[0]:
            continue
        # The price of one factor e, over all distances within the two intervals.
        factors = ((start[0], reached), (start[2], low), (start[1], high))
        price, least, most = (calls / log(begun / left) for begun, left in factors)
        at = {"inner_tol": reached}
        estimates.append(Estimate(at, price, None, least, most, runs, law="exponent (order statistics)"))
    if len(estimates) < 2:
        raise NoEvidenceError("penalty_runs answered the same after every number of epochs: no rate shows")
    quantity = "gradient samples on a finite sum, over log 1/δ"
    return fit_power_law(estimates, case.share.single, quantity=quantity)["inner_tol"]


def _eigenvalues(case: Case, truth: Truth, which: str, at: Callable[[Case, Truth, float], Geometry]) -> RateEvidence:
    points = []
    for alpha in case.profile.alphas:
        H = at(case, truth, alpha).H
        values = np.linalg.eigvalsh(H)
        low, high, rounding = float(values[0]), float(values[-1]), 8 * EPS * spectral_norm(H)
        measured = {"smallest": low, "largest": high, "ratio": high / low if low > 0 else np.inf}[which]
        slack = rounding * (high / low**2 if which == "ratio" and low > 0 else 1.0)
        points.append(Point(at=alpha, measured=measured, uncertainty=slack))
    name = {"smallest": "smallest eigenvalue", "largest": "largest eigenvalue", "ratio": "condition number"}[which]
    return fit_rate(points, quantity=f"{name} of ∇²_yy L", variable="alpha")
