"""The terms a wrong formula may contain: every product of the method's blocks that has the right shape."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

from spec.exact import Vector
from verify.conformance.blame.sums.call_points import CallPoint
from verify.conformance.blame.sums.right_sums import Space
from verify.method.terms import GROUPS, TERMS

Made = Callable[[CallPoint], Vector | None]


@dataclass(frozen=True, eq=False)
class BasisTerm:
    """One product, ``None`` where the sizes do not allow it; the rarer it is met, the larger its ``cost``."""

    name: str
    cost: float
    value: Made


@dataclass(frozen=True, eq=False)
class Power:
    """A factor in front of a term: a power of alpha, perhaps times or over the number of samples."""

    name: str
    cost: float
    value: Callable[[CallPoint], float]


_FOR: dict[Space, dict[str, tuple[tuple[str, float], ...]]] = {
    "x": {
        "x": (("f_xx", 0.0), ("g_xx", 0.0), ("", 0.1), ("f_xyᵀ", 0.5), ("g_xyᵀ", 0.5)),
        "y": (("f_xy", 0.0), ("g_xy", 0.0), ("f_xyᵀ", 0.3), ("g_xyᵀ", 0.3), ("g_xy g_yy⁻¹", 0.3),
              ("f_xy g_yy⁻¹", 0.5), ("f_yy", 0.5), ("g_yy", 0.5), ("", 0.4),
              ("(g_xy read column by column − g_xy)", 0.3), ("(f_xy read column by column − f_xy)", 0.4),
              ("(f_xyᵀ − f_xy where it is square)", 0.3), ("(g_xyᵀ − g_xy where it is square)", 0.3)),
        "rows": (("Aᵀ", 0.0), ("Bᵀ", 0.3), ("A", 0.3), ("", 0.5), ("g_xy g_yy⁻¹Bᵀ", 0.4), ("A₊ᵀ", 0.5),
                 ("(A − Aᵀ where A is square)", 0.3), ("(Bᵀ − Aᵀ where both are of one size)", 0.3)),
    },
    "y": {
        "x": (("f_xyᵀ", 0.0), ("g_xyᵀ", 0.0), ("f_xy", 0.3), ("g_xy", 0.3), ("", 0.4),
              ("(f_xy − f_xyᵀ where it is square)", 0.3), ("(g_xy − g_xyᵀ where it is square)", 0.3)),
        "y": (("f_yy", 0.0), ("g_yy", 0.0), ("", 0.1), ("f_xy", 0.5), ("g_xy", 0.5)),
        "rows": (("Bᵀ", 0.0), ("Aᵀ", 0.3), ("B", 0.3), ("", 0.5), ("B₊ᵀ", 0.5),
                 ("(B − Bᵀ where B is square)", 0.3), ("(Aᵀ − Bᵀ where both are of one size)", 0.3)),
    },
}  # fmt: skip
"""For each space, the matrices in front of vectors of each kind, with the cost of each."""
_WEIGHED = {"Aᵀ": 1.0, "Bᵀ": 1.0, "A": 0.0, "B": 0.0} | {
    name: 0.0 for space in _FOR for name, _ in _FOR[space]["rows"] if " where " in name
}
"""Matrices with row weights; with 0 only plain ones and ρ."""


def _product(space: Space, kind: str, matrix: str, vector: str, weight: str | None = None) -> Made:
    of_vector = TERMS[kind][vector].formula
    of_weight = TERMS["weights"][weight].formula if weight else ""
    of_matrix = TERMS["matrix"][matrix].formula if matrix else ""

    def made(c: CallPoint) -> Vector | None:
        size = len(c.x) if space == "x" else len(c.y)
        values = c.value(of_vector)
        if of_weight:
            values = c.value(of_weight) * values
        if of_matrix:
            M = c.value(of_matrix)
            if M.shape != (size, len(values)):
                return None
            values = M @ values
        return values if len(values) == size else None

    return made


def _spelt(matrix: str, vector: str, weight: str | None) -> str:
    if weight:
        vector = f"({weight}∘{vector})" if vector != "1" else weight
    elif vector.startswith(("h(", "max", "min", "∇", "sign", "B(")) and matrix:
        vector = f"·{vector}"
    spaced = matrix and vector[0] not in "(·|λρ" and matrix[-1] not in "ᵀ"
    return f"{matrix}{' ' if spaced else ''}{vector}" if matrix else vector


@lru_cache(maxsize=2)
def basis(space: Space) -> tuple[BasisTerm, ...]:
    """All terms with values in a space, the most usual ones first."""
    return tuple(sorted(_all_terms(space), key=lambda term: term.cost))


def _all_terms(space: Space) -> Iterator[BasisTerm]:
    yield from composites(space)
    for kind, matrices in _FOR[space].items():
        for matrix, dear in matrices:
            for vector, (cost, _) in TERMS[kind].items():
                # Blocks themselves are as usual as any product.
                dear_here = 0.0 if not matrix and vector.startswith(("f_", "g_")) else dear
                weights: tuple[str | None, ...] = (None,)
                if matrix in _WEIGHED:
                    weights = tuple(TERMS["weights"]) if _WEIGHED[matrix] else ("ρ", "")
                for weight in weights:
                    more = TERMS["weights"][weight].cost if weight is not None else 0.0
                    value = _product(space, kind, matrix, vector, weight or None)
                    yield BasisTerm(_spelt(matrix, vector, weight or None), 0.1 + dear_here + cost + more, value)


def composites(space: Space) -> Iterator[BasisTerm]:
    """Whole groups of the formula, at either y, and with their entries in another order or of another sign."""
    groups = GROUPS[space]
    for name, (cost, formula) in groups.items():
        yield BasisTerm(name, cost, partial(CallPoint.value, formula=formula))
    for how, (cost, change) in TERMS["entries"].items():
        for name, (_, formula) in groups.items():
            yield BasisTerm(how.format(name), cost + 0.2, partial(CallPoint.value, formula=changed(change, formula)))


def changed(change: str, formula: str) -> str:
    """The formula of a vector whose entries are changed."""
    return re.sub(r"\bv\b", f"({formula})", change)


DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Superscripts for signs and digits."""
HIGHEST = 8
"""Highest power of alpha and of its inverse that is looked for."""


@lru_cache(maxsize=1)
def powers() -> tuple[Power, ...]:
    """Factors in front of terms, the most usual ones first."""
    usual = {0: "", -2: "α₁", -4: "α₂", 1: "α"}
    factors = []
    for k in sorted(range(-HIGHEST, HIGHEST + 1), key=lambda k: (k not in usual, abs(k))):
        name = usual.get(k, f"α{str(k).translate(DIGITS)}")
        factors.append(Power(name, 0.0 if k in usual else 0.1, _alpha_to(k, 0)))
    for k in (0, -2, -4):
        factors.append(Power("N_g" + (f"·{usual[k]}" if usual[k] else ""), 0.2, _alpha_to(k, 1)))
        factors.append(Power((usual[k] or "1") + "/N_g", 0.2, _alpha_to(k, -1)))
    return tuple(factors)


def _alpha_to(k: int, samples: int) -> Callable[[CallPoint], float]:
    return lambda c: float(c.alpha**k * float(c.N_g) ** samples)
