"""The letters where a gradient is left at y: the estimator's error and T1 from both sides, the Hessian's condition."""

from __future__ import annotations

from flint import fmpq

from spec import InvalidInputError
from verify.truth.algebra.rationals import fraction, rational
from verify.truth.theorems import posed_problems, theorem_variables
from verify.truth.theorems.library import Coords, Point, add, inner, norm, scale, sub
from verify.truth.theorems.posed_problems import Scene, above, adjoint, basis, combined, entries, linear
from verify.truth.theorems.statement_values import Values
from verify.truth.theorems.step_places import positive


def residual(scene: Scene) -> Values:
    """The estimator at any y beside the gradient left there, taken along y*."""
    there = theorem_variables.at_point(scene)
    return there | {"ytr": adjoint(scene.maps[0], scene.problem.n)(there["r"])}


def from_minimiser(scene: Scene) -> Values:
    """From the penalty minimiser to y: T1, its letters those of the change between the two."""
    scene.convex()
    lagrangian, u, m, n = scene.lagrangian(exact=True), scene.u, scene.problem.m, scene.problem.n
    y = entries(lagrangian.minimiser(posed_problems.as_column(scene.of("left", m))))
    start = entries(lagrangian.minimiser())
    at, at_start = (posed_problems.as_column(point) for point in (y, start))
    off_x, off_y, e = scene.of("off_x", n), scene.of("off_y", m), sub(y, start)
    rho = [scene.rho[i] for i in scene.active]
    change = {
        f"d{of}{'x' if in_ == 'x' else ''}": sub(scene.grad(of, in_, y), scene.grad(of, in_, start))
        for of in ("f", "g")
        for in_ in ("x", "y")
    }
    r = add(entries(lagrangian.gradient_y(at)), scale(1 / u, off_y))
    t1 = add(sub(entries(lagrangian.estimate(at)), entries(lagrangian.estimate(at_start))), scale(1 / u, off_x))
    rows = linear(scene.rows_of("B"), m)(e)
    values = theorem_variables.constants(scene) | change | {
        "e": e, "r": r, "t1": t1, "dgx": add(change["dgx"], off_x), "dg": add(change["dg"], off_y),
        "nu": tuple(weight * value / (u * u) for weight, value in zip(rho, rows, strict=True)),
        "rho": min(rho, default=fmpq(1)), "rest": max(above(norm(off_x)), above(norm(off_y))),
        "ytr": adjoint(scene.maps[0], n)(r),
    }  # fmt: skip
    return values | theorem_variables._moduli(values) if any(off_y) else values


def stopped(scene: Scene) -> Values:
    """The same where the gradient left is alpha long."""
    left = scene.of("left", scene.problem.m)
    if not any(left):
        raise InvalidInputError("left", "must not be 0", 0)
    spent = scene.spent | {"left": theorem_variables._within(left, scene.alpha)}
    return from_minimiser(Scene(scene.problem, scene.x, scene.alpha, spent))


def condition(scene: Scene) -> Values:
    """The Hessian in y along two directions, and how far it is bent: section 9."""
    there, m, k = theorem_variables.of_curvature(scene), scene.problem.m, len(scene.active)
    B, w = scene.rows_of("B"), scene.of("left", m)
    rho = [scene.rho[i] for i in scene.active]
    pulled = tuple(scale(weight, row) for weight, row in zip(rho, B, strict=True))
    columns = tuple(tuple(row[j] for row in B) for j in range(m))
    pull = tuple(tuple(inner(columns[i], tuple(row[j] for row in pulled)) for j in range(m)) for i in range(m))
    low, high, ends = posed_problems.eigenvalues(pull)
    if not k:
        low = high = fmpq(0)
    H = combined((fmpq(1), scene.block("f_yy")), (1 / scene.u, scene.block("g_yy")), (1 / scene.u**2, pull))
    _, _, of_hessian = posed_problems.eigenvalues(H)
    v = there["v"]
    along = inner(there["P"](there["B"](v)), there["B"](v))
    return there | {
        "w": w, "b": max(high, fmpq(0)), "s": low, "beta": along / inner(v, v),
        "V": [*there["V"], *ends, *of_hessian, v, *([w] if any(w) else [])],
    }  # fmt: skip


def across_rows(scene: Scene) -> Values:
    """The second direction moved off the rows, where there is room."""
    there, m = condition(scene), scene.problem.m
    rows, w = scene.rows_of("B"), there["w"]
    if rows:
        gram = tuple(tuple(inner(p, q) for q in rows) for p in rows)
        w = sub(w, adjoint(rows, m)(posed_problems.solved(gram, linear(rows, m)(w))))
    return there | {"w": w}


def unweighted(scene: Scene) -> Values:
    """No row has a weight: an interior solution."""
    spent = scene.spent | {"rho": (fmpq(0),) * len(scene.active)}
    return condition(Scene(scene.problem, scene.x, scene.alpha, spent))


def same_solution(scene: Scene) -> Values:
    """The lower level's solution twice: the suite's, and the one that its active rows leave."""
    m, rows = scene.problem.m, scene.rows_of("B")
    G, k = scene.block("g_yy"), len(rows)
    lam = tuple(map(rational, scene.lower.lam))
    pull = sub(scene.grad("g", "y", scene.y_star), linear(G, m)(scene.y_star))
    held = (
        *((*line, *(-row[i] for row in rows)) for i, line in enumerate(G)),
        *((*row, *(fmpq(0),) * k) for row in rows),
    )
    solution = posed_problems.solved(tuple(held), (*scale(fmpq(-1), pull), *linear(rows, m)(scene.y_star)))
    again, of_rows = solution[:m], dict(zip(scene.active, solution[m:], strict=True))
    values = (scene.values.rows(scene.x, [fraction(value) for value in at]) for at in (scene.y_star, again))
    h1, h2 = (tuple(map(rational, part)) for part in values)
    e, B = sub(again, scene.y_star), scene.block("B")
    return theorem_variables.constants(scene) | {
        "e": e, "dg": linear(G, m)(e), "l1": tuple(of_rows.get(i, fmpq(0)) for i in range(len(B))), "l2": lam,
        "h1": h2, "h2": h1, "B": linear(B, m), "W": basis(len(B)),
    }  # fmt: skip


def weak_rows(scene: Scene) -> Values:
    """Weights on rows that are not active, at any y: the estimate and the gradient with them and without."""
    m, n, u = scene.problem.m, scene.problem.n, scene.u
    weak = scene.lower.inactive
    if not weak:
        raise InvalidInputError("problem", "must have an inactive row", 0)
    eps, y = positive(scene.of("eps", 1)[0]), add(scene.y_star, scene.of("left", m))
    at = posed_problems.as_column(y)
    bare = Scene(scene.problem, scene.x, scene.alpha, scene.spent | {"rho_inactive": (fmpq(0),) * len(weak)})
    with_rows, without = (each.lagrangian(exact=True) for each in (scene, bare))
    A, B = scene.rows_of("A", weak), scene.rows_of("B", weak)
    (LA, of_A), (LB, of_B) = posed_problems.largest(A, n), posed_problems.largest(B, m)
    h = _at(scene, y, weak)
    rho = tuple(scene.rho[i] for i in weak)
    return theorem_variables.constants(scene) | {
        "n": len(weak), "naturals": range(len(weak)), "Aw": linear(A, n), "LA": LA, "LB": LB,
        "Bw": lambda v: scale(fmpq(-1), linear(B, m)(v)),
        "eps": eps, "rho": Coords(rho), "h": Coords(h), "Cl": max(map(abs, rho)) * eps / scene.alpha**3,
        "H": above(norm(h)) / u, "est": entries(with_rows.estimate(at)), "est0": entries(without.estimate(at)),
        "r": entries(with_rows.gradient_y(at)), "r0": entries(without.gradient_y(at)),
        "X": [*basis(n), *([of_A] if of_A else [])], "V": [*basis(m), *([of_B] if of_B else [])],
    }  # fmt: skip


def _at(scene: Scene, y: Point, rows: tuple[int, ...]) -> Point:
    values = scene.values.rows(scene.x, [fraction(value) for value in y])
    return tuple(rational(values[i]) for i in rows)
