"""Made-up reports of one or two results, whose every number can be turned."""

from __future__ import annotations

from typing import Any

from verify.evidence.model import CertifiedBound, ComparisonEvidence, Evidence, Point, RateEvidence
from verify.report.model import Result
from verify.report.report_files import Report
from verify.verdict import Verdict

ALPHAS = (0.2, 0.1, 0.05, 0.025, 0.0125)


def rate(constant: float = 1.0, power: float = 2.0, *, uncertainty: float = 1e-12, **more: Any) -> RateEvidence:
    """``constant * alpha**power`` with a relative uncertainty at every point."""
    points = tuple(
        Point(at=a, measured=constant * a**power, uncertainty=uncertainty * constant * a**power) for a in ALPHAS
    )
    given = {"quantity": "bias", "variable": "alpha", "points": points, "exponent": power,
             "interval": (power - 0.01, power + 0.01)} | more  # fmt: skip
    return RateEvidence(**given)


def exact(coefficient: float = 1.0, constant: float = 1.2, end: float = 0.25, **more: Any) -> RateEvidence:
    """A derived exponent with a proven bound."""
    bound = CertifiedBound(
        side="upper", exponent=1, constant=constant, end=end, tightness=1.0, certificates=(), worst_case=True
    )
    given = {"quantity": "bias", "variable": "alpha", "points": (), "exponent": 2.0, "interval": (2.0, 2.0),
             "rung": "certified", "coefficient": coefficient, "bounds": (bound,)} | more  # fmt: skip
    return RateEvidence(**given)


def level(measured: float = 1.0, relation: str = "<=", predicted: float = 2.0, **more: Any) -> ComparisonEvidence:
    return ComparisonEvidence(
        **{"quantity": "variance", "measured": measured, "relation": relation, "predicted": predicted, **more}
    )


def result(*evidence: Evidence, verdict: Verdict | None = Verdict.SUPPORTED, **more: Any) -> Result:
    given = {"claim": "bias-bound/T3", "reading": "repaired", "instance": "toy1", "verdict": verdict,
             "sentence": "A sentence.", "rung": "numeric", "evidence": evidence}  # fmt: skip
    if verdict is None:
        given |= {"fault": "it crashed", "rung": None}
    return Result(**(given | more))


def report(*results: Result, **more: Any) -> Report:
    given = {"environment": {"f2csa-verify": "1"}, "seed": 1, "profile": "ci", "subject": "mine", "results": results,
             "summary": ()}  # fmt: skip
    return Report(**(given | more))
