"""What a run costs under each way to reach an accuracy: its order, and the gradients that were counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from verify.evidence.model import RateEvidence
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.site.frame import SiteFrame
from verify.report.site.living.living_texts import Tab
from verify.report.site.living.phrases import Switch
from verify.verdict import Verdict

OUTER_STEPS = "sfo-complexity/outer-calls"
"""The statement that counts the steps of Algorithm 2."""


@dataclass(frozen=True)
class Cost:
    """The cost under one value of the switch, as the run has it.

    Args:
        value: The switch's value.
        statement, reading: What is judged with it.
        order: Power of the variable: the asserted one where it holds, else the whole power nearest to what was fitted.
        derived: Whether it is the asserted one.
        settled: Whether the fit has settled: its last slope lies within its interval.
        points: Targets and gradients counted, towards the limit.
        steps: The outer steps counted at the same targets; none where they were not at all of them.
    """

    value: str
    statement: str
    reading: str
    order: int
    derived: bool
    settled: bool
    points: tuple[tuple[float, float], ...]
    steps: tuple[float, ...]

    def data(self) -> dict[str, Any]:
        """As the script has it."""
        return {
            "order": self.order, "derived": self.derived, "settled": self.settled,
            "steps": [round(steps) for steps in self.steps],
            "points": [[at, round(counted)] for at, counted in self.points],
        }  # fmt: skip


def costs(site: SiteFrame, switch: Switch, tab: Tab) -> tuple[Cost, ...]:
    """One for each value of which the run says something."""
    return tuple(_costs(site, switch, tab))


def _costs(site: SiteFrame, switch: Switch, tab: Tab) -> Iterator[Cost]:
    judged = {switch.as_written: (tab.statement, "as-written"), switch.choice.repaired: (tab.statement, "repaired")}
    if switch.text.beyond:
        judged[switch.text.beyond.value] = (switch.text.beyond.statement, "repaired")
    for value, (statement, reading) in judged.items():
        entry = site.statements.get(statement)
        outcome = entry.named.get(reading) if entry else None
        rate = _rate(site, outcome, tab.variable) if outcome else None
        if outcome is None or rate is None or outcome.assertion is None:
            continue
        derived = outcome.status == Verdict.SUPPORTED and tab.variable in outcome.assertion.bound.exponents
        order = int(outcome.assertion.bound.exponents[tab.variable]) if derived else round(rate.exponent)
        points = _towards_the_limit(rate)
        yield Cost(value, statement, reading, order, derived, has_settled(rate), points, _steps(site, reading, points))


def _rate(site: SiteFrame, reading: ReadingOutline, variable: str) -> RateEvidence | None:
    result = site.deciding(reading)
    rates = [item for item in (result.evidence if result else ()) if isinstance(item, RateEvidence)]
    return next((rate for rate in rates if rate.variable == variable and rate.role == "conclusion"), None)


def has_settled(rate: RateEvidence) -> bool:
    """Whether local exponents have stopped to drift, and the last of them lies within the interval."""
    low, high = rate.interval
    return rate.settled and (not rate.local_exponents or low <= rate.local_exponents[-1] <= high)


def _towards_the_limit(rate: RateEvidence) -> tuple[tuple[float, float], ...]:
    """The sweep in the variable alone: as long as it goes on."""
    sweep: list[tuple[float, float]] = []
    for point in rate.points:
        if sweep and point.at >= sweep[-1][0]:
            break
        sweep.append((point.at, point.measured))
    return tuple(sweep)


def _steps(site: SiteFrame, reading: str, points: tuple[tuple[float, float], ...]) -> tuple[float, ...]:
    """Outer steps at the same targets under the same reading."""
    entry = site.statements.get(OUTER_STEPS)
    outcome = entry.named.get(reading) if entry else None
    rate = _rate(site, outcome, "epsilon") if outcome else None
    known = dict(_towards_the_limit(rate)) if rate else {}
    return tuple(known[at] for at, _ in points) if all(at in known for at, _ in points) else ()
