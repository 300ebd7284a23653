"""Tolerances of a whole oracle call: how errors of its stages, its rounding and its early stop reach the estimate."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq_mat

from verify.conformance.vectors.sizing import Sizes, absolute, lengths, product, scaled, sizes, total, transposed
from verify.conformance.vectors.tolerances import Penalty
from verify.truth.algebra.rationals import diagonal, rational


@dataclass(frozen=True)
class Errors:
    """Of what comes before the penalty minimiser.

    Args:
        y_star: Shape (m,).
        lam: Shape (p,).
        rho: Shape (p,).
    """

    y_star: Sizes
    lam: Sizes
    rho: Sizes


def chain(penalty: Penalty, before: Errors, *, gradient_norm: float, distance: float) -> dict[str, Sizes]:
    """Of the minimiser, the parts and the estimate where the minimiser is computed on the way.

    Rounding errors are those of the shift ``w = y - y_star``: rows as ``h(x, y_star) - B w``, gradients of g likewise.
    """
    s, v = penalty.sizing, penalty.values
    r, q = s.setting.rows, s.setting.problem
    a_1, a_2 = rational(s.setting.alpha**-2), rational(s.setting.alpha**-4)
    frozen = s.setting.reading.dual_term == "frozen"
    stop, pull = (gradient_norm, distance), a_2 * r.A.transpose()
    nothing = fmpq_mat(q.n, q.p)
    direct = {
        "f": _Direct(r.f_xy, nothing, nothing),
        "g_difference": _Direct(a_1 * r.g_xy, nothing, nothing),
        "dual": _Direct(fmpq_mat(q.n, q.m), nothing, a_1 * r.A.transpose() if frozen else nothing),
        "penalty": _Direct(-1 * (r.A.transpose() * penalty.weighted_rows * r.B), pull, nothing),
    }
    whole = r.f_xy + direct["g_difference"].y + direct["penalty"].y
    direct["hypergradient"] = _Direct(whole, pull, direct["dual"].lam)
    made = {name: _through(penalty, part, before, stop) for name, part in direct.items()}

    w = penalty.shift
    A_t = transposed(s.A, q.n)
    evaluated = {
        "f": s.grad_x_f(v.y_penalty),
        "g_difference": scaled(s.alpha_1, product(s.g_xy, w)),
        "dual": scaled(s.alpha_1 if frozen else 0.0, product(A_t, sizes(v.lam))),
        "penalty": product(A_t, penalty.small_forces),
    }
    evaluated["hypergradient"] = total(*evaluated.values())
    moved = scaled(s.alpha_1, product(s.g_xy, before.y_star))
    for name, parts in evaluated.items():
        made[name] = total(made[name], scaled(s.gamma, parts))
        if name in ("g_difference", "hypergradient"):
            made[name] = total(made[name], moved)
    identity = _Direct(diagonal([1] * q.m), fmpq_mat(q.m, q.p), fmpq_mat(q.m, q.p))
    through = _through(penalty, identity, before, stop)
    made["y_penalty"] = total(through, before.y_star, scaled(s.gamma, sizes(v.y_penalty)))
    return made


@dataclass(frozen=True)
class _Direct:
    """A part of the estimate as ``y·(minimiser) + pull·(rho∘h) + lam·(multipliers)``, with h moving with y in ``y``."""

    y: fmpq_mat
    pull: fmpq_mat
    lam: fmpq_mat


def _through(penalty: Penalty, direct: _Direct, before: Errors, stop: tuple[float, float]) -> Sizes:
    """Errors of a part as the minimiser follows errors of its data."""
    s, v = penalty.sizing, penalty.values
    r = s.setting.rows
    a_1, a_2 = rational(s.setting.alpha**-2), rational(s.setting.alpha**-4)
    gradient_norm, distance = stop
    DH = direct.y * penalty.inverse
    # The gradient in y: what its parts round to, then what the stopping rule leaves.
    lower = scaled(s.alpha_1, total(s.stationarity(v.y_star, v.lam), product(s.g_yy, penalty.shift)))
    pulled = product(transposed(s.B, len(lower)), penalty.small_forces)
    made = product(absolute(DH), scaled(s.gamma, total(s.grad_y_f(v.y_penalty), lower, pulled)))
    made = total(made, scaled(gradient_norm, lengths(DH)), scaled(distance, lengths(direct.y)))
    # Multipliers move the minimiser and, frozen, the estimate.
    made = total(made, product(absolute(a_1 * DH * r.B.transpose() + direct.lam), before.lam))
    # An error of a row is mostly followed by the minimiser: the two effects cancel before signs are dropped.
    by_force = DH * (a_2 * r.B.transpose()) + direct.pull
    made = total(made, product(absolute(by_force * diagonal(v.rho)), scaled(s.gamma, s.rows_at(v.y_star))))
    return total(made, product(absolute(by_force * diagonal(penalty.h)), before.rho))
