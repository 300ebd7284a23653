"""What statements measure and assume, as formulas: strings in the claim files, read once into typed trees.

A tree is data. Its value at a place, exactly, as an order or in doubles, is :mod:`verify.truth.propositions`; its
sentence for the kernel is :mod:`verify.proofs.kernel`; how it is shown is :mod:`spec.formulas.display`.
"""

from __future__ import annotations

from spec.formulas.display import latex, plain_text
from spec.formulas.quantities import load_quantities
from spec.formulas.statements import choices_within, names_within, parse_formula, words_observed
from spec.formulas.tree import Node, Quantity

__all__ = [
    "Node",
    "Quantity",
    "choices_within",
    "latex",
    "load_quantities",
    "names_within",
    "parse_formula",
    "plain_text",
    "words_observed",
]
