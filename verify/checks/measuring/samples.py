"""Sampled estimates of a subject around their exact means, as streams with moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spec import Noise, OracleParameters
from spec.exact import Vector
from verify.checks.measuring.case import Case
from verify.checks.measuring.starts import at_truth, frozen
from verify.evidence.budget import Share
from verify.evidence.model import RateEvidence
from verify.evidence.moments import Moments, Scatter
from verify.evidence.power_laws import Estimate, Role, fit_power_law
from verify.evidence.sequential import Looks
from verify.evidence.streams import BLOCK, Sampler, Streams
from verify.subjects.protocol import Call
from verify.truth.geometry import Geometry
from verify.truth.pair import Truth
from verify.verdict import decide

ADDITIVE = Noise(model="additive", sigma_f="1/10", sigma_g="1/10")  # type: ignore[arg-type]  # exact spellings are parsed
MATRIX = Noise(model="matrix", sigma_f="1/10", sigma_g="1/10")  # type: ignore[arg-type]  # as above
JUMP = Noise(model="jump", sigma_f=0, sigma_g=1)
F_ONLY, G_ONLY = ("f.x", "f.y"), ("g.x", "g.y")
RATE_BLOCK = 1 << 11
"""Samples a block where a rate is wanted: most rates are decided by a few thousand."""
RATE_LOOKS = 4
"""Looks at a rate before it is left undecided: 2, 8, 32 and 128 thousand samples a point."""


@dataclass(frozen=True)
class Setting:
    """Where the estimator is sampled.

    Args:
        case: With the noise to be used on its instance.
        geometry: Penalty geometry at the exact pair.
        call: With every stage given.
    """

    case: Case
    geometry: Geometry
    call: Call

    @classmethod
    def at(cls, case: Case, truth: Truth, alpha: float, noise: Noise, *, N_g: int = 1) -> Setting:
        """At the exact pair and the exact penalty minimiser."""
        noisy = replace(case, instance=case.instance.with_noise(noise))
        geometry, call = at_truth(noisy, truth, alpha)
        parameters = OracleParameters(N_g=N_g)
        given = replace(call, rho=geometry.rho, y_penalty=geometry.minimiser, parameters=parameters)
        return cls(noisy, geometry, given)

    @classmethod
    def oracle(cls, case: Case, truth: Truth, noise: Noise, *, x: Vector, y: Vector, apart: Vector) -> Setting:
        """The bare oracles: alpha = 1, no rows; the two points of a sample are ``y`` and ``y + apart``."""
        noisy = replace(case, instance=case.instance.with_noise(noise))
        noisy.__dict__["x"] = x
        zero = np.zeros(len(truth.lam))
        geometry, _ = at_truth(noisy, truth, 1.0)
        geometry = replace(geometry, x=x, y_star=y, lam=zero, rho=zero)
        call = noisy.call(1.0, y_star=y, lam=zero, rho=zero, y_penalty=y + apart)
        return cls(noisy, geometry, call)

    @property
    def mean(self) -> Vector:
        """Exact mean of an estimate given its stages, shape (n,), from the formula alone."""
        geometry = self.geometry
        y = self.call.y_penalty if self.call.y_penalty is not None else geometry.minimiser
        # At the exact pair the active rows are 0, not what rounding leaves of them.
        h = np.where(geometry.rho > 0, 0.0, geometry.h)
        return geometry.lagrangian.estimate(y, "frozen" if frozen(self.case) else "cancelled", h)

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
        """A stream of estimates.

        Args:
            block: Samples a block.
            scale: Factor on the deviations from the exact mean.
            group: Consecutive estimates whose deviations are added up to one.
            around: Centre of the moments, shape (n,), instead of the exact mean.
            together: Whether it also keeps how components vary together.
        """
        mean = self.mean if around is None else around

        def draw(rng: np.random.Generator, count: int) -> Vector:
            made = self.draw(rng, count * group)
            if group > 1 or scale != 1.0:
                deviations = (made - mean).reshape(count, group, -1).sum(axis=1)
                made = mean + scale * deviations
            return made

        moments = Scatter(mean) if together else Moments(mean)
        return self.case.ledger.keep(Sampler(draw, Streams.of(self.case.rng), moments, block))


def second_moment(setting: Setting, noise: Noise) -> float:
    """Exact variance of one sample given its stages, from the noise model alone; additive and matrix noise."""
    geometry, call = setting.geometry, setting.call
    x, y_star = geometry.x, geometry.y_star
    y = call.y_penalty if call.y_penalty is not None else geometry.minimiser
    n, alpha_1 = len(x), geometry.weights.alpha_1
    s_f, s_g = noise.scale("f.x") ** 2, noise.scale("g.x") ** 2
    independent = setting.case.reading.noise_pairing == "independent"
    if noise.model == "matrix":
        apart = float(2 * x @ x + y @ y + y_star @ y_star) if independent else float((y - y_star) @ (y - y_star))
        return n * s_f * float(x @ x + y @ y) + n * alpha_1**2 * s_g * apart
    return n * (s_f + (2 * alpha_1**2 * s_g if independent else 0.0))


def sampled_rates(
    case: Case,
    settings: Sequence[tuple[dict[str, float], Sampler, float]],
    *,
    quantity: str,
    deciding: str | None,
    first: int | None = None,
    share: Share | None = None,
) -> dict[str, RateEvidence]:
    """Exponents of a variance; draws until the claim's bound is decided in the deciding variable.

    Args:
        case: For its share and its bound.
        settings: Variables, a stream and the exact variance at each point, in the order towards the limit.
        quantity: What is measured.
        deciding: Variable whose exponent decides; ``None`` measures in support, at the second look.
        first: Samples a point at the first look; :data:`RATE_BLOCK` if ``None``.
        share: What the sequence may spend, if not the case's own share.
    """
    share = share or case.share
    looks = Looks(first or RATE_BLOCK, share.error)
    while True:
        look = max(1, settings[0][1].look)
        estimates = []
        for at, sampler, predicted in settings:
            sampler.look = look
            moments = sampler.reach(looks.size(look))
            dof = float(len(moments.mean) * (moments.count - 1))
            estimates.append(
                Estimate(at=at, value=moments.variance, dof=dof, samples=moments.count, predicted=predicted)
            )
        spent = replace(share, error=looks.spends(look))
        role: Role = "conclusion" if deciding is not None else "support"
        rates = fit_power_law(estimates, spent, quantity=quantity, role=role)
        # The sequence as a whole may err with the share it was given.
        made = {name: rate.model_copy(update={"error_rate": share.error}) for name, rate in rates.items()}
        if deciding is None:
            if look == 2:
                return made
        elif look >= RATE_LOOKS + share.level or str(decide(case.bound, [made[deciding]]).verdict) != "INCONCLUSIVE":
            return made
        settings[0][1].look += 1
