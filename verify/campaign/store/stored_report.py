"""A report made from a store alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from spec.drawn import is_drawn
from spec.errors import InvalidInputError
from verify.campaign.baseline.judging import hold_verdicts
from verify.campaign.draws import gathered
from verify.campaign.expectations import overdue, skipped
from verify.campaign.plan import Task
from verify.campaign.run_environment import NOISE, of_every_machine
from verify.campaign.store.dependencies import installed
from verify.campaign.store.kept_results import Plan, Request, Store
from verify.campaign.summary import Search, left_out, smallest, summarise
from verify.checks.measuring.case import find_profile
from verify.report.model import Result
from verify.report.report_files import Report
from verify.report.rows.summary_row import SmallestCounterexample


class Searches:
    """Searches for smallest counterexamples, which a store remembers as long as no code changed."""

    def __init__(self, store: Store | None, code: str) -> None:
        self.store = store
        self.code = code
        self.found = {} if store is None else store.remembered(f"{_SEARCHED}{code}")
        self.known = len(self.found)

    def __call__(self, full_id: str) -> SmallestCounterexample | None:
        """The smallest one for a statement, if there is any."""
        if full_id not in self.found:
            counterexample = smallest(full_id)
            self.found[full_id] = "" if counterexample is None else counterexample.model_dump_json()
            return counterexample
        return SmallestCounterexample.model_validate_json(text) if (text := self.found[full_id]) else None

    def keep(self) -> None:
        """Remember what is new."""
        if self.store is not None and len(self.found) > self.known:
            self.store.remember(_SEARCHED, self.code, self.found)


_SEARCHED = "smallest counterexamples by "


def assembled(
    request: Request, results: Collection[Result], record: Mapping[str, str], search: Search, **how: Any
) -> Report:
    """The report of these results: a function of them, of what was asked and of the verdicts on record.

    ``how`` says whether they are ``complete``, in how many ``seconds`` they were found, and what became of ``draws``.
    Results that were skipped are added.
    """
    whole = [*results, *(skipped(task, request.skips) for task in _left_out(request))]
    judged, findings = hold_verdicts(whole, record, request.expected_failures)
    report = Report(
        environment=request.environment, seed=request.seed, profile=request.profile, subject=request.subject,
        subject_version=request.subject_version, results=tuple(judged),
        summary=tuple(summarise(judged, request.claims, request.subject, search)), findings=tuple(findings),
        changes=tuple(left_out(find_profile(request.profile), request.claims, request.subject)),
        draws_asked=request.draws, expected_failures=request.expected_failures, skips=request.skips, **how,
    )  # fmt: skip
    late = tuple(line for _, line in overdue(report))
    return report.model_copy(update={"findings": (*report.findings, *late)}) if late else report


def _left_out(request: Request) -> Iterator[Task]:
    """What was not asked by the user's wish."""
    noise = request.environment.get(NOISE, "")
    for key in request.skipped:
        claim, reading, instance = key.split("|")
        yield Task(claim, reading, instance, request.subject, request.profile, request.seed, request.effort, noise)


def fullest(store: Store, *, subject: str | None = None, profile: str | None = None, seed: int | None = None) -> Plan:
    """What a report of the store is about: all plans of one kind, of the kind that asks for most, the latest of them.

    Plans are of one kind if all but their claims is the same, the code that answers and what a problem's file held
    included. The narrower ones add what the widest does not ask for.

    Raises:
        InvalidInputError: If no plan is of this subject, profile and seed.
    """
    wanted = {"subject": subject, "profile": profile, "seed": seed}
    criteria = {name: value for name, value in wanted.items() if value is not None}
    kinds: list[list[Plan]] = []
    for plan in store.plans():
        if all(getattr(plan.request, name) == value for name, value in criteria.items()):
            like = next((plans for plans in kinds if all(_agree(plan, other) for other in plans)), None)
            if like is None:
                kinds.append([plan])
            else:
                like.append(plan)
    if not kinds:
        of = ", ".join(f"{name} {value}" for name, value in criteria.items())
        raise InvalidInputError("STORE", f"must hold a run{' of ' + of if of else ''}", str(store.path))
    return max((joined(plans) for plans in kinds), key=lambda plan: len(plan.cells))


def _agree(plan: Plan, other: Plan) -> bool:
    """Whether two plans are of one kind, and what both ask for is the same: a file may have held another problem."""
    if plan.request.kind != other.request.kind:
        return False
    known = dict(other.cells)
    return all(known.get(key, address) == address for key, address in plan.cells)


def joined(plans: Collection[Plan]) -> Plan:
    """Plans of one kind as one: the widest first, whatever order they come in."""
    ordered = sorted(plans, key=lambda plan: (-len(plan.cells), plan.digest))
    cells: dict[str, str] = {}
    for plan in ordered:
        for key, address in plan.cells:
            cells.setdefault(key, address)
    # Who asked for everything asked for whatever claims others did.
    named = [plan.request.claims for plan in ordered]
    claims = () if () in named else tuple(dict.fromkeys(claim for some in named for claim in some))
    skipped = tuple(dict.fromkeys(key for plan in ordered for key in plan.request.skipped))
    where = of_every_machine(plan.request.environment for plan in ordered)
    request = ordered[0].request.model_copy(update={"claims": claims, "skipped": skipped, "environment": where})
    return Plan(request=request, cells=tuple(cells.items()))


def report_of(store: Store, plan: Plan, record: Mapping[str, str]) -> Report:
    """The report of a plan from what the store holds; complete if that is all of it."""
    draws = plan.request.draws
    drawn = [address for key, address in plan.cells if draws and is_drawn(key.rpartition("|")[2])]
    apart = set(drawn)
    plain = [address for _, address in plan.cells if address not in apart]
    by_address = store.results(plain)
    results = [by_address[address] for address in plain if address in by_address]
    counted, shown = gathered(store.in_order(drawn), draws) if draws else (None, [])
    whole = len(results) == len(plain) and (counted is None or counted.asked == len(drawn))
    spent = sum(result.seconds or 0.0 for result in results)
    # What was searched by other code than this is searched anew.
    search = Searches(store, installed().whole)
    return assembled(plan.request, [*results, *shown], record, search, complete=whole, seconds=spent, draws=counted)
