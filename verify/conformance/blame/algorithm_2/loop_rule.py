"""A wrong rule of Algorithm 2 as an explanation: it predicts what the runs of a subject with it look like."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from spec.exact import Vector
from verify.conformance.outer import TOLERANCE, RecordedLoop
from verify.conformance.probes.probes import Probe

Part = Literal["calls", "first step", "steps", "queries", "means", "outputs"]
"""Lines of Algorithm 2, each explained by itself."""


@dataclass(frozen=True)
class LoopRule:
    """How a subject seems to have one line of Algorithm 2.

    ``excess`` says how far runs are from it, in tolerances, or in what chance allows; beyond 1 they do not follow it.
    Each line is judged on what the run recorded of the lines before it, so that a mistake elsewhere does not count.
    """

    part: Part
    sentence: str
    edits: int
    excess: Callable[[Sequence[RecordedLoop]], float]
    makes_first: bool = False
    """Whether it makes the first step too, which must then not be blamed by itself."""

    def answer(self, probe: Probe) -> Vector | None:  # noqa: ARG002  # as every explanation
        """None: a line of Algorithm 2 answers no probe of a stage; see ``predicts``."""
        return None

    def predicts(self, runs: Sequence[RecordedLoop]) -> bool:
        """Whether all runs follow it."""
        return self.excess(runs) <= 1


def apart(one: RecordedLoop, expected: Vector, got: Vector) -> float:
    """Largest difference in units of what rounding allows in this run."""
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = TOLERANCE * (np.abs(one.run.path).max(initial=0.0) + np.abs(got) + np.abs(expected))
        ratio = np.abs(got - expected) / np.maximum(allowed, 1e-300)
        worst = float(ratio.max(initial=0.0))
    return math.inf if math.isnan(worst) else worst


def row_by_row(
    expected: Callable[[RecordedLoop], Vector | None], got: Callable[[RecordedLoop], Vector]
) -> Callable[[Sequence[RecordedLoop]], float]:
    """The excess of a line that is not random; a run it has nothing to say about does not follow it."""

    def excess(runs: Sequence[RecordedLoop]) -> float:
        worst = 0.0
        for one in runs:
            values = expected(one)
            worst = math.inf if values is None else max(worst, apart(one, values, got(one)))
            if worst > 1:
                break
        return worst

    return excess
