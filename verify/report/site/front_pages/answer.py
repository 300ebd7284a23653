"""The answer that opens a report on the paper: whether it holds, by how much not, and what repairs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from verify.report import wording
from verify.report.findings.counted_statements import GRANTED, REPAIRED, SUPPOSED, WRITTEN
from verify.report.findings.drawn_problems import CLEAN, sentences
from verify.report.findings.outline import StatementOutline
from verify.report.findings.proven import DERIVED, firm_order, proven_in
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.prose import outcomes
from verify.report.site.causes.added_hypotheses import (
    AddedHypothesis,
    OtherHypothesis,
    added_hypotheses,
    asked_by_rates,
    other_hypotheses,
)  # fmt: skip
from verify.report.site.causes.failure_causes import Cause, change
from verify.report.site.frame import SiteFrame
from verify.report.site.words.number_signs import ROUGH
from verify.report.wording import typeset
from verify.verdict import Verdict

GRADIENT, COST, SHARED = "bias-bound", "sfo-complexity", "sfo-complexity/shared-sample"
"""The two rates that the paper is about, and what shows the second one repaired."""
RATES_IN_WORDS = {GRADIENT: "the bias", COST: "the cost"}
_COUNTS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")


@dataclass(frozen=True)
class PageAnswer:
    """The opening: ``short`` in a few words, then how it fails, what causes that, and what the repair gives."""

    short: str
    sentences: tuple[Markup, ...]
    repaired: Markup
    proved: Markup
    """How many repaired statements are proven, and whether a rate is among them; empty where none is."""
    scope: str
    """What was asked, where it is not all; empty of a whole run."""
    added: tuple[AddedHypothesis, ...]
    """Hypotheses that the repaired rates need and the paper does not list."""
    asked_by_rates: str
    """Which of them each rate asks for, in a sentence; empty where there is none."""
    others: tuple[OtherHypothesis, ...]
    """Those that a step asks for alone, and those of which nothing shows that they are needed."""


def answer(site: SiteFrame, causes: Sequence[Cause]) -> PageAnswer:
    """From the run's own verdicts."""
    added = added_hypotheses(site)
    return PageAnswer(
        _short(site),
        tuple(part for part in _said(site, causes) if part),
        _repaired(site, added),
        _proved(site),
        asked(site),
        added,
        asked_by_rates(site, added, RATES_IN_WORDS),
        other_hypotheses(site),
    )


def numeral(count: int, *, opening: bool = False) -> str:
    """A small count as a word."""
    if count >= len(_COUNTS):
        return str(count)
    return _COUNTS[count] if opening else _COUNTS[count].lower()


def _short(site: SiteFrame) -> str:
    written, granted, supposed = (site.outline.counts.get(group, {}) for group in (WRITTEN, GRANTED, SUPPOSED))
    if site.report.only_drawn:
        return f"{CLEAN}."
    if not site.report.results:
        return "Nothing was asked."
    if not written and not granted and not supposed:
        return "The text as written was not asked."
    for counts, short in ((written, "Not as written."), (granted, "Not in what it takes for granted."),
                          (supposed, "Not in what it supposes.")):  # fmt: skip
        if counts.get(Verdict.REFUTED) or counts.get(Verdict.VACUOUS):
            return short
    counts = Counter(written) + Counter(granted) + Counter(supposed)
    if counts.get(wording.MIXED):
        return "Not in every reading of its words."
    if counts.get(Verdict.SUPPORTED):
        open_ = any(counts.get(status) for status in (Verdict.INCONCLUSIVE, wording.FAULT))
        return "As far as it is decided, yes." if open_ else "As far as it was asked, yes."
    return "Undecided."


def _said(site: SiteFrame, causes: Sequence[Cause]) -> Iterator[Markup]:
    report, counts = site.report, site.outline.counts
    if report.only_drawn:
        yield typeset(" ".join(sentences(report.draws, alone=True)))
        return
    if not report.results:
        claims = wording.counted(len(site.claims), "claim")
        yield Markup("No check was run: {} on record, none of them judged.").format(claims)
        return
    told = [*_rates(site)]
    if told:
        yield Markup(", and ").join(told) + Markup(".")
        yield _kindest(site)
    elif tally := _tally(counts):
        yield typeset(f"{tally}.")
    if causes:
        fault = "fault causes" if len(causes) == 1 else "faults cause"
        yield Markup('<a href="#causes">{} {} this</a>.').format(numeral(len(causes), opening=True), fault)
    if report.faults:
        runs = wording.counted(len(report.faults), "run")
        yield Markup("<b>{} ended in a fault and gave no verdict.</b>").format(runs)
    if not report.complete:
        yield Markup("<b>The run was interrupted: what follows is a part.</b>")


def _rates(site: SiteFrame) -> Iterator[Markup]:
    """The two rates as written, where they fail."""
    has_begun = False
    for claim, words in ((GRADIENT, "the gradient estimate is off by {0}{2} where {1} is claimed"),
                         (COST, "a run costs {0} gradients{2} where {1} is claimed")):  # fmt: skip
        entry = _fallen(site, claim)
        if entry is not None:
            number = site.number(entry.named["as-written"])
            measured = (number.said, number.claimed_html)
            if number.part:  # the power of what that is about, and not of the rate
                fallen = (typeset(entry.title), site.link(number.part))
                yield Markup("“{}” falls with its part {}: {} where {} is claimed").format(*fallen, *measured)
            else:
                drift = f" ({wording.NOT_SETTLED})" if number.sign == ROUGH else ""
                yield Markup(words if has_begun else words[0].upper() + words[1:]).format(*measured, drift)
            has_begun = True


def _fallen(site: SiteFrame, claim: str) -> StatementOutline | None:
    entry = site.statements.get(claim)
    written = entry.named.get("as-written") if entry else None
    return entry if written is not None and written.status == Verdict.REFUTED else None


def _kindest(site: SiteFrame) -> Markup:
    """What the rates are in the most favourable literal reading of each, where that differs and fails as well."""
    kindest = []
    for claim in (GRADIENT, COST):
        entry = _fallen(site, claim)
        if entry is None or entry.literal is None or not entry.literal.fails_throughout:
            continue
        # One that cannot be met gives nothing.
        told = [one for one in entry.literal.literal if one.fails]
        if not all(one.measured for one in told):
            continue
        best = min(told, key=lambda one: one.off)
        worst = max(told, key=lambda one: one.off)
        if best.off < worst.off and best.measured != worst.measured:
            kindest.append(best.measured)
    return Markup("The kindest reading still gives {}.").format(wording.listing(kindest)) if kindest else Markup("")


def _tally(counts: Mapping[str, Mapping[str, int]]) -> str:
    """What was asked as written, where nothing else opens the page."""
    leads = (
        (WRITTEN, "{} asked as written"),
        (GRANTED, "{} that the text takes for granted"),
        (SUPPOSED, "{} that it supposes"),
    )
    told = [
        f"of {lead.format(wording.counted(sum(counts[group].values()), 'statement'))}, {outcomes(counts[group], group)}"
        for group, lead in leads if group in counts
    ]  # fmt: skip
    text = "; ".join(told)
    return text[:1].upper() + text[1:]


def _links(site: SiteFrame, entries: Sequence[StatementOutline]) -> str:
    """The first three, and how many more, as HTML."""
    parts = [str(site.link(entry.id)) for entry in entries[:3]]
    return wording.listing([*parts, f"{len(entries) - 3} more"] if len(entries) > 3 else parts)


def _repaired(site: SiteFrame, added: Sequence[AddedHypothesis]) -> Markup:
    counts = site.outline.counts.get("repaired", {})
    total, held = sum(counts.values()), counts.get(Verdict.SUPPORTED, 0)
    if not total:
        return Markup("")
    if held < total:
        others = [
            entry for entry in site.outline.statements
            if "repaired" in entry.named and entry.named["repaired"].status != Verdict.SUPPORTED
        ]  # fmt: skip
        silent = [entry for entry in others if entry.named["repaired"].status == Verdict.NOT_APPLICABLE]
        open_ = [entry for entry in others if entry not in silent]
        words = f"; not {_links(site, open_)}" if open_ else ""
        words += f"; {_links(site, silent)} {'does' if len(silent) == 1 else 'do'} not apply here" if silent else ""
        return Markup("Repaired, {} of {} hold{}.").format(held, total, Markup(words))  # our links
    hypotheses = Markup("")
    asked_for = [one for one in added if one.claims_asking(site, tuple(RATES_IN_WORDS))]
    if asked_for:
        words = f"{numeral(len(asked_for))} {_noun(asked_for)} added"
        hypotheses = Markup(', and with <a href="#added">{}</a>').format(words)
    if _holds_as_claimed(site):
        return Markup("Repaired{}: {}").format(hypotheses, _rates_repaired(site))
    if total == 1:
        return Markup("Repaired{}, it holds.").format(hypotheses)
    return Markup("Repaired{}, all {} statements asked hold.").format(hypotheses, total)


def _proved(site: SiteFrame) -> Markup:
    """How many of the repaired statements are proven."""
    proven = proven_in(site.outline)
    if not proven.said or not site.outline.counts.get("repaired"):
        return Markup("")
    return Markup('Of the repaired statements <a href="#proven">{}</a>.').format(proven.said)


def _order(site: SiteFrame, statement: str) -> Markup:
    """What a repaired rate is sure to be, else its number."""
    repaired = site.statements[statement].named["repaired"]
    firm = firm_order(repaired)
    return typeset(firm.order) if firm is not None else site.number(repaired).said


def _how_sure(site: SiteFrame, statement: str) -> Markup:
    """Whether a repaired rate is proven or derived, and for what; else on how many instances it holds."""
    whole = next((one for one in proven_in(site.outline).whole if one.entry.id == statement), None)
    if whole is not None:
        where = f" where {wording.listing(whole.more)}" if whole.more else ""
        return typeset(f"proven for every problem that meets its premises{where}")
    repaired = site.statements[statement].named["repaired"]
    measured = f"measured on {wording.counted(repaired.instances.get(str(Verdict.SUPPORTED), 0), 'instance')}"
    order = firm_order(repaired)
    return typeset(f"derived, and {measured}" if order is not None and order.how == DERIVED else measured)


def _noun(added: Sequence[AddedHypothesis]) -> str:
    return "hypothesis" if len(added) == 1 else "hypotheses"


def _holds_as_claimed(site: SiteFrame) -> bool:
    """Whether both rates hold repaired, each with the exponents that the paper claims."""
    for written, repaired in ((GRADIENT, GRADIENT), (COST, SHARED)):
        entry, mended = site.statements.get(written), site.statements.get(repaired)
        if entry is None or mended is None or entry.statement is None or mended.statement is None:
            return False
        outcome: ReadingOutline | None = mended.named.get("repaired")
        if outcome is None or outcome.status != Verdict.SUPPORTED:
            return False
        if mended.statement.repaired.bound.exponents != entry.statement.as_written.bound.exponents:
            return False
    return True


def _rates_repaired(site: SiteFrame) -> Markup:
    """Each rate repaired, and how sure it is; of the cost what becomes of it with fresh samples, where that differs.

    That it is as claimed is shown by another statement, with one sample that the inner loops share.
    """
    bias, cost = (_order(site, one) for one in (GRADIENT, SHARED))
    words = "the bias is {}, {}; a run costs {} gradients{}, {}."
    fresh, condition = _afresh(site), Markup("")
    if fresh:
        condition = Markup(" if lines 3, 5 and 6 share one sample, and {} with fresh ones").format(fresh)
    return Markup(words).format(bias, _how_sure(site, GRADIENT), cost, condition, _how_sure(site, SHARED))


def _afresh(site: SiteFrame) -> Markup:
    """The cost with fresh samples, where that is not what the paper claims; empty else."""
    entry = site.statements[COST]
    repaired = entry.named.get("repaired")
    if repaired is None or entry.statement is None:
        return Markup("")
    if "weakened" not in change(entry.statement.repaired.bound, entry.statement.as_written.bound):
        return Markup("")
    return site.number(repaired).said


def asked(site: SiteFrame) -> str:
    """What a partial run asked; empty where it asked every statement on record, in both readings."""
    every = [full for claim in site.claims.values() for full, _ in claim.statements()]
    run = [entry for entry in site.outline.statements if entry.checked or entry.missing]
    if not site.report.results:
        return ""
    told = []
    if len(run) < len(every):
        claims = sum("/" not in entry.id for entry in run)
        steps = len(run) - claims
        kinds = ((claims, "claim"), (steps, "proof step"))
        parts = [wording.counted(count, noun) for count, noun in kinds if count]
        told.append(f"Asked: {wording.listing(parts)} of {len(every)}; of the others nothing is said")
    groups = {"as-written": (WRITTEN, GRANTED, SUPPOSED), "repaired": (REPAIRED,)}
    absent = [name for name, some in groups.items() if not any(group in site.outline.counts for group in some)]
    if len(absent) == 1:
        told.append(
            "the text as written was not asked" if absent[0] == "as-written" else "the repaired one was not asked"
        )
    text = "; ".join(told)
    return text[:1].upper() + text[1:] + "." if text else ""
