"""The largest alpha at which a call's certificate allows what is wanted, and the stop of its minimiser."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from f2csa_ref.algorithm_1 import Hypergradient, OracleCall, oracle
from f2csa_ref.certificate.active_piece import Piece, likely_rows, spectral
from f2csa_ref.certificate.map_constants import Assumed, has_second_derivatives
from f2csa_ref.lower_level import LowerLevelSolution, lower_level_solver
from f2csa_ref.objectives import Objectives, QuadraticObjectives
from f2csa_ref.second_derivatives.curvature import curvature
from spec.errors import InvalidInputError
from spec.exact import Vector

SMALLEST, LARGEST = 1e-7, 0.5
"""Alphas tried; the largest also keeps L strongly convex."""
ATTEMPTS = 12
AIM = 0.7
"""Alpha is chosen for this much of what is allowed."""
SLACK = 10.0
"""A bound so many times below what is allowed is worth a larger alpha."""
STOP = 0.05
"""Of what is allowed, for the gradient that the penalty minimiser leaves."""
BALANCED = 1e-3
"""Where rounding and bias are often alike: next to be tried where rounding spoils a smaller alpha."""
NEAR = 2.0
"""Alphas around the one of the least bound closer than this factor are not told apart."""
MOST_STEPS, MORE_STEPS = 10**6, 4
"""Of an iteration for the lower level: the most, and the factor by which they are raised."""
REACHED, FLOOR = "reached", "no alpha tried gives a smaller bound"
ROUNDED, KEPT = "rounding leaves no smaller bound at any alpha tried", "the reading keeps the dual term in the estimate"
FAR = "the lower level's pair is not close enough"


@dataclass(frozen=True)
class Try:
    """One run of lines 4 to 7; ``value`` is the bound, near a kink the distance from the hull, inf without either."""

    alpha: float
    tol: float
    estimate: Hypergradient
    value: float
    why_not: str

    @property
    def rounded(self) -> bool:
        """Whether rounding stopped the minimiser, or makes up half of the bound."""
        c, penalty = self.estimate.certificate, self.estimate.penalty
        stopped = penalty is not None and penalty.status == "floor"
        return stopped or (c is not None and 2 * c.terms.get("rounding", 0.0) > self.value)


class Search:
    """The alphas tried at one point with one solution of the lower level, until a bound is at most ``allowed``."""

    def __init__(self, q: Objectives, x: Vector, call: OracleCall, assumed: Assumed, allowed: float) -> None:
        self.q, self.x, self.call, self.assumed, self.allowed = q, x, call, assumed, allowed
        self.largest = LARGEST if q.C_f == 0 else min(LARGEST, math.sqrt(q.mu_g / (2 * q.C_f)))
        self.tries: list[Try] = []
        self.attempts = 0
        self.counts, self.certificate_counts = Counter[str](), Counter[str]()

    def solve_lower_level(self, rng: np.random.Generator | None) -> None:
        """Line 3; what was tried with an earlier pair is forgotten."""
        solver = lower_level_solver(self.q, self.call.reading, self.call.parameters, rng, None)
        self.lower: LowerLevelSolution = solver(self.q, self.x)
        self.counts.update(self.lower.counts, lower_level_solves=1)
        self.tries = []

    def can_refine(self) -> bool:
        """Whether line 3 can do better, by more steps; then they are raised."""
        parameters = self.call.parameters
        steps = MORE_STEPS * parameters.lower_level_steps
        if parameters.lower_level != "primal-dual" or self.lower.status == "diverged" or steps > MOST_STEPS:
            return False
        if not any(math.isfinite(one.value) for one in self.tries):
            return False
        self.call = replace(self.call, parameters=parameters.model_copy(update={"lower_level_steps": steps}))
        return True

    def best(self) -> tuple[Try, str]:
        """The largest alpha tried at which the value is as allowed, else that of the least, and why it is not."""
        sizes = SearchSizes.at(self.q, self.x, self.lower, self.call.parameters.lam_width, self.assumed)
        alpha: float | str = self.call.alpha or sizes.alpha(AIM * self.allowed)
        while isinstance(alpha, float):
            alpha = min(max(alpha, SMALLEST), self.largest)
            self.tries.append(self._tried(alpha, sizes.tol(STOP * self.allowed, alpha)))
            alpha = self._next(self.tries[-1])
        reached = [one for one in self.tries if one.value <= self.allowed]
        if reached:
            best = max(reached, key=lambda one: one.alpha)
            return best, best.why_not
        best = min(self.tries, key=lambda one: one.value)
        return best, best.why_not or (self._floor(best) if alpha == FLOOR else alpha)

    def following(self, attempt: Try) -> float:
        """Where to begin at a point nearby."""
        if not 0 < attempt.value < math.inf:
            return attempt.alpha
        return min(max(attempt.alpha * min(max(self._factor(attempt, 2.0), 0.5), 2.0), SMALLEST), self.largest)

    def _tried(self, alpha: float, tol: float) -> Try:
        call, lower = self.call, self.lower
        given = replace(call.given, y_star=lower.y_star, lam=lower.lam)
        call = replace(call, alpha=alpha, tol=tol, given=given, certify=self.assumed)
        self.attempts += 1
        if lower.status == "diverged":
            estimate = oracle(self.q, self.x, replace(call, certify=None), noisy=False)
            return Try(alpha, tol, estimate, math.inf, "the lower level's iteration diverged")
        try:
            estimate = oracle(self.q, self.x, call, noisy=False)
        except InvalidInputError as error:
            if not error.argument.startswith("certify."):
                raise
            estimate = oracle(self.q, self.x, replace(call, certify=None), noisy=False)
            self.counts.update(estimate.counts)
            return Try(alpha, tol, estimate, math.inf, f"{error.argument.removeprefix('certify.')} {error.rule}")
        c = estimate.certificate
        assert c is not None  # asked for
        self.counts.update(estimate.counts)
        self.certificate_counts.update(c.counts)
        if c.applies:
            return Try(alpha, tol, estimate, c.bound, "")
        self.certificate_counts.update({} if c.hull is None else c.hull.counts)
        return Try(alpha, tol, estimate, math.inf if c.hull is None else c.hull.distance, c.why_not)

    def _next(self, one: Try) -> float | str:
        """The next alpha, or why there is none."""
        earlier = self.tries[:-1]
        if not math.isfinite(one.value):
            # The ball in which a Hölder problem's constants hold is left by large alphas alone.
            left = "constants hold only" in one.why_not and len(earlier) < 3 and one.alpha / 4 > SMALLEST
            return one.alpha / 4 if left else one.why_not
        if one.value <= self.allowed:
            tight = one.why_not or one.value * SLACK >= self.allowed or one.alpha >= self.largest
            if tight or any(other.value > self.allowed for other in earlier):
                return REACHED
            return one.alpha * min(self._factor(one, self._power()), 10.0)
        if any(other.value <= self.allowed for other in earlier):
            return REACHED
        if len(self.tries) == ATTEMPTS:
            return f"{ATTEMPTS} alphas did not reach it"
        worse = any(other.alpha > one.alpha and 1.05 * other.value < one.value for other in earlier)
        if worse or one.alpha <= SMALLEST or any(other.rounded for other in self.tries):
            return self._around_the_least()
        return max(SMALLEST, one.alpha * min(max(self._factor(one, self._power()), 1 / 30), 0.7))

    def _around_the_least(self) -> float | str:
        """An alpha next to that of the least value, on a side that has not been tried."""
        best = min(self.tries, key=lambda one: one.value)
        above = min((one.alpha for one in self.tries if one.alpha > best.alpha), default=None)
        below = max((one.alpha for one in self.tries if one.alpha < best.alpha), default=None)
        if above is None and best.alpha < self.largest:
            return min(self.largest, max(4 * best.alpha, BALANCED))
        if below is None and best.alpha > SMALLEST:
            return max(SMALLEST, best.alpha / 4)
        if above is not None and above > NEAR**2 * best.alpha:
            return math.sqrt(above * best.alpha)
        if below is not None and best.alpha > NEAR**2 * below:
            return math.sqrt(below * best.alpha)
        return FLOOR

    def _floor(self, best: Try) -> str:
        """Why no alpha gives a smaller bound."""
        if float(np.linalg.norm(best.estimate.terms["dual"])) > self.allowed:
            return KEPT
        if self.call.parameters.lower_level == "primal-dual" and not best.rounded:
            return FAR
        return ROUNDED if any(one.rounded for one in self.tries) else FLOOR

    def _power(self) -> float:
        """Of alpha in the value, by the last two tries."""
        pairs = [(one.alpha, one.value) for one in self.tries[-2:] if 0 < one.value < math.inf]
        if len(pairs) < 2 or pairs[0][0] == pairs[1][0]:
            return 2.0
        (a, of_a), (b, of_b) = pairs
        return min(max(math.log(of_b / of_a) / math.log(b / a), 0.5), 4.0)

    def _factor(self, one: Try, power: float) -> float:
        return (AIM * self.allowed / one.value) ** (1 / power) if one.value > 0 else math.inf


@dataclass(frozen=True)
class SearchSizes:
    """What a first alpha and a stop are chosen by: guesses where norms are not known, which no bound rests on.

    ``slope`` is the length of grad_y f at the pair, ``weight`` the least of the likely rows' weights.
    """

    slope: float
    D_c: float
    L_y: float
    L_lam: float
    sigma: float
    weight: float
    mu_g: float
    C_g: float

    @classmethod
    def at(cls, q: Objectives, x: Vector, lower: LowerLevelSolution, lam_width: float, assumed: Assumed) -> SearchSizes:
        y, lam = lower.y_star, lower.lam
        if lower.status == "diverged":
            return cls(1.0, 0.0, 1.0, 0.0, math.inf, 1.0, q.mu_g, q.C_g)
        piece = Piece(q, likely_rows(q, x, y, lam))
        if not piece.sigma > 0:
            piece = Piece(q, ())
        g_xy = assumed.g_xy
        if g_xy is None:
            g_xy = spectral(curvature(q, x, y).xy) if has_second_derivatives(q) else q.C_g
        f_xy = spectral(q.f_xy) if isinstance(q, QuadraticObjectives) else assumed.f_xy or q.C_f
        L_y, L_lam = piece.response(g_xy, spectral(piece.A))
        L_y = L_y if assumed.L_y is None else assumed.L_y
        weight = float(np.clip(lam[list(piece.rows)] / lam_width, 1e-12, 1.0).min(initial=1.0))
        slope = float(np.linalg.norm(q.grad_y_f(x, y)))
        return cls(slope, f_xy + L_y * q.C_f, L_y, L_lam, piece.sigma, weight, q.mu_g, q.C_g)

    def alpha(self, error: float) -> float:
        """The alpha at which the bound of the bias is the error; 0.1 where there is no bias."""
        of_square = self.slope * (
            self.D_c / self.mu_g + self.L_lam * math.sqrt(self.C_g / self.mu_g) / (self.weight * self.sigma)
        )
        return math.sqrt(error / of_square) if of_square > 0 else 0.1

    def tol(self, error: float, alpha: float) -> float:
        """The gradient norm whose part of the error is at most that."""
        moved = alpha**2 * self.D_c + alpha * self.L_lam * math.sqrt(self.mu_g / self.weight) / 2
        return error / max(self.L_y + moved / self.mu_g, 1e-300)
