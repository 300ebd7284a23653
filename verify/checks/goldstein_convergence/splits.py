"""The two splits in the convergence theorem's proof, in rationals: F is |x|, the estimates are biased and noisy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from verify.checks.measuring.case import Case, Measurement, check
from verify.checks.measuring.finite_laws import ZERO
from verify.checks.measuring.formula_evidence import brought

START, D, ETA = Fraction(2, 5), Fraction(1, 8), Fraction(1, 10)
BIAS, NOISE = Fraction(1, 7), Fraction(1, 2)
M, K = 3, 2
"""Steps of a block, and blocks: each of the 2^(KM) sequences of signs of the noise is one equally likely run."""
Parts = tuple[Fraction, Fraction, Fraction]
"""A sum, and the two that it is split into."""


@dataclass(frozen=True)
class Step:
    """One step of Algorithm 2: Δ_t, F' at its middle z_t and in the mean over its segment, the estimate at z_t."""

    delta: Fraction
    slope: Fraction
    mean_slope: Fraction
    noise: Fraction

    @property
    def estimate(self) -> Fraction:
        """F'(z_t) with its bias and its noise."""
        return self.slope + BIAS + self.noise


def runs() -> Iterator[tuple[Fraction, list[Step]]]:
    """Each run's end x_T, and its steps."""
    for signs in product((1, -1), repeat=M * K):
        x, delta, steps = START, ZERO, list[Step]()
        for sign in signs:
            step = Step(delta, _slope(x + delta / 2), _mean_slope(x, x + delta), sign * NOISE)
            steps.append(step)
            x += delta
            delta = max(-D, min(D, delta - ETA * step.estimate))
        yield x, steps


def _slope(z: Fraction) -> Fraction:
    return Fraction((z > 0) - (z < 0))


def _mean_slope(start: Fraction, stop: Fraction) -> Fraction:
    """Share of the segment to the right of the kink less that to its left."""
    low, high = sorted((start, stop))
    if low == high:
        return _slope(low)
    return (max(high, ZERO) - max(low, ZERO) - min(high, ZERO) + min(low, ZERO)) / (high - low)


def _against(slopes: Sequence[Fraction]) -> Fraction:
    """The proof's reference point u_k: of length D, against a block's summed gradients."""
    return -D * _slope(sum(slopes, ZERO))


def _blocks(steps: list[Step]) -> Iterator[list[Step]]:
    return (steps[start : start + M] for start in range(0, len(steps), M))


FIXED = (ZERO, D / 2, -D)
"""Reference points no longer than D, beside the proof's."""


def regret_and_norm() -> list[Parts]:
    """Of every run: the change of F, from its values; the regret; minus D times the lengths of the blocks' sums.

    Then the same for :data:`FIXED` reference points, with the blocks' sums times each of them in the last place.
    """
    parts = []
    for end, steps in runs():
        blocks = [[step.mean_slope for step in block] for block in _blocks(steps)]
        lengths = sum((abs(sum(slopes, ZERO)) for slopes in blocks), ZERO)
        parts.append((abs(end) - abs(START), _regret(steps, [_against(slopes) for slopes in blocks]), -D * lengths))
        whole = sum(map(sum, blocks), ZERO)
        parts += [(abs(end) - abs(START), _regret(steps, [u] * len(blocks)), whole * u) for u in FIXED]
    return parts


def _regret(steps: list[Step], references: Sequence[Fraction]) -> Fraction:
    """Σ⟨∇F, Δ - u_k⟩ over a run, with a reference point for each block."""
    pairs = zip(_blocks(steps), references, strict=True)
    return sum((step.mean_slope * (step.delta - u) for block, u in pairs for step in block), ZERO)


def estimate_and_error() -> list[Parts]:
    """Means over all runs: Σ⟨∇F, Δ - u⟩; the estimate's part by squared distances; its error's, bias and noise."""
    whole = of_estimate = of_error = ZERO
    for _, steps in runs():
        for block in _blocks(steps):
            u = _against([step.slope for step in block])
            for step in block:
                off, g = step.delta - u, step.estimate
                whole += step.slope * off
                of_estimate += (off**2 + (ETA * g) ** 2 - (off - ETA * g) ** 2) / (2 * ETA)
                of_error -= (BIAS + step.noise) * off
    count = 2 ** (M * K)
    return [(whole / count, of_estimate / count, of_error / count)]


@check("goldstein-convergence/regret-split", instances=("kink",))
def regret_split(case: Case) -> Measurement:
    """The change of F against regret and gradient norm together, in every run."""
    return judged(case, regret_and_norm(), ("change of F", "regret", "gradient norm"))


@check("goldstein-convergence/estimate-split", instances=("kink",))
def estimate_split(case: Case) -> Measurement:
    """The regret of ∇F against that of the estimates and the part of their errors together, in the mean."""
    return judged(case, estimate_and_error(), ("mean regret of ∇F", "of the estimates", "of their errors"))


def judged(case: Case, sums: Sequence[Parts], names: tuple[str, str, str]) -> Measurement:
    """What the formula says of the sums; the values are those of the run with the largest first part."""
    shown = max(sums, key=lambda parts: abs(parts[1]))
    return Measurement(brought(case, *sums), dict(zip(names, map(float, shown), strict=True)))
