"""Whatever is handed in: an answer, or one line that says what is wrong; never a traceback, never a mute success."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spec import Quadratic, dumps_problem
from spec.atlas import atlas
from spec.reading import Reading, alternatives
from tests.strategies import broken_files, fractions, quadratics, wrong_tokens
from verify.checks.measuring.case import checks
from verify.cli.main import invoke
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError

TOY = '{"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]}, "constraints": {"A": [[1]], "B": [[1]]}}'
ONE_CHECK = ("verify", "bias-bound/T3", "--instance", "toy1", "--profile", "smoke", "--jobs", "1")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments: str) -> Outcome:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = invoke(list(arguments))
    return Outcome(code, out.getvalue(), err.getvalue())


def asked(*arguments: str) -> Outcome:
    """One oracle call as JSON, which its table agrees with on whether there is an answer."""
    table, made = run("hypergradient", *arguments), run("hypergradient", *arguments, "--json")
    assert (table.code, table.err) == (made.code, made.err)
    assert ("∇F" in table.out) == (made.code == 0)
    return made


def assert_refused(outcome: Outcome, code: int = 2) -> None:
    assert outcome.code == code, outcome
    assert outcome.out == ""
    assert outcome.err.startswith("f2csa: ")
    assert outcome.err.count("\n") == 1
    assert outcome.err.endswith("\n")
    assert "internal fault" not in outcome.err
    assert "Traceback" not in outcome.err


def assert_answered_or_refused(outcome: Outcome) -> None:
    if outcome.code != 0:
        assert_refused(outcome)
        return
    assert outcome.err == ""
    assert "hypergradient" in json.loads(outcome.out)


@pytest.fixture(scope="module")
def problem_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A path to write problems to, again and again."""
    return tmp_path_factory.mktemp("fuzz") / "p.json"


points = st.one_of(
    st.none(),
    st.lists(fractions().map(str), min_size=1, max_size=4).map(",".join),
    wrong_tokens().filter(lambda token: len(token) < 500),
    st.text(max_size=8),
)
alphas = st.sampled_from(
    ["0.1", "1/3", "1", "1e-3", "1e-30", "1e3", "0", "-1", "nan", "inf", "", "x", "1e-31", "1e999"]
)
choices = st.lists(
    st.sampled_from([f"{field}={value}" for field in Reading.model_fields for value in alternatives(field)])
    | st.sampled_from(["dual_term=", "=", "self=1", "x=y", "", "dual_term=frozen=frozen"]),
    max_size=3,
)
others = st.lists(
    st.sampled_from([
        ("--reading", "as-written"), ("--reading", "both"), ("--reading", ""), ("--samples", "3"), ("--samples", "0"),
        ("--samples", "1e3"), ("--samples", str(10**30)), ("--seed", "-1"), ("--seed", str(10**30)), ("--seed", "x"),
        ("--nonsense",), ("more",),
    ]),
    max_size=2,
)  # fmt: skip


TINY_ROW = b"""{"kind": "quadratic", "f": {}, "g": {"yy": [[1]]},
                "constraints": {"A": [[1], [0]], "B": [[1], [1]], "b": [0, 1]}}"""
"""At x = 1e-150 the first row is lost in the rounding of a program as large as the second."""


@settings(max_examples=40)
@given(content=broken_files(), x=points)
@example(content=b"", x="1")
@example(content=TINY_ROW, x="1e-150")
@example(content=TOY.encode("utf-16"), x="1")
@example(content=TOY.replace("[[1]]", "[[1e9999999]]").encode(), x="1")
@example(content=b'{"kind": "generated", "family": "random-rows", "n": 1e99999999999}', x="1")
@example(content=b'{"kind": "\\ud800"}', x="1")
@example(content=b'{"\\ud800": 1, "kind": "holder", "s": 1}', x="1")
@example(content=b"[" * 977 + b"]" * 977, x="1")
def test_any_problem_file_gives_an_answer_or_one_line(problem_file: Path, content: bytes, x: str | None) -> None:
    problem_file.write_bytes(content)
    point = [] if x is None else [f"--x={x}"]
    assert_answered_or_refused(asked(str(problem_file), *point))


@settings(max_examples=25)
@given(x=points, alpha=alphas, chosen=choices, more=others)
@example(x="1", alpha="0.1", chosen=["self=frozen"], more=[])
@example(x="1_0", alpha="0.1", chosen=[], more=[])
@example(x="\0", alpha="\0", chosen=["\0=\0"], more=[])
def test_any_options_give_an_answer_or_one_line(
    problem_file: Path, x: str | None, alpha: str, chosen: list[str], more: list[tuple[str, ...]]
) -> None:
    problem_file.write_text(TOY)
    arguments = [
        f"--alpha={alpha}",
        *(f"--choose={choice}" for choice in chosen),
        *(part for pair in more for part in pair),
    ]
    point = [] if x is None else [f"--x={x}"]
    assert_answered_or_refused(asked(str(problem_file), *point, *arguments))


@settings(max_examples=25)
@given(problem=quadratics(), data=st.data(), alpha=st.sampled_from(["1", "0.3", "0.1", "1e-2", "1e-3"]))
def test_a_valid_problem_is_answered_truly_or_is_infeasible(
    problem_file: Path, problem: Quadratic, data: st.DataObject, alpha: str
) -> None:
    problem_file.write_text(dumps_problem(problem))
    x = data.draw(st.lists(fractions(), min_size=problem.n, max_size=problem.n), "x")
    outcome = asked(str(problem_file), "--x", ",".join(map(str, x)), "--alpha", alpha)
    assert_answered_or_refused(outcome)
    try:
        truth = lower_level.solve(problem, x)
    except InfeasibleLowerLevelError:
        assert "infeasible" in outcome.err
        return
    if outcome.code == 2:
        assert "must make the penalty Lagrangian strongly convex" in outcome.err
        return
    answer = json.loads(outcome.out)
    # A float holds x only up to rounding, and the rows may be as good as dependent: no exact agreement.
    assert np.allclose(answer["y_star"], [float(v) for v in truth.y_star], rtol=1e-6, atol=1e-6)
    assert answer["exact"]["y_star"] == pytest.approx([float(v) for v in truth.y_star])


_EXTREMES = ["0", "1", "-1", "1/3", "1e-150", "-1e150", "1e150", "1e-75", "-1e75", "1e-20", "1e20", "1e-8", "-1e8"]
_POSITIVE = [value for value in _EXTREMES if value != "0" and not value.startswith("-")]


@st.composite
def extreme_files(draw: st.DrawFn) -> tuple[str, str]:
    """A valid problem of one or two dimensions with entries from 1e-150 to 1e150, and a point."""
    n, m, p = (draw(st.integers(1, 2)) for _ in range(3))

    def block(rows: int, columns: int) -> list[list[str]]:
        row = st.lists(st.sampled_from(_EXTREMES), min_size=columns, max_size=columns)
        return draw(st.lists(row, min_size=rows, max_size=rows))

    def symmetric(size: int) -> list[list[str]]:
        drawn = block(size, size)
        return [[drawn[min(i, j)][max(i, j)] for j in range(size)] for i in range(size)]

    curvature = draw(st.sampled_from(_POSITIVE))
    diagonal = [[curvature if i == j else "0" for j in range(m)] for i in range(m)]
    data: dict[str, Any] = {
        "kind": "quadratic",
        "f": {"xx": symmetric(n), "xy": block(n, m), "yy": symmetric(m), "x": block(1, n)[0], "y": block(1, m)[0]},
        "g": {"xy": block(n, m), "yy": diagonal, "y": block(1, m)[0]},
        "constraints": {"A": block(p, n), "B": block(p, m), "b": block(1, p)[0]},
    }
    if draw(st.booleans()):
        scales = {name: draw(st.sampled_from(_POSITIVE)) for name in ("sigma_f", "sigma_g")}
        data["noise"] = {"model": draw(st.sampled_from(["additive", "matrix", "jump"]))} | scales
    return json.dumps(data), ",".join(block(1, n)[0])


# Found by this test: an exact multiplier of 1e308 and one that no double holds.
_TOO_LARGE = (
    '{"kind": "quadratic", "f": {"x": [0]}, "g": {"yy": [[1, 0], [0, 1]], "y": [0, "-1e150"]},'
    ' "constraints": {"B": [[1, 0], ["-1e8", "1e-150"]], "b": [-1, 0]}}',
    "0",
)


# And rows that a solver's tolerance takes for infeasible.
_ILL_CONDITIONED = (
    '{"kind": "quadratic", "f": {"x": [0]}, "g": {"yy": [[1, 0], [0, 1]]},'
    ' "constraints": {"B": [[1, 0], ["-1e8", 1]], "b": [-1, 0]}}',
    "0",
)


@settings(max_examples=25)
@given(
    drawn=extreme_files(),
    alpha=st.sampled_from(["1e-30", "1e-3", "0.1", "1", "1000"]),
    reading=st.sampled_from(["repaired", "as-written"]),
    solver=st.sampled_from(alternatives("inner_solver")),
)
@example(drawn=_TOO_LARGE, alpha="0.1", reading="repaired", solver="averaged")
@example(drawn=_ILL_CONDITIONED, alpha="1e-30", reading="repaired", solver="constant-step")
def test_numbers_at_the_edge_of_doubles_leak_no_warning(
    problem_file: Path, drawn: tuple[str, str], alpha: str, reading: str, solver: str
) -> None:
    content, x = drawn
    problem_file.write_text(content)
    outcome = asked(str(problem_file), f"--x={x}", "--alpha", alpha, "--reading", reading,
                  "--choose", f"inner_solver={solver}")  # fmt: skip
    if outcome.code == 3:
        # A solver may give up here. Then it says so, and there is no answer.
        assert_refused(outcome, code=3)
        reasons = (
            "KKT residual", "stopped with exit flag", "too thin for double precision", "too ill-conditioned for it",
        )  # fmt: skip
        assert any(reason in outcome.err for reason in reasons)
        return
    assert_answered_or_refused(outcome)


@pytest.mark.parametrize("name", sorted(atlas()))
def test_every_atlas_instance_is_answered_or_refused(name: str) -> None:
    outcome = asked(f"atlas:{name}")
    assert_answered_or_refused(outcome)
    assert (outcome.code == 2) is (name == "infeasible")


@pytest.mark.parametrize(
    "arguments",
    [
        ("hypergradient",), ("hypergradient", ""), ("hypergradient", "\0"), ("hypergradient", "atlas:"),
        ("hypergradient", "atlas:nope"), ("hypergradient", "none.json"), ("hypergradient", os.devnull),
        ("hypergradient", "/"), ("hypergradient", "a" * 5000), ("hypergradient", "atlas:toy1", "--x"),
        ("hypergradient", "atlas:toy1", "--x", "1,2"), ("hypergradient", "atlas:toy1", "--alpha", "0.1", "--alpha"),
        ("claims", "nope"), ("claims", ""), ("claims", "bias-bound/"), ("claims", "bias-bound", "more"),
        ("claims", "\udcff"), ("schema", "nope"), ("schema", "--out", os.devnull), ("nope",), ("--nope",), ("",),
        (*ONE_CHECK, "--jobs", "0"), (*ONE_CHECK, "--jobs", "-1"), (*ONE_CHECK, "--jobs", "many"),
        (*ONE_CHECK, "--seed", "-1"), (*ONE_CHECK, "--seed", "1.5"), (*ONE_CHECK, "--profile", "fast"),
        (*ONE_CHECK, "--profile", ""), (*ONE_CHECK, "--instance", "toy"), (*ONE_CHECK, "--instance", ""),
        (*ONE_CHECK, "--reading", "both"), (*ONE_CHECK, "--reading", "only:"), (*ONE_CHECK, "--reading", "only:nope"),
        (*ONE_CHECK, "--reading", "only:outer_batch"), (*ONE_CHECK, "nope"), (*ONE_CHECK, ""),
        (*ONE_CHECK, "--subject", ""), (*ONE_CHECK, "--subject", ":"), (*ONE_CHECK, "--subject", "none.such:Subject"),
        (*ONE_CHECK, "--subject", "os:nope"), (*ONE_CHECK, "--subject", "os:path"), (*ONE_CHECK, "--subject", ".x:y"),
        (*ONE_CHECK, "--subject", "a b:c d"), (*ONE_CHECK, "--subject", "\udcff:x"),
        (*ONE_CHECK, "--out", os.devnull), (*ONE_CHECK, "--out", f"{os.devnull}/x"), (*ONE_CHECK, "--out", "a" * 300),
        (*ONE_CHECK, "--out", "\0"), (*ONE_CHECK, "--baseline", "none.json"), (*ONE_CHECK, "--baseline", "/"),
        (*ONE_CHECK, "--baseline", "\0"),
    ],
    ids=lambda arguments: ascii(" ".join(arguments))[:60],
)  # fmt: skip
def test_a_wrong_argument_is_refused(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run(*arguments))


@settings(max_examples=25)
@given(
    option=st.sampled_from(["claim", "--instance", "--reading", "--profile", "--subject", "--seed"]),
    value=st.text(max_size=12) | wrong_tokens().filter(lambda token: len(token) < 200),
)
def test_any_name_is_refused_where_it_names_nothing(
    tmp_path_factory: pytest.TempPathFactory, option: str, value: str
) -> None:
    # Should a name be right by chance, still nothing matches: no check of this claim uses this instance.
    unused = next(name for name in atlas() if name not in checks()["bias-bound/T3"].instances)
    out = str(tmp_path_factory.getbasetemp() / "unused")
    base = ["verify", "bias-bound/T3", "--instance", unused, "--profile", "smoke", "--jobs", "1", "--out", out]
    outcome = run(*base, "--", value) if option == "claim" else run(*base, f"{option}={value}")
    assert_refused(outcome)


@pytest.mark.parametrize(
    "content",
    [b"\n", b"{", b"[]", b"\xff\xfe", b'{"seed": 1}\n', b"SQLite format 3\0", b"SQLite format 3\0" + b"\0" * 4080],
    ids=lambda content: ascii(content)[:24],
)
@pytest.mark.parametrize("more", [(), ("--resume",), ("--fresh",)])
def test_a_file_that_is_no_store_is_refused_and_kept(content: bytes, more: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").write_bytes(content)
    assert_refused(run(*ONE_CHECK, "--out", str(tmp_path), *more))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"store.sqlite": content}


_SHARES = ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1.0/2", "²/3", "1/" + "9" * 5000]


@pytest.mark.parametrize("shard", _SHARES)
def test_a_share_that_is_none_is_refused(shard: str, tmp_path: Path) -> None:
    assert_refused(run(*ONE_CHECK, "--out", str(tmp_path / "out"), "--shard", shard))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"1", b'"SUPPORTED"', b"NaN", b"\xff\xfe", b"[" * 100_000, b"9" * 5000,
        b'{"a": 1e99999999}', b'{"a": "MAYBE"}', b'{"a": null}', b'{"a": "SUPPORTED", "a": "REFUTED"}',
        b'{"results": null}', b'{"results": [1]}', b'{"results": [[]]}', b'{"results": [{"claim": "x"}]}',
        b'{"results": [{"claim": "a", "reading": "b", "instance": "c", "verdict": []}]}',
        b'{"results": [{"claim": "a", "reading": "b", "instance": "c", "verdict": "MAYBE"}]}',
    ],
    ids=lambda content: ascii(content)[:40],
)  # fmt: skip
def test_a_file_without_verdicts_is_no_baseline(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "baseline.json").write_bytes(content)
    out = tmp_path / "out"
    assert_refused(run(*ONE_CHECK, "--out", str(out), "--baseline", str(tmp_path / "baseline.json")))
    assert not out.exists()


def test_a_verdict_that_differs_from_the_baseline_is_a_finding(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    for verdict, code in (("SUPPORTED", 0), ("REFUTED", 1)):
        baseline.write_text(json.dumps({"bias-bound/T3|repaired|toy1": verdict}))
        assert run(*ONE_CHECK, "--out", str(tmp_path / "out"), "--baseline", str(baseline)).code == code


Process = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def process(copied: list[str]) -> Process:
    """The command in a process of its own, as a user runs it."""
    return partial(_process, copied)


def _process(
    copied: list[str], *arguments: str, stdin: bytes = b"", **environ: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*copied, "-m", "verify", *arguments], input=stdin, capture_output=True, check=False, timeout=60,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | environ,
    )  # fmt: skip


def test_a_problem_may_come_from_standard_input(process: Process) -> None:
    answered = process("hypergradient", "-", "--x", "1", "--json", stdin=TOY.encode())
    assert answered.returncode == 0, answered.stderr
    assert json.loads(answered.stdout)["exact"]["hypergradient"] == [1.0]
    refused = process("hypergradient", "-", "--x", "1", stdin=b"\xff{")
    assert refused.returncode == 2
    assert refused.stderr.startswith(b"f2csa: standard input: is not valid JSON")


def test_what_no_terminal_can_show_is_shown_all_the_same(process: Process) -> None:
    for content in (b'{"kind": "\\ud800"}', b'{"kind": "holder", "s": "\\u001b[2J\\n\\u2028\xc3\xa9"}'):
        refused = process("hypergradient", "-", "--x", "1", stdin=content, PYTHONIOENCODING="ascii:strict")
        assert refused.returncode == 2
        assert refused.stdout == b""
        assert refused.stderr.count(b"\n") == 1
        assert b"\x1b" not in refused.stderr


def test_a_reader_that_leaves_early_is_no_error(copied: list[str]) -> None:
    with subprocess.Popen(
        [*copied, "-m", "verify", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 0


def test_a_pipe_is_read_like_a_file(copied: list[str], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [*copied, "-m", "verify", "hypergradient", str(pipe), "--x", "1", "--json"], stdout=subprocess.PIPE
    ) as running:
        pipe.write_text(TOY)
        assert running.stdout is not None
        assert json.loads(running.stdout.read())["x"] == [1.0]


def test_zero_is_not_mistaken_for_a_missing_point() -> None:
    assert json.loads(asked("atlas:toy1", "--x", "0").out)["x"] == [0.0]
    assert Fraction(json.loads(asked("atlas:toy1").out)["x"][0]) == 1
