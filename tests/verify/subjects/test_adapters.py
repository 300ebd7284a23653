"""Solvers of another shape are subjects: other parameters, batches of x; tensors on a graph are taken off it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import f2csa_ref
from spec import InvalidInputError
from tests.verify.conformance.optimisers import right
from verify.conformance.comparison.stage_comparison import look
from verify.subjects import ReferenceSubject, SubjectFaultError, require_stages
from verify.subjects.adapters import Batched, EndToEnd, Reparametrised
from verify.subjects.protocol import StageCalls


def by_multipliers(problem: Any, x: Any, lam1: float, lam2: float, rng: Any) -> Any:
    assert lam2 == pytest.approx(lam1**2)
    return f2csa_ref.hypergradient(problem, x, alpha=lam1**-0.5, rng=rng).hypergradient


def by_temperature(problem: Any, x: Any, temperature: float, rng: Any) -> Any:
    return by_multipliers(problem, x, 1 / temperature, temperature**-2, rng)


def rows(problem: Any, X: Any, call: Any, rng: Any) -> Any:
    if (X[0] == X).all():
        return ReferenceSubject().hypergradient_samples(problem, X[0], call, rng, len(X))
    return np.array([ReferenceSubject().hypergradient(problem, x, call, rng) for x in X])


def statuses(subject: Any) -> list[str]:
    return [found.status for found in look(StageCalls(subject), only=["hypergradient"]).findings]


@pytest.mark.parametrize(
    "subject",
    [Reparametrised(by_multipliers), Reparametrised(by_temperature, {"temperature": lambda a: a**2}), Batched(rows)],
)
def test_another_shape_of_what_is_right_agrees(subject: Any) -> None:
    assert statuses(subject) == ["agrees"]


@pytest.mark.parametrize(
    "subject",
    [
        Reparametrised(by_multipliers, {"lam1": lambda a: a**-1, "lam2": lambda a: a**-2}),
        Reparametrised(lambda problem, x, lam1, lam2: np.zeros_like(x)),
        Batched(lambda *asked: rows(*asked)[::-1]),
        Batched(lambda *asked: np.roll(rows(*asked), 1, axis=0)),
        Batched(lambda problem, X, call, rng: rows(problem, np.repeat(X[:1], len(X), axis=0), call, rng)),
        Batched(lambda *asked: rows(*asked) * 0 + rows(*asked).mean(axis=0)),
    ],
)
def test_another_shape_of_what_is_wrong_does_not(subject: Any) -> None:
    assert statuses(subject) == ["diverges"]


def test_many_samples_are_one_batch() -> None:
    found = look(StageCalls(Batched(rows)), only=["samples"]).findings
    assert [finding.status for finding in found] == ["agrees"]


def test_batches_of_another_shape_are_a_fault() -> None:
    seen = look(StageCalls(Batched(lambda problem, X, call, rng: np.zeros(len(X)))), only=["hypergradient"])
    assert "hypergradient_batch must return shape (4, 1); got (4,)" in seen.faults[0]


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: Reparametrised(by_multipliers, {}), "parametrisation: must give each parameter's name a function"),
        (lambda: Reparametrised(by_multipliers, {"lam1": 2.0}), "parametrisation: must give each"),  # type: ignore[dict-item]  # what is refused
        (lambda: Reparametrised(by_multipliers, {"beta": float}), "solver: must take problem, x, beta; got by_multi"),
        (lambda: Reparametrised(lambda x: x), "solver: must take problem, x, lam1, lam2"),
        (lambda: EndToEnd(lambda: None), "solver: must take problem, x0"),
        (lambda: EndToEnd(3), "solver: must be callable; got int"),  # type: ignore[arg-type]  # what is refused
    ],
)
def test_what_cannot_be_called_so_is_refused_in_a_line(make: Any, line: str) -> None:
    with pytest.raises(InvalidInputError, match=line) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_whole_optimiser_is_a_subject() -> None:
    require_stages(right, "right")
    assert right.name == "solve"


class Tensor:
    """What a foreign tensor shows of itself on a graph, or on a device; its array protocol knows no ``copy``."""

    def __init__(self, values: Any, *, requires_grad: bool = False, device: str = "cpu") -> None:
        self.values, self.requires_grad = values, requires_grad
        self.device = type("Device", (), {"type": device})()

    def detach(self) -> Tensor:
        return Tensor(self.values, device=self.device.type)

    def cpu(self) -> Tensor:
        return Tensor(self.values, requires_grad=self.requires_grad)

    def __array__(self, dtype: Any = None) -> Any:
        if self.requires_grad or self.device.type != "cpu":
            raise RuntimeError("call detach() and cpu() first")
        return np.array(self.values, dtype=dtype or np.float64)


@pytest.mark.parametrize(("graph", "device"), [(False, "cpu"), (True, "cpu"), (False, "cuda"), (True, "cuda")])
def test_tensors_are_answers_without_a_warning(graph: bool, device: str) -> None:
    class Foreign:
        name = "foreign"

        def activation(self, *asked: Any) -> Any:
            return Tensor([0.5, 1.0], requires_grad=graph, device=device)

    found = StageCalls(Foreign()).activation(np.zeros(2), np.ones(2), 0.1, 0.1)
    assert found.tolist() == [0.5, 1.0]


def test_a_tensor_of_short_numbers_is_still_refused() -> None:
    class Short:
        name = "short"

        def activation(self, *asked: Any) -> Any:
            return np.array([0.5, 1.0], dtype=np.float32)

    with pytest.raises(SubjectFaultError, match="work in float64"):
        StageCalls(Short()).activation(np.zeros(2), np.ones(2), 0.1, 0.1)
