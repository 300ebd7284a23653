"""Algorithm 2 under a bug's rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.conformance.bugs.model import Rules
from verify.subjects import ReferenceSubject


class OuterLoop(ReferenceSubject):
    """Algorithm 2 in plain numpy, one row a run; right as it stands."""

    name = "plain-outer-loop"
    rules = Rules()

    def query(self, x: Any, step: Any, s: Any) -> Any:
        """Where the oracle is asked: a uniform point of the segment."""
        return x + (s if self.rules.query is None else float(self.rules.query)) * step

    def next_step(self, step: Any, g: Any, eta: float, D: float) -> Any:
        """The clipped step."""
        r = self.rules
        v, D = float(r.memory) * step - float(r.descent) * eta * g, float(r.clip_at) * D
        if r.clip == "never":
            return v
        if r.clip == "components":
            return np.clip(v, -D, D)
        if r.clip == "always":
            return D * v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)
        length = np.sqrt(np.einsum("...i,...i->...", v, v))[..., None]
        return v * (D / np.maximum(length, D))

    def averaged(self, z: Any, x: Any) -> Any:
        """What a block's mean is taken of: the queried points, not the iterates."""
        return x if self.rules.block_mean == "iterates" else z

    def output(self, x_bar: Any, answers: Any, path: Any, rng: Any) -> Any:
        """One run's output from its block means (K, n), their mean answers (K, n) and its iterates (T + 1, n)."""
        rule = self.rules.output
        if rule == "last-iterate":
            return path[-1]
        if rule == "last-block":
            return x_bar[-1]
        best = rule == "best-block"
        return x_bar[int(np.argmin(np.linalg.norm(answers, axis=1)) if best else rng.integers(len(x_bar)))]

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
