"""What formulas decided, decided again from the claim's file and the problem."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from spec import Holder, Problem
from spec.atlas import find as find_instance
from spec.claims import find as find_claim
from spec.formulas import Node, plain_text, words_observed
from verify.evidence.model import RateEvidence
from verify.report.model import Result
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.deciding import REFUSED, in_the_limit
from verify.truth.propositions.sites import Site


def is_of_formula(result: Result, rate: RateEvidence) -> bool:
    """Whether a derived exponent is that of the statement's own formula."""
    node = _formula(result)
    if node is None or words_observed(node):
        return False
    return node.order is not None and rate.quantity == plain_text(node.args[0]) and not rate.points


def formula_rates(result: Result) -> Iterator[tuple[str, str]]:
    """Each exponent that a formula derives, derived again."""
    node = _formula(result)
    problem, x = _place(result)
    for rate in result.evidence:
        if not (isinstance(rate, RateEvidence) and rate.rung == "symbolic" and is_of_formula(result, rate)):
            continue
        if node is None or isinstance(problem, Holder):
            yield "exponent", f"of {rate.quantity} must be of a problem that its formula can be asked of"
            continue
        reading, sense = find_claim(result.claim).interpreted(result.reading)
        choices = {**reading.model_dump(), **sense.model_dump()}
        try:
            outcome = in_the_limit(node, Site(quadratic_of(problem), x), choices, rate.variable)
        except REFUSED as error:
            yield "exponent", f"of {rate.quantity} must have a value here; {error}"
            continue
        exponent = math.inf if outcome.exponent is None else float(outcome.exponent)
        if (rate.exponent, rate.coefficient) != (exponent, outcome.coefficient):
            yield "exponent", f"of {rate.quantity} must be {exponent:g}, as its formula has it"


def _formula(result: Result) -> Node | None:
    return find_claim(result.claim).assertion(result.reading).proposition


def _place(result: Result) -> tuple[Problem, tuple[Fraction, ...]]:
    instance = find_instance(result.instance)
    return instance.problem, tuple(map(Fraction, instance.x))
