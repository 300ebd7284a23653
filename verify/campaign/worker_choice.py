"""Who answers the tasks of a run: this process, worker processes, or the workers of an executor."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from spec import InvalidInputError
from verify.campaign.plan import Task
from verify.campaign.workers import Crew, run_here
from verify.report.model import Result
from verify.subjects import Subject, load_subject, name_of, require_stages
from verify.subjects.loading import REFERENCE, version_of

if TYPE_CHECKING:
    from verify.campaign.executors.remote_workers import AnyExecutor


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


@contextmanager
def on(
    executor: AnyExecutor,
    subject: str | Subject,
    time_limit: float | None,
    watch: Callable[[], None] | None,
    *,
    in_process: bool,
) -> Iterator[TaskWorkers]:
    """A subject in the workers of an executor."""
    from verify.campaign.executors.remote_workers import RemoteWorkers

    if not isinstance(subject, str):
        raise InvalidInputError("executor", "must be given a subject by name: an object is in this process alone")
    if in_process:
        raise InvalidInputError("executor", "must not be given together with in_process: nobody could end its workers")
    with RemoteWorkers(executor, subject, time_limit, watch) as workers:

        def results(tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
            if tasks:
                if subject == REFERENCE:
                    workers.introduction()
                yield from workers.results(tasks)

        version = version_of(load_subject(REFERENCE)) if subject == REFERENCE else workers.introduction()
        yield TaskWorkers(version, results, workers.stop, workers.offers, machines=workers.machines)


@contextmanager
def loaded(
    subject: str | Subject,
    jobs: int,
    time_limit: float | None,
    watch: Callable[[], None] | None,
    *,
    in_process: bool,
) -> Iterator[TaskWorkers]:
    """A subject in worker processes, or here.

    What is given by name is loaded in workers: a stranger's code may end its process, with a success at that, or hang.
    """
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
        with Crew(subject, jobs, time_limit, watch, in_process) as crew:

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
