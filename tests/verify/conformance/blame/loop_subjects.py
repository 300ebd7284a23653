"""Algorithm 2 written with one line replaced at a time, for planted mistakes; nothing is shared with the grammar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np


def clip(v: Any, D: float) -> Any:
    size = float(np.sqrt(np.sum(v * v)))
    return v if size <= D else v * (D / size)


def right_step(s: Any) -> Any:
    return clip(s.step - s.q.eta * s.g, s.q.D)


def right_point(s: Any) -> Any:
    return s.x + s.s * s.step


def right_share(s: Any) -> Any:
    return s.rng.random()


def right_move(s: Any) -> Any:
    return s.x + s.step


def right_mean(s: Any) -> Any:
    M = s.q.M
    return np.array([np.mean(s.z[k * M : (k + 1) * M], axis=0) for k in range(s.q.K)])


def right_output(s: Any) -> Any:
    return s.x_bar[s.rng.integers(len(s.x_bar))]


@dataclass
class PlantedLoop:
    """Every line is a function of everything known so far; steps are counted from 0."""

    next_step: Callable[[Any], Any] = right_step
    point: Callable[[Any], Any] = right_point
    share: Callable[[Any], Any] = right_share
    mean: Callable[[Any], Any] = right_mean
    output: Callable[[Any], Any] = right_output
    first: Callable[[Any], Any] = lambda s: np.zeros_like(s.x)
    move: Callable[[Any], Any] = right_move
    update_first: bool = False
    before: Callable[[Any], Any] = lambda s: None
    after: Callable[[Any], Any] = lambda s: None
    lists: bool = False
    own_generator: Any = None
    name: str = "planted-loop"

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        s = SimpleNamespace(
            q=parameters, rng=self.own_generator or rng, x=np.array(x0), x0=np.array(x0), t=0, oracle=oracle
        )
        s.z, s.gs, s.path, s.steps, s.shares = [], [], [s.x], [], []
        s.step = self.first(s)
        self.before(s)
        for s.t in range(parameters.T):
            s.s = self.share(s)
            s.shares.append(s.s)
            z = self.point(s)
            s.z.append(z)
            if self.update_first:
                s.g = np.asarray(oracle(z))
                s.gs.append(s.g)
                s.step = self.next_step(s)
                s.x = s.x + s.step
                s.steps.append(s.step)
            else:
                s.x = self.move(s)
                s.steps.append(s.step)
                s.g = np.asarray(oracle(z))
                s.gs.append(s.g)
                s.step = self.next_step(s)
            s.path.append(s.x)
        self.after(s)
        s.x_bar = self.mean(s)
        out = {"x_out": self.output(s), "x_bar": s.x_bar, "path": np.array(s.path)}
        return {k: np.asarray(v).tolist() for k, v in out.items()} if self.lists else out
