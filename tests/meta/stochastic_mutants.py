"""Wrong implementations that only their randomness gives away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from verify.subjects import ReferenceSubject


def spread(subject: Any, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> tuple[Any, Any]:
    """The right estimates as their exact mean and deviations from it."""
    quiet = problem.model_copy(update={"noise": type(problem.noise)()})
    mean = ReferenceSubject().hypergradient(quiet, x, call, rng)
    return mean, ReferenceSubject().hypergradient_samples(problem, x, call, rng, replications) - mean


class FixedInternalSeed(ReferenceSubject):
    """Ignores the generator it is given."""

    name = "fixed-internal-seed"

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        return super().hypergradient_samples(problem, x, call, np.random.default_rng(0), replications)


class EchoesFarAway(ReferenceSubject):
    """Lets an estimate keep three tenths of the one a thousand places before."""

    name = "echoes-far-away"

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        mean, own = spread(self, problem, x, call, rng, replications)
        made = own.copy()
        for first in range(1000, replications, 1000):
            here = slice(first, min(first + 1000, replications))
            before = made[first - 1000 : first][: len(made[here])]
            made[here] = 0.3 * before + 0.91**0.5 * own[here]
        return mean + made


class Mirrored(ReferenceSubject):
    """Negates the first half of a call for its second half, last first."""

    name = "mirrored"

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        mean, half = spread(self, problem, x, call, rng, (replications + 1) // 2)
        return mean + np.concatenate([half, -half[::-1]])[:replications]


class ShuffledOpposites(ReferenceSubject):
    """Negates the first half of a call for its second half, in random order."""

    name = "shuffled-opposites"

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        mean, half = spread(self, problem, x, call, rng, (replications + 1) // 2)
        return mean + np.concatenate([half, -rng.permutation(half)])[:replications]


class SharedByACall(ReferenceSubject):
    """Lets all estimates of a call share a twentieth of their variance."""

    name = "shared-by-a-call"

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        mean, own = spread(self, problem, x, call, rng, replications + 1)
        return mean + 0.95**0.5 * own[1:] + 0.05**0.5 * own[:1]


class OneComponentOnly(ReferenceSubject):
    """Puts all noise into the first component, its total variance right."""

    name = "one-component-only"

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        mean, own = spread(self, problem, x, call, rng, replications)
        own[:, 0] *= len(x) ** 0.5
        own[:, 1:] = 0.0
        return mean + own


class CorrelatedComponents(ReferenceSubject):
    """Draws every component's noise right and lets neighbours share half of it."""

    name = "correlated-components"

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        mean, own = spread(self, problem, x, call, rng, replications)
        n = len(x)
        mixing = np.linalg.cholesky(0.5 * np.eye(n) + 0.5 * np.ones((n, n)))
        return mean + own @ mixing.T


class LosesOne(ReferenceSubject):
    """Averages one sample fewer in batches of one size only."""

    batch = 16
    name = "loses-one"

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        N_g = call.parameters.N_g
        parameters = call.parameters.model_copy(update={"N_g": N_g - 1 if N_g == self.batch else N_g})
        return super().hypergradient_samples(problem, x, replace(call, parameters=parameters), rng, replications)


class LosesOneOfTwo(LosesOne):
    """The same in batches of two."""

    batch = 2
    name = "loses-one-of-two"


class NoisierAlone(ReferenceSubject):
    """Doubles its noise where a single estimate is asked for."""

    name = "noisier-alone"

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        mean, own = spread(self, problem, x, call, rng, replications)
        return mean + own * (1.6 if replications == 1 else 1.0)


class StopsEarly(ReferenceSubject):
    """Takes at most a thousand lower-level steps."""

    name = "stops-early"

    def lower_level_runs(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        steps = min(call.parameters.lower_level_steps, 1000)
        parameters = call.parameters.model_copy(update={"lower_level_steps": steps})
        return super().lower_level_runs(problem, x, replace(call, parameters=parameters), rng, replications)


class QuietSmallSteps(ReferenceSubject):
    """Lets small steps see less noise than large ones."""

    name = "quiet-small-steps"

    def lower_level_runs(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        y, lam = super().lower_level_runs(problem, x, call, rng, replications)
        centre = y.mean(axis=0)
        return centre + (y - centre) * min(1.0, (call.parameters.eta_y / 0.1)) ** 0.1, lam


class LateAverage(ReferenceSubject):
    """Returns the last iterate of constant steps whatever the solver."""

    name = "late-average"

    def lower_level_runs(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        reading = call.reading.choose(inner_solver="constant-step")
        return super().lower_level_runs(problem, x, replace(call, reading=reading), rng, replications)


CAUGHT = (
    (FixedInternalSeed, "variance-bound/independence", "toy1"),
    (EchoesFarAway, "variance-bound/independence", "toy1"),
    (EchoesFarAway, "variance-bound/independence", "random-3x5x4"),
    (Mirrored, "variance-bound/independence", "two-of-three"),
    (ShuffledOpposites, "variance-bound/independence", "toy1"),
    (SharedByACall, "variance-bound/independence", "box-rational"),
    (OneComponentOnly, "stochastic-oracles/noise-reaches-gradient", "two-of-three"),
    (OneComponentOnly, "variance-bound", "random-3x5x4"),
    (CorrelatedComponents, "stochastic-oracles/noise-reaches-gradient", "experiment-5d"),
    (LosesOne, "variance-bound", "toy1"),
    (LosesOneOfTwo, "variance-bound", "two-of-three"),
    (NoisierAlone, "hypergradient-accuracy/conditional-mean", "toy1"),
    (NoisierAlone, "hypergradient-accuracy/conditional-mean", "box-rational"),
    (StopsEarly, "inner-cost/samples-for-accuracy", "toy1"),
    (StopsEarly, "inner-loop-remark", "interior"),
    (StopsEarly, "inner-loop-remark/log-in-epsilon", "concave-upper"),
    (QuietSmallSteps, "inner-cost/noise-floor", "concave-upper"),
    (LateAverage, "inner-cost/noise-floor", "concave-upper"),
)
