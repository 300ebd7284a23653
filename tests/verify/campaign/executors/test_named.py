from __future__ import annotations

import sys
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor

import pytest

from spec import InvalidInputError
from verify.campaign.executors.named import OnDask, factory_of
from verify.cli.main import invoke

MODULE = """
from concurrent.futures import ThreadPoolExecutor
def threads():
    return ThreadPoolExecutor(1)
class Own:
    threads = staticmethod(threads)
def number():
    return 7
def leaves():
    raise SystemExit(0)
"""


@pytest.fixture(autouse=True)
def cluster(tmp_path, monkeypatch):
    (tmp_path / "my_cluster.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize("name", ["my_cluster:threads", "my_cluster:Own.threads"])
def test_a_function_is_called_each_time_an_executor_is_needed(name):
    make = factory_of(name)
    one, two = make(), make()
    assert isinstance(one, Executor)
    assert one is not two


BAD = [
    ("", "dask://HOST:PORT"),
    ("threads", "package.module:factory"),
    ("my_cluster:", "package.module:factory"),
    ("my cluster:threads", "package.module:factory"),
    ("tcp://127.0.0.1:8786", "dask://HOST:PORT"),
    ("dask://", "dask://HOST:PORT"),
    ("dask://somewhere", "dask://HOST:PORT"),
    ("dask://somewhere:port", "dask://HOST:PORT"),
    ("dask://somewhere:99999999", "dask://HOST:PORT"),
    ("dask://somewhere:1/path", "dask://HOST:PORT"),
    ("no_such_module:threads", "ModuleNotFoundError"),
    ("my_cluster:nothing", "AttributeError"),
    ("my_cluster:number", "concurrent.futures.Executor, not int"),
    ("my_cluster:leaves", "SystemExit"),
]


@pytest.mark.parametrize(("spec", "says"), BAD)
def test_a_wrong_name_is_one_line_and_exit_2(spec, says, capsys, tmp_path):
    out = tmp_path / "out"
    assert invoke(["verify", "bias-bound/T3", "--instance", "toy1", "--executor", spec, "--out", str(out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert "executor" in line
    assert not (out / "report.json").exists()


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidInputError, match="pip install distributed"):
        factory_of("dask://127.0.0.1:8786")


def test_a_client_without_its_scheduler_is_broken_and_is_closed():
    class Client:
        status = "running"
        closed = 0

        def get_executor(self):
            return ThreadPoolExecutor(1)

        def close(self, timeout):
            self.closed += 1

    client = Client()
    executor = OnDask(client)
    assert executor.submit(int, "7").result() == 7
    client.status = "connecting"
    with pytest.raises(BrokenExecutor, match="scheduler is gone"):
        executor.submit(int)
    executor.shutdown()
    assert client.closed == 1


def test_the_command_runs_on_a_named_executor(tmp_path, capsys):
    asked = ["verify", "bias-bound/T3", "--instance", "toy1", "--out"]
    assert invoke([*asked, str(tmp_path / "one"), "--jobs", "1"]) == 0
    assert invoke([*asked, str(tmp_path / "two"), "--executor", "my_cluster:threads"]) == 0
    capsys.readouterr()
    for name in ("report.json", "evidence.json", "report.html", "report.md", "junit.xml"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
