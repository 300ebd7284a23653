"""What only a report as a whole shows: results left out or doubled, summary rows, flags and findings, surroundings."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from spec import InvalidInputError
from spec.atlas import atlas
from verify.campaign.baseline.judging import hold_verdicts
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.expectations import overdue
from verify.campaign.plan import Task, plan
from verify.campaign.recheck.drawn_again import named_broken
from verify.campaign.recheck.drawn_counts import miscounted
from verify.campaign.recheck.identities import statements
from verify.campaign.run_environment import MACHINE, NOISE, environment
from verify.campaign.summary import summarise
from verify.checks.measuring.case import PROFILES, checks, find_profile
from verify.evidence.anytime import NoiseClass
from verify.report.model import FIRST_SCHEMA, NAMED, ReportData
from verify.report.rows.summary_row import SummaryRow
from verify.report.wording import counted
from verify.subjects.subject_names import REFERENCE

UNDECIDABLE = (ArithmeticError, ValueError, LookupError, TypeError, RecursionError)
"""What numbers that no run produces may raise where they are decided by."""
OF_A_SUBJECT = ("subject offers", "subject runs")
"""What is said of a foreign subject beside the versions."""
_PROCESSOR = re.compile(r"[\w.,+ -]{1,1000}")
_VERSION = re.compile(r"\d+(\.\w+)+([+-][\w.]+)?|[A-Za-z]+ \w+")
Broken = tuple[str, str, str]
"""Where, which field, and the rule it breaks."""


def whole_broken(report: ReportData) -> Iterator[Broken]:
    """What does not follow, or is not as on record, in the report as a whole."""
    held = Counter(result.key for result in report.results)
    for key in (key for key, count in held.items() if count > 1):
        yield key.replace("|", " "), "results", "must hold it once"
    known = report.profile in PROFILES
    if report.complete and known:
        for task in _expected(report):
            if task.key not in held:
                yield task.where, "results", "must hold it: the run that this report is of makes it"
    if not report.complete and known and not left_out(report) and not report.draws_asked:
        yield "report", "complete", "must be true: every result of the run is in it"
    yield from miscounted(report)
    yield from named_broken(report)
    yield from _surroundings(report)
    if report.subject == REFERENCE:
        yield from _against_the_record(report)
    yield from _summary(report)


def left_out(report: ReportData) -> int:
    """How many results a whole run of the report's profile makes beside those in it."""
    whole = plan([], list(NAMED), [], find_profile(report.profile), report.subject, report.seed)
    return len({task.key for task in whole} - {result.key for result in report.results})


def _against_the_record(report: ReportData) -> Iterator[Broken]:
    """Verdicts, flags and findings of the reference are those against the verdicts that come with the package."""
    record = shipped_record()
    judged, findings = hold_verdicts(report.results, record, report.expected_failures)
    for result, again in zip(report.results, judged, strict=True):
        on_record = record.get(result.key)
        if again.expected is False:
            yield result.where, "verdict", f"must be {on_record}, on record; it is {result.verdict}"
        elif result.verdict is None and on_record is not None:
            yield result.where, "verdict", f"must be {on_record}, on record; there is a fault instead"
        if result.expected != again.expected:
            yield result.where, "expected", f"must be {again.expected}, as the record shipped here has it"
    findings += [line for _, line in overdue(report)]
    if tuple(findings) != report.findings:
        rule = f"must be the {len(findings)} against the record shipped here; there are {len(report.findings)}"
        yield "report", "findings", rule if len(findings) != len(report.findings) else "must be those of the results"


def _surroundings(report: ReportData) -> Iterator[Broken]:
    """The environment says which versions the run was of, in the form of versions, and which machines it ran on."""
    stated, wanted = report.environment, environment()
    for name in (name for name in wanted if name not in stated):
        yield "environment", name, "must be stated"
    for name, value in stated.items():
        foreign = report.subject != REFERENCE and name in OF_A_SUBJECT
        if name == NOISE:
            yield from _noise(value)
        elif name not in wanted and not foreign:
            yield "environment", name, "must not be stated: it is no version that influences a number"
        elif name in wanted and not (_PROCESSOR if name in MACHINE else _VERSION).fullmatch(value):
            yield "environment", name, f"must be a {'name' if name in MACHINE else 'version'}; it is {value}"
    if report.subject == REFERENCE and report.subject_version:
        yield "report", "subject_version", "must be empty: the reference is of the version of the package"


def _noise(stated: str) -> Iterator[Broken]:
    """What is stated of the noise is one of the classes."""
    try:
        NoiseClass.named(stated)
    except InvalidInputError as error:
        yield "environment", NOISE, error.rule


def _summary(report: ReportData) -> Iterator[Broken]:
    named = [*(row.claim for row in report.summary), *(result.claim for result in report.results)]
    full_ids = list(dict.fromkeys(named))
    try:
        again = {(row.claim, row.reading): row for row in summarise(report.results, full_ids, report.subject)}
    except (*UNDECIDABLE, StopIteration, RuntimeError):
        yield "summary", "claim", "must be known"
        return
    stated = {(row.claim, row.reading): row for row in report.summary}
    if len(stated) < len(report.summary):
        yield "summary", "rows", "must be there once each"
    first = report.schema_ == FIRST_SCHEMA
    for name in [*again, *(name for name in stated if name not in again)]:
        row = stated.get(name)
        fields = [one for one in SummaryRow.model_fields if not first or row is None or one in row.model_fields_set]
        yield from _row(" ".join(name).strip(), again.get(name), row, fields)


def _row(where: str, again: SummaryRow | None, stated: SummaryRow | None, fields: Iterable[str]) -> Iterator[Broken]:
    if again is None or stated is None:
        yield where, "summary", "must have this row" if stated is None else "must not have this row"
        return
    for name in fields:
        if not same(getattr(again, name), getattr(stated, name)):
            yield f"summary of {where}", name, "must follow from the results"
            return


def same(first: object, second: object) -> bool:
    """Whether two values of a field are equal; NaN is itself."""
    if isinstance(first, float) and isinstance(second, float) and math.isnan(first) and math.isnan(second):
        return True
    return first == second


def _expected(report: ReportData) -> list[Task]:
    """Results that a run over the claims, readings and instances found here makes; a claim brings its steps."""
    known, profile = checks(), find_profile(report.profile)
    judged = [result for result in report.results if result.claim in known and result.instance in atlas()]
    here = {result.claim for result in judged}
    known_statements = dict(statements())
    claims = [full_id for full_id in known_statements if full_id in here | {row.claim for row in report.summary}]
    named = [reading for reading in NAMED if any(result.reading == reading for result in judged)]
    alone = sorted({r.reading for r in judged if r.reading not in NAMED}) if len(named) < len(NAMED) else []
    if report.subject != REFERENCE:
        claims = [full_id for full_id in claims if known_statements[full_id].about == "subject"]
    if not claims or not (named or alone):
        return []
    # Who names no instance runs them all, but for what the profile leaves out.
    skipped = {full_id for full_id in known if profile.leaves_out(full_id)} - here
    whole = plan(claims, named + alone, [], profile, report.subject, report.seed)
    everywhere = {task.instance for task in whole if task.claim not in skipped}
    instances = {result.instance for result in judged}
    if instances < everywhere:
        tasks = plan(claims, named + alone, sorted(instances), profile, report.subject, report.seed)
    else:
        tasks = whole
    return [task for task in tasks if task.claim not in skipped]


def notes(report: ReportData) -> Iterator[str]:
    """What of the report as a whole is as stated, and nothing decides again."""
    if faults := len(report.results) - sum(result.verdict is not None for result in report.results):
        yield f"{counted(faults, 'fault')} in the report: no verdict to decide"
    if report.skipped:
        yield f"{counted(len(report.skipped), 'result')} skipped on request: nothing decides them"
    if report.excused:
        yield f"{counted(len(report.excused), 'refutation')} the user expects: whether rightly, nothing here says"
    lacking = [result for result in report.results if result.verdict is not None and not result.is_skipped]
    if silent := sum(not result.evidence for result in lacking):
        yield f"{silent} verdicts say only that the subject lacks a stage"
    if not report.complete:
        yield "the run was interrupted: what it left out is not asked for"
    if report.profile in PROFILES and (left := left_out(report)):
        whole = left + len(report.results)
        yield f"a partial run: {left} of the {whole} results of a whole one are not in it"
    if report.subject != REFERENCE:
        judged, findings = hold_verdicts(report.results, shipped_record(), report.expected_failures)
        findings += [line for _, line in overdue(report)]
        if tuple(findings) != report.findings or [r.expected for r in judged] != [r.expected for r in report.results]:
            yield "findings and expected verdicts are not those against the record shipped here; they are as stated"
