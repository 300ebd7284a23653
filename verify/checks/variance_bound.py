"""Lemma "Variance Bound": averaging N_g samples, and how large one sample's variance is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from spec import Noise
from spec.exact import Vector
from verify.checks.assumptions.stochastic_oracles import jumping_rate, may_jump
from verify.checks.measuring.agreement import with_closed_form
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.estimates.samples import (
    ADDITIVE,
    ANOTHER_LAW,
    F_ONLY,
    G_ONLY,
    MATRIX,
    RATE_BLOCK,
    SHORT_BLOCK,
    SampledFormula,
    SampleSetting,
    sampled_rates,
    second_moment,
    variance_order,
)  # fmt: skip
from verify.checks.measuring.estimates.silence import require_noise
from verify.checks.measuring.premises import regular_truth
from verify.evidence.bets.betting import VarianceBound
from verify.evidence.bets.correlations import CorrelationDecision, DirectionBound
from verify.evidence.decisions import VarianceDecision
from verify.evidence.model import ComparisonEvidence, Point, PremiseEvidence, RateEvidence, Relation
from verify.evidence.rates.orders import Rational
from verify.evidence.rates.rates import fit_rate
from verify.evidence.repeats import repeats
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Sampler, Streams
from verify.truth.enclosures.pair import Truth

INSTANCES = ("toy1", "two-of-three", "box-rational", "random-3x5x4")
MOVING = ("two-of-three", "toy1", "box-rational", "random-3x5x4")
"""The same; on the first the component that meets jumps moves, which tells most where noise may jump."""
BATCHES = (1, 2, 4, 16, 64)
SHOWN_BATCHES = {1: 0.05, 2: 0.2, 4: 0.1, 16: 0.06}
"""Batches whose variance is also held against its exact value, each with the relative deviation that must be seen: a
miscount of one changes the variance of N_g by 1/N_g."""
ISOTROPIC_BATCH = 4
OF_AVERAGES, OF_SUMS = Rational(0, 2), Rational(-2, 0)
"""Functions of 1/N_g that variances of averages and of sums may be: estimates may share noise, or repel each other."""
REPEATS = 512
"""Estimates of each of two calls compared for exact repetition."""
OWN = 1 << 17
"""Estimates whose variance stands for one estimate's where it is not the one that the problem states."""
GROUP = 16
"""Consecutive estimates added up to see whether they are independent."""
WHOLE = 64
"""Estimates of a short call, all of them added up."""
STREAM = 1 << 14
"""Estimates of one long call, held against one another at every distance."""


@check("variance-bound", instances=INSTANCES, needs=("hypergradient",), decisions=8)
def averaging(case: Case) -> Measurement:
    """Variance of the average of N_g samples against N_g and alpha jointly, and against its exact value."""
    truth = regular_truth(case.instance)
    _require_noise(case, truth)
    settings = []
    for alpha in case.profile.sample_alphas[:2]:
        for N_g in BATCHES:
            setting = SampleSetting.at(case, truth, alpha, ADDITIVE, N_g=N_g)
            exact = second_moment(setting, ADDITIVE) / N_g
            settings.append(({"N_g": float(N_g), "alpha": alpha}, setting.sampler(block=RATE_BLOCK), exact))
    by_alpha = variance_order(case, ADDITIVE)
    rates = sampled_rates(
        case, settings, quantity="variance of the average", deciding="N_g",
        formula=SampledFormula({"N_g": -1.0} | ({} if by_alpha is None else {"alpha": by_alpha}), OF_AVERAGES),
    )  # fmt: skip
    beside = [*_constants(case, truth), _every_direction(case, truth)]
    values: dict[str, float | str] = {item.quantity: item.measured for item in beside}
    in_support = rates["alpha"].model_copy(update={"role": "support"})
    deciding = with_closed_form(case, ADDITIVE, rates["N_g"], [at for at, _, _ in settings])
    return Measurement((deciding, in_support, *beside), values)


@check("variance-bound/independence", instances=INSTANCES, needs=("hypergradient",), decisions=8)
def independence(case: Case) -> Measurement:
    """Variance of sums of N_g samples, of consecutive estimates and of whole calls; correlations at every distance."""
    truth = regular_truth(case.instance)
    _require_noise(case, truth)
    alpha = case.profile.sample_alphas[0]
    settings = []
    for N_g in BATCHES:
        setting = SampleSetting.at(case, truth, alpha, ADDITIVE, N_g=N_g)
        sampler = setting.sampler(block=RATE_BLOCK, scale=N_g)
        settings.append(({"N_g": float(N_g)}, sampler, N_g * second_moment(setting, ADDITIVE)))
    rate = sampled_rates(
        case, settings, quantity="variance of the sum of N_g samples", deciding="N_g",
        formula=SampledFormula({"N_g": 1.0}, OF_SUMS),
    )["N_g"]  # fmt: skip
    setting = SampleSetting.at(case, truth, alpha, ADDITIVE)
    one, unsure = _own_variance(case, setting, settings[0][1])
    decision = VarianceBound(
        quantity=f"variance of the sum of {GROUP} consecutive estimates", level=GROUP * one, slack=unsure,
        width=len(case.x), share=case.share, wanted=0.1, context={"alpha": alpha},
    )  # fmt: skip
    near = decision.run(setting.sampler(block=RATE_BLOCK, group=GROUP))
    whole = _whole_calls(case, setting, one, unsure)
    return Measurement((rate, near, whole, *_far_apart(case, setting), _repeats(case, setting)))


def _require_noise(case: Case, truth: Truth) -> None:
    setting = SampleSetting.at(case, truth, case.profile.sample_alphas[0], ADDITIVE)
    require_noise(setting, second_moment(setting, ADDITIVE))


def _own_variance(case: Case, setting: SampleSetting, single: Sampler) -> tuple[float, float]:
    """Variance of one estimate and how unsure it is: as the problem states it, unless the subject's is less.

    Whether the variances of samples add up is a question about the samples that are there.
    """
    stated = second_moment(setting, ADDITIVE)
    decision = VarianceDecision("variance of one estimate", case.share, level=stated, width=len(case.x))
    evidence = decision.evidence(single.moments, case.share.error)
    if evidence.holds or not 0 < evidence.measured < stated:
        return stated, 0.0
    moments = single.reach(OWN)
    own = moments.variance
    return own, replace(decision, level=own).evidence(moments, case.share.error).tolerance / own


def _whole_calls(case: Case, setting: SampleSetting, one: float, unsure: float) -> ComparisonEvidence:
    """Variance of the sum of all estimates of a call: what pairs of opposite draws cancel is missing from it."""
    decision = VarianceBound(
        quantity=f"variance of the sum of a whole call of {WHOLE} estimates", level=WHOLE * one, slack=unsure,
        width=len(case.x), share=case.share, wanted=0.5, block=WHOLE,
    )  # fmt: skip
    mean = setting.mean

    def draw(rng: np.random.Generator, count: int) -> Vector:
        sums: Vector = np.array([(setting.draw(rng, WHOLE) - mean).sum(axis=0) for _ in range(count)])
        return mean + sums

    sampler = Sampler(draw, Streams.of(case.rng), Moments(mean), WHOLE)
    return decision.run(case.ledger.keep(sampler))


def _far_apart(case: Case, setting: SampleSetting) -> tuple[ComparisonEvidence, ...]:
    """Correlations of estimates at every distance: of one call, of the next one, and of one with another generator."""
    # One standard deviation of a component is known exactly.
    scale = (second_moment(setting, ADDITIVE) / len(case.x)) ** 0.5
    first, second = case.fresh_rng(), case.fresh_rng()
    size = 1 << (case.share.times(STREAM).bit_length() - 1)
    one, other, elsewhere = ((setting.draw(rng, size) - setting.mean) / scale for rng in (first, first, second))
    name = "largest correlation of two estimates"
    decisions = [
        CorrelationDecision(quantity=f"{name} {where}", share=case.share, wanted=0.2)
        for where in ("of one call", "of two consecutive calls", "of calls with different generators")
    ]
    return (
        decisions[0].within(one),
        decisions[1].between(one, other),
        decisions[2].between(one, elsewhere),
    )  # fmt: skip


def _repeats(case: Case, setting: SampleSetting) -> ComparisonEvidence:
    """Estimates of two calls that repeat one before, against those of lots among calls of another generator as well.

    Noise of few values repeats itself, and then with another generator as often; dependent estimates do so alone.
    """
    problem = case.instance.with_noise(ADDITIVE).problem
    rng, other = case.fresh_rng(), case.fresh_rng()

    def draw(source: np.random.Generator, count: int) -> Vector:
        return case.stages.hypergradient_samples(problem, case.x, setting.call, source, count)

    here, there = np.vstack([draw(rng, REPEATS) for _ in range(2)]), draw(other, 4 * REPEATS)
    return repeats(
        here, there, case.share, "estimates of two calls that repeat one before them, beside those that lots would draw"
    )


@check("variance-bound/per-sample", instances=MOVING, needs=("hypergradient",), decisions=3)
def per_sample(case: Case) -> Measurement:
    """Variance of one sample against alpha, under additive and matrix noise, or under noise that jumps where it may."""
    truth = regular_truth(case.instance)
    if may_jump(case, truth):
        return _jumps(case, truth)
    rates = [_rate(case, truth, noise, f"per-sample variance, {noise.model} noise") for noise in (ADDITIVE, MATRIX)]
    values: dict[str, float | str] = {
        f"{rate.quantity}, alpha = {p.at:g}": p.measured for rate in rates for p in rate.points[:1]
    }
    within = [] if case.as_written else [_within_both(case, truth)]
    note = (
        "Independent draws at ỹ and ỹ* add up to 2α₁²σ_g² a component; the same draw cancels up to the noise's own "
        "change between the two points."
    )
    return Measurement((*rates, *within), values, note)


def _within_both(case: Case, truth: Truth) -> ComparisonEvidence:
    """Variance of one sample under matrix noise against (σ_f + α₁ℓ_g‖ỹ - ỹ*‖)², the two parts known exactly."""
    alpha = case.profile.sample_alphas[-1]
    setting = SampleSetting.at(case, truth, alpha, MATRIX)
    paired = replace(setting, case=replace(case, reading=case.reading.choose(noise_pairing="common")))
    parts = [second_moment(paired, MATRIX.model_copy(update={"on": on})) ** 0.5 for on in (F_ONLY, G_ONLY)]
    decision = VarianceBound(
        quantity="variance of one sample against (σ_f + α₁ℓ_g‖ỹ - ỹ*‖)²", level=sum(parts) ** 2, width=len(case.x),
        share=case.share, relation="<=", context={"alpha": alpha},
    )  # fmt: skip
    return decision.run(setting.sampler(block=RATE_BLOCK))


@check("variance-bound/f-noise-only", instances=INSTANCES, needs=("hypergradient",), decisions=2)
def f_noise_only(case: Case) -> Measurement:
    """Variance of one sample with noise in f alone, against alpha and against its exact value."""
    truth = regular_truth(case.instance)
    noise = ADDITIVE.model_copy(update={"on": F_ONLY})
    rate = _rate(case, truth, noise, "per-sample variance, noise in f only")
    setting = SampleSetting.at(case, truth, case.profile.sample_alphas[-1], noise)
    decision = VarianceBound(
        quantity="variance of one sample, noise in f only", level=second_moment(setting, noise), width=len(case.x),
        share=case.share, relation="<=", context={"alpha": case.profile.sample_alphas[-1]},
    )  # fmt: skip
    return Measurement((rate, decision.run(setting.sampler(block=RATE_BLOCK))))


@check("variance-bound/g-noise-only", instances=MOVING, needs=("hypergradient",), decisions=2)
def g_noise_only(case: Case) -> Measurement:
    """Variance of one sample with noise in g alone, against alpha; common additive draws leave none."""
    truth = regular_truth(case.instance)
    if may_jump(case, truth):
        return _jumps(case, truth)
    evidence = []
    for noise in (ADDITIVE, MATRIX):
        only = noise.model_copy(update={"on": G_ONLY})
        evidence.append(_rate(case, truth, only, f"per-sample variance, {noise.model} noise in g only"))
    return Measurement(tuple(evidence), {f"{r.quantity}, alpha = 0.1": r.points[0].measured for r in evidence})


@check("variance-bound/pairing-alone", instances=("two-of-three", "interior"), needs=("hypergradient",), decisions=1)
def pairing_alone(case: Case) -> Measurement:
    """Common draws of an oracle that jumps in y as written, of one that moves in mean square like y repaired."""
    truth = regular_truth(case.instance)
    return _jumps(case, truth) if case.as_written else _smooth_alone(replace(case, reading=case.repaired), truth)


def _jumps(case: Case, truth: Truth) -> Measurement:
    """The worst noise that the literal premises admit where one draw serves a sample."""
    rate = jumping_rate(case, truth, "per-sample variance, jump noise, common draws")
    values: dict[str, float | str] = {f"variance at alpha = {p.at:g}": p.measured for p in rate.points}
    note = "Two points α² apart see different noise with probability of order α²; α₁² times that is α⁻²."
    return Measurement((rate,), values, note)


def _smooth_alone(case: Case, truth: Truth) -> Measurement:
    """Matrix noise meets the hypothesis that the repaired text adds; the jump, which does not, is named beside it."""
    rate = _rate(case, truth, MATRIX, "per-sample variance, matrix noise, common draws")
    values: dict[str, float | str] = {f"variance at alpha = {p.at:g}": p.measured for p in rate.points}
    note = "Where the noise moves like the point, two points α² apart leave α₁²·α⁴ of it."
    return Measurement((_smoothness(), rate), values, note)


def _rate(case: Case, truth: Truth, noise: Noise, quantity: str) -> RateEvidence:
    settings = []
    for alpha in case.profile.sample_alphas:
        setting = SampleSetting.at(case, truth, alpha, noise)
        settings.append(({"alpha": alpha}, setting.sampler(block=RATE_BLOCK), second_moment(setting, noise)))
    order = variance_order(case, noise)
    formula = None if order is None else SampledFormula({"alpha": order})
    rate = sampled_rates(case, settings, quantity=quantity, deciding="alpha", formula=formula)["alpha"]
    return with_closed_form(case, noise, rate, [at for at, _, _ in settings])


def _constants(case: Case, truth: Truth) -> list[ComparisonEvidence]:
    """Variances for each N_g against their exact values; from above alone where one estimate's is less than stated."""
    relation: Relation = "=="
    evidence: list[ComparisonEvidence] = []
    for N_g, wanted in SHOWN_BATCHES.items():
        decision, stream = _constant(case, truth, N_g, wanted)
        item = replace(decision, relation=relation).run(stream)
        if N_g == 1 and not item.holds and 0 < item.measured < item.predicted:
            relation = "<="
            remark = f"{ANOTHER_LAW}: a variance of {item.measured:.4g}, not {item.predicted:.4g}"
            # Half of what this decision may spend is left: the equality spent it on either side.
            item = replace(decision, relation=relation, share=case.share.part(2)).run(stream)
            stated = {"checked": f"{item.checked}; {remark}", "error_rate": case.share.error}
            item = item.model_copy(update=stated)
        evidence.append(item)
    return evidence


def _constant(case: Case, truth: Truth, N_g: int, wanted: float) -> tuple[VarianceBound, Sampler]:
    alpha = case.profile.sample_alphas[0]
    setting = SampleSetting.at(case, truth, alpha, ADDITIVE, N_g=N_g)
    decision = VarianceBound(
        quantity=f"variance of the average of {N_g}", level=second_moment(setting, ADDITIVE) / N_g,
        width=len(case.x), share=case.share, wanted=wanted, block=RATE_BLOCK,
        context={"alpha": alpha, "N_g": float(N_g)},
    )  # fmt: skip
    return decision, setting.sampler(block=RATE_BLOCK)


def _every_direction(case: Case, truth: Truth) -> ComparisonEvidence:
    """Noise of the right total variance may still reach some components only: another law, within the bound."""
    alpha, N_g = case.profile.sample_alphas[0], ISOTROPIC_BATCH
    setting = SampleSetting.at(case, truth, alpha, ADDITIVE, N_g=N_g)
    whole = VarianceDecision(
        quantity=f"variance of the average of {N_g} along its most deviating direction",
        level=second_moment(setting, ADDITIVE) / N_g, width=len(case.x), share=case.share, wanted=0.2,
        block=SHORT_BLOCK, context={"alpha": alpha, "N_g": float(N_g)},
    )  # fmt: skip
    evidence = DirectionBound.of(whole).run(setting.sampler(block=SHORT_BLOCK, together=True))
    if evidence.holds:
        return evidence
    remark = f"{ANOTHER_LAW}: its noise is not the same along every direction"
    checked = f"{evidence.checked}; {remark}" if evidence.checked else remark
    return evidence.model_copy(update={"role": "support", "checked": checked})


def _smoothness() -> PremiseEvidence:
    """E‖noise(y) - noise(y')‖² against ‖y - y'‖: mean-square smooth means exponent 2."""
    distances = [2.0**-k for k in range(2, 12)]
    # Matrix noise changes by W(y - y'); a jump is seen where the threshold falls between the two points.
    met = [float(scipy.special.ndtr(d) - scipy.special.ndtr(0.0)) for d in distances]
    rates = {}
    for name, squares in (("matrix", [d * d for d in distances]), ("jump", [p * (1 - p) for p in met])):
        points = [Point(at=d, measured=v) for d, v in zip(distances, squares, strict=True)]
        rates[name] = fit_rate(points, quantity="mean-square change of the noise", variable="distance")
    finding = (
        f"in mean square, matrix noise changes like distance^{rates['matrix'].exponent:.2f}; "
        f"a jump, which this hypothesis excludes, like distance^{rates['jump'].exponent:.2f}"
    )
    holds = rates["matrix"].interval[0] >= 1.9 and rates["jump"].interval[1] < 1.9
    return PremiseEvidence(premise="mean-square-smooth", holds=holds, finding=finding)
