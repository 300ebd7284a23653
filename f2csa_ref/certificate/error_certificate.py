r"""How far one oracle call is from the gradient of F, from quantities at hand: no truth is known.

With Y and Λ the derivatives of y* and of the active rows' multipliers at x, :math:`w = \tilde y - \tilde y^*` the shift
the call made, I the active rows and J the others,

.. math::
    \nabla\tilde F - \nabla F =\;& \nabla_x f(x,\tilde y) - \nabla_x f(x,y^*)
        + Y^T\big(\nabla_y f(x,\tilde y) - \nabla_y f(x,y^*)\big) - Y^T \hat r + \alpha_1 \Lambda^T B_I w \\
        &+ \alpha_2 (A - BY)_J^T (\rho\circ h)_J + \text{dual part} + \alpha_1(\varepsilon_x + Y^T\varepsilon_y),

:math:`\hat r = \nabla_y\tilde L - \alpha_1(\nabla_y g(x,\tilde y^*) - B^T\tilde\lambda)`. It is exact, for every shift,
every weight and every pair: errors of the lower level enter through the first differences alone, where no power of
1/alpha stands before them. :math:`\varepsilon` are remainders of second order of g's gradients, zero if g is quadratic.
Where g's second derivatives may not be used, w is split along the active rows and tangent to them; along them gradients
are at hand, and of :math:`Y^T a` only the a tangent to the rows is open, for :math:`Y^T B_I^T = A_I^T`.

Source: the KKT system differentiated, :math:`g_{xy} = \Lambda^T B_I - Y^T g_{yy}`, put into line 6 of Algorithm 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from f2csa_ref.certificate.active_piece import Pair, Piece, Saddle, judged, likely_rows
from f2csa_ref.certificate.confidence import NoiseRadius, noise_radius
from f2csa_ref.certificate.map_constants import Assumed, constants, has_second_derivatives, in_the_ball
from f2csa_ref.certificate.near_kinks import HullDistance, KinkEstimate, hull_distance
from f2csa_ref.certificate.piece_errors import Findings, newton
from f2csa_ref.objectives import HolderObjectives, QuadraticObjectives
from f2csa_ref.penalty import PenaltyLagrangian
from f2csa_ref.sampling import Pairing
from f2csa_ref.second_derivatives.curvature import curvature
from spec.exact import Vector

Standing = Literal["up to rounding", "on your word", "estimated", "estimated, and on your word"]
TRIALS = 3
"""Guesses of the active rows, one factorisation each."""


@dataclass(frozen=True)
class ErrorCertificate:
    """``|estimate - grad F(x)| <= bound``, or the reason ``why_not`` there is no bound here (then it is inf).

    ``terms`` are >= 0 and add up to the bound: ``known`` is the length of what is known of the error; without second
    derivatives ``tangent`` bounds the part due to Dy* tangent to the active rows; ``solution`` is due to what is not
    known of y*, ``remainder`` to g not being quadratic, ``noise`` holds with probability ``noise.level``, ``rounding``
    is the allowance for doubles. ``parts`` (n,) are the error's by cause, with second derivatives alone, as in the
    module's formula: ``upper-level``, ``gradient-left``, ``rows``, ``inactive-rows``, ``dual``. ``estimated`` are
    constants not known to be bounds, ``stated`` those taken on the caller's word; ``active`` the rows proven active,
    up to rounding. ``hull`` is another statement, made where rows are undecided or have weights between 0 and 1: how
    far the estimate is from the gradients of the adjoining pieces taken together. It bounds no error.
    """

    bound: float = math.inf
    terms: dict[str, float] = field(default_factory=dict)
    parts: dict[str, Vector] = field(default_factory=dict)
    why_not: str = ""
    active: tuple[int, ...] = ()
    noise: NoiseRadius = field(default_factory=NoiseRadius)
    estimated: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    hull: HullDistance | None = None

    @property
    def applies(self) -> bool:
        """Whether there is a bound."""
        return not self.why_not

    @property
    def standing(self) -> Standing:
        """How sure the bound is; what is rigorous is proven in balls, by ``verify``."""
        if self.estimated:
            return "estimated, and on your word" if self.stated else "estimated"
        return "on your word" if self.stated else "up to rounding"


def certify(
    L: PenaltyLagrangian, w: Vector, dual: Vector, assumed: Assumed, pairing: Pairing = "common", samples: int = 0
) -> ErrorCertificate:
    """Bound the error of the estimate that line 6 makes at ``y_star + w``.

    Args:
        L: The penalty Lagrangian the call made, whatever its pair and weights.
        w: The shift, shape (m,).
        dual: The dual part of the estimate, shape (n,), as the reading has it.
        assumed: What may be used and believed.
        pairing: Of the noise of line 6.
        samples: N_g; 0 where the estimate has no noise in it.

    Returns:
        The bound. There is none where rows cannot be proven active or not (near kinks of F), where active rows are
        dependent, and where a Hölder problem leaves the ball on which its constants hold.

    Raises:
        InvalidInputError: If constants are missing that the problem does not tell, or break their rules.
    """
    q = L.objectives
    if not np.isfinite(w).all():
        return ErrorCertificate(why_not="the call has no estimate")
    pair, saddle = _solution(L, factorise=assumed.second_derivatives and has_second_derivatives(q))
    if pair is None:
        return ErrorCertificate(why_not="rows that seem active are linearly dependent: y* may have no derivative")
    noise = NoiseRadius()
    if samples and (q.noise.model != "none" or assumed.variance is not None):
        noise = noise_radius(L, w, pairing, samples, assumed.level, assumed.variance)
    hull = None
    if not isinstance(q, HolderObjectives):
        hull = hull_distance(KinkEstimate(L, w, dual, noise.radius), pair, assumed, factorise=saddle is not None)
    if pair.undecided:
        return ErrorCertificate(why_not=pair.why_undecided(), noise=noise, hull=hull)
    if isinstance(q, HolderObjectives) and not in_the_ball(q, L.x, w, pair):
        return ErrorCertificate(why_not="the problem's constants hold only where 3 s r^s <= 1")
    findings = Findings(L, w, dual, pair, saddle, constants(L.x, pair, saddle, assumed))
    terms = findings.known() | findings.unknown() | {"noise": noise.radius}
    return ErrorCertificate(
        sum(terms.values()), terms, findings.parts if saddle else {}, "", pair.piece.rows, noise,
        findings.c.estimated, findings.c.stated, findings.counts, hull,
    )  # fmt: skip


def _solution(L: PenaltyLagrangian, *, factorise: bool) -> tuple[Pair | None, Saddle | None]:
    """A pair near the solution on the rows that seem active, by one Newton step where g is quadratic."""
    q, x, y, lam = L.objectives, L.x, L.y_star, L.lam
    pair, saddle, tried = None, None, set[tuple[int, ...]]()
    for trial in range(1, TRIALS + 1):
        piece = Piece(q, likely_rows(q, x, y, lam))
        if piece.rows in tried or not piece.sigma > 0:
            break
        tried.add(piece.rows)
        y, lam = L.y_star, L.lam
        if factorise:
            try:
                saddle = piece.saddle(curvature(q, x, y).dense_yy)
            except np.linalg.LinAlgError:
                break
            if isinstance(q, QuadraticObjectives):
                y, lam = newton(L, piece, saddle)
        pair = replace(judged(piece, x, y, lam), trials=trial)
        if not pair.undecided:
            break
    return pair, saddle
