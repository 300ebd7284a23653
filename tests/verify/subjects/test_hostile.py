"""No success is had by force: whatever a subject does, the judge's own evidence decides, and nothing is left behind."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

import pytest

import verify
from spec import InvalidInputError
from tests.verify.subjects.hostile import AT_IMPORT, IN_A_CALL, RIGHT
from verify.cli.main import invoke

QUICK = {"instances": ["toy1"], "profile": "smoke", "readings": ["repaired"], "time_limit": 1.5}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module and makes it importable; returns the subject's name and a word its left-over children carry."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    mark = f"left-behind-{uuid.uuid4().hex}"

    def write(text):
        name = f"solver_{uuid.uuid4().hex}"
        (tmp_path / f"{name}.py").write_text(text.replace("left-behind-MARK", mark), encoding="utf-8")
        return f"{name}:Subject"

    yield write
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _content(path)]
    assert left == []


def _content(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def exit_code(subject):
    """Of a run on one claim; 2 where the subject is refused."""
    try:
        return verify.run(["bias-bound/T3"], subject=subject, **QUICK).exit_code
    except InvalidInputError:
        return 2


def test_a_right_subject_gets_its_success_there(module):
    assert exit_code(module(RIGHT)) == 0


@pytest.mark.parametrize("how", AT_IMPORT)
def test_nothing_done_while_it_is_loaded_is_a_success(how, module, monkeypatch):
    monkeypatch.setattr("verify.campaign.workers.LEAST_LOADING", 1.5)
    assert exit_code(module(AT_IMPORT[how])) in (2, 3)


@pytest.mark.parametrize("how", IN_A_CALL)
def test_nothing_done_in_a_call_is_a_success(how, module, monkeypatch):
    monkeypatch.setattr("verify.subjects.wire.client.MEMORY_MIB", 400)
    assert exit_code(module(IN_A_CALL[how])) in (1, 3)


COMMANDS = {
    "verify": "verify bias-bound/T3 --instance toy1 --profile smoke --subject {} --out out --time-limit 1.5 --causes 0",
    "json": "verify bias-bound/T3 --instance toy1 --profile smoke --subject {} --out out --time-limit 1.5 --json",
    "conform": "conform bias-bound/T3 --python {} --out out --time-limit 1.5 --seconds 20",
    "conform-json": "conform bias-bound/T3 --python {} --out out --time-limit 1.5 --seconds 20 --json",
    "self-test": "conform --python {} --self-test --time-limit 1.5",
    "record": "baseline record bias-bound/T3 --instance toy1 --profile smoke --subject {} --out b --time-limit 1.5",
}
TRIED = [
    ("verify", "ends-the-process"), ("json", "prints-a-letter-everywhere"), ("conform", "judges-itself"),
    ("conform-json", "prints-a-letter-everywhere"),
    ("self-test", "prints-a-letter-everywhere"), ("record", "ends-the-process"), ("record", "judges-itself"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "how"), TRIED)
def test_no_command_ends_in_a_success(command, how, module, capfd):
    code = invoke(COMMANDS[command].format(module((AT_IMPORT | IN_A_CALL)[how])).split())
    out = capfd.readouterr().out
    assert code in (1, 2, 3)
    # What it says may be quoted, in a line that is not its own.
    assert not any(line.startswith("mine conforms") for line in out.splitlines())
    if command == "conform-json":
        assert json.loads(out)["faults"]
    if command == "json" and code != 2:
        assert {result["verdict"] for result in json.loads(out)["results"]} <= {"REFUTED", "NOT_APPLICABLE", None}
