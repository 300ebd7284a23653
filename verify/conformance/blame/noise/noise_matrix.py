"""How the size of matrix noise depends on points, scales, alpha and N_g, learned from draws of one gradient's noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from spec import Noise
from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.noise.estimate_laws import ALLOWED, BATCHES, RIGHT_BATCH, Batch
from verify.conformance.blame.noise.noise_draws import drawn_call
from verify.conformance.blame.noise.noise_spots import ROWS, DrawnSpot, Spot
from verify.conformance.blame.noise.noise_terms import NoisyCall, power_of
from verify.conformance.places.places import with_noise
from verify.conformance.probes.probes import Probe, n_of
from verify.conformance.random_stages import StageSetting
from verify.subjects.protocol import StageCalls

Source = Literal["f", "g"]
SOURCES: tuple[Source, ...] = ("f", "g")
FIRST = range(700, 708)
"""Seeds of the places where laws are looked for."""
LATER = range(750, 755)
"""Seeds of those that are held out."""
CLEAR = 0.02
"""Share by which a measured number must differ from 1 to be told."""


@dataclass(frozen=True)
class MatrixSpot(Spot):
    """A call under matrix noise of one gradient alone, at a place that a seed draws."""

    seed: int = 0

    @cached_property
    def at(self) -> NoisyCall:
        """The call, for its points; its answer without noise is the right one."""
        probe = drawn_call(self.seed, "matrix")
        return NoisyCall(probe, probe.expected - sum(NoisyCall(probe, probe.expected).right.values()))

    @cached_property
    def setting(self) -> StageSetting:
        """The call without its normals."""
        probe = self.at.probe
        noise = Noise(model="matrix", sigma_f=self.sigma_f, sigma_g=self.sigma_g)
        counted = probe.call.parameters.model_copy(update={"N_g": self.N_g})
        call = replace(probe.call, draws=None, parameters=counted)
        id_ = f"matrix/{self.seed}/{self.sigma_f}/{self.sigma_g}"
        if self.N_g != probe.call.parameters.N_g:
            id_ += f"/N_g={self.N_g}"
        return StageSetting(
            id_, "hypergradient_samples", with_noise(probe.problem, noise), probe.x, call, self.at.quiet
        )

    @property
    def source(self) -> Source:
        """The gradient that is noisy."""
        return "f" if self.sigma_f else "g"

    def draw(self, stages: StageCalls, rows: int = ROWS, stream: int = 0) -> DrawnSpot:
        """Estimates in one call; the normals of its places are not handed over."""
        rng = np.random.default_rng([n_of(self.setting.id), stream])
        return DrawnSpot(self, self.setting.draw(stages, rows, rng), self.quiet(stages))


def matrix_spots(
    source: Source | Literal["both"], seeds: Sequence[int], counts: Sequence[int] = ()
) -> tuple[MatrixSpot, ...]:
    """One a seed, with that seed's scales, alpha and N_g, or with ``counts`` in turn for N_g."""
    spots = []
    for k, seed in enumerate(seeds):
        call, noise = drawn_call(seed, "matrix").call, drawn_call(seed, "matrix").problem.noise
        own: Any = noise.sigma_f if source == "f" else noise.sigma_g
        scales = (own, 0 * own) if source == "f" else (0 * own, own)
        if source == "both":
            scales = noise.sigma_f, noise.sigma_g
        N_g = counts[k % len(counts)] if counts else call.parameters.N_g
        spots.append(MatrixSpot(call.alpha, *scales, N_g, seed=seed))
    return tuple(spots)


class LawOfDraws(ABC):
    """A law that what was drawn follows or not, spot by spot."""

    def answer(self, probe: Probe) -> Vector | None:  # noqa: ARG002  # as every explanation
        """None: a law of random numbers answers no single probe."""
        return None

    def excess(self, drawn: Sequence[DrawnSpot]) -> float:
        """Largest miss in units of what chance allows."""
        return max((self._miss(one) for one in drawn), default=math.inf)

    def predicts(self, drawn: Sequence[DrawnSpot]) -> bool:
        """Whether what was drawn follows it."""
        return self.excess(drawn) <= 1

    @abstractmethod
    def _miss(self, one: DrawnSpot) -> float:
        """How far it misses what was drawn at a spot."""


@dataclass(frozen=True)
class MatrixLaw(LawOfDraws):
    """The standard deviation number·σ^power·α^alpha·size^of_size·√batch of matrix noise of one gradient."""

    source: Source
    size: str
    alpha: int
    power: float = 1.0
    of_size: float = 1.0
    batch: Batch = RIGHT_BATCH
    number: float = 1.0
    error: float = 0.0
    edits: int = 1

    @property
    def sentence(self) -> str:
        """The law beside the right one."""
        told, right = f"under matrix noise the standard deviation of the noise of {self.source} is", RIGHT[self.source]
        if self.batch.words:
            return f"{told} not {right._words}: {self.batch.words}"
        return f"{told} {self._words} where {right._words} belongs"

    @property
    def _words(self) -> str:
        if self.number == 0:
            return "0"
        names = (("α", self.alpha), (f"σ_{self.source}", self.power), (self.size, self.of_size))
        number = [] if self.number == 1 else [f"({self.number:.3g} ± {max(self.number * self.error, 1e-3):.1g})"]
        return "·".join([*number, *(power_of(name, power) for name, power in names if name and power)]) + "/√N_g"

    def log_variance(self, spot: MatrixSpot) -> float:
        """What it gives at a spot, its number left out."""
        sigma, size = float(spot.sigma_f + spot.sigma_g), spot.at.sizes[self.size]
        factors = self.power * math.log(sigma) + self.alpha * math.log(spot.alpha) + self.of_size * math.log(size)
        return 2 * factors + math.log(self.batch.of(spot))

    def excess(self, drawn: Sequence[DrawnSpot]) -> float:
        """Largest miss in units of what chance allows; infinite where no spot is of this kind."""
        own = [one for one in drawn if isinstance(one.spot, MatrixSpot) and one.spot.source == self.source]
        if not own or any((one.variance == 0) != (self.number == 0) for one in own):
            return math.inf
        if self.number == 0:
            return 0.0
        return max(abs(self._miss(one)) / (ALLOWED * math.hypot(one.log_error, 2 * self.error)) for one in own)

    def _miss(self, one: DrawnSpot) -> float:
        assert isinstance(one.spot, MatrixSpot)  # as the caller chose
        return math.log(one.variance) - 2 * math.log(self.number) - self.log_variance(one.spot)


RIGHT: dict[Source, MatrixLaw] = {"f": MatrixLaw("f", "‖(x,ỹ)‖", 0), "g": MatrixLaw("g", "‖ỹ−ỹ*‖", -2)}
"""What belongs."""


@dataclass(frozen=True)
class TakenScale(LawOfDraws):
    """Noise of gradients some of which have the other's σ; ``taken`` is whose σ each has."""

    taken: tuple[Source, Source]
    edits: int = 1
    model: Literal["matrix", "additive"] = "matrix"

    @property
    def sentence(self) -> str:
        """Whose σ stands where the other belongs."""
        off = [(own, other) for own, other in zip(SOURCES, self.taken, strict=True) if own != other]
        told = " and ".join(f"the noise of {own} has σ_{other} where σ_{own} belongs" for own, other in off)
        return f"under {self.model} noise {told}"

    def _miss(self, one: DrawnSpot) -> float:
        spot = one.spot
        scales = {"f": float(spot.sigma_f), "g": float(spot.sigma_g)}
        # Additive noise of g cancels.
        sizes: dict[Source, float] = {"f": 1.0, "g": 0.0}
        if isinstance(spot, MatrixSpot):
            sizes = right_sizes(spot)
        parts = (scales[taken] * sizes[own] for own, taken in zip(SOURCES, self.taken, strict=True))
        variance = sum(part**2 for part in parts) / spot.N_g
        if variance == 0 or one.variance == 0:
            return 0.0 if variance == one.variance else math.inf
        return abs(math.log(one.variance / variance)) / (ALLOWED * one.log_error)


@dataclass(frozen=True)
class SharedNormals(LawOfDraws):
    """Matrix noise of both gradients made of the same normals, or of their opposites: sizes add up, or cancel."""

    sign: int
    edits: int = 1

    @property
    def sentence(self) -> str:
        """What f and g have in common."""
        whose = "the same normals as that of f" if self.sign > 0 else "the opposite normals of f's"
        return f"under matrix noise the noise of g is made of {whose} where each must have normals of its own"

    def _miss(self, one: DrawnSpot) -> float:
        spot = one.spot
        if not isinstance(spot, MatrixSpot):
            return math.inf
        of = right_sizes(spot)
        f, g = float(spot.sigma_f) * of["f"], float(spot.sigma_g) * of["g"]
        variance = ((f + self.sign * g) ** 2 if self.sign else f**2 + g**2) / spot.N_g
        return abs(math.log(one.variance / variance)) / (ALLOWED * one.log_error) if one.variance > 0 else math.inf


def shares_as_told(blame: Blame | None, stages: StageCalls) -> bool:
    """Whether a subject's estimates, with noise of both gradients, follow what is told of normals that these share."""
    rules = [rule for rule in (blame.explanations if blame is not None else ()) if isinstance(rule, SharedNormals)]
    return not rules or any(
        rule.predicts([spot.draw(stages) for spot in matrix_spots("both", LATER)]) for rule in rules
    )


NORMALS_APART = SharedNormals(0)
"""What belongs."""
SHARED_NORMALS = (SharedNormals(1), SharedNormals(-1))


def right_sizes(spot: MatrixSpot) -> dict[Source, float]:
    """What σ of each gradient is multiplied by."""
    return {own: spot.alpha**law.alpha * spot.at.sizes[law.size] for own, law in RIGHT.items()}


TAKEN_SCALES = (TakenScale(("f", "f")), TakenScale(("g", "g")), TakenScale(("g", "f"), 2))
"""All that are not right."""
ADDITIVE_SCALE = TakenScale(("g", "g"), model="additive")
"""The one that shows under additive noise."""


def matrix_laws(source: Source, drawn: Sequence[DrawnSpot]) -> list[MatrixLaw]:
    """Single changes of the right law that fit what was drawn; nothing where the right one does."""
    right = RIGHT[source]
    if right.predicts(drawn):
        return []
    return [law for law in _changes(right, drawn) if law.predicts(drawn)]


def _changes(right: MatrixLaw, drawn: Sequence[DrawnSpot]) -> Iterator[MatrixLaw]:
    yield replace(right, number=0.0)
    if any(one.variance == 0 for one in drawn):
        return
    yield from (replace(right, power=power) for power in (0.5, 2.0, 0.0))
    yield from (replace(right, alpha=alpha) for alpha in (0, -2, -4, -1, 1, 2, 4, -3, 3) if alpha != right.alpha)
    yield from (replace(right, of_size=power) for power in (2.0, 0.5, -1.0))
    yield from (replace(right, batch=batch) for batch in BATCHES[1:] if not batch.words.startswith("⌈"))
    spot = drawn[0].spot
    assert isinstance(spot, MatrixSpot)  # as all of them
    yield from (replace(right, size=size) for size in spot.at.sizes if size != right.size)
    yield from (replace(right, size="", power=power, edits=2) for power in (0.0, 2.0, 0.5))
    logs = np.array([right._miss(one) for one in drawn])
    weights = np.array([one.log_error**-2.0 for one in drawn])
    level, error = float((logs * weights).sum() / weights.sum()), float(weights.sum() ** -0.5)
    if abs(level) > max(ALLOWED * error, CLEAR):
        yield replace(right, number=math.exp(level / 2), error=error / 2)
