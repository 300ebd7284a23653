"""Runs of Algorithm 2 that tell its wrong rules apart: some to find a rule on, others held out to confirm it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spec import OuterParameters
from verify.conformance.outer import OUTPUTS, TRIALS, LoopTrial, RecordedLoop, listen
from verify.subjects.protocol import StageCalls


def _trial(
    id_: str, x0: tuple[float, ...], schedule: tuple[float, float, int, int], slopes: tuple[float, ...]
) -> LoopTrial:
    D, eta, M, K = schedule
    # Radius, bound and curvature differ from trial to trial, so that no factor is another's by chance.
    parameters = OuterParameters(goldstein_radius=M * D, epsilon=0.03 * K + 0.02 * M, D=D, eta=eta, M=M, K=K)
    # Other curvatures in other directions: no direction is kept by chance.
    curvature = tuple((0.4 + 0.07 * K) * (1 + 0.3 * i) for i in range(len(x0)))
    return LoopTrial(id_, x0, parameters, slopes, curvature)


MORE = (
    _trial("two-dimensions/free", (0.9, -0.7), (1.3, 0.02, 5, 4), (0.3, 0.8)),
    _trial("two-dimensions/long-blocks", (0.5, 0.8), (0.03, 0.3, 7, 3), (0.4, 0.6)),
    _trial("two-dimensions/far", (30.0, 80.0), (0.9, 0.02, 3, 4), (0.4, 0.6)),
)
"""Asked beside those of the comparison, to find a rule on."""
HELD_OUT = (
    _trial("three-dimensions/free", (0.8, -0.5, 1.1), (1.7, 0.015, 4, 7), (0.2, 0.9, 0.5)),
    _trial("three-dimensions/clipped", (0.5, -0.9, 0.3), (0.03, 0.2, 6, 5), (0.7, 0.4, 1.1)),
    _trial("two-dimensions/other-blocks", (-0.4, 0.6), (0.05, 0.08, 3, 8), (1.2, 0.5)),
    _trial("one-dimension/long", (0.9,), (0.04, 0.06, 8, 9), (0.8,)),
    _trial("three-dimensions/far", (-40.0, 7.0, 90.0), (0.7, 0.01, 4, 5), (0.4, 1.1, 0.6)),
)
"""Asked only after a rule was found."""
OUTPUT_HELD_OUT = _trial("three-blocks", (0.8, -0.6), (0.1, 0.04, 2, 3), (0.3, 0.2))
"""Run many times over, to confirm which block is output."""
OUTPUT_OF_TWO = _trial("four-blocks", (1.1,), (0.1, 0.05, 2, 4), (0.2,))
"""Asked in place of the comparison's short runs where no block of one step moves: all blocks are one there."""
SEED = 5000
"""Of the runs that are held out; others follow it."""


@dataclass
class Heard:
    """All runs of one subject: those to find rules on, and on demand those to confirm them."""

    stages: StageCalls
    training: list[RecordedLoop]

    def __post_init__(self) -> None:
        self._held: list[RecordedLoop] | None = None
        self._outputs: list[RecordedLoop] | None = None

    @property
    def held_out(self) -> list[RecordedLoop]:
        """Runs on other oracles, schedules and seeds."""
        if self._held is None:
            self._held = [listen(self.stages, trial, SEED + k) for k, trial in enumerate(HELD_OUT)]
        return self._held

    @property
    def outputs(self) -> list[RecordedLoop]:
        """Many short runs on one more oracle."""
        if self._outputs is None:
            self._outputs = [listen(self.stages, OUTPUT_HELD_OUT, SEED + 100 + k) for k in range(60)]
        return self._outputs


def listen_to(stages: StageCalls, trials: Sequence[LoopTrial] = (*TRIALS, *MORE)) -> list[RecordedLoop]:
    """Run trials, the comparison's and :data:`MORE` unless told otherwise, however often the subject asks."""
    return [listen(stages, trial, 200 + seed) for seed, trial in enumerate(trials)]


def outputs_of_two(stages: StageCalls) -> list[RecordedLoop]:
    """Many short runs of blocks of two steps."""
    return [listen(stages, OUTPUT_OF_TWO, 3000 + k) for k in range(OUTPUTS)]


def selected_calls(one: RecordedLoop, calls: list[int]) -> RecordedLoop:
    """The run as if only these calls had been made."""
    return replace(one, z=one.z[calls], g=one.g[calls])
