"""A run spends its budget, records what it met, and says where it failed; work is counted by one unit for all."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from f2csa_ref.algorithm_2 import OuterState
from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.baselines.iterates import IterateState
from verify.experiments.benchmark_problems import Course
from verify.experiments.budgeted_run import (
    lowest_loss,
    noise_of_a_value,
    output,
    run,
    seconds_of_a_call,
)
from verify.experiments.compared_methods import (
    DESCENT,
    DSBLO,
    DSBLO_2,
    F2CSA,
    LITERAL,
    PARENT,
    PIGD,
    PRINTED_SSIGD,
    SSIGD,
    TARGET,
    ZEROTH,
    Contender,
    keeps_theorem,
    tied_memory,
)
from verify.truth.goldstein.distance import distance

SMALL = Course("paper", 0.1, 3, 10.0, 0)
ALL = (F2CSA, LITERAL, SSIGD, DSBLO, DSBLO_2, PIGD, PARENT, ZEROTH, DESCENT)


def made(name: str, length: float, budget: float, *, course: Course = SMALL, points: int = 4, distances: int = 0):  # type: ignore[no-untyped-def]
    return run(course.plain, asdict(Contender(name, length)), 1, (budget, "calls"), points=points, distances=distances)


@pytest.mark.parametrize("name", ALL)
def test_every_method_comes_down(name: str) -> None:
    record = made(name, 0.1, 60)
    assert record["stopped"] == ""
    assert record["calls"][-1] == 60
    assert record["loss"][-1] < record["loss"][0] - 0.1
    assert len(record["loss"]) == 5


def test_the_same_arguments_give_the_same_record() -> None:
    assert made(SSIGD, 0.1, 20) == made(SSIGD, 0.1, 20)


def test_a_method_that_runs_away_has_failed() -> None:
    record = made(DESCENT, 50.0, 40)
    assert "at call" in record["stopped"]


def test_a_start_without_a_gradient_ends_plain_descent_alone() -> None:
    start = Course("absolute-fixed", 0.05, start=(0.0, 0.8))
    assert "no step at call 1: x: must be where y* is differentiable" in made(DESCENT, 0.1, 10, course=start)["stopped"]
    assert made(SSIGD, 0.1, 10, course=start)["stopped"] == ""


def test_the_distances_recorded_are_the_certified_ones() -> None:
    record = made(DESCENT, 0.1, 8, distances=2)
    assert record["at"] == [0.0, 4.0]
    found = distance(SMALL.problem, SMALL.x_0.tolist(), SMALL.radius)
    assert (record["lower"][0], record["upper"][0], record["certified"][0]) == (found.lower, found.upper, 1.0)


def test_what_a_method_gives_is_the_block_mean_or_the_iterate() -> None:
    clipped = OuterState.start(np.zeros(2))
    assert output(clipped).tolist() == [0.0, 0.0]
    clipped.x_bar.append(np.ones(2))
    assert output(clipped).tolist() == [1.0, 1.0]
    stepping = IterateState.start(np.full(2, 3.0))
    stepping.x_bar.append(np.ones(2))
    assert output(stepping).tolist() == [3.0, 3.0]


def test_the_lowest_loss_is_below_every_run() -> None:
    assert lowest_loss(SMALL.plain) <= min(made(DESCENT, 0.3, 100)["loss"]) + 1e-6


def test_the_noise_of_a_value_is_that_of_sampled_values() -> None:
    x = np.array([1.0, -2.0, 0.5])
    y = implicit_gradient(SMALL.objectives, x).lower_level.y_star
    W = np.random.default_rng(0).standard_normal((3, 20_000, 3, 3)) * 0.01
    drawn = sum(
        np.einsum("kij,i,j->k", w, a, b) * c for w, a, b, c in zip(W, (x, x, y), (x, y, y), (0.5, 1, 0.5), strict=True)
    )
    assert noise_of_a_value(SMALL, x) == pytest.approx(float(np.std(drawn)), rel=0.03)


def test_seconds_of_a_call_are_positive() -> None:
    assert 0 < seconds_of_a_call(SMALL.plain, asdict(Contender(SSIGD, 0.1)), 0) < 1
    assert math.isnan(
        seconds_of_a_call(Course("absolute-fixed", 0.05, start=(0.0, 0.8)).plain, asdict(Contender(DESCENT, 0.1)), 0)
    )


def test_the_fast_oracle_runs_the_same_method() -> None:
    page, fast = (
        run(SMALL.plain, asdict(Contender(F2CSA, 0.1, fast=fast)), 1, (40, "calls"), points=4, distances=0)
        for fast in (False, True)
    )
    assert np.allclose(page["loss"], fast["loss"], atol=0.02)


def test_the_relations_between_a_methods_parameters() -> None:
    clipped = Contender(F2CSA, 0.02).method(SMALL, Counter())
    assert (clipped.parameters.M, clipped.parameters.D) == (5, 0.02)  # type: ignore[attr-defined]
    assert clipped.parameters.eta == pytest.approx(2 * 0.02 / (SMALL.first_gradient * 5**0.5))  # type: ignore[attr-defined]
    blo = Contender(DSBLO_2, 0.02).method(SMALL, Counter()).spec  # type: ignore[attr-defined]
    first = SMALL.first_gradient / (blo.gamma_1 * SMALL.first_gradient + blo.gamma_2)
    assert first == pytest.approx(0.02)
    # Twice the length gives γ₁ below 1/δ: the memory is that of K = 1; shorter, K = δγ₁.
    assert blo.beta == tied_memory(0.02, 0.1) == TARGET / 64
    assert tied_memory(0.1 / 27, 0.1) == pytest.approx((TARGET / 64) ** (1 / 3))
    assert not keeps_theorem(Contender(DSBLO, 0.02), 0.1)
    assert keeps_theorem(Contender(DSBLO, 0.1 / 27), 0.1)
    assert not keeps_theorem(Contender(DSBLO, 0.1 / 27, further=0.9), 0.1)
    assert Contender(SSIGD, 0.02).method(SMALL, Counter()).spec.step_size * SMALL.first_gradient == pytest.approx(0.02)  # type: ignore[attr-defined]


def test_the_further_number_of_each_method() -> None:
    def made_of(name: str, further: float | None) -> Any:
        return Contender(name, 0.02, further=further).method(SMALL, Counter())

    for name in (F2CSA, PARENT, ZEROTH):
        plain, scaled = made_of(name, None).parameters, made_of(name, 10.0).parameters
        assert scaled.eta == pytest.approx(10 * plain.eta)
        assert (scaled.D, scaled.M) == (plain.D, plain.M)
    assert made_of(DSBLO, 0.9).spec.beta == made_of(DSBLO_2, 0.9).spec.beta == 0.9
    assert made_of(DSBLO, 0.9).spec.gamma_1 == made_of(DSBLO, None).spec.gamma_1
    assert [made_of(SSIGD, power).spec.decay for power in (None, 0.5, 1.0)] == ["constant", "square-root", "harmonic"]
    assert made_of(PIGD, 0.1).spec.radius == pytest.approx(0.01)
    assert made_of(PIGD, 0.1).spec.step_size == made_of(PIGD, None).spec.step_size


def test_plain_descent_shrinks_its_steps_when_told() -> None:
    def lengths(further: float | None) -> list[float]:
        method, rng = Contender(DESCENT, 0.02, further=further).method(SMALL, Counter()), np.random.default_rng(0)
        state, took = method.start(SMALL.x_0, rng), []
        for _ in range(4):
            before = state.x
            slope = float(np.linalg.norm(SMALL.gradient(before)))
            method.step(state, rng)
            took.append(float(np.linalg.norm(state.x - before)) / slope)
        return took

    first = 0.02 / SMALL.first_gradient
    assert lengths(None) == pytest.approx([first] * 4)
    assert lengths(1.0) == pytest.approx([first, first / 2, first / 3, first / 4])


def test_further_numbers_are_told_in_print() -> None:
    assert Contender(SSIGD, 1.0, further=0.5).told == "1/√r"
    assert Contender(DSBLO, 1.0, further=0.9).told == "β = 0.9"
    assert Contender(DSBLO, 1.0).told == "β tied to γ₁"
    assert Contender(F2CSA, 1.0, further=3.16).told == "η × 3.16"
    assert Contender(PIGD, 1.0).told == "perturbation × 1"
    assert Contender(PRINTED_SSIGD, 1.0, beta=1e-4).told == "as printed"


def test_rows_that_hold_are_recorded_along_the_path() -> None:
    record = made(DESCENT, 0.3, 40)
    assert len(record["held"]) == len(record["loss"])
    x = SMALL.x_0
    lower = implicit_gradient(SMALL.objectives, x).lower_level
    assert record["held"][0] == np.count_nonzero(lower.active) / 3
    kink = Course("absolute-fixed", 0.05, start=(-1.0, 0.8))
    assert made(SSIGD, 0.1, 4, course=kink)["held"][0] == 0.5
