"""Iterations for the penalty minimiser that end too soon: after some steps, or by a rule that is too loose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from typing import Protocol

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.sums.answer_changes import AnswerChange, Seen
from verify.conformance.blame.sums.call_points import CallPoint
from verify.conformance.blame.sums.minimiser_rules import hessian_of
from verify.conformance.blame.sums.right_sums import right_sum
from verify.method.endings import STOPS, Met, ends, looked_at, met_everywhere, plainest, same_step
from verify.method.factors import spelt_plainly
from verify.method.player import Space

MOST_STEPS = 300
FAR = 1e12
NEAR = 1e-8
"""Relative to the way from the start, how close it must pass."""
Steps = Callable[[Vector, Vector], Iterator[Vector]]
"""Moves from the start so far, from a matrix and the gradient at the start."""


def _conjugate(H: Vector, slope: Vector, precondition: bool = False) -> Iterator[Vector]:
    inverse = 1 / np.diag(H) if precondition else np.ones(len(slope))
    w, r = np.zeros(len(slope)), -slope
    z = d = inverse * r
    while True:
        length = float(d @ H @ d)
        if length <= 0:
            return
        t = float(r @ z) / length
        w, new = w + t * d, r - t * (H @ d)
        yield w
        new_z = inverse * new
        d = new_z + float(new @ new_z) / max(float(r @ z), 1e-300) * d
        r, z = new, new_z


def _steepest(H: Vector, slope: Vector) -> Iterator[Vector]:
    w, r = np.zeros(len(slope)), -slope
    while True:
        length = float(r @ H @ r)
        if length <= 0:
            return
        step = float(r @ r) / length
        w, r = w + step * r, r - step * (H @ r)
        yield w


def _descent(H: Vector, slope: Vector) -> Iterator[Vector]:
    w, step = np.zeros(len(slope)), 1 / float(np.linalg.norm(H, 2))
    while True:
        w = w - step * (slope + H @ w)
        yield w


def _accelerated(H: Vector, slope: Vector) -> Iterator[Vector]:
    w = ahead = np.zeros(len(slope))
    step, t = 1 / float(np.linalg.norm(H, 2)), 1.0
    while True:
        new, t_new = ahead - step * (slope + H @ ahead), (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead, w, t = new + (t - 1) / t_new * (new - w), new, t_new
        yield w


def _jacobi(H: Vector, slope: Vector) -> Iterator[Vector]:
    w = np.zeros(len(slope))
    while True:
        w = w - (slope + H @ w) / np.diag(H)
        yield w


def _sweeps(H: Vector, slope: Vector) -> Iterator[Vector]:
    w = np.zeros(len(slope))
    while True:
        for i in range(len(w)):
            w = w.copy()
            w[i] -= (slope[i] + H[i] @ w) / H[i, i]
        yield w


KINDS: dict[str, Steps] = {
    "conjugate gradients": _conjugate,
    "conjugate gradients over the Hessian's diagonal": partial(_conjugate, precondition=True),
    "steepest descent with exact steps": _steepest,
    "gradient descent divided by the largest curvature": _descent,
    "accelerated gradient descent divided by the largest curvature": _accelerated,
    "Jacobi's iteration": _jacobi,
    "Gauss and Seidel's sweeps": _sweeps,
}
"""Iterations for a quadratic."""
STARTS: dict[str, Callable[[CallPoint], Vector]] = {"ỹ*": lambda c: c.y_star, "0": lambda c: 0.0 * c.y_star}
RULES = STOPS["penalty_minimiser"]


def _length(v: Vector) -> float:
    return float(np.linalg.norm(v))


def _largest(v: Vector) -> float:
    return float(np.abs(v).max(initial=0.0))


def _around(c: CallPoint, start: str) -> tuple[Vector, Vector, Vector]:
    """The Hessian, where an iteration starts, and the gradient there."""
    key = "around", start
    if key not in c.table:
        at = STARTS[start](c)
        c.table[key] = hessian_of(c), at, right_sum("y", c.at(at))
    around: tuple[Vector, Vector, Vector] = c.table[key]
    return around


def _looks(c: CallPoint, start: str, moves: Sequence[Vector]) -> Space:
    """What rules look at after every step, a row each."""
    H, at, slope = _around(c, start)
    ends = np.array([np.zeros(len(at)), *moves])
    now = np.array([slope + H @ w for w in moves]).reshape(-1, len(at))
    return {"first": slope[None], "now": now, "step": np.diff(ends, axis=0), "y": at + ends[1:], "alpha": c.alpha,
            "alpha_1": c.alpha_1, "alpha_2": c.alpha_2, "tol": max(c.tol, 1e-300)}  # fmt: skip


def _seen(looks: Space, rule: str) -> Vector:
    """What a rule sees after every step."""
    return looked_at(RULES[rule], looks)


def _met(kind: str, start: str, seen: Seen) -> Met | None:
    c, right, got = seen
    H, at, slope = _around(c, start)
    limit = NEAR * (np.abs(got - at).max() + 1e-9) + 1e-13 * np.abs(got) + 0.0 * right
    moves: list[Vector] = []
    here: list[int] = []
    for k, w in enumerate(islice(KINDS[kind](H, slope), MOST_STEPS), 1):
        moves.append(w)
        if (np.abs(at + w - got) <= limit).all():
            here.append(k)
        elif here:
            break
        if not _largest(w) < FAR:
            break
    if not here:
        return None
    # Where it has ended it stays.
    last = here[-1] if here[-1] < len(moves) else MOST_STEPS
    return Met(here[0], last, cache(partial(_seen, _looks(c, start, moves))))


def _counted(kind: str, start: str, steps: int, v: Vector, c: CallPoint) -> Vector:
    H, at, slope = _around(c, start)
    moves = [*islice(KINDS[kind](H, slope), steps)]
    return at + moves[-1] if len(moves) == steps else v


def _stopped(kind: str, start: str, rule: tuple[str, float], v: Vector, c: CallPoint) -> Vector:
    H, at, slope = _around(c, start)
    name, most = rule
    steps, moves = islice(KINDS[kind](H, slope), MOST_STEPS), list[Vector]()
    while some := [*islice(steps, FIRST_STEPS)]:
        moves += some
        ended = np.flatnonzero(_seen(_looks(c, start, moves), name) <= most)
        if len(ended):
            return np.asarray(at + moves[ended[0]])
    return v


def stopped_solves(seen: Sequence[Seen], more: More) -> Iterator[AnswerChange]:
    """Iterations that end at every answer, those first that are off most.

    ``more`` says what a question would be given, and asks it: numbers that answers leave open are narrowed by it.
    """
    ordered = sorted(seen, key=lambda one: -_length(one[2] - one[1]) / (_length(one[1] - one[0].y_star) + 1e-300))
    for start in STARTS:
        for kind in KINDS:
            met = met_everywhere(_met(kind, start, one) for one in ordered)
            if not met:
                continue
            step = same_step(met)
            if step is not None:
                yield AnswerChange(f"the result of {step} steps of {kind} from {start} in place of {{}}", 0.3,
                                   partial(_counted, kind, start, step))  # fmt: skip
                continue
            for rule in RULES:
                most = _narrowed(kind, start, rule, met, more)
                if most is not None:
                    words = (
                        f"{kind} from {start}, ended where {rule} is {spelt_plainly(most)} or less, in place of {{}}"
                    )
                    yield AnswerChange(words, 0.4, partial(_stopped, kind, start, (rule, most)))


class More(Protocol):
    """Further questions by their seeds."""

    def point(self, seed: int) -> CallPoint | None:
        """What a question gives."""

    def answer(self, seed: int) -> Seen | None:
        """What a subject makes of it."""


def _narrowed(kind: str, start: str, rule: str, met: list[Met], more: More) -> float | None:
    """The number of a rule, after questions at which it would show; ``None`` where the rule is refuted."""
    for _ in range(ASKED):
        bounds = ends(met, rule)
        if bounds is None:
            return None
        if bounds[1] <= SHARP * bounds[0]:
            break
        seed = _telling(kind, start, rule, bounds, more)
        answered = None if seed is None else more.answer(seed)
        if answered is None:
            break
        now = _met(kind, start, answered)
        if now is None:
            return None
        met.append(now)
    return plainest(met, rule)


def _telling(kind: str, start: str, rule: str, between: tuple[float, float], more: More) -> int | None:
    """The seed of a question at which what a rule sees comes nearest the middle of what is open."""
    middle, best, seed = np.sqrt(between[0] * between[1]), np.inf, None
    for tried in SEEDS:
        lowest = _lowest(kind, start, rule, tried, more)
        inside = lowest[(lowest > between[0] * (1 + CLEAR)) & (lowest < between[1] * (1 - CLEAR))]
        if len(inside) and (away := float(np.abs(np.log(inside / middle)).min())) < best:
            best, seed = away, tried
    return seed


def _lowest(kind: str, start: str, rule: str, seed: int, more: More) -> Vector:
    """What a rule sees at each step of a question that is less than all before."""
    c = more.point(seed)
    if c is None:
        return np.zeros(0)
    key = "looks", kind, start
    if key not in c.table:
        H, _, slope = _around(c, start)
        c.table[key] = _looks(c, start, [*islice(KINDS[kind](H, slope), FIRST_STEPS)])
    with np.errstate(all="ignore"):
        seen = _seen(c.table[key], rule)
    return seen[seen <= np.minimum.accumulate(seen)]


ASKED, SHARP = 12, 1.02
"""Questions that narrow a number, and the ratio of its ends that is enough."""
SEEDS = range(900, 1100)
FIRST_STEPS = 8
"""Steps of an iteration at which a number may show."""
CLEAR = 1e-6
