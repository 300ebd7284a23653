"""A report decided again: verdicts from evidence, evidence from points and certificates, summary rows from results.

The verdict itself comes from :mod:`verify.verdict`, the one place; what goes into it is taken from claim, instance and
reading as the spec has them, and re-derived where the report holds enough to do so. What it does not hold is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from spec import Reading
from spec.atlas import find as find_instance
from spec.claims import Bound, find
from spec.expectations import reason_of
from verify.campaign.baseline.judging import is_missing_stage
from verify.campaign.expectations import skipped
from verify.campaign.plan import Task
from verify.campaign.recheck.derived_anew import closed_forms_broken, counterexample_broken
from verify.campaign.recheck.drawn_again import decided_again
from verify.campaign.recheck.drawn_counts import unasked
from verify.campaign.recheck.expected_evidence import missing
from verify.campaign.recheck.formula_again import formula_rates, is_of_formula
from verify.campaign.recheck.identities import identity_broken, statements
from verify.campaign.recheck.measured_evidence import error_spent, exact_partners, measured_rate
from verify.campaign.recheck.obligations import asserted, obligation
from verify.campaign.recheck.proven_bounds import certified_rate, exact_sweep
from verify.campaign.recheck.recorded_results import departures, shipped
from verify.campaign.recheck.whole_report import UNDECIDABLE, notes, same, whole_broken
from verify.campaign.run_environment import NOISE
from verify.campaign.summary import left_out as said_left_out
from verify.checks.measuring.case import PROFILES, checks, find_profile, full_run_decisions
from verify.checks.measuring.identity.identity import PREMISE
from verify.evidence.budget import TOTAL_ERROR, Share, level_of
from verify.evidence.model import VALUE, ComparisonEvidence, PremiseEvidence, RateEvidence
from verify.report.model import FIRST_SCHEMA, ReportData, Result
from verify.report.wording import counted
from verify.subjects.subject_names import REFERENCE
from verify.verdict import EXACT, Decision, NoEvidenceError, Verdict, decide

DECIDED = ("verdict", "sentence", "claimed", "quantity", "measured", "interval", "loose_by", "rung")
"""Fields of a result that its evidence decides."""


@dataclass(frozen=True)
class RecheckRefusal:
    """Something in a report that does not follow: where, which field, and the rule it breaks."""

    where: str
    field: str
    rule: str

    def __str__(self) -> str:
        return f"{self.where}: {self.field} {self.rule}"


@dataclass(frozen=True)
class Rechecked:
    """What was found, what was decided again, and what could not be."""

    refusals: tuple[RecheckRefusal, ...]
    verdicts: int
    certificates: int
    notes: tuple[str, ...]

    @property
    def said(self) -> str:
        """The outcome in a line."""
        done = f"{counted(self.verdicts, 'verdict')} decided again, {counted(self.certificates, 'certificate')} checked"
        follow = "all follow" if self.verdicts else "nothing was decided"
        return f"{done}: {counted(len(self.refusals), 'refusal') if self.refusals else follow}"


def share_of(effort: int) -> Share:
    """What one stochastic decision of a run at this effort may spend."""
    return Share(TOTAL_ERROR / full_run_decisions(), level=level_of(effort))


def recheck(
    report: ReportData, progress: Callable[[int, int, str], None] = lambda _done, _all, _what: None
) -> Rechecked:
    """Decide a report's verdicts again; ``progress`` is told how many results are done, of how many, and which is next.

    Returns:
        Every refusal, in the report's order; none if all that can be decided again comes out as stated.
    """
    refusals: list[RecheckRefusal] = []
    for done, result in enumerate(report.results):
        progress(done, len(report.results), result.key)
        try:
            refusals += [RecheckRefusal(result.where, *broken) for broken in recheck_result(result, report)]
        except UNDECIDABLE as error:
            refusals.append(
                RecheckRefusal(result.where, "evidence", f"must hold numbers that can be decided by; {error}")
            )
    refusals += [RecheckRefusal(*broken) for broken in whole_broken(report)]
    again = list(decided_again(report))
    refusals += [RecheckRefusal(*broken) for broken in again if broken is not None]
    judged = [result for result in report.results if result.verdict is not None and not result.is_skipped]
    remarks = (*_notes(report), *unasked(report, len(again)))
    return Rechecked(tuple(refusals), len(judged) + len(again), _certificates(report), remarks)


def recheck_result(result: Result, report: ReportData) -> Iterator[tuple[str, str]]:
    """Where one result does not follow from its evidence and the spec: a field and the rule it breaks."""
    broken = list(identity_broken(result, report))
    if broken:
        yield from broken
        return
    bound, reading = asserted(result.claim, result.reading)
    if result.fault is not None:
        if result.verdict is not None or result.evidence or result.sentence != f"Fault: {result.fault}":
            yield "fault", "must come without verdict or evidence, and be what its sentence says"
        return
    if result.is_skipped:
        task = Task(
            **result.named, subject=report.subject, profile=report.profile, seed=report.seed, effort=result.effort,
            noise=report.environment.get(NOISE, ""),
        )  # fmt: skip
        bare = result.model_copy(update={"expected": None, "seconds": None})
        if not reason_of(report.skips, **result.named) or bare != skipped(task, report.skips):
            yield "sentence", "must be the reason of the report's list of skips, and nothing else of it be said"
        return
    if not result.evidence:
        reference = report.subject == REFERENCE
        if reference or result.verdict is not Verdict.NOT_APPLICABLE or not result.sentence.startswith("Not applic"):
            yield "evidence", "must not be empty: nothing decides this verdict"
        elif (offered := _offered(result, report.results)) is not None:
            yield "verdict", f"must not be for want of {offered}: the subject offers it elsewhere in the report"
        return
    yield from _evidence(result, bound, reading, reference=report.subject == REFERENCE)
    first = report.schema_ == FIRST_SCHEMA
    yield from _decision(result, bound, [name for name in DECIDED if not first or name in result.model_fields_set])
    yield from counterexample_broken(result)
    yield from closed_forms_broken(result, report.profile)
    share = share_of(result.effort)
    yield from departures(result, report, reference=report.subject == REFERENCE, share=share)


def follows(result: Result) -> str | None:
    """Why a kept result does not follow from its evidence, or ``None``.

    Its certificates are not checked again; nor is it held to the record of what evidence there must be, which is of
    another profile, or of other code, than the result may be: that the result is as it was written is told otherwise.
    """
    if result.fault is not None or (not result.evidence and result.verdict is Verdict.NOT_APPLICABLE):
        return None
    try:
        bound, reading = asserted(result.claim, result.reading)
        broken = [*_items(result, bound, reading, proofs=False), *_derived(result)]
        broken += [*_decision(result, bound), *counterexample_broken(result)]
    except UNDECIDABLE as error:
        return f"evidence must hold numbers that can be decided by; {error}"
    return " ".join(broken[0]) if broken else None


def _derived(result: Result) -> Iterator[tuple[str, str]]:
    """Exponents that are derived, not measured: of the statement's formula, derived again; others, with their sweep."""
    rates = [item for item in result.evidence if isinstance(item, RateEvidence)]
    yield from exact_partners(result.evidence, {rate.quantity for rate in rates if is_of_formula(result, rate)})
    yield from formula_rates(result)


def _offered(result: Result, others: Sequence[Result]) -> str | None:
    """A stage this result says is missing though another result's evidence needs it."""
    wanted = result.sentence.removeprefix("Not applicable: the subject offers no ").removesuffix(".")
    if wanted == result.sentence or not is_missing_stage(result):
        return None
    known = checks()
    used = any(wanted in known[other.claim].needs for other in others if other.evidence and other.claim in known)
    return wanted if used else None


def _evidence(result: Result, bound: Bound, reading: Reading, *, reference: bool) -> Iterator[tuple[str, str]]:
    """Every piece of evidence against what it was made of, and that none is left out."""
    for line in missing(result, share_of(result.effort), reference=reference) or ():
        yield "evidence", line
    for item in result.evidence:
        if isinstance(item, RateEvidence) and item.rung in EXACT and bool(item.held_at) == reference:
            yield (
                f"{item.quantity}: held_at",
                "must say where another subject than the reference was asked, and no more",
            )
    yield from _items(result, bound, reading)
    yield from _derived(result)
    yield from exact_sweep(result.evidence)


def _items(result: Result, bound: Bound, reading: Reading, *, proofs: bool = True) -> Iterator[tuple[str, str]]:
    """Every piece of evidence against what it was made of; proofs, unless spared."""
    share, instance = share_of(result.effort), find_instance(result.instance)
    owed, known = obligation(result.claim, reading), _premise_ids()
    if owed is not None and find(result.claim).interpreted(result.reading).sense.multiplier_width == "shrinking":
        owed = replace(owed, shrinking=True)
    for item in result.evidence:
        broken: Iterable[tuple[str, str]] = ()
        if isinstance(item, PremiseEvidence):
            if item.premise not in known:
                yield f"premise {item.premise}", "must be one that a claim names"
            if item.holds and not item.satisfiable:
                yield f"premise {item.premise}", "must be one that can be met: it is"
            continue
        if isinstance(item, ComparisonEvidence):
            broken = error_spent(item, share)
        elif item.rung != "certified":
            broken = measured_rate(item, share)
        elif proofs:
            broken = certified_rate(item, owed, bound, reading, instance)
        yield from ((f"{item.quantity}: {field}", rule) for field, rule in broken)


@lru_cache(maxsize=1)
def _premise_ids() -> frozenset[str]:
    """Every premise that some text names: a check may find one unmet that only a neighbouring text spells out."""
    return frozenset({PREMISE, VALUE, *(premise.id for _, statement in statements() for premise in statement.premises)})


def _decision(result: Result, bound: Bound, names: Iterable[str] = DECIDED) -> Iterator[tuple[str, str]]:
    """The verdict and its numbers, decided again from the evidence as it stands."""
    try:
        again: Decision = decide(bound, result.evidence)
    except NoEvidenceError as error:
        yield "verdict", f"must follow from the evidence; {error}"
        return
    for name in names:
        if not same(getattr(result, name), getattr(again, name)):
            yield name, f"must be {getattr(again, name)}, as the evidence says; it is {getattr(result, name)}"
    if result.error_rates != (again.error_rates or {}):
        yield "error_rates", "must be those of the deciding evidence"


def _certificates(report: ReportData) -> int:
    rates = [item for result in report.results for item in result.evidence if isinstance(item, RateEvidence)]
    return sum(len(bound.certificates) for rate in rates for bound in rate.bounds)


def _notes(report: ReportData) -> Iterator[str]:
    """What the report does not hold enough of to be decided again."""
    reference, here = report.subject == REFERENCE, shipped()
    judged = [result for result in report.results if result.evidence]
    rows = [here.row(result, report) for result in judged]
    if loose := [result for result, row in zip(judged, rows, strict=True) if row is None]:
        of = f"no record is of them at profile {report.profile} and seed {report.seed}"
        yield f"the numbers of {counted(len(loose), 'result')} are as stated: {of}"
    if not reference and (answered := sum(row is not None for row in rows)):
        yield f"what the subject answered in {counted(answered, 'result')} is as stated: only a new run repeats it"
    shown = ("numpy", "scipy", "daqp", "python-flint", "python", "system")
    if moved := [f"{name} {report.environment.get(name)}" for name in shown
                 if report.environment.get(name) != here.environment.get(name)]:  # fmt: skip
        yield f"that the run was with {', '.join(moved)}: the record is of others, and held to within rounding"
    if report.seconds or any(result.seconds for result in report.results):
        yield "times are as stated"
    if reference and (lines := [line for line in report.changes if line not in _known_changes(report)]):
        yield f"{counted(len(lines), 'line')} on what changed beside the verdicts on record: as stated"
    yield from notes(report)


def _known_changes(report: ReportData) -> list[str]:
    """What a report says of what its profile leaves out."""
    named = list(dict.fromkeys(row.claim for row in report.summary))
    if report.profile not in PROFILES:
        return []
    return [line for claims in ([], named) for line in said_left_out(find_profile(report.profile), claims, REFERENCE)]
