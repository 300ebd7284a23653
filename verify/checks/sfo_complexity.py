"""Theorem on the total number of stochastic gradient calls, and the rates of others that the paper quotes beside it.

The total is exact counts of outer steps times what each step takes. Counts of a step are for the lower level
g = y²/2 with noise of variance σ², the easiest there is: N samples determine its solution to σ/√N in mean square, and
no unbiased method does better (Cramér and Rao). For quoted rates nothing is run: each fact carries its source.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from verify.checks.goldstein_convergence.theorem import at_targets, rates
from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.outer_runs import SIGMA, SLOPES, batch, sweep
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates import fit_rate

NAMES = ("epsilon", "goldstein_radius")
LONG_SWEEP = tuple(0.4 / 2**j for j in range(6))
"""Targets of the deterministic counts."""


def samples_for(accuracy: float) -> int:
    """Fewest samples that determine y* to a mean-square accuracy: σ²/N <= accuracy²."""
    return math.ceil(round(SIGMA**2 / accuracy**2, 6))


def step_cost(case: Case, epsilon: float) -> int:
    """Samples of one outer step with α = ε: a lower-level solve to α³ and N_g answers, or one shared sample.

    One sample serves all phases where it determines the sampled problem's solution to α: the phases then see the same
    error, which the penalty does not amplify.
    """
    if case.claim.endswith("/shared-sample") and not case.as_written:
        return samples_for(epsilon)
    return samples_for(epsilon**3) + batch(case, epsilon)


def larger_alpha_cost(case: Case, epsilon: float) -> int:
    """Samples of one outer step at α = ε with accuracy α³, or at α = √ε with accuracy ε², which keep the bias O(ε)."""
    return samples_for(epsilon**3 if case.as_written else epsilon**2) + 1


def _register(claim: str, quantity: str, cost: Callable[[Case, float], float], *names: str) -> None:
    """A check of the outer steps times what each takes at a target ε: exponents of the asserted variables."""

    @check(claim, instances=("absolute-fixed",), needs=("optimise",), decisions=len(names), sure=1)
    def count(case: Case) -> Measurement:
        priced = [(e, cost(case, e.at["epsilon"])) for e in sweep(case)]
        estimates = [replace(e, value=e.value * c, low=e.low * c, high=e.high * c) for e, c in priced]
        note = f"Outer steps measured on the hard function; a step at ε = 0.1 costs {cost(case, 0.1):,.0f} samples."
        return Measurement(rates(estimates, case.share, quantity, names), at_targets(estimates), note)


_register("sfo-complexity", "stochastic gradient calls", step_cost, *NAMES)
_register("sfo-complexity/outer-calls", "outer steps", lambda _case, _epsilon: 1.0, *NAMES)
_register("sfo-complexity/batch-product", "T·N_g", batch, *NAMES)
# Samples that suffice with N_g = 1: an order that holds from both sides could not be undercut.
_register("sfo-complexity/theta", "outer samples that suffice", lambda _case, _epsilon: 1.0, *NAMES)
_register("sfo-complexity/shared-sample", "samples drawn", step_cost, *NAMES)
_register("sfo-complexity/larger-alpha", "stochastic gradient calls", larger_alpha_cost, "epsilon")


@check("sfo-complexity/lipschitz-constant", instances=("absolute-fixed",), needs=("optimise",), decisions=1, sure=1)
def slope(case: Case) -> Measurement:
    """Outer steps as F gets steeper, its gap and the targets held."""
    estimates = sweep(case, SLOPES)
    fitted = rates(estimates, case.share, "outer steps", ("L_F",))
    return Measurement(fitted, {f"at L_F = {e.at['L_F']:g}": e.value for e in estimates})


@check("sfo-complexity/inner-loops", instances=("absolute-fixed",))
def inner_loops(case: Case) -> Measurement:
    """Samples of one outer step at α = ε, exactly counted."""
    points = [Point(at=e, measured=float(step_cost(case, e)), uncertainty=1.0) for e in LONG_SWEEP]
    rate = fit_rate(points, quantity="samples of one outer step", variable="epsilon")
    return Measurement((rate,), values_at("at ε", points))


@dataclass(frozen=True)
class Fact:
    """One rate as its source states it: powers by variable, whether a lower bound of the same order is proven."""

    quantity: str
    exponents: dict[str, float]
    lower_bound: bool
    source: str

    def stated(self, variable: str, value: float, quantity: str = "") -> RateEvidence:
        """A power as evidence, of the fact's own quantity or of what follows from it."""
        return RateEvidence(
            quantity=f"{quantity or self.quantity}, by {self.source},", variable=variable, points=(), exponent=value,
            interval=(value, value), rung="cited",
        )  # fmt: skip


KORNOWSKI = ("Kornowski, Padmanabhan, Wang, Zhang, Sra: First-Order Methods for Linearly Constrained Bilevel "
             "Optimization, NeurIPS 2024")  # fmt: skip
FACTS = {
    "related-rates": Fact(
        "the optimal rate", {"epsilon": -3.0, "goldstein_radius": -1.0}, True,
        "Cutkosky, Mehta, Orabona: Optimal Stochastic Non-smooth Non-convex Optimization through Online-to-Non-convex "
        "Conversion, ICML 2023, abstract and theorems on the upper and the lower bound",
    ),
    "related-rates/deterministic-optimum": Fact(
        "the deterministic rate", {"epsilon": -3.0, "goldstein_radius": -1.0}, False,
        "Zhang, Lin, Jegelka, Sra, Jadbabaie: Complexity of Finding Stationary Points of Nonconvex Nonsmooth "
        "Functions, ICML 2020: an upper bound for interpolated normalised gradient descent",
    ),
    "related-rates/zeroth-order-dimension": Fact(
        "the zeroth-order rate", {"d": 1.0, "epsilon": -3.0, "goldstein_radius": -1.0}, False,
        f"{KORNOWSKI}, abstract: d/(δε³)",
    ),
    "related-rates/deterministic-first-order": Fact(
        "the first-order rate", {"epsilon": -4.0, "goldstein_radius": -1.0}, False,
        f"{KORNOWSKI}, abstract: dimension-free 1/(δε⁴) with the optimal dual variable at hand",
    ),
    "related-rates/unconstrained-penalty": Fact(
        "the fully stochastic rate", {"epsilon": -6.0}, False,
        "Chen, Ma, Zhang: Near-Optimal Nonconvex-Strongly-Convex Bilevel Optimization with Fully First-Order Oracles, "
        "2023, abstract: ε⁻², and with noise ε⁻⁴ and ε⁻⁶",
    ),
}  # fmt: skip
PAPER_RATE = -5.0
"""The paper's own power of ε."""


def _register_fact(claim: str, fact: Fact) -> None:
    @check(claim, instances=("toy1",))
    def cited(case: Case) -> Measurement:
        order = f"lower bounds of that order in {fact.source}"
        lower = compare(order, float(fact.lower_bound), ">=", 1.0, rung="cited")
        stated = (fact.stated(name, fact.exponents.get(name, 0.0)) for name in case.bound.exponents)
        return Measurement((*stated, lower) if case.bound.tag == "tight" else tuple(stated))


for _claim, _fact in FACTS.items():
    _register_fact(_claim, _fact)


@check("related-rates/one-factor-gap", instances=("toy1",))
def gap_to_the_optimum(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """The paper's power of ε less the sourced optimum's."""
    fact = FACTS["related-rates"]
    gap = PAPER_RATE - fact.exponents["epsilon"]
    return Measurement((fact.stated("epsilon", gap, "the ratio of the paper's rate to the optimum"),))
