"""The theorems' explicit problems, entered as problems and put through the suite's exact stages."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import fmpq

from spec import InvalidInputError, Quadratic, parse_problem
from spec.atlas import find
from verify.truth.algebra.rationals import fraction, rational
from verify.truth.formulas import Lagrangian
from verify.truth.point_values import PointValues
from verify.truth.theorems import posed_problems
from verify.truth.theorems.posed_problems import Draft, Scene, entries
from verify.truth.theorems.statement_values import Values

REALS = [fmpq(-2), fmpq(1, 3), fmpq(1), fmpq(7, 4)]


def _alpha(draft: Draft) -> fmpq:
    """An alpha below 1."""
    alpha: fmpq = abs(draft["alpha"])
    return alpha if alpha < 1 else 1 / (1 + alpha)


def _scene(problem: Any, x: Fraction, alpha: fmpq, rho: tuple[fmpq, ...]) -> Scene:
    return Scene(problem, (x,), alpha, {"rho": rho})


def _stages(scene: Scene) -> tuple[Lagrangian[Any], tuple[fmpq, ...]]:
    lagrangian = scene.lagrangian(exact=True)
    return lagrangian, entries(lagrangian.minimiser())


def _estimate(lagrangian: Lagrangian[Any], y: tuple[fmpq, ...], dual: str = "cancelled") -> fmpq:
    component: fmpq = entries(lagrangian.estimate(posed_problems.RATIONALS.vector([fraction(a) for a in y]), dual))[0]  # type: ignore[arg-type]
    return component


def toy1(draft: Draft) -> Values:
    """TOY1 at x = 1: its minimiser, its estimates, and its penalty Lagrangian in values."""
    alpha = _alpha(draft)
    u, delta, problem = alpha * alpha, alpha * alpha * alpha, find("toy1").problem
    assert isinstance(problem, Quadratic)
    scene = _scene(problem, Fraction(1), alpha, (fmpq(1),))
    lagrangian, (y,) = _stages(scene)
    values = PointValues(problem)

    def penalty(dual: Any, rho: Any, x: Any, at: Any) -> fmpq:
        def value(name: str, at_y: Any) -> fmpq:
            return rational(values.value(name, [fraction(fmpq(x))], [fraction(fmpq(at_y))]))

        def row(at_y: Any) -> fmpq:
            return rational(values.rows([fraction(fmpq(x))], [fraction(fmpq(at_y))])[0])

        lam, star = rational(scene.lower.lam[0]), scene.y_star[0]
        lower = value("g", at) + lam * row(at) - value("g", star) - dual * lam * row(star)
        lagrangian: fmpq = value("f", at) + lower / u + rho * row(at) * row(at) / (2 * u * u)
        return lagrangian

    frozen, cancelled = _estimate(lagrangian, (y,), "frozen"), _estimate(lagrangian, (y,))
    moved = _estimate(lagrangian, (y + delta,))
    weightless = _estimate(_scene(problem, Fraction(1), alpha, (fmpq(0),)).lagrangian(exact=True), (y,))
    almost = fmpq(97, 100)
    return {
        "alpha": alpha, "y": y, "reals": REALS, "frozen": frozen, "est": cancelled, "penalty": penalty,
        "weightless": weightless, "moved": moved - cancelled,
        "frozen_C": almost * abs(frozen - 1), "moved_C": almost * abs(moved - cancelled),
        "of_frozen": lambda _: {"alpha": alpha, "y": y, "est": frozen},
        "of_moved": lambda _: {"alpha": alpha, "y": y, "y_prime": y + delta, "est": cancelled, "est_prime": moved},
    }  # fmt: skip


def toy1_frozen(draft: Draft) -> Values:
    values = toy1(draft)
    return {"C": values["frozen_C"], "witness": values["of_frozen"], "reals": REALS}


def toy1_moved(draft: Draft) -> Values:
    values = toy1(draft)
    return {"C": values["moved_C"], "witness": values["of_moved"], "reals": REALS}


def row_scaling(draft: Draft) -> Values:
    """TOY1 with its row scaled by alpha."""
    alpha = _alpha(draft)
    problem = parse_problem({
        "kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]},
        "constraints": {"A": [[str(alpha)]], "B": [[str(alpha)]], "b": [0]},
    })  # fmt: skip
    lagrangian, (y,) = _stages(_scene(problem, Fraction(1), alpha, (fmpq(1),)))
    return {"alpha": alpha, "y": y, "witness": lambda _: {"y": y}, "est": _estimate(lagrangian, (y,))}


def kink(draft: Draft) -> Values:
    """TOY2 where its multiplier is alpha² times the ramp's width."""
    alpha, w = _alpha(draft), abs(draft["w"])
    u = alpha * alpha
    lagrangian, (y,) = _stages(_scene(find("toy2").problem, fraction(u * w), alpha, (u,)))
    return {"alpha": alpha, "w": w, "y": y, "witness": lambda _: {"y": y}, "est": _estimate(lagrangian, (y,))}


def switching(draft: Draft) -> Values:
    """Two rows that switch together, at x = alpha² w, weights as the ramp has them."""
    alpha, w = _alpha(draft), abs(draft["w"])
    half = "1/2"
    problem = parse_problem({
        "kind": "quadratic", "f": {"y": [2, -1]},
        "g": {"yy": [[1, half], [half, 1]], "xy": [[-2, "-5/2"]]},
        "constraints": {"A": [[0], [0]], "B": [[-1, 0], [0, -1]], "b": [0, 0]},
    })  # fmt: skip
    x = alpha * alpha * w
    rho = tuple(rational(value) / w for value in Scene(problem, (fraction(x),), alpha, {}).lower.lam)  # type: ignore[arg-type]
    lagrangian, y = _stages(_scene(problem, fraction(x), alpha, rho))
    shown = {"y1": y[0], "y2": y[1]}
    return {"alpha": alpha, "w": w, "est": _estimate(lagrangian, y), "witness": lambda _: shown} | shown


def numbers(draft: Draft) -> Values:
    """Plain numbers, those that have to be positive made so."""
    free = {"z", "x", "y1", "y2", "C"}
    return {name: value if name in free else abs(value) for name, value in draft.items()}


def lower_level_pair(draft: Draft) -> Values:
    values = numbers(draft)
    return values | {"y1": -abs(values["y1"]), "y2": -abs(values["y2"])}


def ramp(draft: Draft) -> Values:
    """A ramp at least twice as wide as the row may retreat, and the row there."""
    values = numbers(draft)
    retreat = values["b"] * values["delta"]
    return values | {"width": 2 * retreat * (1 + values["more"]), "z": -retreat * min(fmpq(1), values["part"])}


def unbounded_frozen(draft: Draft) -> Values:
    """An alpha, and a C just below what the theorem leaves there."""
    a, K, alpha = (*(abs(draft[name]) for name in ("a", "K")), _alpha(draft))
    u = alpha * alpha
    if not a:
        raise InvalidInputError("a", "must not be 0", 0)
    C = a / u - K * u - abs(a / u - K * u) * fmpq(3, 100)
    return {"a": a, "K": K, "C": C, "alpha": alpha, "witness": lambda _: {"alpha0": alpha * fmpq(101, 100)}}


def unbounded_pairing(draft: Draft) -> Values:
    sf, sg, alpha = (*(abs(draft[name]) for name in ("sf", "sg")), _alpha(draft))
    if not sg:
        raise InvalidInputError("sg", "must not be 0", 0)
    C = (sf + 2 * sg / (alpha * alpha * alpha * alpha)) * fmpq(97, 100)
    return {"sf": sf, "sg": sg, "C": C, "witness": lambda _: {"alpha": alpha}}


def printed_range(draft: Draft) -> Values:
    """Without rows, f = -Cf y²/2, g = mu y²/2: the smallest alpha in the printed range that is too large."""
    Cf, mu, up = (abs(draft[name]) for name in ("Cf", "mu", "up"))
    alpha = 2 * Cf / mu * (1 + up)
    if alpha * alpha * Cf <= mu:
        raise InvalidInputError("up", "must reach an alpha where the curvature is negative", str(up))
    problem = parse_problem({
        "kind": "quadratic", "f": {"yy": [[str(-Cf)]], "xy": [[0]]}, "g": {"yy": [[str(mu)]]},
        "constraints": {"A": [[0]], "B": [[0]], "b": [1]},
    })  # fmt: skip
    scene = _scene(problem, Fraction(0), alpha, ())
    H = scene.lagrangian(exact=True).H.entries[0, 0]
    return {"Cf": Cf, "mu": mu, "u": alpha * alpha, "alpha": alpha, "H": H, "witness": lambda _: {"alpha": alpha}}


def vanishing_moment(draft: Draft) -> Values:
    return {"L": abs(draft["L"]), "beta": abs(draft["beta"]), "Vv": fmpq(0)}
