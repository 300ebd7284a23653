"""What the catalogue says about one mistake, and the rules that play it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from spec.files import Frozen
from verify.method.lines import Formulas, Stage
from verify.truth.functions_of_alpha.noise import Averaging

BugType = Literal[
    "paper-as-written", "sign", "weight", "missing-term", "constraints", "activation", "stale-value",
    "precision", "given-values-ignored", "noise", "averaging", "generator", "counting", "clipping", "query-point",
    "output-rule", "step-rule",
]  # fmt: skip

Draws = Literal[
    "averaged-twice", "batch-shared", "each-twice", "half-copied", "one-alone", "own-seed", "echo", "mirrored",
    "shuffled-opposites", "call-shared", "one-component", "mixed-components", "noise-twice", "noisier-alone",
]  # fmt: skip
"""Ways to draw many estimates wrongly; :data:`verify.conformance.bugs.bent_sampling.DRAWS` plays them."""


@dataclass(frozen=True)
class Rules:
    """What is another way of working than any edit of the method's lines says; the defaults are right.

    ``reading`` are choices made whatever reading is asked for, by field; ``own_stages``: given stages are ignored;
    ``keeps_rows``: the penalty Lagrangian is minimised over h <= 0; ``bits`` of precision; ``returns_truth`` in place
    of the estimate. ``averaging`` and ``batch`` are of the samples; ``shift`` is added to every component of an
    estimate, in standard deviations of the noise of f; ``noise_on`` is the only gradient sampled, ``one_fewer_of`` the
    batch size at which one sample is lost; ``steps`` is a factor of the lower level's. ``shares_nothing``: every phase
    draws afresh where one sample is to be shared; ``counts``: inner gradients are counted.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    reading: Mapping[str, str] = field(default_factory=dict, hash=False)
    own_stages: bool = False
    keeps_rows: bool = False
    bits: Literal[24] | None = None
    returns_truth: bool = False
    averaging: Averaging = "mean"
    batch: Literal["one-fewer", "from-alpha"] | None = None
    one_fewer_of: int | None = None
    noise_on: Literal["g", "none"] | None = None
    shift: Fraction = Fraction(0)
    draws: Draws | None = None
    steps: Fraction = Fraction(1)
    most_steps: int | None = None
    quiet_small_steps: bool = False
    shares_nothing: bool = False
    counts: bool = True


@dataclass(frozen=True)
class Catch:
    """A result that must differ from the reference's; written ``claim on instance[, reading]``."""

    claim: str
    instance: str
    reading: str = "repaired"

    @classmethod
    def parse(cls, text: str) -> Catch:
        """From a row of the catalogue."""
        claim, _, where = text.partition(" on ")
        return cls(claim, *where.split(", "))


class Flag(Frozen):
    """One flag.

    Args:
        id: As written in vectors.
        kind: ``bug``: an implementation with this bug misses every vector that carries the flag, by at least ten
            tolerances; measured, not declared. ``circumstance``: what is special about the vector.
        bug_type: What the bug is, or what an implementation may get wrong here.
        effect: What it does to results.
        claim: Where the paper's claim on it is checked.
    """

    id: str
    kind: Literal["bug", "circumstance"]
    bug_type: str
    effect: str
    claim: str


class ShownBug(Frozen):
    """The flag of test vectors that show a bug; what is not said is as the bug says it.

    ``at`` are the stages whose vectors are held against it, ``claim`` is where the paper's claim on it is checked;
    ``formulas`` and ``rules`` compute its exact wrong answers; ``"other"`` is what the reading does not choose.
    """

    at: tuple[str, ...]
    claim: str
    id: str | None = None
    does: str | None = None
    effect: str | None = None
    rules: Rules | None = None
    formulas: Formulas = Field(default_factory=dict)


class Bug(Frozen):
    """One mistake.

    The ``id`` is permanent. ``does`` is a line, ``effect`` what a user would see, with the order in alpha. All results
    of ``caught_by`` must change; it is empty for what test vectors alone show. ``choice`` is the field of
    :class:`spec.Reading` that it sets as written, if that is all it does. What the method has otherwise stands in
    ``formulas``, by procedure and line; what is no line of it, in ``rules``.
    """

    id: str
    stage: Stage
    type: BugType
    does: str
    effect: str
    rules: Rules = Rules()
    formulas: Formulas = Field(default_factory=dict)
    caught_by: tuple[Annotated[Catch, BeforeValidator(Catch.parse)], ...] = ()
    choice: str | None = None
    flag: ShownBug | None = None

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def class_name(self) -> str:
        """Its wrong subject's class."""
        return "".join(part.capitalize() for part in self.id.split("-"))

    @property
    def source(self) -> str:
        """How its wrong subject is loaded: ``package.module:Attribute``."""
        return f"verify.conformance.bugs.bent_subject:{self.class_name}"

    @property
    def roundoff(self) -> float | None:
        """For a bug that only rounds: its unit roundoff; two that round alike agree to this, not beyond."""
        return None if self.rules.bits is None else 2.0**-self.rules.bits

    @property
    def changes(self) -> frozenset[str]:
        """Capabilities of a subject that answer otherwise; an oracle call runs through all stages before it."""
        if self.stage == "optimise":
            return frozenset({"optimise"})
        if self.stage == "runs":
            if self.rules.shares_nothing:
                return frozenset({"penalty_runs", "hypergradient_runs"})
            return frozenset({"lower_level_runs" if self.rules.counts else "hypergradient_runs"})
        return frozenset({"hypergradient" if self.stage == "samples" else self.stage, "hypergradient"})
