"""Theorem on the total number of stochastic gradient calls: exact counts of outer steps times what each step takes.

Counts of a step are for the lower level g = y²/2 with noise of variance σ², the easiest there is: N samples determine
its solution to σ/√N in mean square, and no unbiased method does better (Cramér and Rao).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from verify.checks.goldstein_convergence.theorem import rates
from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.outer_steps import SIGMA, SLOPES, batch, scaled, sweep
from verify.evidence.model import Point
from verify.evidence.sweeps import fit_rate

Plan = Literal["fresh", "shared"]
NAMES = ("epsilon", "goldstein_radius")
LONG_SWEEP = tuple(0.4 / 2**j for j in range(6))
"""Targets of the deterministic counts."""


def samples_for(accuracy: float) -> int:
    """Fewest samples that determine y* to a mean-square accuracy: σ²/N <= accuracy²."""
    return math.ceil(round(SIGMA**2 / accuracy**2, 6))


def shared(case: Case) -> bool:
    """Whether this statement's repaired text shares one sample among all phases of a step."""
    return case.claim.endswith("/shared-sample") and not case.as_written


def step_cost(case: Case, epsilon: float) -> int:
    """Samples of one outer step with α = ε: a lower-level solve to α³ and N_g answers, or one shared sample.

    One sample serves all phases where it determines the sampled problem's solution to α: the phases then see the same
    error, which the penalty does not amplify.
    """
    if shared(case):
        return samples_for(epsilon)
    return samples_for(epsilon**3) + batch(case, epsilon)


def _counted(case: Case, quantity: str, cost: Callable[[float], float]) -> Measurement:
    steps = sweep(case)
    estimates = scaled(steps, [cost(e.at["epsilon"]) for e in steps])
    found = rates(estimates, case.share, quantity, NAMES)
    values: dict[str, float | str] = {
        f"at ε = {e.at['epsilon']:g}, δ = {e.at['goldstein_radius']:g}": e.value for e in estimates
    }
    return Measurement(found, values, f"Outer steps measured on the hard function; a step at ε = 0.1 costs "
                                      f"{cost(0.1):,.0f} samples.")  # fmt: skip


@check("sfo-complexity", instances=("absolute-fixed",), needs=("optimise",), decisions=2, sure=1)
def total(case: Case) -> Measurement:
    """Outer steps times the samples of a step, inner loops included."""
    return _counted(case, "stochastic gradient calls", lambda e: step_cost(case, e))


@check("sfo-complexity/outer-calls", instances=("absolute-fixed",), needs=("optimise",), decisions=2, sure=1)
def outer_steps(case: Case) -> Measurement:
    """Outer steps alone."""
    return _counted(case, "outer steps", lambda _: 1.0)


@check("sfo-complexity/batch-product", instances=("absolute-fixed",), needs=("optimise",), decisions=2, sure=1)
def batch_product(case: Case) -> Measurement:
    """Outer steps times N_g under the reading's batch."""
    return _counted(case, "T·N_g", lambda e: batch(case, e))


@check("sfo-complexity/theta", instances=("absolute-fixed",), needs=("optimise",), decisions=2, sure=1)
def theta(case: Case) -> Measurement:
    """Samples that suffice with N_g = 1: an order that holds from both sides could not be undercut."""
    return _counted(case, "outer samples that suffice", lambda _: 1.0)


@check("sfo-complexity/shared-sample", instances=("absolute-fixed",), needs=("optimise",), decisions=2, sure=1)
def shared_sample(case: Case) -> Measurement:
    """Outer steps times the samples of a step under the sampling plan at hand."""
    return _counted(case, "samples drawn", lambda e: step_cost(case, e))


@check("sfo-complexity/larger-alpha", instances=("absolute-fixed",), needs=("optimise",), decisions=1, sure=1)
def larger_alpha(case: Case) -> Measurement:
    """The total at α = ε with accuracy α³, or at α = √ε with accuracy ε², which keep the bias O(ε)."""

    def cost(epsilon: float) -> int:
        return samples_for(epsilon**3 if case.as_written else epsilon**2) + 1

    made = _counted(case, "stochastic gradient calls", cost)
    kept = tuple(item for item in made.evidence if getattr(item, "variable", "epsilon") == "epsilon")
    return Measurement(kept, made.values, made.note)


@check("sfo-complexity/lipschitz-constant", instances=("absolute-fixed",), needs=("optimise",), decisions=1, sure=1)
def slope(case: Case) -> Measurement:
    """Outer steps as F gets steeper, its gap and the targets held."""
    estimates = sweep(case, SLOPES)
    found = rates(estimates, case.share, "outer steps", ("L_F",))
    return Measurement(found, {f"at L_F = {e.at['L_F']:g}": e.value for e in estimates})


@check("sfo-complexity/inner-loops", instances=("absolute-fixed",))
def inner_loops(case: Case) -> Measurement:
    """Samples of one outer step at α = ε, exactly counted."""
    points = [Point(at=e, measured=float(step_cost(case, e)), uncertainty=1.0) for e in LONG_SWEEP]
    rate = fit_rate(points, quantity="samples of one outer step", variable="epsilon")
    return Measurement((rate,), {f"at ε = {p.at:g}": p.measured for p in points})
