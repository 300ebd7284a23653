"""The decisions on noise of laws that people have: how often each refutes falsely, supports falsely, or stays open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, TypeAlias

import numpy as np

from spec.exact import Vector
from verify.campaign.calibration.comparisons import bare_case
from verify.campaign.calibration.noise_laws import NOISE_LAWS, Noise
from verify.campaign.calibration.outcomes import Outcome, outcome
from verify.checks.measuring.case import Case
from verify.checks.measuring.estimates.samples import SampledFormula, sampled_rates
from verify.evidence.bets.betting import MeanBound, VarianceBound
from verify.evidence.bets.correlations import CorrelationDecision, DirectionBound
from verify.evidence.bets.squares import SquareBound
from verify.evidence.budget import POWER, Share
from verify.evidence.model import ComparisonEvidence, FrozenData, RateEvidence
from verify.evidence.samples.laws import SquareLaw, binomial_interval
from verify.evidence.samples.moments import Moments, Scatter
from verify.evidence.streams import Sampler, Streams
from verify.verdict import Verdict, decide

WIDTH = 2
BLOCK = 512
CONFIDENCE = 0.999
WANTED = {"mean": 0.1, "mean square": 0.3, "variance": 0.2, "directions": 0.4, "correlation": 0.5, "exponent": 0.25}
"""The violation that each must see, and by which a wrong subject is wrong: relative, or orders for an exponent."""
BATCHES = (1, 4, 16, 64)
FIRST_LOOK = 2048
Evidence: TypeAlias = ComparisonEvidence | RateEvidence
Decision: TypeAlias = Callable[[Case, Share, Noise, float], Evidence]
SHARED = "shared by a call"
UNSEEN = ("two-point .001", "outliers .1 % × 60", "outliers .01 % × 100")
"""What decisions from both sides take for the stated law with less variance, as long as they have met no outlier: of
these they are about the stated law itself."""
MOVING = "heteroscedastic in (x, y)"
"""Whose variance is the stated one at the worst point only: a bound is right of it, an equality is not."""
NOT_ASKED = {
    *((name, MOVING) for name in ("mean square", "directions")),
    ("directions", "anisotropic"), ("directions", "rank one"),
    *((name, law) for name in ("mean square", "directions") for law in UNSEEN),
    *((name, SHARED) for name in WANTED if name != "mean"),
}  # fmt: skip
"""Where the noise itself is what the decision refutes, or may: estimates of one call that are not independent."""
NO_CLASS = {("variance", law) for law in (*UNSEEN, MOVING)}
"""Where no support is promised: the kurtosis is beyond every class at hand, and samples may show none of it; or a
variance is too large at one point alone."""
EVERY = {"mean square": 4, "variance": 4, "directions": 4, "exponent": 40}
"""Of how many runs one asks the dearer decisions."""
WRONG_EVERY = 20
"""Of how many runs one asks on a wrong subject at least: none comes near its promise."""


class LawAchieved(FrozenData):
    """One decision on one law of noise: of right subjects refuted, of wrong ones supported, of right ones left open.

    Promised are at most ``error`` of the first and ``missed`` of the second; intervals at confidence 0.999 show whether
    that was kept.
    """

    law: str
    decision: str
    runs: int
    refuted: int
    supported: int
    left_open: int
    error: float
    missed: float
    wrong_runs: int

    @property
    def outcome(self) -> Outcome:
        """Of both promises."""
        pairs = ((self.refuted, self.runs, self.error), (self.supported, self.wrong_runs, self.missed))
        outcomes = {
            outcome(binomial_interval(wrong, runs, CONFIDENCE), promise) for wrong, runs, promise in pairs if runs
        }
        return "broken" if "broken" in outcomes else "kept" if outcomes == {"kept"} else "not shown"


def _stream(
    case: Case, noise: Noise, *, shift: Vector | float = 0.0, factor: Vector | float = 1.0, block: int = BLOCK,
    together: bool = False,
) -> Sampler:  # fmt: skip
    def draw(rng: np.random.Generator, count: int) -> Vector:
        return np.asarray(noise(rng, count, WIDTH) * factor + shift)

    centre = np.zeros(WIDTH)
    return Sampler(draw, Streams.of(case.rng), Scatter(centre) if together else Moments(centre), block)


def _mean(case: Case, share: Share, noise: Noise, wrong: float) -> Evidence:
    # In units of the noise's root mean square, along the diagonal.
    stream = _stream(case, noise, shift=wrong)
    decision = MeanBound(
        "mean", share, width=WIDTH, second_moment=float(WIDTH), wanted=WANTED["mean"], block=BLOCK
    )  # fmt: skip
    return decision.run(stream)


def _variance(case: Case, share: Share, noise: Noise, wrong: float) -> Evidence:
    return replace(_level(share, "variance"), relation="<=").run(_stream(case, noise, factor=(1 + wrong) ** 0.5))


def _directions(case: Case, share: Share, noise: Noise, wrong: float) -> Evidence:
    factor = np.array([(1 + wrong) ** 0.5, *(1.0,) * (WIDTH - 1)])
    return DirectionBound.of(_level(share, "directions")).run(_stream(case, noise, factor=factor, together=True))


def _level(share: Share, name: str) -> VarianceBound:
    return VarianceBound(name, share, level=float(WIDTH), width=WIDTH, wanted=WANTED[name], block=BLOCK)


def _mean_square(case: Case, share: Share, noise: Noise, wrong: float) -> Evidence:
    """Around a point one deviation away, as where a bias is as large as the noise."""
    law = SquareLaw((1.0,) * WIDTH, (1.0, *(0.0,) * (WIDTH - 1)))
    away, factor = np.array([1.0, *(0.0,) * (WIDTH - 1)]), (1 + wrong) ** 0.5
    stream = _stream(case, noise, shift=factor * away, factor=factor)
    return SquareBound("mean square", share, law=law, wanted=WANTED["mean square"]).run(stream)


def _correlation(case: Case, share: Share, noise: Noise, wrong: float) -> Evidence:
    one, fresh = noise(case.rng, BLOCK, WIDTH), noise(case.rng, BLOCK, WIDTH)
    other = wrong * np.roll(one, 100, axis=0) + (1 - wrong**2) ** 0.5 * fresh
    return CorrelationDecision("correlation", share, wanted=WANTED["correlation"]).between(one, other)


def _exponent(case: Case, share: Share, noise: Noise, wrong: float) -> Evidence:
    settings = []
    for N_g in BATCHES:
        stream = _stream(case, noise, factor=float(N_g) ** ((wrong - 1) / 2), block=FIRST_LOOK)
        settings.append(({"N_g": float(N_g)}, stream, WIDTH / N_g))
    how: dict[str, Any] = {"looks": (FIRST_LOOK, share), "formula": SampledFormula({"N_g": -1.0})}
    return sampled_rates(case, settings, quantity="variance", deciding="N_g", **how)["N_g"]


DECISIONS: dict[str, Decision] = {
    "mean": _mean, "mean square": _mean_square, "variance": _variance, "directions": _directions,
    "correlation": _correlation, "exponent": _exponent,
}  # fmt: skip
Judged: TypeAlias = tuple[str, str, Verdict | None, Verdict | None]
"""Law, decision, and the verdicts on a right and on a wrong subject; none where this run does not ask."""


def run_laws(numbers: Sequence[int], *, seed: int, budget: float) -> list[list[Judged]]:
    """Runs by number: every decision on every law, at the error ``budget`` each."""
    share = Share(budget)
    cells = [(law, name) for law in NOISE_LAWS for name in DECISIONS if (name, law) not in NOT_ASKED]
    table = []
    for number in numbers:
        row = []
        for which, (law, name) in enumerate(cells):
            verdicts: list[Verdict | None] = []
            for bent, wrong in enumerate((0.0, WANTED[name])):
                if number % max(EVERY.get(name, 1), WRONG_EVERY if bent else 1):
                    verdicts.append(None)
                    continue
                # Apart from the numbers that the other tables use.
                case = bare_case(seed, number, 1000 + which, bent)
                item = DECISIONS[name](case, share, NOISE_LAWS[law], wrong)
                verdicts.append(decide(case.bound, [item]).verdict)
            right, bad = verdicts
            row.append((law, name, right, bad))
        table.append(row)
    return table


def summarise_laws(runs: Iterable[list[Judged]], budget: float) -> tuple[LawAchieved, ...]:
    """Counts, a law and decision each."""
    rows = list(runs)
    achieved = []
    for i, (law, name, *_) in enumerate(rows[0] if rows else []):
        right, wrong = ([row[i][part] for row in rows if row[i][part] is not None] for part in (2, 3))
        achieved.append(
            LawAchieved(
                law=law, decision=name, runs=len(right), wrong_runs=len(wrong), error=budget,
                missed=1.0 if (name, law) in NO_CLASS else 1 - POWER,
                refuted=right.count(Verdict.REFUTED), supported=wrong.count(Verdict.SUPPORTED),
                left_open=right.count(Verdict.INCONCLUSIVE),
            )
        )  # fmt: skip
    return tuple(achieved)


SIZES = {
    "mean": (0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3),
    "mean square": (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0),
    "variance": (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0),
}
"""Violations tried, ascending: a bias in root mean squares of the noise, and the relative excess of the others."""
FOUND = 0.9
"""Share of runs that must find one."""
AS_ASKED = {"mean": (0.01, (0.003, 0.005, 0.007, 0.01, 0.014)), "variance": (0.05, (0.02, 0.03, 0.05, 0.07, 0.1))}
"""The violation that the statements on the oracles ask for, and those tried, under Gaussian noise."""


def smallest_found(name: str, runs: int, *, seed: int, budget: float) -> dict[str, float]:
    """By law the smallest violation tried that is refuted in nine of ten runs; ``inf`` where none is."""

    def refuted(law: str, number: int, which: int) -> bool:
        case = bare_case(seed, number, 2000 + which, 1)
        item = DECISIONS[name](case, Share(budget), NOISE_LAWS[law], SIZES[name][which])
        return decide(case.bound, [item]).verdict is Verdict.REFUTED

    laws = [law for law in NOISE_LAWS if (name, law) not in NOT_ASKED]
    return {law: _smallest(SIZES[name], runs, partial(refuted, law)) for law in laws}


def smallest_as_asked(runs: int, *, seed: int, error: float) -> dict[str, float]:
    """The same of the decisions on the oracles of a full run, at the error of one of them."""
    gauss, share = NOISE_LAWS["Gauss"], Share(error)

    def refuted(name: str, number: int, which: int) -> bool:
        wanted, sizes = AS_ASKED[name]
        case, size = bare_case(seed, number, 3000 + which, 1), sizes[which]
        if name == "mean":
            mean = MeanBound(name, share, width=WIDTH, second_moment=float(WIDTH), wanted=wanted)
            item = mean.run(_stream(case, gauss, shift=size, block=mean.block))
        else:
            bound = replace(_level(share, name), relation="<=", wanted=wanted)
            item = bound.run(_stream(case, gauss, factor=(1 + size) ** 0.5))
        return decide(case.bound, [item]).verdict is Verdict.REFUTED

    return {name: _smallest(sizes, runs, partial(refuted, name)) for name, (_, sizes) in AS_ASKED.items()}


def _smallest(sizes: Sequence[float], runs: int, refuted: Callable[[int, int], bool]) -> float:
    """By halving: ``refuted`` tells of a run by its number and the violation's place."""

    def finds(which: int) -> bool:
        missed = 0
        for number in range(runs):
            missed += not refuted(number, which)
            if missed > (1 - FOUND) * runs:
                return False
        return True

    low, high = 0, len(sizes)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if finds(middle) else (middle + 1, high)
    return sizes[low] if low < len(sizes) else inf
