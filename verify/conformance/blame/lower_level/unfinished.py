"""Iterations for a quadratic program that end too soon: after some steps, or by a rule that is too loose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.lower_level.programs import MOST_STEPS, Form, Pair, QuadraticProgram, penalised
from verify.method.endings import STOPS, Met, looked_at, met_everywhere, plainest, same_step

Steps = Callable[[QuadraticProgram, float], Iterator[Pair]]
Size = Callable[[QuadraticProgram], float]
FAR = 1e12
"""Where an iteration is taken to diverge."""
ENOUGH = 3000
"""Steps after which a rule that has not stopped one yet never will."""


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


def _accelerated(program: QuadraticProgram, step: float) -> Iterator[Pair]:
    """The same with Nesterov's extrapolation."""
    through, lam = np.linalg.solve(program.G, program.B.T), np.zeros(len(program.r))
    ahead, t = lam, 1.0
    while True:
        new = np.maximum(ahead + step * program.violated(program.free + through @ ahead), 0.0)
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead, lam, t = new + (t - 1) / t_new * (new - lam), new, t_new
        yield program.free + through @ lam, lam


def _sweeps(program: QuadraticProgram, step: float) -> Iterator[Pair]:
    """Multipliers one by one, each solved for with the others held, row after row."""
    through, lam = np.linalg.solve(program.G, program.B.T), np.zeros(len(program.r))
    Q, r = program.B @ through, program.violated(program.free)
    while True:
        for i in range(len(r)):
            lam = lam.copy()
            lam[i] = max(lam[i] + step * (r[i] - Q[i] @ lam) / Q[i, i], 0.0)
        yield program.free + through @ lam, lam


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


def _augmented(program: QuadraticProgram, weight: float) -> Iterator[Pair]:
    """The method of multipliers: y minimises g with rows moved by λ/weight as a penalty."""
    lam = np.zeros(len(program.r))
    while True:
        moved = QuadraticProgram(program.G, program.q, program.B, program.r + lam / weight)
        pair = penalised(moved, weight)
        if pair is None:
            return
        y, lam = pair
        yield y, lam


def _split(program: QuadraticProgram, weight: float, *, bound: bool = False) -> Iterator[Pair]:
    """ADMM with By = s and s ≥ r, from s = 0, or from the ``bound`` s = max(r, 0)."""
    through = np.linalg.inv(program.G + weight * program.B.T @ program.B)
    u = np.zeros(len(program.r))
    s = np.maximum(program.r, 0.0) if bound else u
    while True:
        y = through @ (weight * program.B.T @ (s - u) - program.q)
        s = np.maximum(program.B @ y + u, program.r)
        u = u + program.B @ y - s
        yield y, -weight * u


def _constant(step: float) -> Size:
    return lambda _: step


def _dual_lipschitz(program: QuadraticProgram) -> float:
    return float(1 / np.linalg.norm(program.B @ np.linalg.solve(program.G, program.B.T), 2))


def _dual_trace(program: QuadraticProgram) -> float:
    return float(1 / np.trace(program.B @ np.linalg.solve(program.G, program.B.T)))


def _lipschitz(program: QuadraticProgram) -> float:
    return float(1 / np.linalg.norm(program.G, 2))


PLAIN: dict[str, Size] = {f"{step:g}": _constant(step) for step in (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3)}
"""Step sizes that are tried."""
DUAL = PLAIN | {"1/‖Bg_yy⁻¹Bᵀ‖": _dual_lipschitz, "1/tr(Bg_yy⁻¹Bᵀ)": _dual_trace, "1/‖g_yy‖": _lipschitz}
SIZES = PLAIN | {"1/‖Bg_yy⁻¹Bᵀ‖": _dual_lipschitz, "1/‖g_yy‖": _lipschitz}
WEIGHTS = {f"{by:g}": _constant(by) for by in (1.0, 0.1, 10.0, 100.0)}
KINDS: dict[str, tuple[Steps, dict[str, Size], str]] = {
    "dual": (_dual, DUAL, "projected gradient steps of size {1} on λ, y minimised for each"),
    "late dual": (_dual_late, DUAL, "projected gradient steps of size {1} on λ, y from before the last"),
    "accelerated": (_accelerated, DUAL, "accelerated projected gradient steps of size {1} on λ, y minimised for each"),
    "sweeps": (_sweeps, {f"{by:g}": _constant(by) for by in (1.0, 0.5, 1.5)}, "sweeps over the rows, each λ solved for "
               "with the others held, relaxed by {1}"),
    "together": (_together, SIZES, "primal-dual gradient steps of size {1}, y and λ at once"),
    "in turn": (_in_turn, SIZES, "primal-dual gradient steps of size {1}, first y, then λ"),
    "descent": (_descent, SIZES, "gradient steps of size {1} on g, without rows"),
    "augmented": (_augmented, {f"{by:g}": _constant(by) for by in (1.0, 10.0, 100.0, 1e3)}, "steps of the method of "
                  "multipliers of weight {1}"),
    "split": (_split, WEIGHTS, "steps of ADMM of weight {1} with By = s, from s = 0"),
    "split, bound": (partial(_split, bound=True), WEIGHTS, "steps of ADMM of weight {1} with By = s, from s = "
                     "max(Ax − b, 0)"),
}  # fmt: skip
"""Iterations with the sizes of steps that they are tried with, and in words with one."""
RULES = STOPS["lower_level"]


def _seen(rule: str, program: QuadraticProgram, pairs: Sequence[Pair]) -> Vector:
    """What a rule sees after every step, the first pair being the start."""
    y, lam = (np.array([pair[half] for pair in pairs]) for half in (0, 1))
    h = np.array([program.violated(now) for now in y[1:]])
    space = {"y": y[1:], "lam": lam[1:], "y_before": y[:-1], "lam_before": lam[:-1], "h": h}
    return looked_at(RULES[rule], space)


class EarlyEnd(NamedTuple):
    """An iteration by kind and size of step, and what stops it: a number of steps, or the name of a rule."""

    kind: str
    size: str
    rule: str = ""

    def __str__(self) -> str:
        return f"{self.kind}, {self.size}" + (f", {self.rule}" if self.rule else "")

    @property
    def form(self) -> tuple[Form, str]:
        """The pair that comes out, from a program and the number, and in words."""
        words = KINDS[self.kind][2].replace("{1}", self.size)
        if not self.rule:
            return partial(_counted, self), f"{{0}} {words}, stand in place of the solution"
        return partial(_stopped, self), f"{words}, end where {self.rule} is {{0}} or less"

    def started(self, program: QuadraticProgram) -> Iterator[Pair]:
        """The iteration."""
        steps, sizes, _ = KINDS[self.kind]
        return steps(program, sizes[self.size](program))


def _start(ending: EarlyEnd, program: QuadraticProgram) -> Pair:
    primal = ending.kind in ("together", "in turn", "descent")
    return np.zeros(len(program.q)) if primal else program.free, np.zeros(len(program.r))


def _counted(ending: EarlyEnd, program: QuadraticProgram, count: float) -> Pair | None:
    return next(islice(ending.started(program), max(0, int(count) - 1), None), None)


def _stopped(ending: EarlyEnd, program: QuadraticProgram, most: float) -> Pair | None:
    """Where the rule ends it; ``None`` where it never does, or where rounding decides."""
    before = _start(ending, program)
    for pair in islice(ending.started(program), ENOUGH):
        value = _seen(ending.rule, program, [before, pair])[0]
        if not np.abs(pair[0]).max(initial=0.0) < FAR:
            return None
        if value <= most:
            return pair
        before = pair
    return None


UNFINISHED: dict[str, tuple[Form, str]] = {
    str(ending): ending.form
    for kind, (_, sizes, _) in KINDS.items()
    for ending in (EarlyEnd(kind, size, rule) for size in sizes for rule in ("", *RULES))
}
"""Ways to solve with too few steps, under the names that a program's form has."""
Alike = Callable[[Pair], bool]
LOOKED_AT, RESTS = 50, 1e-14
"""How often it is looked whether an iteration has ended by itself, and the relative length of a step that is none."""


class Walk:
    """An iteration on a program, kept as far as it was followed."""

    def __init__(self, ending: EarlyEnd, program: QuadraticProgram) -> None:
        self.pairs = [_start(ending, program)]
        self._ahead = islice(ending.started(program), MOST_STEPS)

    @classmethod
    def of(cls, ending: EarlyEnd, program: QuadraticProgram) -> Walk:
        """The one that was followed before, if it was."""
        walk = program.walks.get(ending)
        if not isinstance(walk, Walk):
            walk = program.walks[ending] = cls(ending, program)
        return walk

    def steps(self) -> Iterator[tuple[int, Pair]]:
        """Every step, from 1, with the pair after it."""
        for k in range(1, MOST_STEPS + 1):
            if k == len(self.pairs):
                if (pair := next(self._ahead, None)) is None:
                    return
                self.pairs.append(pair)
            yield k, self.pairs[k]

    def rests(self, k: int) -> bool:
        """Whether nothing moves any more at a step."""
        old, new = (np.concatenate(self.pairs[i]) for i in (k - 1, k))
        return bool((np.abs(new - old) <= RESTS * (1.0 + np.abs(new))).all())


def _met(ending: EarlyEnd, program: QuadraticProgram, alike: Alike) -> Met | None:
    """Where an iteration passes an answer; ``None`` where it does not."""
    walk, at = Walk.of(ending, program), list[int]()
    for k, pair in walk.steps():
        if alike(pair):
            at.append(k)
        elif at:
            break
        if not np.abs(pair[0]).max(initial=0.0) < FAR:
            break
        if k % LOOKED_AT == 0 and walk.rests(k):
            # Where it has ended it stays.
            at += [MOST_STEPS] if at else []
            break
    if not at:
        return None
    passed = walk.pairs[: at[-1] + 1]
    return Met(at[0], at[-1], cache(lambda rule: _seen(rule, program, passed)))


@lru_cache(maxsize=1)
def _endings() -> tuple[EarlyEnd, ...]:
    return tuple(EarlyEnd(kind, size) for kind, (_, sizes, _) in KINDS.items() for size in sizes)


def stopped_after(programs: Sequence[tuple[QuadraticProgram, Alike]]) -> Iterator[tuple[str, float]]:
    """Forms with a number of steps, or with the number of a rule, that end where answers are.

    ``programs`` come with whether a pair is the answer to them; the first is the one to be met with fewest steps.
    """
    for ending in _endings():
        with np.errstate(all="ignore"):
            met = met_everywhere(_met(ending, program, alike) for program, alike in programs)
        if not met:
            continue
        step = same_step(met)
        if step is not None:
            yield str(ending), float(step)
        for rule in RULES:
            number = plainest(met, rule)
            if number is not None:
                yield str(ending._replace(rule=rule)), number
