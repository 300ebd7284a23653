"""Wrong outer loops."""
# ruff: noqa: ARG002  # a wrong stage keeps the signature of the right one

from __future__ import annotations

from typing import Any

import numpy as np

from verify.conformance.bugs.entry import Catch, Mutant
from verify.subjects import ReferenceSubject


class OuterLoop(ReferenceSubject):
    """Algorithm 2 in plain numpy, one row a run; right as it stands, a mutant overrides one line."""

    name = "plain-outer-loop"

    def query(self, x: Any, step: Any, s: Any) -> Any:
        """Where the oracle is asked: a uniform point of the segment."""
        return x + s * step

    def next_step(self, step: Any, g: Any, eta: float, D: float) -> Any:
        """The clipped step."""
        return _clipped(step - eta * g, D)

    def averaged(self, z: Any, x: Any) -> Any:
        """What a block's mean is taken of: the queried points, not the iterates."""
        return z

    def output(self, x_bar: Any, answers: Any, path: Any, rng: Any) -> Any:
        """One run's output from its block means (K, n), their mean answers (K, n) and its iterates (T + 1, n)."""
        return x_bar[int(rng.integers(len(x_bar)))]

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        x_bar, answers, path = self._run(lambda z: oracle(z[0])[None], x0[None], parameters, rng, keep_path=True)
        return {"x_out": self.output(x_bar[:, 0], answers[:, 0], path[:, 0], rng), "x_bar": x_bar[:, 0],
                "path": path[:, 0]}  # fmt: skip

    def optimise_runs(self, oracle: Any, x0: Any, parameters: Any, rng: Any, keep_path: bool) -> Any:
        x_bar, _, path = self._run(oracle, x0, parameters, rng, keep_path=keep_path)
        return x_bar, path

    def _run(self, oracle: Any, x0: Any, parameters: Any, rng: Any, *, keep_path: bool) -> Any:
        x, step = np.array(x0), np.zeros_like(x0)
        path, x_bar, answers = [x], [], []
        for _ in range(parameters.K):
            mean, told = np.zeros_like(x), np.zeros_like(x)
            for s in rng.random((parameters.M, len(x), 1)):
                z = self.query(x, step, s)
                x = x + step
                g = np.asarray(oracle(z))
                step = self.next_step(step, g, parameters.eta, parameters.D)
                mean += self.averaged(z, x)
                told += g
                if keep_path:
                    path.append(x)
            x_bar.append(mean / parameters.M)
            answers.append(told / parameters.M)
        return np.array(x_bar), np.array(answers), np.array(path) if keep_path else None


def _clipped(v: Any, D: float) -> Any:
    length = np.sqrt(np.einsum("...i,...i->...", v, v))[..., None]
    return v * (D / np.maximum(length, D))


class NeverClips(OuterLoop):
    """Takes the step unclipped."""

    name = "never-clips"

    def next_step(self, step: Any, g: Any, eta: float, D: float) -> Any:
        return step - eta * g


class ClipsComponents(OuterLoop):
    """Clips every component to [-D, D] instead of the length to D."""

    name = "clips-components"

    def next_step(self, step: Any, g: Any, eta: float, D: float) -> Any:
        return np.clip(step - eta * g, -D, D)


class ClipsAtTwiceD(OuterLoop):
    """Clips to length 2 D."""

    name = "clips-at-twice-d"

    def next_step(self, step: Any, g: Any, eta: float, D: float) -> Any:
        return _clipped(step - eta * g, 2 * D)


class AlwaysNormalises(OuterLoop):
    """Gives every step the length D, short ones too."""

    name = "always-normalises"

    def next_step(self, step: Any, g: Any, eta: float, D: float) -> Any:
        v = step - eta * g
        return D * v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)


class ForgetsThePreviousStep(OuterLoop):
    """Clips - eta g alone: plain clipped gradient descent."""

    name = "forgets-the-previous-step"

    def next_step(self, step: Any, g: Any, eta: float, D: float) -> Any:
        return _clipped(-eta * g, D)


class Ascends(OuterLoop):
    """Adds the gradient instead of subtracting it."""

    name = "ascends"

    def next_step(self, step: Any, g: Any, eta: float, D: float) -> Any:
        return _clipped(step + eta * g, D)


class QueriesTheEnd(OuterLoop):
    """Asks at the end of the segment, s = 1."""

    name = "queries-the-end"

    def query(self, x: Any, step: Any, s: Any) -> Any:
        return x + step


class QueriesTheStart(OuterLoop):
    """Asks at the start of the segment, s = 0."""

    name = "queries-the-start"

    def query(self, x: Any, step: Any, s: Any) -> Any:
        return x + 0 * step


class QueriesTheMiddle(OuterLoop):
    """Asks in the middle of the segment, s = 1/2."""

    name = "queries-the-middle"

    def query(self, x: Any, step: Any, s: Any) -> Any:
        return x + 0.5 * step


class AveragesIterates(OuterLoop):
    """Averages the iterates of a block instead of the points it asked at."""

    name = "averages-iterates"

    def averaged(self, z: Any, x: Any) -> Any:
        return x


class OutputsTheBestBlock(OuterLoop):
    """Returns the block whose mean answer is shortest."""

    name = "outputs-the-best-block"

    def output(self, x_bar: Any, answers: Any, path: Any, rng: Any) -> Any:
        return x_bar[int(np.argmin(np.linalg.norm(answers, axis=1)))]


class OutputsTheLastBlock(OuterLoop):
    """Returns the last block's mean."""

    name = "outputs-the-last-block"

    def output(self, x_bar: Any, answers: Any, path: Any, rng: Any) -> Any:
        return x_bar[-1]


class OutputsTheLastIterate(OuterLoop):
    """Returns the last iterate."""

    name = "outputs-the-last-iterate"

    def output(self, x_bar: Any, answers: Any, path: Any, rng: Any) -> Any:
        return path[-1]


MUTANTS = (
    Mutant(
        "never-clips", NeverClips, "optimise", "clipping",
        "Steps grow to η times the sum of all answers: a block leaves its Goldstein ball and its certificate is void.",
        (Catch("goldstein-convergence/block-radius", "kink"),),
    ),
    Mutant(
        "clips-components", ClipsComponents, "optimise", "clipping",
        "Steps are up to √n D long: blocks leave their Goldstein ball by that factor, from two dimensions on.",
        (Catch("goldstein-convergence/block-radius", "absolute-fixed"),),
    ),
    Mutant(
        "clips-at-twice-d", ClipsAtTwiceD, "optimise", "clipping",
        "Steps are 2D long: blocks leave their Goldstein ball by a factor of 2.",
        (Catch("goldstein-convergence/block-radius", "experiment-1d"),),
    ),
    Mutant(
        "always-normalises", AlwaysNormalises, "optimise", "clipping",
        "Short steps are stretched to D: the method never comes to rest, and noise alone drives it by D a step.",
        (Catch("goldstein-convergence/clip", "absolute-fixed"),),
    ),
    Mutant(
        "forgets-the-previous-step", ForgetsThePreviousStep, "optimise", "step-rule",
        "Δ = -ηg has no memory: the regret bound behind ε⁻³δ⁻¹ is lost, and steps are as noisy as single answers.",
        (Catch("goldstein-convergence/expand", "absolute-fixed"),),
    ),
    Mutant(
        "ascends", Ascends, "optimise", "sign",
        "F grows instead of falling, at full step length.",
        (Catch("goldstein-convergence/expand", "absolute-fixed"),),
    ),
    Mutant(
        "queries-the-end", QueriesTheEnd, "optimise", "query-point",
        "z is the next iterate: where F kinks on the way, ⟨∇F(z), Δ⟩ is not F's mean slope, a loss of order D a step.",
        (Catch("goldstein-convergence/segment-mean", "absolute-fixed"),),
    ),
    Mutant(
        "queries-the-start", QueriesTheStart, "optimise", "query-point",
        "z is the iterate: where F kinks on the way, ⟨∇F(z), Δ⟩ is not F's mean slope, a loss of order D a step.",
        (Catch("goldstein-convergence/segment-mean", "absolute-fixed"),),
    ),
    Mutant(
        "queries-the-middle", QueriesTheMiddle, "optimise", "query-point",
        "z is the segment's middle: right for smooth F, off by order D a step where F kinks off the middle.",
        (Catch("goldstein-convergence/segment-mean", "absolute-fixed"),),
    ),
    Mutant(
        "averages-iterates", AveragesIterates, "optimise", "output-rule",
        "x̄ is the mean of the iterates: up to D/2 from that of the queried points, so the ball around it need not "
        "hold them.",
        (Catch("goldstein-convergence/block-radius", "experiment-1d"),),
    ),
    Mutant(
        "outputs-the-best-block", OutputsTheBestBlock, "optimise", "output-rule",
        "The output depends on the noise of the answers: often better, but the theorem's expectation is over a "
        "uniform block and does not cover it.",
        (Catch("goldstein-convergence/explicit-constants", "absolute-fixed"),),
    ),
    Mutant(
        "outputs-the-last-block", OutputsTheLastBlock, "optimise", "output-rule",
        "The last block's distance may be far above the mean over blocks, which alone is bounded.",
        (Catch("goldstein-convergence/explicit-constants", "absolute-fixed"),),
    ),
    Mutant(
        "outputs-the-last-iterate", OutputsTheLastIterate, "optimise", "output-rule",
        "The last iterate is no block mean: no ball of answers certifies it.",
        (Catch("goldstein-convergence/explicit-constants", "absolute-fixed"),),
    ),
)  # fmt: skip
