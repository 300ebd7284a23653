"""Ways to compute the lower-level pair: the program with blocks changed, another way to solve it, answers changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from spec import Quadratic
from spec.blocks.quadratic import QuadraticArrays
from spec.exact import Vector
from verify.conformance.blame.activation.ramps import number
from verify.conformance.blame.lower_level.lower_outputs import OUTPUTS
from verify.conformance.blame.lower_level.programs import FORMS, Pair, QuadraticProgram, clearly_held, holding, solved
from verify.conformance.blame.lower_level.unfinished import UNFINISHED
from verify.conformance.probes.probes import Probe
from verify.method.factors import is_almost_one, left_words

BLOCKS: dict[str, str] = {
    "g_yy": "g_yy y", "g_xy": "g_xyᵀx", "g_y": "g_y", "A": "A x", "B": "B y and Bᵀλ", "b": "b", "x": "x",
    "r": "A x − b",
}  # fmt: skip
"""Blocks of the lower level, and the terms that they stand in."""
REBUILT: dict[str, tuple[str, ...]] = {
    "transposed": ("g_xy", "A", "B"), "diagonal": ("g_yy", "g_xy", "A", "B"),
    "absolute": ("A", "B", "b", "g_y"), "misread": ("g_xy", "A", "B"), "moved": ("b", "g_y", "r"),
    "of f": ("g_y", "g_xy", "g_yy"),
}  # fmt: skip
"""Other ways to change a block than by a factor, and blocks that are changed so."""
ADDED: dict[str, str] = {
    "εI": "{0}·I is added to g_yy", "1": "{0} is added to every entry of g_y", "f": "g + {0}·f is minimised in place "
    "of g", "margin": "h ≤ −{0} is held in place of h ≤ 0",
}  # fmt: skip
"""What may be added to the program, times a number."""
SOLVED_BY = FORMS | UNFINISHED
"""Every way to solve the program, by name."""
Change = tuple[str, str | float]
Where = Literal["everywhere", "choosing", "after"]
STANDING: dict[Where, str] = {
    "everywhere": "", "choosing": " where the binding rows are chosen", "after": " once the binding rows are chosen",
}  # fmt: skip
"""Where changes of blocks stand, in words."""
RIGHT_LOWER_FORM = "the minimiser of g over h ≤ 0 and its multipliers, g_yy y + g_xyᵀx + g_y − Bᵀλ = 0"
"""The right lower level."""


@dataclass(frozen=True)
class LowerProgram:
    """Another lower level, and an explanation of a stage that solves it; the defaults are right.

    ``blocks`` maps names to factors or to ways to rebuild them, ``added`` to numbers; ``outputs`` are changes of what
    comes out, in turn, each with a number. ``form`` is how it is solved, with a number of its own. Changes of blocks
    may stand only where the rows that bind are chosen, or only where they are held ``after`` that.
    """

    blocks: tuple[Change, ...] = ()
    added: tuple[tuple[str, float], ...] = ()
    form: str = "program"
    number: float = 0.0
    outputs: tuple[tuple[str, float], ...] = ()
    where: Where = "everywhere"

    def with_block(self, name: str, change: str | float) -> LowerProgram:
        """With one more block changed."""
        return replace(self, blocks=tuple(sorted((*self.blocks, (name, change)), key=str)))

    def program(self, a: QuadraticArrays, x: Vector) -> QuadraticProgram:
        """The program at a point."""
        changes = dict(self.blocks)
        used: dict[str, Any] = {"x": rebuilt(x, changes.get("x", 1.0))}
        for name in ("g_yy", "g_xy", "g_y", "A", "B", "b"):
            change = changes.get(name, 1.0)
            used[name] = getattr(a, "f" + name[1:]) if change == "of f" else rebuilt(getattr(a, name), change)
        at = used["x"]
        G, q = used["g_yy"], used["g_xy"].T @ at + used["g_y"]
        r = rebuilt(used["A"] @ at - used["b"], changes.get("r", 1.0))
        added: Mapping[str, float] = dict(self.added)
        if "εI" in added:
            G = G + added["εI"] * np.eye(len(G))
        if "1" in added:
            q = q + added["1"]
        if "f" in added:
            G, q = G + added["f"] * a.f_yy, q + added["f"] * (a.f_xy.T @ at + a.f_y)
        return QuadraticProgram(G, q, used["B"], r + added.get("margin", 0.0))

    def pair(self, problem: Any, x: Vector) -> Pair | None:
        """The pair it answers; ``None`` where the changed program has no solution."""
        return self.changed(replace(self, outputs=()).found(problem, x), problem, x)

    def found(self, problem: Any, x: Vector) -> Pair | None:
        """What it solves, before anything comes out."""
        program = self.program(problem.arrays, x)
        try:
            with np.errstate(all="ignore"):
                pair = SOLVED_BY[self.form][0](program, self.number)
                if self.where != "everywhere":
                    right = RIGHT_LOWER.program(problem.arrays, x)
                    chosen = pair if self.where == "choosing" else solved(right)
                    rows = None if chosen is None else clearly_held(program if chosen is pair else right, chosen)
                    pair = None if rows is None else holding(program if self.where == "after" else right, rows)
        except np.linalg.LinAlgError:
            return None
        return pair

    def changed(self, pair: Pair | None, problem: Any, x: Vector) -> Pair | None:
        """What comes out of a pair that was found."""
        if not self.outputs:
            return pair
        program = self.program(problem.arrays, x)
        try:
            with np.errstate(all="ignore"):
                for name, value in self.outputs:
                    pair = None if pair is None else OUTPUTS[name].of(pair, program, value)
        except np.linalg.LinAlgError:
            return None
        return pair

    def answer(self, probe: Probe) -> Vector | None:
        """Its pair at a probe, y first; ``None`` where there is none."""
        if not isinstance(probe.problem, Quadratic):
            return None
        return _answer(self, probe)

    @property
    def words(self) -> tuple[str, ...]:
        """Each change in words."""
        words = [_block_words(name, change) + STANDING[self.where] for name, change in self.blocks]
        words += [ADDED[name].format(number(value)) for name, value in self.added]
        if self.form != "program":
            words.append(SOLVED_BY[self.form][1].replace("{0}", number(self.number)))
        return (*words, *(OUTPUTS[name].told(value) for name, value in self.outputs))

    @property
    def edits(self) -> int:
        """Single changes."""
        return max(1, len(self.words))

    @property
    def sentence(self) -> str:
        """What differs from the right lower level."""
        return f"your lower level is {RIGHT_LOWER_FORM}, but " + "; and ".join(self.words)


RIGHT_LOWER = LowerProgram()


@lru_cache(maxsize=20_000)
def _found(program: LowerProgram, probe: Probe) -> Pair | None:
    return program.found(probe.problem, probe.x)


@lru_cache(maxsize=20_000)
def _answer(program: LowerProgram, probe: Probe) -> Vector | None:
    pair = program.changed(_found(replace(program, outputs=()), probe), probe.problem, probe.x)
    if pair is None:
        return None
    answer = np.concatenate(pair)
    return answer if np.isfinite(answer).all() else None


def rebuilt(block: Vector, change: str | float) -> Vector:
    """A block changed; a square one is wanted to be transposed, or to have a diagonal."""
    if not isinstance(change, str):
        return change * block
    if change == "absolute":
        return np.abs(block)
    if change == "moved":
        return np.roll(block, 1)
    if change == "misread":
        return block.ravel().reshape(block.shape[::-1]).T
    if block.shape[0] != block.shape[-1]:
        return block
    if change == "transposed":
        return block.T
    return np.diag(np.diag(block))


def _block_words(name: str, change: str | float) -> str:
    term = BLOCKS[name]
    if isinstance(change, str):
        rebuilt_words = {
            "transposed": f"{name} is transposed where it is square",
            "diagonal": f"only the diagonal of {name} is used",
            "absolute": f"|{name}| stands in place of {name}",
            "misread": f"the entries of {name} are read column by column where they lie row by row",
            "moved": f"the entries of {term} are moved on by one row",
            "of f": f"f{name[1:]} stands in place of {name}",
        }  # fmt: skip
        return rebuilt_words[change]
    if change == 0:
        return "it is solved at x = 0" if name == "x" else f"without {term}"
    if is_almost_one(change):
        return left_words(change, term)
    sign = "−" if change == -1 else f"{number(change)}·"
    used = "(A x − b)" if name == "r" else name
    return f"with {sign}{used} in place of {used}"
