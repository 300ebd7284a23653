"""Algorithm 1 on one quadratic problem, again and again: what stays is done once, what changes little is kept.

The lines are those of :mod:`f2csa_ref.algorithm_1`, and tests hold the answers to it. Once: structure of the blocks,
constants, M = f_yy + alpha_1 g_yy. Kept from call to call: the lower level's pair or active set, and the shift.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from f2csa_ref.activation import activation_weights
from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.fast.conjugate_gradients import HessianParts, Minimiser, minimise
from f2csa_ref.fast.first_order_lower import first_order_lower
from f2csa_ref.fast.operators import Operator, Rows, Tally
from f2csa_ref.fast.prepared_lower import DualLower, prepared_lower
from f2csa_ref.objectives import QuadraticObjectives, as_vector, double_range, objectives_of
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters
from f2csa_ref.penalty_minimiser import stopping_tolerance
from f2csa_ref.sampling import mean_noise, require_rng
from spec.errors import InvalidInputError
from spec.exact import Vector
from spec.problem import Problem

Precision = Literal["float64", "float32"]
LEAST = 0.1
"""Least diagonal of line 5's preconditioner, in units of alpha_1 g_yy's."""
LOWER_SHARE = 1e-2
"""Error of a first-order lower level, in units of the delta = alpha**3 that line 3 allows."""


_Values: TypeAlias = tuple[Vector, Vector, Vector, Vector, Vector]


@dataclass(frozen=True)
class Estimate:
    """One answer: stage values as in :class:`f2csa_ref.Hypergradient`, (m,), (p,), (p,), (m,), and what it took.

    ``counts`` are calls as Algorithm 1 makes them, with ``matrix_products``, ``hessian_factorisations`` and
    ``row_factorisations`` (of Gram matrices of known rows) beside them; ``bytes_read`` are those that the products, and
    solves with factors of the Hessian, must read. ``precision`` is that of line 5's steps.
    """

    hypergradient: Vector
    y_star: Vector
    lam: Vector
    rho: Vector
    shift: Vector
    gradient_norm: float
    tol: float
    counts: Mapping[str, int]
    bytes_read: int
    precision: Precision = "float64"
    first_order: bool = True
    factor_in_line_5: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know before trusting or quoting the estimate, one sentence each."""
        notes = []
        if not self.first_order:
            notes.append("the lower level factorised the Hessian of g: not fully first-order")
        if self.factor_in_line_5:
            notes.append("line 5's preconditioner is a factor of f_yy + alpha_1 g_yy")
        if self.precision == "float32":
            notes.append("the steps of line 5 are in single precision")
        if not self.gradient_norm <= self.tol:
            notes.append(f"the penalty minimiser stopped at {self.gradient_norm:.1e}, not {self.tol:.1e}")
        return tuple(notes)


@dataclass(eq=False)
class FastOracle:
    """Algorithm 1 with everything that stays the same prepared.

    Args:
        problem: A quadratic problem, or one drawn as such.
        call: As for :func:`f2csa_ref.hypergradient`; no stage may be given, and ``dual_term`` must be frozen or
            cancelled. ``parameters.lower_level`` ``exact`` is block pivoting over bounds or on the multipliers of dense
            rows (daqp where they are many or dependent); ``first-order`` factorises nothing of f or g.
        precision: ``float32`` halves what the steps of line 5 read; answers say so.

    Raises:
        InvalidInputError: If an argument breaks its rule.

    Source: Algorithm 1. Differs from the paper: as :func:`f2csa_ref.hypergradient`; line 5 by conjugate gradients.

    Example:
        >>> import numpy as np
        >>> from spec import parse_problem
        >>> toy = parse_problem({"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]},
        ...                      "constraints": {"A": [[1]], "B": [[1]]}})
        >>> FastOracle(toy, OracleCall(alpha=0.1))(np.ones(1)).hypergradient.round(6)
        array([0.990099])
    """

    problem: Problem | QuadraticObjectives
    call: OracleCall
    precision: Precision = "float64"
    tally: Tally = field(default_factory=Tally, init=False)

    def __post_init__(self) -> None:
        call, q = self.call, supported(objectives_of(self.problem), self.call, self.precision)
        self.q = q
        self.weights = penalty_parameters(call.alpha)
        dtype = np.dtype(self.precision)
        self.f_xx, self.f_xy, self.f_yy = (Operator(block, self.tally) for block in (q.f_xx, q.f_xy, q.f_yy))
        self.g_xy, self.g_yy = Operator(q.g_xy, self.tally), Operator(q.g_yy, self.tally)
        self.M = Operator((q.f_yy + self.weights.alpha_1 * q.g_yy).astype(dtype, copy=False), self.tally)
        self.rows = Rows(q, self.tally)
        self.h_width = call.parameters.h_width(call.reading, self.weights.inner_tol, q.B_norm)
        L = PenaltyLagrangian(q, np.zeros(q.n), self.weights, np.zeros(q.m), np.zeros(q.p), np.zeros(q.p))
        self.tol = stopping_tolerance(L, call.reading) if call.tol is None else call.tol
        if call.parameters.lower_level == "first-order":
            steps = call.parameters.lower_level_steps
            self.lower: Any = first_order_lower(self, LOWER_SHARE * self.weights.inner_tol, steps)
        else:
            self.lower = prepared_lower(self)
        least = LEAST * self.weights.alpha_1 * q.g_yy.diagonal()
        self.parts = HessianParts(self.M, self.rows, least, factorised=isinstance(self.lower, DualLower))
        self.shift = np.zeros(q.m, dtype=dtype)

    def __call__(self, x: Vector, rng: np.random.Generator | None = None) -> Estimate:
        """Algorithm 1 at x, shape (n,), with noise from ``rng`` where the problem is noisy.

        Raises:
            InvalidInputError: If x breaks its rule or the lower level is infeasible there.
            LowerLevelError: If the lower level cannot be solved.
        """
        q, call, rows, alpha = self.q, self.call, self.rows, self.weights
        x, before = as_vector(x, q.n, "x"), replace(self.tally)
        with double_range(q):
            # Line 3.
            c, r = self.g_xy.back(x) + q.g_y, rows.reach(x)
            y_star, lam, gradients, slope_g = self.lower.solve(x, c, r)
            # Line 4.
            h_star = rows.values(x, y_star, r)
            rho = activation_weights(h_star, lam, h_width=self.h_width, lam_width=call.parameters.lam_width)
            # Line 5.
            slope = (
                self.f_xy.back(x) + self.f_yy.forth(y_star) + q.f_y + alpha.alpha_1 * (slope_g - rows.transposed(lam))
            )
            if rho.any():
                slope -= alpha.alpha_2 * rows.transposed(rho * h_star)
            minimum = self._minimised(slope, rho)
            w = minimum.w.astype(np.float64, copy=False)
            # Line 6.
            h = h_star - rows.times(w)
            gradient = self.f_xx.forth(x) + self.f_xy.forth(y_star + w) + q.f_x + alpha.alpha_1 * self.g_xy.forth(w)
            if rows.A.multiple != 0.0:
                dual = lam if call.reading.dual_term == "frozen" else 0.0
                gradient += rows.A.back(alpha.alpha_1 * dual + alpha.alpha_2 * (rho * h))
            if q.noise.model != "none":
                L = PenaltyLagrangian(q, x, alpha, y_star, lam, rho)
                source = require_rng(rng) if call.draws is None else call.draws
                noise_f, noise_g = mean_noise(L, w, call.reading.noise_pairing, call.parameters.N_g, source)
                gradient += noise_f + alpha.alpha_1 * noise_g
        return self._answer((gradient, y_star, lam, rho, w), minimum, gradients, before)

    def value(self, x: Vector) -> float:
        """F(x) = f(x, y*(x)), with line 3 as it is here."""
        x = as_vector(x, self.q.n, "x")
        with double_range(self.q):
            y_star, *_ = self.lower.solve(x, self.g_xy.back(x) + self.q.g_y, self.rows.reach(x))
            return self.q.f(x, y_star)

    def memory(self) -> dict[str, Any]:
        """What is kept from call to call, as plain data, bit for bit: all that later answers depend on besides x."""
        return {"shift": self.shift.tolist(), "weights": _listed(self.parts.weights), "lower": self.lower.memory()}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on from what :meth:`memory` wrote."""
        self.shift = np.array(memory["shift"], dtype=self.M.matrix.dtype)
        self.parts.prepare(None if memory["weights"] is None else np.array(memory["weights"]))
        self.lower.recall(memory["lower"])

    def _minimised(self, slope: Vector, rho: Vector) -> Minimiser:
        product, precondition = self.parts.at(self.weights.alpha_2 * rho)
        slope = slope.astype(self.M.matrix.dtype, copy=False)
        steps = self.call.parameters.penalty_steps
        minimum = minimise(product, precondition, slope, self.shift, tol=self.tol, steps=steps)
        self.shift = minimum.w
        return minimum

    def _answer(self, values: _Values, minimum: Minimiser, gradients: int, before: Tally) -> Estimate:
        now, N_g, evaluations = self.tally, self.call.parameters.N_g, minimum.steps + 1
        counts = {
            "grad_x_f": N_g, "grad_x_g": 2 * N_g, "grad_y_f": evaluations, "grad_y_g": evaluations + gradients,
            "matrix_products": now.products - before.products,
            "hessian_factorisations": now.hessian_factorisations - before.hessian_factorisations,
            "row_factorisations": now.row_factorisations - before.row_factorisations,
        }  # fmt: skip
        gradient, y_star, lam, rho, shift = values
        return Estimate(
            hypergradient=gradient, y_star=y_star, lam=lam, rho=rho, shift=shift,
            gradient_norm=minimum.gradient_norm, tol=self.tol, counts=counts,
            bytes_read=now.bytes_read - before.bytes_read, precision=self.precision, first_order=self.lower.first_order,
            factor_in_line_5=self.parts.has_factor,
        )  # fmt: skip


def supported(q: object, call: OracleCall, precision: str) -> QuadraticObjectives:
    """What a fast oracle can serve, or a refusal by the argument's name."""
    if not isinstance(q, QuadraticObjectives):
        raise InvalidInputError("problem", "must be quadratic for the fast oracle")
    if any(value is not None for value in vars(call.given).values()):
        raise InvalidInputError("given", "must be left out: the fast oracle computes every stage")
    if call.certify is not None:
        raise InvalidInputError("certify", "must be off: the fast oracle bounds no errors")
    if call.parameters.lower_level == "primal-dual":
        raise InvalidInputError("lower_level", "must be exact or first-order for the fast oracle", "primal-dual")
    if call.reading.dual_term not in ("frozen", "cancelled"):
        raise InvalidInputError("reading.dual_term", "must be frozen or cancelled", call.reading.dual_term)
    if precision not in get_args(Precision):
        raise InvalidInputError("precision", f"must be one of {', '.join(get_args(Precision))}", precision)
    return q


def _listed(values: Any) -> list[float] | None:
    return None if values is None else values.tolist()
