"""What can be said of the paper's experiments from their text and arithmetic alone; nothing is run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product

from flint import fmpq_mat

from spec import Quadratic
from spec.text.extract import load_extract
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.checks.measuring.extracted import orders_with
from verify.checks.measuring.formula_evidence import brought
from verify.truth.algebra.rationals import blocks, select
from verify.truth.geometry import quadratic_of

FAMILY = ("experiment-1d", "experiment-5d")
SECONDS = {"F2CSA": Fraction("7.7"), "DSBLO": Fraction("22.6"), "SSIGD": Fraction("22.0")}
"""Times printed for d = 4000."""
CROSSING, LARGEST = 1000, 4000
INPUTS = ("x_0", "T", "D", "eta", "delta_G", "alpha", "N_g")
"""What Algorithms 1 and 2 take, but for the problem and its constants."""
PRINTED = {"eta": Fraction("1e-5")}
"""Values of them in "Problem Setup"."""
UNSTATED = 6
"""How many the repaired statement names as missing."""


def ranks(problem: Quadratic) -> Iterator[tuple[int, int]]:
    """The number of active rows and their rank, on each face of [-1, 1]^m where some are."""
    rows = blocks(problem)
    for face in product((-1, 0, 1), repeat=problem.m):
        h = -1 * (rows.B * fmpq_mat(problem.m, 1, list(face))) - rows.b
        active = [i for i in range(problem.p) if h[i, 0] == 0]
        if active:
            yield len(active), select(rows.B, active).rank()


@check("convergence-experiment/box-licq", instances=FAMILY)
def box_licq(case: Case) -> Measurement:
    """The rank of the active rows on every face of the box, exactly."""
    return Measurement(brought(case, *ranks(quadratic_of(case.instance.problem)), rung="symbolic"))


P = ((0, 1), (0, 0))
"""The plainest matrix that is not symmetric."""
AT = ((1, 0), (0, 1))
"""x and y at which f is compared."""


@check("convergence-experiment/symmetry", instances=("experiment-5d",))
def symmetry(case: Case) -> Measurement:
    """The objective with P and with its symmetric part: both terms as written, the first alone repaired."""
    part = [[Fraction(P[i][j] + P[j][i], 2) for j in range(2)] for i in range(2)]
    x, y = AT
    values = [_form(y, matrix, y) / 2 + (_form(x, matrix, y) if case.as_written else 0) for matrix in (P, part)]
    return Measurement(brought(case, values, rung="symbolic"))


def _form(left: Iterable[int], matrix: Iterable[Iterable[int | Fraction]], right: Iterable[int]) -> Fraction:
    y = list(right)
    return sum((a * b * Fraction(v) for a, row in zip(left, matrix, strict=True) for v, b in zip(row, y, strict=True)),
               Fraction(0))  # fmt: skip


@check("convergence-experiment/parameters", instances=("experiment-5d",))
def parameters(case: Case) -> Measurement:
    """Inputs of the two algorithms for which no value is printed."""
    missing = [name for name in INPUTS if name not in PRINTED]
    predicted = 0 if case.as_written else UNSTATED
    quantity = f"inputs without a printed value ({', '.join(missing)})"
    return Measurement((compare(quantity, len(missing), "==", predicted, rung="cited"),))


def printed_ratios() -> dict[str, Fraction]:
    """Each baseline's printed time over F2CSA's."""
    return {name: SECONDS[name] / SECONDS["F2CSA"] for name in SECONDS if name != "F2CSA"}


def implied_gaps() -> dict[str, float]:
    """By how much the powers of d differ, if both costs are powers, equal at the crossing."""
    span = math.log(LARGEST / CROSSING)
    return {name: math.log(ratio) / span for name, ratio in printed_ratios().items()}


@check("scaling-experiment/printed-ratio", instances=("experiment-5d",))
def printed_ratio(case: Case) -> Measurement:
    """The farther of the two ratios from 3."""
    return Measurement(brought(case, [SECONDS[name] for name in ("DSBLO", "F2CSA", "SSIGD")], rung="symbolic"))


@check("scaling-experiment/implied-exponent", instances=("experiment-5d",))
def implied_exponent(case: Case) -> Measurement:
    """The gap of the powers, smallest as written, largest repaired."""
    gaps = implied_gaps()
    quantity = "gap of the powers of d between F2CSA and {}, by the printed numbers,"
    if case.as_written:
        name = min(gaps, key=gaps.__getitem__)
        evidence = compare(quantity.format(name), gaps[name], ">=", 1.0, rung="symbolic")
    else:
        name = max(gaps, key=gaps.__getitem__)
        evidence = compare(quantity.format(name), gaps[name], "<=", 0.8, rung="symbolic")
    return Measurement((evidence,), {f"{k} against F2CSA": v for k, v in gaps.items()})


DIMENSIONS = ("d", "n", "m")
"""Of the experiments, of x and of y."""


@check("scaling-experiment/validates-theory", instances=("experiment-5d",))
def validates_theory(case: Case) -> Measurement:
    """Orders that the paper's lemmas, theorems and proofs state in the dimension, by the extract of its source."""
    orders, stated = orders_with(load_extract(), DIMENSIONS)
    quantity = "orders in the dimension that lemmas, theorems and their proofs state"
    number = compare(quantity, len(orders), *((">=", 1) if case.as_written else ("==", 0)), rung="cited")
    enough = compare("orders that they state", stated, ">=", 2, rung="cited")
    return Measurement((number, enough), {f"line {one.line}": one.name or "an order" for one in orders[:4]})
