"""Subjects that know nothing: every stage answers with numbers of the right shape that owe nothing to the paper.

Whatever is supported for one of them was not earned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spec import OuterParameters
from spec.exact import FloatArray, Vector
from verify.subjects import MissingCapabilityError, ReferenceSubject
from verify.subjects.protocol import answer_shapes
from verify.subjects.stage_table import ROWS, STAGES, Stage

Shape = tuple[int, ...]
Fill = Callable[[Shape, Mapping[str, Any]], FloatArray]


class Null:
    """Answers every stage by one rule, whatever it is asked; one that is ``unaided`` takes no stage from anybody."""

    def __init__(self, name: str, fill: Fill, *, unaided: bool = False) -> None:
        self.name = name
        self._fill = fill
        self._unaided = unaided

    def __getattr__(self, stage: str) -> Any:
        if stage not in STAGES:
            raise AttributeError(stage)
        return lambda *args: self._answer(stage, *args)

    def _answer(self, stage: Stage, *args: Any) -> Any:
        given = dict(zip(ROWS[stage].takes, args, strict=True))
        call = given.get("call")
        if self._unaided and call is not None and any(value is not None for value in call.stages.values()):
            raise MissingCapabilityError("it takes no stages")
        oracle = given.get("oracle")
        if oracle is not None:
            # As often as a run must, at the start: what is told is not listened to.
            for _ in range(given["parameters"].T):
                oracle(np.array(given["x0"]))
        shapes = answer_shapes(stage, given)
        parts = [1.0 if shape is None else self._fill(shape, given) for shape in shapes]
        if stage == "optimise":
            return dict(zip([part.name for part in ROWS[stage].gives], parts, strict=True))
        return parts[0] if len(parts) == 1 else tuple(parts)


def _echo(shape: Shape, given: Mapping[str, Any]) -> FloatArray:
    """The first vector it was given, cut or repeated to the size."""
    heard = next((np.ravel(given[name]) for name in ("x", "x0", "h") if name in given), np.zeros(1))
    return np.resize(heard if heard.size else np.zeros(1), shape)


def _random(shape: Shape, given: Mapping[str, Any]) -> FloatArray:
    rng = given.get("rng")
    return (np.random.default_rng() if rng is None else rng).standard_normal(shape)


def _noise(shape: Shape, given: Mapping[str, Any]) -> FloatArray:
    """What is random with the variance that N_g samples of the upper level have, around nothing."""
    problem, call = given.get("problem"), given.get("call")
    if problem is None or call is None:
        return _random(shape, given)
    size: float = float(problem.noise.sigma_f) / math.sqrt(call.parameters.N_g)
    return size * _random(shape, given)


def _unmoved(shape: Shape, given: Mapping[str, Any]) -> FloatArray:
    return np.broadcast_to(given["x0"], shape).copy() if "x0" in given else np.zeros(shape)


class MissingSubject:
    """Offers every stage and refuses every call."""

    name = "missing"

    def __getattr__(self, stage: str) -> Any:
        if stage not in STAGES:
            raise AttributeError(stage)

        def refuse(*_: Any) -> Any:
            raise MissingCapabilityError("it answers nothing")

        return refuse


class Deaf(ReferenceSubject):
    """Algorithm 2 as it is, but for the oracle: it asks, and goes on with an answer of its own."""

    name = "deaf"

    def optimise(
        self, oracle: Callable[[Vector], Vector], x0: Vector, parameters: OuterParameters, rng: np.random.Generator
    ) -> Any:
        """One run on noise."""
        return super().optimise(_unheard(oracle, rng), x0, parameters, rng)

    def optimise_runs(
        self,
        oracle: Callable[[Vector], Vector],
        x0: Vector,
        parameters: OuterParameters,
        rng: np.random.Generator,
        keep_path: bool = False,
    ) -> Any:
        """Runs on noise."""
        return super().optimise_runs(_unheard(oracle, rng), x0, parameters, rng, keep_path)


def _unheard(oracle: Callable[[Vector], Vector], rng: np.random.Generator) -> Callable[[Vector], Vector]:
    def answer(z: Vector) -> Vector:
        told = oracle(z)
        return rng.standard_normal(np.shape(told))

    return answer


def null_subjects() -> dict[str, Any]:
    """All of them, by name."""
    rules: dict[str, Fill] = {
        "zero": lambda shape, _: np.zeros(shape),
        "constant": lambda shape, _: np.full(shape, -1000.0),
        "random": _random,
        "noise": _noise,
        "nan": lambda shape, _: np.full(shape, np.nan),
        "echo": _echo,
        "unmoved": _unmoved,
    }
    nulls: dict[str, Any] = {name: Null(name, fill) for name, fill in rules.items()}
    nulls |= {f"{name}-unaided": Null(f"{name}-unaided", rules[name], unaided=True) for name in ("constant", "noise")}
    return nulls | {"missing": MissingSubject(), "deaf": Deaf()}
