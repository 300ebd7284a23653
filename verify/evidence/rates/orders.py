r"""Orders as a variable goes to its limit, from samples on a range: told within a class of functions, or not at all.

No samples at finitely many values say anything of a limit by themselves: a/(a + s) with s far below them looks like a
constant, a + c with c far below them like a. What may decide is one of three things, and the evidence names it.

* A formula of the quantity whose order is derived: it decides, and the samples test that the quantity is a constant
  times it, to an eighth over the whole range.
* A class of rational functions :math:`q = P(v)/Q(v)`, Q known, P a polynomial between two known powers with
  coefficients >= 0. ``O(v^k)`` fails in the class where no P without powers below k passes through all intervals;
  nothing shows that it holds, as a coefficient may be as small as it likes. A shape outside the class may look like one
  inside while it is seen dimly, so the class is asked first whether it holds at a stated resolution.
* A class of powers that bend once (:mod:`verify.evidence.rates.bends`), or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy

from spec.claims import Bound
from spec.exact import Vector
from spec.formulas.powers import raised
from verify.evidence.budget import Share
from verify.evidence.model import LETTERS, CertifiedBound, RateEvidence
from verify.evidence.rates.bends import POWERS as BENDS
from verify.evidence.rates.rates import SweepEstimate
from verify.evidence.rates.undecided import has_no_order, symbol
from verify.evidence.samples.laws import log_variance_interval

SEEN = 0.05
"""Half-width, as a share, of the intervals at which a class of functions has been tested."""
EMPTY = (math.inf, -math.inf)
"""No order: no function of the class runs through the intervals."""
BENT = f"powers that bend once, by a power from {BENDS[0]:g} to {BENDS[-1]:g}, past the middle of the bend"
"""The class of :mod:`verify.evidence.rates.bends`."""
WHOLE = ", and whole powers with one pole or zero, wherever it lies"
"""What is allowed for besides where a claim is refuted in it."""


@dataclass(frozen=True)
class Rational:
    """Functions P/Q of a variable that goes to zero, or of the reciprocal of one that goes to infinity.

    P has powers from ``lowest`` to ``highest`` with coefficients >= 0; ``denominator`` are Q's coefficients from the
    constant one on, all >= 0, the first > 0.
    """

    lowest: int
    highest: int
    denominator: tuple[float, ...] = (1.0,)

    def words(self, letter: str) -> str:
        """The class in print."""
        form = f"sums of {letter} to the powers {self.lowest} to {self.highest} with coefficients ≥ 0"
        return form if len(self.denominator) == 1 else f"{form}, over the denominator that the formula has"

    def most(self, values: Vector, low: Vector, high: Vector) -> float | None:
        """Largest order that the intervals leave, ``inf`` while they have not tested the class; ``None`` if it failed.

        All have shape (points,); the intervals hold jointly.
        """
        powers = np.arange(self.lowest, self.highest + 1)
        bottom = np.polynomial.polynomial.polyval(values, self.denominator)
        middle = np.sqrt(low * high)
        terms = values[:, None] ** powers.astype(np.float64) / (bottom * middle)[:, None]
        terms /= terms.max(axis=0)
        rows = np.vstack([terms, -terms])
        ends = np.concatenate([high / middle, -low / middle])
        if float(np.log(high / low).max()) > 2 * SEEN:
            return math.inf
        left = [k for k in powers.tolist() if _passes(rows[:, k - self.lowest :], ends)]
        return float(max(left)) if left else None


def _passes(rows: Vector, ends: Vector) -> bool:
    """Whether some coefficients >= 0 bring the terms within all intervals."""
    solution = scipy.optimize.linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=ends, bounds=(0, None), method="highs")
    return bool(solution.status == 0)


def held_to_formula(
    rate: RateEvidence, estimates: Sequence[SweepEstimate], share: Share, order: float | None
) -> RateEvidence:
    """A fitted rate beside its formula's exact order in its variable: how far the samples let the two part.

    ``estimates`` are the chi-square ones of the fit, with the formula's values; ratios of any two of them are told
    jointly, with half of the share.
    """
    agreement = None
    if order is not None and all(e.predicted and e.value > 0 and e.dof for e in estimates):
        logs = np.array([math.log(e.value / (e.predicted or 1.0)) for e in estimates])
        dofs = np.array([e.dof for e in estimates], dtype=np.float64)
        agreement = _apart(logs, dofs, share.error / (len(logs) * (len(logs) - 1)))
    return rate.model_copy(update={"formula_order": order, "agreement": agreement})


def _apart(logs: Vector, dofs: Vector, error: float) -> float | None:
    """Largest share by which two may differ, at an error for each pair; ``None`` where two do."""
    widest, known = 0.0, dict[tuple[float, float], tuple[float, float]]()
    for i, j in combinations(range(len(logs)), 2):
        pair = float(dofs[i]), float(dofs[j])
        if pair not in known:
            known[pair] = log_variance_interval(np.array([1.0, -1.0]), np.array(pair), error)
        below, above = known[pair]
        low, high = float(logs[i] - logs[j]) - above, float(logs[i] - logs[j]) - below
        if not low <= 0 <= high:
            return None
        widest = max(widest, high, -low)
    return math.expm1(widest)


AGREES = 0.125
"""A formula's order decides where samples leave it to a constant multiple no further than this share, on the range."""


def has_its_values(rate: RateEvidence) -> bool:
    """Whether samples have a formula's values, whose order then decides."""
    return rate.formula_order is not None and rate.agreement is not None and rate.agreement <= AGREES


def in_class(rate: RateEvidence, estimates: Sequence[SweepEstimate], share: Share, known: Rational) -> RateEvidence:
    """A fitted rate beside the orders that a class of rational functions leaves; none where the class has failed."""
    name, letter = rate.variable, LETTERS.get(rate.variable, rate.variable)
    ats = [e.at[name] for e in estimates]
    grows, boxed = ats[-1] > ats[0], _boxed(estimates, share)
    groups: dict[tuple[float, ...], list[SweepEstimate]] = {}
    for e in boxed:
        groups.setdefault(tuple(value for key, value in e.at.items() if key != name), []).append(e)
    most: float | None = math.inf
    if all(0 < e.low <= e.high < math.inf for e in boxed):
        greatest = [_most(group, name, known, grows=grows) for group in groups.values()]
        most = None if None in greatest else min(value for value in greatest if value is not None)
    ends = EMPTY if most is None else (float(known.lowest), most)
    words = known.words(f"{letter}⁻¹" if grows else letter)
    orders = (-ends[1], -ends[0]) if grows and ends != EMPTY else ends
    return rate.model_copy(update={"class_orders": orders, "function_class": f"{words}, tested to {SEEN:.0%}"})


def _most(group: Sequence[SweepEstimate], name: str, known: Rational, *, grows: bool) -> float | None:
    values = np.array([1 / e.at[name] if grows else e.at[name] for e in group])
    return known.most(values, np.array([e.low for e in group]), np.array([e.high for e in group]))


def _boxed(estimates: Sequence[SweepEstimate], share: Share) -> list[SweepEstimate]:
    return [e.boxed(share.error / 2 / len(estimates)) for e in estimates]


def bent(rate: RateEvidence) -> RateEvidence:
    """A fitted rate read within the class of powers that bend once."""
    return rate.model_copy(update={"function_class": BENT})


def among(rate: RateEvidence, *, refuted: bool = False) -> str:
    """The class of functions that a sampled order is told in; what refutes allows for more of them."""
    if rate.rung != "statistical" or not rate.function_class:
        return ""
    known = BENT if has_no_order(rate) else rate.function_class
    return f", among {known}{WHOLE if refuted and known == BENT else ''}"


def beside_law(
    estimates: Sequence[SweepEstimate], law: RateEvidence, fit: Callable[[Sequence[SweepEstimate]], RateEvidence]
) -> RateEvidence:
    """A fit of estimates in the order of an exact law's points, what the law bends divided out.

    Its power, which is put back, is known to its interval.
    """
    first, straight = law.points[0], []
    for one, exact in zip(estimates, law.points, strict=True):
        bend = exact.measured / (first.measured * (exact.at / first.at) ** law.exponent)
        scaled = {name: getattr(one, name) / bend for name in ("value", "low", "high")}
        straight.append(replace(one, **scaled, predicted=exact.measured / bend))
    rate = fit(straight)
    below, above = law.interval[0] - law.exponent, law.interval[1] - law.exponent
    points = tuple(one.point(law.variable) for one in estimates)
    return rate.model_copy(update={"interval": (rate.interval[0] + below, rate.interval[1] + above), "points": points})


def claimed_order(bound: Bound) -> str:
    """The order a bound claims, in all its variables: ``O(α)``, ``O(ε⁻³·δ⁻¹)``; empty for a plain comparison."""
    powers = [power(variable, float(exponent)) for variable, exponent in bound.exponents.items()]
    return _related(bound, "·".join(powers)) if powers else ""


def claimed_in(bound: Bound, variable: str) -> str:
    """The order a bound claims in one variable."""
    return _related(bound, power(variable, float(bound.exponents[variable])))


def _related(bound: Bound, printed: str) -> str:
    relation = {"upper": "O", "lower": "Ω", "tight": "Θ", "equality": "="}[bound.tag]
    return printed if relation == "=" else f"{relation}({printed})"


def times(constant: float, variable: str, exponent: float) -> str:
    """A constant times a power: ``3·α²``."""
    return f"{constant:.6g}" if exponent == 0 else f"{constant:.6g}·{power(variable, exponent)}"


def power(variable: str, exponent: float) -> str:
    """A power in print: α², N_g⁻¹, α^0.5, or 1."""
    name = symbol(variable)
    return raised(name, exponent) if exponent == int(exponent) else f"{name}^{exponent:g}"


def by_formulas(rate: RateEvidence) -> str:
    """Of a program that is not the reference, what is exact is the formulas."""
    return "By the formulas " if rate.held_at else ""


def where_held(rate: RateEvidence) -> str:
    """Where such a program was asked, and no further."""
    if not rate.held_at:
        return ""
    ends = f"{symbol(rate.variable)} from {max(rate.held_at):.3g} to {min(rate.held_at):.3g}"
    return f"; the program gives their values, up to rounding, at the {len(rate.held_at)} {ends} at which it was asked"


def whose(bound: CertifiedBound) -> str:
    """Which errors a proven bound is about."""
    if len(bound.certificates) > 1:
        return " and every allowed error"
    return "" if bound.worst_case or bound.side == "lower" else " with the errors spent here"
