"""Each mistake as exact numbers: what an implementation with it would answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import fmpq_mat

from spec import AS_WRITTEN, REPAIRED, InvalidInputError, Problem, Quadratic, Reading, parse_problem
from verify.conformance.bugs.catalogue import ROWS
from verify.conformance.bugs.model import Rules
from verify.truth import lower_level
from verify.truth.algebra.numbers import Real, ball, dyadic
from verify.truth.algebra.rationals import Vector, beside, column, fractions, select
from verify.truth.stages import Setting, evaluate, minimiser, weights

ENOUGH = 10.0
"""Tolerances away from which a bug counts as shown."""
MOST = 1e18
"""Largest separation written; beyond it only says: far."""
Answer = Mapping[str, tuple[Real, ...]]
Wrong = Iterator[tuple[str, Callable[[], Answer]]]


def shown_at(stage: str) -> Iterator[tuple[str, Rules]]:
    """Flags of bugs that vectors of a stage are held against, with their rules."""
    for bug in ROWS:
        if bug.flag is not None and stage in bug.flag.at:
            yield bug.flag.id or bug.id, bug.flag.rules or bug.rules


def of_lower_level(setting: Setting) -> Wrong:
    """Wrong lower-level pairs."""
    for flag, rules in shown_at("lower_level"):
        yield flag, partial(_pair, setting, rules)


def of_activation(h: Vector, lam: Vector, h_width: Fraction, lam_width: Fraction) -> Wrong:
    """Wrong weights."""
    for flag, rules in shown_at("activation"):
        widths = (lam_width, h_width) if rules.ramp == "swapped-widths" else (h_width, lam_width)
        rows = tuple(-value for value in h) if rules.ramp == "negated-rows" else h
        yield flag, partial(_named, "rho", weights, rows, lam, *widths, rules.activation)


def of_penalty_minimiser(setting: Setting) -> Wrong:
    """Wrong minimisers from given stages."""
    for flag, rules in shown_at("penalty_minimiser"):
        y_star, lam, rho = (setting.given[name] for name in ("y_star", "lam", "rho"))
        if rules.own_stages:
            y_star, lam = setting.lower.y_star, setting.lower.lam
        if rules.activation == "always":
            rho = (Fraction(1),) * setting.problem.p
        yield flag, partial(_named, "y_penalty", minimiser, setting, y_star, lam, rho, rules)


def of_hypergradient(setting: Setting) -> Wrong:
    """Wrong estimates."""
    for flag, rules in shown_at("hypergradient"):
        if (rules.averaging != "mean" and not setting.draws) or (
            rules.noise_pairing and "g_x_star" not in setting.draws
        ):
            continue
        told = replace(setting, given={k: single(v) for k, v in setting.given.items()}) if rules.bits else setting
        meant = replace(rules, **_others(rules, setting.reading))
        yield flag, partial(_named, "hypergradient", _estimate, told, meant)


def _named(output: str, answer: Callable[..., tuple[Real, ...]], *given: Any) -> Answer:
    return {output: answer(*given)}


def _estimate(setting: Setting, rules: Rules) -> tuple[Real, ...]:
    return evaluate(setting, rules).hypergradient


def _others(rules: Rules, reading: Reading) -> dict[str, Any]:
    """What a rule that says ``other`` takes: as written where the reading's choice is the repaired one, else that."""
    names = [name for name in type(reading).model_fields if getattr(rules, name, None) == "other"]
    repaired = [name for name in names if getattr(reading, name) == getattr(REPAIRED, name)]
    return {name: getattr(AS_WRITTEN if name in repaired else REPAIRED, name) for name in names}


def separation(
    right: Mapping[str, tuple[Real, ...]], tolerance: Mapping[str, list[float]], wrong: Callable[[], Answer]
) -> float:
    """How many tolerances a wrong answer is away, in the entry where it shows most; 0 where there is no answer."""
    try:
        answer = wrong()
    except (InvalidInputError, ZeroDivisionError):
        return 0.0
    largest = 0.0
    for name, values in right.items():
        for value, other, limit in zip(values, answer[name], tolerance[name], strict=True):
            gap = abs(float(ball(value) - ball(other)))
            if gap:
                largest = max(largest, min(MOST, gap / limit if limit else MOST))
    return largest


def single(values: Vector) -> Vector:
    """Rounded to 24 bits."""
    return tuple(dyadic(float(np.float32(float(value)))) for value in values)


def changed(problem: Problem, rules: Rules) -> Quadratic:
    """The problem as the rules read it: a block left out, which makes it zero, or B with the opposite sign."""
    quadratic: Any = getattr(problem, "quadratic", problem)
    data = quadratic.to_dict()
    if rules.zeroed is not None:
        part, block = rules.zeroed.split(".")
        data[part] = {name: value for name, value in data.get(part, {}).items() if name != block}
    if rules.mirrored == "lower_level":
        rows = [[-value for value in row] for row in quadratic.constraints.B.to_fractions()]
        data["constraints"] = dict(data["constraints"]) | {"B": rows}
    # Without A and the blocks in x the size n would be unknown.
    data["f"] = {"x": [0] * quadratic.n} | dict(data.get("f", {}))
    reread = parse_problem(data)
    assert isinstance(reread, Quadratic)  # by its kind
    return reread


def _pair(setting: Setting, rules: Rules) -> Answer:
    if rules.lower_level == "unconstrained":
        return _unconstrained(setting)
    if rules.lower_level == "equations":
        return _equations(setting)
    x = (Fraction(0),) * setting.problem.n if rules.lower_level == "at-zero" else setting.x
    bent = changed(setting.problem, rules) if rules.zeroed or rules.mirrored else setting.problem
    lower = lower_level.solve(bent, single(x) if rules.bits else x)
    return {"y_star": lower.y_star, "lam": tuple(rules.multipliers * value for value in lower.lam)}


def _unconstrained(setting: Setting) -> Answer:
    r = setting.rows
    slope = r.g_y + r.g_xy.transpose() * column(setting.x)
    y = fractions(-1 * r.g_yy.solve(slope))
    return {"y_star": y, "lam": (Fraction(0),) * setting.problem.p}


def _equations(setting: Setting) -> Answer:
    """All rows held; where they are dependent there is no answer."""
    r, q = setting.rows, setting.problem
    top = beside(r.g_yy, r.B.transpose()).tolist()
    bottom = beside(r.B, fmpq_mat(q.p, q.p)).tolist()
    slope = -1 * (r.g_y + r.g_xy.transpose() * column(setting.x))
    target = r.A * column(setting.x) - r.b
    solution = fmpq_mat(top + bottom).solve(fmpq_mat(q.m + q.p, 1, slope.entries() + target.entries()))
    y, minus_lam = select(solution, range(q.m)), select(solution, range(q.m, q.m + q.p))
    return {"y_star": fractions(y), "lam": fractions(-1 * minus_lam)}
