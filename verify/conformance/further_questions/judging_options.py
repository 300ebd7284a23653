"""What an implementation is asked: every keyword of :func:`verify.conform`, with its default and its rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from spec import REPAIRED, InvalidInputError, Reading
from spec.claims import ReadingName
from spec.reading import NAMED
from verify.campaign.plan import DEFAULT_SEED
from verify.campaign.run_options import Progress
from verify.campaign.summary import selected
from verify.checks.measuring.case import ProfileName, find_profile
from verify.conformance.further_questions.own_problems import OwnProblem
from verify.conformance.probes.pacing import ESTIMATES, SECONDS, require_counts
from verify.conformance.trace.model import Say
from verify.subjects import Subject, name_of
from verify.subjects.time_limits import check_limit


@dataclass(frozen=True)
class ConformOptions:
    """What an implementation is asked; what cannot be asked of any is refused.

    Args:
        subject: ``"package.module:Attribute"``, ``"command:COMMAND LINE"``, or an object with any of the stages.
        claims: Full ids of claims or steps to judge under the repaired reading; all if empty.
        profile: ``"conform"``, or one of the profiles of ``f2csa verify``.
        seed: Seed of all randomness, >= 0.
        jobs: Worker processes for the claims, >= 1; an object as subject runs in this process.
        estimates: How many, >= 0, the claims together may ask of a subject without ``hypergradient_samples``; a claim
            that asks for more than its share is INCONCLUSIVE.
        seconds: Time, > 0 and finite, after which nothing more is asked; what was not asked is not judged, and the run
            is not complete. It changes no verdict.
        time_limit: Seconds one stage call may take, > 0; longer is a fault.
        out: Folder for ``conform.json`` and the report's files.
        problems: Problems of your own that stages are compared on, too: files, ``atlas:NAME``, or ``OwnProblem(name,
            problem, x)``.
        reading: ``"repaired"``, or ``"as-written"`` to hold stages against the paper as written and judge no claims.
        save_cases: Folder for the repros as tests, a pytest file each.
        force: Whether these may replace files that are not of this program.
        in_process: Whether a Python subject given by name is imported here, where a debugger sees it and where it can
            end or deceive the judge; else it runs in a process of its own. The report names it.
        exitfirst: Whether no claim is judged once a stage deviates or faults, and none after the first that does; the
            run is then not complete, and says so.
        trace: Whether the line of each stage that deviates is looked for in a Python subject's own source, in up to
            20 s (docs/trace.md); a function is told what is looked for.
        stages_only: Whether stages are compared and explained, and no claim is judged.
        progress: Called with (done, in all, what) after each claim's result.

    Raises:
        InvalidInputError: If a name is unknown, a number out of range, a problem's file cannot be read, or claims are
            asked for under another reading than the repaired one.
    """

    subject: str | Subject
    _: KW_ONLY
    claims: Sequence[str] = ()
    profile: ProfileName = "conform"
    seed: int = DEFAULT_SEED
    jobs: int = 1
    estimates: int = ESTIMATES
    seconds: float = SECONDS
    time_limit: float | None = None
    out: str | Path | None = None
    problems: Sequence[str | Path | OwnProblem] = ()
    reading: ReadingName = "repaired"
    save_cases: str | Path | None = None
    force: bool = False
    in_process: bool = False
    exitfirst: bool = False
    trace: bool | Say = False
    stages_only: bool = False
    progress: Progress | None = None

    def __post_init__(self) -> None:
        claims = (self.claims,) if isinstance(self.claims, str) else tuple(self.claims)
        object.__setattr__(self, "claims", claims)
        require_counts(self.estimates, self.seconds)
        check_limit(self.time_limit)
        if self.jobs < 1:
            raise InvalidInputError("jobs", "must be >= 1", self.jobs)
        find_profile(self.profile)
        selected(claims)
        if self.reading not in NAMED:
            raise InvalidInputError("reading", f"must be one of {', '.join(NAMED)}", self.reading)
        if claims and not self.is_repaired:
            rule = f"must be left out with the reading {self.reading}: they are judged under the repaired one"
            raise InvalidInputError("claims", rule, ", ".join(claims))
        read = (one if isinstance(one, OwnProblem) else OwnProblem.read(one) for one in self.problems)
        object.__setattr__(self, "problems", tuple(read))

    @property
    def name(self) -> str:
        """The subject by name."""
        return self.subject if isinstance(self.subject, str) else name_of(self.subject)

    @property
    def is_loadable(self) -> bool:
        """Whether its name loads it."""
        return isinstance(self.subject, str)

    @property
    def own_problems(self) -> tuple[OwnProblem, ...]:
        """The problems, read."""
        return tuple(one for one in self.problems if isinstance(one, OwnProblem))

    @property
    def paper_reading(self) -> Reading:
        """How the paper is read."""
        return NAMED[self.reading]

    @property
    def is_repaired(self) -> bool:
        """Whether claims can be judged: they are of the repaired reading."""
        return self.paper_reading == REPAIRED

    @property
    def judges_claims(self) -> bool:
        """Whether claims are judged, not stages alone."""
        return self.is_repaired and not self.stages_only
