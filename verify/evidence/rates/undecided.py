"""Why a rate is left undecided, and what would decide it: a smaller variable, more samples, more digits."""

from __future__ import annotations

import math

from verify.evidence.model import LETTERS, RateEvidence

SHOWN = 3
"""Local exponents quoted."""
LEAST_READ = 2
"""Local exponents without which there is no drift."""
LEAST_GROWTH = 1.1
"""Fewer samples more than these change nothing."""
TOO_MANY = 1e12
"""Samples that nobody draws."""


def undecided(rate: RateEvidence, claimed: float, resolution: float) -> str:
    """Of a rate whose interval lies on both sides of the claim's edge."""
    further = _further(rate)
    if not rate.settled:
        return f"{_bends(rate)}; {further} would tell."
    low, high = rate.interval
    if not low <= claimed <= high and max(abs(low - claimed), abs(high - claimed)) <= resolution:
        return f"the claim lies outside the interval, by less than the {resolution:g} of an order that would refute it."
    if rate.rung == "statistical" and rate.samples and high > low:
        room = abs(resolution - abs(rate.exponent - claimed))
        growth = ((high - low) / 2 / room) ** 2 if room > 0 else math.inf
        return f"the interval straddles the claim: {_samples(rate, growth)} would decide."
    if rate.floor is not None:
        at = f"{symbol(rate.variable)} = {rate.floor:.3g}"
        return f"the interval straddles the claim: more exact values from {at} on would tell."
    return f"the interval straddles the claim: {further} would tell."


def unread(rate: RateEvidence) -> str:
    """Of a rate that may be any."""
    if len(rate.local_exponents) < LEAST_READ:
        return f"Too few usable points to read an exponent of {rate.quantity}."
    return f"No exponent of {rate.quantity} can be read: {_bends(rate)}; {_further(rate)} would tell."


def hidden_bend(rate: RateEvidence, room: float, *, refutes: bool) -> str:
    """Of a rate that decides as a power law, while its noise may hide a bend; ``room`` is how far it may lead."""
    low, high = (rate.limit if refutes else rate.limit_missed) or rate.interval
    further = _further(rate)
    if math.isinf(low) and math.isinf(high):
        values = len({point.at for point in rate.points if point.usable})
        return f"{values} values of {symbol(rate.variable)} show no bend; {further} would tell."
    growth = max(2.0, ((high - low) / 2 / room) ** 2) if room > 0 else math.inf
    where = f"[{number(low)}, {number(high)}]"
    return f"the noise may hide a bend to a limit in {where}: {_samples(rate, growth)}, or {further}, would tell."


def shown_interval(low: float, high: float) -> str:
    """An interval in words where one end is open."""
    if math.isinf(low) and high < math.inf:
        return f"at most {number(high)} in the limit"
    if math.isinf(high) and low > -math.inf and low < math.inf:
        return f"at least {number(low)} in the limit"
    return f"interval [{number(low)}, {number(high)}]"


def read_over(rate: RateEvidence) -> str:
    """Where a sampled sweep was read, as no number of samples shows a crossing that lies far beyond its end."""
    used = [point.at for point in rate.points if point.usable]
    if rate.limit is None or not used:
        return ""
    return f" for {symbol(rate.variable)} {'≤' if used[-1] > used[0] else '≥'} {used[-1]:.3g}"


def no_order(rate: RateEvidence) -> str:
    """Of samples without a class of functions: whatever power they look like, the limit may have another."""
    return (
        f"looks like {read_power(rate)} on the range tried; no class of functions is known in which that tells an order"
    )


def has_formula(rate: RateEvidence) -> str:
    """How well samples have a formula's values."""
    used = [point.at for point in rate.points]
    ends = f"{symbol(rate.variable)} from {max(used):.3g} to {min(used):.3g}"
    return f"samples have its values, up to one constant, within {rate.agreement or 0.0:.2g} of them for {ends}"


def left_formula(rate: RateEvidence) -> str:
    """Of samples that do not have a formula's values, or do not show it yet."""
    order = f"the formula, of order {symbol(rate.variable)}^{rate.formula_order:g}"
    if rate.agreement is None:
        return f"samples leave the values of {order}, and what they have instead tells no order."
    near = f"within {rate.agreement:.2g} of them only"
    return f"samples have the values of {order}, {near}: {_samples(rate, 4.0)} would tell."


def has_no_order(rate: RateEvidence) -> bool:
    """Whether no function of the class that was to tell its order runs through its intervals."""
    return rate.class_orders is not None and rate.class_orders[0] > rate.class_orders[1]


def class_left(rate: RateEvidence) -> str:
    """What a class of rational functions leaves of the order."""
    low, high = rate.class_orders or rate.interval
    if has_no_order(rate):
        return f"is no function of the class that was to tell its order, {rate.function_class}"
    name = symbol(rate.variable)
    if math.isinf(low) or math.isinf(high):
        return (
            f"looks like {read_power(rate)}; that its function is of the class which tells its order is not tested yet"
        )
    return f"is of an order from {name}^{number(low)} to {name}^{number(high)}"


def no_limit(rate: RateEvidence) -> str:
    """Of an order that a class leaves open."""
    low, high = rate.class_orders or rate.interval
    if has_no_order(rate):
        return "nothing is known of its order."
    if math.isinf(low) or math.isinf(high):
        return f"{_samples(rate, 4.0)} would test it."
    return "a term of another order may be too small to be seen on the range tried."


NOT_SETTLED = "not settled"
HALFWAY = 0.05
"""An exponent this near to a half is told as that half."""


def rough(exponent: float) -> float:
    """An exponent that has not settled, to the whole or half number beside it."""
    half = round(2 * exponent) / 2
    return (half if abs(exponent - half) < HALFWAY else float(round(exponent))) + 0.0


def read_power(rate: RateEvidence) -> str:
    """``ε^-5.83 (interval [-5.94, -5.73])``, or of what has not settled ``about ε^-9, not settled``."""
    name = symbol(rate.variable)
    if not rate.settled and math.isfinite(rate.exponent):
        return f"about {name}^{rough(rate.exponent):g}, {NOT_SETTLED}"
    return f"{name}^{number(rate.exponent)} ({shown_interval(*rate.interval)})"


def number(value: float) -> str:
    """To hundredths, without a sign where these are none."""
    if math.isnan(value):
        return "?"
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.2f}"
    return text.removeprefix("-") if float(text) == 0 else text


def symbol(variable: str) -> str:
    """The paper's letter of a variable."""
    return LETTERS.get(variable, variable)


def _bends(rate: RateEvidence) -> str:
    last = ", ".join(number(value) for value in rate.local_exponents[-SHOWN:])
    return f"the sweep still bends: local exponents {last} move faster than they settle"


def _further(rate: RateEvidence) -> str:
    ats = [point.at for point in rate.points]
    return f"a {'larger' if ats and ats[-1] > ats[0] else 'smaller'} {symbol(rate.variable)}"


def _samples(rate: RateEvidence, growth: float) -> str:
    drawn = rate.samples or 0
    needed = drawn * max(LEAST_GROWTH, growth)
    if not needed < TOO_MANY:
        return f"more samples than {drawn:,} by orders"
    return f"about {math.ceil(needed):,} samples instead of {drawn:,}"
