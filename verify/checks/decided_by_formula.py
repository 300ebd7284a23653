"""Statements that their formulas decide: exactly, on every problem they are asked on, with no code of their own."""

from __future__ import annotations

from spec.claims import load_claims
from verify.checks.measuring.case import check
from verify.checks.measuring.formula_evidence import by_formula

for _claim in load_claims().values():
    for _full_id, _statement in _claim.statements():
        if _statement.asked_on:
            check(_full_id, instances=_statement.asked_on)(by_formula)
