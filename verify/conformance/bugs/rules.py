"""Each bug of the registry as exact numbers: what an implementation with it would answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from spec import InvalidInputError, Quadratic, parse_problem
from verify.truth import lower_level
from verify.truth.algebra.numbers import Real, ball, dyadic
from verify.truth.algebra.rationals import Vector, beside, column, fractions, select
from verify.truth.lower_level import ExactLowerLevel
from verify.truth.stages import Activation, Rules, Setting, evaluate, minimiser, weights

ENOUGH = 10.0
"""Tolerances away from which a bug counts as shown."""
MOST = 1e18
"""Largest separation written; beyond it only says: far."""
Answer = Mapping[str, tuple[Real, ...]]

_ESTIMATE: dict[str, Rules] = {
    "weak-penalties": Rules(powers=(-1, -2)),
    "swapped-weights": Rules(powers=(1, 2)),
    "hard-activation": Rules(activation="hard"),
    "always-active": Rules(activation="always"),
    "h-ramp-alone": Rules(activation="h-alone"),
    "lam-ramp-alone": Rules(activation="lam-alone"),
    "multiplier-dropped": Rules(multiplier=Fraction(0)),
    "multiplier-sign": Rules(multiplier=Fraction(-1)),
    "pull-missing": Rules(pull=Fraction(0)),
    "half-penalty": Rules(pull=Fraction(1, 2), penalty=Fraction(1, 2)),
    "upper-ignored": Rules(upper=Fraction(0)),
    "penalty-sign": Rules(penalty=Fraction(-1)),
    "penalty-missing": Rules(dropped=frozenset({"penalty"})),
    "gap-missing": Rules(dropped=frozenset({"g_difference"})),
    "one-sided-gap": Rules(one_sided=True),
    "implicit-missing": Rules(at_y_star=True, dropped=frozenset({"g_difference", "dual", "penalty"})),
    "at-y-star": Rules(at_y_star=True),
    "samples-ignored": Rules(averaging="first"),
    "samples-summed": Rules(averaging="sum"),
    "noise-silent": Rules(averaging="none"),
    "given-ignored": Rules(own_stages=True),
}
_MINIMISER = ("weak-penalties", "swapped-weights", "multiplier-dropped", "multiplier-sign", "pull-missing",
              "half-penalty", "upper-ignored")  # fmt: skip
_ACTIVATION: dict[str, Activation] = {
    "hard-activation": "hard",
    "always-active": "always",
    "h-ramp-alone": "h-alone",
    "lam-ramp-alone": "lam-alone",
    "smaller-ramp": "smaller",
    "cubic-ramp": "cubic",
    "shifted-rows": "shifted",
}


def of_lower_level(setting: Setting) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Wrong lower-level pairs."""
    q = setting.problem
    zero = {"constraints": {"A": None}}
    yield "rows-ignored", lambda: _unconstrained(setting)
    yield "rows-not-moving", lambda: _pair(_changed(q, **zero), setting.x)
    yield "offset-ignored", lambda: _pair(_changed(q, constraints={"b": None}), setting.x)
    yield "coupling-ignored", lambda: _pair(_changed(q, g={"xy": None}), setting.x)
    yield "stale-y-star", lambda: _pair(q, (Fraction(0),) * q.n)
    yield "rows-as-equations", lambda: _equations(setting)
    flipped = [[-value for value in row] for row in q.constraints.B.to_fractions()]
    yield "flipped-b", lambda: _pair(_changed(q, constraints={"B": flipped}), setting.x)
    yield "multiplier-sign", lambda: {"y_star": setting.lower.y_star, "lam": tuple(-v for v in setting.lower.lam)}
    yield "single-precision", lambda: _pair(q, single(setting.x))


def of_activation(
    h: Vector, lam: Vector, h_width: Fraction, lam_width: Fraction
) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Wrong weights."""
    for flag, kind in _ACTIVATION.items():
        yield flag, lambda kind=kind: {"rho": weights(h, lam, h_width, lam_width, kind)}  # type: ignore[misc]  # mypy cannot infer lambdas with defaults
    yield "swapped-widths", lambda: {"rho": weights(h, lam, lam_width, h_width)}
    yield "h-sign", lambda: {"rho": weights(tuple(-value for value in h), lam, h_width, lam_width)}


def of_penalty_minimiser(setting: Setting) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Wrong minimisers from given stages."""
    given = setting.given
    stages = given["y_star"], given["lam"], given["rho"]
    for flag in _MINIMISER:
        yield flag, lambda flag=flag: {"y_penalty": minimiser(setting, *stages, _ESTIMATE[flag])}  # type: ignore[misc]  # mypy cannot infer lambdas with defaults
    ones = (Fraction(1),) * setting.problem.p
    yield "always-active", lambda: {"y_penalty": minimiser(setting, *stages[:2], ones)}
    exact = setting.lower
    yield "given-ignored", lambda: {"y_penalty": minimiser(setting, exact.y_star, exact.lam, stages[2])}


def of_hypergradient(setting: Setting) -> Iterator[tuple[str, Callable[[], Answer]]]:
    """Wrong estimates."""
    other = {"frozen": "cancelled", "cancelled": "frozen"}[setting.reading.dual_term]
    rules = dict(_ESTIMATE) | {"dual-term": Rules(dual_term=other)}
    if "g_x_star" in setting.draws:
        pairing = {"common": "independent", "independent": "common"}[setting.reading.noise_pairing]
        rules["noise-pairing"] = Rules(noise_pairing=pairing)
    if not setting.draws:
        for flag in ("samples-ignored", "samples-summed", "noise-silent"):
            del rules[flag]
    if "rho" not in setting.given:
        width = {"delta": "tau-delta", "tau-delta": "delta"}[setting.reading.ramp_width]
        rules["ramp-width"] = Rules(ramp_width=width)
    for flag, rule in rules.items():
        yield flag, lambda rule=rule: {"hypergradient": evaluate(setting, rule).hypergradient}  # type: ignore[misc]  # mypy cannot infer lambdas with defaults
    if setting.given:
        coarse = replace(setting, given={name: single(values) for name, values in setting.given.items()})
        yield "single-precision", lambda: {"hypergradient": evaluate(coarse).hypergradient}


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


def _pair(problem: Quadratic, x: Vector) -> Answer:
    return _of(lower_level.solve(problem, x))


def _of(lower: ExactLowerLevel) -> Answer:
    return {"y_star": lower.y_star, "lam": lower.lam}


def _changed(problem: Quadratic, **blocks: Mapping[str, object]) -> Quadratic:
    """The problem with some blocks replaced; ``None`` leaves a block out, which makes it zero."""
    data = problem.to_dict()
    for part, changes in blocks.items():
        data[part] = {k: v for k, v in (dict(data.get(part, {})) | dict(changes)).items() if v is not None}
    # Without A and the blocks in x the size n would be unknown.
    data.setdefault("f", {})
    data["f"] = dict(data["f"]) | {"x": data["f"].get("x", [0] * problem.n)}
    made = parse_problem(data)
    assert isinstance(made, Quadratic)  # by its kind
    return made


def _unconstrained(setting: Setting) -> Answer:
    r = setting.rows
    slope = r.g_y + r.g_xy.transpose() * column(setting.x)
    y = fractions(-1 * r.g_yy.solve(slope))
    return {"y_star": y, "lam": (Fraction(0),) * setting.problem.p}


def _equations(setting: Setting) -> Answer:
    """All rows held; where they are dependent there is no answer."""
    from flint import fmpq_mat

    r, q = setting.rows, setting.problem
    top = beside(r.g_yy, r.B.transpose()).tolist()
    bottom = beside(r.B, fmpq_mat(q.p, q.p)).tolist()
    slope = -1 * (r.g_y + r.g_xy.transpose() * column(setting.x))
    target = r.A * column(setting.x) - r.b
    found = fmpq_mat(top + bottom).solve(fmpq_mat(q.m + q.p, 1, slope.entries() + target.entries()))
    y, minus_lam = select(found, range(q.m)), select(found, range(q.m, q.m + q.p))
    return {"y_star": fractions(y), "lam": fractions(-1 * minus_lam)}
