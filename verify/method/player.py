"""The method's formulas played, whatever they have become: procedure by procedure, and Algorithm 2 as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from f2csa_ref.lower_level.exact import solve_program
from spec import OuterParameters
from spec.exact import Vector
from verify.method.lines import FORMULAS, Formulas, Procedure

Space = dict[str, Any]


def norm(value: Any) -> float:
    """Euclidean length of a vector, largest singular value of a matrix."""
    return float(np.linalg.norm(value, 2))


def misread(matrix: Any) -> Any:
    """A matrix whose entries are read column by column where they lie row by row; square ones are transposed."""
    return np.asarray(matrix).ravel().reshape(matrix.shape[::-1]).T


def binding(hessian: Any, slope: Any, rows: Any, least: Any) -> Any:
    """Which rows of ``rows @ y >= least`` hold with equality, and push, at the minimum; shape (p,)."""
    scale = float(np.linalg.norm(hessian, 2))
    size = float(np.linalg.norm(slope)) / scale + float(np.abs(least).max(initial=0.0))
    _, lam = solve_program(hessian / scale, slope / scale, rows, least, size=size or 1.0, x=slope)
    return lam > 0


def spread(values: Any, where: Any) -> Any:
    """Values put back to their rows, zeros elsewhere."""
    whole = np.zeros(len(where))
    whole[where] = values
    return whole


FUNCTIONS: Space = {
    "norm": norm, "misread": misread, "binding": binding, "spread": spread, "solve": np.linalg.solve, "clip": np.clip,
    "floor": np.floor,
    "cumprod": np.cumprod, "maximum": np.maximum, "minimum": np.minimum, "where": np.where, "abs": np.abs, "sqrt":
    np.sqrt, "exp": np.exp, "zeros": np.zeros_like, "ones": np.ones_like, "sum": np.sum, "len": len,
    "norm_1": lambda v: float(np.abs(v).sum()), "norm_max": lambda v: float(np.abs(v).max(initial=0.0)),
    "argmax": lambda v: int(np.argmax(v)), "eigvalsh": np.linalg.eigvalsh,
    "nearest": lambda matrix, right: np.linalg.lstsq(matrix, right)[0],
    "frobenius": lambda v: float(np.sqrt((np.asarray(v) ** 2).sum())),
    "shifted": lambda v: np.roll(v, 1), "joined": lambda x, y: np.concatenate([x, y]),
}  # fmt: skip
"""What a formula may call; a procedure adds its own."""


@lru_cache(maxsize=8192)
def compiled(formula: str) -> CodeType:
    """Its code, made once."""
    return compile(formula, f"<{formula}>", "eval")


def lengths(rows: Any, order: float = 2) -> Any:
    """Of one vector, shape (1,), or of each of many rows, shape (..., 1)."""
    return np.linalg.norm(rows, ord=order, axis=-1, keepdims=True)


ROW_FUNCTIONS: Space = {
    "norm": lengths, "norm_1": lambda v: lengths(v, 1), "norm_max": lambda v: lengths(v, np.inf),
    "shifted": lambda v: np.roll(v, 1, axis=-1), "shortest": lambda rows: int(np.argmin(lengths(rows))),
}  # fmt: skip
"""What formulas of Algorithm 2 may call besides or instead: there a value is a vector or many rows of them."""


OF_ROWS: tuple[Procedure, ...] = ("step", "block", "output")
"""Procedures of Algorithm 2."""


class Player:
    """Plays formulas; right as it stands."""

    def __init__(self, formulas: Formulas | None = None) -> None:
        self.formulas = formulas or FORMULAS
        self.code = {
            procedure: [(name, compiled(text)) for name, text in steps.items()]
            for procedure, steps in self.formulas.items()
        }
        self.memory: dict[tuple[Any, ...], Any] = {}
        self.globals: Space = FUNCTIONS | {"previous": self.previous, "first": self.first}

    def previous(self, key: str, value: Any) -> Any:
        """The value of the call before, where that had the same shape."""
        slot = ("previous", key, np.shape(value))
        answer = self.memory.get(slot, value)
        self.memory[slot] = np.array(value)
        return answer

    def first(self, key: str, value: Any) -> Any:
        """The first value of this shape, kept for ever."""
        return self.memory.setdefault(("first", key, np.shape(value)), np.array(value))

    def run(self, procedure: Procedure, space: Space, more: Mapping[str, Any] | None = None) -> Space:
        """The space with all of a procedure's values, old ones overwritten; ``more`` are functions it calls."""
        names = self.globals if more is None else {**self.globals, **more}
        for name, code in self.code[procedure]:
            space[name] = eval(code, names, self.read(name, space))
        return space

    def read(self, line: str, space: Space) -> Any:  # noqa: ARG002  # every line reads alike
        """Where a line's names are looked up."""
        return space

    def line(self, procedure: Procedure, wanted: str, known: Space) -> Any:
        """One line from values that are known, and whatever of its procedure it takes."""
        lines = dict(self.code[procedure])
        names = {**self.globals, **ROW_FUNCTIONS} if procedure in OF_ROWS else self.globals
        space: Space = dict(known)

        def made(name: str) -> Any:
            for other in lines[name].co_names:
                if other in lines and other != name and other not in space:
                    space[other] = made(other)
            return eval(lines[name], names, self.read(name, space))

        return made(wanted)

    def play_loop(
        self, oracle: Callable[[Any], Any], x0: Vector, q: OuterParameters, uniform: Callable[[], Any]
    ) -> Space:
        """Algorithm 2 up to its output, one run (n,) or many (R, n): ``x_bar``, ``answers`` by block, ``path``."""
        x = np.array(x0)
        space: Space = {"D": q.D, "eta": q.eta, "M": q.M, "K": q.K, "x": x, "step": 0 * x, "total": 0 * x}
        drawn = ROW_FUNCTIONS | {"uniform": uniform, "oracle": lambda z: np.asarray(oracle(z))}
        path, means, answers = [x], [], []
        for _ in range(q.K):
            told = 0 * x
            for _ in range(q.M):
                self.run("step", space, drawn)
                space |= {"x": space["x_next"], "step": space["step_next"], "total": space["total_next"]}
                told = told + space["g"]
                path.append(space["x"])
            self.run("block", space, drawn)
            space["total"] = space["total_next"]
            means.append(space["mean"])
            answers.append(told / q.M)
        return space | {"x_bar": np.array(means), "answers": np.array(answers), "path": np.array(path)}

    def play_run(self, oracle: Any, x0: Vector, parameters: OuterParameters, rng: Any) -> Any:
        """One run of Algorithm 2, as a subject answers it."""
        space = self.play_loop(oracle, x0, parameters, rng.random)
        self.run("output", space, {**ROW_FUNCTIONS, "index": rng.integers})
        return {name: space[name] for name in ("x_out", "x_bar", "path")}
