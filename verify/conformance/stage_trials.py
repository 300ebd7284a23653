"""What the author of a Python subject runs first: is every offered stage called and answered in the right form?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from verify.conformance import inner_runs, outer
from verify.conformance.places import LAM_WIDTH, exact, place_of, ramp_exactly
from verify.conformance.probes import off_truth
from verify.subjects import CAPABILITIES, Capability, MissingCapabilityError, Subject, SubjectFaultError
from verify.subjects.protocol import Stages

Line = tuple[str, bool, str]
"""A check's name, whether it passed, and what was found."""


def run_self_test(subject: Subject) -> list[Line]:
    """Call every stage once on a problem whose sizes n, m, p all differ.

    Returns:
        One line a stage: offered and well-formed, offered and at fault with the reason, or not offered.
    """
    stages = Stages(subject)
    trials = _trials(stages)
    found: list[Line] = []
    for stage in CAPABILITIES:
        if not stages.offers(stage):
            found.append((stage, True, "not offered; checks that need it will be not applicable"))
            continue
        try:
            found.append((stage, True, trials[stage]()))
        except MissingCapabilityError as error:
            found.append((stage, True, f"says it does not support this: {error}"))
        except (SubjectFaultError, outer.WrongNumberOfCallsError) as error:
            found.append((stage, False, str(error)))
    return found


def _trials(stages: Stages) -> dict[Capability, Callable[[], str]]:
    place = place_of("random-3x5x4")
    probe, x = off_truth(place, 0.1), place.x
    rho = ramp_exactly(exact(place.h), exact(place.lam), place.h_width(0.1), LAM_WIDTH)
    runs = {setting.stage: setting for setting in inner_runs.settings()}

    def lower_level() -> str:
        y_star, lam = stages.lower_level(place.problem, x)
        return f"y_star {y_star.shape}, lam {lam.shape}"

    def activation() -> str:
        return f"rho {stages.activation(place.h, place.lam, 0.1, 0.1).shape}"

    def penalty_minimiser() -> str:
        call = replace(probe.call, rho=rho, y_penalty=None)
        return f"y {stages.penalty_minimiser(place.problem, x, call, 1e-6).shape}"

    def hypergradient() -> str:
        return f"hypergradient {stages.hypergradient(place.problem, x, probe.call, np.random.default_rng(0)).shape}"

    def optimise() -> str:
        run = outer.record(stages, outer.trials()[2], 0).run
        return f"x_out {run.x_out.shape}, x_bar {run.x_bar.shape}, path {run.path.shape}"

    def of(stage: str) -> Callable[[], str]:
        def call() -> str:
            made = runs[stage].signature(stages, 16)  # type: ignore[index]  # one of the three
            return f"{len(made)} statistics of 16 runs"

        return call

    return {
        "lower_level": lower_level, "activation": activation, "penalty_minimiser": penalty_minimiser,
        "hypergradient": hypergradient, "optimise": optimise, "lower_level_runs": of("lower_level_runs"),
        "penalty_runs": of("penalty_runs"), "hypergradient_runs": of("hypergradient_runs"),
    }  # fmt: skip
