"""Theorem "Accuracy of Stochastic Hypergradient": mean squared error, its parts, and what its proof leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, sqrt

import numpy as np

from spec import OracleParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case, Measurement, check, values_at
from verify.checks.measuring.estimates.samples import ADDITIVE, ANOTHER_LAW, SampleSetting, second_moment
from verify.checks.measuring.estimates.silence import require_noise
from verify.checks.measuring.formula_evidence import right_side
from verify.checks.measuring.pair_laws import PAIR_LAWS, part_of_pair
from verify.checks.measuring.premises import additive, at_truth, estimate, regular_truth
from verify.evidence.bets.squares import SquareBound
from verify.evidence.budget import Share
from verify.evidence.decisions import VarianceDecision
from verify.evidence.intervals import Looks, mean_square_interval
from verify.evidence.model import ComparisonEvidence, Point, RateEvidence
from verify.evidence.rates.orders import bent, beside_law
from verify.evidence.rates.rates import SweepEstimate, fit_power_law, fit_rate
from verify.evidence.samples.laws import SquareLaw
from verify.evidence.samples.moments import Moments
from verify.evidence.samples.premises_of_laws import law_of_variance
from verify.evidence.streams import Sampler, Streams
from verify.truth.enclosures.pair import Truth, exact_bias
from verify.truth.geometry import Geometry, solve, spectral_norm
from verify.verdict import decide

INSTANCES = ("toy1", "two-of-three", "box-rational", "random-3x5x4")
STILL = ("mildly-concave", "toy2", "fixed-rows", "interior")
"""No active row moves with x, so that L_{H,y} grows least; in the first it is one number, and the bound is met."""
LOUD, FAINT = additive("1/2"), additive("1/40")
"""The latter so faint that N_g = σ²/α², n times a power of 4, stays small where the bias becomes a plain power."""
ALPHAS = (0.025, 0.0125, 0.00625, 0.003125, 0.0015625)
PAIR_ALPHAS = (0.05, *ALPHAS[:-1])
"""Where the exact part of the pair is followed: at the smallest of the others rounding hides how it settles."""
PREASYMPTOTIC = 0.4
"""An alpha at which squared bias and variance are of one size, so that a missing cross term would show."""
LOOKS = 4
"""Looks at the mean squared error before its rate is left undecided."""
FEW = 1 << 10
"""Samples a block of the mean squared error; each averages N_g draws."""
SEEN = 0.2
"""Relative error of the total variance that must be seen; it decides how often the stages are drawn."""
STAGES = 64
"""Draws of the stages a block: each is a call of its own."""
LEAST_APART = 1 << 14
"""Samples behind a subject's own variance, where it is not the stated one."""
LARGE_SLIP = 1.0
"""Length of the rare error of ỹ* with which a first moment of α³ is spent."""


@check("hypergradient-accuracy", instances=INSTANCES, needs=("hypergradient",), decisions=1, sure=2)
def mean_squared_error(case: Case) -> Measurement:
    """MSE at N_g = σ²/α² with the minimiser's allowed error spent in its worst direction.

    What the exact law bends is divided out of the samples, so that few of them tell the power that is left; an error
    that follows another law is read as it is.
    """
    truth = regular_truth(case.instance)
    settings = [_spent(case, truth, alpha) for alpha in ALPHAS]
    law = _exact_law(settings, truth)
    streams = [setting.sampler(block=FEW, around=truth.grad_F) for setting in settings]
    looks = Looks(ceil(2 * FEW / len(case.x)), case.share.error)
    for look in range(max(1, streams[0].look), LOOKS + case.share.level + 1):
        streams[0].look = look
        spent = replace(case.share, error=looks.spends(look))
        estimates, laws = [], []
        for point, stream in zip(law.points, streams, strict=True):
            moments = stream.reach(looks.size(look))
            each = spent.error / 2 / len(ALPHAS)
            laws.append(law_of_variance(moments, each, base="exponent (mean squares)"))
            low, high = mean_square_interval(moments, each, isotropic=True, worth=laws[-1].worth)
            at, square = {"alpha": point.at}, moments.mean_square
            estimates.append(
                SweepEstimate(at, square, None, low, high, moments.count, point.measured, "exponent (mean squares)")
            )
        worst = min(laws, key=lambda taken: taken.worth)
        stated = {"error_rate": case.share.error, "law": worst.law, "checked": worst.checked}
        # Both are read from the same intervals; where these hold, so do both.
        rates = [
            rate.model_copy(update=stated) for rate in (_straightened(estimates, law, spent), _raw(estimates, spent))
        ]
        decided = [rate for rate in rates if str(decide(case.bound, [rate]).verdict) != "INCONCLUSIVE"]
        rate = (decided or rates)[0]
        if decided:
            break
    stop = "‖ỹ - y*‖ = α³" if case.reading.inner_stop == "distance" else "‖∇_yL(x, ỹ)‖ = α"
    of_pair = part_of_pair(case, truth, PAIR_ALPHAS)
    note = f"ỹ has {stop} in the direction that moves the estimate most. {PAIR_LAWS[case.sense.accuracy]}."
    return Measurement((rate, *of_pair, law), values_at("mean squared error at alpha", rate.points), note)


@check("hypergradient-accuracy/growing-constant", instances=(*STILL, *INSTANCES), needs=("hypergradient",), sure=2)
def with_a_growing_constant(case: Case) -> Measurement:
    """The subject's error with the noise's exact law, and the part of the pair, over (1 + L_{H,y})² of each α."""
    truth, points = regular_truth(case.instance), []
    for setting in (_spent(case, truth, alpha) for alpha in ALPHAS):
        assert setting.call.y_penalty is not None  # it spends ỹ
        error = estimate(case, setting.call, setting.call.y_penalty) - truth.grad_F
        square = float(error @ error) + second_moment(setting, FAINT) / setting.call.parameters.N_g
        points.append(Point(at=setting.call.alpha, measured=square))
    own = fit_rate(points, quantity="mean squared error by the noise's exact law", variable="alpha")
    pair, *premises = part_of_pair(case, truth, PAIR_ALPHAS)
    rates = [_over_growth(case, truth, rate) for rate in (own, pair) if isinstance(rate, RateEvidence)]
    return Measurement(
        (*rates, *premises), values_at("mean squared error over (1 + L_{H,y})² at alpha", rates[0].points)
    )


def _over_growth(case: Case, truth: Truth, rate: RateEvidence) -> RateEvidence:
    points = []
    for point in rate.points:
        geometry, _ = at_truth(case, truth, point.at)
        growth = (1 + spectral_norm(geometry.E)) ** 2
        points.append(Point(at=point.at, measured=point.measured / growth, uncertainty=point.uncertainty / growth))
    return fit_rate(points, quantity=f"{rate.quantity}, over (1 + L_{{H,y}})²", variable="alpha")


def _exact_law(settings: Sequence[SampleSetting], truth: Truth) -> RateEvidence:
    """The exact mean squared error against alpha, in support."""
    points = []
    for setting in settings:
        error = setting.mean - truth.grad_F
        square = float(error @ error) + second_moment(setting, FAINT) / setting.call.parameters.N_g
        points.append(Point(at=setting.call.alpha, measured=square))
    return fit_rate(points, quantity="mean squared error, exact law", variable="alpha", role="support")


def _straightened(estimates: Sequence[SweepEstimate], law: RateEvidence, share: Share) -> RateEvidence:
    """Power of alpha in the samples, what its exact law bends divided out."""
    return beside_law(estimates, law, lambda straight: _raw(straight, share))


def _raw(estimates: Sequence[SweepEstimate], share: Share) -> RateEvidence:
    return bent(fit_power_law(estimates, share, quantity="mean squared error at N_g = σ²/α²")["alpha"])


@check("hypergradient-accuracy/decomposition", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def decomposition(case: Case) -> Measurement:
    """MSE given the stages against 2 variance + 2 bias² as written, variance + bias² repaired."""
    truth = regular_truth(case.instance)
    quiet = SampleSetting.at(case, truth, PREASYMPTOTIC, LOUD)
    bias = exact_bias(case.instance, truth, quiet.geometry, dual_term=case.reading.dual_term)
    N_g = max(1, round(second_moment(quiet, LOUD) / bias**2)) if bias > 0 else 1
    setting = SampleSetting.at(case, truth, PREASYMPTOTIC, LOUD, N_g=N_g)
    n, variance = len(case.x), second_moment(setting, LOUD) / N_g
    if not case.as_written:
        require_noise(setting, variance)
    law = SquareLaw((variance / n,) * n, (bias**2, *(0.0,) * (n - 1)))
    decision = SquareBound(
        f"mean squared error at N_g = {N_g}", case.share, law=law, relation="<=" if case.as_written else "==",
        predicted=right_side(case.claim, case, variance, bias**2), wanted=0.2,
        context={"alpha": PREASYMPTOTIC, "variance": variance, "squared bias": bias**2},
    )  # fmt: skip
    errors = setting.sampler(block=FEW, around=truth.grad_F)
    evidence = decision.run(errors)
    own = VarianceDecision("variance of the estimate", case.share, level=variance, width=n)
    seen = own.evidence(errors.moments, case.share.error)
    if evidence.holds or seen.holds:
        return Measurement((evidence,))
    remark = f"{ANOTHER_LAW}: a variance of {seen.measured:.4g}, not {variance:.4g}"
    if not 0 < seen.measured < variance:
        return Measurement((evidence.model_copy(update={"quantity": f"{evidence.quantity} ({ANOTHER_LAW})"}),))
    return Measurement((_with_own_variance(decision, setting, errors, bias**2, remark),))


def _with_own_variance(
    decision: SquareBound, setting: SampleSetting, errors: Sampler, squared_bias: float, remark: str
) -> ComparisonEvidence:
    """Less noise than the problem states is allowed: its own variance, from other draws, takes the stated one's place.

    Noise of the stated variance comes here by an error alone, so comparison and variance have half of it each.
    """
    n, share = errors.moments.mean.size, decision.share.part(2)
    apart = setting.sampler(block=FEW).reach(max(errors.moments.count, LEAST_APART))
    own = apart.variance
    level = VarianceDecision("variance of the estimate", share, level=own, width=n)
    unsure = level.evidence(apart, share.error).tolerance
    law = SquareLaw((own / n,) * n, (squared_bias, *(0.0,) * (n - 1)))
    factor = 2 if decision.relation == "<=" else 1
    bound = replace(decision, law=law, share=share, predicted=factor * (own + squared_bias)).run(errors)
    checked = f"{bound.checked}; {remark}" if bound.checked else remark
    context = {**bound.context, "variance": own}
    return bound.model_copy(
        update={
            "tolerance": bound.tolerance + factor * unsure, "detectable": (bound.detectable or 0.0) + factor * unsure,
            "error_rate": decision.share.error, "checked": checked, "context": context,
        }
    )  # fmt: skip


@check("hypergradient-accuracy/conditional-mean", instances=INSTANCES, needs=("hypergradient",), decisions=1)
def conditional_mean(case: Case) -> Measurement:
    """Total variance over random stages against the mean of the conditional variance, alone or with its partner.

    Around the mean given the stages, where that is meant, it is the mean of the conditional variance alone. The stage
    left random is ỹ: it keeps a random gradient of norm about alpha, as a stochastic solver leaves it.
    """
    truth = regular_truth(case.instance)
    alpha = 0.1
    quiet = SampleSetting.at(case, truth, alpha, ADDITIVE)
    n, m = len(case.x), len(truth.y_star)
    geometry = quiet.geometry
    # So many samples that the conditional variance is a quarter of alpha², like the batch σ²/α² asks.
    N_g = ceil(4 * second_moment(quiet, ADDITIVE) / alpha**2)
    through = solve(geometry.H, geometry.E.T).T * (alpha / sqrt(m))
    conditional, between = second_moment(quiet, ADDITIVE) / N_g, float(np.trace(through @ through.T))
    given = case.as_written and case.sense.expectation == "given"

    def draw(rng: np.random.Generator, count: int) -> Vector:
        rows = np.empty((count, n))
        for i, gradient in enumerate(rng.standard_normal((count, m))):
            slip = solve(geometry.H, (alpha / sqrt(m)) * gradient)
            call = replace(quiet.call, y_penalty=geometry.minimiser + slip, parameters=OracleParameters(N_g=N_g))
            there = replace(quiet, call=call)
            rows[i] = there.draw(rng, 1)[0] - (there.mean if given else quiet.mean)
        return rows

    apart = np.zeros((n, n)) if case.as_written else through @ through.T
    decision = SquareBound(
        "total variance of the estimate", case.share, wanted=SEEN,
        law=SquareLaw.of(np.zeros(n), conditional / n * np.eye(n) + apart),
        context={"alpha": alpha, "N_g": float(N_g), "mean conditional variance": conditional,
                 "variance of the conditional mean": between},
    )  # fmt: skip
    sampler = case.ledger.keep(Sampler(draw, Streams.of(case.rng), Moments(np.zeros(n)), STAGES))
    evidence = decision.run(sampler)
    values: dict[str, float | str] = {"total variance": evidence.measured, **evidence.context}
    note = "The average of conditional variances leaves out how far the conditional means lie apart."
    return Measurement((evidence,), values, note)


@check("hypergradient-accuracy/first-moment", instances=("two-of-three", "box-rational", "scalar-rational",
       "random-3x5x4"), needs=("hypergradient",))  # fmt: skip
def first_moment(case: Case) -> Measurement:
    """α₁²E‖∇_xg(x, ỹ*) - ∇_xg(x, y*)‖² under the worst law the moment bound admits: rare and large, or spread out."""
    truth, kind = regular_truth(case.instance), case.sense.accuracy
    points = []
    for alpha in case.profile.alphas:
        geometry, call = at_truth(case, truth, alpha)
        # Weights and minimiser held: only the term -α₁∇_x g(x, ỹ*) sees the error.
        given = replace(call, rho=geometry.rho)
        right = estimate(case, given, geometry.minimiser)
        worst, slack = 0.0, 0.0
        for length in (alpha**3, alpha**2, alpha, LARGE_SLIP) if kind != "sure" else (alpha**3,):
            probability = min(1.0, alpha**3 / length if kind == "mean" else alpha**6 / length**2)
            slip = length * _worst_slip(geometry)
            wrong = estimate(case, replace(given, y_star=truth.y_star + slip), geometry.minimiser)
            moved = float(np.linalg.norm(wrong - right))
            part = probability * moved**2
            if part > worst:
                rounding = 4 * geometry.rounding(np.abs(truth.y_star) + np.abs(slip), dual_term=case.reading.dual_term)
                worst, slack = part, probability * 2 * moved * rounding
        points.append(Point(at=alpha, measured=worst, uncertainty=slack))
    rate = fit_rate(points, quantity="part of the mean squared error due to ỹ*", variable="alpha")
    laws = {
        "mean": "Error 1 with probability α³",
        "sure": "Error α³",
        "mean-square": "Any length with second moment α⁶",
    }
    note = f"{laws[kind]} contributes α₁²‖g_xy u‖² times its mean square."
    return Measurement((rate,), values_at("part at alpha", rate.points[:1]), note)


def _spent(case: Case, truth: Truth, alpha: float) -> SampleSetting:
    n_sigma = len(case.x) * FAINT.scale("f.x") ** 2
    setting = SampleSetting.at(case, truth, alpha, FAINT, N_g=max(1, ceil(n_sigma / alpha**2 - 1e-9)))
    geometry = setting.geometry
    distance = case.reading.inner_stop == "distance"
    slip = geometry.worst_y_within(alpha**3) if distance else geometry.worst_y_with_gradient(alpha)
    tried = [replace(setting, call=replace(setting.call, y_penalty=geometry.minimiser + s)) for s in (slip, -slip)]
    return max(tried, key=lambda one: float(np.linalg.norm(one.mean - truth.grad_F)))


def _worst_slip(geometry: Geometry) -> Vector:
    """Unit error of ỹ* that moves ∇_x g most."""
    g_xy = geometry.a.g_xy
    return np.asarray(np.linalg.svd(g_xy)[2][0] if g_xy.any() else np.eye(len(geometry.y_star))[0])
