"""Each mistake as exact numbers: what an implementation with it would answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from spec import AS_WRITTEN, REPAIRED, InvalidInputError, Reading
from verify.conformance.bugs.catalogue import ROWS
from verify.conformance.bugs.model import Rules
from verify.method.exact_player import Space, exact_array, minimise, play, space_of
from verify.method.lines import Formulas, edited
from verify.truth.algebra.numbers import Real, add, ball, dyadic, times
from verify.truth.algebra.rationals import Vector
from verify.truth.functions_of_alpha.noise import mean_noise
from verify.truth.lower_level import lower_level
from verify.truth.stages import ExactSetting, activation, estimate, evaluate, minimiser, row_values

ENOUGH = 10.0
"""Tolerances away from which a bug counts as shown."""
MOST = 1e18
"""Largest separation written; beyond it only says: far."""
OTHER = "other"
"""What a reading does not choose: as written where it chooses the repaired one, else that."""
Answer = Mapping[str, tuple[Real, ...]]
Wrong = Iterator[tuple[str, Callable[[], Answer]]]


def shown_at(stage: str) -> Iterator[tuple[str, Rules, Formulas]]:
    """Flags of bugs that vectors of a stage are held against, with their rules and the edits of the method's lines."""
    for bug in ROWS:
        if bug.flag is not None and stage in bug.flag.at:
            is_own = bug.flag.rules is None and not bug.flag.formulas
            played = bug if is_own else bug.flag
            yield bug.flag.id or bug.id, played.rules or Rules(), played.formulas


def of_lower_level(setting: ExactSetting) -> Wrong:
    """Wrong lower-level pairs."""
    for flag, rules, edits in shown_at("lower_level"):
        yield flag, partial(_pair, setting, rules, edits)


def of_activation(h: Vector, lam: Vector, h_width: Fraction, lam_width: Fraction) -> Wrong:
    """Wrong weights."""
    given = {"h": exact_array(h), "lam": exact_array(lam), "h_width": h_width, "lam_width": lam_width}
    for flag, _, edits in shown_at("activation"):
        yield flag, partial(_named, "rho", _weights, edited(edits), given)


def of_penalty_minimiser(setting: ExactSetting) -> Wrong:
    """Wrong minimisers from given stages."""
    for flag, rules, edits in shown_at("penalty_minimiser"):
        given = dict(setting.given)
        if rules.own_stages:
            given |= {"y_star": setting.lower.y_star, "lam": setting.lower.lam}
        if "activation" in edits:
            # Weights that hang on nothing are not those that are given.
            alone = {"rho": edits["activation"]["rho"]}
            given["rho"] = _weights({"activation": alone}, {"h": exact_array(given["rho"])})
        yield flag, partial(_named, "y_penalty", _minimiser, setting, edits, given)


def of_hypergradient(setting: ExactSetting) -> Wrong:
    """Wrong estimates."""
    for flag, rules, edits in shown_at("hypergradient"):
        if (rules.averaging != "mean" and not setting.draws) or (
            "noise_pairing" in rules.reading and "g_x_star" not in setting.draws
        ):
            continue
        told = replace(setting, given={k: single(v) for k, v in setting.given.items()}) if rules.bits else setting
        told = replace(told, given={} if rules.own_stages else told.given, reading=chosen(rules, setting.reading))
        yield flag, partial(_named, "hypergradient", _estimate, told, rules, edits)


def _named(output: str, answer: Callable[..., tuple[Real, ...]], *given: Any) -> Answer:
    return {output: answer(*given)}


def chosen(rules: Rules, reading: Reading) -> Reading:
    """A reading with the rules' own choices."""

    def choice(name: str, value: str) -> str:
        if value != OTHER:
            return value
        is_repaired = getattr(reading, name) == getattr(REPAIRED, name)
        return str(getattr(AS_WRITTEN if is_repaired else REPAIRED, name))

    return reading.choose(**{name: choice(name, value) for name, value in rules.reading.items()})


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


def _space(setting: ExactSetting, **stages: Vector) -> Space:
    return space_of(setting.problem, setting.x, setting.alpha, stages)


def _pair(setting: ExactSetting, rules: Rules, edits: Formulas) -> Answer:
    if rules.bits:
        lower = lower_level.solve(setting.problem, single(setting.x))
        return {"y_star": lower.y_star, "lam": lower.lam}
    pair = play(edited(edits), "lower_level", _space(setting))
    return {name: tuple(map(Fraction, pair[name])) for name in ("y_star", "lam")}


def _weights(formulas: Formulas, given: dict[str, Any]) -> Vector:
    return tuple(map(Fraction, play(formulas, "activation", given)["rho"]))


def _minimiser(setting: ExactSetting, edits: Formulas, given: Mapping[str, Vector]) -> Vector:
    y_star, lam, rho = (given[name] for name in ("y_star", "lam", "rho"))
    if "lagrangian" not in edits and "minimised" not in edits:
        return minimiser(setting, y_star, lam, rho)
    return minimise(edited(edits), _space(setting, y_star=y_star, lam=lam, rho=rho))


def _estimate(setting: ExactSetting, rules: Rules, edits: Formulas) -> tuple[Real, ...]:
    """One oracle call: stages that are not given by their lines, noise and what a reading adds as they are right."""
    given = dict(setting.given)
    if "y_star" not in given or "lam" not in given:
        given = {"y_star": setting.lower.y_star, "lam": setting.lower.lam} | given
    y_star, lam = given["y_star"], given["lam"]
    if "rho" not in given:
        h = row_values(setting, y_star)
        widths = {"h_width": dyadic(setting.h_width()), "lam_width": setting.lam_width}
        rows = {"h": exact_array(h), "lam": exact_array(lam)} | widths
        given["rho"] = _weights(edited(edits), rows) if "activation" in edits else activation(setting, h, lam)
    if "y_penalty" not in given:
        given["y_penalty"] = _minimiser(setting, edits, given)
    if "line_6" not in edits:
        return evaluate(replace(setting, given=given), rules.averaging).hypergradient
    formulas = edited(edits)
    values = play(formulas, "line_6", _space(setting, **given))
    dual = estimate(replace(setting, draws={}), given["y_penalty"], y_star, lam, given["rho"])["dual"]
    weight = setting.alpha**2 * values["alpha_1"]
    parts: list[tuple[Fraction, tuple[Real, ...]]] = [(weight, dual)]
    if setting.draws:
        points = setting.x, tuple(values["y"]), y_star
        noises = mean_noise(setting.problem, points, setting.draws, setting.reading.noise_pairing)
        parts += zip(_noise_weights(formulas, values["alpha_1"]), noises, strict=True)
    total: tuple[Real, ...] = tuple(map(Fraction, values["estimate"]))
    for factor, part in parts:
        total = tuple(add(a, times(factor, b)) for a, b in zip(total, part, strict=True))
    return total


def _noise_weights(formulas: Formulas, alpha_1: Fraction) -> tuple[Fraction, Fraction]:
    """How much of the noise of f and of that of g is in an answer."""
    answer: Formulas = {"noise": {"answer": formulas["noise"]["answer"]}}

    def told(noise_f: int, noise_g: int) -> Fraction:
        given = {"estimate": 0, "noise_f": noise_f, "noise_g": noise_g, "alpha_1": alpha_1}
        return Fraction(play(answer, "noise", given)["answer"])

    return told(1, 0), told(0, 1)
