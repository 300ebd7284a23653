"""Regression of a subject against its own past: what to keep of a report, and what counts as a drift."""

from __future__ import annotations

from verify.regression.comparison import Comparison, compare
from verify.regression.files import dumps, load, store
from verify.regression.judgement import judge
from verify.regression.model import Baseline, Entry, Level, ProvenBound, Sweep
from verify.regression.selection import Selection, replay

__all__ = [
    "Baseline",
    "Comparison",
    "Entry",
    "Level",
    "ProvenBound",
    "Selection",
    "Sweep",
    "compare",
    "dumps",
    "judge",
    "load",
    "replay",
    "store",
]
