"""The search: every scalar problem in order of size, then random larger ones shrunk until nothing smaller breaks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict

from spec import InvalidInputError, Problem, dumps_problem, parse_problem
from spec.claims import ReadingName, find
from verify.evidence.model import Counterexample
from verify.proofs.refutation import activation_targets, holder, penalty_targets
from verify.proofs.refutation.candidates import Candidate, random_candidate, smallest_first
from verify.proofs.refutation.cases import Case, Explanation, Finding, Target
from verify.truth.algebra.rationals import Vector

DEFAULT_WEIGHT = 5
"""Largest sum of absolute integers among the scalar problems tried; every known counterexample needs at most this."""
DEFAULT_TRIES = 40
"""Random larger problems tried where no scalar one breaks the claim."""
LARGER = ((1, 1, 2), (1, 2, 1), (2, 1, 1), (1, 2, 2), (2, 2, 1), (2, 2, 2))
"""Their sizes n, m, p."""


class Refutation(BaseModel):
    """The smallest problem found that breaks a claim, with its derivation by hand.

    Args:
        claim: Full id of the claim or step.
        reading: Under which reading it breaks.
        problem: The problem file's content, canonical.
        x: The upper-level point, exact.
        alpha: The alpha at which ``values`` hold, exact.
        quantity: What was measured.
        claimed: Claimed power of alpha (or of the claim's own variable); empty for a plain comparison.
        exponent: Its true power; empty for a plain comparison.
        coefficient: Coefficient of that power, exact.
        derivation: To follow by hand, a step a line.
        values: Numbers at that alpha, exact.
        arguments: What ``f2csa hypergradient FILE`` takes to print the estimate of the derivation.
        command: The whole of it, with the problem piped in.
        examined: Smaller or equal candidates examined.
        exhaustive: Whether every smaller problem was examined, rather than this one shrunk from a larger.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    claim: str
    reading: ReadingName
    problem: dict[str, Any]
    x: tuple[str, ...]
    alpha: str
    quantity: str
    claimed: str = ""
    exponent: str = ""
    coefficient: tuple[str, ...] = ()
    derivation: tuple[str, ...]
    values: dict[str, str]
    arguments: tuple[str, ...]
    command: str
    examined: int
    exhaustive: bool

    def counterexample(self) -> Counterexample:
        """The same as a report shows it."""
        return Counterexample(
            problem=self.problem, x=list(self.x), values=dict(self.values), note=" ".join(self.derivation)
        )

    @property
    def file(self) -> str:
        """The problem file's text."""
        return dumps_problem(parse_problem(self.problem), indent=1) + "\n"

    def command_with(self, file: str) -> str:
        """The command, reading the problem from a file."""
        return shlex.join(["f2csa", "hypergradient", file, *self.arguments])


@lru_cache(maxsize=1)
def _targets() -> dict[str, Target]:
    return {target.claim: target for target in (*penalty_targets.targets(), *activation_targets.targets())}


def refutable() -> tuple[str, ...]:
    """Full ids of the claims and steps a counterexample can be searched for."""
    return (*_targets(), holder.CLAIM)


def minimal_counterexample(
    claim: str,
    reading: ReadingName = "as-written",
    *,
    weight: int = DEFAULT_WEIGHT,
    tries: int = DEFAULT_TRIES,
    seed: int = 0,
) -> Refutation | None:
    """Search for the smallest problem that breaks a claim, decided in exact arithmetic.

    Problems with n = m = p = 1 come first, all of them in the order of the sum of their integers; if none breaks the
    claim, random larger ones are tried and the first that does is shrunk until no neighbour does.

    Args:
        claim: Full id, one of :func:`refutable`.
        reading: Which reading's premises are spent.
        weight: Largest sum of absolute integers of a scalar problem, the point included, >= 2.
        tries: How many larger problems to try, >= 0.
        seed: Seed of the larger ones, >= 0.

    Returns:
        The counterexample, the same one on every call; ``None`` if the budget holds none.

    Raises:
        InvalidInputError: If the claim has no search or an argument breaks its rule.
    """
    _require(claim, reading, weight, tries, seed)
    return _search(claim, reading, weight, tries, seed)


@lru_cache(maxsize=128)
def _search(claim: str, reading: ReadingName, weight: int, tries: int, seed: int) -> Refutation | None:
    if claim == holder.CLAIM:
        special = holder.search(find(claim).assertion(reading).bound, reading, weight)
        if special is None:
            return None
        return _refutation(claim, reading, special.problem, special.x, special.finding, special.explanation,
                           special.examined, exhaustive=True)  # fmt: skip
    target = _targets()[claim]
    statement = find(claim)

    def case_of(candidate: Candidate) -> Case | None:
        problem = candidate.problem
        if problem is None:
            return None
        return Case(problem, candidate.x, statement.reading(reading), reading, statement.assertion(reading).bound)

    def breaks(candidate: Candidate) -> bool:
        case = case_of(candidate)
        finding = target.decide(case) if case is not None else None
        return finding is not None and finding.broken

    examined = 0
    found, exhaustive = None, True
    for candidate in smallest_first(weight):
        examined += 1
        if breaks(candidate):
            found = candidate
            break
    if found is None and not target.scalar_only:
        for candidate in _larger(tries, seed):
            examined += 1
            if breaks(candidate):
                found, exhaustive = shrink(candidate, breaks), False
                break
    if found is None:
        return None
    case = case_of(found)
    assert case is not None  # it breaks the claim
    finding = target.decide(case)
    assert finding is not None  # likewise
    return _refutation(
        claim, reading, case.problem, case.x, finding, target.explain(case, finding), examined, exhaustive=exhaustive
    )


def shrink(candidate: Candidate, breaks: Callable[[Candidate], bool]) -> Candidate:
    """The candidate made smaller, a step at a time, while it still breaks the claim.

    Args:
        candidate: One that does.
        breaks: Whether a candidate does.

    Returns:
        One whose every neighbour (see :meth:`Candidate.smaller`) does not.
    """
    while True:
        smaller = sorted((near for near in candidate.smaller() if near.size < candidate.size), key=lambda c: c.size)
        better = next((near for near in smaller if breaks(near)), None)
        if better is None:
            return candidate
        candidate = better


def _larger(tries: int, seed: int) -> Iterator[Candidate]:
    rng = np.random.default_rng(seed)
    for k in range(tries):
        yield random_candidate(*LARGER[k * len(LARGER) // tries], rng)


def _refutation(
    claim: str,
    reading: ReadingName,
    problem: Problem,
    x: Vector,
    finding: Finding,
    explanation: Explanation,
    examined: int,
    *,
    exhaustive: bool,
) -> Refutation:
    exponents = find(claim).assertion(reading).bound.exponents
    arguments = _arguments(explanation.x or x, explanation)
    line = shlex.join(["f2csa", "hypergradient", "-", *arguments])
    return Refutation(
        claim=claim,
        reading=reading,
        problem=problem.to_dict(),
        x=tuple(map(str, x)),
        alpha=str(explanation.alpha),
        quantity=finding.quantity,
        claimed=str(next(iter(exponents.values()))) if exponents else "",
        exponent="" if finding.exponent is None else str(finding.exponent),
        coefficient=tuple(map(str, finding.coefficient)),
        derivation=explanation.lines,
        values=dict(explanation.values),
        arguments=arguments,
        command=f"echo {shlex.quote(dumps_problem(problem))} | {line}",
        examined=examined,
        exhaustive=exhaustive,
    )


def _arguments(x: Vector, explanation: Explanation) -> tuple[str, ...]:
    made = [f"--x={','.join(map(str, x))}", f"--alpha={explanation.alpha}"]
    made += [f"--choose={name}={value}" for name, value in explanation.choices.items()]
    return (*made, *(f"--given={name}={value}" for name, value in explanation.given.items()))


def _require(claim: str, reading: str, weight: int, tries: int, seed: int) -> None:
    if claim not in refutable():
        find(claim)  # an unknown id is answered with the nearest ones
        raise InvalidInputError("claim", f"must be one with a search, such as {', '.join(refutable()[:3])}", claim)
    if reading not in get_args(ReadingName):
        raise InvalidInputError("reading", f"must be one of {', '.join(get_args(ReadingName))}", reading)
    for name, value, least in (("weight", weight, 2), ("tries", tries, 0), ("seed", seed, 0)):
        if value < least:
            raise InvalidInputError(name, f"must be >= {least}", value)
