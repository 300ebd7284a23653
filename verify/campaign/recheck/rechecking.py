"""A report decided again: verdicts from evidence, evidence from points and certificates, summary rows from results.

The verdict itself comes from :mod:`verify.verdict`, the one place; what goes into it is taken from claim, instance and
reading as the spec has them, and re-derived where the report holds enough to do so. What it does not hold is said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from spec import Reading
from spec.atlas import atlas
from spec.atlas import find as find_instance
from spec.claims import Bound
from spec.expectations import reason_of
from verify.campaign.baseline.judging import hold_verdicts, is_missing_stage
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.expectations import overdue, skipped
from verify.campaign.plan import Task, plan
from verify.campaign.recheck.drawn_counts import miscounted, unasked
from verify.campaign.recheck.expected_evidence import missing
from verify.campaign.recheck.identities import identity_broken, statements
from verify.campaign.recheck.measured_evidence import error_spent, exact_partners, measured_rate
from verify.campaign.recheck.obligations import asserted, obligation
from verify.campaign.recheck.proven_bounds import certified_rate, exact_sweep
from verify.campaign.summary import summarise
from verify.checks.measuring.case import PROFILES, checks, find_profile, full_run_decisions
from verify.checks.measuring.identity import PREMISE
from verify.evidence.budget import TOTAL_ERROR, Share, level_of
from verify.evidence.model import VALUE, ComparisonEvidence, PremiseEvidence, RateEvidence
from verify.report.model import FIRST_SCHEMA, NAMED, ReportData, Result
from verify.report.summary_row import SummaryRow
from verify.report.wording import counted
from verify.subjects.loading import REFERENCE
from verify.verdict import Decision, NoEvidenceError, Verdict, decide

DECIDED = ("verdict", "sentence", "claimed", "quantity", "measured", "interval", "loose_by", "rung")
"""Fields of a result that its evidence decides."""
UNDECIDABLE = (ArithmeticError, ValueError, LookupError, TypeError, RecursionError)
"""What numbers that no run produces may raise where they are decided by."""


@dataclass(frozen=True)
class Refusal:
    """Something in a report that does not follow: where, which field, and the rule it breaks."""

    where: str
    field: str
    rule: str

    def __str__(self) -> str:
        return f"{self.where}: {self.field} {self.rule}"


@dataclass(frozen=True)
class Rechecked:
    """What was found, what was decided again, and what could not be."""

    refusals: tuple[Refusal, ...]
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
    refusals: list[Refusal] = []
    for done, result in enumerate(report.results):
        progress(done, len(report.results), result.key)
        try:
            refusals += [Refusal(result.where, *broken) for broken in recheck_result(result, report)]
        except UNDECIDABLE as error:
            refusals.append(Refusal(result.where, "evidence", f"must hold numbers that can be decided by; {error}"))
    refusals += _whole(report)
    judged = [result for result in report.results if result.verdict is not None and not result.is_skipped]
    return Rechecked(tuple(refusals), len(judged), _certificates(report), tuple(_notes(report)))


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
            **result.named, subject=report.subject, profile=report.profile, seed=report.seed, effort=result.effort
        )
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
    yield from _counterexample(result)


def follows(result: Result) -> str | None:
    """Why a kept result does not follow from its evidence, or ``None``.

    Its certificates are not checked again; nor is it held to the record of what evidence there must be, which is of
    another profile, or of other code, than the result may be: that the result is as it was written is told otherwise.
    """
    if result.fault is not None or (not result.evidence and result.verdict is Verdict.NOT_APPLICABLE):
        return None
    try:
        bound, reading = asserted(result.claim, result.reading)
        broken = [*_items(result, bound, reading, proofs=False), *exact_partners(result.evidence)]
        broken += [*_decision(result, bound), *_counterexample(result)]
    except UNDECIDABLE as error:
        return f"evidence must hold numbers that can be decided by; {error}"
    return " ".join(broken[0]) if broken else None


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
    yield from _items(result, bound, reading)
    yield from exact_partners(result.evidence)
    yield from exact_sweep(result.evidence)


def _items(result: Result, bound: Bound, reading: Reading, *, proofs: bool = True) -> Iterator[tuple[str, str]]:
    """Every piece of evidence against what it was made of; proofs, unless spared."""
    share, instance = share_of(result.effort), find_instance(result.instance)
    owed, known = obligation(result.claim, reading), _premise_ids()
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
        if not _same(getattr(result, name), getattr(again, name)):
            yield name, f"must be {getattr(again, name)}, as the evidence says; it is {getattr(result, name)}"
    if result.error_rates != (again.error_rates or {}):
        yield "error_rates", "must be those of the deciding evidence"


def _same(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float) and math.isnan(first) and math.isnan(second):
        return True
    return first == second


def _counterexample(result: Result) -> Iterator[tuple[str, str]]:
    wanted = result.verdict is Verdict.REFUTED and result.about != "paper"
    if (result.counterexample is not None) != wanted:
        yield "counterexample", "must come with a refutation by a problem, and with nothing else"


def _whole(report: ReportData) -> Iterator[Refusal]:
    """What only the report as a whole shows: results left out or doubled, and the rows of the summary."""
    held = Counter(result.key for result in report.results)
    for key in (key for key, count in held.items() if count > 1):
        yield Refusal(key.replace("|", " "), "results", "must hold it once")
    if report.complete and report.profile in PROFILES:
        for task in _expected(report):
            if task.key not in held:
                yield Refusal(task.where, "results", "must hold it: the run that this report is of makes it")
    yield from (Refusal(*broken) for broken in miscounted(report))
    asked = list(dict.fromkeys(row.claim for row in report.summary))
    try:
        again = {(row.claim, row.reading): row for row in summarise(report.results, asked, report.subject)}
    except (*UNDECIDABLE, StopIteration, RuntimeError):
        yield Refusal("summary", "claim", "must be known")
        return
    found = {(row.claim, row.reading): row for row in report.summary}
    first = report.schema_ == FIRST_SCHEMA
    for name in [*again, *(name for name in found if name not in again)]:
        row = found.get(name)
        fields = [one for one in SummaryRow.model_fields if not first or row is None or one in row.model_fields_set]
        yield from _row(" ".join(name).strip(), again.get(name), row, fields)


def _expected(report: ReportData) -> list[Task]:
    """Results that a run over the claims, readings and instances found here makes; a claim brings its steps."""
    known, profile = checks(), find_profile(report.profile)
    found = [result for result in report.results if result.claim in known and result.instance in atlas()]
    here = {result.claim for result in found}
    known_statements = dict(statements())
    claims = [full_id for full_id in known_statements if full_id in here | {row.claim for row in report.summary}]
    named = [reading for reading in NAMED if any(result.reading == reading for result in found)]
    alone = sorted({r.reading for r in found if r.reading not in NAMED}) if len(named) < len(NAMED) else []
    if report.subject != REFERENCE:
        claims = [full_id for full_id in claims if known_statements[full_id].about == "subject"]
    if not claims or not (named or alone):
        return []
    # Who names no instance runs them all, but for what the profile leaves out.
    skipped = {full_id for full_id in known if profile.leaves_out(full_id)} - here
    whole = plan(claims, named + alone, [], profile, report.subject, report.seed)
    everywhere = {task.instance for task in whole if task.claim not in skipped}
    instances = {result.instance for result in found}
    if instances < everywhere:
        made = plan(claims, named + alone, sorted(instances), profile, report.subject, report.seed)
    else:
        made = whole
    return [task for task in made if task.claim not in skipped]


def _row(where: str, again: SummaryRow | None, found: SummaryRow | None, fields: Iterable[str]) -> Iterator[Refusal]:
    if again is None or found is None:
        yield Refusal(where, "summary", "must have this row" if found is None else "must not have this row")
        return
    for name in fields:
        if not _same(getattr(again, name), getattr(found, name)):
            yield Refusal(f"summary of {where}", name, "must follow from the results")
            return


def _certificates(report: ReportData) -> int:
    rates = [item for result in report.results for item in result.evidence if isinstance(item, RateEvidence)]
    return sum(len(bound.certificates) for rate in rates for bound in rate.bounds)


def _notes(report: ReportData) -> Iterator[str]:
    """What the report does not hold enough of to be decided again."""
    items = [item for result in report.results for item in result.evidence]
    sampled = sum(getattr(item, "rung", "") == "statistical" for item in items)
    values = sum(isinstance(item, ComparisonEvidence) and item.rung == "numeric" for item in items)
    points = sum(isinstance(item, RateEvidence) and item.rung == "numeric" for item in items)
    exact = sum(isinstance(item, ComparisonEvidence) and item.rung == "certified" for item in items)
    series = sum(getattr(item, "rung", "") == "symbolic" for item in items)
    if sampled:
        yield f"{sampled} statistical items: samples are not kept, so means, tolerances and intervals are as stated"
    if values or points:
        yield f"{values} measured values and the points of {points} sweeps are as stated; only a new run repeats them"
    if exact or series:
        yield f"{exact} exact comparisons and {series} leading terms come without a certificate and are as stated"
    if faults := len(report.results) - sum(result.verdict is not None for result in report.results):
        yield f"{counted(faults, 'fault')} in the report: no verdict to decide"
    if report.skipped:
        yield f"{counted(len(report.skipped), 'result')} skipped on request: nothing decides them"
    if report.excused:
        yield f"{counted(len(report.excused), 'refutation')} the user expects: whether rightly, nothing here says"
    lacking = [result for result in report.results if result.verdict is not None and not result.is_skipped]
    if silent := sum(not result.evidence for result in lacking):
        yield f"{silent} verdicts say only that the subject lacks a stage"
    yield from unasked(report)
    if not report.complete:
        yield "the run was interrupted: what it left out is not asked for"
    if report.profile in PROFILES:
        whole = plan([], list(NAMED), [], find_profile(report.profile), report.subject, report.seed)
        left = len({task.key for task in whole} - {result.key for result in report.results})
        if left:
            yield f"a partial run: {left} of the {len(whole)} results of a whole one are not in it"
    judged, findings = hold_verdicts(report.results, shipped_record(), report.expected_failures)
    findings += [line for _, line in overdue(report)]
    if tuple(findings) != report.findings or [r.expected for r in judged] != [r.expected for r in report.results]:
        yield "findings and expected verdicts are not those against the record shipped here; they are as stated"
