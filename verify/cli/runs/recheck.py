"""``f2csa recheck``: a report's verdicts decided again from its evidence and certificates."""

from __future__ import annotations

from spec.errors import InvalidInputError
from verify.campaign.baseline.storage import load_report
from verify.campaign.recheck.rechecking import recheck as decide_again
from verify.campaign.run import environment
from verify.cli.arguments import options
from verify.cli.output.console import print_json, print_lines, progress_bar

PACKAGE = "f2csa-verify"


def recheck(request: options.Recheck) -> int:
    """Print every refusal and what could not be decided again; returns the exit code, 1 where anything is refused."""
    report = load_report(request.report, "REPORT", "decide its verdicts again")
    mine, theirs = environment()[PACKAGE], report.environment.get(PACKAGE)
    if theirs != mine:
        raise InvalidInputError("REPORT", f"must be of version {mine}, which knows what it says", theirs)
    if not report.has_verdicts:
        raise InvalidInputError("REPORT", "must hold at least one verdict", str(request.report))
    with progress_bar() as progress:
        review = decide_again(report, progress)
    if request.as_json:
        refused = [{"where": one.where, "field": one.field, "rule": one.rule} for one in review.refusals]
        print_json(
            {
                "verdicts": review.verdicts,
                "certificates": review.certificates,
                "refused": refused,
                "notes": review.notes,
            }
        )
    else:
        lines = [f"refused: {one}" for one in review.refusals] + [f"not decided again: {line}" for line in review.notes]
        print_lines([*lines, review.said])
    return 1 if review.refusals else 0
