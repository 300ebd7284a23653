"""Hypotheses the paper does not list, each with an exact problem that has all it lists and not its conclusion.

An instance here says which listed hypotheses it was held to, and how far the conclusion is from holding: a sequence
that the conclusion would bound, and that grows without bound or stays above what is asserted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from spec import InvalidInputError, Quadratic, parse_problem
from spec.atlas import find
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.finite_laws import ZERO, ExactOracle, LawOutcome, exactly, mean, variance
from verify.truth.algebra.rationals import blocks, is_positive_definite
from verify.truth.formulas import as_float
from verify.truth.functions import WeightedAbsolute
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.point_values import PointValues
from verify.truth.stages import DEFAULT_LAM_WIDTH

ALPHAS = tuple(Fraction(1, 4**k) for k in range(2, 7))
GROWTH = Fraction(3, 2)
"""Least factor from each α to the next, a quarter of it, that counts as growing without bound."""
SIGMA = Fraction(1, 10)
RADIUS = 1.0
"""Goldstein radius of a run that starts five of it away from the nearer kink."""


@dataclass(frozen=True)
class Missing:
    """One hypothesis not listed: what was held of those listed, and the conclusion's excess at each α.

    The excess is what the conclusion asserts to be bounded, in units of the asserted bound. ``presupposed`` says why
    what is listed says nothing of the problem: it takes the hypothesis for granted, and the problem is no case of it.
    """

    name: str
    listed: bool
    excess: tuple[Fraction, ...]
    presupposed: str = ""

    @property
    def needed(self) -> bool:
        """Whether the problem shows that what is listed is not enough: a case of it that breaks the conclusion."""
        return self.breaks and not self.presupposed

    @property
    def breaks(self) -> bool:
        """Whether all that is listed and says something holds and the excess grows, or there is no value at all."""
        grows = all(b >= GROWTH * a > 0 for a, b in zip(self.excess, self.excess[1:], strict=False))
        return self.listed and grows


def _quadratic(data: dict[str, Any]) -> Quadratic:
    return quadratic_of(parse_problem({"kind": "quadratic", **data}))


def smooth_hessian() -> Missing:
    """Bias over α for g = y²/2 + xy + xy|y|^(1/4) at x = 0, f = y: exactly α^(-1/2).

    The penalty minimiser is -α², ∇_xg(0, y) = y + y|y|^(1/4), ∇F = -1. At fourth powers all of it is rational. A
    second coordinate of y, held by a row without x, adds nothing to either gradient; LICQ is about that row.
    """
    rows = {"A": [[0]], "B": [[1]], "b": [-1]}
    beside = _quadratic({"f": {"x": [0], "y": [0]}, "g": {"yy": [[1]]}, "constraints": rows})
    held = lower_level.solve(beside, (ZERO,))
    adds_nothing = lower_level.hypergradient(beside, (ZERO,)) == (ZERO,)
    excess, listed = [], held.licq and held.lam == (Fraction(1),) and adds_nothing
    for root in (Fraction(1, 2**k) for k in range(1, 6)):
        alpha = root**2
        y = -(alpha**2)
        estimate = (y + y * root) / alpha**2
        excess.append(abs(estimate + 1) / alpha)
        # ∇²_yy g = 1 at x = 0, and ∂_y∂_x g = 1 + (5/4)|y|^(1/4) is bounded near it: Lipschitz gradients.
        listed = listed and 1 + Fraction(5, 4) * root <= 2
    return Missing("a Hessian of g that is Hölder of order one half", listed, tuple(excess))


def strict_complementarity() -> Missing:
    """F = min(x, 0) beside its kink, multiplier α²ε_λ: the bias over α, one row, gradients Lipschitz, LICQ."""
    instance, excess, listed = find("toy2"), [], True
    for alpha in ALPHAS:
        there = instance.at(alpha**2 * DEFAULT_LAM_WIDTH)
        oracle = ExactOracle.at(there, alpha)
        listed = listed and oracle.lower.licq and oracle.lower.strict_complementarity
        excess.append(abs(oracle.error()[0]) / alpha)
    return Missing("multipliers bounded away from 0", listed, tuple(excess))


def common_draws() -> Missing:
    """One sample with a draw of ±σ for each of its three gradients: its variance over the oracles' σ²."""
    excess = []
    for alpha in ALPHAS:
        signs = product((1, -1), repeat=3)
        law = [LawOutcome(Fraction(1, 8), (SIGMA * (a + alpha**-2 * (b - c)),)) for a, b, c in signs]
        excess.append(variance(law) / SIGMA**2)
    draws = [LawOutcome(Fraction(1, 2), (sign * SIGMA,)) for sign in (1, -1)]
    listed = mean(draws) == (ZERO,) and variance(draws) <= SIGMA**2
    return Missing("one draw for both points of a sample", listed, tuple(excess))


def mean_square_smoothness() -> Missing:
    """Noise σ(1[y > ζ] - y), ζ uniform on [0, 1], one draw for both points a distance α² apart: variance over σ²."""
    excess, listed = [], True
    for alpha in ALPHAS:
        y, star = Fraction(1, 2) + alpha**2, Fraction(1, 2)
        cells = [(star, 1, 1), (y - star, 1, 0), (1 - y, 0, 0)]
        noise = [LawOutcome(width, (SIGMA * (a - y), SIGMA * (b - star))) for width, a, b in cells]
        around = mean(noise)
        listed = listed and around == (ZERO, ZERO) and max(o.value[0] ** 2 for o in noise) <= SIGMA**2
        excess.append(
            variance([LawOutcome(o.weight, (alpha**-2 * (o.value[0] - o.value[1]),)) for o in noise]) / SIGMA**2
        )
    return Missing("noise that moves with y no faster than y", listed, tuple(excess))


def whole_space() -> Missing:
    """F = |x| on X = [1, 2], its row active there: dist(0, ∂F) over ε, the least over X, and no step stays at 1.

    F is Lipschitz and at least F(0) = 0 on all of the space, so that the theorem's number of steps is finite.
    """
    problem = _quadratic(
        {"f": {"x": [-1], "y": [2]}, "g": {"yy": [[1]]}, "constraints": {"A": [[1]], "B": [[1]], "b": [0]}}
    )
    inside = [1 + Fraction(k, 4) for k in range(5)]
    slopes = [lower_level.hypergradient(problem, (x,)) for x in inside]
    lowers = [lower_level.solve(problem, (x,)) for x in inside]
    listed = is_positive_definite(blocks(problem).g_yy)
    listed = listed and all(one.licq and one.active and one.strict_complementarity for one in lowers)
    values = {x: _value(problem, x) for x in (*inside, ZERO, Fraction(-1))}
    listed = listed and min(values.values()) == values[ZERO] == 0
    nearest = min(abs(slope) for (slope,) in slopes)
    # A step against the slope from the solution leaves X: nothing in the method holds it back.
    leaves = min(inside) - Fraction(1, 100) * slopes[0][0] < min(inside)
    return Missing("X all of the space", listed and leaves, tuple(nearest / alpha for alpha in ALPHAS))


def _value(problem: Quadratic, x: Fraction) -> Fraction:
    """F at a point."""
    return PointValues(problem).value("f", (x,), lower_level.solve(problem, (x,)).y_star)


def feasible_everywhere() -> Missing:
    """Two rows that no y satisfies, strongly convex g and linear f: no solution, hence no bound on any distance.

    LICQ and the Lipschitz bound are about y*(x) at every x: where there is none they say nothing, and neither does a
    problem without one of whether they are enough.
    """
    instance = find("infeasible")
    problem = quadratic_of(instance.problem)
    convex = is_positive_definite(blocks(problem).g_yy)
    name = "rows that some y satisfies at every x"
    try:
        lower_level.solve(problem, instance.x)
    except InvalidInputError:
        return Missing(name, convex, (), "LICQ and the Lipschitz bound are about y*(x), and there is none")
    return Missing(name, convex, (ZERO, ZERO))


LEDGER: tuple[Callable[[], Missing], ...] = (
    smooth_hessian, strict_complementarity, common_draws, mean_square_smoothness, whole_space, feasible_everywhere,
)  # fmt: skip


@check("stochastic-oracles/assumptions-complete", instances=("toy1",))
def complete_list(case: Case) -> Measurement:
    """Problems with all that is listed and not the conclusion, as written; hypotheses no such problem asks for."""
    problems = [make() for make in LEDGER]
    needed = [one.name for one in problems if one.needed]
    added = [one.name for one in problems if not one.presupposed]
    values: dict[str, float | str] = {
        one.name: f"{float(one.excess[0]):.3g} … {float(one.excess[-1]):.3g}" if one.excess else "no solution"
        for one in problems
    }
    values |= {f"presupposed: {one.name}": one.presupposed for one in problems if one.presupposed}
    if case.as_written:
        name, count = "number of problems that have all that is listed and break a conclusion", len(needed)
    else:
        name, count = "number of hypotheses added that no problem asks for", len(added) - len(needed)
    note = "In units of the bound asserted: bias over α, variance over σ², distance over ε, as α or ε falls fourfold."
    return Measurement((exactly(name, count),), values, note)


def stationary_at_a_kink() -> Missing:
    """F = |x|, radius below α²ε_λ: where the estimate's mean is 0 the distance over ε is 1/ε, α = ε."""
    instance, excess, listed = find("kink"), [], True
    for alpha in ALPHAS:
        x = balanced(alpha)
        there = instance.at(x)
        oracle = ExactOracle.at(there, alpha)
        listed = listed and oracle.estimate() == (ZERO,) and oracle.lower.licq
        excess.append(abs(oracle.grad_F[0]) / alpha)
    return Missing("a bias hypothesis that holds beside kinks", listed, tuple(excess))


def balanced(alpha: Fraction) -> Fraction:
    """The point beside the kink of |x| at which both pieces weigh the same: the one with multiplier α²ε_λ."""
    for x in (-(alpha**2) * DEFAULT_LAM_WIDTH, alpha**2 * DEFAULT_LAM_WIDTH):
        if ExactOracle.at(find("kink").at(x), alpha).estimate() == (ZERO,):
            return x
    raise InvalidInputError("alpha", "must leave a balanced point", str(alpha))


def along_segments() -> Missing:
    """F = |x₁| + |x₂| from (0, 5), answers 0 where F has no gradient: no run moves, and the distance over ε is 1/ε."""
    x = [ZERO, Fraction(5)]
    step = [ZERO, ZERO]
    for _ in range(20):
        x = [a + b for a, b in zip(x, step, strict=True)]
        answer = [ZERO, ZERO] if ZERO in x else [Fraction(1 if value > 0 else -1) for value in x]
        step = [b - Fraction(1, 7) * g for b, g in zip(step, answer, strict=True)]
    distance = Fraction(float(WeightedAbsolute((1.0, 1.0)).distance(as_float(x), RADIUS)))
    rests = not any(step)
    return Missing("gradients along the segments of a run", rests, tuple(distance / alpha for alpha in ALPHAS))


OF_THE_TOTAL: tuple[Callable[[], Missing], ...] = (
    whole_space, feasible_everywhere, stationary_at_a_kink, along_segments,
)  # fmt: skip


@check("sfo-complexity/hypotheses", instances=("kink",))
def hypotheses_of_the_total(case: Case) -> Measurement:
    """Problems with finite data that no number of calls brings to distance O(ε); or hypotheses none of them needs."""
    problems = [make() for make in OF_THE_TOTAL]
    # Nothing is listed there that a problem could be no case of.
    needed = sum(one.breaks for one in problems)
    if case.as_written:
        name, count = "number of problems that stay at a fixed distance at every count of calls", needed
    else:
        name, count = "number of hypotheses added that no problem asks for", len(problems) - needed
    values: dict[str, float | str] = {one.name: "asked for" if one.breaks else "not asked for" for one in problems}
    return Measurement((exactly(name, count),), values)
