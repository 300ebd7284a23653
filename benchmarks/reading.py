"""Reading a problem written out number by number, against the standard library's JSON and numpy's arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timing import Row, minima
from spec import loads_problem, parse_problem

SIZES = (100, 300)
LARGE = 1000


def written_out(d: int) -> dict[str, Any]:
    """Two dense d × d blocks and five rows, as Python lists of doubles."""
    rng = np.random.default_rng(0)
    half = rng.standard_normal((d, d))
    return {
        "kind": "quadratic", "f": {"yy": (half + half.T).tolist()},
        "g": {"yy": (half @ half.T / d + np.eye(d)).tolist(), "xy": half.tolist()},
        "constraints": {"A": np.zeros((5, d)).tolist(), "B": rng.standard_normal((5, d)).tolist()},
    }  # fmt: skip


def reading(large: bool) -> Iterator[Row]:
    """From JSON text beside ``json.loads`` of it, from lists beside numpy arrays of them."""
    for d in (*SIZES, *((LARGE,) if large else ())):
        data = written_out(d)
        data["g"]["yy"] = ((np.array(data["g"]["yy"]) + np.array(data["g"]["yy"]).T) / 2).tolist()
        text = json.dumps(data)
        asked: tuple[tuple[str, str, Callable[[], object], Callable[[], object]], ...] = (
            ("a problem from JSON", "json.loads", partial(loads_problem, text), partial(json.loads, text)),
            ("a problem from lists", "numpy.array of its blocks", partial(parse_problem, data), partial(_arrays, data)),
        )
        for what, peer, ours, theirs in asked:
            mine, other = minima(ours, theirs, most=10)
            yield Row(what, f"d = {d}, {len(text) / 1e6:.1f} MB of text", peer, mine, other)


def _arrays(data: dict[str, Any]) -> list[Any]:
    return [np.array(block) for part in data.values() if isinstance(part, dict) for block in part.values()]
