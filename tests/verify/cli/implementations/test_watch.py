"""``conform --watch`` sees its sources change, says what that changed, and ends with the last exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spec.errors import InvalidInputError
from verify.cli.arguments.conform_options import Conform
from verify.cli.implementations.watch import difference, sources, watch
from verify.cli.main import invoke
from verify.conformance.repro.saved_cases import MARK


def found(status: str, claim: str = "SUPPORTED", sentence: str = "As it is.") -> dict[str, Any]:
    return {"stages": [{"stage": "activation", "status": status, "sentence": sentence}],
            "claims": [{"claim": "bias-bound/T3", "status": claim}]}  # fmt: skip


def judge_of(results: list[tuple[int, dict[str, Any] | None]]) -> Callable[[Conform], int]:
    """A judge that finds one thing after another, and is interrupted when it has nothing more to say."""

    def judge(asked: Conform) -> int:
        assert not asked.watch
        if not results:
            raise KeyboardInterrupt
        code, content = results.pop(0)
        sys.stdout.write("the letter\n")
        if content is None:
            raise InvalidInputError("subject", "cannot be loaded", "mine:Subject")
        asked.out.mkdir(exist_ok=True)
        (asked.out / "conform.json").write_text(json.dumps(content) + " " * len(results), encoding="utf-8")
        return code

    return judge


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Conform:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "watched_solver.py").write_text("x = 0\n", encoding="utf-8")
    return Conform(python="watched_solver:Subject", out=tmp_path / "out", watch=True)


def edits(path: Path) -> Callable[[float], None]:
    """Every second wait the file grows."""
    waits = [0]

    def wait(_: float) -> None:
        waits[0] += 1
        if waits[0] % 2:
            path.write_text(path.read_text(encoding="utf-8") + "#\n", encoding="utf-8")

    return wait


def test_what_changed_is_told_and_the_last_code_is_kept(mine: Conform, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        (1, found("diverges")), (1, found("diverges")), (2, None), (1, found("diverges", sentence="Half as much.")),
        (0, found("agrees", "REFUTED")),
    ]  # fmt: skip
    assert watch(mine, judge_of(runs), edits(Path("watched_solver.py"))) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "the letter",
        "watched_solver.py changed: nothing came out otherwise.",
        "exit code 1",
        "watched_solver.py changed: not judged.",
        "exit code 2",
        "watched_solver.py changed:",
        "  ✗ activation: still diverges, otherwise. Half as much.",
        "exit code 1",
        "watched_solver.py changed:",
        "  ✓ activation: agrees now (diverges before). As it is.",
        "  bias-bound/T3: REFUTED (SUPPORTED before)",
        "exit code 0",
    ]
    assert "f2csa: subject: cannot be loaded; got mine:Subject\n" in said.err


def test_a_first_run_that_cannot_be_done_ends_it(mine: Conform) -> None:
    assert watch(mine, judge_of([(2, None)]), edits(Path("watched_solver.py"))) == 2


def test_an_interrupt_before_anything_was_found_is_no_success(mine: Conform) -> None:
    assert watch(mine, judge_of([]), edits(Path("watched_solver.py"))) == 3


def test_sources_are_the_package_s_or_what_the_command_names(mine: Conform, tmp_path: Path) -> None:
    assert [path.name for path in sources(mine)] == ["watched_solver.py"]
    (tmp_path / "test_case.py").write_text(f"{MARK}\n", encoding="utf-8")
    assert [path.name for path in sources(mine)] == ["watched_solver.py"]  # what we wrote ourselves is no source
    package = tmp_path / "watched_package" / "inner"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("raise SystemExit\n", encoding="utf-8")
    names = [path.relative_to(tmp_path).as_posix() for path in sources(replace(mine, python="watched_package.inner:S"))]
    assert names == ["watched_package/__init__.py", "watched_package/inner/__init__.py"]
    command = replace(mine, python=None, command="python watched_solver.py --fast")
    assert sources(command) == [Path("watched_solver.py")]
    for nothing in (replace(command, command="node"), replace(command, command="'"), replace(mine, python="nowhere:S")):
        with pytest.raises(InvalidInputError, match="--watch: finds no source file of the subject"):
            sources(nothing)


def test_many_claims_are_counted() -> None:
    now = found("agrees")
    now["claims"] = [{"claim": f"claim-{k}", "status": "REFUTED"} for k in range(12)]
    assert list(difference(found("agrees"), now, []))[-1] == "  … and 4 more claims."


OWN = ["--command", "no-such-program"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--x", "1"], "--x: must be given as often as --problem, 0 times; got 1"),
        (["--problem", "nowhere.json"], "--problem: cannot be read (No such file or directory); got nowhere.json"),
        (["--problem", "atlas:toy1", "--x", "one"], "--x[0]: must be"),
        (["--problem", "atlas:nowhere"], "--problem: must name an atlas instance"),
        (["--reading", "other"], "--reading: must be one of as-written, repaired; got other"),
        (["--force"], "--force: must go with --save-cases"),
        (["--watch", "--json"], "--watch: must not go with --json"),
        (["--watch", "--self-test"], "--watch: must not go with --self-test"),
        (["--save-cases", "cases", "--self-test"], "--save-cases: must not go with --self-test"),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["conform", *OWN, "--out", str(tmp_path), *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"f2csa: {line}")


def test_watching_needs_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["conform", "--python", "nowhere_at_all:S", "--out", str(tmp_path), "--watch"]) == 2
    assert capsys.readouterr().err == "f2csa: --watch: finds no source file of the subject; got nowhere_at_all:S\n"
