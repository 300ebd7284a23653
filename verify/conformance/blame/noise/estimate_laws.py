"""How the variance of an estimate depends on alpha, N_g and the scale of the noise, and what its mean is off by."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.noise.noise_spots import DrawnSpot, Spot
from verify.conformance.probes.probes import Probe
from verify.method.player import FUNCTIONS, compiled

ALLOWED = 4.5
"""Standard errors by which a law may miss a measured number."""
CLEARLY = 6.0
"""Standard errors beyond which two numbers differ."""


@dataclass(frozen=True)
class NoiseRule:
    """How noise seems to reach a subject's estimates; ``excess`` says how far drawn estimates are from it.

    Beyond 1 they do not follow it.
    """

    sentence: str
    edits: int
    excess: Callable[[Sequence[DrawnSpot]], float]

    def answer(self, probe: Probe) -> Vector | None:  # noqa: ARG002  # as every explanation
        """None: a law of random numbers answers no single probe; see ``predicts``."""
        return None

    def predicts(self, drawn: Sequence[DrawnSpot]) -> bool:
        """Whether what was drawn follows it."""
        return self.excess(drawn) <= 1


class Batch(NamedTuple):
    """How the variance depends on N_g."""

    words: str
    formula: str

    def of(self, spot: Spot) -> float:
        """The variance at a spot, in samples' variances."""
        sigma = float(spot.sigma_f + spot.sigma_g)
        names = {"N_g": float(spot.N_g), "alpha": spot.alpha, "sigma": sigma, "ceil": math.ceil, "round": round}
        return float(eval(compiled(self.formula), FUNCTIONS, names))


RIGHT_BATCH = Batch("", "1 / N_g")
BATCHES = (
    RIGHT_BATCH,
    Batch("it does not fall with N_g and is √N_g times too large: one sample is used, or the sum is divided by √N_g",
          "1.0"),
    Batch("it is N_g times too large: noise is summed, not averaged", "N_g"),
    Batch("it grows like N_g^1.5: noise is summed and multiplied by N_g, not divided", "N_g**3.0"),
    Batch("it falls like 1/N_g, not 1/√N_g: the noise is divided by √N_g once more", "N_g**-2.0"),
    Batch("it falls like N_g^(−¼), not 1/√N_g", "N_g**-0.5"),
    Batch("N_g − 1 samples are averaged", "1 / maximum(N_g - 1, 1)"),
    Batch("N_g + 1 samples are averaged", "1 / (N_g + 1)"),
    Batch("N_g + 1 samples are summed and divided by N_g", "(N_g + 1) * N_g**-2.0"),
    Batch("the samples of a batch are drawn from N_g draws with replacement, a bootstrap: its variance is 2 − 1/N_g "
          "times the right one", "(2 - 1 / N_g) / N_g"),
    Batch("two samples at most are averaged", "1 / minimum(N_g, 2)"),
    Batch("half of N_g samples are averaged, rounded up", "1 / ((N_g + 1) // 2)"),
    Batch("the samples of a batch share a tenth of their variance", "0.1 + 0.9 / N_g"),
    Batch("the samples of a batch share a fifth of their variance", "0.2 + 0.8 / N_g"),
    Batch("the samples of a batch share half of their variance", "0.5 + 0.5 / N_g"),
    Batch("⌈σ²/α²⌉ samples are averaged whatever N_g",
          "1 / maximum(1, ceil(round((sigma / alpha) ** 2, 6)))"),
)  # fmt: skip


@dataclass(frozen=True)
class SizeLaw:
    """A standard deviation number·σ^power·α^alpha·√(batch) of the noise of f, or of g."""

    number: float
    error: float
    power: float
    alpha: float
    batch: Batch

    def variance(self, spot: Spot) -> float:
        """What it gives at a spot."""
        sigma = float(spot.sigma_f + spot.sigma_g)
        return float((self.number * sigma**self.power * spot.alpha**self.alpha) ** 2 * self.batch.of(spot))

    def excess(self, drawn: Sequence[DrawnSpot]) -> float:
        """Largest miss in units of what chance allows; the law's own error counts too."""
        worst = 0.0
        for one in drawn:
            if one.variance == 0:
                return math.inf
            miss = abs(math.log(one.variance / self.variance(one.spot)))
            worst = max(worst, miss / (ALLOWED * math.hypot(one.log_error, 2 * self.error)))
        return worst


def size_laws(drawn: Sequence[DrawnSpot], right_alpha: float, right_number: float | None) -> list[tuple[int, SizeLaw]]:
    """Laws that fit, with their edits, those with the fewest; ``right_number`` is the number of no edit, if any is."""
    laws: list[tuple[int, SizeLaw]] = []
    logs = np.log([one.variance for one in drawn])
    errors = np.array([one.log_error for one in drawn])
    for batch, alpha, power in product(BATCHES, (0, -2, -4, -1, 1, 2, 4, -3, 3), (1.0, 0.5, 2.0, 0.0)):
        if batch.words.startswith("⌈") and alpha:
            continue
        plain = np.log([SizeLaw(1.0, 0.0, power, alpha, batch).variance(one.spot) for one in drawn])
        weights = errors**-2.0
        level = float(((logs - plain) * weights).sum() / weights.sum())
        error = float(weights.sum() ** -0.5)
        number = math.exp(level / 2)
        usual = right_number is not None and abs(level - 2 * math.log(right_number)) <= ALLOWED * error
        law = SizeLaw(right_number or 1.0, 0.0, power, alpha, batch) if usual else SizeLaw(
            number, error / 2, power, alpha, batch)  # fmt: skip
        if law.excess(drawn) <= 1:
            edits = (not usual) + (alpha != right_alpha) + (power != 1.0) + bool(batch.words)
            laws.append((edits, law))
    fewest = min((edits for edits, _ in laws), default=0)
    return [(edits, law) for edits, law in laws if edits == fewest]


def in_words(law: SizeLaw, whose: str) -> str:
    """What a law of the noise of f, as wrong as it is, says."""
    parts = []
    if law.number != 1.0:
        parts.append(f"it is {law.number:.3g} ± {max(law.number * law.error, 1e-3):.1g} times the right one")
    if law.batch.words:
        parts.append(law.batch.words)
    if law.alpha:
        parts.append(f"it is multiplied by α{_power(law.alpha)}")
    if law.power != 1.0:
        size = {0.5: "σ is taken for the variance, so that it is √σ", 2.0: "it is σ² where it must be σ",
                0.0: "it does not depend on σ"}[law.power]  # fmt: skip
        parts.append(size)
    return f"the standard deviation of the noise of {whose} is not σ/√N_g: {', and '.join(parts)}"


def _power(value: float) -> str:
    marks = {-4: "⁻⁴", -3: "⁻³", -2: "⁻²", -1: "⁻¹", 1: "", 2: "²", 3: "³", 4: "⁴"}
    return marks[round(value)]


def silent(drawn: Sequence[DrawnSpot]) -> float:
    """0 where no spot has noise and the mean is the answer without it, infinite otherwise."""
    quiet = all(one.variance == 0 and bool((np.abs(one.shift) <= CLEARLY * one.shift_error).all()) for one in drawn)
    return 0.0 if quiet else math.inf


def frozen(drawn: Sequence[DrawnSpot]) -> float:
    """0 where all estimates of a call are one and the same draw off the answer without noise, infinite otherwise."""
    stuck = all(one.variance == 0 and bool((np.abs(one.shift) > CLEARLY * one.shift_error).any()) for one in drawn)
    return 0.0 if stuck else math.inf


def mirrored(drawn: Sequence[DrawnSpot]) -> float:
    """Up to 1 where each pair of a batch cancels: no noise where N_g is even, one sample's where it is odd."""
    even, odd = ([one for one in drawn if one.spot.N_g % 2 == left] for left in (0, 1))
    if not even or not odd or silent(even) > 1:
        return math.inf
    return SizeLaw(1.0, 0.0, 1.0, 0.0, Batch("", "N_g**-2.0")).excess(odd)


def of_f(drawn: Sequence[DrawnSpot]) -> list[NoiseRule]:
    """What is wrong with the noise of f; nothing where its law is the right one."""
    if silent(drawn) <= 1:
        return [NoiseRule("the noise of f never reaches the estimate: it answers without noise", 1, silent)]
    if frozen(drawn) <= 1:
        return [NoiseRule("all estimates of a call are one and the same draw: the noise is drawn once and shared", 1,
                          frozen)]  # fmt: skip
    if mirrored(drawn) <= 1:
        return [NoiseRule("the samples of a batch come in antithetic pairs that cancel: the noise of f is 0 where N_g "
                          "is even and one sample's over N_g where it is odd", 1, mirrored)]  # fmt: skip
    if any(one.variance == 0 for one in drawn):
        return []
    return [
        NoiseRule(in_words(law, "f"), edits, law.excess) for edits, law in size_laws(drawn, 0, 1.0) if edits
    ]  # fmt: skip


def of_g(drawn: Sequence[DrawnSpot]) -> list[NoiseRule]:
    """What is wrong with the noise of g; nothing where it cancels, as common draws make it."""
    if any(one.variance == 0 for one in drawn):
        return []
    rules = []
    pairings = (
        (2**0.5, "g is sampled independently at ỹ and at ỹ*, where one draw must serve both"),
        (1.0, "noise of g is added at one of ỹ and ỹ* only, where one draw must serve both"),
    )
    for number, words in pairings:
        laws = [pair for pair in size_laws(drawn, -2, number) if pair[0] == 0]
        size = f"its standard deviation is {number:.3g}·α⁻²σ/√N_g"
        sentence = f"the noise of g does not cancel: {words} ({size})"
        rules += [NoiseRule(sentence, 1, law.excess) for _, law in laws]
    if rules:
        return rules
    for edits, law in size_laws(drawn, -2, 1.0):
        size = f"{law.number:.3g}·" if law.number != 1 else ""
        alpha = f"α{_power(law.alpha)}" if law.alpha else ""
        batch = f"; {law.batch.words}" if law.batch.words else ""
        power = {1.0: "σ", 0.5: "√σ", 2.0: "σ²", 0.0: ""}[law.power]
        words = f"the noise of g does not cancel: its standard deviation is {size}{alpha}{power}/√N_g{batch}"
        rules.append(NoiseRule(words, max(edits, 1), law.excess))
    return rules


def summed(drawn: Sequence[DrawnSpot]) -> float:
    """How far means are from N_g times the answer without noise, in units of what chance allows."""
    worst = 0.0
    for one in drawn:
        mean = one.rows.mean(axis=0)
        worst = max(worst, float(np.abs(mean - one.spot.N_g * one.centre).max()) / (CLEARLY * one.shift_error))
    return worst


@dataclass(frozen=True)
class Shift:
    """A mean that is off by number·σ_f in every component."""

    number: float
    error: float

    def excess(self, drawn: Sequence[DrawnSpot]) -> float:
        """Largest miss in units of what chance allows; infinite where no shift at all would do as well."""
        worst, seen = 0.0, False
        for one in drawn:
            sigma = float(one.spot.sigma_f)
            miss = np.abs(one.shift - self.number * sigma).max()
            worst = max(worst, float(miss) / (ALLOWED * math.hypot(one.shift_error, self.error * sigma)))
            seen = seen or bool((np.abs(one.shift) > ALLOWED * one.shift_error).any())
        return worst if seen else math.inf


@dataclass(frozen=True)
class Multiple:
    """A mean that is a number times the answer without noise."""

    number: float
    error: float

    def excess(self, drawn: Sequence[DrawnSpot]) -> float:
        """Largest miss in units of what chance allows; infinite where there is nothing to multiply."""
        worst, seen = 0.0, False
        for one in drawn:
            size = float(np.abs(one.centre).max())
            miss = float(np.abs(one.shift - (self.number - 1) * one.centre).max())
            worst = max(worst, miss / (ALLOWED * math.hypot(one.shift_error, self.error * size)))
            seen = seen or size * abs(self.number - 1) > CLEARLY * one.shift_error
        return worst if seen else math.inf

    @property
    def sentence(self) -> str:
        """What estimates scatter around."""
        if self.number == 0:
            return "estimates under noise are noise alone: the answer without noise that they belong around is left out"
        number = f"{self.number:g}" if self.error == 0 else f"({self.number:.4g} ± {self.error:.1g})"
        return f"estimates under noise scatter around {number} times the answer without noise"


WRITTEN = (0.0, 2.0, 0.5, -1.0, 10.0, 0.1)
"""Numbers that somebody may have multiplied an estimate by."""


def multiple_of(drawn: Sequence[DrawnSpot]) -> Multiple | None:
    """The number times the answers without noise that all means are, where it is one and not 1."""
    weights = [one.shift_error**-2.0 for one in drawn]
    squares = sum(w * float(one.centre @ one.centre) for w, one in zip(weights, drawn, strict=True))
    if not squares > 0:
        return None
    along = sum(w * float(one.centre @ one.shift) for w, one in zip(weights, drawn, strict=True))
    number, error = 1 + along / squares, squares**-0.5
    near = [Multiple(value, 0.0) for value in WRITTEN if abs(value - number) <= CLEARLY * error]
    laws = (law for law in (*near, Multiple(number, error)) if law.excess(drawn) <= 1)
    return next(laws, None)


def of_mean(drawn: Sequence[DrawnSpot]) -> list[NoiseRule]:
    """What the means of estimates are off by; nothing where they are the answers without noise."""
    off = [one for one in drawn if (np.abs(one.shift) > CLEARLY * one.shift_error).any()]
    multiple = multiple_of(drawn) if off else None
    if multiple is not None:
        return [NoiseRule(multiple.sentence, 1, multiple.excess)]
    if not off or any(one.variance == 0 for one in drawn):
        return []
    if summed(drawn) <= 1:
        return [NoiseRule("the N_g samples are added up and not divided by N_g, noise and all", 1, summed)]
    weights = np.array([(float(one.spot.sigma_f) / one.shift_error) ** 2 for one in drawn])
    numbers = np.array([float(one.shift.mean()) / float(one.spot.sigma_f) for one in drawn])
    size = weights * np.array([len(one.shift) for one in drawn])
    number, error = float((numbers * size).sum() / size.sum()), float(size.sum() ** -0.5)
    law = Shift(number, error)
    if law.excess(drawn) > 1:
        return []
    sentence = f"the noise has a mean: every component is shifted by {number:.3g} ± {error:.1g} times σ, whatever N_g"
    return [NoiseRule(sentence, 1, law.excess)]
