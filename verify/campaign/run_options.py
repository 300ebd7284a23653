"""What a run is asked: every keyword of :func:`verify.run`, with its default and its rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from spec import InvalidInputError
from spec.expectations import ExpectedFailure, Skip
from verify.campaign.plan import DEFAULT_SEED, Task, plan
from verify.campaign.store.shards import Shard
from verify.campaign.workers import AnyExecutor
from verify.checks.measuring.case import Profile, ProfileName, find_profile
from verify.evidence.anytime import NoiseClass
from verify.evidence.budget import level_of
from verify.report.model import NAMED, Result
from verify.subjects import Subject, name_of
from verify.subjects.subject_names import REFERENCE
from verify.subjects.time_limits import check_limit

Keywords = ParamSpec("Keywords")
Options = TypeVar("Options")
Outcome = TypeVar("Outcome")
Progress = Callable[[int, int, str], None]
"""Called with (tasks done, tasks in all, what was just done)."""


@dataclass(frozen=True)
class RunOptions:
    """What a run is asked; one that cannot be carried out is refused.

    Args:
        claims: Full ids of claims or steps; a claim brings its steps. All if empty.
        subject: The implementation: ``"reference"``, ``"package.module:Attribute"``, ``"command:COMMAND LINE"`` for a
            program that speaks the wire, or an object with stages.
        readings: ``"as-written"``, ``"repaired"``, or ``"only:FIELD"`` for one choice as written alone. With both
            named readings, profiles that isolate add every choice alone.
        instances: Atlas names, ``drawn:FAMILY:SEED`` or ``drawn:FAMILY:FIRST-LAST``, paths of instance files that end
            in ``.toml`` or ``.json``; each check's own list if empty.
        profile: ``"smoke"``, ``"ci"`` or ``"full"``.
        seed: Seed of all randomness, >= 0. The same seed gives the same report for any number of jobs.
        effort: Factor on all sample sizes of random decisions: 1, 4, 16, ..., at most 4096; the profile's own, which is
            1 but for ``"full"``, if ``None``. With ``resume`` and a
            store, results that a smaller effort left undecided go on from the samples they have.
        noise: Class of laws within which bets may support a variance: ``"gaussian"``, ``"kurtosis<=K"``,
            ``"bounded<=B"`` (squared lengths at most B times their mean) or ``"second-moment"``; none is Gaussian, and
            where samples are not that, kurtosis at most 10. What is refuted from above is refuted in all of them.
        draws: On how many drawn problems of each family (:mod:`spec.drawn`) statements are asked besides, where no
            instance is named; the profile's own number, which is 0 but for ``"full"``, if ``None``.
        atlas: Whether statements are asked on their instances of the atlas; if not, on drawn problems alone.
        skips: What is not to be asked, with a reason each: ``"bias-bound/T1"``, ``"bias-bound/T1|repaired"`` or
            ``"bias-bound/T1|repaired|toy1"``. It stays in the report, as not applicable, and supports nothing.
        expected_failures: What is known to be refuted, in the same form; without a reading, repaired. That is no
            finding then; a fault or a drift is, and so is one that holds.
        jobs: Worker processes, >= 1. What is given by name is judged in them; an object, and the reference with one
            job, run in this process.
        progress: Called after each result.
        watch: Called about every tenth of a second while worker processes are waited for; a ``KeyboardInterrupt`` it
            raises ends the run with what is done.
        until: Called with each result, the kept ones first; where it says true the run ends with what is done.
        store: File that keeps finished results; what it holds is taken, where nothing that it depends on changed, and
            what is run is added. Of a subject other than the reference not all sources can be known: its results are
            taken with ``resume`` alone.
        resume: Whether to go on, besides, from results of smaller efforts, decided or not.
        fresh: Whether to run everything anew, whatever the store holds.
        shard: The share of the plan to run, e.g. ``Shard(1, 2)``; stores of all shares are merged by ``f2csa merge``.
        record: Verdicts on record by result key, to compare with; the shipped record if ``None``.
        time_limit: Seconds one stage call of the subject may take, > 0; one that takes longer is a fault, and a stage
            that did so twice is not called again. ``None``: 30 s for a program, 120 s in Python, no limit in process.
            An object is interrupted as far as one process can; the reference is never limited. Loading may take as
            long, and at least 15 s; 60 s without a limit.
        in_process: Whether a Python subject given by name is imported by the processes that judge it, which it can then
            end, or deceive; else it runs in processes of its own (docs/trust.md). The report names it.
        executor: Where a subject given by name is judged, instead of ``jobs`` processes here: an executor, which stays
            the caller's; a function that makes one, again where it broke; or the name of either,
            ``"dask://HOST:PORT"`` or ``"package.module:factory"`` (docs/scaling.md).

    Raises:
        InvalidInputError: If a number is out of range, or the profile or the class of laws is unknown.
    """

    claims: Iterable[str] = ()
    _: KW_ONLY
    subject: str | Subject = REFERENCE
    readings: Iterable[str] = NAMED
    instances: Iterable[str] = ()
    profile: ProfileName = "ci"
    seed: int = DEFAULT_SEED
    effort: int | None = None
    noise: str | None = None
    draws: int | None = None
    atlas: bool = True
    skips: Mapping[str, str] | Sequence[Skip] = ()
    expected_failures: Mapping[str, str] | Sequence[ExpectedFailure] = ()
    jobs: int = 1
    progress: Progress | None = None
    watch: Callable[[], None] | None = None
    until: Callable[[Result], bool] | None = None
    store: Path | None = None
    resume: bool = True
    fresh: bool = False
    shard: Shard | None = None
    record: dict[str, str] | None = None
    time_limit: float | None = None
    in_process: bool = False
    executor: AnyExecutor | None = None

    def __post_init__(self) -> None:
        for name in ("claims", "readings", "instances"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        if self.jobs < 1:
            raise InvalidInputError("jobs", "must be >= 1", self.jobs)
        check_limit(self.time_limit)
        level_of(self.sample_factor)
        if self.noise is not None:
            NoiseClass.named(self.noise)

    @property
    def subject_name(self) -> str:
        """The subject by name."""
        return self.subject if isinstance(self.subject, str) else name_of(self.subject)

    @property
    def selection(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The claims, readings and instances."""
        return tuple(self.claims), tuple(self.readings), tuple(self.instances)

    @property
    def planned(self) -> list[Task]:
        """What is asked of the atlas; wrong names are refused here."""
        return plan(*self.selection, self.sizes, self.subject_name, self.seed)

    @property
    def sizes(self) -> Profile:
        """The profile."""
        return find_profile(self.profile)

    @property
    def sample_factor(self) -> int:
        """The factor on sample sizes, the profile's where none is given."""
        return self.sizes.effort if self.effort is None else self.effort


NAMES = tuple(field.name for field in fields(RunOptions))
"""The options' names."""


def takes_keywords_of(
    options: Callable[Keywords, Options],
) -> Callable[[Callable[[Options], Outcome]], Callable[Keywords, Outcome]]:
    """Have a function of options called with their keywords, which its signature and documentation show."""

    def decorate(function: Callable[[Options], Outcome]) -> Callable[Keywords, Outcome]:
        @wraps(function)
        def called(*given: Keywords.args, **named: Keywords.kwargs) -> Outcome:
            return function(options(*given, **named))

        shown = inspect.signature(options).replace(return_annotation=inspect.signature(function).return_annotation)
        called.__dict__["__signature__"] = shown
        return called

    return decorate
