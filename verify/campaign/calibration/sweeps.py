"""Laws that sweeps have, powers and others, each with a claim right of it and one wrong by half an order.

Sampled, every point is a chi-square variance estimate, with as many samples as one of four looks has, read within the
class of powers that bend once, or within that of rational functions with the law's own denominator; exact, a point
carries rounding. What a law is refuted or supported falsely by is counted; left undecided it may always be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from spec.claims import Bound
from verify.evidence.budget import EFFORT_STEP, Share
from verify.evidence.model import Point, RateEvidence
from verify.evidence.rates.orders import Rational, bent, in_class
from verify.evidence.rates.rates import SweepEstimate, fit_power_law, fit_rate
from verify.verdict import Verdict, decide

START, STEPS = 0.2, 5
"""Sampled sweeps halve a from here, so many values."""
LONG = 8
"""Values of an exact sweep."""
SHIFTS = 16
"""Exact sweeps start at so many places of an octave: what oscillates shows every phase of it."""
FIRST, LOOKS = 2048, 4
"""Degrees of freedom of a point at the first look, and looks."""
ROUNDING = 1e-15
CROSSINGS = (0.1, 0.03, 0.01, 0.005, 0.003, 0.001)
"""Middles of crossings, from inside the sweep to beyond its end."""


@dataclass(frozen=True)
class Swept:
    """A law with the exponent of the largest power that bounds it from above, and whether it bounds from below too."""

    name: str
    law: Callable[[float], float]
    exponent: float = 1.0
    tight: bool = True
    known: Rational | None = None


POLYNOMIAL = Rational(0, 3)
"""The class of a polynomial without negative coefficients."""


def _saturating(s: float) -> Rational:
    return Rational(0, 3, (s, 1.0))


LAWS = (
    Swept("a", lambda a: a, known=POLYNOMIAL),
    Swept("a (1 + a)", lambda a: a * (1 + a), known=POLYNOMIAL),
    Swept("a (1 - 4a)", lambda a: a * (1 - 4 * a)),
    Swept("a (1 + √a)", lambda a: a * (1 + a**0.5)),
    Swept("a (1 - √a)", lambda a: a * (1 - a**0.5)),
    Swept("a (1 + 20a²)", lambda a: a * (1 + 20 * a**2), known=POLYNOMIAL),
    Swept("a/(a + 0.1)", lambda a: a / (a + 0.1), known=_saturating(0.1)),
    Swept("a/(a + 0.01)", lambda a: a / (a + 0.01), known=_saturating(0.01)),
    Swept("a + 10a²", lambda a: a + 10 * a**2),
    Swept("a + 100a²", lambda a: a + 100 * a**2, known=POLYNOMIAL),
    Swept("a + 0.01", lambda a: a + 0.01, 0.0, known=POLYNOMIAL),
    Swept("a log 1/a", lambda a: a * math.log(1 / a), 0.9),
    Swept("a/log 1/a", lambda a: a / math.log(1 / a), tight=False),
    Swept("a (1 + sin(log a)/10)", lambda a: a * (1 + 0.1 * math.sin(math.log(a)))),
    Swept("a (1 + sin(3 log a)/10)", lambda a: a * (1 + 0.1 * math.sin(3 * math.log(a)))),
)
"""Sampled and exact. The logarithm's claim leaves it what a verdict resolves."""
IN_CLASS_ONLY = (
    Swept("a/(a + 0.001)", lambda a: a / (a + 1e-3), known=_saturating(1e-3)),
    Swept("a/(a + 10⁻⁴)", lambda a: a / (a + 1e-4), known=_saturating(1e-4)),
    Swept("a² + 0.001a", lambda a: a**2 + 1e-3 * a, known=POLYNOMIAL),
    Swept("a + 10⁻⁴", lambda a: a + 1e-4, 0.0, known=POLYNOMIAL),
    Swept("a (2 + sin(log a))", lambda a: a * (2 + math.sin(math.log(a))), known=POLYNOMIAL),
)
"""Whose crossing lies beyond the sweep, and one that is in no class: what bends once decides them falsely."""
EXACT_ONLY = (
    Swept("a/(a + 10⁻⁵)", lambda a: a / (a + 1e-5)),
    Swept("a + 10⁴a²", lambda a: a + 1e4 * a**2),
    Swept("a² + 10⁻⁴a", lambda a: a**2 + 1e-4 * a),
    Swept("a + 10⁻⁵", lambda a: a + 1e-5, 0.0),
)
"""Whose crossing lies beyond the sweep, which samples of any number asked for here do not show."""


def wrong_decisions(swept: Swept, rate: RateEvidence) -> tuple[bool, bool]:
    """Whether a right claim is refuted, and whether one half an order stronger is supported."""
    right = [_claim("upper", swept.exponent), *([_claim("tight", swept.exponent)] if swept.tight else [])]
    refuted = any(decide(bound, [rate]).verdict is Verdict.REFUTED for bound in right)
    stronger = _claim("upper", swept.exponent + (0.5 if swept.tight else 0.6))
    return refuted, decide(stronger, [rate]).verdict is Verdict.SUPPORTED


def sampled(
    swept: Swept, share: Share, rng: np.random.Generator, number: int, known: Rational | None = None
) -> RateEvidence:
    """The exponent fitted to chi-square estimates, at one of the looks, read within a class."""
    dof = float(FIRST * EFFORT_STEP ** (number % LOOKS))
    estimates = [
        SweepEstimate({"alpha": a}, swept.law(a) * float(rng.chisquare(dof)) / dof, dof, samples=int(dof))
        for a in (START / 2**k for k in range(STEPS))
    ]
    rate = fit_power_law(estimates, share, quantity=swept.name)["alpha"]
    return bent(rate) if known is None else in_class(rate, estimates, share, known)


def exact(swept: Swept, number: int) -> RateEvidence:
    """The exponent read off exact values."""
    ats = [START / 2 ** (k + number / SHIFTS) for k in range(LONG)]
    points = [Point(at=a, measured=swept.law(a), uncertainty=ROUNDING * swept.law(a)) for a in ats]
    return fit_rate(points, quantity=swept.name, variable="alpha")


def crossings(runs: int, *, seed: int, share: Share) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Shares of sampled sweeps of a/(a + s) by which O(a) is refuted, by look, for crossings ever further off.

    Each within the class of powers that bend once, and within that which knows the pole.
    """
    for s in CROSSINGS:
        swept = Swept(f"a/(a + {s:g})", lambda a, s=s: a / (a + s))  # type: ignore[misc]  # bound for each s
        for known, words in ((None, "bends once"), (_saturating(s), "pole known")):
            shares = []
            for look in range(LOOKS):
                generators = (np.random.default_rng([seed, n, look, 4]) for n in range(runs))
                rates = (sampled(swept, share, rng, look, known) for rng in generators)
                shares.append(sum(wrong_decisions(swept, rate)[0] for rate in rates) / runs)
            yield f"{swept.name}, {words}", tuple(shares)


BENDING, RATIONAL, EXACT = "sampled", "sampled, rational", "exact"


def asked() -> list[tuple[Swept, str]]:
    """Every law and how it is read, in the order of the rows."""
    pairs = [(swept, BENDING) for swept in LAWS]
    pairs += [(swept, RATIONAL) for swept in (*LAWS, *IN_CLASS_ONLY) if swept.known]
    return pairs + [(swept, EXACT) for swept in (*LAWS, *EXACT_ONLY)]


def run_sweeps(runs: int, *, seed: int, share: Share) -> Iterator[tuple[str, list[tuple[bool, bool]]]]:
    """Every law with the wrong decisions of each run, from the run's number alone."""
    for which, (swept, how) in enumerate(asked()):
        if how == EXACT:
            rates = [exact(swept, number) for number in range(SHIFTS)]
        else:
            known = swept.known if how == RATIONAL else None
            generators = (np.random.default_rng([seed, number, which, 3]) for number in range(runs))
            rates = [sampled(swept, share, rng, number, known) for number, rng in enumerate(generators)]
        yield f"{swept.name}, {how}", [wrong_decisions(swept, rate) for rate in rates]


def _claim(tag: str, exponent: float) -> Bound:
    return Bound.model_validate({"quantity": "q", "tag": tag, "exponents": {"alpha": f"{exponent:g}"}})
