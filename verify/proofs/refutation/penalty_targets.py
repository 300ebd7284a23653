"""Claims about the estimator's error at a regular point, decided by its leading exponent in alpha."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

from spec import REPAIRED
from spec.reading import find_choice
from verify.proofs.notation import decimals, function, term, vector
from verify.proofs.refutation.model import (
    SHOWN_ALPHA,
    Break,
    RefutationCase,
    RefutationTarget,
    conclusion,
    gradient,
    opening,
    penalty_point,
)
from verify.truth.algebra.rational_functions import Leading
from verify.truth.algebra.rationals import Vector
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily, error, estimator, minimiser, sampled_point
from verify.truth.functions_of_alpha.scenario import Error, Quantity, Scenario, exact_error
from verify.truth.functions_of_alpha.series import Spent, response, worst_direction, worst_scenario

MAPS = {"dual_term": ("map", "both-maps")}
"""The values under which the estimator differentiates the solution maps."""
Builder: TypeAlias = Callable[[RefutationCase, PenaltyFamily], Scenario | None]


def _about(claim: str, quantity: Quantity, name: str, build: Builder, *, scalar_only: bool = False) -> RefutationTarget:
    """A claim about a quantity under the errors its premises allow."""

    def decide(case: RefutationCase) -> Break | None:
        family = case.family
        if family is None:
            return None
        if quantity == "solution-shift" and case.reading.alpha_range == "lower-bound" and not case.problem.f.yy.is_zero:
            return None  # a hypothesis that bounds alpha from below says nothing about alpha -> 0
        scenario = build(case, family)
        if scenario is None or not case.is_broken_by(error(family, scenario, quantity).leading()):
            return None
        return _break(case, family, family.fitted(scenario), quantity, name)

    return RefutationTarget(claim, decide, scalar_only)


def _worst(*spent: Literal["minimiser", "lam", "y_star"], rows: Sequence[int] | None = None) -> Builder:
    """The stages named are off by δ = α³ in their worst directions; a gradient stop leaves α."""

    def build(case: RefutationCase, family: PenaltyFamily) -> Scenario:
        stopped: dict[Spent, int] = {"y_error": 3} if case.reading.inner_stop == "distance" else {"gradient_error": 1}
        powers = stopped if "minimiser" in spent else {}
        powers |= {"lam_error": 3} if "lam" in spent else {}
        powers |= {"y_star_error": 3} if "y_star" in spent else {}
        return worst_scenario(family, Scenario(dual_term=case.reading.dual_term), powers, rows)

    return build


def _inexact_active(case: RefutationCase, family: PenaltyFamily) -> Scenario | None:
    active = family.lower.active
    return _worst("lam", rows=active)(case, family) if active else None


def _everything_inexact(case: RefutationCase, family: PenaltyFamily) -> Scenario | None:
    """The least that breaks the bound: exact stages; an exact ỹ*, which every ramp weighs fully; one that a narrow ramp
    weighs at 0; all errors in their worst directions.
    """
    narrow = case.reading.ramp_width == "tau-delta" and case.problem.n == case.problem.m == case.problem.p == 1
    tried = (
        Scenario(dual_term=case.reading.dual_term),
        _worst("minimiser", "lam")(case, family),
        _retreat(case, family) if narrow else None,
    )
    for scenario in tried:
        if scenario is not None and case.is_broken_by(error(family, scenario, "bias").leading()):
            return scenario
    return _worst("minimiser", "lam", "y_star")(case, family)


def _retreat(case: RefutationCase, family: PenaltyFamily) -> Scenario | None:
    """ỹ* inside the feasible region by δ = α³: what is left of the active row's weight."""
    if not family.lower.strictly_active:
        return None
    slope = case.problem.constraints.B.to_fractions()[0][0]
    weight = Fraction(0)  # width δ² is passed at once
    if case.reading.ramp_width == "delta":
        weight = 1 - abs(slope) / (2 * max(Fraction(1), abs(slope)))
    inward = exact_error(3, [1 if slope > 0 else -1])
    return Scenario(dual_term=case.reading.dual_term, rho=(weight,), y_star_error=(inward,))


def _break(case: RefutationCase, family: PenaltyFamily, scenario: Scenario, quantity: Quantity, name: str) -> Break:
    lower = family.lower
    lines = [*opening(case, lower), gradient(family)]
    given: dict[str, str] = {}
    values = {"∇F": vector(family.hypergradient)}
    if spent := _errors(scenario.y_star_error):
        lines.append(f"Take ỹ* = y* {spent}, which the premise allows.")
        given["y_star"] = _argument(_moved(lower.y_star, scenario.y_star_error))
        if quantity == "bias" and scenario.rho and not any(scenario.rho) and lower.active:
            lines.append("There h(x, ỹ*) = -Bα³ lies below -τδ of order α⁶, so the ramp gives weight 0.")
    if spent := _errors(scenario.lam_error):
        lines.append(f"Take λ̃ = λ* {spent}, which the premise allows.")
        given["lam"] = _argument(_moved(lower.lam, scenario.lam_error))
    lines.append(penalty_point(family, scenario))
    if quantity == "solution-shift":
        lines.append(f"With λ* instead it is y_pen = {function(minimiser(family, Scenario(rho=scenario.rho)))}.")
    if spent := _errors(scenario.y_error):
        lines.append(f"Stop at ỹ = y_pen {spent}, within δ = α³.")
    if left := _errors(scenario.gradient_error):
        lines.append(f"Stop where ∇_yL = {left.removeprefix('+ ')}, of norm at most α.")
    if spent or left:
        given = {"y_star": _argument(lower.y_star), "lam": _argument(lower.lam)} | given
        given["y_penalty"] = _argument(sampled_point(family, scenario)(SHOWN_ALPHA))
    if quantity != "solution-shift":
        estimate = estimator(family, scenario)
        aside = {"cancelled": "", "frozen": ", the term α⁻²Aᵀλ̃ kept,"}.get(
            scenario.dual_term, f", {find_choice('dual_term').words(scenario.dual_term)},"
        )
        lines.append(f"The estimator ∇_xL there{aside} is {function(estimate)}.")
        values["estimate"] = vector(estimate(SHOWN_ALPHA))
    if quantity == "T1":
        at_minimiser = estimator(family, scenario.model_copy(update={"y_error": (), "gradient_error": ()}))
        lines.append(f"At y_pen itself it is {function(at_minimiser)}.")
        values["estimate at y_pen"] = vector(at_minimiser(SHOWN_ALPHA))
    difference = error(family, scenario, quantity)
    leading, shown = difference.leading(), difference(SHOWN_ALPHA)
    lines += [
        f"The difference is {function(difference)}.",
        conclusion(case, name, leading),
        f"At α = {SHOWN_ALPHA}: {name} = {decimals(shown)}.",
    ]
    values[name] = vector(shown)
    return Break.led_by(name, leading, lines, values=values, choices=_choices(case, given), given=given)


def _choices(case: RefutationCase, given: Mapping[str, str]) -> dict[str, str]:
    """Choices the printed estimate depends on, where they are not the repaired ones."""
    names = ["dual_term", *(["ramp_width"] if "y_star" in given and "y_penalty" not in given else [])]
    return {name: value for name in names if (value := getattr(case.reading, name)) != getattr(REPAIRED, name)}


def _errors(errors: Sequence[Error]) -> str:
    """``+ α³``, ``- 1/2·α³``, with its sign; empty where nothing is spent."""
    shown = [term(item.direction, item.power) for item in errors if any(item.direction)]
    return " ".join(f"- {text[1:]}" if text.startswith("-") else f"+ {text}" for text in shown)


def _moved(start: Vector, errors: Sequence[Error]) -> Vector:
    for item in errors:
        start = _plus(start, [v * SHOWN_ALPHA**item.power for v in item.direction])
    return start


def _plus(a: Vector, b: Sequence[Fraction]) -> Vector:
    return tuple(v + w for v, w in zip(a, b, strict=True))


def _argument(values: Vector) -> str:
    return ",".join(map(str, values))


def _inexact_multipliers(case: RefutationCase) -> Break | None:
    """At a regular point, or, with ε_λ = δ, where an active row has multiplier 0 and its weight is switched on."""
    return _REGULAR_T2.decide(case) or _weight_switched_on(case)


def _weight_switched_on(case: RefutationCase) -> Break | None:
    """λ* = 0 on an active row, λ̃ = ε_λ = δ there: the weight goes from 0 to 1, and the penalty minimiser with it."""
    lower, dual = case.lower, case.reading.dual_term
    if case.sense.multiplier_width != "shrinking" or lower is None or not (lower.weakly_active and lower.licq):
        return None
    # Two estimates are compared: no gradient of F is asked for, and at a kink there is none.
    family = PenaltyFamily.at(case.problem, case.x, (0,) * case.problem.n)
    first = lower.weakly_active[0]
    weights = tuple(Fraction(int(i in lower.strictly_active)) for i in range(case.problem.p))
    switched = tuple(Fraction(1) if i == first else weight for i, weight in enumerate(weights))
    slip = exact_error(3, [int(i == first) for i in range(case.problem.p)])
    before, after = Scenario(dual_term=dual, rho=weights), Scenario(dual_term=dual, rho=switched, lam_error=(slip,))
    ends = estimator(family, before), estimator(family, after)
    difference = ends[1] - ends[0]
    leading, shown, name = difference.leading(), difference(SHOWN_ALPHA), "T₂"
    if not case.is_broken_by(leading):
        return None
    lines = (
        *opening(case, lower),
        f"Take λ̃ = λ* {_errors([slip])}, which the premise allows, and ε_λ = δ = α³, which nothing excludes.",
        f"With λ* the weights are ρ = {vector(weights)}, the penalty minimiser is y_pen = "
        f"{function(minimiser(family, before))} and the estimator there {function(ends[0])}.",
        f"With λ̃ they are ρ = {vector(switched)}, y_pen = {function(minimiser(family, after))} and "
        f"{function(ends[1])}.",
        f"The difference is {function(difference)}.",
        conclusion(case, name, leading),
        f"At α = {SHOWN_ALPHA}: {name} = {decimals(shown)}.",
    )
    given = {
        "y_star": _argument(lower.y_star),
        "lam": _argument(_moved(lower.lam, [slip])),
        "rho": _argument(switched),
    }
    values = {name: vector(shown), "estimate": vector(ends[1](SHOWN_ALPHA))}
    return Break.led_by(name, leading, lines, values=values, choices=_choices(case, given), given=given)


def _lipschitz_in_y(case: RefutationCase) -> Break | None:
    family = case.family
    if family is None:
        return None
    leading = response(family, Scenario(), "y_error").leading()
    if not case.is_broken_by(leading):
        return None
    lower, scenario = family.lower, family.fitted(Scenario(dual_term=case.reading.dual_term))
    y_pen = minimiser(family, scenario)(SHOWN_ALPHA)
    ends = lower.y_star, _plus(lower.y_star, worst_direction(leading.array))
    slips = [exact_error(0, _plus(end, [-v for v in y_pen])) for end in ends]
    images = [estimator(family, scenario.model_copy(update={"y_error": (slip,)}))(SHOWN_ALPHA) for slip in slips]
    lines = (
        *opening(case, lower),
        f"The estimator is affine in y with slope f_xy + α⁻²g_xy - α⁻⁴Aᵀdiag(ρ)B, ρ = {vector(scenario.rho or ())}.",
        conclusion(case, "L_{H,y}", leading),
        f"At α = {SHOWN_ALPHA}: from ỹ = {vector(ends[0])} to ỹ = {vector(ends[1])} the estimate moves from "
        f"{vector(images[0])} to {vector(images[1])}.",
    )
    given = {"y_star": _argument(lower.y_star), "lam": _argument(lower.lam), "y_penalty": _argument(ends[1])}
    values = {f"estimate at ỹ = {vector(end)}": vector(image) for end, image in zip(ends, images, strict=True)}
    return Break.led_by("L_{H,y}", leading, lines, values=values, choices=_choices(case, given), given=given)


def _lipschitz_in_lam(case: RefutationCase) -> Break | None:
    """At a fixed y and with multipliers beyond the ramp only a frozen dual term depends on them."""
    family = case.family
    if family is None or case.reading.dual_term != "frozen":
        return None
    rows = case.problem.constraints.A.to_fractions()
    columns = tuple(zip(*rows, strict=True))
    entries = tuple(value for row in rows for value in row)
    leading = Leading(-2 if any(entries) else None, entries)
    if not case.is_broken_by(leading):
        return None
    lower = family.lower
    ends = lower.lam, _plus(lower.lam, worst_direction(case.problem.constraints.A.to_numpy().T))
    images = [tuple(sum((a * v for a, v in zip(c, end, strict=True)), Fraction(0)) / SHOWN_ALPHA**2 for c in columns)
              for end in ends]  # fmt: skip
    lines = (
        *opening(case, lower),
        "The estimator contains α⁻²Aᵀλ̃; its weights do not move with λ̃ beyond the ramp, so its slope in λ̃ is α⁻²Aᵀ.",
        conclusion(case, "L_{H,λ}", leading),
        f"At α = {SHOWN_ALPHA} and ỹ = y*: from λ̃ = {vector(ends[0])} to λ̃ = {vector(ends[1])} this term moves from "
        f"{vector(images[0])} to {vector(images[1])}.",
    )
    at = _argument(lower.y_star)
    given = {"y_star": at, "lam": _argument(ends[1]), "y_penalty": at}
    values = {f"α⁻²Aᵀλ̃ at λ̃ = {vector(end)}": vector(image) for end, image in zip(ends, images, strict=True)}
    return Break.led_by("L_{H,λ}", leading, lines, values=values, choices=_choices(case, given), given=given)


_REGULAR_T2 = _about("bias-bound/T2", "T2", "T₂", _worst("lam"))
TARGETS = (
    _about("bias-bound/T3", "T3", "T₃", _worst()),
    _about("bias-bound/T1", "T1", "T₁", _worst("minimiser")),
    # A kink has no solution maps, and a weight that grows like δ over a fixed ε_λ is no number.
    RefutationTarget("bias-bound/T2", _inexact_multipliers, beyond=MAPS | {"multiplier_width": ("fixed",)}),
    _about("bias-bound/y-star-error", "T2", "the change due to ỹ*", _worst("y_star")),
    _about("bias-bound", "bias", "the bias", _everything_inexact),
    _about("bias-bound/ramp", "bias", "the bias", _retreat, scalar_only=True),
    _about("solution-error", "solution-shift", "‖Δy‖", _worst("lam")),
    _about("solution-error/active-rows", "solution-shift", "‖Δy‖", _inexact_active),
    RefutationTarget("bias-bound/L-H-y", _lipschitz_in_y),
    # Without a frozen dual term it is the weights that move with λ̃, inside the ramp.
    RefutationTarget(
        "bias-bound/L-H-lambda", _lipschitz_in_lam, beyond={"dual_term": (*MAPS["dual_term"], "cancelled")}
    ),
)
