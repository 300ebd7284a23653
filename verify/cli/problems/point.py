"""``f2csa hypergradient`` and ``f2csa goldstein``: what a problem comes to at one point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import ValidationError

import f2csa_ref
from spec import Holder, InvalidInputError, OracleParameters, Problem
from spec.errors import from_validation
from spec.exact import Vector
from verify.cli.arguments import point_options
from verify.cli.arguments.sources import (
    Point,
    read_alpha,
    read_box,
    read_numbers,
    read_point,
    read_positive,
    read_problem,
    read_reading,
    require_at_least,
)
from verify.cli.output.console import print_json
from verify.cli.problems.error_bound import certificate_of, show_certificate
from verify.cli.problems.point_tables import show_call, show_goldstein
from verify.subjects.protocol import sizes
from verify.truth.enclosures.pair import Truth, solve_any
from verify.truth.geometry import quadratic_of
from verify.truth.goldstein.distance import MAX_CERTIFIED_DIMENSION, distance
from verify.truth.goldstein.estimate import GoldsteinDistance

STAGES = ("y_star", "lam", "rho", "y_penalty")
"""The stages an oracle call can be given, in the order it computes them."""
EXACT = ("y_star", "lam", "hypergradient", "error", "method", "strictly_active", "weakly_active", "licq")
"""What is said of the exact truth at the point."""


def hypergradient(options: point_options.HypergradientOptions) -> None:
    """Run Algorithm 1 once and print everything it saw."""
    reading = read_reading(options.reading, options.choose)
    require_at_least("--seed", options.seed, 0)
    alpha = read_alpha(options.alpha)
    try:
        parameters = OracleParameters(N_g=options.samples)
    except ValidationError as error:
        raise InvalidInputError("--samples", from_validation(error, "").rule, options.samples) from None
    parameters = _with_width(parameters, options.lam_width)
    certify = _assumed(options)
    problem, default = read_problem(options.problem)
    point = read_point(options.x, default, sizes(problem)[0])
    at = np.array([float(value) for value in point])
    exact = _exact(problem, point)
    given, rng = _given(options.given or ()), np.random.default_rng(options.seed)
    try:
        answer = f2csa_ref.hypergradient(
            problem, at, alpha=alpha, reading=reading, parameters=parameters, given=given, rng=rng, certify=certify
        )
    except InvalidInputError as error:
        if exact is None or "infeasible" not in str(error):
            raise
        # Exactly there is a lower-level point; in doubles the rows leave none.
        thin = f"the lower level is feasible but too thin for double precision; exactly y* = {exact['y_star'][:4]}"
        raise RuntimeError(thin) from None
    call = {"x": at, "alpha": alpha, "reading": reading.model_dump(), "N_g": parameters.N_g, "seed": options.seed}
    call |= {"lam_width": parameters.lam_width}
    seen = {name: getattr(answer, name) for name in (*STAGES, "terms", "hypergradient")}
    seen |= {"exact": exact, "counts": answer.counts, "notes": answer.notes}
    if options.certify:
        seen["certificate"] = certificate_of(problem, point, alpha, reading, answer)
    if options.as_json:
        print_json(_finite(call | seen))
        return
    if not options.as_table:
        show_call(_finite(call | seen))
    if options.certify:
        show_certificate(seen["certificate"])


def _with_width(parameters: OracleParameters, text: str | None) -> OracleParameters:
    """The same with the multipliers' ramp as wide as asked."""
    if text is None:
        return parameters
    return parameters.model_copy(update={"lam_width": float(read_positive(text, "--lam-width"))})


def _assumed(options: point_options.HypergradientOptions) -> f2csa_ref.Assumed | bool:
    """What the certificate may use; False where none is asked for."""
    if not options.certify:
        for name, given in (("--table", options.as_table), ("--gradients-alone", options.gradients_alone)):
            if given:
                raise InvalidInputError(name, "must go with --certify")
        return False
    level = float(read_positive(options.level, "--level"))
    if level >= 1:
        raise InvalidInputError("--level", "must be in (0, 1)", options.level)
    return f2csa_ref.Assumed(second_derivatives=not options.gradients_alone, level=level, blends=True)


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
        exact = {"y_star": ["0"], "lam": ["0"], "hypergradient": ["-1"]}
        values = {name: list(map(float, value)) for name, value in exact.items()}
        return values | {"error": 0.0, "method": "closed form", "rational": exact}
    try:
        truth = solve_any(quadratic_of(problem), point)
    except OverflowError:
        rule = "has exact values beyond the range of doubles here; rescale its blocks or x"
        raise InvalidInputError("problem", rule) from None
    exact = {name: getattr(truth, name) for name in EXACT}
    kinks = {} if truth.hypergradient is not None else {"kink_gradients": truth.kink_gradients}
    return dict(_finite(exact | kinks)) | {"rational": _rational(truth, point)}


def _rational(truth: Truth, at: Point) -> dict[str, Any] | None:
    """The same as fractions, ``"p/q"``; ``None`` where it was proven in balls, which have none."""
    if truth.lower is None:
        return None
    vectors = {"x": at, "y_star": truth.lower.y_star, "lam": truth.lower.lam}
    if truth.exact_grad_F is not None:
        vectors["hypergradient"] = truth.exact_grad_F
    fractions: dict[str, Any] = {name: list(map(str, vector)) for name, vector in vectors.items()}
    if truth.exact_kinks:
        fractions["kink_gradients"] = [list(map(str, kink)) for kink in truth.exact_kinks]
    return fractions


def _finite(value: Any) -> Any:
    """As JSON holds it, which has no NaN: a value that diverged is written as null, and the notes say why."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def goldstein(options: point_options.Goldstein) -> None:
    """Bracket dist(0, ∂_δF(x) + N_X(x)) and print what proves the bracket."""
    problem, default = read_problem(options.problem)
    if isinstance(problem, Holder):
        raise InvalidInputError("problem", "must be quadratic: F must consist of quadratic pieces", problem.kind)
    quadratic = quadratic_of(problem)
    at = read_point(options.x, default, quadratic.n)
    radius = read_positive(options.radius, "--radius")
    bounds = distance(quadratic, at, radius, box=read_box(options.box, quadratic.n))
    bracket = {"x": [str(value) for value in at], "radius": str(radius), **plain(bounds)}
    if options.as_json:
        print_json(bracket)
    else:
        show_goldstein(bracket)


def plain(bounds: GoldsteinDistance) -> dict[str, Any]:
    """A distance as plain data, with what a reader may conclude from it."""
    notes = []
    if not bounds.certified:
        notes.append(
            f"n > {MAX_CERTIFIED_DIMENSION}: the upper bound holds (a convex combination of gradients in the ball); "
            "the lower one is an estimate from the pieces of F that were found, not certified"
        )
    proof = {
        "points": [[float(v) for v in point] for point in bounds.points],
        "exact_points": [[str(v) for v in point] for point in bounds.points],
        "gradients": [list(gradient) for gradient in bounds.gradients],
        "weights": list(bounds.weights), "direction": list(bounds.direction),
    }  # fmt: skip
    return {
        "lower": bounds.lower, "upper": bounds.upper, "certified": {"lower": bounds.certified, "upper": True},
        "exact": None if bounds.exact is None else str(bounds.exact), "method": bounds.method, "cells": bounds.cells,
        "proof": proof, "notes": notes,
    }  # fmt: skip
