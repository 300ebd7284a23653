"""Lemma "Inner-loop Oracle Complexity", step C2: curvature of the penalty Lagrangian, and minimising it from noise."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np

from spec import Noise, OracleParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, values_at
from verify.checks.measuring.premises import activated, additive, at_truth, regular_truth
from verify.evidence.intervals import mean_square_interval, quantile_interval
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates.orders import bent
from verify.evidence.rates.rates import SweepEstimate, fit_power_law, fit_rate, invert
from verify.evidence.samples.moments import Moments
from verify.evidence.samples.premises_of_laws import Taken, law_of_variance
from verify.subjects.protocol import Call
from verify.truth.geometry import EPS, Geometry, spectral_norm
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


@check("inner-cost/smoothness", instances=CURVED, needs=("activation",))
def smoothness(case: Case) -> Measurement:
    """Largest curvature of L in y against alpha, where a row is active."""
    return Measurement((_eigenvalues(case, "largest"),))


@check("inner-cost/condition-number", instances=CURVED, needs=("activation",))
def condition_number(case: Case) -> Measurement:
    """κ of ∇²_yy L against alpha, where rows are active but leave a free direction."""
    return Measurement((_eigenvalues(case, "ratio"),))


@check("inner-cost/svrg", instances=("two-of-three", "toy1", "interior"), needs=("penalty_runs",), decisions=1)
def svrg(case: Case) -> Measurement:
    """Gradient samples against δ: SVRG with estimated anchors on an expectation, or on one finite sum."""
    truth = regular_truth(case.instance)
    geometry, call = at_truth(case, truth, SVRG_ALPHA)
    given = replace(call, rho=geometry.rho)
    if case.sense.objective == "expectation":
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
        estimates.append(SweepEstimate(at, square, None, low, high, moments.count, law="exponent (mean squares)"))
    if len({estimate.at["calls"] for estimate in estimates}) == 1:
        raise NoEvidenceError("penalty_runs counted the same samples for anchors of every size: no rate shows")
    worst = min(laws, key=lambda taken: taken.worth)
    squares = bent(fit_power_law(estimates, share, quantity="mean squared error")["calls"])
    squares = squares.model_copy(update={"law": worst.law, "checked": worst.checked})
    return invert(squares, quantity="gradient samples on an expectation", variable="inner_tol", power=0.5)


def _of_equal_components(y: Vector) -> Moments:
    """Samples, shape (N, m), as if their covariance were the identity; directions that do not scatter are left out."""
    off = y - y.mean(axis=0)
    values, vectors = np.linalg.eigh(off.T @ off / max(1, len(y) - 1))
    scattering = values > 1e-12 * values[-1]
    moments = Moments(np.zeros(max(1, int(scattering.sum()))))
    moments.add(off @ vectors[:, scattering] / np.sqrt(values[scattering]) if scattering.any() else off[:, :1])
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
        estimates.append(SweepEstimate(at, price, None, least, most, runs, law="exponent (order statistics)"))
    if len(estimates) < 2:
        raise NoEvidenceError("penalty_runs answered the same after every number of epochs: no rate shows")
    quantity = "gradient samples on a finite sum, over log 1/δ"
    return bent(fit_power_law(estimates, case.share.single, quantity=quantity)["inner_tol"])


def _eigenvalues(case: Case, which: str) -> RateEvidence:
    truth, points = regular_truth(case.instance), []
    for alpha in case.profile.alphas:
        H = activated(case, truth, alpha).H
        values = np.linalg.eigvalsh(H)
        low, high, rounding = float(values[0]), float(values[-1]), 8 * EPS * spectral_norm(H)
        if which == "largest":
            points.append(Point(at=alpha, measured=high, uncertainty=rounding))
        else:
            ratio, slack = (high / low, rounding * high / low**2) if low > 0 else (np.inf, rounding)
            points.append(Point(at=alpha, measured=ratio, uncertainty=slack))
    name = {"largest": "largest eigenvalue", "ratio": "condition number"}[which]
    return fit_rate(points, quantity=f"{name} of ∇²_yy L", variable="alpha")
