"""Parameters of the two algorithms; whatever the paper derives is derived here, never set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Literal, Self

from pydantic import Field, field_validator

from spec.errors import InvalidInputError
from spec.files import Sparing
from spec.reading import Reading

MIN_ALPHA, MAX_ALPHA = 1e-30, 1e3
"""alpha**-4 and alpha**3 stay finite, normal doubles in this range."""


class PenaltyParameters(Sparing):
    """The accuracy parameter and everything Algorithm 1 derives from it.

    Args:
        alpha: Accuracy parameter, dimensionless, in [1e-30, 1e3].

    Source: Algorithm 1, line 2.
    """

    alpha: float

    @field_validator("alpha")
    @classmethod
    def _range(cls, value: float) -> float:
        if not (MIN_ALPHA <= value <= MAX_ALPHA):
            raise InvalidInputError("", f"must be > 0, in [{MIN_ALPHA:g}, {MAX_ALPHA:g}]", value)
        return value

    @property
    def alpha_1(self) -> float:
        """Weight of the lower-level gap, alpha**-2."""
        return self.alpha**-2

    @property
    def alpha_2(self) -> float:
        """Weight of the quadratic penalty, alpha**-4."""
        return self.alpha**-4

    @property
    def inner_tol(self) -> float:
        """The delta of Algorithm 1, alpha**3."""
        return self.alpha**3


class OracleParameters(Sparing):
    """What Algorithm 1 needs besides alpha.

    Args:
        N_g: Number of gradient samples averaged, >= 1.
        lam_width: Ramp width of the multiplier (paper: epsilon_lambda), > 0, units of ``g`` per unit of ``h``.
        ramp_constant: The constant c in the ramp width below the boundary, > 0: ``c * inner_tol**2`` as written
            (tau * delta with tau = c * delta), ``2 * c * max(1, ||B||) * inner_tol`` repaired.
        lower_level: ``exact`` (quadratic program with multipliers), ``first-order`` (as exact, by gradients alone:
            nothing is factorised) or ``primal-dual`` (the paper's iteration).
        lower_level_steps: Iteration budget of the last two, 1 to 10**8.
        eta_y: Primal step size, > 0; ``None`` takes 1 / (C_g + ||B||^2).
        eta_lam: Dual step size, > 0; ``None`` takes ``eta_y``.
        shared_samples: Batch of the shared-sample inner solver, >= 1.
        penalty_steps: Iteration budget of the penalty minimiser, 1 to 10**8.
        preconditioner: ``rows`` (scaled identity plus the known rows' part of the Hessian) or ``none``.
    """

    N_g: int = Field(default=1, ge=1, le=10**9)
    lam_width: float = Field(default=0.1, gt=0, allow_inf_nan=False)
    ramp_constant: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    lower_level: Literal["exact", "first-order", "primal-dual"] = "exact"
    lower_level_steps: int = Field(default=10_000, ge=1, le=10**8)
    eta_y: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    eta_lam: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    shared_samples: int = Field(default=1, ge=1, le=10**9)
    penalty_steps: int = Field(default=100_000, ge=1, le=10**8)
    preconditioner: Literal["rows", "none"] = "rows"

    def h_width(self, reading: Reading, inner_tol: float, jac_bound: float) -> float:
        """Ramp width below the boundary, in constraint units; ``jac_bound`` is the rows' ``||B||``."""
        if reading.ramp_width == "tau-delta":
            return self.ramp_constant * inner_tol**2
        return 2.0 * self.ramp_constant * max(1.0, jac_bound) * inner_tol


class OuterParameters(Sparing):
    """Parameters of Algorithm 2.

    Args:
        goldstein_radius: Radius of the Goldstein ball (delta of Algorithm 2), units of x, > 0.
        epsilon: Target stationarity, units of F per unit of x, > 0.
        D: Clipping length, units of x, > 0.
        eta: Step size of the online learner, > 0.
        M: Block length, >= 1.
        K: Number of blocks, >= 1.

    Source: Algorithm 2; Theorem "Convergence with Stochastic Hypergradient Oracle".
    """

    goldstein_radius: float = Field(gt=0, allow_inf_nan=False)
    epsilon: float = Field(gt=0, allow_inf_nan=False)
    D: float = Field(gt=0, allow_inf_nan=False)
    eta: float = Field(gt=0, allow_inf_nan=False)
    M: int = Field(ge=1)
    K: int = Field(ge=1)

    @property
    def T(self) -> int:  # noqa: N802  # the paper's letter
        """Number of hypergradient calls, K blocks of M."""
        return self.K * self.M

    @classmethod
    def paper(cls, *, goldstein_radius: float, epsilon: float, lipschitz_F: float, gap: float) -> Self:
        """The theorem's schedule: D = radius eps^2 / L_F^2, eta = radius eps^3 / L_F^4, M = floor(radius / D).

        Args:
            goldstein_radius: Radius of the Goldstein ball, > 0.
            epsilon: Target stationarity, > 0.
            lipschitz_F: L_F, Lipschitz constant of F, > 0.
            gap: F(x_0) - inf F, >= 0.

        Raises:
            InvalidInputError: If an argument is out of range, or D exceeds the radius, where the paper's
                M = floor(radius / D) would be 0.
        """
        _require(above=0.0, goldstein_radius=goldstein_radius, epsilon=epsilon, lipschitz_F=lipschitz_F)
        _require(least=0.0, gap=gap)
        if epsilon > lipschitz_F:
            raise InvalidInputError("epsilon", "must be <= lipschitz_F, else M = floor(radius / D) is 0", epsilon)
        with _within_doubles():
            # In doubles radius / D falls short of the whole number it may be, and M would lose a step.
            exact = (_decimal(lipschitz_F) / _decimal(epsilon)) ** 2
            steps, M = float(exact), math.floor(exact)
            D = goldstein_radius / steps
            T = math.ceil(gap * steps / (goldstein_radius * epsilon))
            eta = goldstein_radius * epsilon**3 / lipschitz_F**4
            return cls(goldstein_radius=goldstein_radius, epsilon=epsilon, D=D, eta=eta, M=M, K=max(1, T // M))

    @classmethod
    def repaired(
        cls, *, goldstein_radius: float, epsilon: float, lipschitz_F: float, gap: float, bias: float, variance: float
    ) -> Self:
        """The schedule under which E dist <= epsilon + 2 bias: M first, then D = radius / M.

        With G^2 = (L_F + bias)^2 + variance: M = ceil(36 G^2 / eps^2), D = radius / M, eta = 2 D / (G sqrt M),
        K = ceil(2 gap / (radius eps)).

        Args:
            goldstein_radius: Radius of the Goldstein ball, > 0.
            epsilon: Target stationarity, > 0.
            lipschitz_F: L_F, Lipschitz constant of F, > 0.
            gap: F(x_0) - inf F, >= 0.
            bias: Bound on the oracle's bias, >= 0.
            variance: Bound on the oracle's variance, >= 0.

        Raises:
            InvalidInputError: If an argument is out of range.
        """
        _require(above=0.0, goldstein_radius=goldstein_radius, epsilon=epsilon, lipschitz_F=lipschitz_F)
        _require(least=0.0, gap=gap, bias=bias, variance=variance)
        with _within_doubles():
            second_moment = (lipschitz_F + bias) ** 2 + variance
            M = math.ceil(36 * second_moment / epsilon**2)
            D = goldstein_radius / M
            eta = 2 * D / math.sqrt(second_moment * M)
            K = max(1, math.ceil(2 * gap / (goldstein_radius * epsilon)))
            return cls(goldstein_radius=goldstein_radius, epsilon=epsilon, D=D, eta=eta, M=M, K=K)


def _decimal(value: float) -> Fraction:
    """A float as the shortest decimal it prints as."""
    return Fraction(repr(float(value)))


def _require(*, above: float = -math.inf, least: float = -math.inf, **values: float) -> None:
    rule = f"must be > {above:g} and finite" if above > -math.inf else f"must be >= {least:g} and finite"
    for name, value in values.items():
        if not (math.isfinite(value) and value > above and value >= least):
            raise InvalidInputError(name, rule, value)


@contextmanager
def _within_doubles() -> Iterator[None]:
    """Say in one line that a schedule overflows, instead of by whichever operation noticed."""
    try:
        yield
    except (ArithmeticError, ValueError):  # ceil of inf and of nan, a step that rounds to 0
        raise InvalidInputError("schedule", "must stay within the range of doubles; rescale the problem") from None
