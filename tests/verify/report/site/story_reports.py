"""Reports made up statement by statement, so that a test says what a run found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verify.evidence.model import ComparisonEvidence, Point, RateEvidence
from verify.report.model import Result
from verify.report.report_files import Report
from verify.report.rows.summary_row import SmallestCounterexample, SummaryRow
from verify.verdict import Verdict

ALPHAS = (0.2, 0.1, 0.05, 0.025, 0.0125)
HELD, FELL = Verdict.SUPPORTED, Verdict.REFUTED
SMALLEST = SmallestCounterexample(
    problem={"kind": "quadratic", "g": {"yy": [[1]]}}, x=("1",),
    derivation=("f = 0, g = ½y², with x - y ≤ 0, at x = 1.", "At α = 1/10: T₃ = 100."),
    command="echo '{}' | f2csa hypergradient - --x=1 --alpha=1/10", minimal=True,
)  # fmt: skip


def rate(exponent: float, variable: str = "alpha", at: Sequence[float] = ALPHAS) -> RateEvidence:
    points = tuple(Point(at=a, measured=2 * a**exponent) for a in at)
    return RateEvidence(
        quantity="T₃", variable=variable, points=points, exponent=exponent, interval=(exponent, exponent)
    )


def comparison(measured: float, relation: str, predicted: float) -> ComparisonEvidence:
    return ComparisonEvidence.model_validate(
        {"quantity": "distance", "measured": measured, "relation": relation, "predicted": predicted}
    )


def result(
    claim: str, reading: str, verdict: Verdict | None, exponent: float = 1.0, *, variable: str = "alpha",
    instance: str = "toy1", fault: str | None = None, evidence: Sequence[RateEvidence | ComparisonEvidence] = (),
) -> Result:  # fmt: skip
    return Result(
        claim=claim, reading=reading, instance=instance, verdict=verdict, sentence=f"{claim} {reading}",
        measured=exponent, interval=(exponent, exponent), rung="numeric", fault=fault, claimed="O(α)",
        evidence=tuple(evidence) or (rate(exponent, variable),),
        reproduce=f"f2csa verify {claim} --reading {reading} --instance {instance}",
    )  # fmt: skip


def report(results: Iterable[Result], subject: str = "reference", **more: object) -> Report:
    results = tuple(results)
    rows = [
        SummaryRow(
            claim=one.claim, reading=one.reading, status="FAULT" if one.verdict is None else one.verdict,
            sentence=one.sentence, deciding=one.instance, reproduce=one.reproduce,
            instances={"FAULT" if one.verdict is None else one.verdict: 1},
            smallest=SMALLEST if one.verdict == FELL and one.reading == "as-written" else None,
        ) for one in results
    ]  # fmt: skip
    content = {
        "environment": {"python": "3", "f2csa-verify": "0"}, "seed": 1, "profile": "ci", "subject": subject,
        "results": results, "summary": tuple(rows),
    }  # fmt: skip
    return Report.model_validate({**content, **more})


def both(claim: str, written: Verdict, exponent: float, repaired: Verdict = HELD, other: float = 1.0) -> list[Result]:
    return [result(claim, "as-written", written, exponent), result(claim, "repaired", repaired, other)]


CAUSES = ("bias-bound/T3", "variance-bound/per-sample", "bias-bound/T1", "bias-bound/ramp", "dual-extraction")


def failing(exponent: float = -2.0) -> Report:
    """The gradient's rate and the causes fail as written and hold repaired; so does the cost."""
    found = [one for claim in ("bias-bound", *CAUSES) for one in both(claim, FELL, exponent)]
    found += [result("sfo-complexity", "as-written", FELL, -9.0, variable="epsilon"),
              result("sfo-complexity", "repaired", HELD, -9.0, variable="epsilon"),
              result("sfo-complexity/shared-sample", "repaired", HELD, -5.0, variable="epsilon")]  # fmt: skip
    return report(found)


def holding() -> Report:
    """The same statements, all of which hold."""
    return report(one for claim in ("bias-bound", *CAUSES) for one in both(claim, HELD, 1.0))
