"""The rivals at their best on a quadratic problem: the same steps, answers by what is prepared once.

Implicit gradients come from :class:`f2csa_ref.baselines.implicit_oracle.ImplicitOracle`, whose lower level, tilted or
not, keeps its factor; the parent's estimate from the fast oracle with a hard active set; values of F from the lower
level of the first.
Tests hold each answer to its page's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.baselines.ds_blo import DsBloMethod, DsBloParameters
from f2csa_ref.baselines.exact_parent import ParentParameters, PigdMethod, PigdParameters, in_unit_ball, pigd_step
from f2csa_ref.baselines.implicit_oracle import ImplicitOracle
from f2csa_ref.baselines.iterates import IterateState, Surroundings
from f2csa_ref.baselines.methods import Rival
from f2csa_ref.baselines.ssigd import SsigdMethod, SsigdParameters
from f2csa_ref.baselines.zeroth_order import ZerothOrderAnswers, ZerothOrderParameters
from f2csa_ref.fast import FastOracle
from f2csa_ref.fast.operators import Tally
from f2csa_ref.objectives import QuadraticObjectives, as_vector, double_range
from f2csa_ref.solver.run_loop import ClippedMomentum, Method
from spec.blocks.noise import Noise
from spec.exact import Vector
from spec.parameters import OracleParameters
from spec.reading import REPAIRED
from verify.experiments.work import SAMPLE_X, SAMPLE_Y

HARD = 1e-6
"""Width of both ramps where the parent's active set is hard: rows are at their ends to rounding, or away from them."""
VALUE_PRODUCTS = 3
"""Products with blocks behind a value of f."""


def prepared_method(spec: Rival, around: Surroundings) -> Method[Any]:
    """A run of a rival with its answers prepared.

    Raises:
        InvalidInputError: If the problem is not quadratic.
    """
    if isinstance(spec, SsigdParameters):
        ssigd = SsigdMethod(spec, around)
        ssigd.gradient = PreparedTilted(around)  # type: ignore[assignment]  # answers as its page's does
        return ssigd
    if isinstance(spec, DsBloParameters):
        blo = DsBloMethod(spec, around)
        blo.gradient = PreparedTilted(around)  # type: ignore[assignment]  # as above
        return blo
    if isinstance(spec, PigdParameters):
        return _PreparedPigd(spec, around)
    if isinstance(spec, ParentParameters):
        parent = PreparedParent(around)
        return ClippedMomentum(lambda x, _: parent(x), around.outer, around.projection)
    return ClippedMomentum(PreparedValues(spec, around), spec.remaining(around.outer), around.projection)


def _counted(counts: Counter[str], before: Tally, now: Tally) -> None:
    """What was done since, by the names that the work of a prepared answer is counted with."""
    for name in ("bytes_read", "hessian_factorisations", "row_factorisations"):
        counts[name] += getattr(now, name) - getattr(before, name)
    counts["lower_level_solves"] += 1


class PreparedTilted:
    """Implicit gradients of x ↦ f(x, y*_q(x)), as :class:`f2csa_ref.baselines.tilted.TiltedImplicitGradient`."""

    def __init__(self, around: Surroundings) -> None:
        self.around, self.oracle = around, ImplicitOracle(_quadratic(around))
        _counted(around.counts, Tally(), self.oracle.tally)

    def __call__(self, x: Vector, tilt: Vector | None, rng: np.random.Generator | None) -> Vector:
        """The gradient (n,) at x under this tilt, if any; f is sampled from ``rng``, exact if ``None``."""
        before, samples = replace(self.oracle.tally), self.around.samples if rng is not None else 1
        estimate = self.oracle(x, tilt=tilt, rng=rng, samples=samples)
        _counted(self.around.counts, before, self.oracle.tally)
        self.around.counts["sampled_products"] += (samples - 1) * (SAMPLE_X + SAMPLE_Y)
        return estimate.hypergradient


class PreparedParent:
    """The estimate of :func:`f2csa_ref.baselines.exact_parent.penalty_gradient`: no noise, a hard active set."""

    def __init__(self, around: Surroundings) -> None:
        q, self.around = _quadratic(around), around
        reading = REPAIRED.model_copy(update={"dual_term": "cancelled"})
        call = OracleCall(around.alpha, reading, OracleParameters(lam_width=HARD * HARD), tol=around.alpha)
        self.oracle = FastOracle(q, call)
        self.oracle.h_width = HARD
        _counted(around.counts, Tally(), self.oracle.tally)
        self.noise = Noise()

    def __call__(self, x: Vector) -> Vector:
        """The estimate (n,)."""
        q, before = self.oracle.q, replace(self.oracle.tally)
        stated, q.noise = q.noise, self.noise
        try:
            estimate = self.oracle(x)
        finally:
            q.noise = stated
        _counted(self.around.counts, before, self.oracle.tally)
        return estimate.hypergradient


class _PreparedPigd(PigdMethod):
    def __init__(self, spec: PigdParameters, around: Surroundings) -> None:
        super().__init__(spec, around)
        self.estimate = PreparedParent(around)

    def step(self, state: IterateState, rng: np.random.Generator) -> None:
        w = in_unit_ball(rng, len(state.x))
        pigd_step(state, self.estimate, self.spec, self.around.outer.M, w, self.around.projection)


class PreparedValues(ZerothOrderAnswers):
    """The zeroth-order method's answers, F by a lower level that keeps its factor."""

    def __init__(self, spec: ZerothOrderParameters, around: Surroundings) -> None:
        super().__init__(spec, around)
        self.oracle = ImplicitOracle(_quadratic(around))
        _counted(around.counts, Tally(), self.oracle.tally)

    def value(self, x: Vector) -> float:
        """F(x)."""
        oracle, q = self.oracle, self.oracle.q
        x, before = as_vector(x, q.n, "x"), replace(oracle.tally)
        with double_range(q):
            y, *_ = oracle.lower.solve(x, oracle.g_xy.back(x) + q.g_y, oracle.rows.reach(x))
            loss = q.f(x, y)
        _counted(self.around.counts, before, oracle.tally)
        self.around.counts["bytes_read"] += VALUE_PRODUCTS * q.f_yy.nbytes
        return loss


def _quadratic(around: Surroundings) -> QuadraticObjectives:
    q = around.objectives
    assert isinstance(q, QuadraticObjectives)  # as courses are
    return q
