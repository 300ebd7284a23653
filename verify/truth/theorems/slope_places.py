"""The letters of derivatives along x, of activation at a kink, and of the outer loop's arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import fmpq

from spec.atlas import find
from verify.truth.algebra.rationals import fraction, rational
from verify.truth.algebra.rings import RATIONALS
from verify.truth.formulas import Lagrangian
from verify.truth.theorems import posed_problems, theorem_variables
from verify.truth.theorems.library import Coords, Point, add, clip, norm, scale, sqrt, sub
from verify.truth.theorems.moving_places import _weighted
from verify.truth.theorems.posed_problems import Draft, Scene, adjoint, basis, entries, linear
from verify.truth.theorems.statement_values import Values
from verify.truth.theorems.step_places import positive


def hard_activation(draft: Draft) -> Values:
    """TOY1 at its kink, the row's weight 1 or 0: the suite's minimiser."""
    alpha, rho = positive(draft["alpha"]), fmpq(int(draft["rho"] > 0))
    return {"alpha": alpha, "rho": rho, "y": _toy1(Fraction(0), alpha, (Fraction(0), Fraction(0)), rho)}


def mean_accuracy(draft: Draft) -> Values:
    """TOY1 at x = 1 with its row's full weight, and with none."""
    alpha = positive(draft["alpha"])
    y1, y2 = (_toy1(Fraction(1), alpha, (Fraction(1), Fraction(1)), fmpq(rho)) for rho in (1, 0))
    return {"alpha": alpha, "y1": y1, "y2": y2}


def _toy1(x: Fraction, alpha: fmpq, pair: tuple[Fraction, Fraction], rho: fmpq) -> fmpq:
    """The suite's penalty minimiser for a pair (y*, λ*) and a weight."""
    u = alpha * alpha
    stages = ([pair[0]], [pair[1]], [fraction(rho)])
    lagrangian = Lagrangian.of(RATIONALS, find("toy1").problem, (x,), (1 / u, 1 / (u * u)), stages)  # type: ignore[arg-type]
    minimiser: fmpq = entries(lagrangian.minimiser())[0]
    return minimiser


def multiplier(draft: Draft) -> Values:
    """Errors of multipliers and weights, and rows, all linear along a line."""
    count = len(draft["h"])
    at = {name: draft[name] for name in ("dl", "drho", "h")}
    lines: Values = {name: _curried(at[name], draft[f"{name}_slope"]) for name in at}
    return lines | {
        "n": count, "u": positive(draft["u"]), "naturals": range(count), "a": draft["h_slope"].__getitem__,
        "dl_prime": draft["dl_slope"].__getitem__, "drho_prime": draft["drho_slope"].__getitem__,
    }  # fmt: skip


def _curried(at: Point, along: Point) -> Callable[..., Any]:
    """Linear functions, asked for by index, or by index and argument."""

    def of(i: int, *t: Any) -> Any:
        return at[i] + along[i] * t[0] if t else lambda s: at[i] + along[i] * s

    return of


def split(scene: Scene) -> Values:
    """The change of the suite's estimate between two points, weights changed as well."""
    m, n, p, lower = scene.problem.m, scene.problem.n, scene.problem.p, scene.lower
    y1, y2 = (add(scene.y_star, scene.of(name, m)) for name in ("left", "y_star_off"))
    rho2 = tuple(abs(value) for value in scene.of("share", p))
    first, second = scene, _weighted(scene, rho2)
    at = (
        entries(each.lagrangian(exact=True).estimate(posed_problems.as_column(y)))
        for each, y in ((first, y1), (second, y2))
    )
    est1, est2 = at
    B, A = scene.block("B"), scene.block("A")
    h = sub(tuple(rational(value) for value in lower.h), linear(B, m)(sub(y1, scene.y_star)))
    return theorem_variables.constants(scene) | {
        "n": p, "A": lambda x: Coords(linear(A, n)(x)), "B": lambda v: Coords(linear(B, m)(v)), "X": basis(n),
        "Rt": adjoint(scene.block("f_xy"), m), "St": adjoint(scene.block("g_xy"), m), "d": sub(y2, y1),
        "h": Coords(h), "rho1": Coords(first.rho), "rho2": Coords(second.rho), "t2": sub(est2, est1),
    }  # fmt: skip


def parent(scene: Scene) -> Values:
    """The deterministic method's gradient, through that of the value function, beside the suite's estimate."""
    there, n, u = theorem_variables.at_point(scene), scene.problem.n, scene.u
    y, lam = add(scene.y_star, there["e"]), tuple(rational(scene.lower.lam[i]) for i in scene.active)
    fx, gxy, gx = scene.grad("f", "x", y), scene.grad("g", "x", y), scene.grad("g", "x", scene.y_star)
    gy = scene.grad("g", "y", scene.y_star)
    value = add(gx, adjoint(scene.maps[0], n)(gy))
    rows = scale(fmpq(-1), adjoint(scene.rows_of("A"), n)(there["nu"]))
    lower = sub(add(gxy, adjoint(scene.rows_of("A"), n)(lam)), value)
    det = add(add(fx, scale(1 / u, lower)), rows)
    return there | {"fx": fx, "gxy": gxy, "gx": gx, "gy": gy, "lam": lam, "value": value, "rows": rows, "det": det}


def batch(draft: Draft) -> Values:
    """The least whole batch of a size wanted."""
    alpha, s = positive(draft["alpha"]), abs(draft["s"])
    wanted = s / (alpha * alpha)
    N = max(1, -int(-wanted.p // wanted.q))
    return {"alpha": alpha, "s": s, "witness": lambda _: {"N": N}, "naturals": (2 * N + 1, N + 1, N)}


def radius(draft: Draft) -> Values:
    return {"M": 1 + int(12 * abs(draft["M"])) % 7, "radius": draft["radius"]}


def momentum(draft: Draft) -> Values:
    """Steps from 0 that no clipping shortens."""
    g, eta, zero = list(draft["g"]), draft["eta"], (fmpq(0), fmpq(0))
    D = 1 + abs(eta) * sum((abs(a) for v in g for a in v), fmpq(0))
    step = [zero]
    for value in g:
        step.append(clip(None, D, sub(step[-1], scale(eta, value))))
    return {
        "D": D, "eta": eta, "g": g.__getitem__, "step": step.__getitem__, "zero": zero, "t": len(g),
        "naturals": range(len(g)), "V": basis(2),
    }  # fmt: skip


def against(draft: Draft) -> Values:
    """A bias, and steps as long as they may be along it and against it."""
    D, bias = positive(draft["D"]), draft["bias"]
    length = norm(bias)
    most = scale(D / length, bias) if any(bias) else bias
    ends = [most, scale(fmpq(-1), most)]
    return {
        "D": D, "bias": bias, "V": [*ends, scale(D / 2, basis(2)[0])],
        "witness": lambda _: {"s": ends[0], "w": ends[1]},
    }  # fmt: skip


def descent(draft: Draft) -> Values:
    """Values in the mean, each with what the step before gained."""
    EF = [draft["F"]]
    for gain in draft["gains"]:
        EF.append(EF[-1] + gain)
    count = len(draft["gains"])
    return {"EF": EF.__getitem__, "along": draft["gains"].__getitem__, "T": count, "naturals": range(count)}


def below_root(draft: Draft) -> Values:
    """An alpha just below where its root is C times as large."""
    C = 1 + positive(draft["C"])
    alpha = (fmpq(97, 100) / C) ** 2
    order = {"quarter": sqrt}
    return {"C": C, "order": lambda s, a: order[s](a), "quarter": "quarter", "witness": lambda _: {"alpha": alpha}}


def moved_instance(draft: Draft) -> Values:
    return {"alpha": positive(draft["alpha"]), "t": max(fmpq(-1), draft["t"])}


def residual_instance(draft: Draft) -> Values:
    return {"alpha": positive(draft["alpha"]), "e": draft["e"]}
