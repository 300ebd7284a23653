"""Claims as tests of an implementation, for pytest: one test a claim, run when it is selected.

.. code-block:: python

    from verify import parametrize_with_claims

    @parametrize_with_claims("my_solver:Subject", expected_failed={"bias-bound/T1": "constant step, see #12"})
    def test_claims(claim):
        claim.check()
"""

from __future__ import annotations

import atexit
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from spec.errors import InvalidInputError
from spec.expectations import ExpectedFailure, listed
from spec.settings import load_settings
from verify.campaign.baseline.judging import is_missing_stage
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.executors.named import factory_of
from verify.campaign.plan import DEFAULT_SEED, Task, plan
from verify.campaign.run_options import RunOptions
from verify.campaign.summary import is_unanswered
from verify.campaign.worker_choice import workers_of
from verify.campaign.workers import AnyExecutor, Crew, run_here
from verify.checks.measuring.case import ProfileName, checks, find_profile
from verify.cli.runs.stage_causes import letter_of_stages, require_causes
from verify.report.model import Result
from verify.subjects import name_of, require_stages
from verify.subjects.faults import described
from verify.subjects.time_limits import check_limit
from verify.verdict import Verdict, combine

if TYPE_CHECKING:
    from verify.report.rows.letter import Letter

ARGUMENT = "claim"
CAUSES = 20.0
"""Seconds for which causes are looked for."""
_OPEN = ExitStack()
"""Executors in use."""
atexit.register(_OPEN.close)
Test = TypeVar("Test", bound=Callable[..., Any])


@dataclass
class _Source:
    """A subject, made when the first test needs it, and once only; one given by name is made in a worker."""

    given: Any
    name: str
    time_limit: float | None = None
    executor: AnyExecutor | None = None
    trace: bool = False
    """Whether lines are looked for then."""
    causes: float = 0.0
    """Seconds for which causes are looked for, once, after the first test that fails."""
    letter: Letter | None = None
    why_not: str = ""
    """Why causes could not be looked for."""
    runner: Callable[[Sequence[Task]], Iterator[tuple[Task, Result]]] | None = None
    why: str = ""
    """Why it cannot be made; it is not tried again."""
    applies: bool | None = None
    """Whether anything applies to it, once that was tried."""

    @classmethod
    def of(cls, given: Any) -> _Source:
        if isinstance(given, str):
            return cls(given, given)
        return cls(given, f"{given.__module__}:{given.__qualname__}" if isinstance(given, type) else name_of(given))

    def limited(self, time_limit: float | None) -> None:
        """Take a limit for stage calls, the settings' where none is given."""
        if time_limit is None:
            time_limit = load_settings().of(self.name).settings.time_limit
        check_limit(time_limit)
        self.time_limit = time_limit

    def judged_by(self, executor: AnyExecutor | None) -> None:
        """Take an executor, whose workers load the subject by its name."""
        if executor is not None and not isinstance(self.given, str):
            raise InvalidInputError("executor", "must be given a subject by name", self.name)
        if isinstance(executor, str):
            factory_of(executor)
        self.executor = executor

    def looks_for_causes(self, seconds: float, *, trace: bool) -> None:
        """Take a time for causes; a subject that an executor's workers load need not be here."""
        traced = (self.given if isinstance(self.given, str) else type(self.given).__name__) if trace else None
        require_causes(seconds, "", traced=traced, but="an executor" if self.executor is not None else "")
        self.causes, self.trace = 0.0 if self.executor is not None else seconds, trace

    def told_causes(self, seed: int) -> list[str]:
        """What its stages compute where they are off, a line each; looked for at the first call."""
        seconds, self.causes = self.causes, 0.0
        if seconds:
            try:
                subject = self.given() if isinstance(self.given, type) else self.given
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever a stranger's constructor does the second time
                self.why_not = described(error)
            else:
                self.letter = letter_of_stages(subject, seed, seconds, self.time_limit, trace=self.trace)
        if self.why_not:
            return [f"causes were not looked for: making it once more ended in {self.why_not}"]
        return [] if self.letter is None else [f"cause: {line}" for line in self.letter.causes()]

    def ready(self) -> bool:
        """Whether it is made, or can be."""
        if self.runner is None and not self.why:
            try:
                self.runner = self._make()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever a stranger's constructor does, exit() included
                self.why = str(error) if isinstance(error, InvalidInputError) else described(error)
        return self.runner is not None

    def run(self, tasks: Sequence[Task]) -> tuple[Result, ...]:
        """Results of the tasks, in their order; the subject must be ready."""
        assert self.runner is not None
        by_task = dict(self.runner(tasks))
        return tuple(by_task[task] for task in tasks)

    def answers(self) -> bool:
        """Whether anything said of a solver applies to it: a stage that refuses every call is none."""
        if self.applies is None:
            tasks: dict[tuple[str, ...], Task] = {}
            planned = plan((), ("repaired",), (), find_profile("smoke"), self.name, DEFAULT_SEED)
            # Whatever needs no samples tells first.
            for task in sorted(planned, key=lambda task: checks()[task.claim].decisions):
                tasks.setdefault(checks()[task.claim].needs, task)
            silent = (Verdict.NOT_APPLICABLE, Verdict.VACUOUS)
            self.applies = any(self.run([task])[0].verdict not in silent for task in tasks.values())
        return self.applies

    def _make(self) -> Callable[[Sequence[Task]], Iterator[tuple[Task, Result]]]:
        if self.executor is not None:
            # Kept open by the stack until the tests end.
            options = RunOptions(subject=self.given, time_limit=self.time_limit, executor=self.executor)
            return _OPEN.enter_context(workers_of(options)).results_of
        if isinstance(self.given, str):
            # Open until the tests end: its worker ends with this process.
            return Crew(self.given, seconds=self.time_limit).__enter__().results
        subject = self.given() if isinstance(self.given, type) else self.given
        require_stages(subject, self.name)
        return functools.partial(run_here, subject=subject, time_limit=self.time_limit)


@dataclass
class ClaimTest:
    """What a test is given: a claim or step under a reading, on its instances, not run yet.

    ``expected_failure`` says why it is expected to fail, or is ``None``.
    """

    claim: str
    reading: str
    expected_failure: str | None
    _tasks: tuple[Task, ...] = field(repr=False)
    _source: _Source = field(repr=False)
    _results: tuple[Result, ...] | None = field(default=None, repr=False)

    @property
    def results(self) -> tuple[Result, ...]:
        """One result an instance; run at the first look."""
        if self._results is None:
            if not self._source.ready():
                pytest.fail(f"FAULT: the subject {self._source.name} cannot be made: {self._source.why}", pytrace=False)
            self._results = self._source.run(self._tasks)
        return self._results

    @property
    def verdict(self) -> Verdict | None:
        """Over all instances: refuted on one is refuted; ``None`` for a fault."""
        return combine(result.verdict for result in self.results)

    def check(self) -> None:
        """Pass, fail, skip or xfail as the verdict has it.

        SUPPORTED passes. REFUTED fails, and so does INCONCLUSIVE: undecided is not supported. A claim that does not
        apply to the subject, or says nothing, is skipped with the reason, unless it answers nothing at all. A fault
        always fails, expected or not. An expected failure that passes, or is skipped, fails. As written, a right
        implementation reproduces the paper's refutations: there the verdict on record passes and any other fails.
        """
        faults = [result for result in self.results if result.verdict is None]
        if faults:
            pytest.fail(_told("FAULT", faults), pytrace=False)
        bad = [result for result in self.results if self._is_bad(result)]
        applies = [result for result in self.results if result.verdict not in (Verdict.NOT_APPLICABLE, Verdict.VACUOUS)]
        if self.expected_failure is not None:
            if bad:
                pytest.xfail(f"{self.expected_failure} ({bad[0].verdict}: {bad[0].sentence})")
            how = "it holds" if applies else f"it is skipped: {self.results[0].sentence.rstrip('.')}"
            pytest.fail(
                f"{self.claim} [{self.reading}] is expected to fail ({self.expected_failure}), but {how}. "
                "Take it out of expected_failed.",
                pytrace=False,
            )
        if bad:
            refuted = any(result.verdict is Verdict.REFUTED for result in bad)
            causes = self._source.told_causes(self._tasks[0].seed) if refuted else []
            pytest.fail("\n".join([_told("", bad), *causes]), pytrace=False)
        refused = [result for result in self.results if is_unanswered(result)]
        if refused and any(result.verdict is Verdict.SUPPORTED for result in self.results):
            # Who chooses the questions proves nothing.
            pytest.fail(_told("undecided", refused), pytrace=False)
        if not applies and not self._source.answers():
            pytest.fail(f"FAULT: {self._source.name} answers nothing: no comparison was made", pytrace=False)
        if not applies and self.reading == "repaired":
            pytest.skip(f"{self.results[0].verdict}: {self.results[0].sentence}")
        if all(is_missing_stage(result) for result in self.results):
            pytest.skip(f"{self.results[0].verdict}: {self.results[0].sentence}")

    def _is_bad(self, result: Result) -> bool:
        if self.reading == "repaired":
            return result.verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE)
        recorded = shipped_record().get(result.key)
        return not is_missing_stage(result) and str(result.verdict) != recorded


def parametrize_with_claims(
    subject: Any,
    *,
    expected_failed: Mapping[str, str] | None = None,
    claims: Iterable[str] = (),
    readings: Iterable[str] = ("repaired",),
    instances: Iterable[str] = (),
    profile: ProfileName = "smoke",
    seed: int = DEFAULT_SEED,
    per_instance: bool = False,
    time_limit: float | None = None,
    executor: AnyExecutor | None = None,
    causes: float = CAUSES,
    trace: bool = False,
) -> Callable[[Test], Test]:
    """Run a test once for each claim and step, as ``claim``.

    The test's argument ``claim`` is a :class:`ClaimTest`; its :meth:`~ClaimTest.check` asserts the verdict, and a test
    that never looks at it fails. Nothing runs at collection, and only what is selected runs at all
    (``-k bias-bound``). Ids are the same in every process, so that pytest-xdist can share the tests out.

    Args:
        subject: ``"package.module:Attribute"`` or ``"command:COMMAND LINE"``, run in a process of its own; or an
            object with stages, or a class (called without arguments), run in this one, which it can end.
        expected_failed: Reasons by id: ``"bias-bound/T1"``, which is of the repaired reading,
            ``"bias-bound/T1|as-written"`` and, with ``per_instance``, ``"bias-bound/T1|repaired|toy1"``. One that
            passes fails its test; an id that no test has, or without a reason, is an error at collection.
        claims: Full ids of claims or steps; a claim brings its steps. All if empty.
        readings: ``"repaired"``, ``"as-written"`` or ``"only:FIELD"``.
        instances: Atlas names; each check's own list if empty.
        profile: ``"smoke"``, ``"ci"`` or ``"full"``.
        seed: Seed of all randomness, >= 0.
        per_instance: Whether each instance is a test of its own.
        time_limit: Seconds one stage call may take, as :func:`verify.run` takes it; what the settings of the working
            directory say of this subject if ``None``.
        executor: Where a subject given by name is judged, as :func:`verify.run` takes it.
        causes: Seconds, >= 0, for which the first test that fails looks for what is off in the subject's stages, as
            ``f2csa conform`` does; each that fails says it. 0 for not at all; no executor's subject is asked.
        trace: Whether it then looks for the line of source that makes a stage wrong, as ``f2csa conform --trace`` does,
            for another 20 s at most; of a Python subject given by name.

    Raises:
        pytest.Collector.CollectError: If a name or an expected failure is unknown, in one line.
    """
    source = _Source.of(subject)
    wanted = [[value] if isinstance(value, str) else list(value) for value in (claims, readings, instances)]
    try:
        source.limited(time_limit)
        source.judged_by(executor)
        source.looks_for_causes(causes, trace=trace)
        tests = _tests(_planned(wanted, profile, source.name, seed), source, per_instance)
        entries = listed(ExpectedFailure, expected_failed or {}, "expected_failed")
    except InvalidInputError as error:
        raise pytest.Collector.CollectError(f"parametrize_with_claims: {error}") from None
    expected = {entry.id: entry.reason for entry in entries}
    unused = set(expected)
    parameters = []
    for name, test in tests.items():
        matches = [key for key in _keys(test, per_instance) if key in expected]
        unused -= set(matches)
        test.expected_failure = expected[matches[-1]] if matches else None
        parameters.append(pytest.param(test, id=name))
    if unused:
        known = "expected_failed must name tests there are: a claim or step, or claim|reading"
        narrower = "" if per_instance else "; single instances need per_instance=True"
        raise pytest.Collector.CollectError(
            f"parametrize_with_claims: {known}{narrower}; got {', '.join(sorted(unused))}"
        )

    def decorate(function: Test) -> Test:
        @functools.wraps(function)
        def looked_at(*arguments: Any, **named: Any) -> Any:
            answer = function(*arguments, **named)
            test = named.get(ARGUMENT)
            if isinstance(test, ClaimTest) and test._results is None:
                pytest.fail(f"{function.__name__} never looked at its claim: call claim.check()", pytrace=False)
            return answer

        marked: Test = pytest.mark.parametrize(ARGUMENT, parameters)(looked_at)
        return marked

    return decorate


def _planned(wanted: Sequence[Sequence[str]], profile: str, subject: str, seed: int) -> list[Task]:
    claims, readings, instances = wanted
    tasks = plan(claims, readings, instances, find_profile(profile), subject, seed)
    if not tasks:
        raise InvalidInputError("claims", "must select at least one check; no check matches", ", ".join(claims))
    return tasks


def _tests(tasks: Sequence[Task], source: _Source, per_instance: bool) -> dict[str, ClaimTest]:
    grouped: dict[str, list[Task]] = {}
    for task in tasks:
        name = f"{task.claim}-{task.reading}" + (f"-{task.instance}" if per_instance else "")
        grouped.setdefault(name, []).append(task)
    return {
        name: ClaimTest(group[0].claim, group[0].reading, None, tuple(group), source)
        for name, group in grouped.items()
        if group[0].claim in checks()
    }


def _keys(test: ClaimTest, per_instance: bool) -> list[str]:
    """Ids of a test, the widest first."""
    keys = [*([test.claim] if test.reading == "repaired" else []), f"{test.claim}|{test.reading}"]
    return [*keys, test._tasks[0].key] if per_instance else keys


def _told(word: str, results: list[Result]) -> str:
    lines = []
    for result in results:
        lines.append(f"{word or result.verdict}: {result.where}: {result.fault or result.sentence}")
        example = result.counterexample
        if example is not None and example.note:
            lines.append(f"  {example.note}")
        lines.append(f"  reproduce: {result.reproduce}")
    return "\n".join(lines)
