"""Rates the paper quotes, beside what their sources state. Nothing is run: each fact carries its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from verify.checks.measuring.case import Case, Measurement, check
from verify.evidence.model import ComparisonEvidence, Evidence, RateEvidence


@dataclass(frozen=True)
class Fact:
    """One rate as its source states it.

    Args:
        exponents: Powers by variable.
        lower_bound: Whether the source (or the one named beside it) proves a lower bound of the same order.
        source: Where it stands.
    """

    exponents: dict[str, float]
    lower_bound: bool
    source: str


FACTS: dict[str, Fact] = {
    "stochastic-optimum": Fact(
        {"epsilon": -3.0, "goldstein_radius": -1.0}, True,
        "Cutkosky, Mehta, Orabona: Optimal Stochastic Non-smooth Non-convex Optimization through Online-to-Non-convex "
        "Conversion, ICML 2023, abstract and theorems on the upper and the lower bound",
    ),
    "deterministic-optimum": Fact(
        {"epsilon": -3.0, "goldstein_radius": -1.0}, False,
        "Zhang, Lin, Jegelka, Sra, Jadbabaie: Complexity of Finding Stationary Points of Nonconvex Nonsmooth "
        "Functions, ICML 2020: an upper bound for interpolated normalised gradient descent",
    ),
    "zeroth-order": Fact(
        {"d": 1.0, "epsilon": -3.0, "goldstein_radius": -1.0}, False,
        "Kornowski, Padmanabhan, Wang, Zhang, Sra: First-Order Methods for Linearly Constrained Bilevel Optimization, "
        "NeurIPS 2024, abstract: d/(δε³)",
    ),
    "first-order": Fact(
        {"epsilon": -4.0, "goldstein_radius": -1.0}, False,
        "Kornowski, Padmanabhan, Wang, Zhang, Sra: First-Order Methods for Linearly Constrained Bilevel Optimization, "
        "NeurIPS 2024, abstract: dimension-free 1/(δε⁴) with the optimal dual variable at hand",
    ),
    "unconstrained-penalty": Fact(
        {"epsilon": -6.0}, False,
        "Chen, Ma, Zhang: Near-Optimal Nonconvex-Strongly-Convex Bilevel Optimization with Fully First-Order Oracles, "
        "2023, abstract: ε⁻², and with noise ε⁻⁴ and ε⁻⁶",
    ),
}  # fmt: skip
PAPER_RATE = -5.0
"""The paper's own power of ε."""


def cited(case: Case, fact: Fact, quantity: str) -> tuple[Evidence, ...]:
    """The sourced exponents of the asserted variables, and the lower bound where the assertion needs one."""
    found: list[Evidence] = [
        _exponent(quantity, name, fact.exponents.get(name, 0.0), fact) for name in case.bound.exponents
    ]
    if case.bound.tag == "tight":
        found.append(
            ComparisonEvidence(
                quantity=f"lower bounds of that order in {fact.source}",
                measured=float(fact.lower_bound),
                relation=">=",
                predicted=1.0,
                rung="cited",
            )
        )
    return tuple(found)


def _exponent(
    quantity: str, variable: str, value: float, fact: Fact, role: Literal["conclusion", "support"] = "conclusion"
) -> RateEvidence:
    return RateEvidence(
        quantity=f"{quantity}, by {fact.source},", variable=variable, points=(), exponent=value,
        interval=(value, value), rung="cited", role=role,
    )  # fmt: skip


@check("related-rates", instances=("toy1",))
def stochastic_optimum(case: Case) -> Measurement:
    """Optimal stochastic nonsmooth rate, with matching bounds."""
    return Measurement(cited(case, FACTS["stochastic-optimum"], "the optimal rate"))


@check("related-rates/one-factor-gap", instances=("toy1",))
def gap_to_the_optimum(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """The paper's power of ε less the sourced optimum's."""
    fact = FACTS["stochastic-optimum"]
    gap = PAPER_RATE - fact.exponents["epsilon"]
    return Measurement((_exponent("the ratio of the paper's rate to the optimum", "epsilon", gap, fact),))


@check("related-rates/deterministic-optimum", instances=("toy1",))
def deterministic_optimum(case: Case) -> Measurement:
    """What the source quoted for the deterministic optimum proves."""
    return Measurement(cited(case, FACTS["deterministic-optimum"], "the deterministic rate"))


@check("related-rates/zeroth-order-dimension", instances=("toy1",))
def zeroth_order(case: Case) -> Measurement:
    """The dimension's power in the quoted zeroth-order rate."""
    return Measurement(cited(case, FACTS["zeroth-order"], "the zeroth-order rate"))


@check("related-rates/deterministic-first-order", instances=("toy1",))
def first_order(case: Case) -> Measurement:
    """The quoted first-order rate without noise."""
    return Measurement(cited(case, FACTS["first-order"], "the first-order rate"))


@check("related-rates/unconstrained-penalty", instances=("toy1",))
def unconstrained_penalty(case: Case) -> Measurement:
    """The quoted rate of fully stochastic penalty methods."""
    return Measurement(cited(case, FACTS["unconstrained-penalty"], "the fully stochastic rate"))
