"""What the catalogue says about one wrong implementation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from verify.subjects import Subject

Stage = Literal["lower_level", "activation", "penalty_minimiser", "hypergradient", "samples", "runs", "optimise"]
"""Where a mutant first goes wrong; ``samples`` is ``hypergradient`` under noise, ``runs`` the noisy inner solvers."""

BugType = Literal[
    "paper-as-written", "sign", "weight", "missing-term", "constraints", "activation", "stale-value",
    "precision", "given-values-ignored", "noise", "averaging", "generator", "counting", "clipping", "query-point",
    "output-rule", "step-rule",
]  # fmt: skip


@dataclass(frozen=True)
class Catch:
    """A result that must differ from the reference's.

    Args:
        claim: Full id of the claim or step.
        instance: Atlas name.
        reading: Under which it is judged.
    """

    claim: str
    instance: str
    reading: str = "repaired"


@dataclass(frozen=True)
class Mutant:
    """One wrong implementation.

    Args:
        id: Permanent.
        make: The implementation, called without arguments.
        stage: Where it first goes wrong, in the order of :data:`Stage`.
        bug_type: What kind of mistake it is.
        effect: What a user would see, with the order in alpha.
        caught_by: Results that must change; all of them are held to.
        choice: The field of :class:`spec.Reading` that it sets as written, if that is all it does.
        alike: Ids whose outputs are the same at every stage a subject may offer, with the reason in ``effect``.
        roundoff: For a mutant that only rounds: its unit roundoff; two that round alike agree to this, not beyond.
    """

    id: str
    make: Callable[[], Subject]
    stage: Stage
    bug_type: BugType
    effect: str
    caught_by: tuple[Catch, ...]
    choice: str | None = None
    alike: tuple[str, ...] = ()
    roundoff: float | None = None

    @property
    def source(self) -> str:
        """How to load it: ``package.module:Attribute``."""
        made = self.make
        return f"{made.__module__}:{getattr(made, '__qualname__', '')}"
