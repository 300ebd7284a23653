"""The letters where weights move with the multipliers, and where minimisers are said to exist."""

from __future__ import annotations

from flint import fmpq

from spec import InvalidInputError
from verify.truth.algebra.rationals import fraction, rational
from verify.truth.stages import weights as exact_weights
from verify.truth.theorems import posed_problems, theorem_variables
from verify.truth.theorems.library import Coords, Point, add, inner, norm, scale, sub
from verify.truth.theorems.posed_problems import Draft, Scene, above, adjoint, basis, combined, entries, linear
from verify.truth.theorems.statement_values import Values
from verify.truth.theorems.step_places import part, positive


def _weighted(scene: Scene, rho: Point) -> Scene:
    """The scene with other weights, of active rows and of inactive ones."""
    lower = scene.lower
    named = {"rho": tuple(rho[i] for i in scene.active), "rho_inactive": tuple(rho[i] for i in lower.inactive)}
    return Scene(scene.problem, scene.x, scene.alpha, scene.spent | named)


def moving_weights(scene: Scene) -> Values:
    """Minimisers for exact multipliers and weights, and for wrong ones; weights move as far as the ramp lets them."""
    scene.convex()
    m, p, u, eps = scene.problem.m, scene.problem.p, scene.u, positive(scene.of("eps", 1)[0])
    dl, share = scene.of("dl", p), scene.of("share", p)
    rho1 = scene.rho
    ends = (r + max(fmpq(-1), min(fmpq(1), s)) * abs(a) / eps for r, s, a in zip(rho1, share, dl, strict=True))
    rho2 = tuple(max(fmpq(0), value) for value in ends)
    first, second = scene.lagrangian(exact=True), _weighted(scene, rho2).lagrangian(exact=False)
    y1, y2, y = first.minimiser(), second.minimiser(), posed_problems.as_column(add(scene.y_star, scene.of("left", m)))
    reweighted, B, A = _weighted(scene, rho2).lagrangian(exact=True), scene.block("B"), scene.block("A")
    at = [scene.y_star, entries(y1), entries(y2)]
    f, g = ([scene.grad(name, "y", point) for point in at] for name in ("f", "g"))
    h0 = tuple(rational(value) for value in scene.lower.h)
    moved = [i for i in range(p) if rho1[i] != rho2[i]]
    h1, free = (sub(h0, linear(B, m)(sub(entries(point), scene.y_star))) for point in (y1, y))
    lam = tuple(rational(value) for value in scene.lower.lam)
    there = theorem_variables.constants(scene)
    LB, of_rows = posed_problems.largest(B, m)
    return there | {
        "n": p, "naturals": range(p), "B": lambda v: Coords(linear(B, m)(v)), "LB": LB, "u": u, "eps": eps,
        "Bt": adjoint(B, m), "W": [Coords(v) for v in basis(p)], "V": [*there["V"], *([of_rows] if of_rows else [])],
        "rho1": Coords(rho1), "rho2": Coords(rho2), "lam1": Coords(lam), "lam2": Coords(add(lam, dl)),
        "h0": Coords(h0), "h": Coords(free), "c": f[0], "df0": sub(f[1], f[0]), "dg0": sub(g[1], g[0]),
        "df": sub(f[2], f[1]), "dg": sub(g[2], g[1]), "e": sub(at[1], at[0]), "d": sub(at[2], at[1]),
        "w": max((abs(h0[i]) for i in moved), default=fmpq(0)), "H": max((abs(h1[i]) for i in moved), default=fmpq(0)),
        "H_free": max((abs(free[i]) for i in moved), default=fmpq(0)),
        "of_free": sub(entries(first.gradient_y(y)), entries(second.gradient_y(y))),
        "of_second": sub(entries(first.gradient_y(y2)), entries(second.gradient_y(y2))),
        "A": lambda x: Coords(linear(A, scene.problem.n)(x)), "LA": posed_problems.largest(A, scene.problem.n)[0],
        "of_estimate": sub(entries(reweighted.estimate(y1)), entries(first.estimate(y1))),
        "low": min((rho1[i] for i in moved), default=fmpq(1)),
        "m": max((abs(rho2[i] - rho1[i]) for i in moved), default=fmpq(0)),
    }  # fmt: skip


def moving_active(scene: Scene) -> Values:
    """Weights of active rows move, and no others: those of weight 0 stay there."""
    share = scene.of("share", scene.problem.p)
    held = tuple(s if i in scene.active else fmpq(0) for i, s in enumerate(share))
    return moving_weights(Scene(scene.problem, scene.x, scene.alpha, scene.spent | {"share": held}))


def free_point(scene: Scene) -> Values:
    """The change of grad_y L at any y."""
    there = moving_weights(scene)
    return there | {"change": there["of_free"], "H": there["H_free"]}


def second_minimiser(scene: Scene) -> Values:
    there = moving_weights(scene)
    return there | {"change": there["of_second"]}


def first_estimate(scene: Scene) -> Values:
    """The change of the estimate at the first minimiser, through the weights alone."""
    there = moving_weights(scene)
    n = scene.problem.n
    _, of_rows = posed_problems.largest(scene.block("A"), n)
    return there | {"change": there["of_estimate"], "X": [*basis(n), *([of_rows] if of_rows else [])]}


def computed_weights(draft: Draft) -> Values:
    """A row at the lower-level solution and at a point within reach, its weight as the suite computes it."""
    width, eps, reach = positive(draft["width"]), positive(draft["eps"]), abs(draft["reach"])
    inactive = draft["lam1"] < 0
    h0 = -abs(draft["h0"]) if inactive else fmpq(0)
    lam1, lam2 = max(fmpq(0), draft["lam1"]) * eps, draft["lam2"] * eps
    h = h0 + reach * max(fmpq(-1), min(fmpq(1), draft["off"]))
    return {"width": width, "eps": eps, "reach": reach, "h0": h0, "h": h, "lam1": lam1, "lam2": lam2} | {
        name: rational(exact_weights((fraction(h),), (fraction(lam),), fraction(width), fraction(eps))[0])
        for name, lam in (("suite1", lam1), ("suite2", lam2))
    }


def orders(draft: Draft) -> Values:
    """Constants, and shifts as large as they let them be."""
    alpha, eps, mu, Cl = (positive(draft[name]) for name in ("alpha", "eps", "mu", "Cl"))
    LB, nc, Cw = (abs(draft[name]) for name in ("LB", "nc", "Cw"))
    u = alpha * alpha
    Cf = mu / (2 * u) * min(fmpq(1), draft["Cf"])
    dl = Cl * alpha**3 * part(draft["part"])
    room = mu - u * Cf
    shift = LB * dl * (1 + (Cw * u / u + LB * nc / room) / eps) / room
    most = 2 * LB / mu * (1 + (Cw + 2 * LB * nc / mu) / eps) * Cl * alpha**3
    return {
        "alpha": alpha, "eps": eps, "mu": mu, "Cl": Cl, "LB": LB, "nc": nc, "Cw": Cw, "Cf": Cf, "dl": dl,
        "shift": shift, "most": most,
    }  # fmt: skip


def gradient_orders(draft: Draft) -> Values:
    there = orders(draft)
    LB, eps, u, most = (there[name] for name in ("LB", "eps", "alpha", "most"))
    u, room = u * u, there["mu"] - there["alpha"] ** 2 * there["Cf"]
    inside = 1 + (there["Cw"] + LB * (there["nc"] / room + most / u)) / eps
    return there | {"shift": most, "gradient": LB * there["dl"] * inside / u}


def of_existence(scene: Scene) -> Values:
    """The suite's minimiser as the stationary point that is said to exist."""
    scene.convex()
    m, u = scene.problem.m, scene.u
    Hu = combined((fmpq(1), scene.block("f_yy")), (1 / u, scene.block("g_yy")))
    mu, _, ends = posed_problems.eigenvalues(Hu)
    rows, weights = scene.rows_of("B"), [scene.rho[i] / (u * u) for i in scene.active]
    e = sub(entries(scene.lagrangian(exact=True).minimiser()), scene.y_star)
    return {
        "V": [*basis(m), *ends], "H": linear(Hu, m), "mu": mu, "row": rows.__getitem__, "k": weights.__getitem__,
        "N": len(rows), "naturals": range(len(rows)), "c": scene.grad("f", "y", scene.y_star), "e": e,
        "d": scene.of("direction", m, 1), "reals": [fmpq(-1, 3), fmpq(2)], "solvable": True,
        "witness": lambda _: {"e": e},
    }  # fmt: skip


def of_blend_weight(scene: Scene) -> Values:
    """The blend's weight in closed form, from the answer z to its row."""
    there, m = theorem_variables.of_blend(scene), scene.problem.m
    columns = [there["H"](v) for v in basis(m)]
    b = scene.block("B")[scene.active[0]]
    return there | {"z": posed_problems.solved(tuple(zip(*columns, strict=True)), scale(fmpq(-1), b))}


def far(draft: Draft) -> Values:
    return {name: positive(draft[name]) for name in ("u", "t", "eps", "W")}


def kink_at(draft: Draft) -> Values:
    """A multiplier t with gradient dl, linear: where it vanishes first."""
    x, dl, t = draft["x"], draft["dl"], abs(draft["t"])
    if not any(dl):
        raise InvalidInputError("dl", "must not be 0", 0)
    z = sub(x, scale(t / inner(dl, dl), dl))
    return {"x": x, "dl": dl, "t": t, "witness": lambda _: {"z": z}}


__all__ = ["above", "norm"]
