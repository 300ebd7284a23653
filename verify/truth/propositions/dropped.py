"""Whether a hypothesis is needed: a problem, or a path to a kink, that breaks it alone and the statement with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

from spec import Holder, InvalidInputError, Problem, Quadratic
from spec.atlas import ORDER
from spec.atlas import find as find_instance
from spec.claims import Premise, Statement
from spec.drawn import FAMILIES
from spec.formulas import Node, names_within
from verify.truth.algebra.rationals import Vector
from verify.truth.lower_level import lower_level
from verify.truth.propositions.deciding import ERRORS, REFUSED, at_each, in_the_limit, is_met
from verify.truth.propositions.sites import Site

LARGEST = 10
"""Largest n + m + p of a problem that is searched: the search is over many."""
DRAWS = 3
"""Problems of each family that are searched."""
DISTANCE, POWERS = Fraction(1, 20), (2, 3)
"""A path to a kink: how far from it in units of a power of alpha, and these powers."""
ALPHAS = (Fraction(1, 100), Fraction(1, 10), Fraction(1), Fraction(10), Fraction(1000))
"""Where relations, and hypotheses about alpha itself, are tried."""


@dataclass(frozen=True)
class DroppedCandidate:
    """A site with its name."""

    name: str
    site: Site


@dataclass(frozen=True)
class Shown:
    """What shows that a hypothesis is needed: where it alone fails, and what becomes of the statement there."""

    where: str
    finding: str


def without(
    statement: Statement, premises: Sequence[Premise], dropped: Premise, among: Sequence[DroppedCandidate] | None = None
) -> Shown | None:
    """The first candidate, by default of all, that breaks one premise of a repaired statement alone, and refutes it.

    Only premises with a formula are looked at; how far the stages are off is met by every error that is tried.
    ``None`` where no candidate shows that the dropped one is needed.
    """
    formula, broken = statement.repaired.proposition, dropped.predicate("repaired")
    if formula is None or broken is None:
        return None
    nodes = (node for one in premises if one.id != dropped.id and (node := one.predicate("repaired")) is not None)
    others = [node for node in nodes if not names_within(node) & set(ERRORS)]
    for candidate in candidates() if among is None else among:
        shown = _shown(candidate, formula, broken, others)
        if shown is not None:
            return Shown(candidate.name, shown)
    return None


def _shown(candidate: DroppedCandidate, formula: Node, broken: Node, others: Sequence[Node]) -> str | None:
    if formula.order is None:
        return next((words for alpha in ALPHAS if (words := _at(candidate, formula, broken, others, alpha))), None)
    if _met(broken, candidate) is not False or not all(_met(node, candidate) for node in others):
        return None
    try:
        outcomes = {name: in_the_limit(formula, candidate.site, variable=name) for name in _variables(formula)}
    except REFUSED:
        return None
    failing = [(name, outcome.exponent) for name, outcome in outcomes.items() if not outcome.holds]
    if not failing:
        return None
    variable, exponent = failing[0]
    if exponent is None:
        return "the quantity is exactly 0"
    return f"the quantity is of order {f'{variable}^{exponent}' if exponent else 1}"


_DECIDED: dict[tuple[Node, str, Fraction | None], bool | None] = {}


def _met(premise: Node, candidate: DroppedCandidate, alpha: Fraction | None = None) -> bool | None:
    """Whether a premise holds on a candidate at an alpha, or at all small ones: decided once for all statements."""
    key = premise, candidate.name, alpha
    if key not in _DECIDED:
        try:
            _DECIDED[key] = is_met(premise, candidate.site, alpha)
        except REFUSED:
            _DECIDED[key] = None
    return _DECIDED[key]


def _at(
    candidate: DroppedCandidate, formula: Node, broken: Node, others: Sequence[Node], alpha: Fraction
) -> str | None:
    if _met(broken, candidate, alpha) is not False or not all(_met(node, candidate, alpha) for node in others):
        return None
    try:
        (outcome,) = at_each(formula, candidate.site, [alpha])
    except REFUSED:
        return None
    if outcome.holds:
        return None
    sides = "" if outcome.left is None else f": {outcome.left:.4g} against {outcome.right:.4g}"
    return f"it fails at α = {float(alpha):g}{sides}"


def _variables(formula: Node) -> list[str]:
    order = formula.order
    names = {part.name for part in order.walk() if part.kind == "quantity"} if order is not None else set()
    return sorted(names) or ["alpha"]


@lru_cache(maxsize=1)
def candidates() -> tuple[DroppedCandidate, ...]:
    """The atlas's small problems, some of each drawn family, and paths to the kinks next to them."""
    names = [*ORDER, *(f"drawn:{family}:{seed}" for family in FAMILIES for seed in range(DRAWS))]
    sites = [(name, site) for name in names if (site := _site(name)) is not None]
    plain = [DroppedCandidate(name, site) for name, site in sites]
    return (*plain, *(path for name, site in sites for path in _paths(name, site)))


def _site(name: str) -> Site | None:
    instance = find_instance(name)
    problem = _quadratic(instance.problem)
    if problem is None or problem.n + problem.m + problem.p > LARGEST:
        return None
    return Site(problem, tuple(map(Fraction, instance.x)))


def _quadratic(problem: Problem) -> Quadratic | None:
    if isinstance(problem, Holder):
        return None
    return problem if isinstance(problem, Quadratic) else problem.quadratic


def _paths(name: str, site: Site) -> Iterator[DroppedCandidate]:
    """Paths to the nearest kink along each coordinate, from either side of it."""
    n = site.problem.n
    for i in range(n):
        for sign in (1, -1):
            direction = tuple(Fraction(sign * int(i == j)) for j in range(n))
            kink = _nearest_kink(site, direction)
            if kink is None:
                continue
            for power, side in product(POWERS, (-1, 1)):
                away = tuple(side * DISTANCE * d for d in direction)
                at, step = (", ".join(map(str, point)) for point in (kink, away))
                words = f"{name} on the path ({at}) + α^{power} ({step})"
                yield DroppedCandidate(words, Site(site.problem, kink, path=(away, power)))


def _nearest_kink(site: Site, direction: Vector) -> Vector | None:
    """The first point along a direction where a multiplier or a row's value comes to 0, while the active rows stay."""
    try:
        lower = lower_level.solve(site.problem, site.x)
        slopes = lower_level.solution_maps(site.problem, site.x)
    except InvalidInputError:
        return None
    along_y, along_lam = (
        [sum((v * d for v, d in zip(row, direction, strict=True)), Fraction(0)) for row in rows] for rows in slopes
    )
    blocks = site.problem.constraints
    A, B = blocks.A.to_fractions(), blocks.B.to_fractions()
    times = [-lower.lam[i] / along_lam[i] for i in lower.strictly_active if along_lam[i] < 0]
    for i in lower.inactive:
        rate = sum((a * d for a, d in zip(A[i], direction, strict=True)), Fraction(0))
        rate -= sum((b * s for b, s in zip(B[i], along_y, strict=True)), Fraction(0))
        if rate > 0:
            times.append(-lower.h[i] / rate)
    if not times:
        return None
    return tuple(v + min(times) * d for v, d in zip(site.x, direction, strict=True))
