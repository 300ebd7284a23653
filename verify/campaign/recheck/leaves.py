"""What a result holds as plain values in order: its evidence item by item, counterexample, pictures, continuation.

Left out is what is derived again from the rest: fits of deterministic sweeps, what certificates prove.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from verify.campaign.baseline.drift import ROUNDINGS
from verify.campaign.recheck.sketches import MOST_BESIDE, SketchLeaf
from verify.evidence.model import ComparisonEvidence, Evidence, Point, RateEvidence, Rung
from verify.report.model import Result

FITTED = {"exponent", "interval", "local_exponents", "settled", "floor"}
"""Of a numeric rate: made again from its points."""
NOISE = 1024.0
"""A measured value this many times below its tolerance is rounding, and where it is largest is chance."""
OF_TOLERANCE = 1 / 64
"""Width, in tolerances, of the cell that such a value is held to."""
OF_ITSELF = 2.0**-16
"""Width, relative, of the cell that an uncertainty is held to."""
OF_A_BOUND = 1e-4
"""The same of a proven bound's numbers: the errors that are spent are rounded to a grid."""
COUNTED = 2.0**-22
"""Bound, relative, of a number that was computed in doubles and has no uncertainty of its own."""
EPS = 2.0**-52
EXACT: tuple[Rung, ...] = ("certified", "symbolic", "cited")
"""Rungs whose numbers are exact, and only written as doubles."""
ROUNDED_UP, STEP = ("samples_needed",), 4.0
"""A whole number that a double was rounded up to: rounding may decide about its last step."""
Group = tuple[SketchLeaf, ...]


def groups(result: Result) -> tuple[Group, ...]:
    """The leaves of each piece of evidence, then of the counterexample, pictures and continuation."""
    known: dict[float, float] = {}
    evidence = tuple(tuple(_item(item, known)) for item in result.evidence)
    shown = None if result.counterexample is None else result.counterexample.model_dump()
    pictures = [picture.model_dump() for picture in result.pictures]
    rest = (shown, pictures, list(result.continuation))
    return (*evidence, *(tuple(_leaves(one, lambda value: known.get(value, 0.0))) for one in rest))


def derived_leaves(item: Evidence) -> tuple[Group, ...]:
    """What of a piece of evidence may depend on no subject, the most first: predictions, tolerances, orders of exact
    series, closed forms.

    Which of these it is can only be told by asking two subjects; empty where there is none.
    """
    if isinstance(item, ComparisonEvidence):
        return (SketchLeaf(item.predicted), SketchLeaf(item.tolerance)), (SketchLeaf(item.predicted),)
    if not isinstance(item, RateEvidence):
        return ()
    leaves: list[SketchLeaf] = []
    if item.rung == "symbolic":
        leaves += _leaves([item.exponent, item.coefficient])
    if any(point.predicted is not None for point in item.points):
        for point in item.points:
            slack = point.uncertainty if item.rung == "numeric" else 0.0
            leaves += (SketchLeaf(point.at), SketchLeaf(point.predicted, slack))
    if item.closed_form is not None:
        leaves += _leaves(item.closed_form.model_dump(exclude={"measured"}))
    return (tuple(leaves),) if leaves else ()


def _item(item: Evidence, known: dict[float, float]) -> Iterator[SketchLeaf]:
    if isinstance(item, ComparisonEvidence):
        yield from _comparison(item, known)
    elif isinstance(item, RateEvidence):
        yield from _rate(item, known)
    else:
        yield from _leaves(item.model_dump())


def _comparison(item: ComparisonEvidence, known: dict[float, float]) -> Iterator[SketchLeaf]:
    plain = item.model_dump()
    where, measured = plain.pop("context"), plain.pop("measured")
    slack = 0.0
    if item.rung not in ("statistical", "cited"):
        if ROUNDINGS in item.quantity:
            slack = max(1.0, abs(item.predicted) / 4)
        elif abs(item.measured) * NOISE <= item.tolerance:
            slack = item.tolerance * OF_TOLERANCE
    if slack:
        known[item.measured] = slack
    yield SketchLeaf(measured, slack)
    yield from _leaves(plain)
    for name in sorted(where):
        yield SketchLeaf(name)
        # A largest rounding lies where chance has it.
        yield SketchLeaf(where[name], math.inf if slack else 0.0)


def _grown(rate: RateEvidence, point: Point) -> float:
    """By how much, relative, a point of a sweep in α may differ between processors beyond :data:`COUNTED`; 0 if not.

    Of what weights of size α⁻⁴ cancel in, a rounding is α⁻⁴ times as large.
    """
    if rate.variable != "alpha" or rate.rung in EXACT or (rate.rung == "numeric" and point.uncertainty):
        return 0.0
    bound = min(EPS * point.at**-4, MOST_BESIDE)
    return bound if bound > COUNTED else 0.0


def _rate(item: RateEvidence, known: dict[float, float]) -> Iterator[SketchLeaf]:
    left_out = {"points", "bounds"} | (FITTED if item.rung == "numeric" else set())
    worst = 0.0
    for point in item.points:
        growth = _grown(item, point)
        worst = max(worst, growth if point.usable else 0.0)
        # In a deterministic sweep the uncertainty is rounding; prediction and measurement agree within it, no closer.
        rounding = point.uncertainty if item.rung == "numeric" else 0.0
        here, there = (max(rounding, growth * abs(value or 0.0)) for value in (point.measured, point.predicted))
        known[point.measured] = here
        yield from (SketchLeaf(point.at), SketchLeaf(point.measured, here), SketchLeaf(point.predicted, there))
        unsure = 0.0 if item.rung in EXACT else max(growth, COUNTED) * abs(point.measured)
        yield SketchLeaf(point.uncertainty, max(point.uncertainty * OF_ITSELF, unsure))
        if item.rung != "numeric":
            yield SketchLeaf(point.usable)
    # What was fitted to the points is as good as the worst of them.
    yield from _leaves(item.model_dump(exclude=left_out), lambda value: worst * abs(value))
    for bound in item.bounds:
        yield from _leaves([bound.side, bound.exponent, bound.worst_case, len(bound.certificates)])
        yield from (SketchLeaf(value, value * OF_A_BOUND) for value in (bound.constant, bound.end, bound.tightness))


def _leaves(value: Any, slack: Any = lambda _value: 0.0) -> Iterator[SketchLeaf]:
    if isinstance(value, Mapping):
        for name in sorted(value):
            yield SketchLeaf(str(name))
            rounded = name in ROUNDED_UP and value[name] is not None
            yield from [SketchLeaf(float(value[name]), STEP)] if rounded else _leaves(value[name], slack)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield SketchLeaf(len(value))
        for one in value:
            yield from _leaves(one, slack)
    else:
        yield SketchLeaf(value, slack(value) if isinstance(value, float) else 0.0)
