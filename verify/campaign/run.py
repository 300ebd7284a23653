"""Run checks over instances and readings, in parallel, into a report; what is finished is kept on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from spec import InvalidInputError
from spec.drawn import is_drawn
from spec.expectations import ExpectedFailure, Skip, listed
from verify.campaign.ahead import FEW, Ahead
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.draws import drawn_tasks, gathered, how_many
from verify.campaign.expectations import require_askable, set_apart
from verify.campaign.plan import DEFAULT_SEED, Task, plan
from verify.campaign.run_environment import NOISE, environment, machine, of_every_machine, versions, whereabouts
from verify.campaign.store.addresses import Addresses, sources_of
from verify.campaign.store.bookkeeping import Books, Reuse
from verify.campaign.store.dependencies import installed
from verify.campaign.store.kept_results import Plan, Request, Store
from verify.campaign.store.shards import Shard
from verify.campaign.store.stored_report import Searches, assembled
from verify.campaign.worker_choice import TaskWorkers, loaded, on
from verify.checks.measuring.case import ProfileName, find_profile
from verify.evidence.anytime import NoiseClass
from verify.evidence.budget import level_of
from verify.report.model import NAMED as ALL_READINGS
from verify.report.model import Result
from verify.report.report_files import Report
from verify.subjects import Subject, name_of
from verify.subjects.loading import REFERENCE
from verify.subjects.time_limits import check_limit

if TYPE_CHECKING:
    from verify.campaign.executors.remote_workers import AnyExecutor

Progress = Callable[[int, int, str], None]
"""Called with (tasks done, tasks in all, what was just done)."""


def run(
    claims: Iterable[str] = (),
    *,
    subject: str | Subject = "reference",
    readings: Iterable[str] = ALL_READINGS,
    instances: Iterable[str] = (),
    profile: ProfileName = "ci",
    seed: int = DEFAULT_SEED,
    effort: int | None = None,
    noise: str | None = None,
    draws: int | None = None,
    atlas: bool = True,
    skips: Mapping[str, str] | Sequence[Skip] = (),
    expected_failures: Mapping[str, str] | Sequence[ExpectedFailure] = (),
    jobs: int = 1,
    progress: Progress | None = None,
    watch: Callable[[], None] | None = None,
    until: Callable[[Result], bool] | None = None,
    store: Path | None = None,
    resume: bool = True,
    fresh: bool = False,
    shard: Shard | None = None,
    record: dict[str, str] | None = None,
    time_limit: float | None = None,
    in_process: bool = False,
    executor: AnyExecutor | None = None,
) -> Report:
    """Verify claims and return the report.

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

    Returns:
        The report. ``print`` it, show it in a notebook, or :meth:`~verify.report.model.Report.write` it.

    Raises:
        InvalidInputError: If a name is unknown, a number out of range, the subject is not there, or the executor
            cannot be had or has other code.
        LoadingFaultError: Of that kind, too; if the subject raises, quits or hangs while it is loaded.

    Example:
        >>> import verify
        >>> report = verify.run(["bias-bound/T3"], instances=["toy1"], profile="smoke")
        >>> [(row["reading"], str(row["verdict"])) for row in report.records()]
        [('as-written', 'REFUTED'), ('repaired', 'SUPPORTED')]
    """
    claims = [claims] if isinstance(claims, str) else list(claims)
    readings = [readings] if isinstance(readings, str) else list(readings)
    instances = [instances] if isinstance(instances, str) else list(instances)
    if jobs < 1:
        raise InvalidInputError("jobs", "must be >= 1", jobs)
    name = subject if isinstance(subject, str) else name_of(subject)
    check_limit(time_limit)
    sizes = find_profile(profile)
    effort = sizes.effort if effort is None else effort
    level_of(effort)
    stated = {} if noise is None else {NOISE: noise}
    if noise is not None:
        NoiseClass.named(noise)
    planned = plan(claims, readings, instances, sizes, name, seed)
    wanted, draws = draws, how_many(draws, sizes, instances)
    drawn = drawn_tasks(claims, readings, sizes, draws, like=Task("", "", "", name, profile, seed))
    if draws and not drawn and wanted:
        # Asked about nothing, nothing would fail on them.
        raise InvalidInputError("draws", "must be asked about by a statement that needs no samples; none is", wanted)
    left_out = listed(Skip, skips, "skips")
    excuses = listed(ExpectedFailure, expected_failures, "expected_failures")
    require_askable(left_out, name, "skips")
    require_askable(excuses, name, "expected_failures")
    planned, apart = set_apart(planned if atlas else [], left_out)
    # Draws are counted together: all of a statement's, or none.
    drawn, _ = set_apart(drawn, [skip for skip in left_out if not skip.instance])
    if executor is None:
        workers = loaded(subject, jobs, time_limit, watch, in_process=in_process)
    else:
        workers = on(executor, subject, time_limit, watch, in_process=in_process)
    with workers as hands, _opened(store) as opened:
        where = versions() | whereabouts(subject, in_process=in_process) | stated
        where |= {"subject offers": hands.offers} if hands.offers else {}
        addresses = None
        if opened is not None or shard is not None:
            addresses = Addresses(where, hands.version, sources_of(subject), installed())
            addresses.codes = {} if opened is None else opened.remembered(f"codes of {addresses.house.whole}")
        known = name == REFERENCE
        reuse = Reuse(same=(known or resume) and not fresh, smaller=resume and not fresh, counts_draws=draws > 0)
        request = Request(
            claims=tuple(claims), subject=name, subject_version=hands.version, profile=profile, seed=seed,
            effort=effort, environment=where | machine(), code="" if addresses is None else addresses.house.whole,
            draws=draws, skips=left_out, skipped=tuple(task.key for task in apart), expected_failures=excuses,
        )  # fmt: skip
        whole = [*(replace(task, effort=effort, noise=noise or "") for task in planned), *drawn]
        brief = _Asked(request, whole, shard, shipped_record() if record is None else record)
        return _carried_out(brief, hands, Books(opened, addresses, reuse), progress, until)


@dataclass(frozen=True)
class _Asked:
    """What a run is to find out: the request as a report states it, all its tasks, the share of them, the record."""

    request: Request
    whole: Sequence[Task]
    shard: Shard | None
    record: Mapping[str, str]


def _carried_out(
    brief: _Asked, hands: TaskWorkers, books: Books, progress: Progress | None, until: Callable[[Result], bool] | None
) -> Report:
    """Produce what is not kept, and make the report of that and of what is."""
    request, store, addresses = brief.request, books.store, books.addresses
    mine = brief.whole if brief.shard is None or addresses is None else brief.shard.of(brief.whole, addresses)
    started = time.perf_counter()
    open_tasks = books.open(brief.whole, mine)
    if store is not None and addresses is not None:
        store.remember("codes of ", request.code, addresses.codes)
        store.plan(Plan(request=request, cells=tuple(books.cells.items())))
    count, complete, search = len(mine) - len(open_tasks), True, Searches(store, request.code)
    with Ahead(request, search, worthwhile=hands.elsewhere and len(open_tasks) >= FEW) as ahead:
        try:
            for result in books.each(mine) if count and until is not None else ():
                _end_at(result, until)
            for task, result in hands.results_of(open_tasks):
                books.keep(task, result)
                ahead.of(result)
                count += 1
                if progress is not None:
                    progress(count, len(mine), task.key)
                _end_at(result, until)
        except (KeyboardInterrupt, _Enough) as ended:
            complete = isinstance(ended, _Enough) and count == len(mine)
            for task, result in hands.stop():
                books.keep(task, result)
    request = _with_machines_of(request, books, hands)
    draws = request.draws
    plain = [task for task in mine if not (draws and is_drawn(task.instance))]
    drawn = [task for task in mine if draws and is_drawn(task.instance)]
    counted, shown = gathered(books.each(drawn), draws) if draws else (None, [])
    report = assembled(
        request, [*books.results(plain), *shown], brief.record, search,
        complete=complete, seconds=time.perf_counter() - started, draws=counted,
    )  # fmt: skip
    search.keep()
    if brief.shard is not None:
        share = brief.shard.said(len(mine), len(brief.whole))
        report = report.model_copy(update={"changes": (share, *report.changes)})
    return report.after(books.taken, books.notices)


def _with_machines_of(request: Request, books: Books, hands: TaskWorkers) -> Request:
    """The request with all machines that results are from: those of an executor's workers, and of what was kept."""
    others = [request.environment | dict(one) for one in sorted(hands.machines)]
    if others:
        where = of_every_machine([request.environment, *others])
        request = request.model_copy(update={"environment": where})
        if books.store is not None:
            books.store.plan(Plan(request=request, cells=tuple(books.cells.items())))
    if books.store is not None and books.taken:
        requests = [plan.request for plan in books.store.plans() if plan.request.kind == request.kind]
        where = of_every_machine([request.environment, *(one.environment for one in requests)])
        request = request.model_copy(update={"environment": where})
    return request


class _Enough(Exception):  # noqa: N818  # no error: what was asked for is found
    """The run was to end here."""


def _end_at(result: Result, until: Callable[[Result], bool] | None) -> None:
    if until is not None and until(result):
        raise _Enough


@contextmanager
def _opened(store: Path | None) -> Iterator[Store | None]:
    if store is None:
        yield None
    else:
        with Store(store) as opened:
            yield opened


__all__ = ["ALL_READINGS", "DEFAULT_SEED", "Progress", "environment", "plan", "run"]
