"""Stages inside an oracle call that offers nothing else: the y it must have used, and what explains its later lines."""

# what stands in one table is called in one way

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Explanation
from verify.conformance.blame.sums.answer_changes import spelt_number
from verify.conformance.blame.sums.call_points import point_of
from verify.conformance.blame.sums.edited_stage import EditedStage
from verify.conformance.blame.sums.right_sums import right_minimiser, right_sum
from verify.conformance.blame.whole_calls import play
from verify.conformance.probes.probes import Probe

WORDS = {
    "lower_level": "in its lower level ", "rows": "", "activation": "in its activation ",
    "penalty_minimiser": "in its penalty solve ", "pair": "", "moving": "", "reweighed": "", "overwritten": "",
    "hypergradient": "",
}  # fmt: skip
"""How stages inside an oracle call are named."""
FULL_RANK = 1e-6
"""Smallest singular value over the largest of a line 6 that its y can be told from."""
LEFT_OVER = 1e-7
"""Relative size of what no y explains; beyond it line 6 is not the one assumed."""


MULTIPLES = (2.0, 0.5, -1.0, 10.0, 0.1)
"""Factors on the multipliers that are tried where only estimates show them."""


@dataclass(frozen=True)
class ScaledMultipliers:
    """A right lower level whose multipliers are returned times a factor."""

    factor: float

    @property
    def sentence(self) -> str:
        """The factor."""
        return f"{spelt_number(self.factor)}·λ̃ is used where λ̃ belongs"

    @property
    def edits(self) -> int:
        """One change."""
        return 1

    def answer(self, probe: Probe) -> Vector | None:
        """The right pair with its multipliers times the factor."""
        pair = probe.expected.copy()
        if probe.stage == "lower_level":
            pair[-probe.problem.p :] *= self.factor
        return pair


@dataclass(frozen=True)
class WholeCall:
    """An oracle call whose stages are as explained, all others right."""

    stages: Mapping[str, Explanation] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """What differs, stage by stage, in the order of the method."""
        return "in the oracle call " + "; ".join(f"{WORDS[s]}{e.sentence}" for s, e in self.stages.items())

    @property
    def edits(self) -> int:
        """Single changes of all stages."""
        return sum(explanation.edits for explanation in self.stages.values())

    def answer(self, probe: Probe) -> Vector | None:
        """What the oracle call, or one of its stages, answers."""
        if probe.stage == "hypergradient":
            return play(probe, self.stages)
        explanation = self.stages.get(probe.stage)
        return probe.expected if explanation is None else explanation.answer(probe)


def calls_with_y(
    ask: Callable[[Probe], Vector | None], line_6: EditedStage | None = None
) -> Callable[[Probe], Vector | None]:
    """Turn an asker of oracle calls into one of penalty minimisers: the y at which line 6 has the answered value."""

    def asked(probe: Probe) -> Vector | None:
        point = point_of(probe)
        if point is None:
            return None
        n, m, _ = point.sizes
        if n < m:
            return None
        right = right_sum("x", point.at(right_minimiser(point)))
        got = ask(replace(probe, stage="hypergradient", expected=right, tolerance=np.ones(n)))
        if got is None:
            return None

        def value(y: Vector) -> Vector | None:
            at = point.at(y)
            return right_sum("x", at) if line_6 is None else line_6.total(at)

        return _solved(value, got, point.y_star)

    return asked


def _solved(value: Callable[[Vector], Vector | None], got: Vector, start: Vector) -> Vector | None:
    """The y at which an affine map has a value, ``None`` where that is not one y."""
    base = value(start)
    moved = [value(start + step) for step in np.eye(len(start))]
    if base is None or any(column is None for column in moved):
        return None
    slope = np.array([column - base for column in moved if column is not None]).T
    singular = np.linalg.svd(slope, compute_uv=False)
    if not np.isfinite(slope).all() or singular[-1] <= FULL_RANK * singular[0]:
        return None
    y = np.asarray(start + np.linalg.lstsq(slope, got - base, rcond=None)[0])
    again = value(y)
    size = float(np.abs(got).max() + np.abs(base).max())
    return y if again is not None and np.abs(again - got).max() <= LEFT_OVER * size else None
