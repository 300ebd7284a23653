"""Lemma "Inner-loop Oracle Complexity", step C2: curvature of the penalty Lagrangian, and minimising it from noise."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np

from spec import Noise, OracleParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.premises import at_truth, h_width, regular_truth
from verify.evidence.intervals import mean_square_interval, quantile_interval
from verify.evidence.model import ComparisonEvidence, Point, PremiseEvidence, RateEvidence
from verify.evidence.moments import Moments
from verify.evidence.power_laws import Estimate, fit_power_law, invert
from verify.evidence.sweeps import fit_rate
from verify.subjects.protocol import Call
from verify.truth.geometry import EPS, Geometry, quadratic_of, spectral_norm
from verify.truth.pair import Truth

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
ADDITIVE = Noise(model="additive", sigma_f="1/10", sigma_g="1/10")  # type: ignore[arg-type]  # as above


@check("inner-cost/strong-convexity", instances=CURVED, needs=("activation",))
def strong_convexity(case: Case) -> Measurement:
    """Smallest curvature of L in y against alpha, and against half of α₁μ_g within the range asked for."""
    truth = regular_truth(case.instance)
    rate = _eigenvalues(case, truth, "smallest")
    a = quadratic_of(case.instance.problem).arrays
    mu_g, C_f = float(np.linalg.eigvalsh(a.g_yy)[0]), spectral_norm(a.f_yy)
    edge = sqrt(mu_g / (2 * C_f)) if C_f > 0 else 1.0
    compared = []
    for alpha in (edge, edge / 2, edge / 8):
        H = _seen(case, truth, alpha).H
        compared.append(
            ComparisonEvidence(
                quantity="smallest eigenvalue of ∇²_yy L", measured=float(np.linalg.eigvalsh(H)[0]), relation=">=",
                predicted=mu_g / (2 * alpha**2), tolerance=64 * EPS * spectral_norm(H), context={"alpha": alpha},
            )
        )  # fmt: skip
    return Measurement((rate, *compared))


@check("inner-cost/smoothness", instances=CURVED, needs=("activation",))
def smoothness(case: Case) -> Measurement:
    """Largest curvature of L in y against alpha, where a row is active."""
    truth = regular_truth(case.instance)
    return Measurement((_some_row(truth), _eigenvalues(case, truth, "largest")))


@check("inner-cost/condition-number", instances=CURVED, needs=("activation",))
def condition_number(case: Case) -> Measurement:
    """κ of ∇²_yy L against alpha, where rows are active but leave a free direction."""
    truth = regular_truth(case.instance)
    active, m = int(truth.active.sum()), len(truth.y_star)
    finding = f"{active} of {m} directions are active"
    premise = PremiseEvidence(premise="some-but-not-all-active", holds=0 < active < m, finding=finding)
    return Measurement((premise, _eigenvalues(case, truth, "ratio")))


@check("inner-cost/svrg", instances=("two-of-three", "toy1", "interior"), needs=("penalty_runs",), decisions=1)
def svrg(case: Case) -> Measurement:
    """Gradient samples against δ: SVRG with estimated anchors as written, on one finite sum repaired."""
    truth = regular_truth(case.instance)
    geometry, call = at_truth(case, truth, SVRG_ALPHA)
    given = replace(call, rho=geometry.rho)
    if case.reading.inner_solver == "constant-step":
        rate = _on_expectation(case, given, geometry)
        note = "An anchor gradient estimated from N samples is wrong by σ/√N, and so is the point it leads to."
    else:
        rate = _on_finite_sum(case, given, truth.y_star)
        note = "The finite sum's full gradient is exact: each epoch shrinks the error by a constant factor."
    values: dict[str, float | str] = {f"calls to δ = {p.at:.3g}": p.measured for p in rate.points}
    return Measurement((rate,), values, note)


def _on_expectation(case: Case, given: Call, geometry: Geometry) -> RateEvidence:
    problem = case.instance.with_noise(ADDITIVE).problem
    reading = case.reading.choose(inner_solver="constant-step")
    estimates, share = [], case.share.single
    for anchor in ANCHORS:
        parameters = OracleParameters(shared_samples=anchor, penalty_steps=EPOCHS[-1])
        call = replace(given, reading=reading, parameters=parameters)
        y, calls = case.stages.penalty_runs(problem, case.x, call, case.rng, case.share.times(RUNS))
        moments = Moments(geometry.minimiser)
        moments.add(y)
        low, high = mean_square_interval(moments, share.error / 2 / len(ANCHORS), isotropic=y.shape[1] == 1)
        estimates.append(
            Estimate({"calls": calls}, moments.mean_square, None, low, high, moments.count,
                     law="exponent (mean squares)")
        )  # fmt: skip
    squares = fit_power_law(estimates, share, quantity="mean squared error")["calls"]
    return invert(squares, quantity="gradient samples on an expectation", variable="inner_tol", power=0.5)


def _on_finite_sum(case: Case, given: Call, y_star: Vector) -> RateEvidence:
    """Median over runs of the distance to each run's own empirical minimiser, found by many epochs."""
    problem = case.instance.with_noise(FAINT_MATRIX).problem
    reading = case.reading.choose(inner_solver="shared-sample")
    seed = int(case.rng.integers(2**63))

    def after(epochs: int) -> tuple[Vector, float]:
        # The same generator state draws the same terms.
        parameters = OracleParameters(shared_samples=TERMS, penalty_steps=epochs)
        call = replace(given, reading=reading, parameters=parameters)
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
        price, least, most = (
            calls / log(begun / left) for begun, left in ((start[0], reached), (start[2], low), (start[1], high))
        )
        estimates.append(
            Estimate({"inner_tol": reached}, price, None, least, most, runs, law="exponent (order statistics)")
        )
    quantity = "gradient samples on a finite sum, over log 1/δ"
    return fit_power_law(estimates, case.share.single, quantity=quantity)["inner_tol"]


def _some_row(truth: Truth) -> PremiseEvidence:
    active = int(truth.active.sum())
    return PremiseEvidence(premise="some-row-active", holds=active > 0, finding=f"{active} rows are active")


def _eigenvalues(case: Case, truth: Truth, which: str) -> RateEvidence:
    points = []
    for alpha in case.profile.alphas:
        H = _seen(case, truth, alpha).H
        values = np.linalg.eigvalsh(H)
        low, high, rounding = float(values[0]), float(values[-1]), 8 * EPS * spectral_norm(H)
        measured = {"smallest": low, "largest": high, "ratio": high / low if low > 0 else np.inf}[which]
        slack = rounding * (high / low**2 if which == "ratio" and low > 0 else 1.0)
        points.append(Point(at=alpha, measured=measured, uncertainty=slack))
    name = {"smallest": "smallest eigenvalue", "largest": "largest eigenvalue", "ratio": "condition number"}[which]
    return fit_rate(points, quantity=f"{name} of ∇²_yy L", variable="alpha")


def _seen(case: Case, truth: Truth, alpha: float) -> Geometry:
    """The penalty geometry under the weights the subject's own activation gives."""
    geometry, call = at_truth(case, truth, alpha)
    h = np.where(truth.active > 0, 0.0, geometry.h)
    rho = case.stages.activation(h, truth.lam, h_width(case, alpha, call), call.parameters.lam_width)
    return replace(geometry, rho=rho)
