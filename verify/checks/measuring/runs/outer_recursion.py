"""Whether an outer loop goes where its answers lead: Algorithm 2's recursion beside a subject's, told the same.

Given the answers g_t, the iterates and the clipped steps are determined; only the place of a question on its segment is
drawn. A subject that never moves, or moves without regard to what it is told, is off at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.checks.measuring.case import compare
from verify.evidence.model import ComparisonEvidence
from verify.subjects.protocol import SubjectFaultError

FOLLOWED = 2048
"""Questions of a run that are held against the recursion: where a run is longer, its first ones."""
OFF = 1e-6
"""Distance allowed to rounding, in clipping lengths: positions are some thousand times as long."""


TOGETHER = 64
"""Questions looked at together: what an answer changes is followed at once, the distances can wait."""


@dataclass
class Follower:
    """An oracle that keeps, from its own answers, where Algorithm 2 is: asked by R runs at once, or one by one.

    ``starts`` has shape (R, n). ``off`` is the largest distance so far of a question from the segment of its step.
    """

    oracle: Callable[[Vector], Vector]
    starts: Vector
    parameters: OuterParameters
    off: float = 0.0
    calls: int = 0
    _first: int = 0
    _t: int = 0
    _x: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    _step: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    _path: list[Vector] = field(default_factory=list)
    _seen: list[tuple[Vector, Vector]] = field(default_factory=list)
    _schedule: tuple[int, float, float] = field(init=False)

    def __post_init__(self) -> None:
        self._schedule = self.parameters.T, self.parameters.D, self.parameters.eta

    def __call__(self, z: Vector) -> Vector:
        """Answer to z, shape (n,) or (k, n), as the oracle does."""
        g = self.oracle(z)
        if z.__class__ is np.ndarray:
            rows = z if z.ndim == 2 else z[None] if z.ndim == 1 else np.atleast_2d(z)
        else:
            rows = np.atleast_2d(z)
        self.calls += len(rows)
        if self._t == 0:
            self._x = self.starts[self._first : self._first + len(rows)].copy()
            self._step = np.zeros_like(self._x)
        if self._x.shape != rows.shape:
            raise SubjectFaultError(f"optimise asked the oracle about {len(rows)} points amid runs of {len(self._x)}")
        if self._t < FOLLOWED:
            self._follow(rows, g)
        self._t += 1
        if self._t == self._schedule[0]:
            self._first, self._t = self._first + len(rows), 0
            self._look()
        return g

    def _follow(self, z: Vector, g: Vector) -> None:
        """Lines 5 and 7 of Algorithm 2."""
        step, (_, D, eta) = self._step, self._schedule
        self._seen.append((z - self._x, step))
        if not self._first:
            self._path.append(self._x[0])
        self._x = self._x + step
        v = step - eta * g
        length = np.sqrt(np.einsum("ri,ri->r", v, v))
        self._step = v * (D / np.maximum(length, D))[:, None]
        if len(self._seen) == TOGETHER:
            self._look()

    def _look(self) -> None:
        """How far the last questions lie from their segments."""
        if not self._seen:
            return
        along, step = (np.array(parts) for parts in zip(*self._seen, strict=True))
        self._seen.clear()
        square = np.einsum("tri,tri->tr", step, step)
        s = np.clip(np.einsum("tri,tri->tr", along, step) / np.where(square > 0, square, 1.0), 0.0, 1.0)
        apart = along - s[..., None] * step
        farthest = float(np.sqrt(np.einsum("tri,tri->tr", apart, apart).max())) / self._schedule[1]
        if math.isnan(farthest):
            raise SubjectFaultError("optimise asked the oracle about a point that is no number")
        self.off = max(self.off, farthest)

    def evidence(self, path: Vector | None = None) -> ComparisonEvidence:
        """The distance against none; not to ask T times in every run is the subject's fault.

        Iterates of a single run, shape (T + 1, n), are held against the recursion too.
        """
        T, R = self._schedule[0], len(self.starts)
        self._look()
        if self.calls != T * R:
            runs = "" if R == 1 else f" for each of {R} runs"
            raise SubjectFaultError(f"optimise asked the oracle {self.calls} times instead of T = {T}{runs}")
        off = self.off
        if path is not None:
            iterates = np.array(self._path)
            off = max(off, float(np.linalg.norm(path[: len(iterates)] - iterates, axis=1).max()) / self.parameters.D)
        quantity = "largest distance of a question from where the answers before it lead, in units of D"
        return compare(quantity, off, "==", 0.0, OFF, context={"questions": float(min(T, FOLLOWED))})


def farthest(followed: Sequence[ComparisonEvidence]) -> ComparisonEvidence:
    """Of several runs the one that was furthest from where its answers lead."""
    return max(followed, key=lambda item: item.measured)
