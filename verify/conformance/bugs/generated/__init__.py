"""Mistakes that nobody listed: random edits of a plain implementation, to measure how well mistakes are named.

``verify.conformance.bugs.generated:Seed17`` is the wrong subject of the mistake that seed 17 draws, and
``python -m verify.conformance.bugs.generated`` measures how many mistakes are caught, and how they are described.
"""

from __future__ import annotations

from typing import Any

PREFIX = "Seed"
"""What the name of a drawn mistake's subject begins with."""


def __getattr__(name: str) -> Any:
    number = name.removeprefix(PREFIX)
    if not name.startswith(PREFIX) or not number.isdecimal():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from verify.conformance.bugs.generated.mistakes import numbered

    return numbered(int(number)).subject()
