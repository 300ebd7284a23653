"""What a report draws: sweeps as panels, curves as pictures, formulas of what is plotted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from markupsafe import Markup

from verify.evidence.charts import Plot
from verify.evidence.model import ClosedForm, RateEvidence
from verify.report import mathml
from verify.report.figures.drawn_charts import pictures
from verify.report.figures.plots import RatePlots
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import Result
from verify.report.wording import typeset

SET_CHARACTERS = 60
"""Longest formula set beside a plot, in characters of its text."""


@dataclass(frozen=True)
class Panel:
    """One plot, or the words that stand in for it."""

    result: Result
    rate: RateEvidence
    svg: Markup | None
    claimed: float | None
    several: bool = False
    """Whether its result has further plots, so that the quantity must be named."""
    exact: RateEvidence | None = None
    """What was derived or proven of the same quantity."""

    @property
    def closed_form(self) -> ClosedForm | None:
        """The plotted quantity as a formula, where one was derived."""
        return self.rate.closed_form or (self.exact.closed_form if self.exact else None)

    @property
    def excluded(self) -> int:
        """How many of its points lie beyond the floor."""
        return sum(not point.usable for point in self.rate.points)


@dataclass
class Drawing:
    """Draws what the pages ask for."""

    plots: RatePlots = field(default_factory=RatePlots)

    def formula(self, form: ClosedForm) -> Markup:
        """What a plotted quantity is: set where that fits beside a plot, else in a line of text."""
        latex = _formula(form)
        return mathml.formula(latex) if latex else typeset(form.text.split(" = ")[-1])

    def panels(self, reading: ReadingOutline) -> list[Panel]:
        """The sweeps that decide under one reading, an instance each."""
        return [
            replace(panel, svg=self.plots.panel(panel.rate, panel.claimed, toward=reading.toward))
            for panel in _undrawn(reading)
        ]

    def pictures(self, reading: ReadingOutline) -> list[tuple[Plot, Markup]]:
        """Curves of what was measured, of the first result that has any."""
        shown = _pictured(reading)
        return pictures(shown, reading.anchor) if shown else []


def _pictured(reading: ReadingOutline) -> Sequence[Plot]:
    return next((result.pictures for result in reading.results if result.pictures), ())


DRAWN = 4
"""Plots of one reading: the deciding instance, those that came out otherwise, others; the table has every number."""


def _undrawn(reading: ReadingOutline) -> Iterator[Panel]:
    return islice(_sweeps(reading), DRAWN)


def _sweeps(reading: ReadingOutline) -> Iterator[Panel]:
    for result in reading.results:
        rates = [entry for entry in result.evidence if isinstance(entry, RateEvidence)]
        sweeps = [rate for rate in rates if rate.role == "conclusion" and rate.points]
        exact = next((rate for rate in rates if rate.role == "conclusion" and not rate.points), None)
        for rate in sweeps:
            yield Panel(result, rate, None, reading.claimed_exponent(rate), len(sweeps) > 1, exact)


def _formula(form: ClosedForm) -> str:
    """The LaTeX of a plotted quantity where it fits beside a plot, else the empty string."""
    return form.latex.split(" = ")[-1] if len(form.text.split(" = ")[-1]) <= SET_CHARACTERS else ""
