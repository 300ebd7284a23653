"""From a setting to a vector: exact values, tolerances, and the bugs the vector shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction

from spec import Quadratic
from verify.conformance.bugs import rules as deviations
from verify.conformance.vector_places import Place
from verify.conformance.vectors import propagation, tolerances
from verify.conformance.vectors.decimals import expected, number, numbers, round_down
from verify.conformance.vectors.model import MAIN_OUTPUT, Block, Expected, Parameters, StageName, TestVector
from verify.conformance.vectors.propagation import Errors
from verify.conformance.vectors.sizing import Sizes, Sizing, scaled, total
from verify.conformance.vectors.tolerances import Penalty
from verify.truth.algebra.numbers import Real, double, dyadic
from verify.truth.algebra.rationals import Vector, column, fractions
from verify.truth.noise import scale_of
from verify.truth.stages import TERMS, Setting, Values, evaluate, weights

USEFUL = 1e-3
"""Largest tolerance of a main output, relative to its size, that still tests something."""
LOOSE = 0.3
"""Largest one of a vector that says it is loose."""


class UselessError(Exception):
    """The tolerance that honest arithmetic needs here is too large to test anything."""


def lower_level_vector(place: Place, notes: str) -> TestVector:
    """The lower-level pair at a place."""
    setting = place.setting()
    lower = setting.lower
    limits = tolerances.lower_level(Sizing(setting), lower)
    blocks = {"y_star": expected(lower.y_star, limits.y_star)}
    right, tolerance = {"y_star": lower.y_star}, {"y_star": limits.y_star}
    flags = []
    if lower.licq:
        blocks["lam"] = expected(lower.lam, limits.lam)
        right["lam"], tolerance["lam"] = lower.lam, limits.lam
    else:
        pull = fractions(setting.rows.B.transpose() * column(lower.lam))
        blocks["dual_pull"] = expected(pull, limits.dual_pull)
        flags.append("multipliers-not-unique")
    if lower.weakly_active:
        flags.append("weakly-active")
    blocks["h"] = expected(lower.h, tolerances.rows(Sizing(setting), lower.y_star, limits.y_star))
    _require_useful("lower_level", blocks, USEFUL)
    return _vector(
        f"lower-level/{place.name}", "lower_level", place, setting, notes, flags, blocks,
        deviations.of_lower_level(setting), right, tolerance,
    )  # fmt: skip


def activation_vector(
    name: str, h: Vector, lam: Vector, h_width: float, lam_width: float, notes: str, strata: Sequence[str] = ()
) -> TestVector:
    """Weights of rows from numbers alone."""
    widths = dyadic(h_width), dyadic(lam_width)
    rho = weights(h, lam, *widths)
    nothing = [0.0] * len(h)
    limits = tolerances.activation(h, lam, h_width, lam_width, (nothing, nothing))
    right, tolerance = {"rho": rho}, {"rho": limits}
    separations = measured(deviations.of_activation(h, lam, *widths), right, tolerance)
    flags = ["given-exact"] + (["on-the-ramp"] if any(0 < value < 1 for value in rho) else [])
    return TestVector(
        id=f"activation/{name}",
        stage="activation",
        strata=tuple(strata),
        flags=tuple(sorted((*flags, *separations))),
        notes=notes,
        parameters=Parameters(h_width=h_width, lam_width=lam_width),
        given={"h": numbers(h), "lam": numbers(lam)},
        expected={"rho": expected(rho, limits)},
        separation=separations,
    )


def penalty_vector(name: str, place: Place, setting: Setting, notes: str, flags: Iterable[str] = ()) -> TestVector:
    """The penalty Lagrangian's minimiser from given stages."""
    values = evaluate(setting)
    penalty = Penalty(Sizing(setting), values)
    gradient_norm = penalty.gradient_floor()
    limits = penalty.minimiser(gradient_norm)
    blocks = {"y_penalty": expected(values.y_penalty, limits)}
    _require_useful("penalty_minimiser", blocks, USEFUL)
    vector = _vector(
        f"penalty-minimiser/{name}", "penalty_minimiser", place, setting, notes, ["given-exact", *flags], blocks,
        deviations.of_penalty_minimiser(setting), {"y_penalty": values.y_penalty}, {"y_penalty": limits},
    )  # fmt: skip
    return _with(vector, gradient_norm=gradient_norm)


def estimate_vector(name: str, place: Place, setting: Setting, notes: str, flags: Iterable[str] = ()) -> TestVector:
    """Line 6 from given stages; the activation may be left to compute."""
    values = evaluate(setting)
    sizing = Sizing(setting)
    blocks, rho_error = {}, [0.0] * setting.problem.p
    found = [*flags, "given-exact"]
    if "rho" not in setting.given:
        h_error = scaled(sizing.gamma, sizing.rows_at(values.y_star))
        widths = setting.h_width(), float(setting.lam_width)
        rho_error = tolerances.activation(values.h, values.lam, *widths, (h_error, [0.0] * len(h_error)))
        blocks = {"h": expected(values.h, h_error), "rho": expected(values.rho, rho_error)}
        if any(0 < value < 1 for value in values.rho):
            found.append("on-the-ramp")
    frozen = setting.reading.dual_term == "frozen"
    limits = tolerances.estimate(sizing, values, rho_error, frozen=frozen)
    if setting.draws:
        noise = tolerances.noise(sizing, values)
        limits = limits | {name: total(limits[name], noise[name]) for name in noise}
        found.append("supplied-draws")
    return _estimated("hypergradient", name, place, setting, values, limits, notes, found, blocks, USEFUL)


def oracle_vector(
    name: str, place: Place, setting: Setting, notes: str, flags: Iterable[str] = (), *, loose: bool = False
) -> TestVector:
    """A whole oracle call, the minimiser stopped by the reading's own rule."""
    values = evaluate(setting)
    sizing = Sizing(setting)
    nothing_y, nothing = [0.0] * setting.problem.m, [0.0] * setting.problem.p
    y_error, lam_error = nothing_y, nothing
    blocks = {}
    if values.lower is not None:
        lower = tolerances.lower_level(sizing, values.lower)
        y_error, lam_error = lower.y_star, lower.lam
        blocks = {"y_star": expected(values.y_star, y_error), "lam": expected(values.lam, lam_error)}
    h_error = tolerances.rows(sizing, values.y_star, y_error)
    rho_error = nothing
    if "rho" not in setting.given:
        widths = setting.h_width(), float(setting.lam_width)
        rho_error = tolerances.activation(values.h, values.lam, *widths, (h_error, lam_error))
        blocks |= {"h": expected(values.h, h_error), "rho": expected(values.rho, rho_error)}
    by_gradient = setting.reading.inner_stop == "gradient"
    stop = {"gradient_norm": float(setting.alpha) if by_gradient else 0.0,
            "distance": 0.0 if by_gradient else float(setting.alpha**3)}  # fmt: skip
    limits = propagation.chain(Penalty(sizing, values), Errors(y_error, lam_error, rho_error), **stop)
    blocks["y_penalty"] = expected(values.y_penalty, limits.pop("y_penalty"))
    found = [*flags, "stop-allowance", "shift-form", *(["supplied-draws"] if setting.draws else [])]
    if values.lower is None:
        found.append("given-exact")
    if any(0 < value < 1 for value in values.rho):
        found.append("on-the-ramp")
    if setting.draws:
        noise = tolerances.noise(sizing, values)
        limits |= {name: total(limits[name], noise[name]) for name in noise}
    made = _estimated("oracle", name, place, setting, values, limits, notes, found, blocks, LOOSE if loose else USEFUL)
    return _with(made, **{key: value for key, value in stop.items() if value})


def _estimated(
    prefix: str, name: str, place: Place, setting: Setting, values: Values, limits: dict[str, Sizes], notes: str,
    flags: list[str], blocks: dict[str, Expected], useful: float,
) -> TestVector:  # fmt: skip
    gamma = Sizing(setting).gamma
    parts = {f"terms.{term}": expected(values.terms[term], limits[term]) for term in TERMS}
    # Its parts as they come out are added up once more.
    added = total(*(scaled(gamma, sizes_of(values.terms[term])) for term in TERMS))
    whole = limits.get("hypergradient") or total(*(limits[term] for term in TERMS))
    limit = total(whole, added)
    blocks = blocks | parts | {"hypergradient": expected(values.hypergradient, limit)}
    relative = _require_useful("hypergradient", blocks, useful)
    if relative > USEFUL:
        flags.append("loose-tolerance")
    if any(
        block.digits and not all(isinstance(v, Fraction) for v in values.hypergradient) for block in blocks.values()
    ):
        flags.append("irrational")
    return _vector(
        f"{prefix}/{name}", "hypergradient", place, setting, notes, flags, blocks,
        deviations.of_hypergradient(setting), {"hypergradient": values.hypergradient}, {"hypergradient": limit},
    )  # fmt: skip


def sizes_of(values: Sequence[Real]) -> Sizes:
    """Sizes of numbers, exact or in balls."""
    return [abs(double(value)) for value in values]


def dense_blocks(problem: Quadratic) -> dict[str, Block]:
    """Every block of a problem as doubles."""
    made: dict[str, Block] = {}
    for field in fields(problem.arrays):
        array = getattr(problem.arrays, field.name)
        made[field.name] = tuple(tuple(row) for row in array.tolist()) if array.ndim == 2 else tuple(array.tolist())
    return made


def _vector(
    id_: str, stage: StageName, place: Place, setting: Setting, notes: str, flags: Iterable[str],
    blocks: dict[str, Expected], wrong: Iterable[tuple[str, Callable[[], deviations.Answer]]],
    right: Mapping[str, tuple[Real, ...]], tolerance: Mapping[str, Sizes],
) -> TestVector:  # fmt: skip
    separations = measured(wrong, right, tolerance)
    uses_alpha = stage != "lower_level"
    return TestVector(
        id=id_,
        stage=stage,
        strata=place.strata,
        flags=tuple(sorted({*flags, *separations})),
        notes=notes,
        problem=setting.problem.to_dict(),
        blocks=dense_blocks(setting.problem),
        x=numbers(setting.x),
        alpha=number(setting.alpha) if uses_alpha else None,
        reading=setting.reading if uses_alpha else None,
        parameters=stage_parameters(setting) if uses_alpha else Parameters(),
        given={name: numbers(values) for name, values in sorted(setting.given.items())},
        draws={
            name: tuple(tuple(float(value) for value in row) for row in rows)
            for name, rows in sorted(setting.draws.items())
        },
        expected=blocks,
        separation=separations,
    )


def stage_parameters(setting: Setting) -> Parameters:
    """Every number derived from alpha and the reading."""
    alpha = setting.alpha
    return Parameters(
        N_g=setting.N_g,
        alpha_1=number(alpha**-2),
        alpha_2=number(alpha**-4),
        inner_tol=number(alpha**3),
        ramp_constant=float(setting.ramp_constant),
        h_width=setting.h_width(),
        lam_width=float(setting.lam_width),
        sigma_f=number(scale_of(setting.problem.noise, "f.x")) if setting.draws else None,
        sigma_g=number(scale_of(setting.problem.noise, "g.x")) if setting.draws else None,
    )


def _with(vector: TestVector, **parameters: float) -> TestVector:
    return vector.model_copy(update={"parameters": vector.parameters.model_copy(update=parameters)})


def measured(
    wrong: Iterable[tuple[str, Callable[[], deviations.Answer]]],
    right: Mapping[str, tuple[Real, ...]],
    tolerance: Mapping[str, Sizes],
) -> dict[str, float]:
    """The bugs that land far enough from what is right, with how many tolerances away."""
    found = {flag: deviations.separation(right, tolerance, answer) for flag, answer in wrong}
    return {flag: round_down(value) for flag, value in sorted(found.items()) if value >= deviations.ENOUGH}


def _require_useful(stage: StageName, blocks: Mapping[str, Expected], most: float) -> float:
    """The largest tolerance of a main output relative to its block's size.

    Raises:
        UselessError: If it is too large.
    """
    worst = 0.0
    for name in MAIN_OUTPUT[stage]:
        if name not in blocks:
            continue
        size = max(map(abs, blocks[name].value), default=0.0)
        if size == 0:
            # Nothing to be relative to: what the answer is made of is the yardstick.
            size = max((abs(v) for other in blocks.values() for v in other.value), default=0.0) or 1.0
        worst = max(worst, max(blocks[name].tolerance, default=0.0) / size)
    if worst > most:
        raise UselessError(worst)
    return worst
