"""What a conformance run finds, piece by piece, as data."""

from __future__ import annotations

from typing import Any, Literal

from verify.evidence.model import FrozenData
from verify.method.lines import Stage

MARK = "more than their share"
"""Says in a result's sentence that it asks for more, one at a time, than was granted."""

Status = Literal["agrees", "diverges", "undecided", "fault", "not offered"]


class Divergence(FrozenData):
    """One comparison that failed, with its numbers.

    Args:
        probe: Permanent id of the comparison, or of the test vector.
        what: What was asked, in words.
        expected: What must come out.
        got: What came out.
        tolerance: Largest accepted difference, entry by entry; empty for laws.
        excess: Largest difference in tolerances.
    """

    probe: str
    what: str
    expected: tuple[float, ...]
    got: tuple[float, ...]
    tolerance: tuple[float, ...] = ()
    excess: float


class StageFinding(FrozenData):
    """One stage alone, on given correct inputs.

    Args:
        stage: The stage.
        status: ``undecided`` where time allowed too few comparisons.
        sentence: What was found, in one sentence.
        compared: Comparisons made.
        refused: How often it said that it does not support what it was asked.
        diverging: How many of them failed.
        worst: Largest difference in tolerances over all comparisons.
        divergence: The first one that failed.
    """

    stage: Stage
    status: Status
    sentence: str
    compared: int = 0
    refused: int = 0
    diverging: int = 0
    worst: float = 0.0
    divergence: Divergence | None = None

    @property
    def refuses(self) -> bool:
        """Whether it refused more than it answered."""
        return self.status in ("agrees", "not offered") and self.refused > self.compared


class Match(FrozenData):
    """A catalogued deviation beside what was seen.

    Args:
        id: Permanent id in the catalogue.
        bug_type: What kind of mistake it is.
        effect: What a user would see, with the order in alpha.
        caught_by: Claims that catch it.
        matches: Whether every comparison agrees within its tolerance.
        distance: Largest difference in tolerances, or in what chance allows.
        difference: The largest absolute difference of values; ``None`` where laws were compared.
        compared: Comparisons made.
    """

    id: str
    bug_type: str
    effect: str
    caught_by: tuple[str, ...]
    matches: bool
    distance: float
    difference: float | None = None
    compared: int


class Explained(FrozenData):
    """A formula or rule that gives a stage's answers.

    Args:
        sentence: What differs from the right stage.
        edits: Single changes of the right stage.
    """

    sentence: str
    edits: int


class Diagnosis(FrozenData):
    """What is wrong with one stage.

    Args:
        stage: The stage.
        sentence: The diagnosis with its numbers.
        explanations: Formulas or rules that give all its answers, simplest first; several where no question tells them
            apart, none where nothing that the method knows does.
        agrees: Answers that the first of them gives.
        held_out: Those of them that were asked for after it had been found.
        effect: Largest error of an estimate of ∇F, or of a point of Algorithm 2, that this stage alone makes.
        rest: What its explanation leaves unexplained of the answers that are off, or that nothing is left; empty where
            it has none.
        matches: Catalogued deviations that explain everything seen; several where they cannot be told apart.
        partial: Where none does: those that explain the innermost calls that are off, so that something else is wrong
            beside.
        nearest: Others by distance, nearest first, where no explanation says more.
    """

    stage: Stage
    sentence: str
    explanations: tuple[Explained, ...] = ()
    agrees: int = 0
    held_out: int = 0
    effect: float | None = None
    rest: str = ""
    matches: tuple[Match, ...] = ()
    partial: tuple[Match, ...] = ()
    nearest: tuple[Match, ...] = ()


class Reproduction(FrozenData):
    """The smallest instance found on which the subject still diverges.

    Args:
        sentence: How small it is, with the numbers.
        problem: The problem file's content, where there is a problem.
        x: The upper-level point.
        expected: What must come out.
        got: What came out.
        code: Python to paste; it imports this package and the subject, nothing else.
    """

    sentence: str
    problem: dict[str, Any] | None = None
    x: tuple[str, ...] = ()
    expected: tuple[float, ...] = ()
    got: tuple[float, ...] = ()
    code: str


class ClaimFinding(FrozenData):
    """One claim or step under the repaired reading, over its instances.

    Args:
        claim: Full id.
        status: Verdict, ``FAULT`` or ``NOT_CHECKED``.
        on_record: Whether all verdicts are those of the reference; ``None`` where nothing could be compared.
        sentence: The deciding result's sentence.
        reproduce: Command that repeats it.
        asks: A stage that deviates and that its check asks for; empty where none does.
    """

    claim: str
    status: str
    on_record: bool | None
    sentence: str
    reproduce: str
    asks: str = ""


class Stopped(FrozenData):
    """Results left out because the time for asking was over.

    Args:
        after: The time, in seconds.
        asked: Results that were obtained.
        planned: Results that there are.
        enough: Seconds that would do, judged by what those obtained cost; ``None`` without any.
    """

    after: float
    asked: int
    planned: int
    enough: float | None

    def __str__(self) -> str:
        left = (
            f" Stopped after {self.after:g} s: {self.planned - self.asked} of {self.planned} results were not asked for"
        )
        if self.enough is None:
            return f"{left}; a larger --seconds asks for more."
        return f"{left}; --seconds {int(float(f'{self.enough + 1:.2g}'))} should do."
