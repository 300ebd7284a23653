"""Whether a subject's stages compute what a check asks of them at all.

A bound holds of much that is not the paper's: of zero, to begin with. So a statement about a subject is supported only
where each stage that its check uses gives the exact value of what was asked: on the check's own instance, on that
instance in coordinates drawn afresh, and on problems drawn afresh with up to 24 variables, of which nobody has a table.
One that is asked for answers of its own is asked for those, there as well.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from spec import Holder
from spec.blocks.exact_json import plain
from verify.checks.measuring.case import Case, Check
from verify.checks.measuring.identity.exact_answers import ASKED, ASKED_ANYWHERE, Ask, optimise_runs, samples
from verify.checks.measuring.identity.fresh_places import LARGEST, fresh_places
from verify.checks.measuring.identity.unaided_answers import unaided
from verify.checks.measuring.premises import PremiseUnmetError
from verify.evidence.model import ComparisonEvidence, Counterexample, PremiseEvidence
from verify.subjects.protocol import MissingCapabilityError, offers
from verify.subjects.stage_table import REFUSED
from verify.truth.coordinates import in_other_coordinates
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.arithmetic import NoValueError

PREMISE = "stages-as-asked"
"""Where being refuted is right: no credit to a subject that does not compute what it is asked."""
TRANSFORMED = 3 * LARGEST
"""Largest n + m + p that is put into other coordinates."""

Found = ComparisonEvidence | PremiseEvidence


class NotAsAsked(NamedTuple):
    """For each stage that does not compute what it is asked, what shows it; and the problem, where it is another."""

    evidence: tuple[Found, ...] = ()
    counterexample: Counterexample | None = None


class _Place(NamedTuple):
    """A case somewhere with the draws of that place alone, and its problem as shown; none where it is the check's."""

    case: Case
    draws: tuple[int, ...]
    problem: Any = None

    @property
    def is_quadratic(self) -> bool:
        """Whether stages have exact answers there."""
        return not isinstance(self.case.instance.problem, Holder)


def not_as_asked(case: Case, check: Check) -> NotAsAsked:
    """For each stage the check needs that does not compute what it is asked, the comparison that shows it.

    Repaired it refutes; under any other reading, where being refuted is what a right subject comes to, it leaves the
    statement unjudged; so does a stage that is offered and refuses to answer at these places. One that is not offered
    is compared with nothing.
    """
    places, evidence = tuple(_places(case)), list[Found]()
    counterexample = None
    for ask, anywhere in _asks(case, check):
        seen = ((place, item) for place in places if anywhere or place.is_quadratic for item in _off(place, ask))
        place, item = next(seen, (None, None))
        if place is None or item is None:
            continue
        evidence.append(_unjudged(item) if case.as_written and isinstance(item, ComparisonEvidence) else item)
        if counterexample is None and not case.as_written and place.problem is not None:
            counterexample = _shown(place, item)
    return NotAsAsked(tuple(evidence), counterexample)


def _asks(case: Case, check: Check) -> Iterator[tuple[Ask, bool]]:
    """What the check's stages are asked, each with whether it hangs on no problem."""
    if check.unaided:
        yield unaided, False
        return
    for stage in check.needs:
        if stage in ASKED:
            yield ASKED[stage], stage in ASKED_ANYWHERE
    if check.decisions and "hypergradient" in check.needs:
        yield samples, False
    if "optimise" in check.needs and offers(case.stages.subject, "optimise_runs"):
        yield optimise_runs, True


def _places(case: Case) -> Iterator[_Place]:
    """Its own, the same in other coordinates, and drawn ones from the smallest; no draw of the check moves."""
    # Nothing is asked twice: what is right the second time alone was not computed.
    whose = zlib.crc32(f"{case.claim}|{case.reading_name}|{case.instance.seeds_as}".encode())
    here = _Place(case, (case.seed, 7, whose))
    yield here
    if here.is_quadratic:
        yield from _in_other_coordinates(case, whose)
    for k, (instance, generated) in enumerate(fresh_places(case.seed)):
        yield _Place(replace(case, instance=instance), (case.seed, 17, whose, k), generated)


def _in_other_coordinates(case: Case, whose: int) -> Iterator[_Place]:
    """The same case with its problem's variables and rows relabelled, in other units, from another origin."""
    problem = quadratic_of(case.instance.problem)
    if problem.n + problem.m + problem.p <= TRANSFORMED:
        image, x = in_other_coordinates(problem, case.instance.x, np.random.default_rng([case.seed, 11, whose]))
        yield _Place(replace(case, instance=replace(case.instance, problem=image, x=x)), (case.seed, 19, whose), image)


def _unjudged(item: ComparisonEvidence) -> PremiseEvidence:
    finding = f"{item.quantity} is {item.measured:.3g}, of which {item.predicted:.3g} is allowed"
    return PremiseEvidence(premise=PREMISE, holds=False, finding=finding)


def _shown(place: _Place, item: Found) -> Counterexample:
    at = place.case.instance
    sizes = {"n": quadratic_of(at.problem).n, "m": quadratic_of(at.problem).m}
    values: dict[str, float | str] = {name: float(size) for name, size in sizes.items()}
    if isinstance(item, ComparisonEvidence):
        values |= {item.quantity: item.measured, **item.context}
    note = "A problem drawn with the run's seed, where the stages that the check uses are asked besides."
    return Counterexample(problem=plain(place.problem.to_dict()), x=[str(v) for v in at.x], values=values, note=note)


def _off(place: _Place, ask: Ask) -> Iterator[Found]:
    """What is wrong with the answer, if anything is."""
    case = place.case
    try:
        item = ask(case, np.random.default_rng(place.draws))
    except (PremiseUnmetError, NoValueError):
        return  # the instance has no such stage: no feasible y
    except MissingCapabilityError as missing:
        # What it answers where the check asks alone may be known by heart.
        if str(missing).startswith(REFUSED):
            yield PremiseEvidence(premise=PREMISE, holds=False, finding=f"asked where the check does not: {missing}")
        return
    if item is not None and not item.holds:
        yield item
