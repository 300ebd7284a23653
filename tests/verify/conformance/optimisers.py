"""Whole optimisers, right and wrong in one line each; they compute their hypergradients themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.subjects import Call, ReferenceSubject
from verify.subjects.adapters import EndToEnd


def hypergradient(problem: Any, z: Any, alpha: float, rng: Any) -> Any:
    return ReferenceSubject().hypergradient(problem, z, Call(alpha=alpha), rng)


def loop(problem: Any, x0: Any, q: Any, alpha: float, rng: Any, **wrong: Any) -> dict[str, Any]:
    """Algorithm 2, but for what is named."""
    x, step, path, means = x0, np.zeros_like(x0), [x0], []
    for _ in range(q.K):
        asked = []
        for _ in range(q.M):
            z = x + (wrong["s"] if "s" in wrong else rng.random()) * step
            x = x + step
            at = x0 if "frozen" in wrong else z
            a = problem.arrays
            g = a.f_xx @ at + a.f_x if "without_y" in wrong else hypergradient(problem, at, alpha, rng)
            step = (0.0 if "forgets" in wrong else 1.0) * step - wrong.get("descent", 1.0) * q.eta * g
            if "clip" not in wrong:
                step = step * min(1.0, wrong.get("D", 1.0) * q.D / max(float(np.linalg.norm(step)), 1e-300))
            asked.append(x + 2 * step if "beyond" in wrong else z)
            path.append(x)
        means.append(np.mean(asked, axis=0))
    out = means[-1] if "last" in wrong else path[-1] if "iterate" in wrong else means[int(rng.integers(q.K))]
    found = {"x_out": out, "x_bar": np.array(means), "path": np.array(path)}
    return {name: part for name, part in found.items() if name != "x_bar" or "no_means" not in wrong}


def optimiser(**wrong: Any) -> EndToEnd:
    def solve(problem: Any, x0: Any, parameters: Any, alpha: float, rng: Any) -> Any:
        return loop(problem, x0, parameters, alpha, rng, **wrong)

    return EndToEnd(solve)


right = optimiser()
never_clips = optimiser(clip=False)
