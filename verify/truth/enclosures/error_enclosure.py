r"""What one estimate is off by, enclosed in balls and split into its causes.

With Y and Λ the derivatives of y* and of the active rows' multipliers, :math:`e = y - y^*`, :math:`w = y - \tilde y^*`,
:math:`g_{xy} = \Lambda^T B_I - Y^T g_{yy}` and :math:`A_I = B_I Y` turn line 6 minus the gradient of F into

.. math:: (f_{xy} + Y^T f_{yy})\,e \;-\; Y^T\big(\nabla_y f + \alpha_1 g_{yy} w - \alpha_2 B^T(\rho\circ h)\big)
          + \alpha_1\Lambda^T B_I w + \alpha_2 (A - BY)_J^T(\rho\circ h)_J + \text{dual part},

in the order of :data:`PARTS`, an identity for every y, pair and weights; Y and Λ enter through adjoint solves alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_mat, ctx

from spec import Quadratic
from spec.reading import DualTerm
from verify.truth.algebra.rationals import Blocks, Number, column, point, rational
from verify.truth.enclosures import balls
from verify.truth.enclosures.balls import PRECISION, BallVector, row_block, split, stacked, upper

PARTS = ("upper-level", "gradient-left", "rows", "inactive-rows", "dual")
"""The change of f's gradients on the way to y*, the minimiser not reached, the active rows' gap, weights of inactive
rows, the dual term."""


@dataclass(frozen=True)
class Estimated:
    """One noise-free estimate and the stages it was made at, all taken as the exact numbers they are.

    ``y_star``, ``shift`` (m,): the lower-level solution used and y minus it; ``lam``, ``rho`` (p,); ``estimate`` (n,),
    where it is known apart from noise.
    """

    alpha: Number
    y_star: Sequence[Number]
    shift: Sequence[Number]
    lam: Sequence[Number]
    rho: Sequence[Number]
    dual_term: DualTerm = "cancelled"
    estimate: Sequence[Number] | None = None


@dataclass(frozen=True)
class ErrorEnclosure:
    """``lower <= |estimate - grad F(x)| <= upper``, proven; of the formula's exact value where no estimate was given.

    ``parts`` (n,) are those of :data:`PARTS`, and ``rounding``, the estimate minus its formula. Where rows are
    ``undecided`` nothing is proven, and the bounds are 0 and infinity.
    """

    lower: float
    upper: float
    parts: dict[str, BallVector]
    active: tuple[int, ...]
    undecided: tuple[int, ...]

    @property
    def decided(self) -> bool:
        """Whether the bounds say something."""
        return not self.undecided


def enclose(problem: Quadratic, x: Sequence[Number], estimate: Estimated) -> ErrorEnclosure:
    """Enclose the error of an estimate and its parts; m and p to a few hundred.

    Raises:
        InvalidInputError: If a vector does not fit, or a system cannot be told from singular.

    Source: the derivation above; nothing of the reference solver.
    """
    at = point(x, problem.n, "x")
    lower = balls.solve(problem, at)
    if not lower.decided:
        return ErrorEnclosure(0.0, float("inf"), {}, lower.active, lower.undecided)
    with ctx.workprec(2 * PRECISION):
        return _enclosed(problem, arb_mat(column(at)), estimate, lower)


def _enclosed(problem: Quadratic, x: arb_mat, answer: Estimated, lower: balls.BallLowerLevel) -> ErrorEnclosure:
    r, I, m, p = Blocks.of(problem, balls.ball_matrix), lower.active, problem.m, problem.p  # noqa: E741  # the letter
    star, w, lam, rho = (
        _column(getattr(answer, name), size, name)
        for name, size in (("y_star", m), ("shift", m), ("lam", p), ("rho", p))
    )
    alpha = arb(rational(Fraction(answer.alpha)))
    alpha_1, alpha_2 = 1 / alpha**2, 1 / alpha**4
    system = balls.saddle_system(problem, r, I)
    B_I, A_I = row_block(r.B, I), row_block(r.A, I)
    y = star + w

    def mapped(on_y: arb_mat, on_rows: arb_mat) -> arb_mat:
        """Y' on_y + Λ' on_rows: with G u + B' v = on_y and B u = -on_rows it is A' v - g_xy u."""
        u, v = split(system.solve(stacked(on_y, -1 * on_rows)), m)
        return A_I.transpose() * v - r.g_xy * u

    h = r.A * x - r.B * y - r.b
    weighted = arb_mat(p, 1, [alpha_2 * a * b for a, b in zip(rho.entries(), h.entries(), strict=True)])
    off = arb_mat(p, 1, [arb(0) if i in I else value for i, value in enumerate(weighted.entries())])
    e = y - _enclosure(lower.y_star)
    grad_y_f = r.f_y + r.f_xy.transpose() * x + r.f_yy * y
    left = grad_y_f + alpha_1 * (r.g_yy * w) - r.B.transpose() * weighted
    none_y, none_rows = arb_mat(m, 1), arb_mat(len(I), 1)
    dual = arb_mat(problem.n, 1)
    if answer.dual_term != "cancelled":
        dual = alpha_1 * (r.A.transpose() * lam)
    if answer.dual_term in ("map", "both-maps"):
        slope = r.g_y + r.g_xy.transpose() * x + r.g_yy * star
        dual = dual - mapped(alpha_1 * slope, none_rows)
    if answer.dual_term == "both-maps":
        dual = dual + mapped(none_y, alpha_1 * row_block(h, I))
    parts = {
        "upper-level": r.f_xy * e + mapped(r.f_yy * e, none_rows),
        "gradient-left": mapped(-1 * left, none_rows),
        "rows": mapped(none_y, alpha_1 * (B_I * w)),
        "inactive-rows": r.A.transpose() * off - mapped(r.B.transpose() * off, none_rows),
        "dual": dual,
    }
    total = sum(parts.values(), arb_mat(problem.n, 1))
    if answer.estimate is not None:
        estimate = _column(answer.estimate, problem.n, "estimate")
        formula = r.f_x + r.f_xx * x + r.f_xy * y + alpha_1 * (r.g_xy * w) + r.A.transpose() * weighted + dual
        parts["rounding"] = estimate - formula
        total = estimate - _enclosure(lower.hypergradient)
    # The square of a ball around 0 reaches below 0, where it has no root.
    squared = sum((value * value for value in total.entries()), arb(0))
    least, most = squared.abs_lower().sqrt(), squared.abs_upper().sqrt()
    shown = {name: BallVector.of(part) for name, part in parts.items()}
    return ErrorEnclosure(_lower(least), upper(most), shown, I, ())


def _column(values: Sequence[Number], size: int, argument: str) -> arb_mat:
    return arb_mat(column(point(values, size, argument)))


def _enclosure(vector: BallVector) -> arb_mat:
    balls_of = [arb(mid, radius) for mid, radius in zip(vector.mid.tolist(), vector.radius.tolist(), strict=True)]
    return arb_mat(len(balls_of), 1, balls_of)


def _lower(length: arb) -> float:
    """A double no larger than every number >= 0 in the ball."""
    least = float(length.abs_lower())
    return max(0.0, least - 2.0**-50 * least)
