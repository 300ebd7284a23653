"""Sampled estimates of a subject around their exact means, as streams with moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log1p

import numpy as np

from spec import Noise
from spec.exact import Vector
from verify.checks.measuring.case import Case
from verify.checks.measuring.premises import at_truth
from verify.evidence.budget import EFFORT_STEP, Share
from verify.evidence.decisions import smallest
from verify.evidence.intervals import Looks
from verify.evidence.model import RateEvidence, Role
from verify.evidence.rates.orders import AGREES, Rational, bent, has_its_values, held_to_formula, in_class
from verify.evidence.rates.rates import SweepEstimate, fit_power_law
from verify.evidence.samples.laws import log_variance_interval
from verify.evidence.samples.moments import Moments, Scatter
from verify.evidence.samples.premises_of_laws import Taken, law_of_variance
from verify.evidence.streams import BLOCK, Sampler, Streams
from verify.subjects.protocol import Call
from verify.truth.algebra.numbers import double
from verify.truth.enclosures.pair import Truth
from verify.truth.functions_of_alpha.noise import variance, variance_function
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.geometry import Geometry, quadratic_of
from verify.verdict import decide

ADDITIVE = Noise(model="additive", sigma_f="1/10", sigma_g="1/10")  # type: ignore[arg-type]  # exact spellings are parsed
MATRIX = Noise(model="matrix", sigma_f="1/10", sigma_g="1/10")  # type: ignore[arg-type]  # as above
JUMP = Noise(model="jump", sigma_f=0, sigma_g=1)
ANOTHER_LAW = "another law than the problem states"
"""What noise is called that the paper allows and the problem file does not state: no bound is refuted by it."""
F_ONLY, G_ONLY = ("f.x", "f.y"), ("g.x", "g.y")
RATE_BLOCK = 1 << 11
"""Samples a block where a rate is wanted: most rates are decided by a few thousand."""
SHORT_BLOCK = 1 << 9
"""Samples a block of variances along directions: fewer than a thousand decide, of several calls."""
RATE_LOOKS = 4
"""Looks at a rate before it is left undecided: 2, 8, 32 and 128 thousand samples a point."""
ROOM = 0.7
"""Share of what a formula's values may leave, for the intervals; the rest is for their middles, off by chance."""
PLAIN_LOOKS = 2
"""Looks at 2 and 8 thousand samples, which refute most of what is wrong."""
RATE_FURTHER = 2
"""Looks beyond those where estimates are not Gaussian."""


@dataclass(frozen=True)
class SampleSetting:
    """Where the estimator is sampled: a case with its noise, the geometry at the exact pair, every stage given."""

    case: Case
    geometry: Geometry
    call: Call

    @classmethod
    def at(cls, case: Case, truth: Truth, alpha: float, noise: Noise, *, N_g: int = 1) -> SampleSetting:
        """At the exact pair and the exact penalty minimiser."""
        noisy = replace(case, instance=case.instance.with_noise(noise))
        geometry, call = at_truth(noisy, truth, alpha)
        parameters = case.parameters(alpha, N_g=N_g)
        given = replace(call, rho=geometry.rho, y_penalty=geometry.minimiser, parameters=parameters)
        return cls(noisy, geometry, given)

    @classmethod
    def oracle(cls, case: Case, truth: Truth, noise: Noise, *, x: Vector, y: Vector, apart: Vector) -> SampleSetting:
        """The bare oracles: alpha = 1, no rows; the two points of a sample are ``y`` and ``y + apart``."""
        noisy = replace(case, instance=case.instance.with_noise(noise))
        noisy.__dict__["x"] = x
        zero = np.zeros(len(truth.lam))
        geometry, _ = at_truth(noisy, truth, 1.0)
        geometry = replace(geometry, x=x, y_star=y, lam=zero, rho=zero)
        call = noisy.call(1.0, y_star=y, lam=zero, rho=zero, y_penalty=y + apart)
        return cls(noisy, geometry, call)

    @property
    def y(self) -> Vector:
        """Where the estimate is made, shape (m,)."""
        return self.call.y_penalty if self.call.y_penalty is not None else self.geometry.minimiser

    @property
    def mean(self) -> Vector:
        """Exact mean of an estimate given its stages, shape (n,), from the formula alone."""
        # At the exact pair the active rows are 0, not what rounding leaves of them.
        h = np.where(self.geometry.rho > 0, 0.0, self.geometry.h)
        return self.geometry.lagrangian.estimate(self.y, self.case.reading.dual_term, h)

    def draw(self, rng: np.random.Generator, count: int) -> Vector:
        """Estimates of the subject, shape (count, n)."""
        case = self.case
        return case.stages.hypergradient_samples(case.instance.problem, case.x, self.call, rng, count)

    def sampler(
        self,
        *,
        block: int = BLOCK,
        scale: float = 1.0,
        group: int = 1,
        around: Vector | None = None,
        together: bool = False,
    ) -> Sampler:
        """A stream of estimates, ``block`` at a time, with moments around the exact mean or around a given centre.

        Deviations from the exact mean are added up over ``group`` consecutive estimates and scaled; ``together`` keeps
        how components vary together as well.
        """
        mean = self.mean if around is None else around

        def draw(rng: np.random.Generator, count: int) -> Vector:
            rows = self.draw(rng, count * group)
            if group > 1 or scale != 1.0:
                deviations = (rows - mean).reshape(count, group, -1).sum(axis=1)
                rows = mean + scale * deviations
            return rows

        moments = Scatter(mean) if together else Moments(mean)
        return self.case.ledger.keep(Sampler(draw, Streams.of(self.case.rng), moments, block))


def variance_order(case: Case, noise: Noise) -> float | None:
    """Exact order in alpha of one sample's variance; none where it is zero."""
    family = PenaltyFamily.at(quadratic_of(case.instance.with_noise(noise).problem), case.instance.x)
    return variance_function(family, case.reading.noise_pairing).leading().exponent


def second_moment(setting: SampleSetting, noise: Noise) -> float:
    """Exact variance of one sample given its stages, correctly rounded."""
    at, problem = setting.geometry, quadratic_of(setting.case.instance.problem).model_copy(update={"noise": noise})
    pairing = setting.case.reading.noise_pairing
    stages = setting.y.tolist(), at.y_star.tolist()
    return double(variance(problem, at.x.tolist(), at.alpha, stages, pairing))


@dataclass(frozen=True)
class SampledFormula:
    """What is known of the formula that gives exact variances: its exact orders, by variable.

    ``known`` is the class of functions of the deciding variable in which other samples are read.
    """

    orders: Mapping[str, float]
    known: Rational | None = None


def _agreeing(settings: Sequence[tuple[dict[str, float], Sampler, float]], planned: Looks) -> int:
    """Samples a point at which Gaussian ones that have a formula's values show it, but with a small probability."""
    width, pairs = len(settings[0][1].moments.mean), len(settings) * (len(settings) - 1)
    error = planned.spends(max(1, RATE_LOOKS - 1)) / 2 / pairs

    def shows(size: int) -> bool:
        dofs = np.full(2, float(width * (size - 1)))
        return log_variance_interval(np.array([1.0, -1.0]), dofs, error)[1] <= ROOM * log1p(AGREES)

    return smallest(shows, settings[0][1].block)


def _size(planned: Looks, look: int, agreeing: int | None) -> int:
    """Samples a point at a look: as planned, but that the third at the latest is at what shows a formula's values."""
    if agreeing is None:
        return planned.size(look)
    before = next((k for k in range(1, PLAIN_LOOKS + 1) if planned.size(k) >= agreeing), PLAIN_LOOKS + 1)
    return planned.size(look) if look < before else int(agreeing * EFFORT_STEP ** (look - before))


def sampled_rates(
    case: Case,
    settings: Sequence[tuple[dict[str, float], Sampler, float]],
    *,
    quantity: str,
    deciding: str | None,
    looks: tuple[int, Share] | None = None,
    formula: SampledFormula | None = None,
) -> dict[str, RateEvidence]:
    """Exponents of a variance; draws until the claim's bound is decided in the deciding variable.

    ``settings`` are variables, a stream and the exact variance at each point, towards the limit; ``looks`` the samples
    a point at the first look, and what all looks may spend. Without a deciding variable it measures in support, at the
    second look.

    Samples that have the values of the ``formula`` that gives the exact variances are decided by its orders. Others are
    refuted within the class that is known of it, or that of powers that bend once; what one look refutes so the next
    one must refute, too: another law may look like one of the class early. What is asked with more effort is not
    supported by fewer samples than that is for.
    """
    first, share = looks or (RATE_BLOCK, case.share)
    planned = Looks(first, share.error)
    agreeing = _agreeing(settings, planned) if formula and deciding in formula.orders else None
    refuted_at = -1
    while True:
        look = max(1, settings[0][1].look)
        estimates: list[SweepEstimate] = []
        laws: list[Taken] = []
        for at, sampler, predicted in settings:
            sampler.look = look
            moments = sampler.reach(_size(planned, look, agreeing))
            taken = law_of_variance(moments, planned.spends(look), base="exponent (log chi-square)")
            dof = float(len(moments.mean) * (moments.count - 1)) * taken.worth
            estimates.append(
                SweepEstimate(at=at, value=moments.variance, dof=dof, samples=moments.count, predicted=predicted)
            )
            laws.append(taken)
        spent = replace(share, error=planned.spends(look))
        role: Role = "conclusion" if deciding is not None else "support"
        fitted = fit_power_law(estimates, spent, quantity=quantity, role=role)
        rates = {
            name: held_to_formula(bent(rate), estimates, spent, formula.orders.get(name) if formula else None)
            for name, rate in fitted.items()
        }
        if formula and formula.known and deciding is not None:
            rates[deciding] = in_class(rates[deciding], estimates, spent, formula.known)
        # The sequence as a whole may err with the share it was given.
        worst = min(laws, key=lambda taken: taken.worth)
        stated = {"error_rate": share.error, "law": worst.law, "checked": worst.checked}
        judged = {name: rate.model_copy(update=stated) for name, rate in rates.items()}
        if deciding is None:
            if look == 2:
                return judged
        else:
            verdict = str(decide(case.bound, [judged[deciding]]).verdict)
            if verdict == "REFUTED" and refuted_at != look - 1 and not has_its_values(judged[deciding]):
                refuted_at = look
            elif (
                verdict == "REFUTED"
                or (verdict == "SUPPORTED" and look > share.level)
                or look >= RATE_LOOKS + share.level + (RATE_FURTHER if worst.worth < 1 else 0)
            ):
                return judged
        settings[0][1].look += 1
