"""Published test vectors as probes: those of the repaired reading whose answer no solver's accuracy blurs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from spec import REPAIRED, InvalidInputError, OracleParameters
from verify.conformance.places import Place
from verify.conformance.probes import ROUNDING, SOLVER, Probe
from verify.conformance.vectors.generation import all_vectors
from verify.conformance.vectors.model import TestVector
from verify.conformance.vectors.playing import call_of, given, point
from verify.subjects import Call
from verify.truth.geometry import EPS, quadratic_of

MARGIN = 4.0
"""Factor on a vector's tolerance: it is meant for one order of summation, honest programs have others."""


@lru_cache(maxsize=1)
def vector_probes() -> tuple[Probe, ...]:
    """Activation weights, lower-level pairs that are unique, and line 6 from a given penalty minimiser."""
    return tuple(_all())


def _all() -> Iterator[Probe]:
    for vector in all_vectors():
        if vector.rejects is not None or (vector.reading is not None and vector.reading != REPAIRED):
            continue
        made = _probe(vector)
        if made is not None:
            yield made


def _probe(vector: TestVector) -> Probe | None:
    if vector.stage == "activation":
        return _activation(vector)
    if vector.stage not in ("lower_level", "hypergradient"):
        return None
    problem = vector.parsed_problem()
    try:
        quadratic = quadratic_of(problem)
    except (TypeError, InvalidInputError):
        return None
    # The problem is passed as the vector has it: its noise is part of it.
    if vector.stage == "lower_level":
        return _lower_level(vector, Place.at(vector.id, quadratic, point(vector)))
    if "y_penalty" not in vector.given or "hypergradient" not in vector.expected:
        return None
    expected, tolerance = _values(vector, "hypergradient")
    noisy = problem.noise.model != "none" and not vector.draws
    if noisy:
        return None
    # An answer that is exactly 0 for one order of summation need not be for another.
    tolerance = MARGIN * tolerance + ROUNDING * EPS * (1.0 + np.abs(expected))
    return Probe(vector.id, "hypergradient", expected, tolerance, quadratic, point(vector), call_of(vector),
                 given="all" if "rho" in vector.given else "y_star, lam", published=True)  # fmt: skip


def _activation(vector: TestVector) -> Probe | None:
    p = vector.parameters
    if p.h_width is None or p.lam_width is None:
        return None
    expected, tolerance = _values(vector, "rho")
    call = Call(alpha=0.1, lam=given(vector, "lam"), parameters=OracleParameters(lam_width=p.lam_width))
    return Probe(vector.id, "activation", expected, np.maximum(MARGIN * tolerance, 1e-9), call=call,
                 h=given(vector, "h"), h_width=p.h_width, published=True)  # fmt: skip


def _lower_level(vector: TestVector, place: Place | None) -> Probe | None:
    if place is None or not {"y_star", "lam"} <= set(vector.expected):
        return None
    y_star, y_tolerance = _values(vector, "y_star")
    lam, lam_tolerance = _values(vector, "lam")
    expected = np.concatenate([y_star, lam])
    size = 1.0 + float(np.abs(expected).max(initial=0.0))
    tolerance = np.maximum(np.concatenate([y_tolerance, lam_tolerance]) * MARGIN, SOLVER * size * place.response())
    return Probe(vector.id, "lower_level", expected, tolerance, place.problem, place.x, published=True)


def _values(vector: TestVector, block: str) -> tuple[np.ndarray, np.ndarray]:
    found = vector.expected[block]
    return np.array(found.value), np.array(found.tolerance)
