r"""Ways to solve, or not quite to solve, a quadratic program: :math:`\min ½ y^TGy + q^Ty` over :math:`By \ge r`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice

import daqp
import numpy as np

from spec.exact import Vector

BOUND = 1e-9
"""Multipliers up to this part of the largest are those of slack rows."""
UNCLEAR = 1e-7
"""A row whose value and multiplier are both up to this is as good as either."""
WORST_CONDITION = 1e10
"""Systems beyond this have no solution to speak of."""
NEWTON_STEPS = 80
MOST_STEPS = 1000
"""Most steps of an unfinished iteration that are tried."""
MOST_SETS = 300
"""Most sets of rows that are tried."""
Pair = tuple[Vector, Vector]


@dataclass(frozen=True, eq=False)
class QuadraticProgram:
    """G (m, m) symmetric, q (m,), B (p, m), r (p,); multipliers satisfy G y + q = Bᵀ lam."""

    G: Vector
    q: Vector
    B: Vector
    r: Vector

    @cached_property
    def free(self) -> Vector:
        """The minimiser without rows."""
        return np.asarray(np.linalg.solve(self.G, -self.q))

    @cached_property
    def walks(self) -> dict[Hashable, object]:
        """Iterations on it, as far as they were followed."""
        return {}

    def violated(self, y: Vector) -> Vector:
        """How far each row is violated, ``r - B y``: the row value h."""
        return np.asarray(self.r - self.B @ y)


Form = Callable[[QuadraticProgram, float], Pair | None]


def solved(program: QuadraticProgram, _: float = 0.0) -> Pair | None:
    """The solution; ``None`` if there is none."""
    # The solver takes no read-only arrays.
    G, q, B, r = np.array(program.G), np.array(program.q), program.B, program.r
    p = len(r)
    try:
        np.linalg.cholesky(G)
    except np.linalg.LinAlgError:
        return None
    _, _, flag, info = daqp.solve(G, q, np.ascontiguousarray(-B), -r, np.full(p, -1e30), np.zeros(p, np.int32))
    if flag != 1:
        return None
    lam = np.asarray(info["lam"])[-p:]
    held = np.flatnonzero(lam > BOUND * max(1.0, float(lam.max(initial=0.0))))
    return holding(program, held.tolist())


def independent(program: QuadraticProgram, held: Sequence[int]) -> bool:
    """Whether some rows can be held together in one way, however their system is solved."""
    W = program.B[list(held)]
    return not len(W) or bool(np.linalg.cond(W @ np.linalg.solve(program.G, W.T)) <= WORST_CONDITION)


def holding(program: QuadraticProgram, held: Sequence[int]) -> Pair | None:
    """The minimiser with some rows held as equations, as well as they can be held together."""
    G, q, p, m = program.G, program.q, len(program.r), len(program.q)
    lam = np.zeros(p)
    if not held:
        return program.free, lam
    W = program.B[list(held)]
    system = np.block([[G, -W.T], [W, np.zeros((len(held), len(held)))]])
    right = np.concatenate([-q, program.r[list(held)]])
    try:
        solution = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(system, right)[0]
    if not np.isfinite(solution).all():
        return None
    lam[list(held)] = solution[m:]
    return solution[:m], lam


def clearly_held(program: QuadraticProgram, pair: Pair) -> list[int] | None:
    """Rows that bind at a solution; ``None`` where rounding decides about one of them."""
    y, lam = pair
    if ((np.abs(lam) <= UNCLEAR) & (np.abs(program.violated(y)) <= UNCLEAR)).any():
        return None
    return np.flatnonzero(lam > UNCLEAR).tolist()


def unconstrained(program: QuadraticProgram, _: float) -> Pair:
    """No rows."""
    return program.free, np.zeros(len(program.r))


def equations(program: QuadraticProgram, _: float) -> Pair | None:
    """Every row an equation."""
    m, p = len(program.q), len(program.r)
    system = np.block([[program.G, -program.B.T], [program.B, np.zeros((p, p))]])
    solution = np.linalg.lstsq(system, np.concatenate([-program.q, program.r]))[0]
    return solution[:m], solution[m:]


def equations_cut(program: QuadraticProgram, _: float) -> Pair | None:
    """Every row an equation, negative multipliers replaced by 0, and y made from what is left of them."""
    through = np.linalg.solve(program.G, program.B.T)
    system, right = program.B @ through, program.violated(program.free)
    if np.linalg.cond(system) > WORST_CONDITION:
        return None
    lam = np.maximum(np.linalg.solve(system, right), 0.0)
    return program.free + through @ lam, lam


def mirrored(program: QuadraticProgram, _: float) -> Pair | None:
    """The inequality the other way round."""
    return solved(QuadraticProgram(program.G, program.q, -program.B, -program.r))


def projected(program: QuadraticProgram, _: float) -> Pair | None:
    """The minimiser without rows, moved to the nearest point that satisfies them; the multipliers of that move."""
    return solved(QuadraticProgram(np.eye(len(program.q)), -program.free, program.B, program.r))


def _violated_rows(program: QuadraticProgram, y: Vector) -> list[int]:
    return np.flatnonzero(program.violated(y) > 0).tolist()


def _held_once(program: QuadraticProgram, held: Sequence[int]) -> Pair | None:
    """Rows held as equations; ``None`` where they depend on each other, so that programs differ in what they make."""
    return holding(program, held) if independent(program, held) else None


def held_if_violated(program: QuadraticProgram, _: float) -> Pair | None:
    """One pass of an active set: the rows that the free minimiser violates are held as equations."""
    return _held_once(program, _violated_rows(program, program.free))


def held_and_cut(program: QuadraticProgram, _: float) -> Pair | None:
    """The same, negative multipliers replaced by 0, and y made from what is left of them."""
    pair = held_if_violated(program, 0.0)
    if pair is None:
        return None
    lam = np.maximum(pair[1], 0.0)
    return program.free + np.linalg.solve(program.G, program.B.T @ lam), lam


def held_then_dropped(program: QuadraticProgram, _: float) -> Pair | None:
    """The same, then once more without the rows whose multiplier came out negative."""
    pair = held_if_violated(program, 0.0)
    return None if pair is None else _held_once(program, np.flatnonzero(pair[1] > 0).tolist())


def held_then_added(program: QuadraticProgram, _: float) -> Pair | None:
    """The same, then once more with the rows that are violated at what came out."""
    pair = held_if_violated(program, 0.0)
    if pair is None:
        return None
    first = _violated_rows(program, program.free)
    touched = [i for i in _violated_rows(program, pair[0]) if i not in first]
    if any(abs(program.violated(pair[0])[i]) <= UNCLEAR for i in touched):
        return None
    return _held_once(program, sorted({*first, *touched}))


def all_then_dropped(program: QuadraticProgram, _: float) -> Pair | None:
    """Every row held as an equation, then once more only those whose multiplier came out positive."""
    every = [*range(len(program.r))]
    pair = _held_once(program, every)
    return None if pair is None else _held_once(program, np.flatnonzero(pair[1] > 0).tolist())


def one_at_a_time(program: QuadraticProgram, _: float) -> Pair | None:
    """Rows added most violated first until none is, and never dropped."""
    held: list[int] = []
    pair: Pair | None = (program.free, np.zeros(len(program.r)))
    while pair is not None and len(held) < len(program.r):
        h = program.violated(pair[0])
        h[held] = -np.inf
        if h.max() <= UNCLEAR:
            break
        held.append(int(np.argmax(h)))
        pair = _held_once(program, held)
    return pair


def _first_of(program: QuadraticProgram, sizes: Sequence[int], passes: Callable[[Pair], bool]) -> Pair | None:
    """The pair of the first set of rows that passes, in turn of their number; dependent rows are no set."""
    sets = (rows for size in sizes for rows in combinations(range(len(program.r)), size))
    for rows in islice(sets, MOST_SETS):
        pair = _held_once(program, rows)
        if pair is not None and passes(pair):
            return pair
    return None


def first_feasible(program: QuadraticProgram, _: float) -> Pair | None:
    """The first set of rows, few before many, whose y violates none."""
    sizes = range(min(program.B.shape) + 1)
    return _first_of(program, sizes, lambda pair: bool((program.violated(pair[0]) <= UNCLEAR).all()))


def first_signed(program: QuadraticProgram, _: float) -> Pair | None:
    """The first set of rows, many before few, whose multipliers are none of them negative."""
    sizes = range(min(program.B.shape), -1, -1)
    return _first_of(program, sizes, lambda pair: bool((pair[1] >= -UNCLEAR).all()))


def most_violated(program: QuadraticProgram, _: float) -> Pair | None:
    """Only the row that the free minimiser violates most is held."""
    h = program.violated(program.free)
    return holding(program, [int(np.argmax(h))] if h.max() > 0 else [])


def first_violated(program: QuadraticProgram, _: float) -> Pair | None:
    """Only the first row that the free minimiser violates is held."""
    return holding(program, np.flatnonzero(program.violated(program.free) > 0)[:1].tolist())


def _some_rows(chosen: Callable[[int], list[int]]) -> Form:
    def form(program: QuadraticProgram, _: float) -> Pair | None:
        rows = chosen(len(program.r))
        pair = solved(QuadraticProgram(program.G, program.q, program.B[rows], program.r[rows]))
        if pair is None:
            return None
        lam = np.zeros(len(program.r))
        lam[rows] = pair[1]
        return pair[0], lam

    return form


def penalised(program: QuadraticProgram, weight: float) -> Pair | None:
    """Rows as a penalty weight/2 times the squared violations; multipliers are the weight times the violations."""
    y, held = program.free, np.zeros(0, dtype=np.intp)
    for _ in range(NEWTON_STEPS):
        now = np.flatnonzero(program.violated(y) > 0)
        if np.array_equal(now, held):
            return y, weight * np.maximum(program.violated(y), 0.0)
        held, W = now, program.B[now]
        y = np.asarray(np.linalg.solve(program.G + weight * W.T @ W, weight * W.T @ program.r[now] - program.q))
    return None


def barrier(program: QuadraticProgram, mu: float) -> Pair | None:
    """A point of the central path: slack times multiplier is mu in every row."""
    start = _inside(program)
    if start is None or mu <= 0:
        return None
    y, p = np.asarray(start), len(program.r)
    slack = program.B @ y - program.r
    lam = np.full(p, 1.0)
    for k in range(NEWTON_STEPS):
        target = max(mu, 0.2**k)
        left = program.G @ y + program.q - program.B.T @ lam
        D = lam / slack
        right = -left + program.B.T @ (target / slack - lam)
        dy = np.linalg.solve(program.G + program.B.T @ (D[:, None] * program.B), right)
        ds = program.B @ dy
        dlam = target / slack - lam - D * ds
        down = np.concatenate([-ds / slack, -dlam / lam])
        step = min(1.0, 0.99 / max(float(down.max()), 1e-300))
        y, slack, lam = y + step * dy, slack + step * ds, lam + step * dlam
        small = float(np.abs(dy).max()) <= 1e-13 * (1 + float(np.abs(y).max()))
        if target == mu and step == 1.0 and small:
            return y, lam
    return y, lam


def _inside(program: QuadraticProgram) -> Vector | None:
    """A point strictly inside the rows; the deepest one up to 1."""
    m, p = len(program.q), len(program.r)
    G = np.diag([1e-3] * m + [1e-3])
    B = np.vstack([np.hstack([program.B, -np.ones((p, 1))]), np.append(np.zeros(m), -1.0)])
    pair = solved(QuadraticProgram(G, np.append(np.zeros(m), -1.0), B, np.append(program.r, -1.0)))
    if pair is None or pair[0][-1] <= 1e-9:
        return None
    return pair[0][:m]


VIOLATED = "every row that the minimiser without rows violates is held as an equation"
FORMS: dict[str, tuple[Form, str]] = {
    "program": (solved, ""),
    "unconstrained": (unconstrained, "the rows are left out"),
    "equations": (equations, "every row is held as an equation, h = 0"),
    "equations cut": (equations_cut, "every row is held as an equation, negative multipliers are replaced by 0 and y "
                      "is made from those"),
    "mirrored": (mirrored, "the rows are held the other way round, h ≥ 0"),
    "projected": (projected, "y minimises g without rows and is then moved to the nearest point with h ≤ 0"),
    "violated": (held_if_violated, f"{VIOLATED}, without another look"),
    "violated, cut": (held_and_cut, f"{VIOLATED}, without another look, negative multipliers are replaced by 0 and y "
                      "is made from those"),
    "violated, dropped": (held_then_dropped, f"{VIOLATED}, and once more without those whose multiplier is negative"),
    "violated, added": (held_then_added, f"{VIOLATED}, and once more with those violated then"),
    "all, dropped": (all_then_dropped, "every row is held as an equation, and once more only those whose multiplier is "
                     "positive"),
    "one at a time": (one_at_a_time, "rows are added, the most violated first, until none is violated, and never "
                      "dropped again"),
    "first feasible": (first_feasible, "sets of rows are tried, few rows before many, and the first whose y violates "
                       "no row is taken: whether a λ is negative is not looked at"),
    "first signed": (first_signed, "sets of rows are tried, many rows before few, and the first whose λ has no "
                     "negative entry is taken: whether y violates another row is not looked at"),
    "most violated": (most_violated, "only the row that the minimiser without rows violates most is held"),
    "first violated": (first_violated, "only the first row that the minimiser without rows violates is held"),
    "no first row": (_some_rows(lambda p: [*range(1, p)]), "the first row is left out"),
    "no last row": (_some_rows(lambda p: [*range(p - 1)]), "the last row is left out"),
    "first row": (_some_rows(lambda p: [0][:p]), "every row but the first is left out"),
    "penalty": (penalised, "the rows are a penalty ½·{0}·‖max(h, 0)‖² in place of constraints"),
    "barrier": (barrier, "−hᵢλᵢ = {0} in every row, as on the central path of an interior-point solver, in place of 0"),
}  # fmt: skip
"""How the program is solved, and in words; a number where there is one."""
