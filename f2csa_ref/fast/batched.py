"""Algorithm 1 at many points of one quadratic problem in one go, on numpy or on any array library, a GPU's included.

The lines are those of :mod:`f2csa_ref.fast.oracle`, and tests hold the answers to it and to the page. A product with a
block is one matrix-matrix product for all points that still need it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.fast.batched_blocks import BatchedWork, Block, BoxRows, DenseRows
from f2csa_ref.fast.batched_lower_level import BatchedLowerLevel, Pairs
from f2csa_ref.fast.batched_minimiser import BatchedHessian, Minimisers, minimise_batch
from f2csa_ref.fast.device_arrays import Array, Arrays, as_points, require_finite
from f2csa_ref.fast.lockstep import Counts
from f2csa_ref.fast.oracle import LEAST, LOWER_SHARE, Precision, supported
from f2csa_ref.objectives import QuadraticObjectives, double_range, objectives_of
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters
from f2csa_ref.penalty_minimiser import stopping_tolerance
from f2csa_ref.sampling import check_draws, mean_noise, require_rng
from spec.problem import Problem


@dataclass(frozen=True, eq=False)
class BatchedEstimate:
    """Answers at K points, arrays of the oracle's library: (K, n), (K, m), (K, p), (K, p), (K, m), (K,).

    ``lower_steps`` and ``penalty_steps``, (K,), are numpy's: gradients of line 3 and steps of line 5 at each point.
    ``counts`` are calls as Algorithm 1 makes them, summed over the points, with ``matrix_products`` (matrix-matrix, one
    for all points), ``matrix_vector_products`` (those they stand for) and ``row_factorisations`` beside them.
    """

    hypergradient: Array
    y_star: Array
    lam: Array
    rho: Array
    shift: Array
    gradient_norm: Array
    tol: float
    counts: Mapping[str, int]
    lower_steps: Counts
    penalty_steps: Counts
    precision: Precision = "float64"
    short: tuple[int, ...] = ()
    """Points at which line 5 stopped above ``tol``."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know before trusting or quoting the estimates, one sentence each."""
        notes = []
        if self.precision == "float32":
            notes.append("the steps of line 5 are in single precision")
        if self.short:
            notes.append(
                f"the penalty minimiser stopped above {self.tol:.1e} at points {', '.join(map(str, self.short))}"
            )
        return tuple(notes)


@dataclass(eq=False)
class BatchedOracle:
    """Algorithm 1 at K points at once, with everything that stays the same prepared.

    Args:
        problem: A quadratic problem, or one drawn as such.
        call: As for :class:`f2csa_ref.fast.FastOracle`. Line 3 is by gradients either way: ``exact`` takes them to
            rounding, ``first-order`` to a hundredth of the error that line 3 allows; nothing of f or g is factorised.
            Given draws serve every point.
        xp: Array library: numpy, or torch, cupy, jax.numpy with the extra ``arrays``.
        device: Where its arrays live, as the library names it; by default where it puts them.
        precision: ``float32`` halves what the steps of line 5 read; answers say so.

    Raises:
        InvalidInputError: If an argument breaks its rule.

    From a call to the next of as many points, point i starts where it ended. Multipliers of dependent rows, which are
    not unique, may be others than a pivoting solver's. Noise is drawn by numpy on the host, point
    by point: the very draws that calls of :func:`f2csa_ref.hypergradient` at the points in order would take from the
    same generator, whatever the device.

    Source: Algorithm 1. Differs from the paper: as :class:`f2csa_ref.fast.FastOracle`.

    Example:
        >>> import numpy as np
        >>> from spec import parse_problem
        >>> toy = parse_problem({"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]},
        ...                      "constraints": {"A": [[1]], "B": [[1]]}})
        >>> BatchedOracle(toy, OracleCall(alpha=0.1))(np.array([[1.0], [2.0]])).hypergradient.round(6)
        array([[0.990099],
               [0.990099]])
    """

    problem: Problem | QuadraticObjectives
    call: OracleCall
    xp: Any = np
    device: Any = None
    precision: Precision = "float64"
    work: BatchedWork = field(default_factory=BatchedWork, init=False)

    def __post_init__(self) -> None:
        call, parameters = self.call, self.call.parameters
        self.q = q = supported(objectives_of(self.problem), call, self.precision)
        if call.draws is not None:
            check_draws(call.draws, q, parameters.N_g, call.reading.noise_pairing)
        self.arrays = arrays = Arrays(self.xp, self.device)
        self.weights = weights = penalty_parameters(call.alpha)
        names = ("f_xx", "f_xy", "f_yy", "g_xy", "g_yy", "A")
        self.f_xx, self.f_xy, self.f_yy, self.g_xy, self.g_yy, self.A = (self._block(getattr(q, k)) for k in names)
        self.f_x, self.f_y, self.g_y, self.b = (arrays.of(v) for v in (q.f_x, q.f_y, q.g_y, q.b))
        box = q.bounds
        self.rows = DenseRows(arrays, self.work, q.B) if box is None else BoxRows(arrays, box)
        tol = 0.0 if parameters.lower_level == "exact" else LOWER_SHARE * weights.inner_tol
        self.lower = BatchedLowerLevel(arrays, q, self.g_yy, self.rows, tol, parameters.lower_level_steps)
        self.dtype = arrays.single if self.precision == "float32" else arrays.double
        M = Block(arrays, self.work, q.f_yy + weights.alpha_1 * q.g_yy, self.dtype)
        least = LEAST * weights.alpha_1 * q.g_yy.diagonal()
        self.hessian = BatchedHessian(arrays, M, self.rows, q.B, least, self.dtype)
        self.h_width = parameters.h_width(call.reading, weights.inner_tol, q.B_norm)
        zeros = np.zeros(q.n), np.zeros(q.m), np.zeros(q.p)
        L = PenaltyLagrangian(q, zeros[0], weights, zeros[1], zeros[2], zeros[2])
        self.tol = stopping_tolerance(L, call.reading) if call.tol is None else call.tol
        self.last: tuple[Array, Array, Array] | None = None

    def _block(self, matrix: Any) -> Block:
        return Block(self.arrays, self.work, matrix)

    def __call__(self, X: Any, rng: np.random.Generator | None = None) -> BatchedEstimate:
        """Algorithm 1 at the rows of X, shape (K, n), with noise from ``rng`` where the problem is noisy.

        Raises:
            InvalidInputError: If X breaks its rule, or the lower level is infeasible at a point, which is named.
            LowerLevelError: If the lower level of a point cannot be solved.
        """
        arrays, q, alpha = self.arrays, self.q, self.weights
        xp, before = arrays.xp, replace(self.work)
        X = as_points(arrays, X, q.n)
        noisy = q.noise.model != "none"
        if noisy and self.call.draws is None:
            require_rng(rng)
        with double_range(q):
            # Line 3.
            r = self.A.forth(X) - self.b
            start_y, start_lam, start_w = self._start(X.shape[0])
            pairs = self.lower.solve(self.g_xy.back(X) + self.g_y, r, (start_y, start_lam))
            y_star, lam = pairs.y, pairs.lam
            # Line 4.
            h_star = r - self.rows.times(y_star)
            lam_width = self.call.parameters.lam_width
            rho = xp.clip(1.0 + h_star / self.h_width, 0.0, 1.0) * xp.clip(lam / lam_width, 0.0, 1.0)
            # Line 5.
            slope = (
                self.f_xy.back(X) + self.f_yy.forth(y_star) + self.f_y + alpha.alpha_1 * pairs.slope
                - self.rows.transposed(alpha.alpha_1 * lam + alpha.alpha_2 * (rho * h_star))
            )  # fmt: skip
            minima = minimise_batch(
                self.hessian, alpha.alpha_2 * rho, arrays.of(slope, self.dtype), start_w,
                tol=self.tol, steps=self.call.parameters.penalty_steps,
            )  # fmt: skip
            w = arrays.of(minima.w)
            # Line 6.
            h = h_star - self.rows.times(w)
            gradient = self.f_xx.forth(X) + self.f_xy.forth(y_star + w) + self.f_x + alpha.alpha_1 * self.g_xy.forth(w)
            dual = lam if self.call.reading.dual_term == "frozen" else xp.zeros_like(lam)
            gradient = gradient + self.A.back(alpha.alpha_1 * dual + alpha.alpha_2 * (rho * h))
            if noisy:
                gradient = gradient + self._noise(X, y_star, w, rng)
        require_finite(arrays, gradient, "leads out of the range of doubles; rescale the problem's blocks, x or alpha")
        self.last = (y_star, lam, minima.w)
        return self._answer((gradient, y_star, lam, rho, w), pairs, minima, before)

    def _start(self, K: int) -> tuple[Array, Array, Array]:
        """Where each point ended last time, or zeros."""
        if self.last is not None and self.last[0].shape[0] == K:
            return self.last
        y, lam = self.arrays.full((K, self.q.m), 0.0), self.arrays.full((K, self.q.p), 0.0)
        return y, lam, self.arrays.of(y, self.dtype)

    def _noise(self, X: Array, y_star: Array, w: Array, rng: np.random.Generator | None) -> Array:
        """Mean noise of line 6 at each point in turn, (K, n), drawn on the host."""
        call, q, alpha = self.call, self.q, self.weights
        source = rng if call.draws is None else call.draws
        none, noise = np.zeros(q.p), np.empty((X.shape[0], q.n))
        for out, *point in zip(noise, *(self.arrays.host(rows) for rows in (X, y_star, w)), strict=True):
            L = PenaltyLagrangian(q, point[0], alpha, point[1], none, none)
            of_f, of_g = mean_noise(L, point[2], call.reading.noise_pairing, call.parameters.N_g, source)
            out[:] = of_f + alpha.alpha_1 * of_g
        return self.arrays.of(noise)

    def _answer(
        self, values: tuple[Array, ...], pairs: Pairs, minima: Minimisers, before: BatchedWork
    ) -> BatchedEstimate:
        samples = self.call.parameters.N_g * len(minima.steps)
        evaluations = int(minima.steps.sum()) + len(minima.steps)
        counts = {
            "grad_x_f": samples, "grad_x_g": 2 * samples, "grad_y_f": evaluations,
            "grad_y_g": evaluations + int(pairs.gradients.sum()),
            "matrix_products": self.work.products - before.products,
            "matrix_vector_products": self.work.vectors - before.vectors,
            "row_factorisations": self.work.row_factorisations - before.row_factorisations,
        }  # fmt: skip
        gradient, y_star, lam, rho, shift = values
        reached = self.arrays.host(minima.gradient_norm)
        return BatchedEstimate(
            hypergradient=gradient, y_star=y_star, lam=lam, rho=rho, shift=shift, gradient_norm=minima.gradient_norm,
            tol=self.tol, counts=counts, lower_steps=pairs.gradients, penalty_steps=minima.steps,
            precision=self.precision, short=tuple(np.flatnonzero(~(reached <= self.tol)).tolist()),
        )  # fmt: skip
