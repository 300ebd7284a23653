"""What a result's row and a problem file say in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from verify.evidence.model import Counterexample
from verify.report import wording
from verify.report.findings import assumed_laws
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import Result

SHOWN_BYTES = 6_000
"""Longest problem file printed in a page; ``report.json`` has every one in full."""
LINE = 88
"""Longest line of a printed problem file."""


def remarks(result: Result, reading: ReadingOutline) -> list[str]:
    """What a result's own row must say in words: only what its figures do not."""
    notes = ["decides"] if result is reading.results[0] and len(reading.results) > 1 else []
    plain = result.verdict in ("SUPPORTED", "REFUTED") and result.measured is not None
    if result.fault is not None:
        notes.append(result.fault)
    elif not plain and result.sentence != reading.sentence:
        notes.append(result.sentence.removesuffix("."))
    if result.loose_by is not None and result.loose_by > 0:
        orders = wording.number(result.loose_by, 2)
        notes.append(f"{orders} {'order' if orders == '1' else 'orders'} better than claimed")
    law = assumed_laws.beside(result)
    if law:
        return [*notes, law.removesuffix(".")]
    rates = result.error_rates.items()
    return notes + [f"{name.replace('_', ' ')} ≤ {wording.number(value, 2)}" for name, value in rates]


def run_lengths(exponents: Sequence[float]) -> str:
    """Local exponents as shown, what is shown alike in a row said once: ``1.96, 1.99, 2.00 (5 times)``."""
    rows = [(shown, len([*same])) for shown, same in groupby(map(wording.exponent, exponents))]
    return ", ".join(shown if times == 1 else f"{shown} ({times} times)" for shown, times in rows)


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
