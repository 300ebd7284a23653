"""Sizes at a regular point that sharp bounds are made of: derivatives of y* and λ*, curvature, σ_min(B_I)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from verify.truth.enclosures.pair import Truth
from verify.truth.geometry import EPS, Geometry, solve, spectral_norm


@dataclass(frozen=True)
class PieceConstants:
    """At one alpha: ‖Dy*‖, ‖Dλ*‖, ‖D∇_yf‖, ‖∇_yf‖; μ and κ with what f's curvature takes; σ and weights of active rows.

    ``sigma`` is infinite where no row is active, and ``mu`` may be <= 0, where alpha is too large for the bounds.
    """

    alpha: float
    L_y: float
    L_lam: float
    D_c: float
    c: float
    mu: float
    kappa: float
    sigma: float
    rho: float

    @classmethod
    def of(cls, geometry: Geometry, truth: Truth) -> PieceConstants:
        """From the differentiated optimality conditions of the strictly active rows."""
        a, active = geometry.a, np.flatnonzero(truth.active)
        B, A, m = a.B[active], a.A[active], len(truth.y_star)
        system = np.block([[a.g_yy, -B.T], [B, np.zeros((len(active), len(active)))]])
        solved = solve(system, np.vstack([-a.g_xy.T, A]))
        Y, rates = solved[:m], solved[m:]
        lowest, highest = (float(np.linalg.eigvalsh(a.g_yy)[end]) for end in (0, -1))
        low, high = (float(np.linalg.eigvalsh(a.f_yy)[end]) for end in (0, -1))
        mu = lowest + min(0.0, geometry.alpha**2 * low)
        some = len(active) > 0
        return cls(
            alpha=geometry.alpha,
            L_y=spectral_norm(Y),
            L_lam=spectral_norm(rates) if some else 0.0,
            D_c=spectral_norm(a.f_xy + Y.T @ a.f_yy),
            c=float(np.linalg.norm(a.f_xy.T @ geometry.x + a.f_yy @ truth.y_star + a.f_y)),
            mu=mu,
            kappa=(highest + max(0.0, geometry.alpha**2 * high)) / mu if mu > 0 else np.inf,
            sigma=float(np.linalg.svd(B, compute_uv=False)[-1]) if some else np.inf,
            rho=float(geometry.rho[active].min()) if some else 1.0,
        )

    @property
    def first_order(self) -> float:
        """α²‖D∇_yf‖/μ: what the distance of ỹ costs through f, for a gradient of norm 1."""
        return self.alpha**2 * self.D_c / self.mu if self.mu > 0 else np.inf

    @property
    def without_modulus(self) -> float:
        """α‖Dλ*‖/(2√(ρμ)): what the gap of the active rows costs, whatever σ_min(B_I) is."""
        return self.alpha * self.L_lam / (2 * float(np.sqrt(self.rho * self.mu))) if self.mu > 0 else np.inf

    @property
    def with_modulus(self) -> float:
        """α²‖Dλ*‖√κ/(ρσ): the same at a fixed σ_min(B_I)."""
        return self.alpha**2 * self.L_lam * float(np.sqrt(self.kappa)) / (self.rho * self.sigma)

    @property
    def penalty_term(self) -> float:
        """Bound of T₃ that knows no σ_min(B_I)."""
        return self.c * (self.first_order + self.without_modulus) + EPS**2

    @property
    def row_values(self) -> float:
        """Bound of ‖h_I‖ at the penalty minimiser: α⁴√κ‖∇_yf‖/(ρσ)."""
        return self.alpha**4 * float(np.sqrt(self.kappa)) * self.c / (self.rho * self.sigma)

    @property
    def shift(self) -> float:
        """Bound of how far an error 1 of the active multipliers moves the minimiser, whatever σ_min(B_I) is."""
        return self.alpha / (2 * float(np.sqrt(self.rho * self.mu))) if self.mu > 0 else np.inf


def share_of(value: float, bound: float) -> float:
    """A value over its bound; of a bound that is zero, 0 where nothing is left of the value, else infinity."""
    if bound:
        return value / bound
    return math.inf if value > 0 else 0.0
