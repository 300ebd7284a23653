r"""How far one estimate is from the gradients of several pieces of F together, where no single one can be told.

With J ranging over the rows certainly active and each choice of the rows in question, :math:`y_J(x)` holds rows J as
equations and leaves out all others, and :math:`F_J(x) = f(x, y_J(x))`. The estimate minus :math:`\nabla F_J` is known
for each J (:mod:`f2csa_ref.certificate.piece_errors`), and the shortest convex combination of these differences bounds
the distance from :math:`\mathrm{conv}\{\nabla F_J(x)\}`. With gradients alone weights t >= 0 that add to 1 exist with

.. math::
    \nabla\tilde F - \sum_J t_J\nabla F_J = \sum_J t_J\big(\nabla_x f\big|^y_{y_J}
        + Y_J^T(\nabla_y f\big|^y_{y_J} - \hat r - \alpha_2 B^T(\rho\circ h)_{off})
        + \alpha_1\Lambda_J^T B_I w\big) + \alpha_2 A^T(\rho\circ h)_{off} + \text{dual part},

where each row in question has :math:`\nu_i = \alpha_2\rho_i h_i` and :math:`B_i w` of opposite signs:
:math:`(\alpha_1 w, \nu)` solves a system whose solution, by Cramer's rule and Cauchy and Binet's formula, is such a
combination of those with rows J held.

Source: the blend of pieces that a weight between 0 and 1 makes of the estimate (docs/theorems.md, ``blend``).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

import numpy as np

from f2csa_ref.certificate.active_piece import EPS, Pair, Piece, Saddle, judged
from f2csa_ref.certificate.map_constants import Assumed, constants
from f2csa_ref.certificate.piece_errors import Findings, length, newton
from f2csa_ref.objectives import QuadraticObjectives
from f2csa_ref.penalty import PenaltyLagrangian
from f2csa_ref.second_derivatives.curvature import curvature
from spec.exact import Matrix, Vector

MOST = 3
"""Rows in question; each doubles the number of pieces."""


@dataclass(frozen=True)
class HullDistance:
    """The estimate's distance from the convex hull of ``grad F_J(x)``: says nothing of its error alone.

    J holds the rows certainly active and a choice of ``rows``, those in question: ``pieces`` are the J, whether or not
    F takes each near x. Among the ``grad F_J(x)`` is the gradient of F, if it has one at x; in their hull is Clarke's
    subdifferential. ``terms`` are >= 0 and add up to ``distance``, as in :class:`ErrorCertificate`; with second
    derivatives ``weights`` are those of the nearest point found, and ``spread`` is the largest distance between two of
    the gradients, up to what is left open. Without a statement ``why_not`` says why, and ``distance`` is inf.
    """

    distance: float = float("inf")
    rows: tuple[int, ...] = ()
    pieces: tuple[tuple[int, ...], ...] = ()
    weights: tuple[float, ...] = ()
    spread: float | None = None
    terms: dict[str, float] = field(default_factory=dict)
    why_not: str = ""
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def applies(self) -> bool:
        """Whether there is a statement."""
        return not self.why_not


@dataclass(frozen=True, eq=False)
class _Held:
    """One choice of rows: the pair on it, and its factorised system where there is one."""

    pair: Pair
    saddle: Saddle | None


@dataclass(frozen=True, eq=False)
class KinkEstimate:
    """What the estimate was made of: L, the shift w (m,), the dual part (n,), and the radius of its noise."""

    L: PenaltyLagrangian
    w: Vector
    dual: Vector
    noise: float = 0.0


def hull_distance(estimate: KinkEstimate, pair: Pair, assumed: Assumed, *, factorise: bool) -> HullDistance | None:
    """The statement for rows that ``pair`` leaves undecided and, with second derivatives, for weights in (0, 1).

    ``None`` where there are no such rows, or only the latter and nobody asked; these are left out where with them there
    would be no statement.
    """
    L, undecided = estimate.L, set(pair.undecided)
    blends = factorise and (assumed.blends or bool(undecided))
    blended = set(np.flatnonzero((L.rho > 0) & (L.rho < 1)).tolist()) - undecided if blends else set()
    if not undecided and not blended:
        return None
    if not factorise and not isinstance(L.objectives, QuadraticObjectives):
        return HullDistance(rows=pair.undecided, why_not="pieces of a smooth g need its second derivatives")
    adjoining = _adjoining(L, pair, blended, factorise=factorise)
    if isinstance(adjoining, HullDistance) and undecided and blended:
        adjoining = _adjoining(L, pair, set(), factorise=factorise)
    if isinstance(adjoining, HullDistance):
        return adjoining
    rows, family = adjoining
    hull = (_with_maps if factorise else _by_gradients)(estimate, family, assumed)
    counts = {"factorisations": len(family)} if factorise else {"grad_y_g": len(family)}
    return replace(hull, rows=rows, pieces=tuple(family), counts=counts)


def _adjoining(
    L: PenaltyLagrangian, pair: Pair, blended: set[int], *, factorise: bool
) -> tuple[tuple[int, ...], dict[tuple[int, ...], _Held]] | HullDistance:
    """Rows in question with the pieces they make, or why there is no statement.

    Whichever undecided rows are active, the others must be as taken, else F may be on another piece still: rows of
    which that is not certain are in question, too.
    """
    undecided = set(pair.undecided)
    while True:
        rows = tuple(sorted(undecided | blended))
        if len(rows) > MOST:
            why_not = f"{len(rows)} rows are in question, and at most {MOST} are taken together"
            return HullDistance(rows=rows, why_not=why_not)
        sure, family = set(pair.piece.rows) - set(rows), dict[tuple[int, ...], _Held]()
        for J in _with_each(sure, rows):
            held = _held(L, J, factorise=factorise)
            if held is None:
                return HullDistance(rows=rows, why_not="rows in question are linearly dependent with active ones")
            family[J] = held
        as_taken = sure | (blended & set(pair.piece.rows))
        choices = _with_each(as_taken, tuple(sorted(undecided))) if undecided else []
        further = {i for J in choices for i in family[J].pair.undecided} - undecided
        if not further:
            return rows, family
        undecided |= further
        blended = blended - further


def _with_each(sure: set[int], rows: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The sure rows with each choice of the others."""
    choices = [chosen for size in range(len(rows) + 1) for chosen in itertools.combinations(rows, size)]
    return [tuple(sorted(sure | set(chosen))) for chosen in choices]


def _held(L: PenaltyLagrangian, J: tuple[int, ...], *, factorise: bool) -> _Held | None:
    q, piece, saddle = L.objectives, Piece(L.objectives, J), None
    y, lam = L.y_star, L.lam
    if not piece.sigma > 0:
        return None
    if factorise:
        try:
            saddle = piece.saddle(curvature(q, L.x, y).dense_yy)
        except np.linalg.LinAlgError:
            return None
        if isinstance(q, QuadraticObjectives):
            y, lam = newton(L, piece, saddle)
    return _Held(judged(piece, L.x, y, lam), saddle)


def _findings(estimate: KinkEstimate, held: _Held, assumed: Assumed) -> Findings:
    c = constants(estimate.L.x, held.pair, held.saddle, assumed)
    return Findings(estimate.L, estimate.w, estimate.dual, held.pair, held.saddle, c)


def _with_maps(estimate: KinkEstimate, family: dict[tuple[int, ...], _Held], assumed: Assumed) -> HullDistance:
    """The shortest combination of the known differences, and what is left open of each."""
    findings = [_findings(estimate, held, assumed) for held in family.values()]
    errors = np.array([np.sum(list(one.parts.values()), axis=0) for one in findings])
    unknown = [one.unknown() for one in findings]
    loose = np.array([sum(terms.values()) for terms in unknown])
    candidates = [_shortest(errors), *np.eye(len(errors))]
    weights = min(candidates, key=lambda t: length(t @ errors) + float(t @ loose))
    terms = {"known": length(weights @ errors)}
    terms |= {name: float(sum(t * one[name] for t, one in zip(weights, unknown, strict=True))) for name in unknown[0]}
    # The combination itself is rounded.
    terms["rounding"] += EPS * (len(errors) + 8) * float(weights @ np.linalg.norm(errors, axis=1))
    terms["noise"] = estimate.noise
    apart = max(length(a - b) for a, b in itertools.product(errors, errors))
    return HullDistance(sum(terms.values()), weights=tuple(weights.tolist()), spread=apart, terms=terms)


def _shortest(rows: Matrix) -> Vector:
    """Weights >= 0 that add to 1 and make a short combination of the rows: any such weights prove a bound."""
    from scipy.optimize import nnls  # slow to import, rarely asked

    size = float(np.abs(rows).max())
    if size == 0:
        return np.full(len(rows), 1 / len(rows))
    system = np.vstack([rows.T / size, np.ones(len(rows))])
    weights = nnls(system, np.append(np.zeros(rows.shape[1]), 1.0))[0]
    return np.asarray(weights / weights.sum())


def _by_gradients(estimate: KinkEstimate, family: dict[tuple[int, ...], _Held], assumed: Assumed) -> HullDistance:
    """The module's formula with norms for Y and Λ, but on sure rows, where ``Y' B' = A'``."""
    q, alpha_1 = estimate.L.objectives, estimate.L.alpha.alpha_1
    findings = {J: _findings(estimate, held, assumed) for J, held in family.items()}
    first = next(iter(findings.values()))
    L_y, L_lam = max(one.c.L_y for one in findings.values()), max(one.c.L_lam for one in findings.values())
    sure = set.intersection(*map(set, family))
    held, off = set(sure), {i for i in range(q.p) if i not in sure}
    nu, pulled = first.weighted, alpha_1 * (q.B @ estimate.w)
    for i in set().union(*family) - sure:
        as_off = (length(q.A[i]) + L_y * length(q.B[i])) * abs(nu[i])
        if nu[i] * pulled[i] <= 0:
            off.remove(i)
        elif L_lam * abs(pulled[i]) < as_off:
            # Not of opposite signs: held with its gap, or left out with its weight, in all of the combination.
            off.remove(i)
            held.add(i)
            findings = {J: one for J, one in findings.items() if i in J}
        else:
            findings = {J: one for J, one in findings.items() if i not in J}
    nu_off = np.where([i in off for i in range(q.p)], nu, 0.0)
    on_y = first.upper[1] - first.left - nu_off @ q.B
    piece = Piece(q, tuple(sorted(sure)))
    c = piece.on_rows(on_y)
    size = float(np.linalg.norm(piece.A)) + L_y * float(np.linalg.norm(piece.B))
    unknown = [one.unknown() for one in findings.values()]
    terms = {
        "known": length(first.upper[0] + nu_off @ q.A + estimate.dual + c @ piece.A),
        "tangent": L_y * length(on_y - c @ piece.B),
        "rows": L_lam * length(pulled[sorted(held)]),
        "solution": max(terms["solution"] for terms in unknown),
        "rounding": max(terms["rounding"] for terms in unknown) + EPS * (q.n + q.m + q.p + 16) * size * length(c),
        "noise": estimate.noise,
    }
    return HullDistance(sum(terms.values()), terms=terms)
