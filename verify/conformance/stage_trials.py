"""What the author of a Python subject runs first: is every offered stage called and answered in the right form?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from verify.conformance import inner_runs, outer
from verify.conformance.places import doubles, place_of
from verify.conformance.probe_set import (
    GRADIENT_NORM,
    activation_probe,
    lower_level_probe,
    off_truth,
    penalty_probe,
)
from verify.conformance.probes import Probe
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
    alone = (
        lower_level_probe(place), activation_probe("", doubles(place.lower.h), place.lam, 0.1, 0.1),
        penalty_probe(place, 0.1, tol=GRADIENT_NORM, name=""), off_truth(place, 0.1),
    )  # fmt: skip

    def shapes(probe: Probe) -> str:
        blocks = probe.blocks(stages)
        return ", ".join(f"{'y' if name == 'y_penalty' else name} {block.shape}" for name, block in blocks.items())

    def optimise() -> str:
        run = outer.record(stages, outer.trials()[2], 0).run
        return f"x_out {run.x_out.shape}, x_bar {run.x_bar.shape}, path {run.path.shape}"

    def statistics(setting: inner_runs.RunSetting) -> str:
        return f"{len(setting.signature(stages, 16))} statistics of 16 runs"

    trials: dict[Capability, Callable[[], str]] = {"optimise": optimise}
    trials |= {probe.stage: partial(shapes, probe) for probe in alone}
    return trials | {setting.stage: partial(statistics, setting) for setting in inner_runs.settings()}
