"""Stage calls put to a subject: what is asked, what must come out, how far it may be off, and which are asked.

Small problems of every kind, and points where mistakes show.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from spec import REPAIRED, Noise, OracleParameters
from spec.exact import Vector
from verify.conformance.places.places import JudgedPlace, place_of, rounded
from verify.conformance.places.posed_places import many_variables, multipliers_of_all_sizes, square, thin
from verify.conformance.places.sizes import ANY_PROGRAM
from verify.conformance.places.tolerances import RampTolerances
from verify.conformance.vectors import known_answers as known
from verify.conformance.vectors.known_answers import KnownAnswers
from verify.conformance.vectors.model import StageName
from verify.subjects import Call
from verify.subjects.protocol import StageCalls
from verify.truth.algebra.numbers import double
from verify.truth.formulas import as_float
from verify.truth.stages import ExactSetting, evaluate

Given = Literal["all", "y_star, lam, rho", "y_star, lam", "nothing", ""]
WHOLE: Given = "all"
FROM_RHO: Given = "y_star, lam, rho"
FROM_PAIR: Given = "y_star, lam"
FROM_SCRATCH: Given = "nothing"
GRADIENT_NORM = 1e-6
"""What penalty minimisers are asked for where they are compared to many digits."""
PLACES = (
    "toy1", "toy2", "scalar-rational", "two-of-three", "box-rational", "interior", "absolute-moving", "moving-box",
    "fixed-rows", "random-3x5x4", "every-term-square", "every-term-oblong",
)  # fmt: skip
NOISES = (
    Noise(model="additive", sigma_f="1/10", sigma_g="1/5"),  # type: ignore[arg-type]  # exact spellings are parsed
    Noise(model="matrix", sigma_f="1/10", sigma_g="1/5"),  # type: ignore[arg-type]  # as above
)

ELSEWHERE = NOISES[0].model_copy(update={"on": ("f.y", "g.y")})
"""Noise on gradients that no line 6 has."""


@dataclass(frozen=True, eq=False)
class Probe:
    """One stage call, and what must come out, all blocks one after another, to within ``tolerance`` entry by entry.

    The activation has no problem but row values ``h`` and their ramp's width; ``tol`` is the gradient norm asked of the
    penalty minimiser; ``elsewhere`` makes the same kind of probe at another place, where there is one; ``own_draws``
    says that there is noise of which a subject draws the normals, none of which belong in the answer.
    """

    id: str
    stage: StageName
    expected: Vector
    tolerance: Vector
    problem: Any = None
    x: Vector = field(default_factory=lambda: np.zeros(0))
    call: Call = field(default_factory=lambda: Call(alpha=0.1))
    tol: float | None = None
    h: Vector = field(default_factory=lambda: np.zeros(0))
    h_width: float = 1.0
    scale: Vector | None = None
    published: bool = False
    elsewhere: Callable[[JudgedPlace], Probe] | None = None
    own_draws: bool = False

    def blocks(self, stages: StageCalls) -> dict[str, Vector]:
        """The subject's answer, block by block.

        Raises:
            SubjectFaultError: If the stage crashes or its answer is none.
            MissingCapabilityError: If it is not offered.
        """
        problem, x, call = self.problem, self.x, self.call
        if self.stage == "activation":
            lam: Any = call.lam
            return {"rho": stages.activation(self.h, lam, self.h_width, call.parameters.lam_width)}
        if self.stage == "lower_level":
            return dict(zip(("y_star", "lam"), stages.lower_level(problem, x), strict=True))
        if self.stage == "lower_level_runs":
            # Without noise nothing is drawn; the generator is there because the stage is called with one.
            y, lam = stages.lower_level_runs(problem, x, call, np.random.default_rng(0), 1)
            return {"y_star": y[0], "lam": lam[0]}
        if self.stage == "penalty_minimiser":
            return {"y_penalty": stages.penalty_minimiser(problem, x, call, self.tol)}
        return {"hypergradient": stages.hypergradient(problem, x, call, np.random.default_rng(0))}

    def ask(self, stages: StageCalls) -> Vector:
        """The subject's answer in the form of :attr:`expected`; raises as :meth:`blocks` does."""
        return np.concatenate([*self.blocks(stages).values()])

    def excess(self, got: Vector) -> float:
        """Largest difference in tolerances; beyond 1 it is a divergence."""
        with np.errstate(invalid="ignore"):
            return float(np.max(np.abs(got - self.expected) / self.tolerance, initial=0.0))

    def excess_of(self, stages: StageCalls) -> float:
        """How far a subject is off."""
        return self.excess(self.ask(stages))

    @property
    def needs_draws(self) -> bool:
        """Whether it makes sense only for a subject that takes its normals from the call, and is about these."""
        return self.call.draws is not None or self.own_draws

    @property
    def given(self) -> Given:
        """For the oracle call, which stages are given."""
        if self.stage != "hypergradient":
            return ""
        if self.call.rho is not None:
            return FROM_RHO if self.call.y_penalty is None else WHOLE
        return FROM_SCRATCH if self.call.lam is None else FROM_PAIR


def probe_of(id_: str, known: KnownAnswers, *, tol: float | None = None, published: bool = False) -> Probe:
    """A known answer as a question."""
    setting = known.setting
    expected = np.array([double(value) for name in known.outputs for value in known.values[name]], dtype=np.float64)
    tolerance = np.concatenate([known.limits[name] for name in known.outputs])
    if isinstance(setting, RampTolerances):
        call = Call(alpha=0.1, lam=as_float(setting.lam), parameters=OracleParameters(lam_width=setting.lam_width))
        return Probe(id_, known.stage, expected, tolerance, call=call, h=as_float(setting.h), h_width=setting.h_width,
                     published=published)  # fmt: skip
    parameters = OracleParameters(N_g=setting.N_g, lam_width=float(setting.lam_width),
                                  ramp_constant=float(setting.ramp_constant))  # fmt: skip
    draws = {name: np.array([as_float(row) for row in rows]) for name, rows in setting.draws.items()}
    stages: dict[str, Any] = {name: as_float(values) for name, values in setting.given.items()}
    call = Call(
        alpha=float(setting.alpha), reading=setting.reading, parameters=parameters, draws=draws or None, **stages
    )
    return Probe(id_, known.stage, expected, tolerance, setting.problem, as_float(setting.x), call, tol,
                 scale=known.scale, published=published)  # fmt: skip


def lower_level_probe(place: JudgedPlace) -> Probe:
    """The pair at a point."""
    return probe_of(f"lower-level/{place.name}", known.lower_level(place.setting(), ANY_PROGRAM))


def activation_probe(name: str, h: Vector, lam: Vector, h_width: float, lam_width: float) -> Probe:
    """The weights of given rows."""
    ramps = RampTolerances(rounded(h), rounded(lam), h_width, lam_width)
    return probe_of(f"activation/{name}", known.activation(ramps, ANY_PROGRAM))


def penalty_probe(place: JudgedPlace, alpha: float, *, tol: float | None, name: str, off_pair: bool = False) -> Probe:
    """The minimiser on the exact pair and its weights; off the pair, a quarter more multiplier and half the weights."""
    pair = {"y_star": rounded(place.lower.y_star), "lam": rounded(place.lower.lam)}
    rho = as_float(evaluate(place.setting(alpha=Fraction(0.1), given=pair)).rho)
    if off_pair:
        rho, pair["lam"] = 0.5 * rho, rounded(1.25 * place.lam)
    setting = place.setting(alpha=Fraction(alpha), given=pair | {"rho": rounded(rho)})
    answer = known.penalty_minimiser(setting, ANY_PROGRAM, alpha if tol is None else tol)
    return probe_of(f"penalty/{place.name}/{name}/{alpha:g}", answer, tol=tol)


def chain_probe(place: JudgedPlace, alpha: float, given: Given, name: str, y_star: Vector | None = None) -> Probe:
    """An oracle call that computes its later stages, or all, itself."""
    stages = {"y_star": rounded(place.y_star if y_star is None else y_star), "lam": rounded(place.lam)}
    if given == FROM_RHO:
        stages["rho"] = rounded(evaluate(place.setting(alpha=Fraction(alpha), given=stages)).rho)
    if given == FROM_SCRATCH:
        stages = {}
    return _estimate(place, alpha, name, place.setting(alpha=Fraction(alpha), given=stages))


def widths_probe(place: JudgedPlace, alpha: float, ramp: Literal["h", "lam"]) -> Probe:
    """An oracle call at widths that no default has, all of its weights of order alpha**2 on one of the two ramps."""
    chosen = place.setting(alpha=Fraction(alpha), ramp_constant=Fraction(3, 2), lam_width=Fraction(1, 4))
    y_star, lam = place.y_star, np.maximum(place.lam, 0.5)
    if ramp == "h":
        y_star = y_star + chosen.h_width() * (1 - alpha**2) * retreat(place)
    else:
        lam = 0.25 * alpha**2 * np.linspace(1.0, 2.0, place.problem.p)
    given = {"y_star": rounded(y_star), "lam": rounded(lam)}
    return _estimate(place, alpha, f"{ramp}-width", replace(chosen, given=given))


def off_truth(place: JudgedPlace, alpha: float) -> Probe:
    """Line 6 on stages that are all a little off, each in its own way: no two of them can be mistaken."""
    return _estimate(place, alpha, "given", place.setting(alpha=Fraction(alpha), given=_stages_off(place)))


def zero_probes(place: JudgedPlace, alpha: float) -> Iterator[Probe]:
    """Line 6 on stages one of which is 0 in every entry, and calls that solve with such weights or multipliers."""
    stages = _stages_off(place)
    for name, values in stages.items():
        given = stages | {name: (Fraction(0),) * len(values)}
        yield _estimate(place, alpha, f"{name}-zero", place.setting(alpha=Fraction(alpha), given=given))
    pair = {"y_star": rounded(place.y_star), "lam": rounded(place.lam)}
    pair["rho"] = rounded(evaluate(place.setting(alpha=Fraction(alpha), given=pair)).rho)
    for name in ("rho", "lam"):
        given = pair | {name: (Fraction(0),) * place.problem.p}
        yield _estimate(place, alpha, f"own-solve-{name}-zero", place.setting(alpha=Fraction(alpha), given=given))


def noisy_probe(place: JudgedPlace, alpha: float, noise: Noise, N_g: int) -> Probe:
    """The same with noise, the normals that matter handed over."""
    rng = np.random.default_rng([N_g, n_of(place.name)])
    blocks = [name for name in ("f_x", "g_x") if name.replace("_", ".") in noise.on]
    draws = {name: tuple(rounded(row) for row in rng.standard_normal((N_g, len(place.x)))) for name in blocks}
    setting = place.setting(alpha=Fraction(alpha), given=_stages_off(place), noise=noise, N_g=N_g, draws=draws)
    probe = _estimate(place, alpha, "given", setting)
    # Where none matters, none are to be drawn either.
    call = probe.call if blocks else replace(probe.call, draws={})
    return replace(probe, id=f"{probe.id}/{noise.model if 'f.x' in noise.on else 'noise-in-y'}", call=call)


def drawing_itself(probe: Probe) -> Probe:
    """The same where a program draws its own normals, none of which belong in the answer."""
    return replace(probe, id=f"{probe.id}/own draws", call=replace(probe.call, draws=None), own_draws=True)


def _estimate(place: JudgedPlace, alpha: float, name: str, setting: ExactSetting) -> Probe:
    return probe_of(f"hypergradient/{place.name}/{name}/{alpha:g}", known.hypergradient(setting, ANY_PROGRAM))


def _stages_off(place: JudgedPlace) -> dict[str, tuple[Fraction, ...]]:
    p, m = place.problem.p, place.problem.m
    return {
        "y_star": rounded(place.y_star + 1e-3 * np.linspace(1.0, 2.0, m)),
        "lam": rounded(place.lam + np.linspace(0.5, 1.0, p)),
        "rho": rounded(np.linspace(0.25, 1.0, p)),
        "y_penalty": rounded(place.y_star - 2e-3 * np.linspace(1.0, 1.5, m)),
    }


def n_of(name: str) -> int:
    """A number for a name, the same everywhere."""
    return zlib.crc32(name.encode())


@lru_cache(maxsize=1)
def probes() -> tuple[Probe, ...]:
    """All of them, stage by stage."""
    return tuple(_all())


def _all() -> Iterator[Probe]:
    places = (*(place_of(name) for name in PLACES), square())
    for place in places:
        yield from (at(there, lower_level_probe) for there in (place, place.moved(0.125)))
    yield lower_level_probe(multipliers_of_all_sizes())
    yield from _activation()
    for place in places:
        for alpha in (0.1, 0.05):
            yield at(place, partial(penalty_probe, alpha=alpha, tol=GRADIENT_NORM, name="exact-pair"))
        yield at(place, partial(penalty_probe, alpha=0.1, tol=None, name="own-stop"))
        yield at(place, partial(penalty_probe, alpha=0.1, tol=GRADIENT_NORM, name="off-pair", off_pair=True))
    yield penalty_probe(many_variables(), 0.1, tol=GRADIENT_NORM, name="exact-pair")
    for place in places:
        for alpha in (0.1, 0.05):
            yield at(place, partial(off_truth, alpha=alpha))
            if place.name in ("two-of-three", "interior") and alpha == 0.1:
                # Twice at one size, at other points: what is kept from the call before shows.
                yield from (
                    noisy_probe(there, alpha, noise, 3) for noise in NOISES for there in (place, place.moved(0.125))
                )
                elsewhere = noisy_probe(place, alpha, ELSEWHERE, 3)
                yield from (elsewhere, drawing_itself(elsewhere))
    yield from zero_probes(place_of("two-of-three"), 0.1)
    inner: tuple[tuple[Given, str], ...] = (
        (FROM_RHO, "own-solve"), (FROM_PAIR, "own-weights"), (FROM_SCRATCH, "own-pair"),
    )  # fmt: skip
    for given, name in inner:
        for place in (*places, *_near_kinks()):
            for alpha in (0.05, 0.02):
                yield at(place, partial(chain_probe, alpha=alpha, given=given, name=name))
    for place in (place_of("toy1"), place_of("two-of-three")):
        yield from (chain_probe(place, alpha, FROM_PAIR, "inside", _inside(place, alpha)) for alpha in (0.05, 0.02))
        # Beyond the ramp of h: whose weights are cut off somewhere else, shows here.
        yield chain_probe(place, 0.05, FROM_PAIR, "well-inside", place.y_star + 0.05 * retreat(place))
    for place in (place_of("two-of-three"), place_of("every-term-oblong")):
        for there in (place, thin(place)):
            for alpha in (0.05, 0.02):
                yield from (widths_probe(there, alpha, "h"), widths_probe(there, alpha, "lam"))


def at(place: JudgedPlace, recipe: Callable[[JudgedPlace], Probe]) -> Probe:
    return replace(recipe(place), elsewhere=recipe)


def _near_kinks() -> Iterator[JudgedPlace]:
    """Where a multiplier is 0, or so small that its row's weight is of order alpha**2: weights decide the estimate."""
    for name, x in (
        ("toy2", 2.5e-4), ("toy2", 1e-3), ("swapping-rows", 2.5e-4), ("absolute-moving", 2.5e-4), ("weakly-active", 0),
    ):  # fmt: skip
        place = place_of(name)
        yield place.at(f"{name}@{x:g}", (Fraction(x),) * place.problem.n)


def _inside(place: JudgedPlace, alpha: float) -> Vector:
    """A lower-level point so far inside the active rows that their weights are of order alpha**2."""
    return place.y_star + place.setting(alpha=Fraction(alpha)).h_width() * (1 - alpha**2) * retreat(place)


def retreat(place: JudgedPlace) -> Vector:
    """The way off the active rows, one unit of h."""
    B = place.problem.arrays.B[list(place.lower.strictly_active)]
    return np.asarray(np.linalg.pinv(B) @ np.ones(len(B)))


def _activation() -> Iterator[Probe]:
    for name, w, lw in (("narrow", 2e-3, 0.1), ("wide", 0.25, 0.5)):
        # On the ramp of h, on that of the multiplier, on both, beyond either end, and exactly at the ends.
        h = np.array([-w / 2, 0.0, -w / 4, -2 * w, w / 2, 0.0, -w, 0.0])
        lam = np.array([2 * lw, lw / 4, lw / 2, lw, lw, 0.0, lw, -lw])
        yield activation_probe(f"{name}/eight-rows", h, lam, w, lw)
        yield activation_probe(f"{name}/boundary", np.zeros(2), np.array([lw, 3 * lw]), w, lw)
        yield activation_probe(f"{name}/ramp", np.array([-0.9 * w, -0.1 * w]), np.array([0.1 * lw, 0.9 * lw]), w, lw)
        yield activation_probe(f"{name}/one-row", np.array([-0.75 * w]), np.array([0.25 * lw]), w, lw)


@lru_cache(maxsize=1)
def vector_probes() -> tuple[Probe, ...]:
    """Published test vectors: those of the repaired reading whose answer no solver's accuracy blurs."""
    # The cases are many: they are not read where nobody asks for them.
    from verify.conformance.vectors.release import released
    from verify.conformance.vectors.vector_cases import activation, listed

    published = released()
    cases = (*activation(), *listed("hypergradient"), *listed("lower-level"))
    answers = {case.id: case.known(ANY_PROGRAM) for case in cases if case.id in published}
    return tuple(
        probe_of(id_, answer, published=True)
        for id_, answer in sorted(answers.items(), key=itemgetter(0))
        if "dual_pull" not in answer.values and getattr(answer.setting, "reading", REPAIRED) == REPAIRED
    )
