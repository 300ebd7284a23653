"""Which of the lower level's optimality conditions pairs break that no known program gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spec import Quadratic
from verify.conformance.blame.accuracy.lower_residuals import residuals
from verify.conformance.probes.answers import StageAnswer

HOLDS = 1e-9
"""Part of what it adds up that a condition may leave."""
ALIKE = 1e3
"""By how many times that entries of two solvers may differ."""
FEWEST = 6
"""Pairs that are off without which nothing is said of all of them."""
LOOSE = 0.05
"""What a solver leaves at most that is on its way."""
MOST = 0.5
"""Share of all answers that such a solver leaves off at least."""
CONDITIONS = {
    "stationarity": "g_yy y + g_xyᵀx + g_y − Bᵀλ = 0", "rows": "h(x,y) ≤ 0", "signs": "λ ≥ 0",
    "complementarity": "λ = 0 where h(x,y) < 0",
}  # fmt: skip


def exchanged_multipliers(answers: Sequence[StageAnswer]) -> str:
    """That all pairs that are off have the right y and the right multipliers, but at other rows.

    Args:
        answers: Answers of a lower level.

    Returns:
        A sentence without a full stop; empty where nothing is off, or one of them otherwise.
    """
    off = [a for a in answers if isinstance(a.probe.problem, Quadratic) and not a.excess <= 1]
    if len(off) < FEWEST or not all(map(_is_exchanged, off)):
        return ""
    within = all(((a.got > 0) == (a.probe.expected > 0))[a.probe.problem.m :].all() for a in off)
    return (
        f"in all {len(off)} pairs of {len(answers)} that are off y* is right, and λ has the right entries at other rows"
        f"{', exchanged among the rows that bind' if within else ''}; which goes where follows no rule known here"
    )


def _is_exchanged(answer: StageAnswer) -> bool:
    m, size = answer.probe.problem.m, HOLDS * (1.0 + float(np.abs(answer.probe.expected).max()))
    far = np.abs(answer.got - answer.probe.expected)
    right, lam = np.sort(answer.probe.expected[m:]), np.sort(answer.got[m:])
    return bool((far[:m] <= size + answer.probe.tolerance[:m]).all() and (np.abs(right - lam) <= ALIKE * size).all())


def broken_conditions(answers: Sequence[StageAnswer]) -> str:
    """What the answers that are off break, how far, and what they keep; that a solver ends too soon, where it is small.

    Args:
        answers: Answers of a lower level.

    Returns:
        A sentence without a full stop; empty where nothing is off or every condition is met.
    """
    finite = [a for a in answers if isinstance(a.probe.problem, Quadratic) and np.isfinite(a.got).all()]
    off = [a for a in finite if not a.excess <= 1]
    if not off:
        return ""
    left = [residuals(answer.probe, answer.got) for answer in off]
    worst = {name: max(one[name] for one in left) for name in CONDITIONS}
    broken = {name: size for name, size in worst.items() if size > HOLDS}
    if not broken:
        return ""
    words = " and ".join(f"{CONDITIONS[name]} by up to {size:.1g}" for name, size in broken.items())
    held = [CONDITIONS[name] for name in CONDITIONS if name not in broken]
    keeps = f"; {' and '.join(held)} {'hold' if len(held) > 1 else 'holds'}" if held else ""
    soon = max(broken.values()) <= LOOSE and len(off) >= MOST * len(finite)
    why = ": all little, as of a solver that ends too soon, or of something small that is added" if soon else ""
    return (
        f"no program known here gives its pairs. The {len(off)} of {len(finite)} that are off break {words} of what "
        f"each adds up{keeps}{why}"
    )
