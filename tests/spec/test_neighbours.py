"""Beside a user's modules of our names ours are meant; where theirs are taken for ours, a line says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spec
from spec.neighbours import OURS, not_from_here, shadowed, working_folder_first

ROOT = Path(spec.__file__).parents[1]
SOLVER = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import numpy as np

def pool():
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))

class Solver:
    name = "mine"

    def hypergradient(self, problem, x, call, rng):
        return np.zeros(problem.n)
"""
WEIGHTS = """
import numpy as np

class Solver:
    def activation(self, h, lam, h_width, lam_width):
        return 0.5 * np.clip(1 + np.asarray(h) / h_width, 0, 1) * np.clip(np.asarray(lam) / lam_width, 0, 1)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with a solver, and with everything that has a name of ours."""
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "__init__.py").write_text("raise SystemExit(7)\n")
    (tmp_path / "verify.py").write_text("raise SystemExit(8)\n")
    (tmp_path / "f2csa_ref.py").write_text("raise SystemExit(9)\n")
    (tmp_path / "mysolver.py").write_text(SOLVER)
    return tmp_path


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python with these words there; our packages are installed, or found where these tests found them."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_workers_and_the_process_of_a_subject_are_ours(folder: Path) -> None:
    done = ran(folder, "-P", "-m", "verify", "verify", "bias-bound/T3", "--instance", "toy1", "--profile", "smoke",
               "--subject", "mysolver:Solver", "--jobs", "2", "--out", "r", "--quiet")  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "bias-bound/T3 [repaired] on toy1: REFUTED" in done.stdout
    assert (folder / "r" / "report.html").is_file()


def test_the_reference_in_workers_is_ours(folder: Path) -> None:
    words = ("verify", "lipschitz-solution", "--profile", "smoke", "--jobs", "2", "--out", "r", "--quiet")
    done = ran(folder, "-P", "-m", "verify", *words)
    assert done.returncode == 0, done.stderr
    assert "REFUTED" not in done.stdout


@pytest.fixture
def installed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The console script: Python looks beside it, not into the working folder, and is not told to leave that out."""
    script = tmp_path_factory.mktemp("bin") / "f2csa"
    script.write_text('from verify.cli.main import main\nif __name__ == "__main__":\n    main()\n')
    return str(script)


def test_an_executor_of_the_users_starts_processes_that_find_ours(folder: Path, installed: str) -> None:
    asked = ("lipschitz-solution/domain", "--instance", "two-of-three", "--profile", "smoke", "--out", "r")
    done = ran(folder, installed, "verify", *asked, "--executor", "mysolver:pool")
    assert done.returncode == 0, done.stderr
    assert "Every verdict is the one on record" in done.stdout


@pytest.mark.parametrize("how", [(), ("--in-process",)])
def test_a_script_to_paste_is_run_again_in_a_process_that_finds_ours(
    folder: Path, installed: str, how: tuple[str, ...]
) -> None:
    (folder / "weights.py").write_text(WEIGHTS)
    done = ran(folder, installed, "conform", "dual-extraction/ramp-slope", "--python", "weights:Solver", *how)
    assert done.returncode == 1, done.stderr
    assert "A fresh process shows it, too." in done.stdout


def test_the_solver_alone_has_its_own_spec(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "__init__.py").write_text("raise SystemExit(7)\n")
    done = ran(tmp_path, "-c", "import f2csa_ref, spec; print(spec.__file__)")
    assert (done.stdout.strip(), done.stderr) == (str(ROOT / "spec" / "__init__.py"), "")


def test_the_solver_says_in_one_line_which_spec_was_imported_before(tmp_path: Path) -> None:
    (tmp_path / "spec.py").touch()
    done = ran(tmp_path, "-c", "import spec, f2csa_ref")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: {tmp_path / 'spec.py'} stands in front of this package's own spec")


@pytest.mark.parametrize("kind", ["module", "package", "bare folder", "none"])
def test_the_working_folder_stays_first_only_where_it_holds_no_name_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT), "end"])
    if kind == "module":
        (tmp_path / "verify.py").touch()
    elif kind != "none":
        (tmp_path / "spec").mkdir()
    if kind == "package":
        (tmp_path / "spec" / "__init__.py").touch()
    with working_folder_first():
        assert sys.path[0] == str(tmp_path)
    place = sys.path.index(str(tmp_path))
    assert sys.path.count(str(tmp_path)) == 1
    if kind in ("module", "package"):
        assert Path(sys.path[place - 1]).resolve() == ROOT
    else:
        assert place == 0
    assert not_from_here() == ["-P"]


@pytest.mark.parametrize("name", OURS[:2])
@pytest.mark.parametrize("kind", ["module", "package", "bare folder"])
def test_what_stands_in_front_is_named_in_one_line(tmp_path: Path, name: str, kind: str) -> None:
    if kind == "module":
        (tmp_path / f"{name}.py").touch()
    else:
        (tmp_path / name).mkdir()
        if kind == "package":
            (tmp_path / name / "__init__.py").touch()
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import verify"
    done = ran(tmp_path, "-P", "-c", code)
    if kind == "bare folder":  # a package anywhere on the path comes before it
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: {tmp_path / name}")
    assert f"in front of this package's own {name} ({ROOT / name})" in last


def test_the_command_says_it_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "__init__.py").touch()
    done = ran(tmp_path, "-m", "verify", "--version")
    assert done.returncode == 2
    assert done.stderr.startswith("f2csa: ")
    assert done.stderr.count("\n") == 1


def test_nothing_is_said_where_nothing_stands_in_front() -> None:
    assert shadowed() == ""
