"""Who answers the tasks of a run: this process, worker processes, or the workers of an executor."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import NamedTuple

from spec import InvalidInputError
from verify.campaign.plan import Task
from verify.campaign.run_options import RunOptions
from verify.campaign.workers import AnyExecutor, Crew, run_here
from verify.report.model import Result
from verify.subjects import load_subject, name_of, require_stages
from verify.subjects.subject_names import REFERENCE, version_of


class TaskWorkers(NamedTuple):
    """The version a subject states, how tasks are run on it, and how that is stopped: with what is done besides.

    ``offers`` are the stages that one in a process of its own announces; ``elsewhere`` is whether other processes do
    the work while this one waits; ``machines`` are those of an executor's workers, as they say.
    """

    version: str
    results_of: Callable[[Sequence[Task]], Iterator[tuple[Task, Result]]]
    stop: Callable[[], Iterable[tuple[Task, Result]]]
    offers: str = ""
    elsewhere: bool = True
    machines: Collection[tuple[tuple[str, str], ...]] = ()


def workers_of(options: RunOptions) -> AbstractContextManager[TaskWorkers]:
    """Who answers the tasks of a run that is asked so."""
    return _loaded(options) if options.executor is None else _on(options.executor, options)


@contextmanager
def _on(executor: AnyExecutor, options: RunOptions) -> Iterator[TaskWorkers]:
    """A subject in the workers of an executor."""
    from verify.campaign.executors.remote_workers import RemoteWorkers

    subject = options.subject
    if not isinstance(subject, str):
        raise InvalidInputError("executor", "must be given a subject by name: an object is in this process alone")
    if options.in_process:
        raise InvalidInputError("executor", "must not be given together with in_process: nobody could end its workers")
    with RemoteWorkers(executor, subject, options.time_limit, options.watch) as workers:

        def results(tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
            if tasks:
                if subject == REFERENCE:
                    workers.introduction()
                yield from workers.results(tasks)

        version = version_of(load_subject(REFERENCE)) if subject == REFERENCE else workers.introduction()
        yield TaskWorkers(version, results, workers.stop, workers.offers, machines=workers.machines)


@contextmanager
def _loaded(options: RunOptions) -> Iterator[TaskWorkers]:
    """A subject in worker processes, or here.

    What is given by name is loaded in workers: a stranger's code may end its process, with a success at that, or hang.
    """
    subject, jobs, time_limit, watch = options.subject, options.jobs, options.time_limit, options.watch
    if subject == REFERENCE and jobs > 1:
        crews: list[Crew] = []
        with ExitStack() as started:

            def results(tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
                # Where all is kept already, nobody is needed.
                if tasks:
                    crews.append(started.enter_context(Crew(REFERENCE, jobs, time_limit, watch)))
                    yield from crews[0].results(tasks)

            def stop() -> Iterable[tuple[Task, Result]]:
                for crew in crews:
                    crew.close()
                return ()

            yield TaskWorkers(version_of(load_subject(REFERENCE)), results, stop)
    elif isinstance(subject, str) and subject != REFERENCE:
        with Crew(subject, jobs, time_limit, watch, options.in_process) as crew:

            def end() -> Iterable[tuple[Task, Result]]:
                crew.close()
                return ()

            yield TaskWorkers(crew.version, crew.results, end, crew.offers or "")
    else:
        here = load_subject(subject) if isinstance(subject, str) else subject
        require_stages(here, name_of(here))
        yield TaskWorkers(
            version_of(here), partial(run_here, subject=here, time_limit=time_limit), lambda: (), elsewhere=False
        )
