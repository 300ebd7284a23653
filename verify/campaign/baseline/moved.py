"""What moved between two runs, as a comment for a pull request: verdicts, orders, constants, lost evidence; short."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from spec.formulas.powers import superscript
from verify.campaign.baseline.comparison import Change, Comparison, matched
from verify.campaign.baseline.model import Baseline, Entry, Sweep
from verify.report.formats.markdown import escape
from verify.report.wording import counted, interval, letter, listing, word

MARK = "<!-- f2csa-verify -->"
"""By which a job finds its own comment again, to replace it."""
ROWS = 12
"""Lines of a section; the rest are counted."""
PLACES = 3
"""Instances named in a line; the rest are counted."""
_TITLES = {
    "verdict": "Verdicts", "exponent": "Orders", "constant": "Constants",
    "evidence": "Lost or weaker evidence", "new": "Not on record", "expected": "Expected to fail, and does not",
}  # fmt: skip


def render_comment(
    comparison: Comparison,
    recorded: Baseline,
    current: Baseline | None,
    *,
    complete: bool = True,
    causes: Sequence[str] = (),
) -> str:
    """The comment as Markdown; the same comparison gives the same bytes.

    Args:
        comparison: How the two compare.
        recorded: The baseline.
        current: The new run; ``None`` where it has no verdict.
        complete: Whether that run reached its end.
        causes: What the subject's stages compute where they are off, a line each.
    """
    worse = [change for change in comparison.changes if change.worse]
    better = [change for change in comparison.changes if not change.worse]
    entries = (recorded.entries, {} if current is None else current.entries)
    compared = f"{counted(comparison.compared, 'result')} and {counted(comparison.numbers, 'number')} compared"
    lines = [MARK, f"**F2CSA claims: {_head(len(worse), len(better), len(comparison.faults))}** ({compared})"]
    if not complete:
        lines += ["", "The run was interrupted: only what was done is compared."]
    lines += _section("Faults: no verdict", [f"- {escape(fault)}" for fault in comparison.faults])
    for kind, title in _TITLES.items():
        lines += _section(title, _told([change for change in worse if change.kind == kind], *entries))
    lines += _section("What is off in its stages", [f"- {escape(cause)}" for cause in causes])
    beside = _told(better, *entries) + [f"- {escape(note)}" for note in comparison.notes]
    if beside:
        lines += ["", "<details><summary>Better, new, or not compared</summary>", "", *_cut(beside), "", "</details>"]
    return "\n".join(lines) + "\n"


def _head(worse: int, better: int, faults: int) -> str:
    parts = [counted(faults, "fault")] if faults else []
    parts += [f"{counted(worse, 'change')} for the worse"] if worse else []
    if not parts:
        return f"nothing got worse, {counted(better, 'change')} beside" if better else "nothing moved"
    return listing(parts)


def _section(title: str, rows: Sequence[str]) -> list[str]:
    return ["", f"{title}:", "", *_cut(rows)] if rows else []


def _cut(rows: Sequence[str]) -> list[str]:
    rest = len(rows) - ROWS
    return [*rows[:ROWS], *([f"- and {rest} more"] if rest > 0 else [])]


def _told(changes: Sequence[Change], old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[str]:
    """One line for all instances on which the same happened."""
    places: dict[tuple[str, str, str], list[str]] = {}
    for change in changes:
        what = _what(change, old.get(change.key), new.get(change.key))
        places.setdefault((change.claim, change.reading, what), []).append(change.instance)
    rows = []
    for (claim, reading, what), instances in places.items():
        # Several numbers of one result say the same of it.
        names = list(dict.fromkeys(instances))
        named = ", ".join(f"`{name}`" for name in names[:PLACES])
        more = f" and {len(names) - PLACES} more" if len(names) > PLACES else ""
        rows.append(f"- `{claim}` {reading.replace('-', ' ')}: {what} (on {named}{more})")
    return rows


def _what(change: Change, old: Entry | None, new: Entry | None) -> str:
    orders = list(dict.fromkeys(_orders(old, new))) if old is not None and new is not None else []
    if change.kind == "verdict" and old is not None and new is not None:
        moved = f"{word(str(old.verdict))} → {word(str(new.verdict))}"
        return "; ".join([f"**{moved}**", *orders])
    if change.kind == "exponent" and orders:
        return "; ".join(orders)
    text = change.line.removeprefix(f"{change.where}: ")
    return escape(text if len(text) <= 200 else text[:200] + " …")


def _orders(old: Entry, new: Entry) -> Iterator[str]:
    """``T₃ went from α² to α¹``, of each quantity that decides and whose intervals do not meet."""
    for was, now in matched(old.sweeps, new.sweeps):
        apart = now is not None and (was.interval[1] < now.interval[0] or now.interval[1] < was.interval[0])
        if now is not None and apart and was.role == now.role == "conclusion":
            yield f"{escape(was.quantity)} went from {_power(was)} to {_power(now)}"


def _power(sweep: Sweep) -> str:
    """``α²``; an order that is no whole number with its interval; ``0`` where the quantity vanishes."""
    if math.isinf(sweep.exponent) and sweep.exponent > 0:
        return "0"
    if not math.isfinite(sweep.exponent):
        return f"no order in {letter(sweep.variable)}"
    whole = round(sweep.exponent)
    if abs(sweep.exponent - whole) < 0.005:
        return f"{letter(sweep.variable)}{superscript(whole)}"
    return f"{letter(sweep.variable)}^{sweep.exponent:.2f} {interval(sweep.interval)}".replace("^-", "^−")
