"""Run checks over instances and readings, in parallel, into a report."""

from __future__ import annotations

import os
import platform
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from spec import InvalidInputError, Reading, load_claims
from spec.atlas import Instance
from spec.atlas import find as find_instance
from spec.claims import Bound, Statement
from spec.claims import find as find_claim
from verify.evidence import PremiseEvidence
from verify.profiles import Profile, find_profile
from verify.registry import Case, Check, Measurement, checks
from verify.results import Counterexample, Report, Result, SummaryRow, Verdict
from verify.subjects import MissingCapabilityError, Subject, SubjectFaultError, load_subject
from verify.subjects.protocol import Stages
from verify.truth import PremiseUnmetError, premises_met
from verify.verdict import Decision, NoEvidenceError, combine, decide

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_SEED = 20_240_913
ALL_READINGS = ("as-written", "repaired")

Progress = Callable[[int, int, str], None]
"""Called with (tasks done, tasks in all, what was just done)."""


@dataclass(frozen=True)
class Task:
    """One result to produce; plain data, so it crosses process boundaries.

    Args:
        claim: Full id.
        reading: ``as-written``, ``repaired`` or ``only:FIELD``.
        instance: Atlas name.
        subject: How to load the subject.
        profile: Profile name.
        seed: Seed of the whole run.
    """

    claim: str
    reading: str
    instance: str
    subject: str
    profile: str
    seed: int

    @property
    def key(self) -> str:
        """Identifies the result within a report."""
        return f"{self.claim}|{self.reading}|{self.instance}"

    @property
    def command(self) -> str:
        """The command that repeats exactly this result."""
        subject = "" if self.subject == "reference" else f" --subject {self.subject}"
        return (
            f"f2csa verify {self.claim} --reading {self.reading} --instance {self.instance} "
            f"--profile {self.profile} --seed {self.seed}{subject}"
        )


def run(
    claims: Iterable[str] = (),
    *,
    subject: str | Subject = "reference",
    readings: Iterable[str] = ALL_READINGS,
    instances: Iterable[str] = (),
    profile: str = "ci",
    seed: int = DEFAULT_SEED,
    jobs: int = 1,
    progress: Progress | None = None,
    store: Path | None = None,
    record: dict[str, str] | None = None,
) -> Report:
    """Verify claims and return the report.

    Args:
        claims: Full ids of claims or steps; a claim brings its steps. All if empty.
        subject: The implementation: ``"reference"``, ``"package.module:Attribute"``, or an object with stages.
        readings: ``"as-written"``, ``"repaired"``, or ``"only:FIELD"`` for one choice as written alone. With both
            named readings, profiles that isolate add every choice alone.
        instances: Atlas names; each check's own list if empty.
        profile: ``"smoke"``, ``"ci"`` or ``"full"``.
        seed: Seed of all randomness, >= 0. The same seed gives the same report for any number of jobs.
        jobs: Worker processes; 1 runs in this process. An object as subject runs in this process.
        progress: Called after each result.
        store: File that keeps finished results, so that an interrupted run can go on from there.
        record: Verdicts on record by result key, to compare with; the shipped record if ``None``.

    Returns:
        The report. ``print`` it, show it in a notebook, or :meth:`~verify.results.Report.write` it.

    Raises:
        InvalidInputError: If a name is unknown or a number out of range.

    Example:
        >>> import verify
        >>> report = verify.run(["bias-bound/T3"], instances=["toy1"], profile="smoke")
        >>> [(row["reading"], str(row["verdict"])) for row in report.records()]
        [('as-written', 'REFUTED'), ('repaired', 'SUPPORTED')]
    """
    from verify.baseline import compare, shipped_record
    from verify.store import Store

    if seed < 0:
        raise InvalidInputError("seed", "must be >= 0", seed)
    if jobs < 1:
        raise InvalidInputError("jobs", "must be >= 1", jobs)
    name = subject if isinstance(subject, str) else subject.name
    loaded = load_subject(subject) if isinstance(subject, str) else subject
    tasks = plan(list(claims), list(readings), list(instances), find_profile(profile), name, seed)
    kept = Store(store, environment(), name, profile, seed) if store is not None else None
    done = dict(kept.load()) if kept is not None else {}
    started = time.perf_counter()
    open_tasks = [task for task in tasks if task.key not in done]
    complete = True
    count = len(tasks) - len(open_tasks)
    try:
        in_process = jobs == 1 or not isinstance(subject, str)
        for task, result in _run_here(open_tasks, loaded) if in_process else _run_pool(open_tasks, jobs):
            done[task.key] = result
            count += 1
            if kept is not None:
                kept.append(task.key, result)
            if progress is not None:
                progress(count, len(tasks), task.key)
    except KeyboardInterrupt:
        complete = False
    results = [done[task.key] for task in tasks if task.key in done]
    judged, findings = compare(results, shipped_record() if record is None else record)
    return Report(
        environment=environment(),
        seed=seed,
        profile=profile,
        subject=name,
        results=tuple(judged),
        summary=tuple(summarise(judged, list(claims))),
        seconds=time.perf_counter() - started,
        complete=complete,
        findings=tuple(findings),
    )


def plan(
    claims: Sequence[str],
    readings: Sequence[str],
    instances: Sequence[str],
    profile: Profile,
    subject: str,
    seed: int,
) -> list[Task]:
    """All results a run will produce, in the report's order.

    Raises:
        InvalidInputError: If a claim, reading or instance is unknown.
    """
    for instance in instances:
        find_instance(instance)
    tasks: list[Task] = []
    for full_id in _selected(claims):
        found = checks().get(full_id)
        if found is None:
            continue
        statement = find_claim(full_id)
        for reading in _readings(statement, readings, profile):
            tasks += [
                Task(full_id, reading, instance, subject, profile.name, seed)
                for instance in _instances(found, instances, profile)
            ]
    return tasks


def _selected(claims: Sequence[str]) -> list[str]:
    known = [full_id for claim in load_claims().values() for full_id, _ in claim.statements()]
    for claim in claims:
        find_claim(claim)
    if not claims:
        return known
    return [full_id for full_id in known if full_id in claims or full_id.split("/")[0] in claims]


def _readings(statement: Statement, wanted: Sequence[str], profile: Profile) -> Iterator[str]:
    for name in wanted:
        if name in ALL_READINGS:
            yield name
        elif name.startswith("only:") and name[5:] in Reading.model_fields:
            if name[5:] in statement.choices:
                yield name
        else:
            raise InvalidInputError("reading", "must be as-written, repaired or only:FIELD", name)
    # A statement that makes a single choice is isolated already.
    if profile.isolate and set(ALL_READINGS) <= set(wanted) and len(statement.choices) > 1:
        yield from (f"only:{choice}" for choice in statement.choices if f"only:{choice}" not in wanted)


def _instances(found: Check, wanted: Sequence[str], profile: Profile) -> Sequence[str]:
    if wanted:
        return [name for name in found.instances if name in wanted]
    return found.instances[: profile.breadth]


def bound_under(statement: Statement, reading: str) -> tuple[Bound, Reading]:
    """What is asserted under a reading, and the full reading it is judged under."""
    if reading == "repaired":
        return statement.repaired.bound, statement.reading("repaired")
    if reading == "as-written":
        return statement.as_written.bound, statement.reading("as-written")
    return statement.as_written.bound, statement.isolated()[reading.removeprefix("only:")]


def perform(task: Task, subject: Subject) -> Result:
    """Produce one result; whatever the subject does, a result comes back."""
    from threadpoolctl import threadpool_limits

    started = time.perf_counter()
    instance = find_instance(task.instance)
    bound, reading = bound_under(find_claim(task.claim), task.reading)
    found = checks()[task.claim]
    case = Case(
        claim=task.claim,
        bound=bound,
        reading_name=task.reading,
        reading=reading,
        instance=instance,
        stages=Stages(subject),
        profile=find_profile(task.profile),
        rng=np.random.default_rng([task.seed, zlib.crc32(task.key.encode())]),
    )
    try:
        case.stages.require(found.needs)
        with threadpool_limits(1), np.errstate(all="ignore"):
            measured = found.function(case)
        measured = replace(measured, evidence=(*_premises(task, measured), *measured.evidence))
        decision = decide(bound, measured.evidence)
    except PremiseUnmetError as unmet:
        measured = Measurement((unmet.evidence,))
        decision = decide(bound, measured.evidence)
    except MissingCapabilityError as missing_stage:
        measured = Measurement(())
        decision = Decision(Verdict.NOT_APPLICABLE, f"Not applicable: {missing_stage}.")
    except (SubjectFaultError, NoEvidenceError) as error:
        return _fault(task, str(error), started)
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        return _fault(task, f"the check failed: {type(error).__name__}: {error}", started)
    return _result(task, instance, measured, decision, started)


def _premises(task: Task, measured: Measurement) -> Iterator[PremiseEvidence]:
    """The claim's common premises that this instance meets, beside those the check examined itself."""
    statement, claim = find_claim(task.claim), find_claim(task.claim.split("/")[0])
    asked = {premise.id for premise in (*claim.premises, *statement.premises)}
    examined = {item.premise for item in measured.evidence if isinstance(item, PremiseEvidence)}
    met = premises_met(task.instance)
    yield from (met[premise] for premise in met if premise in asked - examined)


def _result(task: Task, instance: Instance, measured: Measurement, decision: Decision, started: float) -> Result:
    counterexample = None
    if decision.verdict is Verdict.REFUTED:
        counterexample = measured.counterexample or Counterexample(
            problem=plain(instance.problem.to_dict()),
            x=[str(value) for value in instance.x],
            values=measured.values,
            note=measured.note,
        )
    return Result(
        claim=task.claim,
        reading=task.reading,
        instance=task.instance,
        verdict=decision.verdict,
        sentence=decision.sentence,
        claimed=decision.claimed,
        measured=decision.measured,
        interval=decision.interval,
        loose_by=decision.loose_by,
        rung=decision.rung,
        evidence=measured.evidence,
        error_rates=decision.error_rates or {},
        counterexample=counterexample,
        reproduce=task.command,
        seconds=time.perf_counter() - started,
    )


def _fault(task: Task, why: str, started: float) -> Result:
    return Result(
        claim=task.claim,
        reading=task.reading,
        instance=task.instance,
        verdict=None,
        sentence=f"Fault: {why}",
        fault=why,
        reproduce=task.command,
        seconds=time.perf_counter() - started,
    )


def plain(value: Any) -> Any:
    """Canonical problem data with exact decimals as JSON-ready numbers where a double holds them, else strings."""
    from decimal import Decimal

    if isinstance(value, Decimal):
        return float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def summarise(results: Sequence[Result], claims: Sequence[str] = ()) -> Iterator[SummaryRow]:
    """One row a claim or step and reading, in the paper's order; claims without a check are said to have none.

    A claim's row also weighs the steps that are part of its statement: the claim falls with them.
    """
    by_key: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        by_key.setdefault((result.claim, result.reading), []).append(result)
    wanted = set(_selected(claims))
    for claim in load_claims().values():
        for full_id, statement in claim.statements():
            if full_id not in wanted:
                continue
            if full_id not in checks() and not (statement is claim and _statement_steps(full_id, by_key)):
                yield SummaryRow(claim=full_id, reading="", status="NOT_CHECKED", sentence="Not checked yet.")
                continue
            steps = _statement_steps(full_id, by_key) if statement is claim else []
            for reading in _readings_present(full_id, steps, by_key):
                own = by_key.get((full_id, reading), [])
                yield _row(full_id, reading, own, [r for s in steps for r in by_key.get((s, reading), [])])


def _statement_steps(full_id: str, by_key: dict[tuple[str, str], list[Result]]) -> list[str]:
    claim = load_claims()[full_id]
    present = {claim_id for claim_id, _ in by_key}
    return [f"{full_id}/{s.id}" for s in claim.steps if s.role == "statement" and f"{full_id}/{s.id}" in present]


def _readings_present(full_id: str, steps: list[str], by_key: dict[tuple[str, str], list[Result]]) -> list[str]:
    own = [reading for claim, reading in by_key if claim == full_id]
    shared = [reading for claim, reading in by_key if claim in steps and reading in ALL_READINGS]
    return list(dict.fromkeys([*own, *shared]))


def _row(full_id: str, reading: str, own: list[Result], inherited: list[Result]) -> SummaryRow:
    weighed = own + inherited
    verdict = combine(result.verdict for result in weighed)
    status: Any = "FAULT" if verdict is None else verdict
    deciding = next(result for result in weighed if result.verdict == verdict)
    sentence = deciding.sentence if deciding.claim == full_id else f"By its part {deciding.claim}: {deciding.sentence}"
    return SummaryRow(
        claim=full_id,
        reading=reading,
        status=status,
        sentence=sentence,
        instances=dict(Counter(str(result.verdict) if result.verdict else "FAULT" for result in own)),
        deciding=deciding.instance,
    )


def environment() -> dict[str, str]:
    """Versions that can influence a number; no machine names, no paths."""
    packages = ("f2csa-verify", "numpy", "scipy", "daqp", "python-flint", "pydantic")
    found = {name: metadata.version(name) for name in packages}
    return {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}", **found}


def _run_here(tasks: Sequence[Task], subject: Subject) -> Iterator[tuple[Task, Result]]:
    for task in tasks:
        yield task, perform(task, subject)


def _run_pool(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, Result]]:
    with _one_blas_thread(), ProcessPoolExecutor(jobs, initializer=_prepare_worker, mp_context=_context()) as pool:
        yield from run_on(pool, tasks)


def run_on(pool: Executor, tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
    """Run tasks on any standard executor, in chunks, yielding results as they come."""
    futures = {pool.submit(_perform_chunk, chunk): chunk for chunk in _chunks(tasks)}
    try:
        for future in as_completed(futures):
            chunk = futures[future]
            try:
                results = future.result()
            except (KeyboardInterrupt, SystemExit):
                raise
            except Exception as error:
                # The worker died (killed, out of memory): its tasks are faults, the others go on.
                results = [
                    _fault(task, f"the worker died ({type(error).__name__})", time.perf_counter()) for task in chunk
                ]
            yield from zip(chunk, results, strict=True)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in getattr(pool, "_processes", {}).values():
            process.terminate()
        raise


CHUNK = 6
"""Tasks a worker takes at once: large enough to hide the hand-over, small enough to keep both cores busy."""


def _chunks(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    for start in range(0, len(tasks), CHUNK):
        yield list(tasks[start : start + CHUNK])


def _perform_chunk(tasks: list[Task]) -> list[Result]:
    return [perform(task, load_subject(task.subject)) for task in tasks]


def _prepare_worker() -> None:
    import signal

    # Ctrl-C is the parent's to handle: it stops the workers and keeps what is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    checks()


def _context() -> Any:
    import multiprocessing

    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["verify.campaign", "f2csa_ref"])
    return context


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Workers inherit one BLAS thread each: two on two cores stall one another."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


__all__ = [
    "DEFAULT_SEED",
    "PremiseEvidence",
    "Progress",
    "Task",
    "bound_under",
    "environment",
    "perform",
    "plan",
    "run",
]
