"""``f2csa hypergradient``: one oracle call, every stage's value, the exact values beside."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import f2csa_ref
from spec import Holder, InvalidInputError, OracleParameters, PenaltyParameters, Problem
from spec.errors import from_validation
from spec.exact import parse_entry
from spec.reading import NAMED
from verify.cli.sources import read_point, read_positive, read_problem
from verify.subjects.protocol import sizes
from verify.truth.geometry import quadratic_of
from verify.truth.pair import solve_any


def execute(
    source: str,
    *,
    x: str | None,
    alpha: str,
    reading: str,
    choices: Sequence[str],
    samples: int,
    seed: int,
    given: Sequence[str] = (),
) -> None:
    """Run Algorithm 1 once and print everything it saw as JSON."""
    if reading not in NAMED:
        raise InvalidInputError("--reading", f"must be one of {', '.join(NAMED)}", reading)
    if seed < 0:
        raise InvalidInputError("--seed", "must be >= 0", seed)
    chosen = NAMED[reading].choose_from_text(list(choices))
    penalty = _penalty(alpha)
    parameters = _parameters(samples)
    problem, default = read_problem(source)
    point = read_point(x, default, sizes(problem)[0])
    at = np.array([float(value) for value in point])
    exact = _exact(problem, point)
    try:
        found = f2csa_ref.hypergradient(
            problem,
            at,
            alpha=penalty.alpha,
            reading=chosen,
            parameters=parameters,
            given=_given(given),
            rng=np.random.default_rng(seed),
        )
    except InvalidInputError as error:
        if exact is None or "infeasible" not in str(error):
            raise
        # Exactly there is a lower-level point; in doubles the rows leave none.
        thin = f"the lower level is feasible but too thin for double precision; exactly y* = {exact['y_star'][:4]}"
        raise RuntimeError(thin) from None
    made = {
        "x": at.tolist(),
        "alpha": penalty.alpha,
        "reading": chosen.model_dump(),
        "N_g": parameters.N_g,
        "seed": seed,
        "y_star": found.y_star.tolist(),
        "lam": found.lam.tolist(),
        "rho": found.rho.tolist(),
        "y_penalty": found.y_penalty.tolist(),
        "terms": {name: term.tolist() for name, term in found.terms.items()},
        "hypergradient": found.hypergradient.tolist(),
        "exact": exact,
        "counts": found.counts,
        "notes": list(found.notes),
    }
    sys.stdout.write(json.dumps(_finite(made), indent=1, ensure_ascii=False) + "\n")


def _given(assignments: Sequence[str]) -> f2csa_ref.Stages:
    """Stage values to use instead of computing them, from ``STAGE=NUMBERS``."""
    stages: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}
    for text in assignments:
        name, equals, numbers = text.partition("=")
        if not equals or name not in _STAGES:
            raise InvalidInputError("--given", f"must be STAGE=NUMBERS, STAGE one of {', '.join(_STAGES)}", text)
        parts = numbers.replace(",", " ").split()
        stages[name] = np.array([float(parse_entry(part, f"--given {name}[{i}]")) for i, part in enumerate(parts)])
    return f2csa_ref.Stages(**stages)


_STAGES = ("y_star", "lam", "rho", "y_penalty")
"""The stages an oracle call can be given, in the order it computes them."""


def _penalty(alpha: str) -> PenaltyParameters:
    from pydantic import ValidationError

    try:
        return PenaltyParameters(alpha=float(read_positive(alpha, "--alpha")))
    except ValidationError as error:
        raise InvalidInputError("--alpha", from_validation(error, "").rule, alpha) from None


def _parameters(samples: int) -> OracleParameters:
    from pydantic import ValidationError

    try:
        return OracleParameters(N_g=samples)
    except ValidationError as error:
        raise InvalidInputError("--samples", from_validation(error, "").rule, samples) from None


def _exact(problem: Problem, point: tuple[Fraction, ...]) -> dict[str, Any] | None:
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
    made: dict[str, Any] = {
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
        made["kink_gradients"] = [gradient.tolist() for gradient in truth.kink_gradients]
    return made


def _finite(value: Any) -> Any:
    """JSON has no NaN: a value that diverged is written as null, and the notes say why."""
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value
