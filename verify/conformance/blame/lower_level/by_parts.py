r"""Lower levels computed from the free minimiser and the binding rows, with some part of that formula changed.

Right is, with S the rows that bind, :math:`K = B_S g_{yy}^{-1} B_S^T` and :math:`y_0 = -g_{yy}^{-1}(g_{xy}^Tx + g_y)`:

.. math:: \lambda_S = K^{-1}(A_S x - b_S - B_S y_0), \qquad y = y_0 + g_{yy}^{-1} B_S^T \lambda_S.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product

import numpy as np

from spec import Quadratic
from spec.exact import Vector
from verify.conformance.blame.activation.ramps import number
from verify.conformance.blame.lower_level.lower import RIGHT_LOWER, LowerProgram, rebuilt
from verify.conformance.blame.lower_level.lower_fits import NOTHING, plain_factor
from verify.conformance.blame.lower_level.programs import clearly_held, solved
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import Probe
from verify.method.factors import is_almost_one, left_words

TERMS = ("A_S x", "b_S", "B_S y₀")
"""What multipliers are solved from, with the signs of the formula."""
PARTS = ("y₀", "g_yy⁻¹B_Sᵀλ_S")
"""What y is the sum of."""
FEW = 12
"""Answers that factors of changed formulas are read off from."""
LEFT = 1e-6
"""Part of an answer that may be left where factors are read off."""
FORMULA = "λ_S = K⁻¹(A_S x − b_S − B_S y₀) on the binding rows S, K = B_S g_yy⁻¹B_Sᵀ, and y = y₀ + g_yy⁻¹B_Sᵀλ_S"
"""The right formula, y₀ the minimiser of g without rows."""


SWAPS: dict[str, str] = {
    "y₀": "f_yy stands in place of g_yy in y₀",
    "K": "f_yy stands in place of g_yy in K",
    "y": "f_yy stands in place of g_yy in g_yy⁻¹B_Sᵀλ_S",
    "B": "the entries of B_S are read column by column where they lie row by row",
    "r": "the entries of A x − b are moved on by one row in λ_S",
}
"""Places of the formula where something else may stand, in words."""


@dataclass(frozen=True)
class PartSetting:
    """What the formula is made of: the program everywhere, that by which binding rows are chosen, and swaps."""

    program: LowerProgram = RIGHT_LOWER
    choosing: LowerProgram = RIGHT_LOWER
    swaps: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Each change in words."""
        chosen = tuple(f"{words} where the binding rows are chosen" for words in self.choosing.words)
        return (*self.program.words, *chosen, *(SWAPS[name] for name in self.swaps))


RIGHT_SETTING = PartSetting()


@dataclass(frozen=True)
class ByParts:
    """A lower level whose formula has factors: of the terms of the multipliers, and of the parts of y.

    Its ``setting`` says what else has changed in it.
    """

    terms: tuple[float, ...] = (1.0, 1.0, 1.0)
    parts: tuple[float, ...] = (1.0, 1.0)
    setting: PartSetting = RIGHT_SETTING

    def answer(self, probe: Probe) -> Vector | None:
        """Its pair at a probe, y first; ``None`` on other than quadratic problems."""
        if not isinstance(probe.problem, Quadratic):
            return None
        columns = part_columns(probe, self.setting)
        if columns is None:
            return None
        from_terms, free, back = columns
        lam = from_terms @ np.array(self.terms)
        y = self.parts[0] * free + self.parts[1] * (back @ lam)
        return np.concatenate([y, lam])

    @property
    def words(self) -> tuple[str, ...]:
        """Each factor that is not 1, in words."""
        pairs = [*zip(TERMS, self.terms, strict=True), *zip(PARTS, self.parts, strict=True)]
        factors = tuple(_factor_words(name, factor) for name, factor in pairs if factor != 1)
        return (*self.setting.words, *factors)

    @property
    def edits(self) -> int:
        """Single changes."""
        return max(1, len(self.words))

    @property
    def sentence(self) -> str:
        """What differs from the right formula."""
        return f"your lower level is {FORMULA}, but " + "; and ".join(self.words)


def _factor_words(name: str, factor: float) -> str:
    if factor == 0:
        return f"without {name}"
    if is_almost_one(factor):
        return left_words(factor, name)
    sign = "−" if factor == -1 else f"{number(factor)}·"
    return f"with {sign}{name} in place of {name}"


def binding_rows(probe: Probe, setting: PartSetting) -> tuple[int, ...] | None:
    """Rows that are held; ``None`` where rounding decides about one of them, or there is no solution."""
    if setting.program == setting.choosing == RIGHT_LOWER:
        return tuple(np.flatnonzero(probe.expected[probe.problem.m :] > 0).tolist())
    by = setting.program
    for name, change in setting.choosing.blocks:
        by = by.with_block(name, change)
    return _rows_by(probe, by)


@lru_cache(maxsize=20_000)
def _rows_by(probe: Probe, by: LowerProgram) -> tuple[int, ...] | None:
    program = by.program(probe.problem.arrays, probe.x)
    pair = solved(program)
    rows = None if pair is None else clearly_held(program, pair)
    return None if rows is None else tuple(rows)


@lru_cache(maxsize=20_000)
def part_columns(probe: Probe, setting: PartSetting = RIGHT_SETTING) -> tuple[Vector, Vector, Vector] | None:
    """Multipliers that each term alone gives (p, 3), the free minimiser (m,), and what multipliers do to y (m, p).

    ``None`` where the changed formula has no answer.
    """
    a, held = probe.problem.arrays, binding_rows(probe, setting)
    if held is None:
        return None
    program, S = setting.program.program(a, probe.x), list(held)
    changes = dict(setting.program.blocks)
    at = rebuilt(probe.x, changes.get("x", 1.0))
    Ax, b = rebuilt(a.A, changes.get("A", 1.0)) @ at, rebuilt(a.b, changes.get("b", 1.0))
    if "r" in setting.swaps:
        Ax, b = np.roll(Ax, 1), np.roll(b, 1)
    B = rebuilt(program.B, "misread") if "B" in setting.swaps else program.B
    in_free, in_K, in_y = (a.f_yy if place in setting.swaps else program.G for place in ("y₀", "K", "y"))
    try:
        free, back = -np.linalg.solve(in_free, program.q), np.linalg.solve(in_y, B.T)
        from_terms = np.zeros((len(a.b), 3))
        if S:
            W = B[S]
            right = np.stack([Ax[S], -b[S], -W @ free], axis=1)
            from_terms[S] = np.linalg.solve(W @ np.linalg.solve(in_K, W.T), right)
    except np.linalg.LinAlgError:
        return None
    return from_terms, free, back


def factors_read_off(
    answers: Sequence[StageAnswer], roughly: float, setting: PartSetting = RIGHT_SETTING
) -> Iterator[ByParts]:
    """The formula whose factors suit all answers best, if they suit them at all."""
    lams, terms, ys, parts = [], [], [], []
    for answer in answers:
        columns, m = part_columns(answer.probe, setting), answer.probe.problem.m
        if columns is None:
            continue
        from_terms, free, back = columns
        lams.append(answer.got[m:])
        terms.append(from_terms)
        ys.append(answer.got[:m])
        parts.append(np.stack([free, back @ answer.got[m:]], axis=1))
    if 2 * len(lams) < len(answers):
        return
    of_lam = _suited(np.concatenate(terms), np.concatenate(lams), roughly)
    of_y = None if of_lam is None else _suited(np.concatenate(parts), np.concatenate(ys), roughly)
    if of_lam is not None and of_y is not None and any((*of_lam, *of_y)):
        yield ByParts(of_lam, of_y, setting)


def part_settings(programs: Sequence[LowerProgram]) -> Iterator[PartSetting]:
    """One or two changes of what the formula is made of; programs give those of blocks."""
    changed = [program for program in programs if program.blocks and program.form == "program"]
    everywhere = [p for p in changed if {name for name, _ in p.blocks} <= {"g_xy", "g_y", "A", "b", "x"}]
    swaps = [(name,) for name in SWAPS]
    yield from (PartSetting(swaps=swap) for swap in (*swaps, *combinations(SWAPS, 2)))
    yield from (PartSetting(choosing=program) for program in changed)
    yield from (PartSetting(program) for program in everywhere)
    yield from (PartSetting(program, swaps=swap) for program in everywhere for swap in swaps)
    yield from (PartSetting(choosing=program, swaps=swap) for program in changed for swap in swaps)
    for program, other in product(everywhere, changed):
        if not {name for name, _ in program.blocks} & {name for name, _ in other.blocks}:
            yield PartSetting(program, other)


def settings_read_off(
    answers: Sequence[StageAnswer], roughly: float, programs: Sequence[LowerProgram]
) -> Iterator[ByParts]:
    """Formulas with something else in one or two places, and factors; those whose binding rows are the answers'."""
    for setting in part_settings(programs):
        if all(_same_rows(answer, binding_rows(answer.probe, setting)) for answer in answers):
            yield from factors_read_off(answers[:FEW], roughly, setting)


def _same_rows(answer: StageAnswer, held: tuple[int, ...] | None) -> bool:
    """Whether multipliers other than 0 are on these rows alone."""
    lam = answer.got[answer.probe.problem.m :]
    return held is None or set(np.flatnonzero(lam).tolist()) <= set(held)


def _suited(columns: Vector, values: Vector, roughly: float) -> tuple[float, ...] | None:
    factors = np.linalg.lstsq(columns, values)[0]
    allowed = max(LEFT, roughly) * (1.0 + float(np.abs(values).max(initial=0.0)))
    if not (np.abs(columns @ factors - values) <= allowed).all():
        return None
    return tuple(plain_factor(float(value), max(NOTHING, roughly)) for value in factors)
