"""Problems of the user's own become probes: right answers agree, wrong ones do not, and bad input is one line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec import InvalidInputError, parse_problem
from tests.verify.conformance.subjects import Independent, OnlyHypergradient
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.null_subjects import null_subjects
from verify.conformance.comparison.stage_comparison import PROBED, look
from verify.conformance.further_questions.own_problems import LARGEST, OwnProbes, OwnProblem
from verify.subjects import MissingCapabilityError, ReferenceSubject
from verify.subjects.protocol import StageCalls

MINE: dict[str, Any] = {
    "kind": "quadratic", "f": {"xx": [[1]], "xy": [["1/3", 0]], "y": [1, 0]},
    "g": {"xy": [["1/2", 0]], "yy": [[1, 0], [0, 2]]},
    "constraints": {"A": [[1]], "B": [[1, 1]], "b": [0]},
    "noise": {"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"},
}  # fmt: skip


def written(folder: Path, data: Any, name: str = "mine.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def mine(x: tuple[int, ...] | None = (1,)) -> OwnProblem:
    return OwnProblem("mine", parse_problem(MINE), None if x is None else tuple(map(Fraction, x)))


def told(subject: Any, *problems: OwnProblem) -> tuple[str, ...]:
    own = OwnProbes.of(problems)
    return own.told(look(StageCalls(subject), only=PROBED, questions=own.probes))


@pytest.mark.parametrize("subject", [ReferenceSubject(), by_id("never-clips"), Independent()])
def test_right_answers_agree_at_every_stage_that_is_offered(subject: Any) -> None:
    own = OwnProbes.of([mine()])
    seen = look(StageCalls(subject), only=PROBED, questions=own.probes)
    assert {found.status for found in seen.findings} <= {"agrees", "not offered"}
    assert {probe.stage for probe in own.probes} == set(PROBED)
    (note,) = own.told(seen)
    assert note.startswith("mine, at x = (1): ")
    assert note.endswith(", none off; not judged: its noise.")


@pytest.mark.parametrize("id_", ["zero-multipliers", "hard-activation", "half-penalty-in-solve", "keeps-dual-term"])
def test_wrong_answers_do_not(id_: str) -> None:
    (note,) = told(by_id(id_), mine())
    assert ", none off" not in note
    assert " off; not judged" in note


@pytest.mark.parametrize("name", ["zero", "constant", "random"])
def test_knowing_nothing_is_off(name: str) -> None:
    (note,) = told(null_subjects()[name], mine())
    assert ", none off" not in note


def test_a_solver_of_one_family_is_judged_on_it() -> None:
    class OneFamily(OnlyHypergradient):
        def hypergradient(self, problem: Any, *asked: Any) -> Any:
            if problem.m != 2 or not problem.f.yy.is_zero:
                raise MissingCapabilityError("m = 2 and f_yy = 0")
            return super().hypergradient(problem, *asked)

    assert told(OneFamily(), mine()) == (
        "mine, at x = (1): 8 answers compared (hypergradient 8), none off; not judged: its noise.",
    )
    (note,) = told(OneFamily(), OwnProblem.read("atlas:toy1"))
    assert note.startswith("toy1, at x = (1): nothing was compared, for no stage answered")


def test_smooth_problems_are_followed_to_many_digits() -> None:
    near = OwnProblem("near", parse_problem({"kind": "holder", "s": "1/2"}), (Fraction(1, 8),))
    for subject, off in ((ReferenceSubject(), False), (by_id("half-penalty-in-solve"), True), (Zero(), True)):
        notes = told(subject, near, OwnProblem.read("atlas:holder-1-4"))
        assert all(("none off" in note) != off for note in notes) or subject.name == "half-penalty-in-solve"
        assert all("activation on a problem of kind holder" in note for note in notes)


def test_smooth_problems_are_followed_to_where_their_curvature_ends() -> None:
    # At s = 1 the factor flattens beyond |(x, y)| = 1/3, where this minimum is.
    notes = told(ReferenceSubject(), OwnProblem("beyond", parse_problem({"kind": "holder", "s": 1}), (Fraction(1, 4),)))
    assert ["none off" in note for note in notes] == [True]


class Zero(ReferenceSubject):
    name = "zero"

    def hypergradient(self, *asked: Any) -> Any:
        return np.zeros(1)


def test_the_point_comes_from_the_option_then_the_file_then_nowhere(tmp_path: Path) -> None:
    path = written(tmp_path, MINE | {"x": ["1/2"]})
    assert OwnProblem.read(path).x == (Fraction(1, 2),)
    assert OwnProblem.read(path, (Fraction(2),)).x == (Fraction(2),)
    assert OwnProblem.read(written(tmp_path, MINE)).x is None
    assert told(OnlyHypergradient(), mine(None))[0].startswith("mine, at x = (0): ")


def test_a_point_is_drawn_where_zero_has_no_single_pair() -> None:
    # At 0 both rows bind and are parallel; elsewhere one of them does.
    rows = {"A": [[1], [2]], "B": [[1], [1]], "b": [0, 0]}
    crossing = parse_problem({"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]}, "constraints": rows})
    own = OwnProbes.of([OwnProblem("crossing", crossing)])
    assert not own.told(look(StageCalls(ReferenceSubject()), only=PROBED, questions=own.probes))[0].startswith(
        "crossing, at x = (0)"
    )
    with pytest.raises(InvalidInputError, match=r"^crossing\.x: must be a point where the lower level has one pair"):
        OwnProblem("crossing", crossing, (Fraction(0),)).probes()


def test_two_of_one_name_are_told_apart() -> None:
    notes = told(OnlyHypergradient(), mine(), mine((2,)))
    assert [note.partition(",")[0] for note in notes] == ["mine", "mine-2"]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({"kind": "quadratic"}, "mine.json"),
        ([1], "mine.json"),
        (MINE | {"x": "1"}, "mine.json.x: must be a list of numbers; got 1"),
        (MINE | {"x": ["one"]}, r"mine.json.x\[0\]"),
        (MINE | {"x": [1, 2]}, r"mine.x: must have 1 number\(s\); got 2"),
        (MINE | {"constraints": {"A": [[0], [0]], "B": [[1, 0], [-1, 0]], "b": [-1, -1]}}, "mine: has no single lower"),
        ({"kind": "holder", "s": "1/2", "x": [3]}, r"mine.x: must be in \[-1/4, 1/4\]"),
        ({"kind": "generated", "family": "random-rows", "n": 30, "m": 40, "p": 40}, f"m \\+ p <= {LARGEST}"),
    ],
)
def test_bad_problems_are_one_line(tmp_path: Path, data: Any, line: str) -> None:
    with pytest.raises(InvalidInputError, match=line) as caught:
        OwnProblem.read(written(tmp_path, data)).probes()
    assert "\n" not in str(caught.value)
