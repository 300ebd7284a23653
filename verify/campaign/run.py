"""Run checks over instances and readings, in parallel, into a report; what is finished is kept on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from spec import InvalidInputError
from spec.drawn import is_drawn
from spec.expectations import ExpectedFailure, Skip, listed
from verify.campaign.ahead import FEW, Ahead
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.draws import drawn_tasks, gathered, how_many
from verify.campaign.expectations import require_askable, set_apart
from verify.campaign.plan import DEFAULT_SEED, Task, plan
from verify.campaign.run_environment import NOISE, environment, machine, of_every_machine, versions, whereabouts
from verify.campaign.run_options import RunOptions, takes_keywords_of
from verify.campaign.store.addresses import Addresses, sources_of
from verify.campaign.store.bookkeeping import Books, Reuse
from verify.campaign.store.dependencies import installed
from verify.campaign.store.kept_results import Plan, Request, Store
from verify.campaign.store.stored_report import Searches, assembled
from verify.campaign.worker_choice import TaskWorkers, workers_of
from verify.report.model import Result
from verify.report.report_files import Report
from verify.subjects.subject_names import REFERENCE


@takes_keywords_of(RunOptions)
def run(options: RunOptions) -> Report:
    """Verify claims and return the report.

    Its keywords are the fields of :class:`verify.campaign.run_options.RunOptions`, ``claims`` the first of them.

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
    return carry_out(options)


def carry_out(options: RunOptions) -> Report:
    """As :func:`run`, of options that are there already."""
    claims, readings, instances = options.selection
    name, sizes, effort, noise = options.subject_name, options.sizes, options.sample_factor, options.noise
    draws = how_many(options.draws, sizes, instances)
    planned = options.planned
    drawn = drawn_tasks(claims, readings, sizes, draws, like=Task("", "", "", name, options.profile, options.seed))
    if draws and not drawn and options.draws:
        # Asked about nothing, nothing would fail on them.
        raise InvalidInputError("draws", "must be asked about by a statement that needs no samples; none is", draws)
    left_out = listed(Skip, options.skips, "skips")
    excuses = listed(ExpectedFailure, options.expected_failures, "expected_failures")
    require_askable(left_out, name, "skips")
    require_askable(excuses, name, "expected_failures")
    planned, apart = set_apart(planned if options.atlas else [], left_out)
    # Draws are counted together: all of a statement's, or none.
    drawn, _ = set_apart(drawn, [skip for skip in left_out if not skip.instance])
    with workers_of(options) as hands, _opened(options.store) as opened:
        where = versions() | whereabouts(options.subject, in_process=options.in_process)
        where |= ({} if noise is None else {NOISE: noise}) | ({"subject offers": hands.offers} if hands.offers else {})
        addresses = None
        if opened is not None or options.shard is not None:
            addresses = Addresses(where, hands.version, sources_of(options.subject), installed())
            addresses.codes = {} if opened is None else opened.remembered(f"codes of {addresses.house.whole}")
        smaller = options.resume and not options.fresh
        same = smaller or (name == REFERENCE and not options.fresh)
        request = Request(
            claims=claims, subject=name, subject_version=hands.version, profile=options.profile, seed=options.seed,
            effort=effort, environment=where | machine(), code="" if addresses is None else addresses.house.whole,
            draws=draws, skips=left_out, skipped=tuple(task.key for task in apart), expected_failures=excuses,
        )  # fmt: skip
        whole = [*(replace(task, effort=effort, noise=noise or "") for task in planned), *drawn]
        books = Books(opened, addresses, Reuse(same=same, smaller=smaller, counts_draws=draws > 0))
        return _carried_out(options, request, whole, hands, books)


def _carried_out(
    options: RunOptions, request: Request, whole: Sequence[Task], hands: TaskWorkers, books: Books
) -> Report:
    """Produce what is not kept, and make the report of that and of what is."""
    store, addresses, shard, until = books.store, books.addresses, options.shard, options.until
    mine = whole if shard is None or addresses is None else shard.of(whole, addresses)
    started = time.perf_counter()
    open_tasks = books.open(whole, mine)
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
                if options.progress is not None:
                    options.progress(count, len(mine), task.key)
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
    record = shipped_record() if options.record is None else options.record
    report = assembled(
        request, [*books.results(plain), *shown], record, search,
        complete=complete, seconds=time.perf_counter() - started, draws=counted,
    )  # fmt: skip
    search.keep()
    if shard is not None:
        report = report.model_copy(update={"changes": (shard.said(len(mine), len(whole)), *report.changes)})
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


__all__ = ["DEFAULT_SEED", "environment", "plan", "run"]
