"""The report as data: results, their summary, and where they came from."""

from __future__ import annotations

import difflib
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr

from spec.claims import About
from spec.expectations import ExpectedFailure, Skip, reason_of
from verify.evidence.charts import Plot
from verify.evidence.model import Counterexample, Evidence, FrozenData, RateEvidence, Rung
from verify.report.rows.asked_and_held import Coverage
from verify.report.rows.draws_model import DrawnProblems
from verify.report.rows.identified import Identified
from verify.report.rows.letter import Letter
from verify.report.rows.summary_row import SummaryRow
from verify.subjects.subject_names import REFERENCE
from verify.verdict import Verdict

SCHEMA: Literal["f2csa-report/2"] = "f2csa-report/2"
FIRST_SCHEMA: Literal["f2csa-report/1"] = "f2csa-report/1"
"""Of reports that hold their evidence in ``report.json`` and have no numbers in their summary; still read."""
NAMED = ("as-written", "repaired")
"""The readings of a whole statement; ``only:FIELD`` isolates one choice."""
SKIPPED = "Not applicable: skipped on request: "
"""How the sentence of a result begins that nobody asked for, before its reason."""


class Result(FrozenData, Identified):
    """One claim or proof step, under one reading, on one instance.

    Args:
        claim: Full id, ``bias-bound`` or ``bias-bound/T1``.
        reading: ``as-written``, ``repaired``, or ``only:FIELD`` with that single choice as written.
        instance: Name of the atlas instance.
        verdict: Computed from the evidence; ``None`` for a fault.
        sentence: The verdict in a sentence, with its numbers.
        claimed: The claimed exponent (or comparison), for display.
        quantity: What decided: the measured quantity, in words or a formula; empty where nothing was measured.
        measured: The deciding measured value (exponent, or the compared quantity).
        interval: Interval of the measured exponent.
        loose_by: Orders by which a supported upper bound is beaten, if any.
        rung: Strongest evidence the verdict rests on.
        evidence: All that was measured; in files it stands in ``evidence.json``, as pictures and continuation do.
        error_rates: False-refutation and false-support probabilities, for statistical evidence.
        counterexample: For a refuted claim.
        reproduce: Command that repeats exactly this result.
        seconds: Time spent; ``None`` as read from a ``report.json``, which holds no times (``times.json`` does).
        about: Whom the claim is about, as its own text says.
        fault: What went wrong in the subject or the run, in one line; then there is no verdict.
        expected: Whether this is the verdict on record for this subject; ``None`` without a record.
        effort: Factor on all sample sizes it was found with.
        pictures: Curves of what was measured.
        continuation: Where more samples would decide: the growing samples so far, to go on from.
    """

    claim: str
    reading: str
    instance: str
    verdict: Verdict | None
    sentence: str
    claimed: str = ""
    quantity: str = ""
    measured: float | None = None
    interval: tuple[float, float] | None = None
    loose_by: float | None = None
    rung: Rung | None = None
    evidence: tuple[Evidence, ...] = ()
    error_rates: dict[str, float] = Field(default_factory=dict)
    counterexample: Counterexample | None = None
    reproduce: str = ""
    seconds: float | None = None
    about: About = "subject"
    fault: str | None = None
    expected: bool | None = None
    effort: int = 1
    pictures: tuple[Plot, ...] = Field(default=(), repr=False)
    continuation: tuple[dict[str, Any], ...] = Field(default=(), repr=False)

    @property
    def thin(self) -> Self:
        """The same without what it was decided by."""
        return self.model_copy(update={"evidence": (), "counterexample": None, "pictures": (), "continuation": ()})

    @property
    def is_skipped(self) -> bool:
        """Whether it was not asked, by a list of the user's."""
        return self.verdict is Verdict.NOT_APPLICABLE and self.sentence.startswith(SKIPPED)

    @property
    def points(self) -> list[dict[str, Any]]:
        """Its sweeps as plain rows, one a point: quantity, variable, rung, role, and the fields of the point."""
        rates = [item for item in self.evidence if isinstance(item, RateEvidence)]
        return [
            {"quantity": rate.quantity, "variable": rate.variable, "rung": rate.rung, "role": rate.role}
            | point.model_dump()
            for rate in rates for point in rate.points
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.where}: {self.verdict or 'FAULT'}. {self.sentence}"

    def __repr__(self) -> str:
        value = "" if self.measured is None else f", {self.quantity or 'measured'}: {self.measured:.6g}"
        return f"<Result {self.where}: {self.verdict or 'FAULT'}{value}{f' ({self.rung})' if self.rung else ''}>"


class EvidenceFile(FrozenData):
    """The file beside a report that holds its evidence.

    Args:
        name: Its name, in the same folder.
        sha256: Digest of its bytes, by which the two belong together.
    """

    name: Literal["evidence.json"] = "evidence.json"
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class ReportData(FrozenData):
    """Everything one run found.

    Args:
        schema: ``f2csa-report/2``; ``f2csa-report/1`` as read from a file of that schema.
        environment: Versions that can influence a number, where a foreign subject ran, and what chose the last digits:
            numpy's code by processor, BLAS with its kernel and threads, libm; of several machines, what each had.
        seed: Seed of all randomness.
        profile: How much work was done: ``smoke``, ``ci`` or ``full``.
        subject: ``reference``, or how the program under test was loaded.
        results: One of each claim, reading and instance.
        summary: One row a claim and reading.
        seconds: Time spent; ``None`` as read from a ``report.json``.
        complete: Whether the run reached its end.
        findings: What differs from the verdicts on record, one line each.
        subject_version: Version of the subject, if it says one.
        changes: What differs from the record without being worse, or could not be compared, one line each.
        evidence_file: Where the results' evidence is; ``None`` where they hold it themselves.
        draws: What became of statements on drawn problems, counted; ``results`` holds of those what went wrong.
        draws_asked: Of each family, how many drawn problems were asked about; ``evidence.json`` says it, too.
        expected_failures: What the user expects to be refuted, with reasons; that is no finding then, and a verdict all
            the same.
        skips: What the user asked not to be asked, with reasons; its results are not applicable.
    """

    schema_: Literal["f2csa-report/1", "f2csa-report/2"] = Field(default=SCHEMA, alias="schema")
    environment: dict[str, str]
    seed: int
    profile: str
    subject: str
    results: tuple[Result, ...]
    summary: tuple[SummaryRow, ...]
    seconds: float | None = 0.0
    complete: bool = True
    findings: tuple[str, ...] = ()
    subject_version: str = ""
    changes: tuple[str, ...] = ()
    evidence_file: EvidenceFile | None = None
    draws: DrawnProblems | None = None
    draws_asked: int = 0
    expected_failures: tuple[ExpectedFailure, ...] = ()
    skips: tuple[Skip, ...] = ()

    _letter: Letter | None = PrivateAttr(default=None)

    model_config = ConfigDict(populate_by_name=True, title="Report")

    @property
    def letter(self) -> Letter | None:
        """What is wrong with a foreign subject's stages, where these were asked; no part of ``report.json``."""
        return self._letter

    def with_letter(self, letter: Letter | None) -> Self:
        """The same, with what its subject's author is to be told on the page."""
        told = self.model_copy()
        told._letter = letter
        return told

    def records(self) -> list[dict[str, Any]]:
        """One dictionary a result, ready for a data frame; ``points`` are the measured points of its sweeps."""
        nested = {"evidence", "counterexample"}
        return [result.model_dump(mode="python", exclude=nested) | {"points": result.points} for result in self.results]

    def __getitem__(self, claim: str) -> Self:
        """What it found of a claim with its steps, or of one step: both readings, all instances.

        Raises:
            KeyError: If it holds nothing of that name, naming the nearest that it does.
        """
        names = {name for name in self._held if claim in (name, name.partition("/")[0])}
        if not names:
            near = difflib.get_close_matches(claim, self._held, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"it holds {len(self._held)} others"
            raise KeyError(f"{claim}: no claim or step of this report; {hint}")
        return self.model_copy(update={
            "results": tuple(result for result in self.results if result.claim in names),
            "summary": tuple(row for row in self.summary if row.claim in names),
        })  # fmt: skip

    def __contains__(self, claim: object) -> bool:
        return any(claim in (name, name.partition("/")[0]) for name in self._held)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._held)

    @property
    def _held(self) -> tuple[str, ...]:
        """Full ids of all that it says something of, in its order."""
        return tuple(dict.fromkeys([row.claim for row in self.summary] + [result.claim for result in self.results]))

    def __repr__(self) -> str:
        what = f"{self.subject}, profile {self.profile}, seed {self.seed}"
        faults = f", {len(self.faults)} of them faults" if self.faults else ""
        cut = "" if self.complete else ", not complete"
        of = "1 statement" if len(self._held) == 1 else f"{len(self._held):,} statements"
        return f"<Report of {what}: {len(self.results):,} results{faults} on {of}{cut}>"

    @property
    def timeless(self) -> Self:
        """The same without times: what every run of the same comes out with."""
        results = tuple(result.model_copy(update={"seconds": None}) for result in self.results)
        return self.model_copy(update={"seconds": None, "results": results})

    @property
    def lacks_evidence(self) -> bool:
        """Whether it was read without the file that holds its evidence."""
        return self.evidence_file is not None

    @property
    def faults(self) -> tuple[Result, ...]:
        """Results without a verdict."""
        return tuple(result for result in self.results if result.fault is not None)

    def excuse(self, result: Result) -> str:
        """Why a result is expected to be refuted, where it is refuted and expected to be; else empty."""
        return reason_of(self.expected_failures, **result.named) if result.verdict is Verdict.REFUTED else ""

    @property
    def excused(self) -> tuple[Result, ...]:
        """Results that are refuted as the user expects."""
        return tuple(r for r in self.results if self.excuse(r)) if self.expected_failures else ()

    @property
    def has_verdicts(self) -> bool:
        """Whether anything that was asked has one: what was skipped has none of its own."""
        return any(result.verdict is not None and not result.is_skipped for result in self.results)

    @property
    def skipped(self) -> tuple[Result, ...]:
        """Results that were not asked, by the user's list."""
        return tuple(result for result in self.results if result.is_skipped)

    @property
    def coverage(self) -> Coverage:
        """How much of what is said of a solver, repaired, could be asked of this one."""
        return Coverage.of(row.status for row in self.summary if row.reading == "repaired" and row.about == "subject")

    @property
    def is_of_the_paper(self) -> bool:
        """Whether the subject is the reference, so that the report is about the paper."""
        return self.subject == REFERENCE

    @property
    def only_drawn(self) -> bool:
        """Whether drawn problems alone were asked about, as in a soak, and nothing on them went wrong."""
        return not self.results and self.draws is not None and bool(self.draws.rows)

    @property
    def nothing_compared(self) -> bool:
        """Whether nothing that was asked of a foreign subject applied to it, or nothing was asked: no success."""
        if self.draws is not None and self.only_drawn:
            return all({*row.verdicts} <= {Verdict.NOT_APPLICABLE, Verdict.VACUOUS} for row in self.draws.rows)
        if self.is_of_the_paper:
            return bool(self.results) and len(self.skipped) == len(self.results)
        # Who has all that is asked of a right solver left out is judged by nothing.
        repaired = [result for result in self.results if result.reading == "repaired"]
        judged = repaired if any(result.is_skipped for result in repaired) else self.results
        return all(result.verdict in (Verdict.NOT_APPLICABLE, Verdict.VACUOUS) for result in judged)

    @property
    def nothing_holds(self) -> bool:
        """Whether repaired statements were asked of a foreign subject and none of them holds."""
        return not self.is_of_the_paper and self.coverage.applicable > 0 and self.coverage.held == 0

    @property
    def exit_code(self) -> int:
        """0 as expected, 1 a finding, 3 a fault in the subject or the run.

        That nothing holds is a finding, on record or not; an empty run, or one that compares nothing, is a fault.
        """
        empty = not self.results and not self.only_drawn
        if self.faults or not self.complete or empty or self.nothing_compared:
            return 3
        return 1 if self.findings or self.nothing_holds else 0
