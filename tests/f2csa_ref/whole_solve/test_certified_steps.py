"""Runs whose every answer keeps to a wanted error: true at each step, said in the trace, resumed bit for bit."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from f2csa_ref import Accuracy, Assumed
from f2csa_ref.baselines.methods import F2csaParameters
from f2csa_ref.solver import run_loop
from f2csa_ref.solver.trace import read_header
from f2csa_ref.whole_solve import certified_steps
from f2csa_ref.whole_solve.certified_steps import StepErrors
from f2csa_ref.whole_solve.solve import Setting, digest, solve
from spec import InvalidInputError, parse_problem
from spec.atlas import find
from tests.f2csa_ref.whole_solve.test_solve import SCHEDULE, noisy, plain, setting
from verify.truth.lower_level.lower_level import hypergradient as exact_gradient

WANTED = Accuracy(1e-2)


@pytest.fixture
def seen(monkeypatch):
    """Every step's point and answer, as the run goes."""
    steps, right = [], certified_steps.answer_within

    def told(q, x, *more):
        steps.append((x, right(q, x, *more)))
        return steps[-1][1]

    monkeypatch.setattr(certified_steps, "answer_within", told)
    return steps


def entries(path, kind):
    return [entry for line in path.read_text().splitlines() if (entry := json.loads(line))["kind"] == kind]


@pytest.mark.parametrize("name", ["experiment-1d", "moving-box"])
def test_at_every_step_the_bound_holds_and_the_trace_has_the_largest(seen, tmp_path, name):
    instance, trace = find(name), tmp_path / "trace.jsonl"
    start = tuple(float(v) for v in instance.x)
    made = solve(instance.problem, setting(x_0=start, accuracy=WANTED), trace=trace)
    for x, answer in seen:
        truth = [float(v) for v in exact_gradient(instance.problem, [Fraction(v) for v in x.tolist()])]
        assert np.linalg.norm(answer.estimate.hypergradient - truth) <= answer.bound + 1e-15 <= 1e-2 + 1e-15
    lines = [entry["error"] for entry in entries(trace, "block")]
    assert [line["largest"] for line in lines] == [
        max(answer.bound for _, answer in seen[first : first + 10]) for first in range(0, 80, 10)
    ]
    assert all(line["all_met"] for line in lines)
    assert made.errors == sum(map(StepErrors.from_dict, lines), StepErrors())
    assert made.errors.steps == made.errors.met == 80
    # Each search goes on from the last: hardly more than one run a step.
    assert made.errors.attempts == sum(answer.attempts for _, answer in seen) <= 120
    assert made.counts["grad_x_f"] == made.errors.attempts
    assert not any("certified" in note for note in made.notes)


@pytest.mark.parametrize("cut", [0, 900, 9999])
def test_a_run_cut_anywhere_goes_on_bit_for_bit(tmp_path, cut):
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    wanted = setting(accuracy=Accuracy(0.1, Assumed(level=0.9)))
    expected = solve(noisy(), wanted, trace=whole)
    torn.write_bytes(whole.read_bytes()[: len(whole.read_bytes()) - cut])
    resumed = solve(noisy(), wanted, trace=torn, resume=True)
    assert plain(resumed) == plain(expected)
    assert resumed.errors == expected.errors
    assert resumed.errors.noisy
    assert torn.read_bytes() == whole.read_bytes()


def test_inside_a_block_the_errors_so_far_are_on_record(tmp_path, monkeypatch):
    monkeypatch.setattr(run_loop, "CHECKPOINT", 20)
    long = SCHEDULE.model_copy(update={"M": 30, "K": 1, "D": 0.2 / 30})
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    wanted = setting(outer=long, accuracy=WANTED)
    expected = solve(find("toy1").problem, wanted, trace=whole)
    torn.write_text("".join(whole.read_text().splitlines(keepends=True)[:2]))
    assert entries(torn, "state")[0]["oracle"]["errors"]["steps"] == 20
    resumed = solve(find("toy1").problem, wanted, trace=torn, resume=True)
    assert resumed.resumed_at == 20
    assert resumed.errors == expected.errors
    assert resumed.errors.steps == 30


def test_steps_without_a_bound_are_counted_with_their_reasons(make):
    """Where two rows are the same, active ones are dependent: right of 0."""
    twice = make({"y": [1]}, {"yy": [[1]]}, {"A": [[1], [1]], "B": [[1], [1]]})
    made = solve(twice, setting(x_0=(0.1,), accuracy=WANTED))
    errors = made.errors
    assert errors.without == errors.steps - errors.met > 0
    assert sum(errors.why_not.values()) == errors.without
    assert any("kink" in reason or "dependent" in reason for reason in errors.why_not)
    assert not errors.all_met
    missed = (
        f"{errors.without} of 80 steps are not certified to an error of 0.01, {errors.without} of them have no bound"
    )
    assert any(note.startswith(missed) for note in made.notes)


def test_on_a_kink_the_distance_of_the_pieces_is_kept_apart_from_bounds(toy1):
    still = SCHEDULE.model_copy(update={"D": 1e-300, "goldstein_radius": 1e-299})
    made = solve(toy1, setting(x_0=(0.0,), outer=still, accuracy=WANTED))
    errors = made.errors
    # Steps of 1e-300 leave the kink for doubles, but for the first.
    assert errors.without >= 1
    assert errors.near_pieces is not None
    assert errors.near_pieces <= 1e-2
    assert errors.largest is None or errors.largest <= 1e-2
    assert all("F may have a kink here" in reason for reason in errors.why_not)


def test_what_was_wanted_is_in_the_header_and_nothing_where_nothing_was(tmp_path):
    trace = tmp_path / "trace.jsonl"
    wanted = setting(accuracy=Accuracy(0.1, Assumed(level=0.8, holder=(1.0, 0.5))))
    solve(find("toy1").problem, wanted, trace=trace)
    assert Setting.from_header(read_header(trace)) == wanted
    assert "accuracy" not in setting().header("any")
    assert Setting.from_header(setting().header(digest(find("toy1").problem))) == setting()
    with pytest.raises(InvalidInputError, match="same run; it differs in accuracy"):
        solve(find("toy1").problem, setting(accuracy=WANTED), trace=trace, resume=True)
    assert solve(find("toy1").problem, setting()).errors is None


def test_only_the_plain_oracle_is_certified():
    with pytest.raises(InvalidInputError, match="is for f2csa with the plain oracle"):
        solve(find("toy1").problem, setting(accuracy=WANTED, method=F2csaParameters(fast=True)))


def test_reasons_are_counted_whatever_rows_they_name(make):
    eye = np.eye(2, dtype=int).tolist()
    problem = parse_problem(
        {"kind": "quadratic", "f": {"y": [1, 1]}, "g": {"yy": eye}, "constraints": {"A": [[1], [1]], "B": eye}}
    )
    made = solve(problem, setting(x_0=(0.0,), accuracy=WANTED))
    assert len(made.errors.why_not) <= 2
    assert not any(digit in reason for reason in made.errors.why_not for digit in "0123456789")
