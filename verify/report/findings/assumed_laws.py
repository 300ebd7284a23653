"""Beside a sampled number, in one line: the law it assumes, how its samples bear it out, how often it errs."""

from __future__ import annotations

import math

from verify.evidence.model import ComparisonEvidence, PremiseEvidence, RateEvidence
from verify.evidence.rates.orders import has_its_values
from verify.report import wording
from verify.report.model import Result

_SHORT_MEMORY = "estimates with a fourth moment that over 32 neighbours are independent"
ASSUMES = {
    "mean (bets)": "independent estimates",
    "variance (bets)": "independent estimates",
    "mean (Hotelling, calls)": "calls that are independent, the means of their estimates nearly Gaussian",
    "variance (chi-square)": "independent Gaussian estimates of equal variance",
    "variance (scatter of squares)": _SHORT_MEMORY,
    "variances along directions (chi-square)": "independent Gaussian estimates",
    "variances along directions (scatter of squares)": _SHORT_MEMORY,
    "correlations (bilinear)": "Gaussian estimates of known variance",
    "correlations (normal scores)": "estimates of one law",
    "mean square (bets)": "independent estimates",
    "exponent (log chi-square)": "independent Gaussian estimates",
    "exponent (scatter of squares)": _SHORT_MEMORY,
    "exponent (mean squares)": "independent Gaussian estimates",
    "exponent (mean squares, scatter of squares)": _SHORT_MEMORY,
    "exponent (order statistics)": "independent runs of any one continuous law",
    "exponent (empirical Bernstein)": "independent estimates within known bounds",
    "exponent (sub-Gaussian)": "independent runs with sub-Gaussian tails",
    "bounded mean (Bernstein)": "independent values within known bounds",
    "median (order statistics)": "independent values",
    "different answers (fourth moment)": "independent estimates whose kurtosis is at most 100",
    "variances along directions (bets)": "independent estimates",
    "draws (bets)": "independent calls, and the law of the noise that the problem states",
    "repeats (lots)": "nothing but that estimates of all calls are independent and of one law",
}
"""What each law takes for granted, for a sentence that begins with "Assumes"."""


def assumed(item: RateEvidence | ComparisonEvidence | PremiseEvidence) -> str:
    """The line, or nothing where nothing was sampled."""
    if isinstance(item, PremiseEvidence) or item.error_rate is None or item.law is None:
        return ""
    parts = [f"Assumes {ASSUMES[item.law]}{_premises(item)}"]
    if item.checked:
        parts[0] += f": checked on these samples ({item.checked.replace('-', '−')})"
    if isinstance(item, ComparisonEvidence) and item.broken:
        return f"{parts[0]}; undecided: {item.broken}."
    parts.append(f"wrong at most once in {wording.number(1 / item.error_rate, 2).removeprefix('1 × ')}")
    if item.detectable is not None and math.isfinite(item.detectable):
        parts.append(f"would have seen {_seen(item)}")
    return "; ".join(parts) + "."


def _premises(item: RateEvidence | ComparisonEvidence) -> str:
    """What a refutation and a support stand on, where these are two."""
    if isinstance(item, RateEvidence):
        if has_its_values(item):
            return ", and the order of a formula that they have"
        return f", and one of the {item.function_class}" if item.function_class else ""
    if item.refuted_under is None:
        return ""
    if item.refuted_under == item.supported_under:
        return f" and {item.refuted_under}"
    if not item.holds:
        return f"; refuted under {item.refuted_under}"
    return f"; supported within the class “{item.supported_under}”, to be refuted under {item.refuted_under}"


def _seen(item: RateEvidence | ComparisonEvidence) -> str:
    """The smallest violation, as a share of what is predicted where there is such a thing."""
    size = item.detectable or 0.0
    if isinstance(item, RateEvidence):
        return f"{wording.number(size, 2)} of an order"
    share = size / abs(item.predicted) if item.predicted else math.inf
    return f"{wording.number(100 * share, 2)} %" if share < 10 else wording.number(size, 2)


def beside(result: Result) -> str:
    """The line of what decided a result: of its first sampled conclusion with the number quoted, or of its first."""
    sampled = [
        item
        for item in result.evidence
        if not isinstance(item, PremiseEvidence) and item.role == "conclusion" and item.error_rate is not None
    ]
    quoted = [
        item
        for item in sampled
        if result.measured == (item.exponent if isinstance(item, RateEvidence) else item.measured)
    ]
    return next(filter(None, map(assumed, (*quoted, *sampled))), "")
