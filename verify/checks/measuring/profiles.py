"""How much work a run does: sweeps, sample sizes and which instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from spec.errors import InvalidInputError

ProfileName = Literal["smoke", "ci", "full", "conform"]


@dataclass(frozen=True)
class Profile:
    """Sizes of one run.

    Args:
        name: As on the command line.
        alphas: Sweep of alpha towards zero; reaches beyond the floating-point floor on purpose, so a report can
            show where double precision ends.
        sample_alphas: Sweep for sampled quantities, where the smallest alpha costs no accuracy.
        replications: Independent replications per sampled point.
        breadth: How many of a check's instances to run, ``None`` for all.
        isolate: Whether each choice of a reading is also judged alone.
        recheck: Whether every certificate is verified by the independent checker, not only the first of each bound:
            it works in plain fractions and takes far longer than making them.
        skips: Claims and steps left out unless they are asked for by name: their samples cannot shrink without leaving
            the verdict open.
    """

    name: ProfileName
    alphas: tuple[float, ...]
    sample_alphas: tuple[float, ...]
    replications: int
    breadth: int | None
    isolate: bool
    recheck: bool = False
    skips: tuple[str, ...] = ()


def _halvings(start: float, count: int) -> tuple[float, ...]:
    return tuple(start / 2**j for j in range(count))


LONG = (
    "inner-cost",
    "goldstein-convergence",
    "sfo-complexity",
    "variance-bound/pairing-alone",
    "hypergradient-accuracy/conditional-mean",
)
"""What a smoke run leaves out."""

PROFILES: dict[str, Profile] = {
    "smoke": Profile("smoke", _halvings(0.1, 7), _halvings(0.1, 4), 20_000, 2, isolate=False, skips=LONG),
    "ci": Profile("ci", _halvings(0.2, 10), _halvings(0.1, 5), 20_000, None, isolate=True),
    "full": Profile("full", _halvings(0.2, 12), _halvings(0.2, 7), 200_000, None, isolate=True, recheck=True),
    # As ci, on fewer instances: an implementation that fails somewhere fails on the telling ones.
    "conform": Profile("conform", _halvings(0.2, 10), _halvings(0.1, 5), 20_000, 2, isolate=False),
}


def find_profile(name: str) -> Profile:
    """Look a profile up.

    Raises:
        InvalidInputError: If there is none of that name.
    """
    if name not in PROFILES:
        raise InvalidInputError("profile", f"must be one of {', '.join(PROFILES)}", name)
    return PROFILES[name]
