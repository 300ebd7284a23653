"""Every task has one result, whichever worker, pool or run ends on the way."""

from __future__ import annotations

import os
import signal
from collections import Counter
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import verify
from spec import InvalidInputError
from verify.campaign.executors import remote_workers
from verify.campaign.executors.chunks import Done
from verify.campaign.executors.remote_workers import RemoteWorkers
from verify.campaign.plan import fault, plan
from verify.campaign.workers import shares_runs
from verify.checks.measuring.case import find_profile
from verify.report.formats import times
from verify.report.model import NAMED
from verify.subjects import ReferenceSubject

CLAIMS = ["bias-bound/T3", "stochastic-oracles/noise-reaches-gradient"]
QUICK = {"profile": "smoke", "instances": ["toy1"]}
TASKS = plan(["bias-bound", "solution-error"], ["as-written", "repaired"], [], find_profile("smoke"), "reference", 0)


def files(folder, **how):
    report = verify.run(CLAIMS, **QUICK, **how)
    assert not report.faults
    return {path.name: path.read_bytes() for path in report.write(folder) if path.name != times.FILE}


def pool():
    return ProcessPoolExecutor(1, mp_context=get_context("fork"))


class AtOnce(Executor):
    """Does nothing but answer; ``broken`` says what a chunk does to its worker."""

    def __init__(self, broken=lambda chunk: None, most=1000):
        self.broken, self.most = broken, most
        self.chunks = []

    def submit(self, function, chunk):
        self.chunks.append(chunk)
        future = Future()
        error = self.broken(chunk)
        if error is None:
            done = chunk.tasks[: self.most]
            future.set_result(Done(tuple(fault(task, "asked", 0.0) for task in done), 1.0, 1.0))
        else:
            future.set_exception(error)
        return future


def results(source):
    """What is said of each task, every one of them once."""
    with RemoteWorkers(source, "reference") as workers:
        found = list(workers.results(TASKS))
    assert Counter(task.key for task, _ in found) == Counter(task.key for task in TASKS)
    assert all(task.key == result.key for task, result in found)
    return {task.key: result.fault for task, result in found}


def blamed(said):
    return {key for key, why in said.items() if why != "asked"}


def test_threads_and_processes_write_what_one_process_does(tmp_path):
    one = files(tmp_path / "one", jobs=1)
    assert {"report.json", "evidence.json", "report.html", "report.md", "junit.xml", "matrix.html"} <= one.keys()
    with ThreadPoolExecutor(2) as threads:
        assert files(tmp_path / "threads", executor=threads) == one
        assert threads.submit(int).result() == 0, "it is the caller's to shut down"
    assert files(tmp_path / "processes", executor=pool) == one


def test_what_comes_back_undone_is_submitted_again_in_pieces_by_its_cost():
    executor = AtOnce(most=2)
    assert blamed(results(executor)) == set()
    first, *later = executor.chunks
    assert len(first.tasks) > 2
    assert max(len(chunk.tasks) for chunk in later if chunk.tasks[0] in first.tasks) == 2


def test_a_chunk_whose_worker_died_is_submitted_once_more():
    died = []

    def once(chunk):
        if chunk.tasks in died:
            return None
        died.append(chunk.tasks)
        return OSError("killed")

    assert blamed(results(AtOnce(once))) == set()


def test_a_task_that_kills_its_workers_is_a_fault_and_no_other_is():
    poison = TASKS[5]
    executor = AtOnce(lambda chunk: OSError("killed") if poison in chunk.tasks else None)
    said = results(executor)
    assert blamed(said) == {poison.key}
    assert said[poison.key] == "the worker died (OSError)"
    tried = [len(chunk.tasks) for chunk in executor.chunks if poison in chunk.tasks]
    assert tried == [tried[0], tried[0], 1]


class Pool(Executor):
    """One that breaks as a whole, as pools of processes do: all that is in it fails with the chunk that kills."""

    _max_workers = 2

    def __init__(self, kills):
        self.kills, self.held, self.down = kills, [], False

    def submit(self, function, chunk):
        if self.down:
            raise BrokenExecutor("a process was terminated")
        future = Future()
        self.held.append((future, chunk))
        if len(self.held) > 2 or self.kills(chunk):
            self.run()
        return future

    def run(self):
        self.down = any(self.kills(chunk) for _, chunk in self.held)
        for future, chunk in self.held:
            if self.down:
                future.set_exception(BrokenExecutor("a process was terminated"))
            else:
                future.set_result(Done(tuple(fault(task, "asked", 0.0) for task in chunk.tasks), 1.0, 1.0))
        self.held = []


def test_a_pool_that_breaks_is_made_again_and_only_the_task_that_breaks_it_is_a_fault(monkeypatch):
    monkeypatch.setattr(remote_workers, "AT_ONCE", 4)
    monkeypatch.setattr(remote_workers, "TICK", 0.001)
    poison, made = TASKS[5], []

    def another():
        made.append(Pool(lambda chunk: poison in chunk.tasks))
        return made[-1]

    with RemoteWorkers(another, "reference", watch=lambda: made[-1].run()) as workers:
        found = list(workers.results(TASKS))
    assert Counter(task.key for task, _ in found) == Counter(task.key for task in TASKS)
    assert blamed({task.key: result.fault for task, result in found}) == {poison.key}
    assert len(made) == 4


def test_a_broken_executor_that_cannot_be_made_again_costs_only_what_is_left():
    def breaks(chunk):
        if len(executor.chunks) > 1:
            executor.submit = none
            return BrokenExecutor("a process was terminated")
        return None

    def none(*_):
        raise BrokenExecutor("a process was terminated")

    executor = AtOnce(breaks)
    executor._max_workers = 0
    said = results(executor)
    assert blamed(said) == set(said) - {task.key for task in executor.chunks[0].tasks}
    assert {said[key] for key in blamed(said)} == {"the executor broke (BrokenExecutor: a process was terminated)"}


def test_one_that_never_takes_anything_is_given_up():
    class Never(Executor):
        def submit(self, *_):
            raise RuntimeError("cannot schedule new futures")

    assert set(results(Never).values()) == {"the executor broke (RuntimeError: cannot schedule new futures)"}


def test_a_worker_killed_in_the_middle_costs_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(remote_workers, "AT_ONCE", 1)
    made = []

    def killable():
        made.append(pool())
        return made[-1]

    def kill(done, total, what):
        if done == 1:
            for process in made[0]._processes.values():
                os.kill(process.pid, signal.SIGKILL)

    assert files(tmp_path / "killed", executor=killable, progress=kill) == files(tmp_path / "one", jobs=1)
    assert len(made) == 2


def test_an_interrupt_cancels_what_was_not_begun_and_keeps_what_is_done(monkeypatch, tmp_path):
    monkeypatch.setattr(remote_workers, "AT_ONCE", 1)
    store = tmp_path / "store.sqlite"

    def stop(done, total, what):
        raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as threads:
        partial = verify.run(["bias-bound/T3"], profile="smoke", executor=threads, store=store, progress=stop)
        assert not partial.complete
        assert 1 <= len(partial.results) < len(plan(["bias-bound/T3"], NAMED, [],
                                                    find_profile("smoke"), "reference", 0))  # fmt: skip
        seen = []
        whole = verify.run(["bias-bound/T3"], profile="smoke", executor=threads, store=store,
                           progress=lambda done, *_: seen.append(done))  # fmt: skip
    assert whole.complete
    assert whole.kept == len(partial.results)
    assert seen[0] == len(partial.results) + 1
    assert not whole.faults


def test_what_is_done_at_an_interrupt_is_handed_over_and_a_cancelled_task_is_no_fault(monkeypatch):
    monkeypatch.setattr(remote_workers, "AT_ONCE", 2)

    class Half(AtOnce):
        def submit(self, function, chunk):
            future = super().submit(function, chunk)
            return future if len(self.chunks) % 2 else Future()

    with RemoteWorkers(Half(), "reference") as workers:
        task, _ = next(workers.results(TASKS))
        left = workers.stop()
    keys = {task.key, *(other.key for other, _ in left)}
    done = {task.key for chunk in workers.source.chunks[::2] for task in chunk.tasks}
    assert keys == done
    assert all(result.fault == "asked" for _, result in left)


def test_tasks_that_share_runs_stay_together_and_are_not_cut():
    executor = AtOnce()
    tasks = plan(["goldstein-convergence"], ["repaired"], [], find_profile("ci"), "reference", 0)
    with RemoteWorkers(executor, "reference") as workers:
        assert len(list(workers.results(tasks))) == len(tasks)
    shared = [chunk for chunk in executor.chunks if shares_runs(chunk.tasks[0])]
    assert {chunk.seconds for chunk in shared} == {None}
    instances = [{task.instance for task in chunk.tasks} for chunk in shared]
    assert all(len(names) == 1 for names in instances)
    assert len(instances) == len(set().union(*instances)) > 1


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"subject": ReferenceSubject()}, "subject by name"),
        ({"subject": "some:Subject", "in_process": True}, "in_process"),
        ({"executor": "nothing"}, "package.module:factory"),
    ],
)
def test_what_an_executor_cannot_run_is_refused(how, says):
    with pytest.raises(InvalidInputError, match=says):
        verify.run(CLAIMS, **QUICK, **({"executor": AtOnce()} | how))


def test_a_subject_that_cannot_be_loaded_there_is_refused():
    with ThreadPoolExecutor(1) as threads, pytest.raises(InvalidInputError, match="subject"):
        verify.run(CLAIMS, subject="no_such_module:Subject", executor=threads, **QUICK)
