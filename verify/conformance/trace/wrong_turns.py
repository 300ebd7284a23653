"""When an expression is wrong, where it is not always: on which sizes, rows, steps or calls, and which row it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from verify.conformance.trace.named_values import ByAnswers
from verify.conformance.trace.quantity_fits import is_same
from verify.conformance.trace.source_sites import SourceSite
from verify.conformance.trace.suspects import Suspect, Traced, fit_of
from verify.conformance.trace.traced_questions.traced_calls import TracedQuestion

SIZES: dict[str, Callable[[tuple[int, ...]], bool]] = {
    "n = m": lambda s: s[0] == s[1], "p = n": lambda s: s[0] == s[2], "p = m": lambda s: s[1] == s[2],
    "n > m": lambda s: s[0] > s[1], "n < m": lambda s: s[0] < s[1], "p > m": lambda s: s[2] > s[1],
    "p > n": lambda s: s[2] > s[0], "n = m = p": lambda s: s[0] == s[1] == s[2],
}  # fmt: skip
"""What a question may be, by its sizes n, m and p."""
TURNS: dict[str, Callable[[int, int, int], bool]] = {
    "in the first {} alone": lambda i, _n, _M: i == 0, "in the last {} alone": lambda i, n, _M: i == n - 1,
    "where t mod M = 0 alone": lambda i, _n, M: M > 1 and i % M == 0,
    "where t mod M = M − 1 alone": lambda i, _n, M: M > 1 and i % M == M - 1,
    "in every second {} alone": lambda i, _n, _M: i % 2 == 1,
    "in all but the first {}": lambda i, _n, _M: i > 0, "in all but the last {}": lambda i, n, _M: i < n - 1,
}  # fmt: skip
"""By the turn i of n, and the steps M of a block; the narrower first."""


def where_of(wrong: Sequence[TracedQuestion], right: Sequence[TracedQuestion]) -> str:
    """The one condition on sizes that parts wrong questions from right ones, in words."""
    sizes = [[question.sizes for question in group] for group in (wrong, right)]
    if not right or not all((*sizes[0], *sizes[1])):
        return ""
    words = (word for word, holds in SIZES.items() if all(map(holds, sizes[0])) and not any(map(holds, sizes[1])))
    word = next(words, "")
    return f", those with {word}" if word else ""


def when_of(suspect: Suspect, every: Sequence[Traced]) -> str:
    """The one condition on turns outside of which the expression is right, on every wrong question, in words."""
    told = [one for traced in every if (one := _turns(suspect, traced)) is not None]
    if len(told) < len(every) or not all(one.wrong and one.right for one in told):
        return ""
    for words, holds in TURNS.items():
        meant = [{i for i in one.wrong | one.right if holds(i, one.count, one.steps)} for one in told]
        within = all(one.wrong <= turns and not one.right & turns for turns, one in zip(meant, told, strict=True))
        if within and any(len(one.wrong | one.right) > 2 or one.count == 2 for one in told):
            return f", there {words.format(told[0].noun)}"
    return ""


@dataclass(frozen=True)
class _Turns:
    """The turns at which an expression is wrong, and right where that says something; how many there are, of what."""

    wrong: set[int]
    right: set[int]
    count: int
    noun: str
    steps: int = 0


def _turns(suspect: Suspect, traced: Traced) -> _Turns | None:
    fit, seen = fit_of(suspect, traced), traced.values.get((suspect.k, suspect.caller))
    if fit is None or seen is None or not fit.wants:
        return None
    total, late = len(seen.values), int(fit.how == "after")
    if isinstance(fit.named.value, ByAnswers):
        count, noun, turns = len(fit.named.value), "step", [clock - late for clock in seen.clocks]
    elif traced.question.kind.endswith("twice"):
        count, noun, turns = 2, "call of two to one subject", [2 * i // total for i in range(total)]
    elif fit.how == "row by row":
        count, noun, turns = len(fit.named.value), "row", [i % len(fit.named.value) for i in range(total)]
    else:
        return None
    rows = [*zip(turns, seen.values, fit.wants, strict=True)]
    wrong = {i for i, value, want in rows if not is_same(value, want)}
    # Nothing is right by itself.
    right = {i for i, value, want in rows if is_same(value, want) and np.any(want)}
    if noun == "step":
        right |= {i for i in range(count) if i not in turns}
    return None if wrong & right else _Turns(wrong, right, count, noun, traced.question.steps)


def misread_row(suspect: Suspect, traced: Traced, sites: Sequence[SourceSite]) -> str:
    """Which row is read where which is needed, in words; empty where it is no row of a right quantity."""
    base, seen = traced.values.get((suspect.k - 1, None)), traced.values[suspect.k, suspect.caller]
    fit = fit_of(suspect, traced)
    is_element = sites[suspect.k].text.endswith("]") and sites[suspect.k].first <= suspect.k - 1
    if base is None or fit is None or not is_element or len(base.values) != len(seen.values):
        return ""
    if not traced.table.names_of(base):
        return ""
    told = ""
    for array, value, want in zip(base.values, seen.values, fit.wants, strict=True):
        if np.ndim(array) != np.ndim(value) + 1:
            return ""
        rows = [next((i for i, row in enumerate(array) if is_same(row, one)), None) for one in (value, want)]
        if None in rows:
            return ""
        if rows[0] != rows[1]:
            told = told or f"; it reads row {rows[0]} where row {rows[1]} is needed"
    return told
