"""What is a fault in how a subject met its claims, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verify.conformance.claims.claim_runs import JudgedClaims
from verify.conformance.found import StageFinding
from verify.report.report_files import Report
from verify.report.rows.asked_and_held import Coverage
from verify.subjects.loading import offered


def faults_of(request: JudgedClaims, findings: Sequence[StageFinding], report: Report) -> list[str]:
    """Faults of the claims' runs, processes that differ, and claims asked for in vain where no stage deviates."""
    vain = () if _deviates(findings) else _unasked(request, findings, report)
    return [*_claim_faults(report), *_wavering(request, report), *vain]


def notes_of(request: JudgedClaims, findings: Sequence[StageFinding], report: Report) -> list[str]:
    """Claims asked for in vain where a stage deviates, which is what was found then."""
    return [f"{line[:1].upper()}{line[1:]}." for line in _unasked(request, findings, report) if _deviates(findings)]


def _deviates(findings: Sequence[StageFinding]) -> bool:
    return any(finding.status == "diverges" for finding in findings)


def _wavering(request: JudgedClaims, report: Report) -> Iterator[str]:
    """A line where processes of one subject announce different stages: what fails in one is missing in another."""
    here = offered(request.subject)
    there = report.environment.get("subject offers", here)
    if there != here:
        yield f"the subject offers {here} in one process and {there} in another"


def _unasked(request: JudgedClaims, findings: Sequence[StageFinding], report: Report) -> Iterator[str]:
    """A line where claims were asked for by name and none of them could be, though stages could."""
    compared = any(finding.compared for finding in findings)
    coverage = Coverage.of(str(result.verdict) for result in report.results)
    claims = request.options.claims
    if compared and claims and report.results and not coverage.applicable:
        yield f"none of the claims asked for could be asked of it ({', '.join(claims)})"


def _claim_faults(report: Report) -> list[str]:
    """Faults of the claims' runs, each kind once."""
    faults: dict[str, str] = {}
    for result in report.faults:
        faults.setdefault(str(result.fault), f"{result.claim} on {result.instance}: {result.fault}")
    return list(faults.values())
