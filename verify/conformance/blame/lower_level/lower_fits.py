r"""Lower levels read off from pairs: which factors make both optimality conditions hold on all of them.

:math:`g_{yy}y + c_1 g_{xy}^Tx + c_2 g_y - c_3 B^T\lambda = 0` is solved for its factors over all answers at once, and
so is :math:`c_4 Ax - By - c_5 b = 0` over rows that carry multipliers; another term joins either equation where it has
to. Any number of blocks scaled, left out or negated is found by this in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.accuracy.lower_residuals import CARRIES, held_rows, pair_of
from verify.conformance.blame.lower_level.lower import RIGHT_LOWER, LowerProgram, rebuilt
from verify.conformance.probes.answers import StageAnswer

HOLDS = (1e-10, 1e-6)
"""An equation holds where this part of its largest term is left at most: first of exact answers, then of iterations."""
DIGITS = (1, 2, 3, 4, 5, 6)
"""How many digits a plain number may have."""
FEW_DIGITS, ROUGHLY, EXACTLY = 3, 1e-5, 1e-9
"""A factor is a number of few digits if it is roughly that, relative, and one of more digits if it is exactly that."""
BLUR = 30.0
"""Errors of so many times the accuracy are allowed to an equation, and to what is read off from it."""
NOTHING = 1e-9
"""Factors up to this are 0."""
VARIANTS: tuple[LowerProgram, ...] = (
    RIGHT_LOWER, *(RIGHT_LOWER.with_block(name, "transposed") for name in ("g_xy", "A", "B")),
    *(RIGHT_LOWER.with_block(name, "diagonal") for name in ("g_yy", "g_xy", "A", "B")),
)  # fmt: skip
"""Programs whose factors are measured."""
FORMS_TRIED = ("program", "equations", "mirrored", "violated", "most violated", "first violated", "no first row",
               "no last row", "first row")  # fmt: skip
Factors = dict[str, float]


@dataclass(frozen=True)
class ReadOff:
    """Answers whose pairs are as exact as ``accuracy`` says, relative."""

    answers: Sequence[StageAnswer]
    accuracy: float = 0.0

    def programs(self) -> Iterator[LowerProgram]:
        """Programs whose conditions the pairs meet; whether they give the pairs has to be tried."""
        for variant in VARIANTS:
            for first in self._stationary(variant):
                for second in [*self._held(variant), Factors()]:
                    yield from _with_rows(variant, first, second, max(ROUGHLY, BLUR * self.accuracy))

    def _stationary(self, variant: LowerProgram) -> Iterator[Factors]:
        """Factors of the first equation, the plainest first; with another term only where it does not hold without."""
        left, terms, extra = [], [], []
        for answer in self.answers:
            q, x, y, lam = _changed(variant, answer)
            a = answer.probe.problem.arrays
            left.append(q["g_yy"] @ y)
            terms.append(np.stack([-q["g_xy"].T @ x, -q["g_y"], q["B"].T @ lam], axis=1))
            extra.append(np.stack([-y, -np.ones_like(y), -(a.f_yy @ y + a.f_xy.T @ x + a.f_y)], axis=1))
        further = np.concatenate(extra), ("εI", "1", "f")
        yield from self._solutions(np.concatenate(left), np.concatenate(terms), ("g_xy", "g_y", "λ"), further)

    def _held(self, variant: LowerProgram) -> Iterator[Factors]:
        """Factors of the second equation."""
        left, terms, extra = [], [], []
        for answer in self.answers:
            q, x, y, lam = _changed(variant, answer)
            rows = held_rows(answer.probe, answer.got, max(CARRIES, BLUR * self.accuracy))
            left.append((q["B"] @ y)[rows])
            terms.append(np.stack([(q["A"] @ x)[rows], -q["b"][rows]], axis=1))
            with np.errstate(all="ignore"):
                extra.append(np.stack([np.ones(len(rows)), -lam[rows], 1 / lam[rows]], axis=1))
        further = np.concatenate(extra), ("margin", "softness", "μ")
        yield from self._solutions(np.concatenate(left), np.concatenate(terms), ("A", "b"), further)

    def _solutions(
        self, left: Vector, terms: Vector, names: Sequence[str], further: tuple[Vector, Sequence[str]]
    ) -> Iterator[Factors]:
        """Factors by least squares, if the equation holds with them; else with one further term."""
        if len(left) <= terms.shape[1] + 1:
            return
        extra, further_names = further
        for holds in HOLDS:
            factors = self._solution(left, terms, holds)
            if factors is not None:
                yield dict(zip(names, factors, strict=True))
                return
            is_solved = False
            for k, name in enumerate(further_names):
                factors = self._solution(left, np.column_stack([terms, extra[:, k]]), holds)
                if factors is not None:
                    is_solved = True
                    yield dict(zip((*names, name), factors, strict=True))
            if is_solved:
                return

    def _solution(self, left: Vector, terms: Vector, holds: float) -> list[float] | None:
        if not np.isfinite(terms).all():
            return None
        used = np.abs(terms).max(axis=0, initial=0.0) > 0
        factors = np.zeros(terms.shape[1])
        factors[used] = np.linalg.lstsq(terms[:, used], left)[0]
        size = np.abs(left) + np.abs(terms) @ np.abs(factors)
        if (np.abs(terms @ factors - left) > max(holds, BLUR * self.accuracy) * (1e-3 + size)).any():
            return None
        return [float(value) for value in factors]


def _with_rows(variant: LowerProgram, first: Factors, second: Factors, roughly: float) -> Iterator[LowerProgram]:
    """Both ways to read the signs: as they stand, and with −B, whose multipliers then have the other sign."""
    plain = partial(plain_factor, roughly=roughly)
    for sign in (1.0, -1.0):
        factors = {name: plain(first[name]) for name in ("g_xy", "g_y")}
        factors |= {name: plain(sign * second.get(name, sign)) for name in ("A", "b")} | {"B": sign}
        program = variant
        for name, factor in factors.items():
            if factor != 1 and name not in dict(variant.blocks):
                program = program.with_block(name, factor)
        scale = plain(sign / first["λ"]) if abs(first["λ"]) > NOTHING else 1.0
        if scale != 1:
            program = replace(program, outputs=(("−λ", 0.0) if scale == -1 else ("λ scaled", scale),))
        added = tuple((name, plain(first[name])) for name in ("εI", "1", "f") if name in first)
        yield from _forms(replace(program, added=added), second, plain)


def _forms(program: LowerProgram, second: Factors, plain: Callable[[float], float]) -> Iterator[LowerProgram]:
    if second.get("margin"):
        yield replace(program, added=(*program.added, ("margin", plain(second["margin"]))))
    elif second.get("softness"):
        yield replace(program, form="penalty", number=plain(1 / second["softness"]))
    elif second.get("μ"):
        yield replace(program, form="barrier", number=plain(second["μ"]))
    else:
        yield from (replace(program, form=form) for form in FORMS_TRIED)


def _changed(variant: LowerProgram, answer: StageAnswer) -> tuple[dict[str, Vector], Vector, Vector, Vector]:
    a, x, y, lam = pair_of(answer.probe, answer.got)
    changes: dict[str, str | float] = dict(variant.blocks)
    blocks: dict[str, Vector] = {name: rebuilt(getattr(a, name), changes.get(name, 1.0))
              for name in ("g_yy", "g_xy", "g_y", "A", "B", "b")}  # fmt: skip
    return blocks, x, y, lam


def plain_factor(value: float, roughly: float = ROUGHLY) -> float:
    """A factor as the plain number that it is, to the digits that exact answers or those of iterations have."""
    if abs(value) < max(NOTHING, roughly if roughly > ROUGHLY else 0.0):
        return 0.0
    for digits in DIGITS:
        near = float(f"{value:.{digits}g}")
        if abs(near - value) <= (roughly if digits <= FEW_DIGITS else EXACTLY) * abs(value):
            return near
    return value
