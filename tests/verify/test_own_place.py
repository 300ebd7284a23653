"""The command works where the user has files of the package's names; what cannot work says so in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from verify import own_place

F2CSA = "from verify.cli.main import main; main()"
"""What the console script does."""
SOLVER = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import numpy as np
class Solver:
    def activation(self, h, lam, h_width, lam_width):
        return 0.5 * np.clip(1 + np.asarray(h) / h_width, 0, 1) * np.clip(np.asarray(lam) / lam_width, 0, 1)
def pool():
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))
"""


@pytest.fixture
def folder(tmp_path):
    """A working folder in which all three names, ``tests`` and one of Python's own are the user's."""
    for name in ("spec", "tests"):
        (tmp_path / name).mkdir()
    (tmp_path / "spec" / "__init__.py").write_text("MINE = True\n")
    for name in ("verify", "f2csa_ref"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('the file of the user')\n")
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "mysolver.py").write_text(SOLVER)
    (tmp_path / "tests" / "mine.py").write_text(SOLVER)
    return tmp_path


def told(folder: Path, *arguments: str, code: str = F2CSA, flags: tuple[str, ...] = ("-P",)) -> tuple[int, str, str]:
    """Exit code, output and errors of a fresh process there, which finds the package as one that is installed."""
    path = os.pathsep.join(entry for entry in (own_place.ROOT, os.environ.get("PYTHONPATH", "")) if entry)
    done = subprocess.run(
        [sys.executable, *flags, "-c", code, *arguments], cwd=folder, env=os.environ | {"PYTHONPATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_workers_of_the_reference(folder):
    asked = ("verify", "lipschitz-solution/domain", "--profile", "smoke", "--jobs", "2", "--instance", "two-of-three")
    code, out, errors = told(folder, *asked)
    assert (code, "Every verdict is the one on record" in out) == (0, True), errors


@pytest.mark.parametrize("extra", [("--python", "mysolver:Solver", "--in-process"), ("--python", "tests.mine:Solver")])
def test_a_subject_beside_them_is_judged_and_its_script_runs_again(folder, extra):
    code, out, errors = told(folder, "conform", *extra)
    assert code == 1, errors
    assert "A fresh process shows it, too." in out
    assert f"load_subject({extra[1]!r})" in out


def test_an_executor_beside_them_starts_processes_that_find_the_package(folder):
    asked = ("verify", "lipschitz-solution/domain", "--profile", "smoke", "--instance", "two-of-three")
    code, out, errors = told(folder, *asked, "--executor", "mysolver:pool")
    assert (code, "Every verdict is the one on record" in out) == (0, True), errors


def test_spec_and_the_solver_are_ours_where_python_itself_looks_there_first(folder):
    (folder / "verify.py").unlink()
    code = "import verify, spec, f2csa_ref; print(verify.Call.__module__, spec.REPAIRED is not None, f2csa_ref.__file__)"
    ended, out, errors = told(folder, code=code, flags=())
    assert (ended, errors) == (0, "")
    assert out.split() == ["verify.subjects.protocol", "True", str(Path(own_place.ROOT, "f2csa_ref", "__init__.py"))]


def test_the_solver_alone_has_its_own_spec(folder):
    (folder / "f2csa_ref.py").unlink()
    code = "import f2csa_ref, spec; print(spec.__file__)"
    assert told(folder, code=code, flags=()) == (0, str(Path(own_place.ROOT, "spec", "__init__.py")) + "\n", "")


@pytest.mark.parametrize(
    ("then", "ends"),
    [(F2CSA, 2), ("import verify; verify.run", 1), ("sys.path.pop(0); import f2csa_ref", 1)],
)
def test_what_was_imported_before_is_named_in_one_line(folder, then, ends):
    (folder / "verify.py").unlink()
    ended, out, errors = told(folder, "--version", code=f"import sys, spec; {then}", flags=())
    assert (ended, out) == (ends, "")
    last = errors.splitlines()[-1]
    assert f"spec: must be {Path(own_place.ROOT, 'spec', '__init__.py')}" in last
    assert f"got {folder / 'spec' / '__init__.py'}" in last
    assert ends == 1 or errors == f"{last}\n"


def test_nothing_is_shadowed_here():
    assert own_place.shadow() == ""


@pytest.mark.parametrize("kind", ["module", "package", "none"])
def test_the_working_folder_stands_first_only_where_it_may(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, own_place.ROOT, "end"])
    if kind == "module":
        (tmp_path / "verify.py").touch()
    if kind == "package":
        (tmp_path / "spec").mkdir()
        (tmp_path / "spec" / "__init__.py").touch()
    with own_place.working_folder_first():
        assert sys.path[0] == str(tmp_path)
    place = sys.path.index(str(tmp_path))
    assert place == 0 if kind == "none" else sys.path.index(own_place.ROOT) == place - 1
    assert sys.path.count(str(tmp_path)) == 1
    assert str(tmp_path) not in own_place.child_path()


@pytest.mark.parametrize("before", [None, "1"])
def test_what_is_said_to_processes_is_taken_back(tmp_path, monkeypatch, before):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with own_place.safe_path():
        assert os.environ["PYTHONSAFEPATH"]
        assert before is None or os.environ["PYTHONSAFEPATH"] == before
    assert os.environ.get("PYTHONSAFEPATH") == before
