"""The search: every scalar problem in order of size, then random larger ones shrunk until nothing smaller breaks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain

import numpy as np

from spec import InvalidInputError, Problem, dumps_problem
from spec.claims import find
from spec.reading import is_repaired_text
from verify.proofs.refutation import penalty_targets, scalar_targets
from verify.proofs.refutation.candidates import RefutationCandidate, random_candidate, smallest_first
from verify.proofs.refutation.model import Break, Refutation, RefutationCase
from verify.truth.algebra.rationals import Vector

DEFAULT_WEIGHT = 5
"""Largest sum of absolute integers among the scalar problems tried; every known counterexample needs at most this."""
DEFAULT_TRIES = 40
"""Random larger problems tried where no scalar one breaks the claim."""
LARGER = ((1, 1, 2), (1, 2, 1), (2, 1, 1), (1, 2, 2), (2, 2, 1), (2, 2, 2))
"""Their sizes n, m, p."""


_TARGETS = {target.claim: target for target in (*penalty_targets.TARGETS, *scalar_targets.TARGETS)}


def refutable() -> tuple[str, ...]:
    """Full ids of the claims and steps a counterexample can be searched for."""
    return (*_TARGETS, scalar_targets.HOLDER)


def readings_searched(claim: str) -> tuple[str, ...]:
    """The named readings of a claim that its search can express: of the literal and of the repaired text."""
    statement = find(claim)
    known = ("as-written", "repaired", *statement.literal_readings, *statement.repairs.values(),
             *statement.kept.values())  # fmt: skip
    return tuple(name for name in dict.fromkeys(known) if _expresses(claim, name))


def _expresses(claim: str, reading: str) -> bool:
    # The repaired text is judged under its own premises, which the search keeps to.
    if reading in ("as-written", "repaired") or claim == scalar_targets.HOLDER:
        return True
    point = find(claim).interpreted(reading)
    # It knows weights that are held, and no hypothesis of one reading alone.
    if point.sense.weights != "frozen" or point.sense.constants != "derived":
        return False
    return _TARGETS[claim].expresses(point.reading.model_dump() | point.sense.model_dump())


def minimal_counterexample(
    claim: str,
    reading: str = "as-written",
    *,
    weight: int = DEFAULT_WEIGHT,
    tries: int = DEFAULT_TRIES,
    seed: int = 0,
) -> Refutation | None:
    """Search for the smallest problem that breaks a claim, decided in exact arithmetic.

    Problems with n = m = p = 1 come first, all of them in the order of the sum of their integers; if none breaks the
    claim, random larger ones are tried and the first that does is shrunk until no neighbour does.

    The claim is one of :func:`refutable`, under a reading that its search can express (:func:`readings_searched`) and
    whose premises are spent. ``weight`` >= 2 is the largest
    sum of absolute integers of a scalar problem, the point included; ``tries`` larger ones are drawn from the seed. The
    counterexample is the same one on every call, ``None`` if the budget holds none.
    """
    if claim not in refutable():
        find(claim)  # an unknown id is answered with the nearest ones
        raise InvalidInputError("claim", f"must be one with a search, such as {', '.join(refutable()[:3])}", claim)
    find(claim).interpreted(reading)
    if not _expresses(claim, reading):
        known = ", ".join(readings_searched(claim))
        raise InvalidInputError("reading", f"must be one that the search can express: {known}", reading)
    for name, value, least in (("weight", weight, 2), ("tries", tries, 0), ("seed", seed, 0)):
        if value < least:
            raise InvalidInputError(name, f"must be >= {least}", value)
    return _search(claim, reading, weight, tries, seed)


@lru_cache(maxsize=128)
def _search(claim: str, reading: str, weight: int, tries: int, seed: int) -> Refutation | None:
    statement = find(claim)
    bound, interpretation = statement.assertion(reading).bound, statement.interpreted(reading)

    def refutation(problem: Problem, x: Vector, broken: Break, examined: int, *, exhaustive: bool) -> Refutation:
        arguments = _arguments(broken.x or x, broken)
        line = shlex.join(["f2csa", "hypergradient", "-", *arguments])
        return Refutation(
            claim=claim,
            reading=reading,
            problem=problem.to_dict(),
            x=tuple(map(str, x)),
            alpha=str(broken.alpha),
            quantity=broken.quantity,
            claimed=str(next(iter(bound.exponents.values()), "")),
            exponent="" if broken.exponent is None else str(broken.exponent),
            coefficient=tuple(map(str, broken.coefficient)),
            derivation=broken.lines,
            values=dict(broken.values),
            arguments=arguments,
            command=f"echo {shlex.quote(dumps_problem(problem))} | {line}",
            examined=examined,
            exhaustive=exhaustive,
        )

    if claim == scalar_targets.HOLDER:
        smoothness = scalar_targets.break_of_smoothness(bound, weight, as_written=not is_repaired_text(reading))
        if smoothness is None:
            return None
        holder, broken, examined = smoothness
        return refutation(holder, (Fraction(0),), broken, examined, exhaustive=True)
    target = _TARGETS[claim]

    def decided(candidate: RefutationCandidate) -> tuple[RefutationCase, Break] | None:
        problem = candidate.problem
        if problem is None:
            return None
        case = RefutationCase(problem, candidate.x, interpretation, reading, bound)
        broken = target.decide(case)
        return None if broken is None else (case, broken)

    larger = iter(()) if target.scalar_only else _larger(tries, seed)
    for examined, candidate in enumerate(chain(smallest_first(weight), larger), 1):
        if decided(candidate) is not None:
            exhaustive = candidate.is_scalar
            smallest = candidate if exhaustive else shrink(candidate, lambda near: decided(near) is not None)
            decision = decided(smallest)
            assert decision is not None  # it breaks the claim
            case, broken = decision
            return refutation(case.problem, case.x, broken, examined, exhaustive=exhaustive)
    return None


def shrink(candidate: RefutationCandidate, breaks: Callable[[RefutationCandidate], bool]) -> RefutationCandidate:
    """The candidate, which breaks the claim, made smaller until no neighbour (:meth:`Candidate.smaller`) breaks it."""
    while True:
        smaller = sorted((near for near in candidate.smaller() if near.size < candidate.size), key=lambda c: c.size)
        better = next((near for near in smaller if breaks(near)), None)
        if better is None:
            return candidate
        candidate = better


def _larger(tries: int, seed: int) -> Iterator[RefutationCandidate]:
    rng = np.random.default_rng(seed)
    for k in range(tries):
        yield random_candidate(*LARGER[k * len(LARGER) // tries], rng)


def _arguments(x: Vector, broken: Break) -> tuple[str, ...]:
    return (
        f"--x={','.join(map(str, x))}",
        f"--alpha={broken.alpha}",
        *(f"--choose={name}={value}" for name, value in broken.choices.items()),
        *(f"--given={name}={value}" for name, value in broken.given.items()),
    )
