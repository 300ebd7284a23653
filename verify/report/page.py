"""The report as one self-contained HTML page: no script, no font, no network."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, islice
from typing import Any, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from spec.claims import Claim
from verify.evidence.charts import Plot
from verify.evidence.model import ClosedForm, ComparisonEvidence, Counterexample, PremiseEvidence, RateEvidence
from verify.proofs.kernel.standings import standings
from verify.report import assumed_laws, prose, wording
from verify.report.drawn_charts import pictures
from verify.report.formulary import formulary
from verify.report.hypothesis_ledger import ledgers
from verify.report.judged_assertions import judged_assertions
from verify.report.model import NAMED, ReportData, Result
from verify.report.outline import Outline, ReadingOutline, outline
from verify.report.plots import RatePlots
from verify.report.proof_breaks import proof_breaks
from verify.report.typeset import Formula, FormulaSheet, set_formula
from verify.report.wording import sentence, typeset

T = TypeVar("T")

SHOWN_PANELS = SHOWN_ROWS = 8
"""Plots, and rows of a table, shown openly under one reading; further ones fold away."""
SHOWN_BYTES = 6_000
"""Longest problem file printed in the page; ``report.json`` has every one in full."""
SET_CHARACTERS = 60
"""Longest formula set beside a plot, in characters of its text."""
LINE = 88
"""Longest line of a printed problem file."""


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
    """Draws what the template asks for, and remembers what all drawings share."""

    formulas: FormulaSheet = field(default_factory=lambda: FormulaSheet(ready=formulary()))
    plots: RatePlots = field(default_factory=RatePlots)
    curves: Mapping[str, list[tuple[Plot, Markup]]] = field(default_factory=dict)
    """Pictures drawn ahead, by the anchor of their reading."""

    def formula(self, form: ClosedForm) -> Markup:
        """What a plotted quantity is: set where that fits beside a plot, else in a line of text."""
        latex = _formula(form)
        return self.formulas.render(latex) if latex else typeset(form.text.split(" = ")[-1])

    def panels(self, reading: ReadingOutline) -> list[Panel]:
        """The sweeps that decide under one reading, an instance each."""
        return [
            replace(panel, svg=self.plots.panel(panel.rate, panel.claimed, toward=reading.toward))
            for panel in _undrawn(reading)
        ]

    def pictures(self, reading: ReadingOutline) -> list[tuple[Plot, Markup]]:
        """Curves of what was measured, of the first result that has any."""
        if reading.anchor in self.curves:
            return self.curves[reading.anchor]
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


SHARE = 24
"""Formulas that a process makes at once."""


def drawn_ahead(arranged: Outline, pool: Executor) -> Drawing:
    """Formulas, which take most of a page's time, made by several processes."""
    panels = [panel for entry in arranged.statements for reading in entry.readings for panel in _undrawn(reading)]
    forms = [panel.closed_form for panel in panels if panel.closed_form is not None]
    texts = [entry.statement for entry in arranged.statements if entry.statement is not None]
    said = [latex for text in texts for latex in (text.latex, text.as_written.latex, text.repaired.latex)]
    wanted = [latex for latex in (*map(_formula, forms), *said) if latex]
    latex = [(each, False) for each in dict.fromkeys(wanted)]
    inline = [premise.latex for text in texts for premise in text.premises if premise.latex]
    latex += [(each, True) for each in dict.fromkeys(inline)]
    known = formulary()
    latex = [key for key in latex if key not in known]
    # What takes longest comes first.
    pictured = {reading.anchor: shown for entry in arranged.statements for reading in entry.readings
                if (shown := _pictured(reading))}  # fmt: skip
    curves = pool.map(pictures, pictured.values(), pictured)
    put = pool.map(_formulas, _shares(latex))
    ready = {**known, **dict(zip(latex, chain.from_iterable(put), strict=True))}
    return Drawing(FormulaSheet(ready=ready), curves=dict(zip(pictured, curves, strict=True)))


def _shares(items: Sequence[T]) -> list[Sequence[T]]:
    return [items[i : i + SHARE] for i in range(0, len(items), SHARE)]


def _formulas(wanted: Sequence[tuple[str, bool]]) -> list[Formula | None]:
    return [set_formula(latex, inline) for latex, inline in wanted]


def _formula(form: ClosedForm) -> str:
    """The LaTeX of a plotted quantity where it fits beside a plot, else the empty string."""
    return form.latex.split(" = ")[-1] if len(form.text.split(" = ")[-1]) <= SET_CHARACTERS else ""


def render_html(report: ReportData, claims: Mapping[str, Claim] | None = None, pool: Executor | None = None) -> str:
    """The page for one report; the same report gives the same bytes, whether processes of a pool help or not."""
    arranged = outline(report, claims)
    drawing = Drawing() if pool is None else drawn_ahead(arranged, pool)
    # The body comes first: the head carries the glyphs, markers and styles that the body turned out to need.
    names = _names(report, arranged, drawing) | {
        "breaks": proof_breaks(arranged, claims),
        "ledgers": list(ledgers(report.summary, claims)),
        "assertions": judged_assertions(arranged),
    }
    body = Markup(template("claims.html.j2").render(names))  # escaped there
    return template("report.html.j2").render(_names(report, arranged, drawing), body=body)


def _names(report: ReportData, arranged: Outline, drawing: Drawing) -> dict[str, Any]:
    return {
        "report": report,
        "outline": arranged,
        "drawing": drawing,
        "words": wording,
        "prose": prose,
        "named": NAMED,
        "anchors": {entry.id: entry.anchor for entry in arranged.statements},
        "shown_panels": SHOWN_PANELS,
        "shown_rows": SHOWN_ROWS,
        "remarks": remarks,
        "assumed": assumed_laws.assumed,
        "is_premise": lambda evidence: isinstance(evidence, PremiseEvidence),
        "is_rate": lambda evidence: isinstance(evidence, RateEvidence),
        "is_comparison": lambda evidence: isinstance(evidence, ComparisonEvidence),
        "measured": measured,
        "problem_text": problem_text,
        "isfinite": math.isfinite,
        "standings": standings,
    }


def measured(result: Result) -> str:
    """The deciding value with its interval, for a table."""
    if result.measured is None:
        return ""
    if result.interval is None:
        return wording.number(result.measured)
    return f"{wording.exponent(result.measured)} {wording.interval(result.interval)}"


def remarks(result: Result, reading: ReadingOutline) -> list[str]:
    """What a result's own row must say in words: only what its figures do not."""
    said = ["decides"] if result is reading.results[0] and len(reading.results) > 1 else []
    plain = result.verdict in ("SUPPORTED", "REFUTED") and result.measured is not None
    if result.fault is not None:
        said.append(result.fault)
    elif not plain and result.sentence != reading.sentence:
        said.append(result.sentence.removesuffix("."))
    if result.loose_by is not None and result.loose_by > 0:
        said.append(f"loose by {wording.number(result.loose_by, 2)}")
    law = assumed_laws.beside(result)
    if law:
        return [*said, law.removesuffix(".")]
    rates = result.error_rates.items()
    return said + [f"{name.replace('_', ' ')} ≤ {wording.number(value, 2)}" for name, value in rates]


def problem_text(counterexample: Counterexample) -> str:
    """The problem file, a block a line where it fits."""
    text = _laid_out(counterexample.problem, 0)
    return text if len(text) <= SHOWN_BYTES else text[:SHOWN_BYTES] + "\n… (in full in report.json)"


def _laid_out(value: Any, depth: int) -> str:
    line = json.dumps(value, ensure_ascii=False, default=str)
    # The outermost braces open on lines of their own, whatever their length.
    if not isinstance(value, dict | list) or not value or (depth and len(line) + 2 * depth <= LINE):
        return line
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {_laid_out(item, depth + 1)}" for key, item in value.items()]
        start, end = "{", "}"
    else:
        items, start, end = [_laid_out(item, depth + 1) for item in value], "[", "]"
    pad = "\n" + "  " * (depth + 1)
    return start + pad + ("," + pad).join(items) + "\n" + "  " * depth + end


@lru_cache(maxsize=4)
def template(name: str) -> Template:
    """A template by name; everything put into it is escaped unless it is markup already."""
    environment = Environment(
        loader=PackageLoader("verify.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"set": typeset, "sentence": sentence, "reading_title": wording.reading_title}
    return environment.get_template(name)


def html_fragment(report: ReportData, claims: Mapping[str, Claim] | None = None) -> str:
    """Claims by readings, with a tally of the steps, and the run in sentences above."""
    return template("fragment.html.j2").render(
        report=report, outline=outline(report, claims), named=NAMED, words=wording, prose=prose
    )
