"""What the catalogue says about one mistake, and the rules that play it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from verify.truth import stages

Stage = Literal["lower_level", "activation", "penalty_minimiser", "hypergradient", "samples", "runs", "optimise"]
"""Where a mistake first shows; ``samples`` is ``hypergradient`` under noise, ``runs`` the noisy inner solvers."""

BugType = Literal[
    "paper-as-written", "sign", "weight", "missing-term", "constraints", "activation", "stale-value",
    "precision", "given-values-ignored", "noise", "averaging", "generator", "counting", "clipping", "query-point",
    "output-rule", "step-rule",
]  # fmt: skip

Draws = Literal[
    "averaged-twice", "batch-shared", "each-twice", "half-copied", "one-alone", "own-seed", "echo", "mirrored",
    "shuffled-opposites", "call-shared", "one-component", "mixed-components", "noisier-alone",
]  # fmt: skip
"""Ways to draw many estimates wrongly; :data:`verify.conformance.bugs.bent_sampling.DRAWS` plays them."""


@dataclass(frozen=True)
class Rules(stages.Rules):
    """How everything is computed; the defaults are right, anything else is a mistake somebody makes.

    The rules of line 6 and of what leads to it are :class:`verify.truth.stages.Rules`; these are the others.

    Args:
        lower_level: Another problem or point that is solved in place of the lower level.
        zeroed: A block of the problem taken for zero where the lower level is solved.
        mirrored: Where the rows are read as A x + B y - b <= 0.
        multipliers: Factor of the multipliers that come out.
        ramp: How rows are weighed, where :attr:`activation` has no word for it.
        minimiser: What is returned as the penalty minimiser.
        alpha_from_below: Alpha is raised to 2 C_f / mu_g in both weights.
        g_difference: Factor of the difference of the gradients of g in the estimate.
        bits: Digits of a shorter arithmetic.
        returns_truth: The exact gradient of F is returned whatever is given.
        batch: How many samples are averaged.
        one_fewer_of: The batch size at which one sample is lost.
        noise_on: The only gradient that is sampled.
        shift: Added to every component of an estimate, in standard deviations of the noise of f.
        draws: How many estimates are drawn wrongly.
        primal_dual_sign: Another choice than the reading's, in the lower level's iteration.
        inner_solver: Another choice than the reading's, in the lower level's iteration.
        steps: Share of the lower level's steps that are taken.
        most_steps: No more than these.
        quiet_small_steps: Small steps see less noise.
        shares_nothing: Every phase draws afresh where one sample is to be shared.
        counts: Whether inner gradients are counted.
        clip: What is made of a step before it is taken.
        clip_at: Its greatest length, in units of D.
        memory: Factor of the previous step in the next.
        descent: Factor of the gradient that is subtracted.
        query: Where on the segment the oracle is asked; uniform if ``None``.
        block_mean: What a block's mean is taken of.
        output: Which point is returned.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    lower_level: Literal["unconstrained", "equations", "at-zero", "previous", "first"] | None = None
    zeroed: Literal["constraints.A", "constraints.b", "g.xy"] | None = None
    mirrored: Literal["lower_level", "penalty_minimiser"] | None = None
    multipliers: Fraction = Fraction(1)
    ramp: Literal["sure", "late", "open", "swapped-widths", "negated-rows"] | None = None
    minimiser: Literal["constrained", "skipped", "stops-short"] | None = None
    alpha_from_below: bool = False
    g_difference: Fraction = Fraction(1)
    bits: Literal[24] | None = None
    returns_truth: bool = False
    batch: Literal["one-fewer", "from-alpha"] | None = None
    one_fewer_of: int | None = None
    noise_on: Literal["g", "none"] | None = None
    shift: Fraction = Fraction(0)
    draws: Draws | None = None
    primal_dual_sign: Literal["plus"] | None = None
    inner_solver: Literal["constant-step"] | None = None
    steps: Fraction = Fraction(1)
    most_steps: int | None = None
    quiet_small_steps: bool = False
    shares_nothing: bool = False
    counts: bool = True
    clip: Literal["length", "components", "always", "never"] = "length"
    clip_at: Fraction = Fraction(1)
    memory: Fraction = Fraction(1)
    descent: Fraction = Fraction(1)
    query: Fraction | None = None
    block_mean: Literal["queries", "iterates"] = "queries"
    output: Literal["uniform", "best-block", "last-block", "last-iterate"] = "uniform"

    @property
    def bends_estimate(self) -> bool:
        """Whether line 6 itself is another."""
        line_6 = ("penalty", "dropped", "one_sided", "at_y_star", "dual_term", "g_difference")
        return any(getattr(self, name) != getattr(type(self), name) for name in line_6)


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


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Shown(_Frozen):
    """The flag of test vectors that show a bug; what is not said is as the bug says it.

    Args:
        at: Stages whose vectors are held against it.
        claim: Where the paper's claim on it is checked.
        id: As written in vectors.
        does: What the bug is.
        effect: What it does to results.
        rules: How its exact wrong answers are computed; ``"other"`` is what the reading does not choose.
    """

    at: tuple[str, ...]
    claim: str
    id: str | None = None
    does: str | None = None
    effect: str | None = None
    rules: Rules | None = None


class Bug(_Frozen):
    """One mistake.

    Args:
        id: Permanent.
        stage: Where it first shows, in the order of :data:`Stage`.
        type: What kind of mistake it is.
        does: What an implementation with it does, in one line.
        effect: What a user would see, with the order in alpha.
        rules: What plays it.
        caught_by: Results that must change; all of them are held to. Empty for what test vectors alone show.
        choice: The field of :class:`spec.Reading` that it sets as written, if that is all it does.
        flag: How test vectors show it.
    """

    id: str
    stage: Stage
    type: BugType
    does: str
    effect: str
    rules: Rules = Rules()
    caught_by: tuple[Annotated[Catch, BeforeValidator(Catch.parse)], ...] = ()
    choice: str | None = None
    flag: Shown | None = None

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
