r"""Lower levels read off from pairs: which factors make both optimality conditions hold on all of them.

:math:`g_{yy}y + c_1 g_{xy}^Tx + c_2 g_y - c_3 B^T\lambda = 0` is solved for its factors over all answers at once, and
so is :math:`c_4 Ax - By - c_5 b = 0` over rows that carry multipliers; another term joins either equation where it has
to. Any number of blocks scaled, left out or negated is found by this in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from spec.exact import Vector
from verify.conformance.answers import Answer
from verify.conformance.blame.lower import RIGHT_LOWER, LowerProgram, rebuilt
from verify.conformance.blame.lower_residuals import held_rows, pair_of

HOLDS = 1e-6
"""An equation holds where this part of its largest term is left at most."""
DIGITS = (1, 2, 3, 4, 5, 6)
"""How many digits a plain number may have."""
FEW_DIGITS, ROUGHLY, EXACTLY = 3, 1e-5, 1e-9
"""A factor is a number of few digits if it is roughly that, relative, and one of more digits if it is exactly that."""
NOTHING = 1e-9
"""Factors up to this are 0."""
VARIANTS: tuple[LowerProgram, ...] = (
    RIGHT_LOWER, *(RIGHT_LOWER.with_block(name, "transposed") for name in ("g_xy", "A", "B")),
    *(RIGHT_LOWER.with_block(name, "diagonal") for name in ("g_yy", "g_xy", "A", "B")),
    RIGHT_LOWER.with_block("g_yy", "no diagonal"),
)  # fmt: skip
"""Programs whose factors are measured."""
FORMS_TRIED = ("program", "equations", "mirrored", "violated", "most violated", "first violated", "no first row",
               "no last row", "first row")  # fmt: skip
Factors = dict[str, float]


def read_off(answers: Sequence[Answer]) -> Iterator[LowerProgram]:
    """Programs whose conditions the pairs meet; whether they give the pairs has to be tried."""
    for variant in VARIANTS:
        for first in _stationary(variant, answers):
            yield from _with_rows(variant, first, answers)


def _with_rows(variant: LowerProgram, first: Factors, answers: Sequence[Answer]) -> Iterator[LowerProgram]:
    """Both ways to read the signs: as they stand, and with −B, whose multipliers then have the other sign."""
    for second in [*_held(variant, answers), Factors()]:
        for sign in (1.0, -1.0):
            factors = {name: plain_factor(first[name]) for name in ("g_xy", "g_y")}
            factors |= {name: plain_factor(sign * second.get(name, sign)) for name in ("A", "b")} | {"B": sign}
            made = variant
            for name, factor in factors.items():
                if factor != 1 and name not in dict(variant.blocks):
                    made = made.with_block(name, factor)
            scale = plain_factor(sign / first["λ"]) if abs(first["λ"]) > NOTHING else 1.0
            if scale != 1:
                made = replace(made, outputs=(("−λ", 0.0) if scale == -1 else ("λ scaled", scale),))
            added = tuple((name, plain_factor(first[name])) for name in ("εI", "1", "f") if name in first)
            yield from _forms(replace(made, added=added), second)


def _forms(made: LowerProgram, second: Factors) -> Iterator[LowerProgram]:
    if second.get("margin"):
        yield replace(made, added=(*made.added, ("margin", plain_factor(second["margin"]))))
    elif second.get("softness"):
        yield replace(made, form="penalty", number=plain_factor(1 / second["softness"]))
    elif second.get("μ"):
        yield replace(made, form="barrier", number=plain_factor(second["μ"]))
    else:
        yield from (replace(made, form=form) for form in FORMS_TRIED)


def _changed(variant: LowerProgram, answer: Answer) -> tuple[dict[str, Vector], Vector, Vector, Vector]:
    a, x, y, lam = pair_of(answer.probe, answer.got)
    changes: dict[str, str | float] = dict(variant.blocks)
    blocks: dict[str, Vector] = {name: rebuilt(getattr(a, name), changes.get(name, 1.0))
              for name in ("g_yy", "g_xy", "g_y", "A", "B", "b")}  # fmt: skip
    return blocks, x, y, lam


def _stationary(variant: LowerProgram, answers: Sequence[Answer]) -> Iterator[Factors]:
    """Factors of the first equation, the plainest first; with another term only where it does not hold without."""
    left, terms, extra = [], [], []
    for answer in answers:
        q, x, y, lam = _changed(variant, answer)
        a = answer.probe.problem.arrays
        left.append(q["g_yy"] @ y)
        terms.append(np.stack([-q["g_xy"].T @ x, -q["g_y"], q["B"].T @ lam], axis=1))
        extra.append(np.stack([-y, -np.ones_like(y), -(a.f_yy @ y + a.f_xy.T @ x + a.f_y)], axis=1))
    names = ("g_xy", "g_y", "λ")
    yield from _solutions(np.concatenate(left), np.concatenate(terms), names, (np.concatenate(extra), ("εI", "1", "f")))


def _held(variant: LowerProgram, answers: Sequence[Answer]) -> Iterator[Factors]:
    """Factors of the second equation."""
    left, terms, extra = [], [], []
    for answer in answers:
        q, x, y, lam = _changed(variant, answer)
        rows = held_rows(answer.probe, answer.got)
        left.append((q["B"] @ y)[rows])
        terms.append(np.stack([(q["A"] @ x)[rows], -q["b"][rows]], axis=1))
        with np.errstate(all="ignore"):
            extra.append(np.stack([np.ones(len(rows)), -lam[rows], 1 / lam[rows]], axis=1))
    yield from _solutions(
        np.concatenate(left), np.concatenate(terms), ("A", "b"), (np.concatenate(extra), ("margin", "softness", "μ"))
    )


def _solutions(
    left: Vector, terms: Vector, names: Sequence[str], further: tuple[Vector, Sequence[str]]
) -> Iterator[Factors]:
    """Factors by least squares, if the equation holds with them; else with one further term."""
    if len(left) <= terms.shape[1] + 1:
        return
    factors = _solution(left, terms)
    if factors is not None:
        yield dict(zip(names, factors, strict=True))
        return
    extra, further_names = further
    for k, name in enumerate(further_names):
        factors = _solution(left, np.column_stack([terms, extra[:, k]]))
        if factors is not None:
            yield dict(zip((*names, name), factors, strict=True))


def _solution(left: Vector, terms: Vector) -> list[float] | None:
    if not np.isfinite(terms).all():
        return None
    used = np.abs(terms).max(axis=0, initial=0.0) > 0
    factors = np.zeros(terms.shape[1])
    factors[used] = np.linalg.lstsq(terms[:, used], left)[0]
    size = np.abs(left) + np.abs(terms) @ np.abs(factors)
    if (np.abs(terms @ factors - left) > HOLDS * (1e-3 + size)).any():
        return None
    return [float(value) for value in factors]


def plain_factor(value: float) -> float:
    """A factor as the plain number that it is, to the digits that exact answers or those of iterations have."""
    if abs(value) < NOTHING:
        return 0.0
    for digits in DIGITS:
        near = float(f"{value:.{digits}g}")
        if abs(near - value) <= (ROUGHLY if digits <= FEW_DIGITS else EXACTLY) * abs(value):
            return near
    return value
