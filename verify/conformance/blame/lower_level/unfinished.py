"""Iterations for a quadratic program that are stopped after some steps, started from zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from verify.conformance.blame.lower_level.programs import MOST_STEPS, Form, Pair, QuadraticProgram

Steps = Callable[[QuadraticProgram, float], Iterator[Pair]]
Size = Callable[[QuadraticProgram], float]


def _dual(program: QuadraticProgram, step: float) -> Iterator[Pair]:
    """Projected gradient steps on the multipliers, y minimised for each of them."""
    through, lam = np.linalg.solve(program.G, program.B.T), np.zeros(len(program.r))
    while True:
        lam = np.maximum(lam + step * program.violated(program.free + through @ lam), 0.0)
        yield program.free + through @ lam, lam


def _dual_late(program: QuadraticProgram, step: float) -> Iterator[Pair]:
    """The same, y as it was before the last step on the multipliers."""
    before = program.free
    for y, lam in _dual(program, step):
        yield before, lam
        before = y


def _together(program: QuadraticProgram, step: float) -> Iterator[Pair]:
    """Gradient steps on y and the multipliers at once."""
    y, lam = np.zeros(len(program.q)), np.zeros(len(program.r))
    while True:
        down = program.G @ y + program.q - program.B.T @ lam
        y, lam = y - step * down, np.maximum(lam + step * program.violated(y), 0.0)
        yield y, lam


def _in_turn(program: QuadraticProgram, step: float) -> Iterator[Pair]:
    """A gradient step on y, then one on the multipliers at the new y."""
    y, lam = np.zeros(len(program.q)), np.zeros(len(program.r))
    while True:
        y = y - step * (program.G @ y + program.q - program.B.T @ lam)
        lam = np.maximum(lam + step * program.violated(y), 0.0)
        yield y, lam


def _descent(program: QuadraticProgram, step: float) -> Iterator[Pair]:
    """Gradient steps on g alone."""
    y, lam = np.zeros(len(program.q)), np.zeros(len(program.r))
    while True:
        y = y - step * (program.G @ y + program.q)
        yield y, lam


KINDS: dict[str, tuple[Steps, str]] = {
    "dual": (_dual, "projected gradient steps of size {1} on λ, y minimised for each"),
    "late dual": (_dual_late, "projected gradient steps of size {1} on λ, y from before the last"),
    "together": (_together, "primal-dual gradient steps of size {1}, y and λ at once"),
    "in turn": (_in_turn, "primal-dual gradient steps of size {1}, first y, then λ"),
    "descent": (_descent, "gradient steps of size {1} on g, without rows"),
}
"""Iterations, and in words with the size of a step."""


def _constant(step: float) -> Size:
    return lambda _: step


def _dual_lipschitz(program: QuadraticProgram) -> float:
    return float(1 / np.linalg.norm(program.B @ np.linalg.solve(program.G, program.B.T), 2))


def _lipschitz(program: QuadraticProgram) -> float:
    return float(1 / np.linalg.norm(program.G, 2))


SIZES: dict[str, Size] = {f"{step:g}": _constant(step) for step in (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3)} | {
    "1/‖Bg_yy⁻¹Bᵀ‖": _dual_lipschitz, "1/‖g_yy‖": _lipschitz,
}  # fmt: skip
"""Step sizes that are tried."""


def _form(steps: Steps, size: Size) -> Form:
    def form(program: QuadraticProgram, count: float) -> Pair | None:
        return next(islice(steps(program, size(program)), max(0, int(count) - 1), None), None)

    return form


UNFINISHED: dict[str, tuple[Form, str]] = {
    f"{kind}, {size}": (_form(steps, rule), "{0} " + words.replace("{1}", size) + ", stand in place of the solution")
    for kind, (steps, words) in KINDS.items() for size, rule in SIZES.items()
}  # fmt: skip
"""Ways to solve with a number of steps, under the names that a program's form has."""


def stopped_after(program: QuadraticProgram, alike: Callable[[Pair], bool]) -> Iterator[tuple[str, float]]:
    """Forms and numbers of steps after which an iteration is at a pair."""
    for kind, (steps, _) in KINDS.items():
        for size, rule in SIZES.items():
            with np.errstate(all="ignore"):
                for k, pair in enumerate(islice(steps(program, rule(program)), MOST_STEPS), 1):
                    if alike(pair):
                        yield f"{kind}, {size}", float(k)
                        break
                    if not np.abs(pair[0]).max() < 1e12:
                        break
