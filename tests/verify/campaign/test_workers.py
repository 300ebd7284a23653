"""Subjects that end or hang while they are loaded, or later: a line, never a success, and never this process."""

from __future__ import annotations

import os
from itertools import groupby

import pytest

import verify
from spec import InvalidInputError
from verify.campaign import workers
from verify.campaign.plan import plan
from verify.campaign.run_environment import whereabouts
from verify.checks.measuring.case import find_profile
from verify.cli.main import invoke
from verify.conformance.probes.pacing import Renamed
from verify.subjects import ReferenceSubject
from verify.subjects.wire import python_subject

QUICK = {"instances": ["toy1"], "profile": "smoke"}
ENDS = "import os\nos._exit(0)\n"
RAISES = "raise SystemExit(0)\n"
ENDS_LATER = """
import os
import pathlib
from verify.subjects import ReferenceSubject
from verify.subjects.wire import python_subject
seen = pathlib.Path(__file__).with_suffix(".seen")
if seen.exists():
    os._exit(0)
class Subject(ReferenceSubject):
    def hypergradient(self, *given):
        seen.touch()
        os._exit(0)
"""


@pytest.fixture
def solver(tmp_path, monkeypatch):
    """Writes a module that workers can import; returns the subject's name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        return f"{name}:Subject"

    return write


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("name", "text"), [("quits_at_once", ENDS), ("exits_at_once", RAISES)])
def test_ending_the_process_at_import_is_refused(solver, name, text, jobs):
    with pytest.raises(InvalidInputError, match=r"ended its process while it was loaded|cannot be loaded"):
        verify.run(["bias-bound/T3"], subject=solver(name, text), jobs=jobs, **QUICK)


def test_hanging_at_import_is_refused_when_its_time_is_over(solver, monkeypatch):
    monkeypatch.setattr(workers, "LOADING", 0.5)
    monkeypatch.setattr(workers, "LEAST_LOADING", 0.5)
    name = solver("hangs_at_once", "import time\ntime.sleep(1000)\n")
    for limit in (None, 0.1):
        with pytest.raises(InvalidInputError, match=r"was not loaded within 0\.5 s"):
            verify.run(["bias-bound/T3"], subject=name, time_limit=limit, **QUICK)


def test_one_that_can_be_loaded_no_more_is_a_fault_of_all_that_is_left(solver):
    asked = ["bias-bound/T3", "bias-bound/T1"]
    for in_process, line in ((True, "ended its process while it was loaded"), (False, "ended its process")):
        name = solver(f"ends_later_{in_process}", ENDS_LATER)
        report = verify.run(asked, subject=name, in_process=in_process, **QUICK)
        assert {result.verdict for result in report.results} == {None}
        assert all(f"{line} (exit code 0)" in result.fault for result in report.results)
        assert report.exit_code == 3


LOADED = {
    "quits": (ENDS, 3, "ended its process while it was loaded (exit code 0)"),
    "exits": (RAISES, 3, "cannot be loaded (SystemExit: 0"),
    "raises": ("raise ValueError('no')\n", 3, "cannot be loaded (ValueError: no"),
    "hangs": ("import time\ntime.sleep(1000)\n", 3, "was not loaded within 1 s"),
    "misses": ("import no_such_module\n", 3, "cannot be loaded (ModuleNotFoundError: No module named 'no_such_module'"),
    "breaks": (
        "class Subject:\n    def __init__(self):\n        self.nothing\n",
        3,
        "cannot be loaded (AttributeError",
    ),
    "lacks": ("class Other:\n    pass\n", 2, "cannot be loaded (AttributeError: module 'lacks"),
    "offers": ("class Subject:\n    pass\n", 2, "must offer one of the stages"),
}
"""What is done while a subject is loaded, the exit code, and what is said: one that is not there is wrong input."""


@pytest.mark.parametrize("verb", ["verify", "verify --in-process", "baseline record", "baseline compare", "conform"])
@pytest.mark.parametrize("how", LOADED)
def test_what_a_subject_does_while_it_is_loaded_is_a_fault(solver, tmp_path, capsys, monkeypatch, how, verb):
    monkeypatch.setattr(workers, "LEAST_LOADING", 1.0)
    monkeypatch.setattr(python_subject, "LEAST_START", 1.0)
    monkeypatch.chdir(tmp_path)
    text, code, line = LOADED[how]
    name, out = solver(f"{how}_{verb.replace(' ', '_').replace('-', '_')}", text), str(tmp_path / "out")
    recorded = tmp_path / "recorded.json"
    if verb == "baseline compare":
        assert invoke(["baseline", "record", "bias-bound/T3", "--instance", "toy1", "--out", str(recorded)]) == 0
    given = {
        "verify": ["bias-bound/T3", "--subject", name, "--out", out],
        "verify --in-process": ["bias-bound/T3", "--subject", name, "--out", out],
        "baseline record": ["bias-bound/T3", "--subject", name, "--out", out],
        "baseline compare": [str(recorded), "--subject", name],
        "conform": ["--python", name, "--out", out],
    }[verb]
    if how == "hangs":
        given += ["--time-limit", "0.5"]
    assert invoke([*verb.split(), *given]) == code
    assert line in capsys.readouterr().err


def test_the_subjects_version_comes_from_its_worker(solver):
    text = "from verify.subjects import ReferenceSubject\nclass Subject(ReferenceSubject):\n    version = '7'\n"
    assert verify.run(["bias-bound/T3"], subject=solver("versioned", text), **QUICK).subject_version == "7"


def test_a_workers_tasks_lie_together_by_instance_and_none_is_lost():
    tasks = plan([], ["as-written", "repaired"], [], find_profile("smoke"), "reference", 0)
    arranged = workers.arranged(tasks)
    assert sorted(task.key for task in arranged) == sorted(task.key for task in tasks)
    places = [(task.claim.split("/")[0], task.instance) for task in arranged if not workers.shares_runs(task)]
    assert [place for place, _ in groupby(places)] == list(dict.fromkeys(places))
    shared = [workers.shares_runs(task) for task in arranged]
    assert shared == sorted(shared, reverse=True)
    rows = [workers.row_of(task) for task in arranged]
    assert [row for row, _ in groupby(rows)] == [*workers.ROWS, ""]
    counted = [task for task in tasks if task.claim.startswith("scaling-experiment") and not workers.shares_runs(task)]
    assert not counted, "what one of them counts, all of them look at"


def test_a_report_names_what_runs_among_those_who_judge() -> None:
    class Wraps(ReferenceSubject):
        """A stranger around the reference is a stranger."""

        name = "wraps"

        def __init__(self) -> None:
            super().__init__()
            self._subject = ReferenceSubject()

    assert whereabouts(Wraps(), in_process=False)
    assert whereabouts("mine:Subject", in_process=True)
    assert not whereabouts("mine:Subject", in_process=False)
    assert not whereabouts("reference", in_process=True)
    assert not whereabouts(ReferenceSubject(), in_process=False)
    assert not whereabouts(Renamed(ReferenceSubject(), "other"), in_process=False)
