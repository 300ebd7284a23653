"""The ten-minute guide does what it says: its files are run, its commands are followed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents.pages import of_page
from tests.documents.playing import held_against
from verify.cli.main import invoke

ROOT = Path(__file__).parents[2]

GUIDE = (Path(__file__).parents[2] / "docs" / "ten-minutes.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", GUIDE, re.S | re.M)
NAMED = ((re.match(r"(?://|#) (\w+\.(?:py|mjs))\n", text), text) for _, text in BLOCKS)
FILES = {found[1]: text for found, text in NAMED if found is not None}
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """A clean directory with the guide's files, entered."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    for name in FILES:
        sys.modules.pop(Path(name).stem, None)


def apply_the_correction(file):
    """The guide's diff: lines taken out and put in."""
    (diff,) = (text for language, text in BLOCKS if language == "diff")
    out, put = ("\n".join(line[1:] for line in diff.splitlines() if line[0] == sign) for sign in "-+")
    text = file.read_text(encoding="utf-8")
    assert text.count(out + "\n") == 1
    file.write_text(text.replace(out + "\n", put + "\n"), encoding="utf-8")


def follow(capsys, wanted, *more):
    """Run one of the guide's commands, narrowed so that it takes a second; answers with exit code and output."""
    assert wanted in COMMANDS
    program, *arguments = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', wanted)]
    assert program == "f2csa"
    code = invoke([*arguments, *more])
    return code, capsys.readouterr().out


def test_the_guide_has_every_file_it_speaks_of():
    assert set(FILES) == {"my_solver.py", "my_stages.py", "test_claims.py", "subject.mjs"}


def test_the_first_file_is_diagnosed_and_the_correction_corrects_it(capsys, directory):
    wanted = "f2csa conform --python my_solver:Subject --trace"
    narrowed = ("bias-bound/T3", "--jobs", "1")
    code, out = follow(capsys, wanted, *narrowed)
    assert code == 1
    assert "my_solver:Subject deviates in hypergradient." in out
    assert "∇F off by up to 1.3e+04: line 6 = the right one + α₁·Aᵀλ̃ (" in out
    (shown,) = (example for example in of_page("docs/ten-minutes.md") if example.kind == "shown")
    held_against(shown, out)
    line = next(text for text in out.splitlines() if "my_solver.py:" in text).strip()
    for page in ("docs/ten-minutes.md", "docs/trace.md"):
        assert line in " ".join((ROOT / page).read_text(encoding="utf-8").split()), line
    assert "Paste this" in out
    sys.modules.pop("my_solver", None)  # judged in a process of its own
    apply_the_correction(directory / "my_solver.py")
    code, out = follow(capsys, "f2csa conform --python my_solver:Subject", *narrowed)
    assert code == 0, out
    assert "my_solver:Subject: no deviation" in out


def test_the_second_file_conforms_and_is_verified(capsys, directory):
    apply_the_correction(directory / "my_solver.py")
    code, out = follow(capsys, "f2csa conform --python my_stages:Subject", "bias-bound/T3", "--jobs", "1")
    assert code == 0, out
    for stage in ("lower_level", "activation", "penalty_minimiser", "optimise"):
        assert re.search(rf"✓ {stage} ", out), out
    wanted = "f2csa verify --subject my_stages:Subject --reading repaired --profile smoke --out report"
    claims = ("bias-bound/T3", "solution-error/active-rows", "stochastic-oracles/unbiasedness", "--jobs", "1")
    code, out = follow(capsys, wanted, *claims)
    assert code == 0, out
    assert (directory / "report" / "report.html").is_file()


def test_the_test_module_passes(copied, directory):
    assert "python -m pytest -q test_claims.py" in COMMANDS
    apply_the_correction(directory / "my_solver.py")
    command = [*copied, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_claims.py"]
    command += ["-k", "T3 or active-rows or monotonicity"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=directory, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "4 passed" in ended.stdout
    assert "failed" not in ended.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_program_passes_its_self_test_and_conforms(capsys, directory):
    code, out = follow(capsys, 'f2csa conform --command "node subject.mjs" --self-test')
    assert (code, "FAIL" in out) == (0, False), out
    # A claim asked for by name that it cannot be asked is no success; its stages are judged all the same.
    code, out = follow(capsys, 'f2csa conform --command "node subject.mjs"', "bias-bound/T3", "--jobs", "1")
    assert code == 3, out
    assert re.search(r"✓ hypergradient +1\d\d answers agree", out), out
    assert "none of the claims asked for could be asked of it (bias-bound/T3)" in out
