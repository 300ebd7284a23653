"""The experiment's final losses and steadiness are judged by runs: other runs, another verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from f2csa_ref.algorithm_2 import OuterState
from f2csa_ref.solver.run_loop import ClippedMomentum, Method
from spec.claims import find
from spec.exact import Vector
from tests import kept
from verify.checks.experiments import convergence_runs
from verify.checks.experiments.convergence_runs import LATE, _fall, apart, final_losses, steady_fall
from verify.experiments.benchmark_problems import Course
from verify.experiments.compared_methods import F2CSA, PRINTED_F2CSA, Contender
from verify.experiments.tuning import Budget

WHOLE = Contender.method


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same checks in dimension 5."""
    monkeypatch.setattr(convergence_runs, "DIMENSION", 5)
    monkeypatch.setattr(convergence_runs, "WORK", Budget(800.0))
    monkeypatch.setattr(convergence_runs, "TUNED_ON", 1)
    monkeypatch.setattr(convergence_runs, "JUDGED_ON", 1)
    monkeypatch.setattr(convergence_runs, "STEADY_CALLS", 900)


def case(*, as_written: bool, scale: str = "1") -> Any:
    return SimpleNamespace(seed=0, as_written=as_written, sense=SimpleNamespace(upper_scale=scale))


def holds(check: Callable[[Any], Any], *, as_written: bool) -> list[bool]:
    return [item.holds for item in check(case(as_written=as_written)).evidence]


@pytest.mark.parametrize("claim", ["convergence-experiment/stable"])
def test_f2csa_falls_steadily_where_what_is_not_printed_is_chosen_well(claim: str) -> None:
    results = kept.run([claim], profile="smoke").results
    assert {r.reading for r in results} == {"repaired", *find(claim).literal_readings}
    assert {r.verdict for r in results} == {"SUPPORTED"}


@pytest.mark.usefixtures("small")
def test_tuned_methods_end_alike_and_printed_steps_do_not() -> None:
    assert holds(final_losses, as_written=False) == [True, True]
    assert holds(final_losses, as_written=True) == [False]


def test_printed_steps_end_alike_where_f_is_larger() -> None:
    held = {scale: final_losses(case(as_written=True, scale=scale)).evidence[0].holds for scale in ("1", "10", "30")}
    assert held == {"1": False, "10": True, "30": True}


class Idle(ClippedMomentum):
    """Takes steps of length 0."""

    def step(self, state: OuterState, rng: np.random.Generator) -> None:  # draws nothing
        state.t += 1


class Climbing(ClippedMomentum):
    """Goes up after going down."""

    def step(self, state: OuterState, rng: np.random.Generator) -> None:
        super().step(state, rng)
        if state.t > 100:
            state.step = -2 * state.step


def spoiled(kind: Callable[..., Any]) -> Callable[[Contender, Course, Counter[str]], Method[Any]]:
    """F2CSA replaced, rivals kept."""

    def method(self: Contender, course: Course, counts: Counter[str]) -> Method[Any]:
        made: Any = WHOLE(self, course, counts)
        return kind(made.answer, made.parameters) if self.name in (F2CSA, PRINTED_F2CSA) else made

    return method


def no_number(_x: Vector, _rng: np.random.Generator) -> Vector:
    return np.full(5, np.nan)


KINDS: dict[str, Callable[..., Any]] = {
    "idle": Idle, "climbing": Climbing,
    "nan": lambda _answer, parameters: ClippedMomentum(no_number, parameters),
    "uphill": lambda answer, parameters: ClippedMomentum(lambda x, rng: -answer(x, rng), parameters),
}  # fmt: skip


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("as_written", [False, True])
def test_a_broken_method_is_not_steady(kind: str, as_written: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Contender, "method", spoiled(KINDS[kind]))
    assert not all(holds(steady_fall, as_written=as_written))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["idle", "nan", "uphill"])
def test_a_broken_method_does_not_end_where_the_others_do(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Contender, "method", spoiled(KINDS[kind]))
    assert not all(holds(final_losses, as_written=False))


@pytest.mark.usefixtures("small")
def test_a_long_step_without_friction_is_not_steady(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convergence_runs, "STEADY_D", 0.1)
    assert not all(holds(steady_fall, as_written=True))


def test_falls_are_compared_by_their_ratio() -> None:
    def fall(*losses: float, stopped: str = "") -> float:
        work = [float(i) for i in range(len(losses))]
        return _fall({"loss": [*losses], "products": work, "stopped": stopped}, LATE)

    # The last third is the last two of four moments: what a swing does there is averaged.
    assert fall(10.0, 9.0, 5.0, 7.0) == 4.0
    assert apart([fall(10.0, 5.0), fall(10.0, 8.0)]) == 2.5
    assert apart([fall(10.0, 5.0), fall(10.0, 10.0)]) == float("inf")
    assert apart([fall(10.0, 5.0), fall(10.0, 5.0, stopped="F has grown")]) == float("inf")


@pytest.mark.usefixtures("small")
def test_methods_that_end_alike_far_from_the_lowest_f_do_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    # All three fall by the same little: similar, and nowhere near an end.
    def run(at: Course, entrants: list[Contender], *_: object) -> list[dict[str, Any]]:
        return [{"loss": [1.0, 0.99], "products": [0.0, 9.0], "calls": [0.0, 9.0], "stopped": ""} for _ in entrants]

    monkeypatch.setattr(convergence_runs, "_runs", run)
    assert holds(final_losses, as_written=False) == [True, False]
