"""The one place where evidence becomes a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from spec.claims import Bound, Statement
from verify.evidence.model import (
    STANDS_FOR,
    VALUE,
    ComparisonEvidence,
    Evidence,
    PremiseEvidence,
    RateEvidence,
    Rung,
    weakest,
)
from verify.evidence.rates import undecided as words
from verify.evidence.rates.orders import among, by_formulas, claimed_in, has_its_values, power, times, where_held, whose


class Verdict(StrEnum):
    """What the evidence says about a claim."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    VACUOUS = "VACUOUS"
    NOT_APPLICABLE = "NOT_APPLICABLE"


RESOLUTION = 0.1
"""Exponents closer than a tenth of an order are not told apart; the claims' exponents differ by half orders."""
LOOSE_FACTOR = 1.5
"""A sampled bound beaten by at least this factor is reported as loose."""
LOOSE = 0.5
"""An upper bound beaten by at least half an order is reported as loose."""


class NoEvidenceError(RuntimeError):
    """A check returned nothing that could decide: a fault in the check, never a pass."""


DISAGREE = "rungs disagree"
"""How the message of what measured and exact evidence decide otherwise begins."""


class RungDisagreementError(NoEvidenceError):
    """Exact and measured evidence about the reference decide differently: something is wrong, loudly."""


@dataclass(frozen=True)
class Decision:
    """A verdict with the quantity and the numbers it rests on; a supported bound is beaten by ``loose_by`` orders."""

    verdict: Verdict
    sentence: str
    claimed: str = ""
    measured: float | None = None
    interval: tuple[float, float] | None = None
    loose_by: float | None = None
    rung: Rung | None = None
    error_rates: dict[str, float] | None = None
    quantity: str = ""


def decide(bound: Bound, evidence: Sequence[Evidence]) -> Decision:
    """Hold evidence against what is claimed.

    Premises first: one that nothing can satisfy makes the claim VACUOUS, one unmet on this instance makes the
    instance NOT_APPLICABLE. Then every conclusion counts and the worst decides.

    Raises:
        NoEvidenceError: If there is no deciding evidence, or it holds NaN.
    """
    for item in evidence:
        if isinstance(item, PremiseEvidence) and not item.holds:
            if item.premise == VALUE:
                return Decision(Verdict.NOT_APPLICABLE, f"Not applicable: {item.finding}.")
            verdict = Verdict.NOT_APPLICABLE if item.satisfiable else Verdict.VACUOUS
            how = "is not met on this instance" if item.satisfiable else "cannot be met"
            return Decision(verdict, f"Premise “{item.premise}” {how}: {item.finding}")
    conclusions = [item for item in evidence if not isinstance(item, PremiseEvidence) and item.role == "conclusion"]
    # Of equal verdicts the first is quoted: a rate says more than one of its constants.
    decisions = _decide_rates(bound, [item for item in conclusions if isinstance(item, RateEvidence)])
    decisions += [_decide_comparison(item) for item in conclusions if isinstance(item, ComparisonEvidence)]
    if not decisions:
        raise NoEvidenceError("the check returned no deciding evidence")
    return _worst(decisions)


EXACT: tuple[Rung, ...] = ("certified", "symbolic")
"""Rungs whose exponent is derived, not measured."""
_SEVERITY = (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.SUPPORTED)


def _decide_rates(bound: Bound, rates: Sequence[RateEvidence]) -> list[Decision]:
    """Decide by exact rates where there are any; measured ones then only have to agree."""
    decided = [(rate, _decide_rate(bound, rate)) for rate in rates]
    exact = [decision for rate, decision in decided if rate.rung in EXACT]
    measured = [decision for rate, decision in decided if rate.rung not in EXACT]
    if not exact:
        return measured
    worst, seen = _worst(exact), _worst(measured) if measured else None
    if seen is not None and {worst.verdict, seen.verdict} == {Verdict.SUPPORTED, Verdict.REFUTED}:
        if not any(rate.held_at for rate in rates):
            if not any(r.settled and d.verdict is seen.verdict for r, d in decided if r.rung not in EXACT):
                # No sweep has come near its order where doubles end.
                return [replace(worst, sentence=f"{worst.sentence} What was measured has not settled.")]
            raise RungDisagreementError(f"{DISAGREE}; exact: {worst.sentence} measured: {seen.sentence}")
        # A program that gives the formulas' values here and others there does not compute the formulas.
        if seen.verdict is Verdict.REFUTED:
            return [replace(seen, sentence=f"{seen.sentence} It gives the formulas' values only where it was asked.")]
    return [worst]


def _worst(decisions: Sequence[Decision]) -> Decision:
    """The decision that stands for all; support needs every one of them, so it stands no firmer than the weakest."""
    worst = min(decisions, key=lambda decision: (_SEVERITY.index(decision.verdict), -(decision.loose_by or 0.0)))
    if worst.verdict is not Verdict.SUPPORTED:
        return worst
    return replace(worst, rung=weakest(decision.rung for decision in decisions))


def _decide_rate(bound: Bound, rate: RateEvidence) -> Decision:
    if rate.variable not in bound.exponents:
        known = ", ".join(bound.exponents) or "none"
        raise NoEvidenceError(f"measured a rate in {rate.variable}, but the bound is in {known}")
    if undefined := [point.at for point in rate.points if math.isnan(point.measured)]:
        raise NoEvidenceError(f"{rate.quantity} is NaN at {rate.variable} = {undefined[0]:g}")
    claimed = float(bound.exponents[rate.variable])
    low, high = rate.interval
    # Towards zero a larger exponent is a smaller quantity; towards infinity a smaller one is.
    sign = 1.0 if bound.toward == "zero" else -1.0
    gain_low, gain_high = sorted((sign * (low - claimed), sign * (high - claimed)))
    shown = claimed_in(bound, rate.variable)

    def decision(verdict: Verdict, sentence: str, loose_by: float | None = None) -> Decision:
        return Decision(
            verdict, sentence, shown, rate.exponent, rate.interval, loose_by, rate.rung,
            _error_rates("interval misses", rate), rate.quantity,
        )  # fmt: skip

    if rate.rung in EXACT:
        return _decide_exact(rate, decision, gain_low, bound)
    verb = "is stated as" if rate.rung == "cited" else "scales as"
    if rate.exponent == math.inf and bound.tag == "upper":
        return decision(Verdict.SUPPORTED, f"{rate.quantity} is exactly zero here; {shown} holds trivially.", math.inf)
    too_big, not_too_big = gain_high < -RESOLUTION, gain_low >= -RESOLUTION
    too_small, not_too_small = gain_low > RESOLUTION, gain_high <= RESOLUTION
    broken = {"upper": too_big, "lower": too_small}.get(bound.tag, too_big or too_small)
    # What is no function of the class that was to tell its order may be a power that the claim rules out.
    another = broken and rate.settled and words.has_no_order(rate)
    sampled = rate.rung == "statistical" and rate.exponent != math.inf and not another
    if sampled and (told := _of_class(bound, rate)) is not None:
        return decision(*told)
    if math.isinf(low) and math.isinf(high) and low < high:
        return decision(Verdict.INCONCLUSIVE, words.unread(rate))
    measured = f"{rate.quantity} {verb} {words.read_power(rate)}{words.read_over(rate)}; claimed {shown}"
    if rate.exponent == math.inf:
        measured = f"{rate.quantity} is exactly zero here, smaller than every power; claimed {shown}"
    holds = {"upper": not_too_big, "lower": not_too_small}.get(bound.tag, not_too_big and not_too_small)
    if rate.limit is not None:  # some exponent that the samples leave must meet the claim
        holds &= {"upper": gain_high >= 0, "lower": gain_low <= 0}.get(bound.tag, gain_low <= 0 <= gain_high)
    if (broken or holds) and (hidden := _hidden_bend(rate, bound, refutes=broken)) is not None:
        return decision(Verdict.INCONCLUSIVE, f"{measured}; {hidden}")
    if broken:
        return decision(Verdict.REFUTED, f"{measured}{among(rate, refuted=True)}.")
    if holds and rate.formula_order is not None:
        return decision(Verdict.INCONCLUSIVE, f"{measured}; {words.left_formula(rate)}")
    if holds:
        loose_by = gain_low if bound.tag == "upper" and gain_low >= LOOSE else None
        loose = f"; the bound is loose by {_in_orders(words.number(abs(rate.exponent - claimed)))}" if loose_by else ""
        return decision(
            Verdict.SUPPORTED, f"{measured}{loose}{among(rate)}.", loose_by and abs(rate.exponent - claimed)
        )
    formula = rate.formula_order is not None
    why = words.left_formula(rate) if formula else words.undecided(rate, claimed, RESOLUTION)
    return decision(Verdict.INCONCLUSIVE, f"{measured}; {why}")


def _of_class(bound: Bound, rate: RateEvidence) -> tuple[Verdict, str, float | None] | None:
    """What samples say of an order by its formula or within a class of functions; none where a fit is to say it."""
    claimed, order = float(bound.exponents[rate.variable]), rate.formula_order
    sign = 1.0 if bound.toward == "zero" else -1.0
    shown = f"claimed {claimed_in(bound, rate.variable)}"
    if order is not None and has_its_values(rate):
        gain = sign * (order - claimed)
        holds = {"upper": gain >= 0, "lower": gain <= 0}.get(bound.tag, gain == 0)
        loose_by = gain if holds and bound.tag == "upper" and gain >= LOOSE else None
        loose = f", loose by {_in_orders(f'{gain:g}')}" if loose_by else ""
        lead = f"{rate.quantity} is of order {power(rate.variable, order)} by its formula, exactly"
        seen = f"{lead}; {words.has_formula(rate)}; {shown}{loose}."
        return Verdict.SUPPORTED if holds else Verdict.REFUTED, seen, loose_by
    if rate.function_class is None:
        return Verdict.INCONCLUSIVE, f"{rate.quantity} {words.no_order(rate)}; {shown}.", None
    if rate.class_orders is None:
        return None
    low, high = sorted(sign * (end - claimed) for end in rate.class_orders)
    lead = f"{rate.quantity} {words.class_left(rate)}; {shown}"
    if not words.has_no_order(rate):
        broken = {"upper": high < 0, "lower": low > 0}.get(bound.tag, high < 0 or low > 0)
        holds = {"upper": low >= 0, "lower": high <= 0}.get(bound.tag, low == high == 0)
        if broken or (holds and order is None):
            return Verdict.REFUTED if broken else Verdict.SUPPORTED, f"{lead}{among(rate)}.", None
    return (
        Verdict.INCONCLUSIVE,
        f"{lead}; {words.left_formula(rate) if order is not None else words.no_limit(rate)}",
        None,
    )


def _hidden_bend(rate: RateEvidence, bound: Bound, *, refutes: bool) -> str | None:
    """What keeps a sweep that decides as a power law from deciding: a bend that its noise hides.

    Refuted is only what no law that its points leave open meets. Supported is only what none of these, but for some as
    rarely missed as a violation may be, fails by half an order: claims differ by no less.
    """
    limit = rate.limit if refutes else rate.limit_missed
    if limit is None:
        return None
    claimed = float(bound.exponents[rate.variable])
    low, high = sorted((1.0 if bound.toward == "zero" else -1.0) * (end - claimed) for end in limit)
    if refutes:
        # Of a claim from both sides, the limit lies where the interval does.
        open_ = {"upper": high >= 0, "lower": low <= 0}.get(bound.tag, low <= 0 <= high)
        return words.hidden_bend(rate, abs(rate.exponent - claimed), refutes=True) if open_ else None
    open_ = {"upper": low < -LOOSE, "lower": high > LOOSE}.get(bound.tag, low < -LOOSE or high > LOOSE)
    return words.hidden_bend(rate, LOOSE, refutes=False) if open_ else None


def _decide_exact(
    rate: RateEvidence, decision: Callable[[Verdict, str, float | None], Decision], gain: float, bound: Bound
) -> Decision:
    """An exact exponent needs no interval; a bound proven on an interval is quoted with its constant."""
    holds = {"upper": gain >= 0, "lower": gain <= 0}.get(bound.tag, gain == 0)
    if rate.exponent == math.inf:
        lead = f"{by_formulas(rate)}{rate.quantity} is exactly zero"
        zero = f"{lead}{where_held(rate)}. Claimed {claimed_in(bound, rate.variable)}."
        return decision(Verdict.SUPPORTED if holds else Verdict.REFUTED, zero, None)
    name = words.symbol(rate.variable)
    lead = by_formulas(rate) + rate.quantity
    if rate.coefficient is not None:
        lead += f" = {times(rate.coefficient, rate.variable, rate.exponent)} + …, exactly"
    elif not rate.bounds:
        lead += f" is of order {power(rate.variable, rate.exponent)}, exactly"
    proven = "".join(
        f"; it is {'at most' if b.side == 'upper' else 'at least'} {times(b.constant, rate.variable, b.exponent)} "
        f"for all {name} in (0, {b.end:g}]{whose(b)}"
        for b in rate.bounds
    )
    loose_by = gain if holds and bound.tag == "upper" and gain >= LOOSE else None
    loose = f", loose by {_in_orders(f'{gain:g}')}" if loose_by else ""
    sentence = f"{lead}{proven}{where_held(rate)}. Claimed {claimed_in(bound, rate.variable)}{loose}."
    return decision(Verdict.SUPPORTED if holds else Verdict.REFUTED, sentence, loose_by)


def _decide_comparison(item: ComparisonEvidence) -> Decision:
    if math.isnan(item.measured) or math.isnan(item.predicted):
        raise NoEvidenceError(f"{item.quantity} is NaN")
    shown = f"{item.relation} {item.predicted:.6g}"
    where = ", ".join(f"{k} = {v:.6g}" if isinstance(v, float) else f"{k} = {v}" for k, v in item.context.items())
    at = f" at {where}" if where else ""
    error_rates = _error_rates("wrong outcome", item)
    verdict = Verdict.SUPPORTED if item.holds else Verdict.REFUTED
    sentence = f"{item.quantity} is {item.measured:.6g}{at}; claimed {shown}{_slack(item)}."
    if item.broken is not None:
        verdict, sentence = Verdict.INCONCLUSIVE, f"{item.quantity} is {item.measured:.6g}{at}; {item.broken}."
    elif item.holds and not item.powered:
        verdict = Verdict.INCONCLUSIVE
        needed = f"; it would take {item.samples_needed:,} samples" if item.samples_needed else ""
        sentence += f" Too few samples ({item.samples or 0:,}) to see a violation of {item.wanted:.3g}{needed}."
        if item.law in STANDS_FOR:
            usual = STANDS_FOR[item.law]
            sentence += f" They are not Gaussian ({item.checked}): {item.law} decides in place of {usual}."
    elif item.rung == "statistical" and item.holds and item.relation != "==":
        sentence += _factor_to_spare(item)
    if verdict is not Verdict.INCONCLUSIVE and (under := item.supported_under if item.holds else item.refuted_under):
        sentence += f" {'Supported' if item.holds else 'Refuted'} under: {under}."
    return Decision(verdict, sentence, shown, item.measured, None, None, item.rung, error_rates, item.quantity)


def _slack(item: ComparisonEvidence) -> str:
    """The tolerance, where there is one, and where it comes from."""
    if not item.tolerance:
        return ""
    source = "sampling error" if item.rung == "statistical" else "rounding and solver accuracy"
    return f" up to {item.tolerance:.2g}, {source}"


def combine(verdicts: Iterable[Verdict | None], *, parts: bool = False) -> Verdict | None:
    """One verdict over instances, or over the parts of a statement: refuted anywhere is refuted; a fault leaves none.

    An instance on which the claim says nothing (not applicable, vacuous) does not weigh against one where it does; a
    part that cannot be met, or asked, leaves the whole unmet.
    """
    all_verdicts = list(verdicts)
    if not all_verdicts or None in all_verdicts:
        return None
    silent = [Verdict.VACUOUS, Verdict.NOT_APPLICABLE]
    last = [*silent, Verdict.SUPPORTED] if parts else [Verdict.SUPPORTED, *silent]
    return next(verdict for verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE, *last) if verdict in all_verdicts)


def rolled_up(statement: Statement, verdicts: Mapping[str, Sequence[Verdict | None]]) -> Verdict | None:
    """One verdict for a statement from those of its own results and of its parts', by full id, an instance each.

    Of a hypothesis on problems it is asked whether one can meet it; of a program, that it is right on every one.
    """
    verdict = combine((combine(own) for own in verdicts.values()), parts=True)
    asks_for_one = statement.question == "can-be-met" and statement.about != "subject"
    if verdict is not None and asks_for_one and len(verdicts) == 1:
        (own,) = verdicts.values()
        return Verdict.SUPPORTED if Verdict.SUPPORTED in own else verdict
    return verdict


def not_refuted_by(readings: Mapping[str, Verdict | None]) -> tuple[str, ...]:
    """Of a text's literal readings, one of which refutes it, those that neither refute it nor cannot be met, by name.

    Where it holds under one, the words decide, and none is wanting.
    """
    if Verdict.SUPPORTED in readings.values():
        return ()
    return tuple(name for name, verdict in readings.items() if verdict not in (Verdict.REFUTED, Verdict.VACUOUS))


def _in_orders(count: str) -> str:
    return f"{count} order" if count == "1" else f"{count} orders"


def _error_rates(name: str, item: RateEvidence | ComparisonEvidence) -> dict[str, float] | None:
    """Both error probabilities of statistical evidence, with the violation the second one is about."""
    if item.error_rate is None:
        return None
    rates = {name: item.error_rate}
    if item.power is not None and item.detectable is not None:
        rates[f"violation of {item.detectable:.2g} missed"] = 1 - item.power
    return rates


def _factor_to_spare(item: ComparisonEvidence) -> str:
    """By which factor a one-sided bound is beaten for sure, where it is loose."""
    low, high = sorted((item.measured, item.predicted))
    sure = low + item.tolerance
    return f" The bound is loose by a factor {high / sure:.3g}." if 0 < sure < high / LOOSE_FACTOR else ""
