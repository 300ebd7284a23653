"""``f2csa hypergradient``: one oracle call, every stage's value, the exact values beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import ValidationError

import f2csa_ref
from spec import Holder, InvalidInputError, OracleParameters, Problem
from spec.errors import from_validation
from spec.exact import Vector
from verify.cli import options
from verify.cli.console import print_json
from verify.cli.sources import (
    Point,
    read_alpha,
    read_numbers,
    read_point,
    read_problem,
    read_reading,
    require_at_least,
)
from verify.subjects.protocol import sizes
from verify.truth.geometry import quadratic_of
from verify.truth.pair import solve_any

STAGES = ("y_star", "lam", "rho", "y_penalty")
"""The stages an oracle call can be given, in the order it computes them."""


def hypergradient(asked: options.Hypergradient) -> None:
    """Run Algorithm 1 once and print everything it saw as JSON."""
    reading = read_reading(asked.reading, asked.choose)
    require_at_least("--seed", asked.seed, 0)
    alpha = read_alpha(asked.alpha)
    try:
        parameters = OracleParameters(N_g=asked.samples)
    except ValidationError as error:
        raise InvalidInputError("--samples", from_validation(error, "").rule, asked.samples) from None
    problem, default = read_problem(asked.problem)
    point = read_point(asked.x, default, sizes(problem)[0])
    at = np.array([float(value) for value in point])
    exact = _exact(problem, point)
    given, rng = _given(asked.given or ()), np.random.default_rng(asked.seed)
    try:
        answer = f2csa_ref.hypergradient(
            problem, at, alpha=alpha, reading=reading, parameters=parameters, given=given, rng=rng
        )
    except InvalidInputError as error:
        if exact is None or "infeasible" not in str(error):
            raise
        # Exactly there is a lower-level point; in doubles the rows leave none.
        thin = f"the lower level is feasible but too thin for double precision; exactly y* = {exact['y_star'][:4]}"
        raise RuntimeError(thin) from None
    shown = {
        "x": at.tolist(),
        "alpha": alpha,
        "reading": reading.model_dump(),
        "N_g": parameters.N_g,
        "seed": asked.seed,
        **{name: getattr(answer, name).tolist() for name in STAGES},
        "terms": {name: term.tolist() for name, term in answer.terms.items()},
        "hypergradient": answer.hypergradient.tolist(),
        "exact": exact,
        "counts": answer.counts,
        "notes": list(answer.notes),
    }
    print_json(_finite(shown))


def _given(assignments: Sequence[str]) -> f2csa_ref.Stages:
    """Stage values to use instead of computing them, from ``STAGE=NUMBERS``."""
    stages: dict[str, Vector] = {}
    for text in assignments:
        name, equals, numbers = text.partition("=")
        if not equals or name not in STAGES:
            raise InvalidInputError("--given", f"must be STAGE=NUMBERS, STAGE one of {', '.join(STAGES)}", text)
        stages[name] = np.array([float(value) for value in read_numbers(numbers, f"--given {name}")])
    return f2csa_ref.Stages(**stages)


def _exact(problem: Problem, point: Point) -> dict[str, Any] | None:
    """True values with their proven error; ``None`` where no closed form is known."""
    if isinstance(problem, Holder):
        if any(point):
            return None
        return {"y_star": [0.0], "lam": [0.0], "hypergradient": [-1.0], "error": 0.0, "method": "closed form"}
    try:
        truth = solve_any(quadratic_of(problem), point)
    except OverflowError:
        rule = "has exact values beyond the range of doubles here; rescale its blocks or x"
        raise InvalidInputError("problem", rule) from None
    exact: dict[str, Any] = {
        "y_star": truth.y_star.tolist(),
        "lam": truth.lam.tolist(),
        "hypergradient": None if truth.hypergradient is None else truth.hypergradient.tolist(),
        "error": truth.error,
        "method": truth.method,
        "strictly_active": list(truth.strictly_active),
        "weakly_active": list(truth.weakly_active),
        "licq": truth.licq,
    }
    if truth.hypergradient is None:
        exact["kink_gradients"] = [gradient.tolist() for gradient in truth.kink_gradients]
    return exact


def _finite(value: Any) -> Any:
    """JSON has no NaN: a value that diverged is written as null, and the notes say why."""
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value
