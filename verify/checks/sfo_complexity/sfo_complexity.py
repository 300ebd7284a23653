"""Theorem on the total number of stochastic gradient calls.

Outer steps are those of a subject's Algorithm 2 on the hardest known function; the calls of a step are what its
Algorithm 1 counts for itself, at lower-level accuracies that its iteration's exact law promises. What rests on both is
shown by whole runs of the two together, under the sampling plan in question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from verify.checks.goldstein_convergence.theorem import at_targets, rates
from verify.checks.inner_cost.oracle_call import accurate
from verify.checks.measuring.case import Case, Measurement, check, values_at
from verify.checks.measuring.estimates.second_look import looked_twice
from verify.checks.measuring.runs.iteration_runs import constant_step
from verify.checks.measuring.runs.outer_runs import SLOPES, SWEEP, batch, sweep
from verify.checks.sfo_complexity.whole_runs import FRESH, LARGER, SHARED, TINY, RunPlan, price, whole_run
from verify.evidence.model import Evidence, Point
from verify.evidence.rates.rates import SweepEstimate, fit_rate
from verify.subjects.stage_table import Capability

NAMES = ("epsilon", "goldstein_radius")
TOGETHER: tuple[Capability, ...] = ("optimise", "hypergradient_runs")
STEPS = {True: (0.37, 0.34, 0.31, 0.28), False: (0.32, 0.29, 0.26, 0.235)}
"""Targets at which one outer step is counted, for constant and for averaged steps, which reach their rate later."""


def plan_of(case: Case) -> RunPlan:
    """What the text under this reading draws: fresh samples, one shared, or fresh ones at the larger α."""
    step = case.claim.rpartition("/")[2]
    if case.as_written:
        return FRESH
    return {"shared-sample": SHARED, "larger-alpha": LARGER}.get(step, FRESH)


def priced(case: Case, plan: RunPlan) -> tuple[list[SweepEstimate], tuple[Evidence, ...]]:
    """Calls until the expected distance is ε: measured outer steps, each at the subject's own count of one call."""
    estimates, followed = sweep(case, SWEEP)
    costs = {e: price(case, plan, e) for e in {estimate.at["epsilon"] for estimate in estimates}}
    prices = [(e, costs[e.at["epsilon"]]) for e in estimates]
    return [replace(e, value=e.value * c, low=e.low * c, high=e.high * c) for e, c in prices], (followed,)


def _register_total(claim: str, quantity: str, *names: str) -> None:
    """A check of all calls until the expected distance is O(ε): exponents of the asserted variables."""

    @check(claim, instances=("absolute-fixed",), needs=TOGETHER, decisions=len(names), sure=5)
    def total(case: Case) -> Measurement:
        plan = plan_of(case)
        estimates, followed = priced(case, plan)
        run = whole_run(case, plan)
        note = (
            f"Outer steps on the hard function, each at the calls counted for n = m = p = 1. A whole run of both there "
            f"({plan.name}) took {run.calls.sum():,.0f} calls in {run.schedule.T} steps."
        )
        # The steps are a product of powers, held to be one apart; a call's own price bends, which inner-loops follows.
        fitted = rates(estimates, case.share, quantity, names, bends=False)
        return Measurement((*fitted, *followed, *run.evidence()), at_targets(estimates), note)


def _register_outer(claim: str, quantity: str, cost: Callable[[Case, float], float]) -> None:
    """A check of the outer steps times what each averages at a target ε: exponents of the asserted variables."""

    @check(claim, instances=("absolute-fixed",), needs=("optimise",), decisions=len(NAMES), sure=2)
    def count(case: Case) -> Measurement:
        return looked_twice(case, counted)

    def counted(case: Case) -> Measurement:
        steps, followed = sweep(case)
        prices = [(e, cost(case, e.at["epsilon"])) for e in steps]
        estimates = [replace(e, value=e.value * c, low=e.low * c, high=e.high * c) for e, c in prices]
        return Measurement((*rates(estimates, case.share, quantity, NAMES), followed), at_targets(estimates))


_register_total("sfo-complexity", "stochastic gradient calls", *NAMES)
_register_outer("sfo-complexity/outer-calls", "outer steps", lambda _case, _epsilon: 1.0)
_register_outer("sfo-complexity/batch-product", "T·N_g", batch)
# Samples that suffice with N_g = 1: an order that holds from both sides could not be undercut.
_register_outer("sfo-complexity/theta", "outer samples that suffice", lambda _case, _epsilon: 1.0)
_register_total("sfo-complexity/shared-sample", "gradients evaluated", *NAMES)
_register_total("sfo-complexity/larger-alpha", "stochastic gradient calls", *NAMES)


@check("sfo-complexity/lipschitz-constant", instances=("absolute-fixed",), needs=("optimise",), decisions=1, sure=2)
def slope(case: Case) -> Measurement:
    """Outer steps as F gets steeper, its gap and the targets held."""
    estimates, followed = sweep(case, SLOPES)
    fitted = rates(estimates, case.share, "outer steps", ("L_F",))
    return Measurement((*fitted, followed), {f"at L_F = {e.at['L_F']:g}": e.value for e in estimates})


@check("sfo-complexity/inner-loops", instances=("absolute-fixed",), needs=(*TOGETHER, "lower_level_runs"), decisions=1,
       sure=4)  # fmt: skip
def inner_loops(case: Case) -> Measurement:
    """Calls that the subject counts for one outer step at α = Θ(ε), the accuracy they buy, and a whole run of such."""
    points = [Point(at=e, measured=price(case, FRESH, e)) for e in STEPS[constant_step(case)]]
    rate = fit_rate(points, quantity="calls counted for one outer step", variable="epsilon")
    within = accurate(replace(case, instance=TINY))
    return Measurement((rate, within, *whole_run(case, FRESH).evidence()), values_at("at ε", points))
