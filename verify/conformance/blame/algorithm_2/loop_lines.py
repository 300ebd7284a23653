"""The lines of Algorithm 2 whose values nothing draws, as the search takes them: steps, block means, the output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.algorithm_2.loop_rule import apart
from verify.conformance.blame.algorithm_2.loop_search import ONE, ROUNDING, Choice, Line, Rule, Scales, found_factors
from verify.conformance.outer import RecordedLoop
from verify.method.factors import Factor, FactorMoments, fit
from verify.method.loop_edits import (
    ANSWERS,
    EARLY,
    EDITS,
    MIDDLES,
    QUERIES,
    STEPS,
    UPDATED_FIRST,
    WHOLE_WAY,
    replacements,
)

CLEAR = 1 - 1e-6
"""Share of the longest step below which a step was not cut."""
LIMITS = (
    *(Factor(1.0, symbol) for symbol in ("1/√t", "1/t", "1/√k", "1/k", "1/(t + 1)", "1/√(t + 1)", "η/D")),
    Factor(10.0), Factor(0.1), Factor(100.0),
)  # fmt: skip
"""What may multiply the limit though no longest step shows it."""
SCALES = (
    (ONE, Factor(-1.0)), (Factor(-1.0), ONE), (ONE, Factor(1.0, "1/η")), (ONE, Factor(1.0, "D/η")),
    (ONE, Factor(1.0, "η")), (Factor(1.0, "η"), ONE), (ONE, Factor(-1.0, "1/η")), (ONE, Factor(0.1)),
    (ONE, Factor(10.0)), (Factor(-1.0, "η"), Factor(-1.0, "1/η")),
)  # fmt: skip
"""Factors of the previous step and of the gradient that show though every step is cut."""


def _step_sentence(rule: Rule) -> str:
    """Line 7's formula beside the right one, and what that means."""
    (a_edit, b_edit), (previous, taken) = rule.choice, rule.scales
    a = _times(previous, a_edit.shown)
    away, abs_taken = taken.number < 0, replace(taken, number=abs(taken.number))
    b = _times(abs_taken, f"η{b_edit.shown}") if b_edit.shown else ""
    L = "D" if rule.limit.is_one else f"({rule.limit.shown}·D)"
    v = f"{a} {'+' if away else '−'} {b}" if a and b else a or f"{'' if away else '−'}{b}"
    formula = rule.whole.shown.format(L=L, v=v, a=a or "0", b=f"(−{b})" if away else b, g=b_edit.shown)
    words = [edit.words for edit in (b_edit, a_edit, rule.whole) if edit.words]
    factors = (("the previous step", previous), ("the step size η", abs_taken), ("D", rule.limit))
    words += [f"{what} is multiplied by {factor.shown}" for what, factor in factors if not factor.is_one]
    words += ["g is added, not subtracted"] if away else []
    left = "Δ_t" if rule.makes_first else "Δ_{t+1}"
    formula = formula.replace("Δ_t", "Δ_{t−1}") if rule.makes_first else formula
    return f"{left} = {formula} where Δ_{{t+1}} must be clip_D(Δ_t − ηg_t): {', '.join(words)}"


def _times(factor: Factor, letter: str) -> str:
    return letter if factor.is_one or not letter else f"{factor.shown}·{letter}"


def _limits(runs: Sequence[RecordedLoop]) -> list[Factor]:
    """Factors of D: the longest step or component where several are that long; then those that may not show."""
    factors = []
    for order in (2, np.inf):
        measured = []
        for one in runs:
            sizes = np.linalg.norm(one.steps[1:], ord=order, axis=1)
            longest = float(sizes.max(initial=0.0))
            if longest > 0 and (sizes >= CLEAR * longest).sum() >= 3:
                measured.append((FactorMoments(one.trial, np.ones(1)), np.array([longest / one.trial.parameters.D])))
        factors += [factor for factor in fit(measured) if not factor.is_one]
    return [*dict.fromkeys(factors), *LIMITS]


def _uncut(one: RecordedLoop, taken: Vector) -> Any:
    """Rows of steps 2, ..., T that nothing seems to have cut, as a mask."""
    S, D = one.steps[1:], one.trial.parameters.D
    free = np.linalg.norm(taken, axis=1) < 0.5 * D
    for sizes in (np.linalg.norm(S, axis=1), np.abs(S).max(axis=1)):
        longest = sizes.max(initial=0.0)
        if (sizes >= CLEAR * longest).sum() >= 2:
            free &= sizes < CLEAR * longest
    return free


def _step_scales(runs: Sequence[RecordedLoop], choice: Choice) -> Iterator[Scales]:
    """Factors of the previous step and of the gradient that uncut steps show."""
    previous, taken = choice
    if not taken.words and (not previous.words or not previous.shown):
        yield from SCALES
    if taken is UPDATED_FIRST:
        return
    rows = []
    for one in runs:
        b, a = one.series.value(taken.formula)[:-1], one.series.value(previous.formula)[:-1]
        free = _uncut(one, b) & np.isfinite(a + b).all(axis=1)
        if free.sum() >= 3:
            t = np.arange(1, one.trial.parameters.T, dtype=np.float64)[free]
            rows.append((FactorMoments(one.trial, t), a[free], b[free], one.steps[1:][free]))
    if not rows:
        return
    if previous.shown:
        pairs = [_both(*row[1:]) for row in rows]
        if all(pair is not None for pair in pairs):
            fits = [fit([(row[0], np.full(len(row[0].t), pair[i])) for row, pair in zip(rows, pairs, strict=True)
                         if pair is not None]) for i in (0, 1)]  # fmt: skip
            yield from ((a, b) for a, b in product(fits[0][:2], fits[1][:2]) if not (a.is_one and b.is_one))
    yield from ((ONE, law) for law in fit(found_factors([(at, b, a - S) for at, a, b, S in rows])) if not law.is_one)
    if previous.shown:
        laws = fit(found_factors([(at, a, S + b) for at, a, b, S in rows]))
        yield from ((law, ONE) for law in laws if not law.is_one)


def _both(before: Vector, taken: Vector, S: Vector) -> Vector | None:
    """Both factors at once, where they make the steps to many digits."""
    columns = np.stack([before.ravel(), -taken.ravel()], axis=1)
    factors, _, rank, _ = np.linalg.lstsq(columns, S.ravel(), rcond=1e-9)
    if rank < 2 or np.abs(columns @ factors - S.ravel()).max() > ROUNDING * np.abs(S).max():
        return None
    return np.asarray(factors)


STEP = Line(
    "steps", EDITS["cuts"], lambda one: one.steps, _step_sentence,
    {"a": (*replacements(STEPS), WHOLE_WAY), "b": (*replacements(ANSWERS, "eta * {}"), UPDATED_FIRST)},
    _step_scales, _limits,
)  # fmt: skip
"""Line 7."""
FIRST_STEP = Line(
    "first step", EDITS["first_steps"], lambda one: one.steps[0],
    lambda rule: f"the first step Δ_1 is {rule.whole.shown}, where it must be 0",
)  # fmt: skip


def _mean_sentence(rule: Rule) -> str:
    parts = [edit.words for edit in (*rule.choice, rule.whole) if edit.words]
    parts += [f"it is multiplied by {factor.shown}" for factor in rule.scales if not factor.is_one]
    return f"the block mean x̄_k is not the mean of the block's M queried points z_t: {', and '.join(parts)}"


def _mean_scales(runs: Sequence[RecordedLoop], choice: Choice) -> Iterator[Scales]:
    """The number or power of the schedule by which every mean of a window is too long."""
    for window in EDITS["windows"]:
        measured = []
        for one in runs:
            means, got = Rule(MEAN, choice, window, (ONE,)).made(one), one.run.x_bar
            with np.errstate(all="ignore"):
                ratio = float((means * got).sum() / max(float((means**2).sum()), 1e-300))
            if not np.isfinite(ratio) or apart(one, ratio * means, got) > 1:
                break
            measured.append((FactorMoments(one.trial, np.ones(1)), np.array([ratio])))
        else:
            yield from ((factor,) for factor in fit(measured)[:2] if not factor.is_one)


MEAN = Line("means", EDITS["windows"], lambda one: one.run.x_bar, _mean_sentence,
            {"p": (*replacements(QUERIES), MIDDLES, EARLY)}, _mean_scales)  # fmt: skip
"""Lines 9 to 11."""


def output_sentence(words: str) -> str:
    """What is said of another output."""
    return f"the output is {words}, where it must be the mean of a uniform one of the K blocks"


OUTPUT = Line("outputs", EDITS["outputs"], lambda one: one.run.x_out,
              lambda rule: output_sentence(rule.whole.words))  # fmt: skip
"""Line 13 where nothing is drawn."""
