"""The letters of the proofs' short steps: bounds by distance, orders of the weights, splits, batch sizes, step counts.

Where a step is about a stage, its letters are the suite's exact ones; else plain numbers, most of them at equality.
"""

from __future__ import annotations

from flint import fmpq

from spec import InvalidInputError
from verify.truth.algebra.rationals import fraction, rational
from verify.truth.stages import weights as exact_weights
from verify.truth.theorems import posed_problems, theorem_variables
from verify.truth.theorems.library import Point, add, inner, norm, scale, sqrt, sub, vsum
from verify.truth.theorems.posed_problems import Draft, Scene, above, adjoint, basis, entries, linear, outward
from verify.truth.theorems.statement_values import Values


def positive(value: fmpq) -> fmpq:
    """A number made positive; refused where it is 0."""
    if value == 0:
        raise InvalidInputError("draft", "must not be 0 here", 0)
    return abs(value)


def part(value: fmpq) -> fmpq:
    """A number brought into [0, 1]."""
    return min(fmpq(1), abs(value))


def near_centre(draft: Draft) -> Values:
    """A gradient at a distance from the centre of a ball of radius R."""
    centre, off, distance = draft["centre"], draft["off"], positive(draft["distance"])
    return {
        "centre": centre, "g": add(centre, off), "distance": distance, "C": above(norm(off)) / distance,
        "R": distance * (1 + abs(draft["more"])),
    }  # fmt: skip


def linear_function(draft: Draft) -> Values:
    """A linear f and a Lipschitz constant of it."""
    grad, z = draft["grad"], draft["z"]
    return {
        "grad": grad, "z": z, "f": lambda y: inner(grad, y), "L": above(norm(grad)), "V": [*basis(len(z)), grad],
        "reals": [fmpq(-1, 3), fmpq(2)],
    }  # fmt: skip


def one_multiplier(scene: Scene) -> Values:
    """The multiplier twice: the suite's, and the one that its stationarity leaves."""
    lam = tuple(rational(scene.lower.lam[i]) for i in scene.active)
    rows, m = scene.rows_of("B"), scene.problem.m
    pull = scene.grad("g", "y", scene.y_star)
    gram = tuple(tuple(inner(p, q) for q in rows) for p in rows)
    again = posed_problems.solved(gram, linear(rows, m)(pull)) if rows else ()
    return theorem_variables.constants(scene) | {"l1": lam, "l2": again}


def value_function(draft: Draft) -> Values:
    """f(x, y) = <p, x> + <q, y> along y*(x) = Y x, linear all."""
    p, q, Y, size = draft["p"], draft["q"], draft["Y"], len(draft["p"])
    points = [*basis(size), draft["x"], draft["x_prime"], scale(fmpq(-1), p), q]
    top = posed_problems.largest(Y, size)
    samples = [*points, *([top[1]] if top[1] else [])]
    return {
        "f": lambda x, y: inner(p, x) + inner(q, y), "ys": linear(Y, size), "Lfx": above(norm(p)),
        "Lfy": above(norm(q)), "Ly": top[0], "x": draft["x"], "x_prime": draft["x_prime"], "X": samples, "V": samples,
    }  # fmt: skip


def two_blocks(draft: Draft) -> Values:
    """A pair (x, y) and the two blocks of a Jacobian."""
    A, B = draft["A"], draft["B"]
    (a, of_a), (b, of_b) = posed_problems.largest(A, 2), posed_problems.largest(B, 2)
    ends = [v for v in (of_a, of_b) if v]
    return {
        "A": linear(A, 2), "B": linear(B, 2), "a": a, "b": b, "x": draft["x"], "y": draft["y"],
        "X": [*basis(2), *ends, draft["x"]], "V": [*basis(2), *ends, draft["y"]],
    }  # fmt: skip


def one_row(scene: Scene) -> Values:
    """A row of the suite's h at y* and at another y."""
    if not scene.problem.p:
        raise InvalidInputError("problem", "must have a row", 0)
    row, m = scene.block("B")[0], scene.problem.m
    y, y_prime = (add(scene.y_star, scene.of(name, m)) for name in ("left", "y_star_off"))
    t = rational(scene.lower.h[0]) + inner(row, scene.y_star)
    values = [rational(scene.values.rows(scene.x, [fraction(value) for value in at])[0]) for at in (y, y_prime)]
    return {"row": row, "y": y, "y_prime": y_prime, "t": t, "difference": values[0] - values[1]}


def linear_part(scene: Scene) -> Values:
    """What an error of the multipliers adds to grad_y L."""
    there, m, B = theorem_variables.of_multipliers(scene), scene.problem.m, scene.rows_of("B")
    across = tuple(tuple(row[j] for row in B) for j in range(m))
    LB, of_rows = posed_problems.largest(across, len(B))
    C = above(norm(there["dl"])) / scene.alpha**3
    return there | {"LB": LB, "C": C, "W": [*basis(len(B)), *([of_rows] if of_rows else [])]}


def value_part(scene: Scene) -> Values:
    """grad_x g at y* and at a point within alpha cubed."""
    off = theorem_variables._within(scene.of("y_star_off", scene.problem.m), scene.alpha**3)
    y = add(scene.y_star, off)
    gx, gx_prime = scene.grad("g", "x", y), scene.grad("g", "x", scene.y_star)
    distance = min(above(norm(off)), scene.alpha**3)
    if distance == 0:
        raise InvalidInputError("y_star_off", "must not be 0", 0)
    return {
        "gx": gx, "gx_prime": gx_prime, "alpha": scene.alpha, "distance": distance,
        "Cg": above(norm(sub(gx, gx_prime))) / distance,
    }  # fmt: skip


def errors_apart(scene: Scene) -> Values:
    """The suite's estimate with every error, with one less at a time, and the gradient of F."""
    scene.convex()
    m, p = scene.problem.m, scene.problem.p
    exact, inexact = scene.lagrangian(exact=True), scene.lagrangian(exact=False)
    wrong_pair = scene.lagrangian(exact=False, exact_pair=False)
    y = inexact.minimiser(posed_problems.as_column(scene.of("left", m)))
    y_hat, y_pen = inexact.minimiser(), exact.minimiser()
    assert len(scene.of("dl", p)) == p
    return {
        "computed": entries(wrong_pair.estimate(y)), "at_minimiser": entries(wrong_pair.estimate(y_hat)),
        "at_multiplier": entries(inexact.estimate(y_hat)), "exact": entries(exact.estimate(y_pen)),
        "grad": scene.gradient,
    }  # fmt: skip


def change_of_gradient(scene: Scene) -> Values:
    """Strong monotonicity of grad_y g, between y* and y."""
    there = theorem_variables.at_point(scene)
    return there | {"change": there["dg"], "d": there["e"]}


def unit_alpha(draft: Draft) -> Values:
    return {"alpha": positive(draft["alpha"])}


def repaired_range(draft: Draft) -> Values:
    """An alpha at the end of the repaired range, or below it."""
    alpha, Cf = positive(draft["alpha"]), positive(draft["Cf"])
    return {"alpha": alpha, "Cf": Cf, "mu": 2 * Cf * alpha * alpha * (1 + abs(draft["more"]))}


def holder(draft: Draft) -> Values:
    """A remainder of order 3/2 at a distance of order alpha²."""
    alpha, C, H = positive(draft["alpha"]), positive(draft["C"]), positive(draft["H"])
    e = C * alpha * alpha * part(draft["part"])
    whole = H * (e * sqrt(e))
    rest = whole if isinstance(whole, fmpq) else outward(float(whole), -1)
    return {"alpha": alpha, "C": C, "H": H, "e": e, "rest": rest}


def product(draft: Draft) -> Values:
    """A weight and a row, linear in x both."""
    drho, dh, x, a, b = (draft[name] for name in ("drho", "dh", "x", "a", "b"))
    return {"rho": lambda t: a + drho * t, "h": lambda t: b + dh * t, "x": x, "drho": drho, "dh": dh}


def ramps(draft: Draft) -> Values:
    """Two rows' values and multipliers with the widths of their ramps; ``suite`` is the suite's own weight."""
    w, eps = positive(draft["w"]), positive(draft["eps"])
    at = {name: draft[name] for name in ("z", "z_prime", "h", "h_prime", "lam", "lam_prime")}
    near = {name: at[name] * w for name in ("z", "z_prime", "h", "h_prime")}
    near |= {name: at[name] * eps for name in ("lam", "lam_prime")}
    (rho,) = exact_weights((fraction(near["h"]),), (fraction(near["lam"]),), fraction(w), fraction(eps))
    return near | {"w": w, "width": w, "eps": eps, "suite": rational(rho)}


def inside_row(draft: Draft) -> Values:
    """A row further inside than its ramp is wide."""
    values = ramps(draft)
    return values | {"h": -values["w"] * (1 + positive(draft["h"]))}


def half_ramp(draft: Draft) -> Values:
    """A row at most half a width inside."""
    values = ramps(draft)
    return values | {"z": -values["w"] / 2 * part(draft["z"]) if draft["z"] < 0 else values["z"]}


def moved_weights(draft: Draft) -> Values:
    """Rows whose weights move: constants as small as the rows allow."""
    alpha, eps = positive(draft["alpha"]), positive(draft["eps"])
    drho, h, rows = list(draft["drho"]), list(draft["h"]), list(draft["row"])
    C = max(map(abs, drho)) * eps / alpha**3
    sequences = {"drho": drho, "h": h, "row": rows}
    return {name: of.__getitem__ for name, of in sequences.items()} | {
        "p": len(drho), "alpha": alpha, "eps": eps, "C": C, "H": max(map(abs, h)),
        "J": max(above(norm(v)) for v in rows), "naturals": range(len(drho)), "V": basis(2),
        "all": vsum(len(drho), rows.__getitem__),
    }  # fmt: skip


def two_parts(draft: Draft) -> Values:
    """The two parts of a change of grad_y L at a fixed y."""
    alpha = positive(draft["alpha"])
    line, moved = draft["line"], draft["moved"]
    return {
        "alpha": alpha, "linear": line, "moved": moved, "a": above(norm(line)) / alpha,
        "b": above(norm(moved)) * alpha,
    }  # fmt: skip


def three_errors(draft: Draft) -> Values:
    """Noise, deviation of the stages and bias at right angles."""
    e, (a, b, c, d) = basis(4), (draft[name] for name in ("a", "b", "c", "d"))
    return {"noise": scale(a, e[0]), "stages": scale(b, e[1]), "bias": add(scale(c, e[2]), scale(d, e[3]))}


def batches(draft: Draft) -> Values:
    """A batch about as large as it has to be, its root a rational."""
    alpha, s, root = positive(draft["alpha"]), positive(draft["s"]), 1 + int(12 * abs(draft["N"])) % 5
    N = fmpq(root * root)
    enough = s / (alpha * alpha) * (1 + abs(draft["more"]))
    return {
        "alpha": alpha, "s": s, "N": enough, "variance": s / enough * part(draft["part"]), "L": draft["L"],
        "whole": N, "root": fmpq(root),
    }  # fmt: skip


def batch_ends(draft: Draft) -> Values:
    """A deviation on either side of what a batch of a square number allows."""
    alpha, root = positive(draft["alpha"]), 1 + int(12 * abs(draft["N"])) % 5
    return {"alpha": alpha, "N": fmpq(root * root), "sigma": alpha * root * abs(1 + draft["off"] / 4)}


def at_zero(draft: Draft) -> Values:
    v: Point = draft["v"]
    return {"D": positive(draft["D"]), "v": scale(fmpq(0), v)}


def clipped(draft: Draft) -> Values:
    return {"D": positive(draft["D"]), "v": draft["v"]}


def call_counts(draft: Draft) -> Values:
    """The theorem's M and K, rounded up by as much as they may be, or less."""
    G, radius = positive(draft["G"]), positive(draft["radius"])
    eps = 6 * G * positive(draft["fraction"])
    C0 = radius * eps / 2 * abs(1 + draft["more"])
    M = 36 * (G * G) / (eps * eps) + part(draft["M"])
    return {"G": G, "eps": eps, "radius": radius, "C0": C0, "M": M, "K": 2 * C0 / (radius * eps) + part(draft["K"])}


def block(draft: Draft) -> Values:
    """Regret of a block at the theorem's step size."""
    D, G, root = positive(draft["D"]), positive(draft["G"]), 1 + int(12 * abs(draft["M"])) % 5
    eta, M = 2 * D / (G * root), fmpq(root * root)
    regret = 4 * D * D / (2 * eta) + eta / 2 * (M * (G * G)) - abs(draft["less"])
    return {"D": D, "G": G, "M": M, "eta": eta, "regret": regret}


__all__ = ["adjoint"]
