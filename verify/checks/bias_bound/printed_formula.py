"""The printed penalty Lagrangian as a function of x: whose estimator it gives, and which derivatives it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import fmpq_mat

from spec import REPAIRED, InvalidInputError, Quadratic
from spec.exact import ExactArray
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.formula_evidence import brought
from verify.checks.measuring.premises import feasible, regular_truth
from verify.truth.algebra.numbers import Real, double
from verify.truth.algebra.rationals import Vector, column, fraction, fractions, matrix
from verify.truth.formulas import length, minus
from verify.truth.geometry import quadratic_of
from verify.truth.lower_level import lower_level
from verify.truth.point_values import PointValues, derivative, moved, quiet_step
from verify.truth.stages import ExactSetting, evaluate

ALPHA = Fraction(1, 10)
MapOfX = Callable[[Vector], Vector]
SLOPE_STEP = Fraction(1, 1000)


def printed_lagrangian(
    values: PointValues, y: Vector, rho: Vector, y_star: MapOfX, lam: MapOfX
) -> Callable[[Vector], Fraction]:
    """L as printed at a fixed y, a function of x: f + α₁(g + λᵀh - g(x, y*(x))) + ½α₂Σρ_i h_i², the weights held."""

    def L(x: Vector) -> Fraction:  # noqa: N802  # the paper's letter
        h = values.rows(x, y)
        gap = values.value("g", x, y) - values.value("g", x, y_star(x))
        pull = sum((a * b for a, b in zip(lam(x), h, strict=True)), Fraction(0))
        squares = sum((r * v * v for r, v in zip(rho, h, strict=True)), Fraction(0))
        return values.value("f", x, y) + ALPHA**-2 * (gap + pull) + ALPHA**-4 / 2 * squares

    return L


def _solution_of(problem: Quadratic, error: Vector | None = None) -> MapOfX:
    """y* as a function of x, off by an error that is the same everywhere."""

    def y_star(x: Vector) -> Vector:
        exact = lower_level.solve(problem, x).y_star
        return exact if error is None else tuple(a + b for a, b in zip(exact, error, strict=True))

    return y_star


@check("bias-bound/first-order-only", instances=("two-of-three", "box-rational", "random-2x3x4"))
def second_derivatives(case: Case) -> Measurement:
    """How ∇_xL differs between two problems with equal gradients of g at both points used, and other curvature.

    Where ỹ*, or λ̃ too, is a map of x it moves with it; held fixed, or cancelled, they are numbers once computed.
    """
    truth, problem, x = regular_truth(case.instance), quadratic_of(case.instance.problem), case.instance.x
    rho, lower = tuple(map(Fraction, truth.active.tolist())), feasible(case.instance)
    y = evaluate(ExactSetting(problem, x, ALPHA, given={"rho": rho})).y_penalty
    away = tuple(a - b for a, b in zip(y, lower.y_star, strict=True))
    # ỹ* is off by at most δ, towards the penalty minimiser: both points lie on one line through y*.
    error = tuple(ALPHA**3 * v / sum(map(abs, away)) for v in away)
    y_star = tuple(a + b for a, b in zip(lower.y_star, error, strict=True))
    twin = twin_of(problem, x, y_star, error)
    both = (problem, twin)
    gradients = [PointValues(p).gradient("g", x, at) for p in both for at in (y, y_star)]
    equal = length(minus(gradients[0] + gradients[1], gradients[2] + gradients[3]))
    if case.reading.dual_term in ("map", "both-maps"):
        step = min(quiet_step(p, x) for p in both)
        lam_of = _multipliers_of if case.reading.dual_term == "both-maps" else lambda _: lambda _: lower.lam
        slopes = [
            derivative(printed_lagrangian(PointValues(p), y, rho, _solution_of(p, error), lam_of(p)), x, step)
            for p in both
        ]
    else:
        reading = REPAIRED.choose(dual_term=case.reading.dual_term)
        given = {"y_star": y_star, "lam": lower.lam, "rho": rho, "y_penalty": y}
        slopes = [_rational(evaluate(ExactSetting(p, x, ALPHA, reading, given=given)).hypergradient) for p in both]
    quantity = "change of ∇_xL when g keeps its gradients and changes its second derivatives"
    return Measurement((
        compare(quantity, length(minus(*slopes)), "==", 0.0, rung="certified"),
        compare("change of the gradients of g at ỹ and ỹ*", equal, "==", 0.0, rung="certified"),
    ), {"curvature changed by": float(_curvature_change(problem, twin))})  # fmt: skip


def _rational(values: Sequence[Real]) -> Vector:
    """Noise-free values, which are rationals."""
    return tuple(value if isinstance(value, Fraction) else Fraction(double(value)) for value in values)


def _multipliers_of(problem: Quadratic) -> MapOfX:
    return lambda x: lower_level.solve(problem, x).lam


def twin_of(problem: Quadratic, x: Vector, y_star: Vector, along: Vector) -> Quadratic:
    """A problem whose g has the same gradients at x and y_star + t·along for every t, and other curvature.

    With v across ``along`` and u any direction of x, g_yy grows by vvᵀ and g_xy by uvᵀ, which the linear parts
    make up for.
    """
    v = _across(along)
    u = (Fraction(1),) * problem.n
    at_y = sum((a * b for a, b in zip(v, y_star, strict=True)), Fraction(0))
    at_x = sum((a * b for a, b in zip(u, x, strict=True)), Fraction(0))
    g, data = problem.g, problem.to_dict()
    data["g"] = {
        "xx": g.xx.to_list(), "xy": _plus(g.xy, [[a * b for b in v] for a in u]),
        "yy": _plus(g.yy, [[a * b for b in v] for a in v]),
        "x": _plus(g.x, [[-at_y * a for a in u]])[0], "y": _plus(g.y, [[-(at_y + at_x) * b for b in v]])[0],
    }  # fmt: skip
    return Quadratic.model_validate(data)


def _across(direction: Vector) -> Vector:
    """A rational vector orthogonal to a direction, in at least two dimensions, that moves as many entries as it can."""
    if len(direction) < 2:
        raise InvalidInputError("direction", "must have at least two entries", len(direction))
    ones = (Fraction(1),) * len(direction)
    square = sum((v * v for v in direction), Fraction(0))
    share = sum(direction, Fraction(0)) / square if square else Fraction(0)
    orthogonal = tuple(a - share * b for a, b in zip(ones, direction, strict=True))
    return orthogonal if any(orthogonal) else (direction[1], -direction[0], *([Fraction(0)] * (len(direction) - 2)))


def _plus(array: ExactArray, change: list[list[Fraction]]) -> list[list[str]]:
    rows = array.to_fractions()
    return [[str(a + b) for a, b in zip(row, more, strict=True)] for row, more in zip(rows, change, strict=True)]


def _curvature_change(problem: Quadratic, twin: Quadratic) -> Fraction:
    change: fmpq_mat = matrix(twin.g.yy) - matrix(problem.g.yy)
    return sum((abs(fraction(value)) for value in change.entries()), Fraction(0))


@check("bias-bound/gradient-exists", instances=("kink", "toy2", "weakly-active", "toy1", "two-of-three"))
def gradient_of_F(case: Case) -> Measurement:  # noqa: N802  # the paper's letter
    """Difference of F's one-sided slopes along the axes, exact: at the instance's point and, as written, its kink."""
    problem, instance = quadratic_of(case.instance.problem), case.instance
    places = [instance.x]
    if case.as_written and "kink" in instance.known:
        places.append((Fraction(instance.known["kink"]),))
    if not case.as_written:
        regular_truth(instance)
    jumps = {place: max(slope_jump(problem, place, i) for i in range(problem.n)) for place in places}
    worst = max(jumps, key=lambda place: jumps[place])
    at = ", ".join(map(str, worst))
    evidence = brought(case, (jumps[worst],), context={"x": at})
    return Measurement(evidence, {"x": at, "difference": float(jumps[worst])})


def slope_jump(problem: Quadratic, x: Vector, i: int) -> Fraction:
    """|F′(x; e_i) + F′(x; -e_i)| by three-point differences, exact on a piece; the step shrinks until both agree."""
    values, here, step = PointValues(problem), column(x), SLOPE_STEP

    def F(by: Fraction) -> Fraction:  # noqa: N802  # the paper's letter
        at = moved(fractions(here), i, by)
        return values.value("f", at, lower_level.solve(problem, at).y_star)

    def slope(h: Fraction) -> Fraction:
        return (4 * F(h) - F(2 * h) - 3 * F(Fraction(0))) / (2 * h)

    while any(slope(s * step) != slope(s * step / 2) for s in (1, -1)):
        step /= 2
    return abs(slope(step) - slope(-step))
