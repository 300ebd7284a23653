"""Symbols in ASCII: the spelling itself, streams that are settled to it, and columns that stay columns."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from verify.cli.output import spelling
from verify.cli.output.console import PlainConsole, print_json
from verify.cli.output.spelling import can_show, each_spelt, in_ascii, is_wanted, settle, spelt

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(
    ("text", "ascii_text"),
    [
        ("α⁻²", "alpha^-2"),
        ("‖λ̃‖ ≤ 2α⁻²", "||lambda~|| <= 2 alpha^-2"),
        ("α⁰·⁵ and α¹ᐟ²", "alpha^0.5 and alpha^1/2"),
        ("α⁻²Aᵀλ̃ at λ̃ = 2", "alpha^-2 A^T lambda~ at lambda~ = 2"),
        ("α₁[A, -B]ᵀ(λ* - λ̃)", "alpha_1[A, -B]^T(lambda* - lambda~)"),
        ("dist(0, ∂_δF(x))", "dist(0, d_delta F(x))"),
        ("τδ, ε_λ, κ_g", "tau delta, epsilon_lambda, kappa_g"),
        ("✓ supported", "ok supported"),
        ("✗ refuted", "FAIL refuted"),
        ("1.94·α", "1.94*alpha"),
        ("3.1 × 10⁻⁵", "3.1 x 10^-5"),
        ("ỹ ∈ ℝ", "y~ in R"),
        ("“é”", '"e"'),
        ("\U0001f600", "?"),
    ],
)
def test_the_papers_symbols_are_spelt(text, ascii_text):
    assert spelt(text) == ascii_text


def test_every_symbol_of_the_house_has_a_spelling():
    files = [file for room in ("spec", "verify", "f2csa_ref") for file in (ROOT / room).rglob("*")]
    used = {c for file in files if file.suffix in (".py", ".toml") for c in file.read_text(encoding="utf-8")}
    greek = {c for c in used if not c.isascii()}
    assert len(greek) > 80
    assert [c for c in sorted(greek) if "?" in spelt(c)] == []


@given(st.text())
def test_a_spelling_is_ascii_and_says_ascii_unchanged(text):
    pieces = each_spelt(text)
    assert len(pieces) == len(text)
    assert spelt(text).isascii()
    assert spelt("".join(c for c in text if c.isascii())) == "".join(c for c in text if c.isascii())


@given(st.text(alphabet=sorted(spelling.WORDS | spelling.SIGNS | spelling.RAISED | spelling.LOWERED) + list("aF1 (")))
def test_a_stream_spells_as_the_function_does(text):
    held = io.BytesIO()
    stream = io.TextIOWrapper(held, encoding="ascii", newline="")
    settle(stream, ascii_wanted=False)
    stream.write(text)
    stream.flush()
    assert held.getvalue().decode("ascii").replace(" ", "") == spelt(text).replace(" ", "")


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"TERM": "xterm"}, False),
        ({"TERM": "dumb"}, True),
        ({"LC_ALL": "C"}, True),
        ({"LC_ALL": "POSIX"}, True),
        ({"LC_ALL": "C.UTF-8"}, False),
        ({"LC_ALL": "C", "PYTHONUTF8": "1"}, False),
        ({"LC_ALL": "C", "PYTHONIOENCODING": "utf-8"}, False),
        ({"TERM": "dumb", "PYTHONUTF8": "1"}, True),
    ],
)
def test_the_surroundings_may_ask_for_ascii(environment, wanted):
    assert is_wanted(environment) is wanted


def test_a_stream_that_has_the_symbols_is_left_alone():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    settle(stream, ascii_wanted=False)
    assert stream.encoding == "utf-8"
    assert can_show(stream)
    settle(stream, ascii_wanted=True)
    assert not can_show(stream)
    assert can_show(io.StringIO())


def test_columns_are_laid_out_as_they_are_spelt():
    table = Table("a ≤ b", "c", box=None, caption=Text("α⁻²"))
    table.add_row("δ", Text.assemble(("λ̃", "bold"), "!"))
    shown = in_ascii(table)
    assert shown.columns[0].header == "a <= b"
    assert list(shown.columns[0].cells) == ["delta"]
    (cell,) = shown.columns[1].cells
    assert cell.plain == "lambda~!"
    assert [(span.start, span.end, span.style) for span in cell.spans] == [(0, 7, "bold")]
    assert str(shown.caption) == "alpha^-2"
    assert in_ascii(Padding("τ", 1)).renderable == "tau"
    assert in_ascii(3) == 3


def test_a_console_spells_what_its_stream_cannot_show():
    held = io.BytesIO()
    stream = io.TextIOWrapper(held, encoding="ascii")
    settle(stream, ascii_wanted=False)
    PlainConsole(file=stream, width=40).print("α ≤ 1")
    stream.flush()
    assert held.getvalue() == b"alpha <= 1\n"


def test_json_is_escaped_and_never_spelt(monkeypatch):
    held = io.BytesIO()
    stream = io.TextIOWrapper(held, encoding="ascii")
    settle(stream, ascii_wanted=False)
    monkeypatch.setattr(sys, "stdout", stream)
    print_json({"α": "λ̃\n\U0001f600"})
    stream.flush()
    assert held.getvalue().isascii()
    assert json.loads(held.getvalue()) == {"α": "λ̃\n\U0001f600"}


COMMANDS = (
    ("claims", "bias-bound"),
    ("orders", "bias-bound/T3"),
    ("refute", "bias-bound/T3"),
    ("hypergradient", "atlas:toy1", "--certify"),
    ("goldstein", "atlas:toy1", "--radius", "1/10"),
    ("instances", "toy1"),
    ("solve", "--help"),
    ("claims", "bias-bond"),
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_what_a_command_prints_is_ascii_where_nothing_else_can_be_shown(copied, arguments):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "TERM": "xterm"}
    command = [*copied, "-m", "verify", *arguments]
    made = subprocess.run(command, capture_output=True, env=environment, timeout=120, check=False)
    assert made.stdout + made.stderr
    assert made.stdout.isascii()
    assert made.stderr.isascii()
    assert b"internal fault" not in made.stderr
