"""All vectors, in order of their ids: answers that are computed, and bad input that everybody must refuse."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

from spec import REPAIRED, Noise
from spec.atlas import find
from verify.conformance.places.places import JudgedPlace, place_of, rounded, with_noise
from verify.conformance.vectors.holder_vectors import holder
from verify.conformance.vectors.iteration_vectors import iterations
from verify.conformance.vectors.model import Numbers, Parameters, Rejection, StageName, TestVector
from verify.conformance.vectors.vector_cases import FAMILIES
from verify.conformance.vectors.writing import UselessError, dense_blocks, number, numbers, stage_parameters


def named_cases() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    """Every case by id, not yet computed."""
    for family in FAMILIES:
        yield from ((case.id, case.vector) for case in family())
    for others in (iterations, holder, rejections):
        yield from others()


def rejections() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    """Lower levels without a point, points and stages of the wrong shape, numbers out of range, bad problems."""
    file = Path(__file__).parent / "rejections.toml"
    for id_, row in tomllib.loads(file.read_text(encoding="utf-8")).items():
        yield f"rejects/{id_}", partial(_rejection, id_, row)


def _rejection(id_: str, row: dict[str, Any]) -> TestVector:
    """A row as a vector."""
    stage = cast("StageName", id_.partition("/")[0].replace("-", "_"))
    fields = {"parameters": Parameters(**row.get("parameters", {}))} | {
        key: row[key] for key in ("strata", "draws") if key in row
    }
    return TestVector(
        id=f"rejects/{id_}", stage=stage, flags=("bad-input",), notes=row["notes"],
        rejects=Rejection(argument=row["argument"], rule=row["rule"]),
        given={name: _numbers(values) for name, values in row.get("given", {}).items()},
        **fields | (_at_place(stage, row) if "at" in row else {}),
    )  # fmt: skip


def _at_place(stage: StageName, row: dict[str, Any]) -> dict[str, Any]:
    """What a row's place and alpha say, but for what the row says otherwise."""
    name = row["at"]
    if name == "infeasible":  # which no place is, since nothing can be compared there
        instance = find(name)
        place = JudgedPlace(name, cast("Any", instance.problem), tuple(instance.x))
    else:
        place = place_of(name)
    problem = with_noise(place.problem, Noise.model_validate(row["noise"])) if "noise" in row else place.problem
    fields: dict[str, Any] = {
        "problem": problem.to_dict() | row.get("problem", {}),
        "blocks": None if "problem" in row else dense_blocks(problem),
        "x": _numbers(row["x"]) if "x" in row else numbers(place.x),
    }
    if stage == "lower_level":
        return fields
    alpha = Fraction(row.get("alpha", "1/10"))
    derived = stage_parameters(place.setting(alpha=alpha)) if alpha > 0 else Parameters()
    stop = {"gradient_norm": 2.0**-30} if stage == "penalty_minimiser" else {}
    return fields | {"alpha": number(alpha), "reading": REPAIRED, "parameters": derived.model_copy(update=stop)}


def _numbers(values: list[str]) -> Numbers:
    return numbers(rounded(map(Fraction, values)))


@lru_cache(maxsize=1)
def generated() -> tuple[tuple[TestVector, ...], dict[str, float]]:
    """All vectors sorted by id, and the cases left out with the relative tolerance they would need."""
    vectors, left_out = [], {}
    for id_, make in named_cases():
        try:
            vector = make()
        except UselessError as error:
            left_out[id_] = float(error.args[0])
            continue
        if vector.id != id_:
            raise RuntimeError(f"case {id_} made vector {vector.id}")
        vectors.append(vector)
    return tuple(sorted(vectors, key=lambda vector: vector.id)), left_out


def all_vectors() -> tuple[TestVector, ...]:
    """Every test vector, sorted by id; computed once, in a few seconds, and always the same."""
    return generated()[0]


def left_out() -> dict[str, float]:
    """Cases without a vector, since honest double arithmetic needs a tolerance this large relative to the answer."""
    return dict(generated()[1])
