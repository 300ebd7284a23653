"""The front page of a report on a foreign program: what is wrong with it, stage by stage, and what could be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from verify.report import wording
from verify.report.findings import user_lists
from verify.report.findings.drawn_problems import CLEAN
from verify.report.findings.outline import StatementOutline
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.site.claims.paper_stages import staged
from verify.report.site.frame import FRONT, Page, SiteFrame, drawn
from verify.report.site.living.phrases import switches
from verify.report.site.plots.slope_plot import figure
from verify.report.site.words.cell_numbers import CellNumber
from verify.report.site.words.powers import set_powers
from verify.subjects.subject_names import COMMAND
from verify.verdict import Verdict

LINES: dict[str, tuple[str, str]] = {
    "lower_level": ("Line 3", "the lower-level solution and its multiplier"), "activation": ("Line 4", "the weights"),
    "penalty_minimiser": ("Line 5", "the penalty minimiser"), "hypergradient": ("Line 6", "the estimate"),
    "samples": ("The samples of line 6", "the estimate under noise"),
    "runs": ("The inner loops", "lines 3 and 5 by stochastic steps"), "optimise": ("Algorithm 2", "the outer loop"),
}  # fmt: skip
"""What the paper calls a stage, by its name in the protocol."""
STANDS: dict[str, str] = {
    "agrees": Verdict.SUPPORTED, "diverges": Verdict.REFUTED, "undecided": Verdict.INCONCLUSIVE,
    "fault": wording.FAULT, "not offered": Verdict.NOT_APPLICABLE,
}  # fmt: skip
"""The mark of a stage's status."""
SHOWN = 12
"""Failing statements in the table; all are in the matrix."""


@dataclass(frozen=True)
class Failing:
    """A statement that fails of this program."""

    entry: StatementOutline
    reading: ReadingOutline
    number: CellNumber


@dataclass(frozen=True)
class Unasked:
    """Statements that could not be asked, for one reason."""

    reason: str
    entries: tuple[StatementOutline, ...]


def pages(site: SiteFrame) -> list[Page]:
    """The front page, where the report is about a program that is not the reference."""
    report = site.report
    if report.is_of_the_paper:
        return []
    here = site.at_front
    failing = _failing(here)
    letter = report.letter
    drawings = (figure([(one.reading, one.number)], one.entry.title, "yours") for one in failing)
    body = drawn(
        "subject.html.j2", here, letter=letter, lines=LINES, stands=STANDS, headline=headline(here),
        counts=_counts(here), cover=_cover(here), failing=failing[:SHOWN], left=max(0, len(failing) - SHOWN),
        stages=list(_stages(here)), unasked=_unasked(here), slopes=next(filter(None, drawings), None),
        conform=conform_command(report.subject), reading=_reading(here).removeprefix("as-"), first=_where_first(here),
        words=wording, told=told, as_written=_as_written, lists=user_lists.sentences(report),
    )  # fmt: skip
    return [Page(FRONT, f"{report.subject}: {headline(here)}", set_powers(body), headline(here))]


def _as_written(choices: tuple[str, ...]) -> dict[str, str]:
    """Those of them that are switches of the living Algorithm 1, with the values that the text as written has."""
    return {one.field: one.as_written for one in switches() if one.field in choices}


def _reading(site: SiteFrame) -> str:
    """What the program is held against: the choices under which the mathematics holds, if these were asked."""
    repaired = any("repaired" in entry.named for entry in site.outline.statements)
    return "repaired" if repaired or not site.report.results else "as-written"


def _asked(site: SiteFrame) -> list[tuple[StatementOutline, ReadingOutline]]:
    reading = _reading(site)
    return [(entry, entry.named[reading]) for entry in site.outline.statements if reading in entry.named]


def _failing(site: SiteFrame) -> list[Failing]:
    """Statements about a solver that fail, those with a rate first, which say by how much."""
    failing = [
        Failing(entry, reading, site.number(reading)) for entry, reading in _asked(site)
        if reading.status in (Verdict.REFUTED, wording.FAULT)
    ]  # fmt: skip
    return sorted(failing, key=lambda one: one.number.result is None or one.number.result.interval is None)


def headline(site: SiteFrame) -> str:
    """The answer in a line: the stage that is wrong, else how the statements came out."""
    report, letter = site.report, site.report.letter
    if report.only_drawn and letter is None:
        return CLEAN
    if not report.results and letter is None:
        return "Nothing was asked"
    off = [stage for stage in letter.stages if stage.status == "diverges"] if letter else []
    if letter is not None and off:
        lead = letter.first or off[0].stage
        name = LINES.get(lead, (lead, ""))[0]
        others = [stage for stage in letter.stages if stage not in off and stage.status != "not offered"]
        verb = "are" if name.startswith("The ") else "is"
        more = len(off) - 1
        rest = "; the rest agrees" if others and not more and all(s.status == "agrees" for s in others) else ""
        rest = f"; so {'is' if more == 1 else 'are'} {wording.counted(more, 'more stage')}" if more else rest
        return f"{name} {verb} wrong{rest}"
    if report.nothing_compared:
        return "No comparison was made"
    counts = _counts(site)
    fallen, held = counts.get("fail", 0), counts.get("hold", 0)
    total = fallen + held + counts.get("undecided", 0)
    if counts.get("fault"):
        return f"{wording.counted(counts['fault'], 'statement')} ended in a fault"
    if fallen and total == 1:
        return "The one statement that could be asked fails"
    if fallen:
        return f"{fallen} of {wording.counted(total, 'statement')} {'fails' if fallen == 1 else 'fail'}"
    if held < total:
        return f"Nothing fails, but {total - held} of {wording.counted(total, 'statement')} stay undecided"
    if not total:
        return "No statement could be asked"
    return "The one statement that could be asked holds" if total == 1 else f"All {total} statements asked hold"


def _counts(site: SiteFrame) -> dict[str, int]:
    words = {
        Verdict.SUPPORTED: "hold", Verdict.REFUTED: "fail", Verdict.INCONCLUSIVE: "undecided", wording.FAULT: "fault",
        Verdict.NOT_APPLICABLE: "could not be asked", Verdict.VACUOUS: "could not be asked",
    }  # fmt: skip
    counts: dict[str, int] = {}
    for _, reading in _asked(site):
        word = words.get(reading.status)
        if word:
            counts[word] = counts.get(word, 0) + 1
    return {
        word: counts[word] for word in ("fail", "fault", "undecided", "hold", "could not be asked") if word in counts
    }


def _cover(site: SiteFrame) -> Markup:
    """How many statements hold, fail and could not be asked, as one bar."""
    counts = _counts(site)
    total, at, body = sum(counts.values()), 1.0, []
    looks = {"hold": 'fill="var(--good)"', "fail": 'fill="var(--bad)"', "fault": 'fill="var(--bad)"'}
    plain = 'fill="none" stroke="var(--quiet)" stroke-dasharray="2 2"'
    for word, count in counts.items():
        width = 638 * count / total
        body.append(f'<rect x="{at:.1f}" y="4" width="{max(width - 2, 1):.1f}" height="14" {looks.get(word, plain)}/>')
        at += width
    label = ", ".join(f"{count} {word}" for word, count in counts.items())
    opening = Markup(
        '<svg class="cover" viewBox="0 0 640 22" role="img" aria-label="Of {} statements about a solver: {}">'
    )
    return opening.format(total, label) + Markup("".join(body) + "</svg>") if total else Markup("")  # numbers


@dataclass(frozen=True)
class StageCounts:
    """A stage of the paper, with how its statements came out."""

    words: str
    status: str
    counts: str
    worst: Failing | None


def _stages(site: SiteFrame) -> Iterator[StageCounts]:
    failing, readings = _failing(site), {entry.id: reading for entry, reading in _asked(site)}
    for _, words, claims in staged(site.outline):
        ids = [entry.id for claim in claims for entry in (claim, *claim.steps) if entry.id in readings]
        statuses = [readings[name].status for name in ids]
        if not statuses:
            continue
        told = [(statuses.count(Verdict.REFUTED), "fail"), (statuses.count(wording.FAULT), "ended in a fault"),
                (statuses.count(Verdict.INCONCLUSIVE), "undecided"), (statuses.count(Verdict.SUPPORTED), "hold"),
                (statuses.count(Verdict.NOT_APPLICABLE), "could not be asked")]  # fmt: skip
        order = (Verdict.REFUTED, wording.FAULT, Verdict.INCONCLUSIVE, Verdict.SUPPORTED, Verdict.NOT_APPLICABLE)
        status = next((str(each) for each in order if each in statuses), str(Verdict.NOT_APPLICABLE))
        worst = next((one for one in failing if one.entry.id in ids), None)
        yield StageCounts(words, status, wording.listing(f"{n} {w}" for n, w in told if n), worst)


def _where_first(site: SiteFrame) -> StageCounts | None:
    """The first of the paper's stages in which something fails."""
    return next((stage for stage in _stages(site) if stage.worst is not None), None)


_REASON = re.compile(r"^(?:By its part \S+: )?Not applicable: (?:the subject )?(.*?)\.?$")


def _unasked(site: SiteFrame) -> list[Unasked]:
    """What could not be asked, by reason, the most frequent first."""
    by_reason: dict[str, list[StatementOutline]] = {}
    for entry, reading in _asked(site):
        if reading.status == Verdict.NOT_APPLICABLE:
            told = _REASON.match(reading.sentence)
            reason = told[1] if told else reading.sentence
            by_reason.setdefault(f"was {reason}" if reason.startswith("skipped") else reason, []).append(entry)
    unasked = [Unasked(reason, tuple(entries)) for reason, entries in by_reason.items()]
    return sorted(unasked, key=lambda one: -len(one.entries))


def told(text: str) -> Markup:
    """A sentence of a letter set as prose: code in it as words."""
    plain = text.replace("`", "")
    # A Greek letter is a symbol, and "line 6" opens a formula: neither becomes a capital.
    opens = plain[:1].isascii() and not plain.startswith("line")
    return wording.typeset(plain[:1].upper() + plain[1:] if opens else plain)


def conform_command(subject: str) -> str:
    """The command that names what is wrong with a subject."""
    if subject.startswith(COMMAND):
        return f'f2csa conform --command "{subject.removeprefix(COMMAND)}"'
    return f"f2csa conform --python {subject}"
