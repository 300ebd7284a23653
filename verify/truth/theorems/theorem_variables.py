"""The letters of the theorems at a scene: which exact stage or block of derivatives each one stands for."""

from __future__ import annotations

import math

from flint import fmpq

from spec import InvalidInputError
from verify.truth.algebra.rationals import fraction, rational
from verify.truth.theorems import posed_problems
from verify.truth.theorems.library import Point, add, inner, norm, scale, sub
from verify.truth.theorems.posed_problems import Matrix, Scene, adjoint, basis, combined, entries, linear
from verify.truth.theorems.statement_values import Values


def constants(scene: Scene) -> Values:
    """Maps, spaces with their samples, and constants rounded outward."""
    n, m, k = scene.problem.n, scene.problem.m, len(scene.active)
    G, Phi, R, S = (scene.block(name) for name in ("g_yy", "f_yy", "f_xy", "g_xy"))
    A, B, B_all = scene.rows_of("A"), scene.rows_of("B"), scene.block("B")
    Y, Lam = scene.maps
    mu, Cg, ends = posed_problems.eigenvalues(G)
    (LY, of_y), (LL, of_lam), (LB, of_rows) = (
        posed_problems.largest(Y, n),
        posed_problems.largest(Lam, n),
        posed_problems.largest(B_all, m),
    )
    moving = tuple(tuple(inner(row, column) for column in zip(*Y, strict=True)) for row in B_all)
    LA, of_moving = posed_problems.largest(moving, n)
    sigma, weakest = posed_problems.smallest_singular(B, m)
    low, high, bent = posed_problems.eigenvalues(Phi)
    dxs = [*basis(n), *(v for v in (of_y, of_lam, of_moving) if v is not None)]
    return {
        "X": dxs, "V": [*basis(m), *ends, *bent, *([of_rows] if of_rows else [])], "W": [*basis(k), *weakest],
        "W_prime": basis(len(B_all)), "reals": [fmpq(-1, 3), fmpq(0), fmpq(2)], "naturals": range(4),
        "A": linear(A, n), "B": linear(B, m), "Bt": adjoint(B, m), "Ball": linear(B_all, m), "G": linear(G, m),
        "St": adjoint(S, m), "Y": linear(Y, n), "Lam": linear(Lam, n),
        "mu": mu, "Cg": Cg, "Cf": max(-low, high, posed_problems.largest(R, m)[0], fmpq(0)), "LY": LY, "LL": LL,
        "LB": LB, "LA": LA, "sigma": sigma, "alpha": scene.alpha, "u": scene.u, "zero": (fmpq(0),) * m,
    }  # fmt: skip


def at_point(scene: Scene) -> Values:
    """At any y, said by the gradient left there: the letters of sections 1, 3, 4 and 5."""
    scene.convex()
    lagrangian, u, m, n = scene.lagrangian(exact=True), scene.u, scene.problem.m, scene.problem.n
    y = entries(lagrangian.minimiser(posed_problems.as_column(scene.of("left", m))))
    e, y_star = sub(y, scene.y_star), scene.y_star
    off_x, off_y = scene.of("off_x", n), scene.of("off_y", m)
    at = posed_problems.RATIONALS.vector([fraction(value) for value in y])
    rho = [scene.rho[i] for i in scene.active]
    rows = linear(scene.rows_of("B"), m)(e)
    values = constants(scene) | {
        "e": e, "c": scene.grad("f", "y", y_star), "fx": scene.grad("f", "x", y_star),
        "dfx": sub(scene.grad("f", "x", y), scene.grad("f", "x", y_star)),
        "df": sub(scene.grad("f", "y", y), scene.grad("f", "y", y_star)),
        "dgx": add(sub(scene.grad("g", "x", y), scene.grad("g", "x", y_star)), off_x),
        "dg": add(sub(scene.grad("g", "y", y), scene.grad("g", "y", y_star)), off_y),
        "nu": tuple(weight * value / (u * u) for weight, value in zip(rho, rows, strict=True)),
        "est": add(entries(lagrangian.estimate(at)), scale(1 / u, off_x)),
        "r": add(entries(lagrangian.gradient_y(at)), scale(1 / u, off_y)),
        "grad": scene.gradient, "rho": min(rho, default=fmpq(1)),
        "rest": max(map(_above, (off_x, off_y))),
    }  # fmt: skip
    if any(off_y):
        values |= _moduli(values)
    return values


def _moduli(at: Values) -> Values:
    """Moduli of a g that is no quadratic, between y* and y."""
    square = inner(at["e"], at["e"])
    if not square:
        raise InvalidInputError("left", "must leave y off y*", 0)
    mu, Cg = (
        inner(at["dg"], at["e"]) / square,
        _above(at["dg"]) / posed_problems.outward(float(fraction(square)) ** 0.5, -1),
    )
    return {"mu": min(mu, at["mu"]), "Cg": max(Cg, at["Cg"])}


def in_total(scene: Scene) -> Values:
    """Every error at once: section 8; ``left`` is scaled to alpha, those of the pair to alpha cubed."""
    scene.convex()
    m, p, alpha = scene.problem.m, scene.problem.p, scene.alpha
    off, left, dl = (scene.of(name, size) for name, size in (("y_star_off", m), ("left", m), ("dl", p)))
    spent = scene.spent | {
        "y_star_off": _within(off, alpha**3), "left": _within(left, alpha), "dl": scale(alpha**3, dl),
    }  # fmt: skip
    scene = Scene(scene.problem, scene.x, alpha, spent)
    inexact = scene.lagrangian(exact=False, exact_pair=False)
    y = inexact.minimiser(posed_problems.as_column(spent["left"]))
    exact = scene.lagrangian(exact=True)
    there = at_point(Scene(scene.problem, scene.x, alpha, spent | {"left": entries(exact.gradient_y(y))}))
    Cl = posed_problems.outward(_size(spent["dl"]) / float(fraction(alpha)) ** 3, 1)
    Gamma = posed_problems.outward(_size(there["c"]), 1) + alpha * (1 + there["LB"] * Cl)
    value = posed_problems.outward(_size(sub(entries(inexact.estimate(y)), there["est"])) / float(fraction(alpha)), 1)
    return there | {
        "g1": spent["left"], "dl": spent["dl"], "est_prime": entries(inexact.estimate(y)), "Cl": Cl, "Gamma": Gamma,
        "Cg": max(value, there["Cg"]) if "S_free" not in spent else value,
    }  # fmt: skip


def of_multipliers(scene: Scene, *, all_rows: bool = False) -> Values:
    """What an error of the multipliers does: sections 6 and 7."""
    scene.convex()
    rows = range(scene.problem.p) if all_rows else scene.active
    m, p, u = scene.problem.m, scene.problem.p, scene.u
    dl = scene.of("dl", p)
    if not all_rows:
        dl = tuple(value if i in rows else fmpq(0) for i, value in enumerate(dl))
    scene = Scene(scene.problem, scene.x, scene.alpha, scene.spent | {"dl": dl})
    exact, inexact = scene.lagrangian(exact=True), scene.lagrangian(exact=False)
    y, y_hat = entries(exact.minimiser()), entries(inexact.minimiser())
    d = sub(y_hat, y)
    matrix, weights = scene.rows_of("B", rows), [scene.rho[i] for i in rows]
    nu = tuple(weight * value / (u * u) for weight, value in zip(weights, linear(matrix, m)(d), strict=True))
    on_rows = tuple(dl[i] for i in rows)
    at, at_hat = (posed_problems.RATIONALS.vector([fraction(value) for value in point]) for point in (y, y_hat))
    changes = {
        name: sub(scene.grad(of, in_, y_hat), scene.grad(of, in_, y))
        for name, of, in_ in (("dfx", "f", "x"), ("df", "f", "y"), ("dgx", "g", "x"), ("dg", "g", "y"))
    }
    values = constants(scene) | changes | {
        "d": d, "nu": nu, "dl": on_rows, "B": linear(matrix, m), "Bt": adjoint(matrix, m), "W": basis(len(rows)),
        "rho": min((scene.rho[i] for i in scene.active), default=fmpq(1)), "pull": sub(nu, scale(1 / u, on_rows)),
        "t2": sub(entries(inexact.estimate(at_hat)), entries(exact.estimate(at))),
    }  # fmt: skip
    LB = posed_problems.largest(matrix, m)[0]
    return values | {"LB": LB} | ({} if all_rows else {"W": constants(scene)["W"]})


def of_change(scene: Scene, *, all_rows: bool = False) -> Values:
    """The same as section 7 spells it: errors of all rows, weights of the active ones."""
    p, m = scene.problem.p, scene.problem.m
    dl = scene.of("dl", p)
    if not all_rows:
        dl = tuple(value if i in scene.active else fmpq(0) for i, value in enumerate(dl))
    there = of_multipliers(Scene(scene.problem, scene.x, scene.alpha, scene.spent | {"dl": dl}), all_rows=True)
    k = len(scene.active)
    matrix = scene.rows_of("B")
    nu = tuple(there["nu"][i] for i in scene.active)
    pull = adjoint(scene.block("B"), m)(dl)
    return there | {
        "B": linear(matrix, m), "Bt": adjoint(matrix, m), "W": basis(k), "nu": nu, "dl": dl,
        "r": scale(1 / scene.u, pull),
    }  # fmt: skip


def in_direction(scene: Scene) -> Values:
    """One direction of x, the response of the lower level split in two by the suite's own maps: section 2."""
    n, m = scene.problem.n, scene.problem.m
    dx, S, A = scene.of("dx", n, 1), scene.block("g_xy"), scene.rows_of("A")
    zero = tuple((fmpq(0),) * m for _ in range(n))
    problem, x = scene.problem, scene.x
    still = posed_problems.with_block(problem, "g_xy", zero, x)
    parts = []
    for changed in (still, posed_problems.with_block(problem, "A", tuple((fmpq(0),) * n for _ in scene.block("A")), x)):
        other = Scene(changed, x, scene.alpha, scene.spent)
        if other.active != scene.active:
            raise InvalidInputError("x", "must keep its active rows", "other rows")
        parts.append(tuple(linear(matrix, n)(dx) for matrix in other.maps))
    (y1, l1), (y2, l2) = parts
    s, there = adjoint(S, m)(dx), constants(scene)
    return there | {
        "C": there["Cg"], "s": s, "a": linear(A, n)(dx), "y1": y1, "l1": l1, "y2": y2, "l2": l2,
        "d": posed_problems.solved(scene.block("g_yy"), s), "dx": dx,
        "V": [*basis(m), *posed_problems.eigenvalues(scene.block("g_yy"))[2]],
    }  # fmt: skip


def of_penalty_system(scene: Scene) -> Values:
    """The system of the penalty minimiser, or of any y: G stands for g_yy + alpha² f_yy, section 1c."""
    there = at_point(scene)
    Gu = combined((fmpq(1), scene.block("g_yy")), (scene.u, scene.block("f_yy")))
    mu, C, ends = posed_problems.eigenvalues(Gu)
    c = sub(there["c"], there["r"])
    return there | {
        "G": linear(Gu, scene.problem.m), "mu": mu, "C": C, "c": c, "d": posed_problems.solved(Gu, c),
        "V": [*basis(scene.problem.m), *ends], "w": scale(1 / scene.u, there["e"]),
    }  # fmt: skip


def of_curvature(scene: Scene) -> Values:
    """The Hessian in y along a direction: section 9."""
    there, m, k = constants(scene), scene.problem.m, len(scene.active)
    rho = [scene.rho[i] for i in scene.active]
    v = scene.of("direction", m, 1)
    P = linear(tuple(tuple(rho[i] if i == j else fmpq(0) for j in range(k)) for i in range(k)), k)
    rows = there["B"](v)
    low, high, _ = posed_problems.eigenvalues(scene.block("f_yy"))
    H = scene.lagrangian(exact=True).H
    return there | {
        "F": linear(scene.block("f_yy"), m), "P": P, "v": v, "b": inner(P(rows), rows) / inner(v, v),
        "Cf": max(-low, high, fmpq(0)),
        "hessian": lambda at: entries(H @ posed_problems.RATIONALS.vector([fraction(a) for a in at])),
    }  # fmt: skip


def of_blend(scene: Scene) -> Values:
    """One active row with a weight, the others as they are: section 11; ``witness`` is the suite's minimiser."""
    scene.convex()
    if not scene.active:
        raise InvalidInputError("problem", "must have an active row", 0)
    row, m, u, n = scene.active[0], scene.problem.m, scene.u, scene.problem.n
    a, b = scene.block("A")[row], scene.block("B")[row]
    rho, dx, c = scene.rho[row], scene.of("dx", n, 1), scene.grad("f", "y", scene.y_star)
    others = [i for i in scene.active if i != row]
    rows = tuple(scene.block("B")[i] for i in others)
    pull = tuple(
        tuple(sum((scene.rho[i] * r[p] * r[q] for i, r in zip(others, rows, strict=True)), fmpq(0)) for q in range(m))
        for p in range(m)
    )
    H = combined((fmpq(1), scene.block("f_yy")), (1 / u, scene.block("g_yy")), (1 / (u * u), pull))
    e0 = posed_problems.solved(H, scale(fmpq(-1), c))
    held = (*((*line, b[i]) for i, line in enumerate(H)), (*b, fmpq(0)))
    *e1, n1 = posed_problems.solved(held, (*scale(fmpq(-1), c), fmpq(0)))
    lagrangian = scene.lagrangian(exact=True)
    y = lagrangian.minimiser()
    e, k = sub(entries(y), scene.y_star), rho / (u * u)
    E = combined((fmpq(1), scene.block("f_xy")), (1 / u, scene.block("g_xy")))
    more = tuple(tuple(scene.rho[i] * r[q] / (u * u) for q in range(m)) for i, r in zip(others, rows, strict=True))
    A = scene.block("A")

    def of_others(v: Point) -> fmpq:
        return sum((inner(A[i], dx) * inner(r, v) for i, r in zip(others, more, strict=True)), fmpq(0))

    there = constants(scene)
    return there | {
        "H": linear(H, m), "b": lambda v: inner(b, v), "c": c, "e0": e0, "e1": tuple(e1), "n1": n1, "k": k,
        "est": lambda v: inner(adjoint(E, m)(dx), v) - of_others(v), "a": inner(a, dx), "shift": e,
        "measured": inner(sub(entries(lagrangian.estimate(y)), scene.grad("f", "x", scene.y_star)), dx),
        "witness": lambda _: {"w": k * inner(b, e) / n1 if n1 else fmpq(0), "e": e},
        "V": (*basis(m), *posed_problems.eigenvalues(H)[2]),
    }  # fmt: skip


def with_inactive(scene: Scene) -> Values:
    """The same at any y with weights on inactive rows too: the identity as section 3 has it, summand by summand."""
    there, u, m = at_point(scene), scene.u, scene.problem.m
    rows = scene.lower.inactive
    B, A, e = scene.rows_of("B", rows), scene.rows_of("A", rows), there["e"]
    h = sub(tuple(rational(scene.lower.h[i]) for i in rows), linear(B, m)(e))
    pull = tuple(scene.rho[i] * value / (u * u) for i, value in zip(rows, h, strict=True))
    return there | {
        "A_more": linear(A, scene.problem.n), "B_more": linear(B, m), "pull": pull,
        "omega": scale(1 / u, e), "on_rows": scale(1 / (u * u), there["B"](e)),
    }  # fmt: skip


def at_minimiser(scene: Scene) -> Values:
    """The penalty minimiser itself: section 4."""
    return with_inactive(
        Scene(scene.problem, scene.x, scene.alpha, scene.spent | {"left": (fmpq(0),) * scene.problem.m})
    )


def of_adjoint(scene: Scene) -> Values:
    """The adjoint system that the multiplier estimate tends to: section 0."""
    there, m, k = at_point(scene), scene.problem.m, len(scene.active)
    G, B = scene.block("g_yy"), scene.rows_of("B")
    held = (*((*line, *(row[i] for row in B)) for i, line in enumerate(G)), *((*row, *(fmpq(0),) * k) for row in B))
    solution = posed_problems.solved(tuple(held), (*scale(fmpq(-1), there["c"]), *(fmpq(0),) * k))
    return there | {"omega": solution[:m], "nu": solution[m:]}


def as_written(scene: Scene) -> Values:
    """What the literal text leaves: the dual term frozen, and how far a distance moves the estimate."""
    there, m, n = at_point(scene), scene.problem.m, scene.problem.n
    lam = tuple(rational(value) for value in scene.lower.lam)
    lagrangian = scene.lagrangian(exact=True)
    y = posed_problems.RATIONALS.vector([fraction(value) for value in add(scene.y_star, there["e"])])
    (nR, _), (nS, _) = posed_problems.largest(scene.block("f_xy"), m), posed_problems.largest(scene.block("g_xy"), m)
    weighted = tuple(scene.rho[i] * value for i, value in zip(scene.active, there["B"](there["e"]), strict=True))
    return there | {
        "al": adjoint(scene.block("A"), n)(lam), "frozen": entries(lagrangian.estimate(y, "frozen")),
        "Re": linear(scene.block("f_xy"), m)(there["e"]), "Se": linear(scene.block("g_xy"), m)(there["e"]),
        "ABe": adjoint(scene.rows_of("A"), n)(weighted), "nR": nR, "nS": nS,
    }  # fmt: skip


def _size(v: Point) -> float:
    return math.hypot(*(float(fraction(value)) for value in v))


def _above(v: Point) -> fmpq:
    """A norm, rounded up."""
    return posed_problems.outward(_size(v), 1)


def _within(v: Point, length: fmpq) -> Point:
    """A vector no longer than a length, and about as long."""
    size = _above(v)
    return scale(length / size, v) if any(v) else v


__all__ = ["Matrix", "norm", "rational"]
