"""Claims about the estimator's error at a regular point, decided by its leading exponent in alpha."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from spec import REPAIRED
from verify.proofs.refutation.cases import SHOWN_ALPHA, Case, Explanation, Finding, Target
from verify.proofs.refutation.notation import function, term, vector
from verify.proofs.refutation.openings import conclusion, gradient, numbers, penalty_point, setting, solved
from verify.truth.algebra.rational_functions import Leading, RationalVector
from verify.truth.algebra.rationals import Vector
from verify.truth.penalty_functions import Family, error, estimator, minimiser, sampled_point
from verify.truth.scenario import Quantity, Scenario, exact_error
from verify.truth.series import Spent, response, worst_direction, worst_scenario

Builder = Callable[[Case, Family], Scenario | None]


def targets() -> list[Target]:
    """All of them."""
    return [
        _scenario_target("bias-bound/T3", "T3", "T₃", _exact),
        _scenario_target("bias-bound/T1", "T1", "T₁", _inexact_minimiser),
        _scenario_target("bias-bound/T2", "T2", "T₂", _inexact_multiplier),
        _scenario_target("bias-bound/y-star-error", "T2", "the change due to ỹ*", _inexact_solution),
        _scenario_target("bias-bound", "bias", "the bias", _everything_inexact),
        _scenario_target("bias-bound/ramp", "bias", "the bias", _retreat, scalar_only=True),
        _scenario_target("solution-error", "solution-shift", "‖Δy‖", _inexact_multiplier, in_y=True),
        _scenario_target("solution-error/active-rows", "solution-shift", "‖Δy‖", _inexact_active, in_y=True),
        Target("bias-bound/L-H-y", _lipschitz_in_y, _explain_lipschitz_in_y),
        Target("bias-bound/L-H-lambda", _lipschitz_in_lam, _explain_lipschitz_in_lam),
    ]


def _scenario_target(
    claim: str, quantity: Quantity, name: str, build: Builder, *, in_y: bool = False, scalar_only: bool = False
) -> Target:
    def decide(case: Case) -> Finding | None:
        family = case.family
        if family is None:
            return None
        if in_y and case.reading.alpha_range == "lower-bound" and not case.problem.f.yy.is_zero:
            return None  # a hypothesis that bounds alpha from below says nothing about alpha -> 0
        scenario = build(case, family)
        if scenario is None:
            return None
        made = error(family, scenario, quantity)
        return _finding(case, name, made.leading(), made)

    def explain(case: Case, finding: Finding) -> Explanation:
        family = case.family
        assert family is not None  # decided on it
        scenario = build(case, family)
        assert scenario is not None  # likewise
        return _explain(case, finding, family, family.fitted(scenario), quantity)

    return Target(claim, decide, explain, scalar_only)


def _finding(case: Case, name: str, leading: Leading, made: RationalVector | None) -> Finding:
    exponent = None if leading.exponent is None else Fraction(leading.exponent)
    broken = exponent is not None and case.claimed is not None and exponent < case.claimed
    if case.bound.tag == "tight":
        # A power met from both sides fails for faster decay as well; exactly zero meets it for want of any error.
        broken = exponent is not None and case.claimed is not None and exponent != case.claimed
    return Finding(broken, name, exponent, leading.coefficient, made)


def _exact(case: Case, _family: Family) -> Scenario:
    return Scenario(dual_term=case.reading.dual_term)


def _inexact_minimiser(case: Case, family: Family) -> Scenario:
    if case.reading.inner_stop == "distance":
        return worst_scenario(family, _exact(case, family), {"y_error": 3})
    return worst_scenario(family, _exact(case, family), {"gradient_error": 1})


def _inexact_multiplier(case: Case, family: Family) -> Scenario:
    return worst_scenario(family, _exact(case, family), {"lam_error": 3})


def _inexact_active(case: Case, family: Family) -> Scenario | None:
    active = family.lower.active
    return worst_scenario(family, _exact(case, family), {"lam_error": 3}, active) if active else None


def _inexact_solution(case: Case, family: Family) -> Scenario:
    return worst_scenario(family, _exact(case, family), {"y_star_error": 3})


def _everything_inexact(case: Case, family: Family) -> Scenario:
    """All errors in their worst directions, unless the exact stages break the bound already."""
    exact = _exact(case, family)
    if _finding(case, "", error(family, exact, "bias").leading(), None).broken:
        return exact
    stopped: dict[Spent, int] = {"y_error": 3} if case.reading.inner_stop == "distance" else {"gradient_error": 1}
    return worst_scenario(family, exact, {**stopped, "lam_error": 3, "y_star_error": 3})


def _retreat(case: Case, family: Family) -> Scenario | None:
    """ỹ* inside the feasible region by δ = α³: what is left of the active row's weight."""
    if not case.is_scalar or not family.lower.strictly_active:
        return None
    slope = case.problem.constraints.B.to_fractions()[0][0]
    kept = Fraction(0)  # width δ² is passed at once
    if case.reading.ramp_width == "delta":
        kept = 1 - abs(slope) / (2 * max(Fraction(1), abs(slope)))
    inward = exact_error(3, [1 if slope > 0 else -1])
    return Scenario(dual_term=case.reading.dual_term, rho=(kept,), y_star_error=(inward,))


def _explain(case: Case, finding: Finding, family: Family, scenario: Scenario, quantity: Quantity) -> Explanation:
    lines = [setting(case), solved(family.lower), gradient(family)]
    given: dict[str, str] = {}
    values = {"∇F": vector(family.hypergradient)}
    if _spends(scenario, "y_star_error"):
        lines.append(f"Take ỹ* = y* {_errors(scenario, 'y_star_error')}, which the premise allows.")
        moved = _moved(family.lower.y_star, scenario, "y_star_error")
        given["y_star"] = _argument(moved)
        if quantity == "bias" and scenario.rho and not any(scenario.rho) and family.lower.active:
            lines.append("There h(x, ỹ*) = -Bα³ lies below -τδ of order α⁶, so the ramp gives weight 0.")
    if _spends(scenario, "lam_error"):
        lines.append(f"Take λ̃ = λ* {_errors(scenario, 'lam_error')}, which the premise allows.")
        given["lam"] = _argument(_moved(family.lower.lam, scenario, "lam_error"))
    lines.append(penalty_point(family, scenario))
    if quantity == "solution-shift":
        lines.append(f"With λ* instead it is y_pen = {function(minimiser(family, Scenario(rho=scenario.rho)))}.")
    if _spends(scenario, "y_error"):
        lines.append(f"Stop at ỹ = y_pen {_errors(scenario, 'y_error')}, within δ = α³.")
    if _spends(scenario, "gradient_error"):
        lines.append(f"Stop where ∇_yL = {_errors(scenario, 'gradient_error').removeprefix('+ ')}, of norm at most α.")
    if _spends(scenario, "y_error") or _spends(scenario, "gradient_error"):
        given |= {"y_star": given.get("y_star") or _argument(family.lower.y_star)}
        given |= {"lam": given.get("lam") or _argument(family.lower.lam)}
        given["y_penalty"] = _argument(sampled_point(family, scenario)(SHOWN_ALPHA))
    if quantity != "solution-shift":
        made = estimator(family, scenario)
        kept = ", the term α⁻²Aᵀλ̃ kept," if scenario.dual_term == "frozen" else ""
        lines.append(f"The estimator ∇_xL there{kept} is {function(made)}.")
        values["estimate"] = vector(made(SHOWN_ALPHA))
        if quantity == "T1":
            at_minimiser = estimator(family, scenario.model_copy(update={"y_error": (), "gradient_error": ()}))
            lines.append(f"At y_pen itself it is {function(at_minimiser)}.")
            values["estimate at y_pen"] = vector(at_minimiser(SHOWN_ALPHA))
    assert finding.function is not None  # decided by it
    at_shown = finding.function(SHOWN_ALPHA)
    lines.append(f"The difference is {function(finding.function)}.")
    lines.append(conclusion(case, finding))
    shown = f"{finding.quantity} = {numbers(at_shown)}"
    lines.append(f"At α = {SHOWN_ALPHA}: {shown}.")
    values[finding.quantity] = vector(at_shown)
    return Explanation(tuple(lines), values, _choices(case, given), given)


def _choices(case: Case, given: Mapping[str, str]) -> dict[str, str]:
    """Choices the printed estimate depends on, where they are not the repaired ones."""
    names = ["dual_term", *(["ramp_width"] if "y_star" in given and "y_penalty" not in given else [])]
    return {name: value for name in names if (value := getattr(case.reading, name)) != getattr(REPAIRED, name)}


def _spends(scenario: Scenario, name: str) -> bool:
    return any(any(item.direction) for item in getattr(scenario, name))


def _errors(scenario: Scenario, name: str) -> str:
    """``+ α³``, ``- 1/2·α³``, with its sign."""
    shown = [term(item.direction, item.power) for item in getattr(scenario, name) if any(item.direction)]
    return " ".join(f"- {text[1:]}" if text.startswith("-") else f"+ {text}" for text in shown)


def _moved(start: Vector, scenario: Scenario, name: str) -> Vector:
    total = list(start)
    for item in getattr(scenario, name):
        total = [a + v * SHOWN_ALPHA**item.power for a, v in zip(total, item.direction, strict=True)]
    return tuple(total)


def _argument(values: Vector) -> str:
    return ",".join(map(str, values))


def _lipschitz_in_y(case: Case) -> Finding | None:
    if case.family is None:
        return None
    return _finding(case, "L_{H,y}", response(case.family, Scenario(), "y_error").leading(), None)


def _explain_lipschitz_in_y(case: Case, finding: Finding) -> Explanation:
    family = case.family
    assert family is not None  # decided on it
    scenario = family.fitted(_exact(case, family))
    unit = worst_direction(response(family, Scenario(), "y_error").leading().array)
    zero = (Fraction(0),) * len(unit)
    at_y = [a - b for a, b in zip(family.lower.y_star, minimiser(family, scenario)(SHOWN_ALPHA), strict=True)]
    moved = [a + b for a, b in zip(at_y, unit, strict=True)]
    slips = [scenario.model_copy(update={"y_error": (exact_error(0, slip),)}) for slip in (at_y, moved)]
    here, there = (estimator(family, slip)(SHOWN_ALPHA) for slip in slips)
    ends = [tuple(a + b for a, b in zip(family.lower.y_star, step, strict=True)) for step in (zero, unit)]
    lines = (
        setting(case),
        solved(family.lower),
        f"The estimator is affine in y with slope f_xy + α⁻²g_xy - α⁻⁴Aᵀdiag(ρ)B, ρ = {vector(scenario.rho or ())}.",
        conclusion(case, finding),
        f"At α = {SHOWN_ALPHA}: from ỹ = {vector(ends[0])} to ỹ = {vector(ends[1])} the estimate moves from "
        f"{vector(here)} to {vector(there)}.",
    )
    given = {
        "y_star": _argument(family.lower.y_star),
        "lam": _argument(family.lower.lam),
        "y_penalty": _argument(ends[1]),
    }
    values = {f"estimate at ỹ = {vector(end)}": vector(value) for end, value in zip(ends, (here, there), strict=True)}
    return Explanation(lines, values, _choices(case, given), given)


def _lipschitz_in_lam(case: Case) -> Finding | None:
    """At a fixed y and with multipliers beyond the ramp only a frozen dual term depends on them."""
    if case.family is None:
        return None
    rows = case.problem.constraints.A.to_fractions()
    entries = tuple(value for row in rows for value in row)
    kept = case.reading.dual_term == "frozen" and any(entries)
    return _finding(case, "L_{H,λ}", Leading(-2 if kept else None, entries), None)


def _explain_lipschitz_in_lam(case: Case, finding: Finding) -> Explanation:
    family = case.family
    assert family is not None  # decided on it
    y = family.lower.y_star
    at = worst_direction(case.problem.constraints.A.to_numpy().T)
    ends = [family.lower.lam, tuple(a + b for a, b in zip(family.lower.lam, at, strict=True))]
    columns = list(zip(*case.problem.constraints.A.to_fractions(), strict=True))
    dual = [tuple(sum((a * v for a, v in zip(column, end, strict=True)), Fraction(0)) / SHOWN_ALPHA**2 for column in
                  columns) for end in ends]  # fmt: skip
    lines = (
        setting(case),
        solved(family.lower),
        "The estimator contains α⁻²Aᵀλ̃; its weights do not move with λ̃ beyond the ramp, so its slope in λ̃ is α⁻²Aᵀ.",
        conclusion(case, finding),
        f"At α = {SHOWN_ALPHA} and ỹ = y*: from λ̃ = {vector(ends[0])} to λ̃ = {vector(ends[1])} this term moves from "
        f"{vector(dual[0])} to {vector(dual[1])}.",
    )
    given = {"y_star": _argument(y), "lam": _argument(ends[1]), "y_penalty": _argument(y)}
    values = {f"α⁻²Aᵀλ̃ at λ̃ = {vector(end)}": vector(value) for end, value in zip(ends, dual, strict=True)}
    return Explanation(lines, values, _choices(case, given), given)
