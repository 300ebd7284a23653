"""A known answer written down as a vector: exact values, tolerances, and the bugs the vector shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from flint import ctx

from spec import Quadratic
from verify.conformance.bugs import rules as deviations
from verify.conformance.places.places import JudgedPlace
from verify.conformance.places.sizes import ONE_EVALUATION, Allowance, Sizes
from verify.conformance.places.tolerances import RampTolerances
from verify.conformance.vectors.known_answers import KnownAnswers
from verify.conformance.vectors.model import Block, Expected, Number, Numbers, Parameters, TestVector
from verify.truth.algebra.numbers import PRECISION, Real, UncertifiedError, double, dyadic, str_fraction
from verify.truth.functions_of_alpha.noise import draw_shapes, scale_of
from verify.truth.stages import ExactSetting

USEFUL = 1e-3
"""Largest tolerance of a main output, relative to its size, that still tests something."""
LOOSE = 0.3
"""Largest one of a vector that says it is loose."""
DIGITS = 30
"""Decimal digits shown of a number that is irrational or too long to spell."""
LONGEST = 160
"""Longest spelling of a fraction, in characters."""
TOLERANCE_DIGITS = 3
Wrong = Iterable[tuple[str, Callable[[], deviations.Answer]]]


class UselessError(Exception):
    """The tolerance that honest arithmetic needs here is too large to test anything."""


@dataclass(frozen=True, eq=False)
class VectorCase:
    """A stage call at a place, by its permanent id; numbers alone have the strata of what they come from instead.

    ``known`` computes call and answer; ``flags`` are beside what the answer shows; ``useful`` is the largest relative
    tolerance with which it is worth writing.
    """

    id: str
    known: Callable[[Allowance], KnownAnswers]
    notes: str
    place: JudgedPlace | None = None
    strata: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    useful: float = USEFUL

    def vector(self) -> TestVector:
        """The vector.

        Raises:
            UselessError: If its tolerance is too large.
        """
        known = self.known(ONE_EVALUATION)
        blocks = {name: expected(known.values[name], known.limits[name]) for name in known.values}
        relative = _relative_tolerance(known, blocks)
        if relative > self.useful:
            raise UselessError(relative)
        right = {name: known.values[name] for name in known.outputs}
        separations = measured(_wrong(known), right, known.limits)
        flags = {*self.flags, *_flags(known, blocks), *separations, *(["loose-tolerance"] if relative > USEFUL else [])}
        vector = TestVector(
            id=self.id, stage=known.stage, notes=self.notes, flags=tuple(sorted(flags)), expected=blocks,
            separation=separations, strata=self.strata if self.place is None else self.place.strata,
        )  # fmt: skip
        return vector.model_copy(update=_given(known))


def _given(known: KnownAnswers) -> dict[str, object]:
    """Everything the stage is given, in the fields of a vector."""
    setting = known.setting
    if isinstance(setting, RampTolerances):
        return {"given": {"h": numbers(setting.h), "lam": numbers(setting.lam)},
                "parameters": Parameters(h_width=setting.h_width, lam_width=setting.lam_width)}  # fmt: skip
    place = {"problem": setting.problem.to_dict(), "blocks": dense_blocks(setting.problem), "x": numbers(setting.x)}
    if known.stage == "lower_level":
        return place
    return place | {
        "alpha": number(setting.alpha),
        "reading": setting.reading,
        "parameters": stage_parameters(setting).model_copy(update=known.stop),
        "given": {name: numbers(values) for name, values in sorted(setting.given.items())},
        "draws": {
            name: tuple(tuple(float(value) for value in row) for row in rows)
            for name, rows in sorted(setting.draws.items())
        },
    }


def _flags(known: KnownAnswers, blocks: Mapping[str, Expected]) -> Iterator[str]:
    """What is special about a call, as its answer shows."""
    setting, values = known.setting, known.values
    if isinstance(setting, RampTolerances) or setting.given:
        yield "given-exact"
    if any(0 < value < 1 for value in values.get("rho", ())):
        yield "on-the-ramp"
    if isinstance(setting, ExactSetting):
        if known.stage == "lower_level" and not setting.lower.licq:
            yield "multipliers-not-unique"
        if known.stage == "lower_level" and setting.lower.weakly_active:
            yield "weakly-active"
        if setting.draws:
            yield "supplied-draws"
            if setting.draws.keys() != draw_shapes(setting.problem, setting.N_g, setting.reading.noise_pairing).keys():
                yield "unused-draws"
    if known.stage == "hypergradient":
        if "y_penalty" in values:
            yield from ("stop-allowance", "shift-form")
        exact = all(isinstance(value, Fraction) for value in values["hypergradient"])
        if not exact and any(block.digits for block in blocks.values()):
            yield "irrational"


def _wrong(known: KnownAnswers) -> Wrong:
    """What the bugs of the registry would answer."""
    setting = known.setting
    if isinstance(setting, RampTolerances):
        return deviations.of_activation(setting.h, setting.lam, dyadic(setting.h_width), dyadic(setting.lam_width))
    bugs = {"lower_level": deviations.of_lower_level, "penalty_minimiser": deviations.of_penalty_minimiser,
            "hypergradient": deviations.of_hypergradient}  # fmt: skip
    return bugs[known.stage](setting)


def dense_blocks(problem: Quadratic) -> dict[str, Block]:
    """Every block of a problem as doubles."""
    dense: dict[str, Block] = {}
    for field in fields(problem.arrays):
        array = getattr(problem.arrays, field.name)
        dense[field.name] = tuple(tuple(row) for row in array.tolist()) if array.ndim == 2 else tuple(array.tolist())
    return dense


def stage_parameters(setting: ExactSetting) -> Parameters:
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


def measured(wrong: Wrong, right: Mapping[str, tuple[Real, ...]], tolerance: Mapping[str, Sizes]) -> dict[str, float]:
    """The bugs that land far enough from what is right, with how many tolerances away."""
    limits = {name: list(values) for name, values in tolerance.items()}
    distances = {flag: deviations.separation(right, limits, answer) for flag, answer in wrong}
    return {flag: round_down(value) for flag, value in sorted(distances.items()) if value >= deviations.ENOUGH}


def _relative_tolerance(known: KnownAnswers, blocks: Mapping[str, Expected]) -> float:
    """The largest tolerance of a main output relative to its block's size."""
    worst = 0.0
    for name in known.outputs:
        size = max(map(abs, blocks[name].value), default=0.0)
        if size == 0:
            # Nothing to be relative to: what the answer is made of is the yardstick.
            size = max((abs(v) for other in blocks.values() for v in other.value), default=0.0) or 1.0
        worst = max(worst, max(blocks[name].tolerance, default=0.0) / size)
    return worst


def number(value: Fraction) -> Number:
    """One input number."""
    return Number(value=double(value), exact=str(value))


def numbers(values: Iterable[Fraction]) -> Numbers:
    """Input numbers."""
    listed = tuple(values)
    return Numbers(value=tuple(double(v) for v in listed), exact=tuple(str(v) for v in listed))


def expected(values: Sequence[Real], tolerance: Iterable[float]) -> Expected:
    """A block that must come out."""
    doubles = tuple(double(value) for value in values)
    limits = tuple(round_up(limit) for limit in tolerance)
    if all(isinstance(value, Fraction) and len(str(value)) <= LONGEST for value in values):
        return Expected(value=doubles, exact=tuple(str(value) for value in values), tolerance=limits)
    return Expected(value=doubles, digits=tuple(decimals(value) for value in values), tolerance=limits)


def decimals(value: Real) -> str:
    """Thirty digits, each certified but the last within one unit."""
    if isinstance(value, Fraction):
        if value == 0:
            return "0"
        quotient = Context(prec=DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator))
        return format(quotient.normalize(Context(prec=DIGITS)), "e").replace("e+", "e").removesuffix("e0")
    with ctx.workprec(PRECISION):
        low, high = str_fraction(value.lower()), str_fraction(value.upper())
        middle = str_fraction(value.mid())
    shown = decimals(middle)
    if abs(high - low) * 10**DIGITS > abs(middle):
        raise UncertifiedError(f"{value} has no {DIGITS} certified digits")
    return shown


def round_up(value: float) -> float:
    """The same size or a little more, in three digits, so that files do not depend on last bits."""
    if value == 0:
        return 0.0
    shown = Context(prec=TOLERANCE_DIGITS, rounding=ROUND_CEILING).create_decimal(Decimal(value))
    return float(shown)


def round_down(value: float, digits: int = 2) -> float:
    """The same size or a little less, in a few digits."""
    return float(Context(prec=digits, rounding="ROUND_FLOOR").create_decimal(Decimal(value)))
