"""Schedules of Algorithm 2: from stated constants, estimated where they are not given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, Protocol, get_args

import numpy as np
from pydantic import ValidationError

from f2csa_ref.algorithm_1 import OracleCall, checked_oracle
from f2csa_ref.algorithm_2 import Oracle, Projection
from f2csa_ref.lower_level import LowerLevelError, lower_level
from f2csa_ref.many.hypergradient_runs import hypergradient_samples
from f2csa_ref.objectives import Objectives, as_vector, objectives_of
from f2csa_ref.shared_sample import without_noise
from spec.errors import InvalidInputError, from_validation
from spec.exact import Vector
from spec.parameters import MIN_ALPHA, OuterParameters
from spec.problem import Problem

ScheduleName = Literal["paper", "repaired", "budget"]
ConstantName = Literal["lipschitz_F", "gap", "bias", "variance"]
PROBES = 40
"""Descent steps along which constants are estimated."""
DIRECTIONS = 4
"""Of the pairs of points around the start at which F and its slope are probed, too."""
NO_DROP = 1e-12
"""A drop of F below this fraction of 1 + |F| is rounding."""
VARIANCE_SAMPLES = 64
AVERAGED = 1 << 12
"""Most samples averaged in an answer whose variance is estimated."""


@dataclass(frozen=True)
class Constants:
    """What the schedules are derived from, and which of it was ``estimated``, by name.

    ``lipschitz_F`` > 0 holds where the method moves, ``gap`` is F(x_0) - inf F; ``bias`` and ``variance`` bound those
    of one oracle answer.
    """

    lipschitz_F: float  # noqa: N815  # the paper's letter
    gap: float
    bias: float
    variance: float
    estimated: tuple[str, ...] = ()

    @property
    def second_moment(self) -> float:
        """G² = (L_F + bias)² + variance."""
        return (self.lipschitz_F + self.bias) ** 2 + self.variance


def estimate_constants(
    problem: Problem | Objectives,
    x_0: Vector,
    call: OracleCall,
    *,
    rng: np.random.Generator,
    given: Mapping[ConstantName, float] = MappingProxyType({}),
    projection: Projection | None = None,
) -> Constants:
    """Fill in the constants that are not given, from a short descent with exact lower levels.

    Args:
        problem: Problem or objectives; without values of f the gap cannot be estimated.
        x_0: Start, shape (n,).
        call: The oracle's ``alpha``, ``reading`` and ``parameters``.
        rng: Source of the samples behind the variance.
        given: Known constants by name.
        projection: Keeps the descent in X, where the run will be kept there too.

    Returns:
        The constants; which are estimates is part of them. An estimated gap is that to the lowest point met, so it
        may be too small; an estimated L_F is the largest norm met, so it may be too.

    Raises:
        InvalidInputError: If x_0 breaks its rule, or F's values are needed and not offered.
    """
    return constants_by(
        Pages(objectives_of(problem)), x_0, call, rng=rng, given=given, where=Vicinity(projection or (lambda at: at))
    )


class Computing(Protocol):
    """How a run computes what it asks of a problem."""

    @property
    def q(self) -> Objectives:
        """The problem."""

    def answers(self, call: OracleCall, rng: np.random.Generator | None, *, noisy: bool = True) -> Oracle:
        """Algorithm 1 as a function of x, (n,) to (n,); without noise where that is asked for."""

    def value(self, x: Vector) -> float | None:
        """F(x); ``None`` where values of f are not offered."""


@dataclass(frozen=True)
class Pages:
    """By the pages, each call by itself."""

    q: Objectives

    def answers(self, call: OracleCall, rng: np.random.Generator | None, *, noisy: bool = True) -> Oracle:
        q = self.q if noisy else without_noise(self.q)
        return lambda x: checked_oracle(q, x, call, rng).hypergradient

    def value(self, x: Vector) -> float | None:
        return value_at(self.q, x)


@dataclass(frozen=True)
class Vicinity:
    """Where constants are estimated besides along a descent: in X, and in a ball around the start where one is given.

    ``radius`` is in units of x, > 0.
    """

    projection: Projection = lambda at: at  # the identity
    radius: float | None = None


def constants_by(
    how: Computing,
    x_0: Vector,
    call: OracleCall,
    *,
    rng: np.random.Generator,
    given: Mapping[ConstantName, float] = MappingProxyType({}),
    where: Vicinity = Vicinity(),  # frozen
) -> Constants:
    """As :func:`estimate_constants`, computed as the run itself computes.

    Raises:
        InvalidInputError: As there; with a radius also where a start looks stationary, or F constant, around it.
    """
    q = how.q
    x = as_vector(x_0, q.n, "x_0")
    names: tuple[ConstantName, ...] = get_args(ConstantName)
    constants: dict[ConstantName, float] = {}
    if "lipschitz_F" not in given or "gap" not in given:
        sampled = replace(call, parameters=call.parameters.model_copy(update={"N_g": VARIANCE_SAMPLES}))
        oracle = how.answers(sampled, rng)
        norm, drop = _descent(how, x, oracle, where.projection, need_values="gap" not in given)
        if where.radius is not None:
            norm, drop = _in_ball(how, x, oracle, where, (norm, drop))
            _require_seen({"lipschitz_F": norm, "gap": drop}, given, where.radius)
        constants = {"lipschitz_F": norm, "gap": drop}
    if "variance" not in given:
        constants["variance"] = 0.0
        if q.noise.model != "none" and call.reading.inner_solver != "shared-sample":
            # Samples are independent: a mean of more has so much less variance, and need not be drawn.
            N_g = call.parameters.N_g
            few = replace(call, parameters=call.parameters.model_copy(update={"N_g": min(N_g, AVERAGED)}))
            answers = hypergradient_samples(q, x, few, rng=rng, replications=VARIANCE_SAMPLES)
            constants["variance"] = float(answers.var(axis=0, ddof=1).sum()) * few.parameters.N_g / N_g
    if "bias" not in given:
        constants["bias"] = _bias(how, x, call)
    constants |= given
    constants["lipschitz_F"] = max(constants["lipschitz_F"], 1e-12)
    return Constants(**constants, estimated=tuple(name for name in names if name not in given))


def value_at(problem: Problem | Objectives, x: Vector) -> float | None:
    """F(x) = f(x, y*(x)) by an exact lower level; ``None`` where values of f are not offered."""
    q = objectives_of(problem)
    y_star = lower_level(q, x).y_star
    try:
        return q.f(x, y_star)
    except InvalidInputError:
        return None


def _descent(
    how: Computing, x: Vector, oracle: Oracle, projection: Projection, *, need_values: bool
) -> tuple[float, float]:
    """Largest hypergradient norm and largest drop of F along a backtracking descent."""
    start = how.value(x)
    if start is None:
        if need_values:
            raise InvalidInputError("gap", "must be given where the problem offers no values of f")
        return float(np.linalg.norm(oracle(x))), 0.0
    best, step, largest = start, None, 0.0
    longest = 1.0 + float(np.linalg.norm(x))
    for _ in range(PROBES):
        g = oracle(x)
        norm = float(np.linalg.norm(g))
        largest = max(largest, norm)
        if norm <= 1e-9:
            break
        # Steps are no longer than the first: F may fall without end.
        step = longest / norm if step is None else min(2 * step, longest / norm)
        for _ in range(PROBES):
            x_next = projection(x - step * g)
            there = _value_if_any(how, x_next)
            if there is not None and there < best:
                x, best = x_next, there
                break
            step /= 2
        else:
            break
    return largest, start - best


def _in_ball(
    how: Computing, x: Vector, oracle: Oracle, where: Vicinity, descent: tuple[float, float]
) -> tuple[float, float]:
    """What a descent found, or more of it around its start, where that is stationary or on a kink."""
    (norm, drop), projection, radius = descent, where.projection, where.radius or 0.0
    start, directions = how.value(x), np.random.default_rng(0).standard_normal((DIRECTIONS, len(x)))
    lowest: Vector | None = None
    for number, direction in enumerate(directions):
        reach = radius * (1 - number / DIRECTIONS) / float(np.linalg.norm(direction))
        for at in (projection(x + reach * direction), projection(x - reach * direction)):
            there = _value_if_any(how, at)
            if there is None and start is not None:
                continue
            with suppress(InvalidInputError, LowerLevelError):
                norm = max(norm, float(np.linalg.norm(oracle(at))))
            if start is not None and there is not None and start - there > drop:
                lowest, drop = at, start - there
    if start is None or drop <= NO_DROP * (1 + abs(start)):
        return norm, 0.0
    if lowest is None:
        return norm, drop
    # Past a hump: on from the lowest point met.
    further = _descent(how, lowest, oracle, projection, need_values=False)
    return max(norm, further[0]), drop + further[1]


def _require_seen(estimates: Mapping[ConstantName, float], given: Mapping[ConstantName, float], radius: float) -> None:
    """Refuse estimates from which no step size follows."""
    if "gap" not in given and not estimates["gap"] > 0:
        rule = f"must be given (--gap): no lower F was found from the start, nor within {radius:g} of it"
        raise InvalidInputError("gap", rule)
    if "lipschitz_F" not in given and not estimates["lipschitz_F"] > NO_DROP:
        rule = f"must be given (--lipschitz): no slope of F was found from the start, nor within {radius:g} of it"
        raise InvalidInputError("lipschitz_F", rule)


def _value_if_any(how: Computing, x: Vector) -> float | None:
    """F(x), or ``None`` where the lower level has no solution that can be found."""
    try:
        return how.value(x)
    except (InvalidInputError, LowerLevelError):
        return None


def _bias(how: Computing, x: Vector, call: OracleCall) -> float:
    """Change of the noise-free estimate when alpha is halved, 4/3 of it: exact to leading order for a bias ~ α²."""
    exact = replace(call, parameters=call.parameters.model_copy(update={"lower_level": "exact", "N_g": 1}))
    # At the least alpha allowed it is doubled instead.
    halved = call.alpha / 2 >= MIN_ALPHA
    alphas = (call.alpha, call.alpha / 2) if halved else (2 * call.alpha, call.alpha)
    coarse, fine = (how.answers(replace(exact, alpha=alpha), None, noisy=False)(x) for alpha in alphas)
    return (4.0 if halved else 1.0) / 3.0 * float(np.linalg.norm(coarse - fine))


def schedule(
    name: ScheduleName,
    constants: Constants,
    *,
    goldstein_radius: float,
    epsilon: float | None = None,
    calls: int | None = None,
) -> OuterParameters:
    """Derive the parameters of Algorithm 2.

    Args:
        name: ``paper`` or ``repaired``, the two theorems' for a target epsilon; ``budget``, the repaired bound
            C_0 / (radius K) + (2 G + sqrt V) / sqrt M minimised over K M = calls, epsilon being what it then says.
        constants: What they are derived from.
        goldstein_radius: Radius, units of x, > 0.
        epsilon: Target, for ``paper`` and ``repaired``.
        calls: Number of oracle calls, for ``budget``, >= 1.

    Raises:
        InvalidInputError: If an argument is missing or breaks its rule.
    """
    if name not in get_args(ScheduleName):
        raise InvalidInputError("schedule", f"must be one of {', '.join(get_args(ScheduleName))}", name)
    if name == "budget":
        if calls is None or calls < 1:
            raise InvalidInputError("calls", "must be >= 1 for the budget schedule", calls)
        try:
            return _within_budget(constants, goldstein_radius, calls)
        except (ArithmeticError, ValidationError):
            rule = "must stay within the range of doubles: give other constants, or rescale the problem"
            raise InvalidInputError("schedule", rule) from None
    if epsilon is None:
        raise InvalidInputError("epsilon", f"is required for the {name} schedule")
    common = {"goldstein_radius": goldstein_radius, "epsilon": epsilon,
              "lipschitz_F": constants.lipschitz_F, "gap": constants.gap}  # fmt: skip
    if name == "paper":
        return OuterParameters.paper(**common)
    return OuterParameters.repaired(**common, bias=constants.bias, variance=constants.variance)


def _within_budget(constants: Constants, radius: float, calls: int) -> OuterParameters:
    if not (radius > 0 and math.isfinite(radius)):
        raise InvalidInputError("goldstein_radius", "must be > 0 and finite", radius)
    decrease = max(constants.gap, 1e-12) / radius
    G = math.sqrt(constants.second_moment)
    regret = 2 * G + math.sqrt(constants.variance)
    M = min(calls, max(1, round((regret * calls / (2 * decrease)) ** (2 / 3))))
    K = max(1, calls // M)
    D = radius / M
    epsilon = decrease / K + regret / math.sqrt(M)
    return OuterParameters(goldstein_radius=radius, epsilon=epsilon, D=D, eta=2 * D / (G * math.sqrt(M)), M=M, K=K)


def with_overrides(parameters: OuterParameters, **changes: float | int | None) -> OuterParameters:
    """The same schedule with some of M, K, eta set by hand; D follows from M.

    Raises:
        InvalidInputError: If a value is out of range.
    """
    overrides = {key: value for key, value in changes.items() if value is not None}
    if not overrides:
        return parameters
    if overrides.get("M", 1) < 1:
        raise InvalidInputError("M", "must be >= 1", overrides["M"])
    fields = parameters.model_dump() | overrides
    try:
        return OuterParameters(**fields | {"D": fields["goldstein_radius"] / fields["M"]})
    except ValidationError as error:
        raise from_validation(error, "schedule") from None
