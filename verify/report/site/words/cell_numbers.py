"""What a cell shows of one statement under one reading: a mark, the measured number, and what was claimed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import count

from markupsafe import Markup, escape

from spec.formulas.powers import raised, superscript
from verify.evidence.model import (
    CertifiedBound,
    ClosedForm,
    ComparisonEvidence,
    RateEvidence,
)
from verify.report import wording
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import Result
from verify.report.signs import MIXED, PROVEN, SHADES, look
from verify.report.site.words.number_signs import EXACT, FITTED, NARROW, ROUGH, bracketed, rung_sign, signed
from verify.verdict import Verdict

WORDS: dict[str, str] = {
    Verdict.SUPPORTED: "holds", wording.NOT_CHECKED: "not checked", PROVEN: "holds, proven for every problem",
}  # fmt: skip
"""Words of a status that are shorter here than elsewhere."""

EXTREME, FAR = 1e6, 1e3
"""A compared value this large, or as small as its inverse, and this many times off is shown in few digits."""
NEAR = 0.005
"""Exponents this close are the same to two decimals."""
WHOLE = 1e-6
"""An exponent this close to a quarter or a half is that fraction."""

NOTHING = Markup("")


@dataclass(frozen=True)
class CellNumber:
    """What a cell shows; every text is plain, its ``_html`` twin is escaped and set."""

    status: str
    text: str
    """The measured number: ``α⁻²``, ``0.155``; of what has none, the status in words."""
    html: Markup
    word: str
    """The status in a word, for readers who hear the page."""
    note: str = ""
    """What must be said beside the status: ``4 of 12 readings hold``, ``not said; fails``."""
    detail: str = ""
    """What is known beyond it: ``at most 2.119 α for all α in (0, 1/4]``."""
    interval: str = ""
    rung: str = ""
    claimed: str = ""
    claimed_html: Markup = NOTHING
    quantity: str = ""
    result: Result | None = None
    part: str = ""
    """Id of the step that decides, where it is not the statement's own check."""
    is_order: bool = False
    """Whether it is the power of a variable, and not a compared value."""
    sign: str = ""
    """Of a power, whether its exponent is exact, ``=``, or fitted, ``≈``."""
    where: str = ""
    """Of a compared value of an extreme size, where it was measured: ``at steps = 254``."""
    grade: str = ""
    """Of a repaired statement of the paper that holds: ``proven`` for every problem, ``proven in part``, or neither."""
    firm: str = ""
    """An order that needs no measurement, ``O(ε⁻⁹ δ⁻¹)``, which stands before a fit."""
    firm_by: str = ""
    """Whether that is ``proven`` or ``derived``."""
    is_mixed: bool = False
    """Whether the text holds under some of its literal readings; the number is of the first."""

    @property
    def tone(self) -> str:
        """Its class in the style sheet."""
        return look(self.status).look

    @property
    def shown(self) -> str:
        """The status, or what it is shown as where more is known of it."""
        return MIXED if self.is_mixed else PROVEN if self.grade == "proven" else self.status

    @property
    def mark(self) -> str:
        """The mark as a character."""
        return look(self.shown).mark

    @property
    def instance(self) -> str:
        """The instance that decides."""
        return self.result.instance if self.result else ""

    @property
    def is_fit(self) -> bool:
        return self.sign in (FITTED, ROUGH)

    @property
    def said(self) -> Markup:
        """The number within a sentence: the firm order of what was only fitted; a fitted power with its sign."""
        if self.firm and self.is_fit:
            return wording.typeset(self.firm)
        return signed(self.sign, self.html) if self.is_fit else self.html

    @property
    def fitted(self) -> Markup:
        """Of a firm order, what was measured beside it."""
        if not (self.firm and self.is_fit):
            return NOTHING
        return signed(self.sign, self.html) + bracketed(self.interval)

    @property
    def told(self) -> Markup:
        """The number in a sentence with all that is known of it: of a firm order also what was measured."""
        if self.fitted:
            return Markup("{} ({}; measured {})").format(self.said, self.firm_by, self.fitted)
        return self.said + bracketed(self.interval)

    @property
    def value(self) -> Markup:
        """Mark, number, interval and rung, as a cell has them: an order that is proven or derived before a fit."""
        heard = self.word if self.shown == self.status else word(self.shown) + ", fails in this" * self.is_mixed
        if self.fitted:
            first = figure(self.shown, self.said, heard) + rung_sign(self.firm_by)
            return first + Markup(' <span class="fit">measured {}{}</span>').format(self.fitted, rung_sign(self.rung))
        number = figure(self.shown, signed(self.sign, self.html), heard) + bracketed(self.interval)
        return number + rung_sign(self.grade) + rung_sign(self.rung)


@lru_cache(maxsize=32)
def drawn_mark(status: str) -> Markup:
    """The mark as a small drawing; the word beside it, seen or heard, says the same."""
    return Markup(f'<svg class="m" viewBox="0 0 10 10" aria-hidden="true">{look(status).drawing}</svg>')  # constants


def figure(status: str, shown: Markup | str, heard: str = "") -> Markup:
    """A mark with a number; ``heard`` is the verdict for readers who hear the page, empty where it is shown."""
    unseen = Markup('<span class="unseen">{}: </span>').format(heard) if heard and heard != shown else Markup("")
    return Markup('<span class="v {}">{}{}<span class="n">{}</span></span>').format(
        look(status).look, drawn_mark(status), unseen, shown
    )


def word(status: str) -> str:
    """A status in a word of a cell."""
    return WORDS.get(status) or (SHADES[status].word if status in SHADES else wording.word(status))


def number_of(reading: ReadingOutline, deciding: Result | None) -> CellNumber:
    """The number of a statement under a reading, from the result that decides it."""
    status = reading.status or str(Verdict.NOT_APPLICABLE)
    verdict = word(status) if reading.status else "no summary"
    note = reading.word.replace("supported", "holds") if reading.status and reading.word != wording.word(status) else ""
    note = reading.by_itself or ("" if reading.part else note)
    part = deciding.claim if deciding is not None and deciding.claim != reading.claim else ""
    claim = claimed(reading, deciding)
    base = CellNumber(status, verdict, escape(verdict), verdict, note, claimed=claim, result=deciding, part=part,
                      claimed_html=wording.typeset(claim), is_mixed=reading.is_mixed)  # fmt: skip
    if deciding is None or deciding.measured is None or status not in (Verdict.SUPPORTED, Verdict.REFUTED):
        return base
    return measured(deciding, base)


def measured(result: Result, base: CellNumber | None = None) -> CellNumber:
    """The number of one result; ``base`` has what is known of its statement."""
    status = wording.status_of(result)
    base = base or CellNumber(status, word(status), escape(word(status)), word(status), result=result)
    value, rung = result.measured, result.rung or ""
    if value is None:
        return base
    rate = _deciding_rate(result)
    if rate is not None:
        settled = wording.is_settled(rate)
        text, html, interval = order(rate.variable, value, result.interval, settled=settled)
        detail = beyond(result, rate)
        if value == math.inf:
            detail = f"exactly zero at every {wording.letter(rate.variable)}"
        shown = _with(base, text, html, (rung, interval, detail, rate.quantity))
        sign = ROUGH if not settled else FITTED if wording.is_fitted(rate) else EXACT if math.isfinite(value) else ""
        return replace(shown, is_order=True, sign=sign)
    comparison = next(_comparisons(result), None)
    if comparison is None:
        return _with(base, text := wording.number(value, 4), escape(text), (rung, "", "", ""))
    text, _ = apart(comparison)
    where = f"at {wording.context(comparison.context)}" if _is_extreme(comparison) and comparison.context else ""
    shown = _with(base, text, escape(text), (rung, "", "", comparison.quantity))
    return replace(shown, where="" if comparison.holds else where)


def _with(base: CellNumber, text: str, html: Markup, more: tuple[str, str, str, str]) -> CellNumber:
    rung, interval, detail, quantity = more
    quantity = quantity.rstrip(" ,;.")
    return replace(base, text=text, html=html, detail=detail, interval=interval, rung=rung, quantity=quantity)


def _deciding_rate(result: Result) -> RateEvidence | None:
    """The sweep whose exponent decides: the exact one where there is one of the same exponent."""
    rates = [e for e in result.evidence if isinstance(e, RateEvidence) and e.role == "conclusion"]
    value = result.measured
    if value is None or result.interval is None:
        return None
    alike = [rate for rate in rates if rate.exponent == value or abs(rate.exponent - value) <= NEAR]
    return next((rate for rate in alike if rate.coefficient is not None), next(iter(alike), None))


def _comparisons(result: Result) -> Iterator[ComparisonEvidence]:
    """Comparisons that may decide: the one that was measured first, those that fail before those that hold."""
    comparisons = [e for e in result.evidence if isinstance(e, ComparisonEvidence) and e.role == "conclusion"]
    yield from sorted(comparisons, key=lambda e: (e.measured != result.measured, e.holds))


def order(
    variable: str, exponent: float, interval: tuple[float, float] | None, *, settled: bool = True
) -> tuple[str, Markup, str]:
    """A power as text and as HTML, and its interval where a whole number does not say all; unsettled, roughly."""
    letter = wording.letter(variable)
    if not settled:
        return _powered(letter, wording.number(wording.rough(exponent)), wording.NOT_SETTLED)
    if not math.isfinite(exponent):
        return ("0", Markup("0"), "") if exponent > 0 else ("∞", Markup("∞"), "")
    simple = Fraction(exponent).limit_denominator(4)
    wide = interval is not None and interval[1] - interval[0] > NARROW
    if abs(exponent - simple) <= (NEAR if simple.denominator == 1 else WHOLE) and not wide:
        return _powered(letter, str(simple), "")
    shown = wording.interval(interval) if interval is not None and wide else ""
    return _powered(letter, wording.exponent(exponent).removesuffix(".00"), shown)


def _powered(letter: str, power: str, interval: str) -> tuple[str, Markup, str]:
    power = "0" if power in ("−0", "-0") else power.replace("-", "−")
    if power == "1":
        return letter, wording.typeset(letter), interval
    plain = letter + superscript(power)
    return plain, Markup("{}<sup>{}</sup>").format(wording.typeset(letter), power), interval


def apart(comparison: ComparisonEvidence) -> tuple[str, str]:
    """Measured and predicted in as few digits as tell them apart, four at least, where they are not equal.

    Of a measured value of an extreme size two are enough.
    """
    if _is_extreme(comparison):
        return wording.number(comparison.measured, 2), wording.number(comparison.predicted, 4)
    for digits in count(4):
        shown = wording.number(comparison.measured, digits), wording.number(comparison.predicted, digits)
        if shown[0] != shown[1] or comparison.holds or digits >= 12:
            return shown
    raise AssertionError  # the count has no end


def _is_extreme(comparison: ComparisonEvidence) -> bool:
    """Whether what was measured is huge or tiny, and nowhere near what was predicted."""
    size, near = abs(comparison.measured), abs(comparison.predicted)
    return size != 0 and not 1 / EXTREME < size < EXTREME and not size / FAR < near < size * FAR


def claimed(reading: ReadingOutline, deciding: Result | None) -> str:
    """What was claimed: ``O(α)``, ``≤ 6 ± 0.2``, ``= 1``."""
    rate = _deciding_rate(deciding) if deciding is not None else None
    comparison = next(_comparisons(deciding), None) if deciding is not None and rate is None else None
    if comparison is not None:
        relation = {"<=": "≤", ">=": "≥", "==": "="}[comparison.relation]
        slack = f" ± {wording.number(comparison.tolerance, 2)}" if _matters(comparison) else ""
        return f"{relation} {apart(comparison)[1]}{slack}"
    own = deciding is None or deciding.claim == reading.claim
    if own and reading.assertion is not None and reading.assertion.bound.exponents:
        return wording.bound(reading.assertion.bound)
    return spelt(deciding.claimed) if deciding is not None else ""


def _matters(comparison: ComparisonEvidence) -> bool:
    """Whether the tolerance is more than rounding."""
    return comparison.tolerance > 1e-4 * max(abs(comparison.predicted), abs(comparison.measured))


def spelt(text: str) -> str:
    """What was claimed as a check has it, its relation and its variables as the paper writes them."""
    for plain, sign in (("<=", "≤"), (">=", "≥"), ("==", "=")):
        text = text.replace(plain, sign)
    for name in sorted(wording.VARIABLES, key=len, reverse=True):
        text = text.replace(name, wording.VARIABLES[name])
    return text


def bare(claimed: Markup) -> Markup:
    """What was claimed within a sentence: of a value, the value alone."""
    return Markup(str(claimed).removeprefix("= "))  # markup went in


def beyond(result: Result, rate: RateEvidence) -> str:
    """What is known of a rate beyond its exponent: its leading term, and the bound proven with it."""
    name, clauses = wording.letter(rate.variable), []
    if rate.coefficient is not None:
        clauses.append(f"{product(rate.coefficient, name, rate.exponent)} to leading order")
    wanted = "lower" if result.verdict is Verdict.REFUTED else "upper"
    bounds = sorted(_bounds(result), key=lambda bound: bound.side != wanted)
    if bounds:
        best = bounds[0]
        side = "at most" if best.side == "upper" else "at least"
        end = Fraction(best.end).limit_denominator(10_000)
        clauses.append(f"{side} {product(best.constant, name, best.exponent)} for all {name} in (0, {end}]")
    return "; ".join(clauses)


def _bounds(result: Result) -> Iterator[CertifiedBound]:
    for evidence in result.evidence:
        if isinstance(evidence, RateEvidence) and evidence.role == "conclusion":
            yield from evidence.bounds


def product(constant: float, letter: str, exponent: float) -> str:
    """A constant times a power: ``2.119 α``, ``0.747 α⁻²``, ``1`` where the power is none."""
    power = "" if not exponent else raised(letter, int(exponent) if exponent == int(exponent) else exponent)
    shown = wording.number(constant, 4)
    return f"{shown} {power}".strip() if shown != "1" or not power else power


def closed_form(result: Result) -> ClosedForm | None:
    """The measured quantity as a formula, where one was derived."""
    return next((e.closed_form for e in result.evidence if isinstance(e, RateEvidence) and e.closed_form), None)


def restated(written: ReadingOutline | None, repaired: ReadingOutline | None) -> str:
    """How the repaired claim differs from the printed one: ``claim weakened to O(α⁻¹)``; empty where it does not.

    Orders alone are compared, of one variable under both: for an upper bound towards zero a smaller power is weaker.
    """
    if written is None or repaired is None or written.assertion is None or repaired.assertion is None:
        return ""
    old, new = written.assertion.bound, repaired.assertion.bound
    if not old.exponents or not new.exponents:
        return ""
    if old.exponents.keys() != new.exponents.keys() or old.toward != new.toward:
        return f"claim restated as {wording.bound(new)}"
    signs = {_sign(float(new.exponents[name] - power)) for name, power in old.exponents.items()} - {0}
    if signs:
        weaker = -1 if (new.tag == "lower") == (new.toward == "infinity") else 1
        verb = {frozenset({weaker}): "weakened to", frozenset({-weaker}): "strengthened to"}.get(frozenset(signs), "")
        return f"claim {verb or 'restated as'} {wording.bound(new)}"
    return "" if old.tag == new.tag else f"claim restated as {wording.bound(new)}"


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
