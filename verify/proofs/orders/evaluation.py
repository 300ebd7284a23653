"""Every inequality of the ledger held against numbers: named quantities on atlas problems, as alpha tends to 0.

Constants are left out of orders, so an inequality is broken where no constant saves it: its right-hand side is zero
and its left-hand side is not, or their ratio grows without end. The propagation of orders takes the inequalities for
granted; here they are put to the test.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import get_args

from spec import Quadratic
from spec.atlas import find
from spec.base_orders import BaseOrders, load_base_orders
from spec.claims import Claim, ReadingName, load_claims
from spec.files import Frozen
from verify.proofs.notation import expression
from verify.proofs.orders.expressions import parse, split
from verify.proofs.orders.ledger import OrderEntry, OrderLedger
from verify.proofs.orders.quantities import NoSizeError, Quantities

ATLAS = (
    "toy1", "two-of-three", "box-rational", "scalar-rational", "absolute-moving", "toy2", "kink", "crossing-kinks",
    "fixed-rows", "interior", "experiment-1d", "random-2x3x4", "moving-box",
)  # fmt: skip
"""Regular points with small exact data, A = 0 and A != 0, no active row up to several."""
ALPHAS = tuple(Fraction(1, 2**k) for k in (4, 6, 8))
GROWTH = 1.25
"""A ratio that grows by more over a quartering of alpha, twice, is a power of alpha above any constant."""
ZERO = 1e-12
"""Quantities in doubles that are zero by a formula come out below this share of 1."""


DEFINITION = "definition"
"""Step of a definition in :mod:`spec`'s orders, common to all proofs."""


class Evaluation(Frozen):
    """One inequality in numbers: where its ratio is largest, or where it is broken; no instance if it has no values.

    Args:
        ratio: Left side over right side at the smallest alpha (right over left for a lower bound).
        instances: How many problems it was evaluated on.
        missing: The first name without a value, where there is no instance, or that the quantity is zero everywhere.
    """

    step: str
    reading: ReadingName
    quantity: str
    relation: str
    bound_by: str
    holds: bool
    instances: int
    worst: str = ""
    ratio: float = 0.0
    why: str = ""
    missing: str = ""


def evaluations(
    *, claims: dict[str, Claim] | None = None, base: BaseOrders | None = None, names: Sequence[str] = ()
) -> tuple[Evaluation, ...]:
    """Every inequality of the proofs under both readings, and the definitions of what has a value of its own.

    ``names`` are atlas problems, those of :data:`ATLAS` if there are none.
    """
    results: list[Evaluation] = []
    for reading in get_args(ReadingName):
        ledger = OrderLedger(claims or load_claims(), base or load_base_orders(), reading)
        lines = [_Inequality.of(entry) for entry in ledger.entries if entry.inference.quantity]
        lines += [_Inequality(DEFINITION, name, text, lower=False) for name, text in ledger.definitions.items()]
        results += [_evaluation(ledger, line, names or ATLAS) for line in lines]
    return tuple(results)


class _Inequality:
    """One line: a quantity, its bound, from which side, and the inequalities without which it is not claimed."""

    def __init__(self, step: str, quantity: str, bound_by: str, *, lower: bool, provided: tuple[str, ...] = ()) -> None:
        self.step, self.quantity, self.bound_by, self.lower, self.provided = step, quantity, bound_by, lower, provided

    @classmethod
    def of(cls, entry: OrderEntry) -> _Inequality:
        inference, lower = entry.inference, entry.inference.relation == "lower"
        return cls(entry.full_id, inference.quantity, inference.bound_by, lower=lower, provided=inference.provided)


def _evaluation(ledger: OrderLedger, line: _Inequality, names: Sequence[str]) -> Evaluation:
    ratios: dict[str, list[float]] = {}
    missing = ""
    for name in names:
        values = _at(name, ledger.reading)
        try:
            ratios[name] = [_ratio(ledger, line, values, alpha) for alpha in ALPHAS]
        except NoSizeError as unknown:
            missing = missing or str(unknown)
    if not any(quotients[-1] for quotients in ratios.values()):
        # Zero is below everything: nothing was put to the test.
        ratios, missing = {}, missing or "zero on every problem"
    broken = next((name for name, quotients in ratios.items() if _is_broken(quotients)), None)
    worst = broken or max(ratios, key=lambda name: ratios[name][-1], default="")
    return Evaluation(
        step=line.step,
        reading=ledger.reading,
        quantity=ledger.symbol(line.quantity),
        relation="≥" if line.lower else "≤",
        bound_by=expression(line.bound_by, ledger.base.symbols),
        holds=broken is None,
        instances=len(ratios),
        worst=worst,
        ratio=ratios[worst][-1] if worst else 0.0,
        why="" if broken is None else _why(ratios[broken]),
        missing="" if ratios else ledger.symbol(missing),
    )


def _is_broken(ratios: Sequence[float]) -> bool:
    return math.isinf(ratios[-1]) or all(b > GROWTH * a > 0 for a, b in pairwise(ratios))


def _why(ratios: Sequence[float]) -> str:
    if math.isinf(ratios[-1]):
        return "the bound is zero and the quantity is not"
    return f"the ratio grows: {', '.join(f'{ratio:.3g}' for ratio in ratios)} at α = {', '.join(map(str, ALPHAS))}"


@lru_cache(maxsize=64)
def _at(name: str, reading: ReadingName) -> Quantities:
    instance = find(name)
    problem = getattr(instance.problem, "quadratic", instance.problem)
    assert isinstance(problem, Quadratic)  # of the list above
    return Quantities(problem, instance.x, reading)


def _ratio(ledger: OrderLedger, line: _Inequality, values: Quantities, alpha: Fraction) -> float:
    for text in line.provided:
        larger, smaller = (_expression(ledger, values, side, alpha) for side in split(text))
        if smaller > larger:
            raise NoSizeError(f"{text} does not hold")
    left = values.value(line.quantity, alpha)
    right = _expression(ledger, values, line.bound_by, alpha)
    top, bottom = (right, left) if line.lower else (left, right)
    if top <= ZERO:
        return 0.0
    return math.inf if bottom <= ZERO * top else top / bottom


def _expression(ledger: OrderLedger, values: Quantities, text: str, alpha: Fraction) -> float:
    return _number(parse(text), lambda name: _value(ledger, values, name, alpha))


def _value(ledger: OrderLedger, values: Quantities, name: str, alpha: Fraction) -> float:
    """What a name is on this problem: measured where it can be, else by its definition."""
    if name == "alpha":
        return float(alpha)
    try:
        return values.value(name, alpha)
    except NoSizeError:
        text = ledger.definitions.get(name) or ledger.base.links.get(name)
        if text is None:
            raise
        return _expression(ledger, values, text, alpha)


def _number(node: ast.expr, lookup: Callable[[str], float]) -> float:
    """A parsed expression in numbers; nothing over zero is infinite."""
    match node:
        case ast.Name(id=name):
            return lookup(name)
        case ast.Constant(value=int() as value):
            return float(value)
        case ast.UnaryOp(operand=operand):
            return -_number(operand, lookup)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _number(left, lookup), _number(right, lookup)
            match op:
                case ast.Add():
                    return a + b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b if b else math.inf
                case _:
                    return float(a**b) if a or b > 0 else math.inf
    raise AssertionError(ast.dump(node))  # the parser lets nothing else through
