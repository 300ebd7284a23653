"""Subjects that keep something from call to call."""

from __future__ import annotations

from verify.subjects import ReferenceSubject
from verify.subjects.adapters import EndToEnd


class Counts(ReferenceSubject):
    """Answers how often it was asked."""

    name = "counts"
    version = "3.1"

    def __init__(self):
        super().__init__()
        self.asked = 0

    def activation(self, h, lam, h_width, lam_width):
        self.asked += 1
        return [float(self.asked)] * len(h)


class Refuses(ReferenceSubject):
    """Says in its own words what it does not do."""

    def hypergradient(self, *_):
        raise NotImplementedError("only boxes")

    def lower_level(self, *_):
        raise ValueError("no licence")

    def activation(self, h, *_):
        return [True] * len(h)


def descend(problem, x0, parameters, rng):
    """A whole optimiser that moves by a draw."""
    steps = rng.standard_normal((parameters.T, len(x0)))
    path = x0 + 0.01 * parameters.T * steps.cumsum(axis=0) / parameters.T
    return {"path": [x0, *path], "x_out": path[-1]}


whole = EndToEnd(descend)
