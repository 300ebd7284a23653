"""``f2csa prove --certificates REPORT``: a report's certificates put to the kernel, each a theorem there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from spec.errors import InvalidInputError, from_validation
from spec.files import write_files
from verify.campaign.baseline.storage import load_report
from verify.cli.arguments import options
from verify.cli.output.console import print_json, print_lines
from verify.evidence.model import RateEvidence
from verify.proofs.kernel.certificate_checking import KernelOutcome, as_file, put_to_the_kernel, spread
from verify.report.model import ReportData
from verify.truth.certificates.certificate import Certificate

SCHEMA = "f2csa-prove-certificates/1"
FILE = "certificates.v"


def prove_certificates(request: options.Prove) -> int:
    """Print a line for each certificate that is refused, and how many are not.

    Returns 0 where the kernel accepts every one, 1 where one is refused, 3 where one was not put to it.
    """
    for option, given in (("names", request.names), ("--kernel", request.kernel), ("--record", request.record)):
        if given:
            raise InvalidInputError(option, "must not stand beside --certificates")
    if request.limit is not None and request.limit < 1:
        raise InvalidInputError("--limit", "must be >= 1", request.limit)
    path = request.certificates or Path("report")
    several = spread(list(_certificates(load_report(path, "--certificates", "prove its certificates"))), request.limit)
    if not several:
        raise InvalidInputError("--certificates", "must be a report that holds a certificate", str(path))
    if request.out is not None:
        write_files(request.out, {FILE: as_file(several)}, "--out")
    outcome = put_to_the_kernel(several)
    if request.as_json:
        print_json(_entry(outcome))
    else:
        lines = [f"refused: {line}" for line in outcome.faults]
        lines += [f"refused: {one.where}: {one.why}" for one in outcome.findings if one.state == "refused"]
        print_lines([*lines, _said(outcome)])
    if outcome.faults or outcome.count("refused"):
        return 1
    return 0 if outcome.count("accepted") == len(several) else 3


def _certificates(report: ReportData) -> Iterator[tuple[str, Certificate]]:
    """Every certificate of a report, with the result and the quantity it is of."""
    for result in report.results:
        for item in result.evidence:
            if isinstance(item, RateEvidence):
                for bound in item.bounds:
                    for data in bound.certificates:
                        where = f"{result.where}: {item.quantity}, {bound.side} bound"
                        try:
                            yield where, Certificate.model_validate(data)
                        except ValidationError as error:
                            raise from_validation(error, f"certificate of {where}") from None


def _said(outcome: KernelOutcome) -> str:
    """How many are accepted, and what of the others."""
    number = f"{len(outcome.findings)} certificate{'s' if len(outcome.findings) != 1 else ''}"
    if unasked := outcome.count("not checked"):
        why = "no coqc" if not outcome.coq and not outcome.faults else "see above"
        return f"{number}: {unasked} not put to the kernel here ({why})."
    return f"{number}: {outcome.count('accepted')} accepted by the kernel in this run, with Coq {outcome.coq}."


def _entry(outcome: KernelOutcome) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "coq": outcome.coq,
        "refusals": list(outcome.faults),
        "certificates": [
            {"where": one.where, "hash": one.hash, "theorem": one.theorem, "state": one.state, "why": one.why}
            for one in outcome.findings
        ],
    }
