r"""An oracle call whose certified error is at most what is wanted: alpha, stop and N_g follow from that.

Alpha first by the bias of an exact penalty minimiser,

.. math:: \alpha^2\,\|\nabla_y f\|\,\Big(\frac{\|f_{xy}\| + L_y C_f}{\mu_g}
          + \frac{L_\lambda\sqrt{\kappa_g}}{\rho\,\sigma}\Big) \le \text{error},

then by the certificates of the calls made: each names the bound at its alpha, and a power law through the last two the
next alpha. The minimiser stops where what it leaves is worth a twentieth of the error; y* and its multipliers are those
of one solve, again with more steps where the solver has steps to spend; N_g is the least whose noise radius fits into
what is left. Near a kink, where there is no bound, the distance from the pieces' gradients together takes its place,
and is called so.

Source: Lemma "Hypergradient Bias Bound", repaired (docs/theorems.md, ``bias_bound_alpha2``); a posteriori
:mod:`f2csa_ref.certificate.error_certificate`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from f2csa_ref.accuracy.alpha_search import Search
from f2csa_ref.algorithm_1 import Hypergradient, OracleCall
from f2csa_ref.certificate.confidence import noise_radius
from f2csa_ref.certificate.error_certificate import ErrorCertificate
from f2csa_ref.certificate.map_constants import Assumed
from f2csa_ref.libraries import scipy_late as sp
from f2csa_ref.objectives import Objectives, as_vector, double_range, objectives_of
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters, total
from f2csa_ref.sampling import DEFAULTS, mean_noise, require_rng
from spec.errors import InvalidInputError
from spec.exact import Vector
from spec.parameters import OracleParameters
from spec.problem import Problem
from spec.reading import REPAIRED, Reading

QUIET, QUIET_GROWING = 0.25, 0.5
"""Of the error, for all but noise; the latter where noise grows as alpha falls."""
MOST_SAMPLES = 10**6


@dataclass(frozen=True)
class Accuracy:
    """``|estimate - grad F(x)| <= error`` is wanted of every call, certified as ``assumed`` allows; ``error`` > 0.

    With noise each call keeps to it with probability >= ``assumed.level``, given its stages.
    """

    error: float
    assumed: Assumed = Assumed()  # noqa: RUF009  # frozen

    def __post_init__(self) -> None:
        if not 0 < self.error < math.inf:
            raise InvalidInputError("error", "must be > 0 and finite", self.error)

    def variance(self, n: int) -> float:
        """A bound of the trace of the noise's covariance in calls that keep to it: their noise radius is <= error."""
        return self.error**2 * max(n / float(sp.chdtri(n, 1 - self.assumed.level)), 1 - self.assumed.level)


@dataclass(frozen=True)
class AccurateAnswer:
    """An estimate with its certificate, and what it took.

    ``met`` says that the certified bound is at most the error wanted; if not, ``why_not`` says why. ``tol`` is the
    gradient norm at which the minimiser was to stop, ``N_g`` the samples averaged, ``attempts`` the runs of Algorithm 1
    from line 4 on. ``counts`` are the calls of all of them, ``certificate_counts`` those of their certificates.
    """

    estimate: Hypergradient
    accuracy: Accuracy
    alpha: float
    tol: float
    N_g: int = 1
    met: bool = False
    why_not: str = ""
    attempts: int = 1
    next_alpha: float = 0.1
    counts: dict[str, int] = field(default_factory=dict)
    certificate_counts: dict[str, int] = field(default_factory=dict)

    @property
    def certificate(self) -> ErrorCertificate:
        """The estimate's; without a bound where nothing could be certified."""
        return self.estimate.certificate or ErrorCertificate(why_not=self.why_not)

    @property
    def bound(self) -> float:
        """Certified bound of the error, inf without one."""
        return self.certificate.bound


def hypergradient_within(
    problem: Problem | Objectives,
    x: Vector,
    accuracy: Accuracy | float,
    *,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    rng: np.random.Generator | None = None,
) -> AccurateAnswer:
    r"""Estimate the hypergradient at x with a certified error of at most what is wanted, where that can be had.

    :math:`\|\nabla\tilde F(x) - \nabla F(x)\| \le` ``error``.

    Args:
        problem: Problem or objectives.
        x: Upper variable, shape (n,), finite.
        accuracy: The error, > 0, units of F per unit of x, or it with what a certificate may assume.
        reading: Resolution of the paper's open choices; ``inner_stop`` is overruled.
        parameters: As for :func:`hypergradient`; ``N_g`` is the least taken where there is noise.
        rng: Source of noise, where the problem is noisy.

    Returns:
        The estimate with alpha, N_g and its certificate; whether the bound is ``met`` and, if not, ``why_not``: a kink
        (then ``certificate.hull`` may say how far the pieces are), constants that were not told, rounding.

    Raises:
        InvalidInputError: As :func:`hypergradient`, or with a shared sample, whose noise is in every stage.

    Source: the module's. Differs from the paper: its alpha is of the order of the error, with no constant.

    Example:
        >>> import numpy as np
        >>> from spec import parse_problem
        >>> toy = parse_problem({"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]},
        ...                      "constraints": {"A": [[1]], "B": [[1]]}})
        >>> made = hypergradient_within(toy, np.ones(1), 1e-3)
        >>> made.met, bool(abs(made.estimate.hypergradient[0] - 1) <= made.bound <= 1e-3)
        (True, True)
    """
    q = objectives_of(problem)
    wanted = accuracy if isinstance(accuracy, Accuracy) else Accuracy(accuracy)
    return answer_within(q, as_vector(x, q.n, "x"), wanted, OracleCall(0.0, reading, parameters), rng)


def answer_within(
    q: Objectives, x: Vector, accuracy: Accuracy, call: OracleCall, rng: np.random.Generator | None
) -> AccurateAnswer:
    """The same, beginning at the call's alpha, or at one of its own where that is 0.

    Raises:
        InvalidInputError: As there.
    """
    noisy = q.noise.model != "none"
    if call.reading.inner_solver == "shared-sample" and call.parameters.lower_level == "primal-dual" and noisy:
        raise InvalidInputError("error", "cannot be certified with a shared sample: its noise is in every stage")
    if noisy:
        require_rng(rng)
    growing = q.noise.scale("g.x") > 0 and call.reading.noise_pairing == "independent"
    allowed = accuracy.error
    if noisy or accuracy.assumed.variance:
        allowed *= QUIET_GROWING if growing else QUIET
    once = replace(call, parameters=call.parameters.model_copy(update={"N_g": 1}))
    search = Search(q, x, once, accuracy.assumed, allowed)
    with double_range(q):
        while True:
            search.solve_lower_level(rng)
            best, why_not = search.best()
            met = not why_not and best.value <= allowed
            if met or not search.can_refine():
                break
        answer = AccurateAnswer(
            replace(best.estimate, lower_level=search.lower), accuracy, best.alpha, best.tol, 1, met, why_not,
            search.attempts, search.following(best), dict(search.counts), dict(search.certificate_counts),
        )  # fmt: skip
        return answer if allowed == accuracy.error else _with_noise(search, answer, call.parameters.N_g, rng)


def _with_noise(search: Search, answer: AccurateAnswer, least: int, rng: np.random.Generator | None) -> AccurateAnswer:
    """Line 6's samples, as many as their radius needs to fit beside the bound."""
    q, assumed, pairing = search.q, answer.accuracy.assumed, search.call.reading.noise_pairing
    one, c = answer.estimate, answer.certificate
    L = PenaltyLagrangian(q, search.x, penalty_parameters(answer.alpha), one.y_star, one.lam, one.rho)
    of_one = noise_radius(L, one.shift, pairing, 1, assumed.level, assumed.variance).radius
    near = c.bound if c.applies else c.hull.distance if c.hull is not None else math.inf
    left = answer.accuracy.error - (near if near < search.allowed else search.allowed)
    most = max(MOST_SAMPLES, least)
    needed = max(least, math.ceil(min(of_one / left, 2 * math.sqrt(most)) ** 2 * (1 + 1e-9)))
    N_g = min(needed, most)
    noise = noise_radius(L, one.shift, pairing, N_g, assumed.level, assumed.variance)
    terms = one.terms
    if q.noise.model != "none":
        noise_f, noise_g = mean_noise(L, one.shift, pairing, N_g, require_rng(rng))
        terms = terms | {"f": terms["f"] + noise_f, "g_difference": terms["g_difference"] + L.alpha.alpha_1 * noise_g}
    hull = c.hull
    if hull is not None:
        hull = replace(hull, distance=hull.distance + noise.radius, terms=hull.terms | {"noise": noise.radius})
    c = replace(c, bound=c.bound + noise.radius, terms=c.terms | {"noise": noise.radius}, noise=noise, hull=hull)
    short = "" if N_g == needed else f"more than {N_g:,} samples would be needed"
    estimate = replace(one, terms=terms, hypergradient=total(terms), certificate=c)
    counts = Counter(answer.counts)
    counts.update(grad_x_f=N_g, grad_x_g=2 * N_g)
    why_not = answer.why_not or short
    return replace(
        answer, estimate=estimate, N_g=N_g, met=answer.met and not short, why_not=why_not, counts=dict(counts)
    )
