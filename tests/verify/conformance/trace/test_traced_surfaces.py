"""File, line and sentence reach the letter, the JSON, annotations, SARIF and the report's page, from one object."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spec import InvalidInputError
from tests.verify.conformance.letter.test_author_letter import FOUND
from tests.verify.conformance.trace.traced_subjects import WRONG, line_of, written
from verify.cli.arguments.conform_options import Conform
from verify.cli.implementations.conform_here import require_together
from verify.cli.output.ci_output import CiOutput
from verify.conformance import judge
from verify.conformance.found import Diagnosis
from verify.conformance.letter.author_letter import told
from verify.conformance.model import Conformance
from verify.conformance.trace.model import Trace, TracedLine

LINE = TracedLine(
    stage="hypergradient", file="mine.py", line=3, text="a @ w", quantity="g_xy w", instead="; it is that + b",
    wrong=6, asked=7,
)  # fmt: skip
SAID = "`a @ w` should be g_xy w; it is that + b (wrong on 6 of 7 questions, all right with this put right)"
TRACED = FOUND.model_copy(update={"trace": Trace(lines=(LINE,), left_out=("fast.so (compiled)",), seconds=1.0)})


def test_the_sentence_is_said_once() -> None:
    assert str(LINE) == f"mine.py:3: {SAID}"


def test_the_letter_and_the_json_have_it() -> None:
    assert f"  mine.py:3: {SAID}" in str(TRACED).splitlines()
    assert "Note: Left out of the search for lines: fast.so (compiled)." in str(TRACED)
    assert TRACED.content()["trace"]["lines"][0]["line"] == 3
    assert Conformance.model_validate(TRACED.content()).trace == TRACED.trace


def test_without_it_nothing_of_it_is_there() -> None:
    assert "trace" not in FOUND.content()
    assert FOUND.content() == {name: value for name, value in TRACED.content().items() if name != "trace"}


def test_the_page_has_it() -> None:
    (wrong,) = told(TRACED).wrong
    assert wrong.lines == (("mine.py:3", "a @ w", SAID.removeprefix("`a @ w` ")),)


def test_a_line_of_a_stage_without_a_diagnosis_is_told() -> None:
    other = LINE.model_copy(update={"stage": "samples"})
    letter = str(FOUND.model_copy(update={"trace": Trace(lines=(other,))}))
    assert f"samples: mine.py:3: {SAID}" in letter.splitlines()


def test_annotations_and_sarif_point_at_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    Path("mine.py").write_text("1\n2\n3\n", "utf-8")
    CiOutput("github", Path("log.sarif"), as_json=False).conformance(TRACED)
    (command,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::error")]
    assert command.startswith("::error file=mine.py,line=3,title=finding%3A stage/hypergradient::off mine.py:3: ")
    (result,) = json.loads(Path("log.sarif").read_text("utf-8"))["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("mine.py", 3)
    assert SAID in result["message"]["text"]


def test_conform_finds_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    heard: list[str] = []
    found = judge.conform(
        written(tmp_path, "traced_whole", answer=WRONG), claims=["bias-bound/T3"], exitfirst=True, trace=heard.append
    )
    assert found.trace is not None
    (line,) = found.trace.lines
    assert line.place == f"traced_whole.py:{line_of(tmp_path, 'traced_whole', 'return direct')}"
    assert heard


def test_a_program_has_no_python_line() -> None:
    with pytest.raises(InvalidInputError, match="must go with --python"):
        require_together(Conform(command="cat", trace=True))


@pytest.mark.parametrize(
    ("subject", "reading"), [("command:cat", "repaired"), ("reference", "repaired"), ("a:B", "as-written")]
)
def test_what_has_no_line_is_refused(subject: str, reading: str) -> None:
    from verify.conformance.further_questions.asking import Asking
    from verify.conformance.further_questions.judging_options import ConformOptions

    with pytest.raises(InvalidInputError, match="--trace"):
        Asking(ConformOptions(subject, reading=reading, trace=True), f"load_subject({subject!r})").prepare()


def test_a_line_stands_under_the_explanation_that_names_its_quantity() -> None:
    clip = LINE.model_copy(update={"stage": "optimise", "quantity": "Δ_{t+1} = clip_D(Δ_t − η g_t)"})
    said = ("Δ_{t+1} = Δ_t − ηg_t, every component cut", "the output is always the last block's mean", "x_t = x_{t−1}")
    found = tuple(Diagnosis(stage="optimise", sentence=one) for one in said)
    update = {"diagnoses": found[1:] + found[:1], "trace": Trace(lines=(clip,))}
    assert [len(one.lines) for one in told(FOUND.model_copy(update=update)).wrong] == [0, 0, 1]
    letter = str(FOUND.model_copy(update=update)).splitlines()
    assert letter[letter.index(f"  {clip}") - 1].endswith(said[0])
    assert letter.count(f"  {clip}") == 1


def test_a_line_whose_quantity_none_or_several_name_stands_once_after_the_last() -> None:
    other = LINE.model_copy(update={"stage": "optimise", "quantity": "the path"})
    found = tuple(Diagnosis(stage="optimise", sentence=one) for one in ("the path is wrong", "the path is off", "z_t"))
    for line in (other, other.model_copy(update={"quantity": "s_t"})):
        update = {"diagnoses": found, "trace": Trace(lines=(line,))}
        wrong = told(FOUND.model_copy(update=update)).wrong
        assert [len(one.lines) for one in wrong] == [0, 0, 1]
        assert wrong[-1].lines[0][-1].endswith("; which of what is said of optimise it makes is not known")
        assert [text for text in str(FOUND.model_copy(update=update)).splitlines() if line.place in text] == [
            f"  {line}; which of what is said of optimise it makes is not known"
        ]


def test_a_change_of_what_is_right_says_that_it_may_make_up_for_a_mistake() -> None:
    line = TracedLine(stage="hypergradient", file="a.py", line=3, text="h", quantity="`-h`", wrong=2, asked=3)
    assert "elsewhere" not in line.sentence
    assert "may make up for a mistake elsewhere" in line.model_copy(update={"is_doubtful": True}).sentence
