"""A real scheduler and two workers over loopback, one of them killed."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import pytest

import verify
from spec import InvalidInputError
from verify.campaign.executors import named, remote_workers
from verify.report.formats import times

distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install distributed")
# Its own warnings are its own; what a campaign decides is compared byte for byte.
pytestmark = pytest.mark.filterwarnings("default")

CLAIMS = ["bias-bound/T3", "stochastic-oracles/noise-reaches-gradient"]


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def started(*words):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", *words, "--host", "127.0.0.1", "--no-dashboard"], **quiet)


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler, and what starts workers of it; all of it ends with the test."""
    port, processes = free_port(), []
    processes.append(started("distributed.cli.dask_scheduler", "--port", str(port)))

    def worker():
        folder = tmp_path / f"worker{len(processes)}"
        at = "distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-nanny"
        processes.append(started(*at, "--local-directory", str(folder)))
        return processes[-1]

    worker.scheduler = processes[0]
    yield f"dask://127.0.0.1:{port}", worker
    for process in processes:
        process.kill()
        process.wait()


def files(folder, **how):
    report = verify.run(CLAIMS, profile="smoke", instances=["toy1"], **how)
    assert report.complete
    assert not report.faults
    return {path.name: path.read_bytes() for path in report.write(folder) if path.name != times.FILE}


def test_two_workers_one_killed_write_what_one_process_does(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(remote_workers, "AT_ONCE", 1)
    address, worker = cluster
    first, _ = worker(), worker()
    with distributed.Client(address.replace("dask", "tcp"), set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    killed = []

    def kill(done, total, what):
        if done == 2:
            first.send_signal(signal.SIGKILL)
            killed.append(first.wait())

    assert files(tmp_path / "dask", executor=address, progress=kill) == files(tmp_path / "one", jobs=1)
    assert killed == [-signal.SIGKILL]


def test_without_its_scheduler_a_run_ends_and_goes_on_elsewhere(cluster, tmp_path, monkeypatch):
    address, worker = cluster
    worker()
    monkeypatch.setattr(remote_workers, "AT_ONCE", 1)
    asked = {"profile": "smoke", "instances": ["toy1"], "store": tmp_path / "store.sqlite"}

    def kill(done, total, what):
        if done == 1:
            worker.scheduler.kill()
            worker.scheduler.wait()
            monkeypatch.setattr(named, "PATIENCE", 1.0)

    lost = verify.run(CLAIMS, executor=address, progress=kill, **asked)
    assert lost.faults
    assert all("must be a Dask scheduler that answers" in result.fault for result in lost.faults)
    again = verify.run(CLAIMS, **asked)
    assert again.kept == len(lost.results) - len(lost.faults) >= 1
    assert not again.faults


def test_nobody_there_is_one_clear_line(cluster, monkeypatch):
    monkeypatch.setattr(named, "PATIENCE", 1.0)
    with pytest.raises(InvalidInputError, match="must be a Dask scheduler that answers"):
        verify.run(CLAIMS, executor=f"dask://127.0.0.1:{free_port()}")
    address, _ = cluster
    monkeypatch.setattr(named, "PATIENCE", 10.0)
    with pytest.raises(InvalidInputError, match="must have a worker within"):
        verify.run(CLAIMS, executor=address)
