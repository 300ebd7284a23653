r"""The error of one answer, split exactly into its causes by an identity that holds at any stages.

With Y and Λ the derivatives of y* and of the multipliers, J the inactive rows, :math:`e = y - y^*`,
:math:`g_{xy} = \Lambda^T B - Y^T g_{yy}` and :math:`A_I = B_I Y` turn line 6 at any y, pair and weights, minus the
gradient of F, into

.. math:: (f_{xy} + Y^T f_{yy})\,e + \alpha_1\Lambda^T B e - Y^T\nabla_y L - \alpha_1 (BY)^T(\tilde\lambda - \lambda^*)
          - \alpha_1 g_{xy}(\tilde y^* - y^*) + \alpha_2 (A - BY)_J^T(\rho\circ h)_J + \text{dual part}.

An answer's error is that, and what it is off from line 6. Which stage a part is owed to is told by putting the stages
right one after the other, the last first, and taking differences of the identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from spec import InvalidInputError, Quadratic
from verify.truth.algebra.rationals import Vector, column, diagonal, fractions, point, rational
from verify.truth.algebra.rings import RATIONALS
from verify.truth.formulas import Lagrangian
from verify.truth.lower_level import lower_level
from verify.truth.stages import ExactSetting, activation, estimate, row_values

PARTS = ("upper-level", "rows", "gradient-left", "multipliers", "solution", "inactive-rows", "dual")
"""Summands of the identity."""
CAUSES = (
    "formula", "dual", "minimiser", "inactive-weights", "active-weights", "solution", "multipliers", "upper-level",
    "rows",
)  # fmt: skip
"""Of an error: its formula; a dual term that the reading keeps; the stages, last first; the method's own two parts."""
METHOD = ("upper-level", "rows")
"""What is left where every stage is right: f's gradients on the way from y* to the minimiser, and active rows' gap."""


@dataclass(frozen=True)
class StageValues:
    """The stages an answer was made at, as the exact numbers they are: y_star (m,), lam (p,), rho (p,), y (m,)."""

    y_star: Vector
    lam: Vector
    rho: Vector
    y: Vector


@dataclass(frozen=True, eq=False)
class ErrorCauses:
    """Splits answers to one oracle call on a quadratic problem, all in rationals.

    ``setting`` says problem, x, alpha and reading; what it gives is not looked at.

    Raises:
        DegenerateLowerLevelError: Where F has a kink at x, or its active rows are dependent.
        InvalidInputError: For readings whose dual term needs derivatives of the solution.

    Source: the derivation above; nothing of the reference solver.
    """

    setting: ExactSetting
    Y: fmpq_mat
    Lam: fmpq_mat

    @classmethod
    def at(cls, setting: ExactSetting) -> ErrorCauses:
        """Differentiate the lower level there."""
        if setting.reading.dual_term not in ("cancelled", "frozen"):
            raise InvalidInputError("dual_term", "must be frozen or cancelled to be split", setting.reading.dual_term)
        Y, Lam = lower_level.solution_maps(setting.problem, setting.x)
        return cls(setting, _matrix(Y, setting.problem.n), _matrix(Lam, setting.problem.n))

    @property
    def gradient(self) -> Vector:
        """The gradient of F (n,)."""
        s, lower = self.setting, self.setting.lower
        return lower_level.piece_gradient(s.rows, s.x, lower.y_star, lower.strictly_active)

    def formula(self, told: StageValues) -> Vector:
        """Line 6 at the stages told (n,)."""
        terms = estimate(self.setting, told.y, told.y_star, told.lam, told.rho)
        return fractions(sum((column(_exact(part)) for part in terms.values()), self._nothing))

    def parts(self, told: StageValues) -> dict[str, Vector]:
        """Line 6 at any stages less the gradient of F, by :data:`PARTS`, each (n,)."""
        return {name: fractions(part) for name, part in self._parts(told).items()}

    def split(self, told: StageValues, answer: Vector) -> dict[str, Vector]:
        """An answer less the gradient of F, by :data:`CAUSES`, each (n,): they add up to it exactly.

        ``told`` are the stages that the answer was made at.

        Raises:
            InvalidInputError: If a vector does not fit, or its weights leave the penalty without a stationary point.
        """
        q, s, lower = self.setting.problem, self.setting, self.setting.lower
        for name, size in (("y_star", q.m), ("lam", q.p), ("rho", q.p), ("y", q.m)):
            point(getattr(told, name), size, name)
        answer = point(answer, q.n, "answer")
        from_pair = activation(s, row_values(s, told.y_star), told.lam)
        mixed = tuple(from_pair[i] if i in lower.inactive else told.rho[i] for i in range(q.p))
        corrected = (
            ("minimiser", told),
            ("inactive-weights", self._minimised(told.y_star, told.lam, told.rho)),
            ("active-weights", self._minimised(told.y_star, told.lam, mixed)),
            ("solution", self._minimised(told.y_star, told.lam, from_pair)),
            ("multipliers", self._minimised(lower.y_star, told.lam, activation(s, lower.h, told.lam))),
        )
        right = self._minimised(lower.y_star, lower.lam, activation(s, lower.h, lower.lam))
        sums = [self._apart_from_dual(stages) for _, stages in corrected] + [self._apart_from_dual(right)]
        own = self._parts(right)
        errors = {
            "formula": column(answer) - column(self.formula(told)),
            "dual": self._parts(told)["dual"],
            **{name: sums[k] - sums[k + 1] for k, (name, _) in enumerate(corrected)},
            **{name: own[name] for name in METHOD},
        }
        return {name: fractions(errors[name]) for name in CAUSES}

    @property
    def _nothing(self) -> fmpq_mat:
        return fmpq_mat(self.setting.problem.n, 1)

    def _parts(self, told: StageValues) -> dict[str, fmpq_mat]:
        s, r, lower, Y = self.setting, self.setting.rows, self.setting.lower, self.Y
        alpha_1, alpha_2 = rational(s.alpha**-2), rational(s.alpha**-4)
        x, y, y_star, lam = (column(values) for values in (s.x, told.y, told.y_star, told.lam))
        e, across = y - column(lower.y_star), Y.transpose() * r.B.transpose()
        pull = alpha_2 * (diagonal(told.rho) * (r.A * x - r.B * y - r.b))
        off = fmpq_mat(len(told.rho), 1, [pull[i, 0] if i in lower.inactive else fmpq(0) for i in range(len(told.rho))])
        left = r.f_y + r.f_xy.transpose() * x + r.f_yy * y - r.B.transpose() * pull
        left = left + alpha_1 * (r.g_y + r.g_xy.transpose() * x + r.g_yy * y - r.B.transpose() * lam)
        dual = alpha_1 * (r.A.transpose() * lam) if s.reading.dual_term == "frozen" else self._nothing
        return {
            "upper-level": r.f_xy * e + Y.transpose() * (r.f_yy * e),
            "rows": alpha_1 * (self.Lam.transpose() * (r.B * e)),
            "gradient-left": -1 * (Y.transpose() * left),
            "multipliers": -alpha_1 * (across * (lam - column(lower.lam))),
            "solution": -alpha_1 * (r.g_xy * (y_star - column(lower.y_star))),
            "inactive-rows": (r.A.transpose() - across) * off,
            "dual": dual,
        }

    def _apart_from_dual(self, told: StageValues) -> fmpq_mat:
        parts = self._parts(told)
        return sum((parts[name] for name in PARTS[:-1]), self._nothing)

    def _minimised(self, y_star: Vector, lam: Vector, rho: Vector) -> StageValues:
        """With the penalty's stationary point for these stages."""
        s = self.setting
        weights = rational(s.alpha**-2), rational(s.alpha**-4)
        there = Lagrangian.of(RATIONALS, s.problem, s.x, weights, (y_star, lam, rho))
        try:
            y = there.minimiser()
        except ZeroDivisionError:
            raise InvalidInputError("rho", "must leave the penalty Lagrangian a stationary point") from None
        return StageValues(y_star, lam, rho, fractions(y.entries))


def _matrix(rows: tuple[Vector, ...], width: int) -> fmpq_mat:
    return fmpq_mat(len(rows), width, [rational(value) for row in rows for value in row])


def _exact(values: tuple[object, ...]) -> Vector:
    """Noise apart every term is rational."""
    assert all(isinstance(value, Fraction) for value in values)
    return values  # type: ignore[return-value]  # the line above


def is_split(problem: object) -> bool:
    """Whether problems of this kind are: noise-free quadratic ones."""
    return isinstance(problem, Quadratic) and problem.noise.model == "none"
