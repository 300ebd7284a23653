"""The terms a wrong formula may contain: every product of the method's blocks that has the right shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.call_points import CallPoint
from verify.conformance.blame.right_sums import GROUPS, Space

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


def _positive(values: Vector) -> Vector:
    return np.maximum(values, 0.0)


ROW_VECTORS: dict[str, tuple[float, Callable[[CallPoint], Vector]]] = {
    "h(x,ỹ)": (0.0, lambda c: c.h),
    "h(x,ỹ*)": (0.1, lambda c: c.h_star),
    "λ̃": (0.0, lambda c: c.lam),
    "b": (0.0, lambda c: c.q.b),
    "Ax": (0.0, lambda c: c.q.A @ c.x),
    "Bỹ": (0.0, lambda c: c.q.B @ c.y),
    "Bỹ*": (0.1, lambda c: c.q.B @ c.y_star),
    "B(ỹ−ỹ*)": (0.15, lambda c: c.q.B @ (c.y - c.y_star)),
    "(Ax−b)": (0.1, lambda c: c.q.A @ c.x - c.q.b),
    "(Bỹ+b)": (0.15, lambda c: c.q.B @ c.y + c.q.b),
    "(Bỹ*+b)": (0.15, lambda c: c.q.B @ c.y_star + c.q.b),
    "(Ax−Bỹ)": (0.1, lambda c: c.q.A @ c.x - c.q.B @ c.y),
    "ρ": (0.2, lambda c: c.rho),
    "max(h(x,ỹ),0)": (0.1, lambda c: _positive(c.h)),
    "max(h(x,ỹ*),0)": (0.2, lambda c: _positive(c.h_star)),
    "min(h(x,ỹ),0)": (0.2, lambda c: np.minimum(c.h, 0.0)),
    "|h(x,ỹ)|": (0.2, lambda c: np.abs(c.h)),
    "h(x,ỹ)²": (0.2, lambda c: c.h**2),
    "sign h(x,ỹ)": (0.3, lambda c: np.sign(c.h)),
    "1": (0.2, lambda c: np.ones(len(c.lam))),
    "max(λ̃,0)": (0.3, lambda c: _positive(c.lam)),
    "h(x,ỹ) one row on": (0.3, lambda c: np.roll(c.h, 1)),
    "h(x,ỹ) one row back": (0.3, lambda c: np.roll(c.h, -1)),
    "h(x,ỹ) in reverse": (0.35, lambda c: c.h[::-1]),
    "(sum of ρ∘h(x,ỹ))": (0.3, lambda c: np.full(len(c.h), c.rho @ c.h)),
    "(sum of h(x,ỹ))": (0.4, lambda c: np.full(len(c.h), c.h.sum())),
    "(B read column by column − B)ỹ": (0.3, lambda c: (_misread(c.q.B) - c.q.B) @ c.y),
    "(A read column by column − A)x": (0.3, lambda c: (_misread(c.q.A) - c.q.A) @ c.x),
    "λ̃ one row on": (0.4, lambda c: np.roll(c.lam, 1)),
    "λ̃ one row back": (0.4, lambda c: np.roll(c.lam, -1)),
}
"""Vectors with an entry a row, with the cost of each."""


def _masked(which: slice) -> Callable[[CallPoint], Vector]:
    def made(c: CallPoint) -> Vector:
        mask = np.zeros(len(c.rho))
        mask[which] = 1.0
        return mask * c.rho

    return made


def _share(c: CallPoint) -> Vector:
    total = float(c.rho.sum())
    return c.rho / total if total else c.rho


ROW_WEIGHTS: dict[str, tuple[float, Callable[[CallPoint], Vector]]] = {
    "ρ": (0.0, lambda c: c.rho),
    "": (0.05, lambda c: np.ones(len(c.rho))),
    "ρ²": (0.1, lambda c: c.rho**2),
    "√ρ": (0.1, lambda c: np.sqrt(np.abs(c.rho))),
    "(1−ρ)": (0.1, lambda c: 1.0 - c.rho),
    "[ρ>0]": (0.2, lambda c: (c.rho > 0).astype(float)),
    "[ρ>½]": (0.2, lambda c: (c.rho > 0.5).astype(float)),
    "[h(x,ỹ)>0]": (0.25, lambda c: (c.h > 0).astype(float)),
    "[h(x,ỹ*)>0]": (0.25, lambda c: (c.h_star > 0).astype(float)),
    "ρ[h(x,ỹ*)>0]": (0.25, lambda c: c.rho * (c.h_star > 0)),
    "λ̃": (0.2, lambda c: c.lam),
    "ρ∘λ̃": (0.25, lambda c: c.rho * c.lam),
    "[λ̃>0]": (0.25, lambda c: (c.lam > 0).astype(float)),
    "ρ[λ̃>0]": (0.25, lambda c: c.rho * (c.lam > 0)),
    "ρ³": (0.3, lambda c: c.rho**3),
    "ρ one row on": (0.25, lambda c: np.roll(c.rho, 1)),
    "ρ one row back": (0.25, lambda c: np.roll(c.rho, -1)),
    "ρ in reverse": (0.3, lambda c: c.rho[::-1]),
    "(mean of ρ)": (0.3, lambda c: np.full(len(c.rho), c.rho.mean())),
    "(max of ρ)": (0.3, lambda c: np.full(len(c.rho), c.rho.max())),
    "(sum of ρ)": (0.3, lambda c: np.full(len(c.rho), c.rho.sum())),
    "(ρ over its sum)": (0.3, _share),
    "ρ of row 1 only": (0.3, _masked(slice(0, 1))),
    "ρ without row 1": (0.3, _masked(slice(1, None))),
    "ρ of the last row only": (0.3, _masked(slice(-1, None))),
    "ρ without the last row": (0.3, _masked(slice(0, -1))),
}
"""Weights of rows, with the cost of each."""

Y_VECTORS: dict[str, tuple[float, Callable[[CallPoint], Vector]]] = {
    "ỹ": (0.0, lambda c: c.y),
    "ỹ*": (0.0, lambda c: c.y_star),
    "(ỹ−ỹ*)": (0.1, lambda c: c.y - c.y_star),
    "1": (0.3, lambda c: np.ones(len(c.y))),
    "(ỹ one entry on)": (0.3, lambda c: np.roll(c.y, 1)),
    "(ỹ one entry back)": (0.3, lambda c: np.roll(c.y, -1)),
    "(ỹ in reverse)": (0.3, lambda c: c.y[::-1]),
    "|ỹ|": (0.4, lambda c: np.abs(c.y)),
    "max(ỹ,0)": (0.4, lambda c: _positive(c.y)),
    "Bᵀλ̃": (0.3, lambda c: c.q.B.T @ c.lam),
    "Bᵀ(ρ∘λ̃)": (0.4, lambda c: c.q.B.T @ (c.rho * c.lam)),
    "Bᵀ(ρ∘h(x,ỹ))": (0.4, lambda c: c.q.B.T @ (c.rho * c.h)),
    "∇_y f(x,ỹ)": (0.3, lambda c: c.q.f_xy.T @ c.x + c.q.f_yy @ c.y + c.q.f_y),
    "∇_y f(x,ỹ*)": (0.4, lambda c: c.q.f_xy.T @ c.x + c.q.f_yy @ c.y_star + c.q.f_y),
    "∇_y g(x,ỹ)": (0.3, lambda c: c.q.g_xy.T @ c.x + c.q.g_yy @ c.y + c.q.g_y),
    "∇_y g(x,ỹ*)": (0.3, lambda c: c.q.g_xy.T @ c.x + c.q.g_yy @ c.y_star + c.q.g_y),
    "f_y": (0.3, lambda c: c.q.f_y),
    "g_y": (0.3, lambda c: c.q.g_y),
}
"""Vectors of the size of y, with the cost of each."""

X_VECTORS: dict[str, tuple[float, Callable[[CallPoint], Vector]]] = {
    "x": (0.0, lambda c: c.x),
    "1": (0.3, lambda c: np.ones(len(c.x))),
    "(x one entry on)": (0.3, lambda c: np.roll(c.x, 1)),
    "(x one entry back)": (0.3, lambda c: np.roll(c.x, -1)),
    "(x in reverse)": (0.3, lambda c: c.x[::-1]),
    "f_x": (0.3, lambda c: c.q.f_x),
    "g_x": (0.3, lambda c: c.q.g_x),
}
"""Vectors of the size of x, with the cost of each."""

_MATRICES: dict[str, Callable[[CallPoint], Vector]] = {
    "f_xx": lambda c: c.q.f_xx, "g_xx": lambda c: c.q.g_xx, "f_xy": lambda c: c.q.f_xy, "g_xy": lambda c: c.q.g_xy,
    "f_xyᵀ": lambda c: c.q.f_xy.T, "g_xyᵀ": lambda c: c.q.g_xy.T, "f_yy": lambda c: c.q.f_yy,
    "g_yy": lambda c: c.q.g_yy, "g_xy g_yy⁻¹": lambda c: _through_lower(c),
    "Aᵀ": lambda c: c.q.A.T, "A": lambda c: c.q.A, "Bᵀ": lambda c: c.q.B.T, "B": lambda c: c.q.B,
    "f_xy g_yy⁻¹": lambda c: _times_inverse(c, c.q.f_xy),
    "g_xy g_yy⁻¹Bᵀ": lambda c: _through_lower(c) @ c.q.B.T,
    "(g_xy read column by column − g_xy)": lambda c: _misread(c.q.g_xy) - c.q.g_xy,
    "(f_xy read column by column − f_xy)": lambda c: _misread(c.q.f_xy) - c.q.f_xy,
    "A₊ᵀ": lambda c: np.abs(c.q.A.T), "B₊ᵀ": lambda c: np.abs(c.q.B.T),
}  # fmt: skip
"""Matrices that a vector may be multiplied by; a subscript + takes sizes of entries."""
_FOR: dict[Space, dict[str, tuple[tuple[str, float], ...]]] = {
    "x": {
        "x": (("f_xx", 0.0), ("g_xx", 0.0), ("", 0.1), ("f_xyᵀ", 0.5), ("g_xyᵀ", 0.5)),
        "y": (("f_xy", 0.0), ("g_xy", 0.0), ("f_xyᵀ", 0.3), ("g_xyᵀ", 0.3), ("g_xy g_yy⁻¹", 0.3),
              ("f_xy g_yy⁻¹", 0.5), ("f_yy", 0.5), ("g_yy", 0.5), ("", 0.4),
              ("(g_xy read column by column − g_xy)", 0.3), ("(f_xy read column by column − f_xy)", 0.4)),
        "rows": (("Aᵀ", 0.0), ("Bᵀ", 0.3), ("A", 0.3), ("", 0.5), ("g_xy g_yy⁻¹Bᵀ", 0.4), ("A₊ᵀ", 0.5)),
    },
    "y": {
        "x": (("f_xyᵀ", 0.0), ("g_xyᵀ", 0.0), ("f_xy", 0.3), ("g_xy", 0.3), ("", 0.4)),
        "y": (("f_yy", 0.0), ("g_yy", 0.0), ("", 0.1), ("f_xy", 0.5), ("g_xy", 0.5)),
        "rows": (("Bᵀ", 0.0), ("Aᵀ", 0.3), ("B", 0.3), ("", 0.5), ("B₊ᵀ", 0.5)),
    },
}  # fmt: skip
"""For each space, the matrices in front of vectors of each kind, with the cost of each."""
_KINDS = {"x": X_VECTORS, "y": Y_VECTORS, "rows": ROW_VECTORS}
_WEIGHED = {"Aᵀ": 1.0, "Bᵀ": 1.0, "A": 0.0, "B": 0.0}
"""Matrices with row weights; with 0 only plain ones and ρ."""


def _misread(matrix: Vector) -> Vector:
    return np.asarray(matrix.ravel().reshape(matrix.shape[::-1]).T)


def _times_inverse(c: CallPoint, matrix: Vector) -> Vector:
    return np.asarray(np.linalg.solve(c.q.g_yy, matrix.T).T)


def _through_lower(c: CallPoint) -> Vector:
    return _times_inverse(c, c.q.g_xy)


@cache
def _makers() -> dict[str, dict[str, Callable[[CallPoint], Vector]]]:
    vectors = {kind: {name: found[1] for name, found in table.items()} for kind, table in _KINDS.items()}
    return {"matrix": _MATRICES, **vectors, "weight": {name: found[1] for name, found in ROW_WEIGHTS.items()}}


def _looked_up(c: CallPoint, kind: str, name: str) -> Vector:
    key = f"{kind}:{name}"
    if key not in c.table:
        c.table[key] = _makers()[kind][name](c)
    value: Vector = c.table[key]
    return value


def _product(space: Space, kind: str, matrix: str, vector: str, weight: str | None = None) -> Made:
    def made(c: CallPoint) -> Vector | None:
        size = len(c.x) if space == "x" else len(c.y)
        values = _looked_up(c, kind, vector)
        if weight:
            values = _looked_up(c, "weight", weight) * values
        if matrix:
            M = _looked_up(c, "matrix", matrix)
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
            for vector, (cost, _) in _KINDS[kind].items():
                # Blocks themselves are as usual as any product.
                dear_here = 0.0 if not matrix and vector.startswith(("f_", "g_")) else dear
                weights: tuple[str | None, ...] = (None,)
                if matrix in _WEIGHED:
                    weights = tuple(ROW_WEIGHTS) if _WEIGHED[matrix] else ("ρ", "")
                for weight in weights:
                    more = ROW_WEIGHTS[weight][0] if weight is not None else 0.0
                    made = _product(space, kind, matrix, vector, weight or None)
                    yield BasisTerm(_spelt(matrix, vector, weight or None), 0.1 + dear_here + cost + more, made)


def composites(space: Space) -> Iterator[BasisTerm]:
    """Whole groups of the formula, at either y, and with their entries in another order or of another sign."""
    groups = GROUPS[space]
    for name, made in groups.items():
        yield BasisTerm(name, 0.0, made)
    for how, (cost, change) in ENTRY_CHANGES.items():
        for name, made in groups.items():
            yield BasisTerm(how.format(name), cost + 0.2, _changed(made, change))


def _changed(made: Callable[[CallPoint], Vector], change: Callable[[Vector], Vector]) -> Made:
    return lambda c: change(made(c))


def _without(which: int) -> Callable[[Vector], Vector]:
    def made(values: Vector) -> Vector:
        kept = values.copy()
        kept[which] = 0.0
        return kept

    return made


def _only(which: int) -> Callable[[Vector], Vector]:
    return lambda values: values - _without(which)(values)


ENTRY_CHANGES: dict[str, tuple[float, Callable[[Vector], Vector]]] = {
    "|{}|": (0.1, np.abs),
    "max({},0)": (0.1, _positive),
    "min({},0)": (0.2, lambda v: np.minimum(v, 0.0)),
    "{} one entry on": (0.1, lambda v: np.roll(v, 1)),
    "{} one entry back": (0.1, lambda v: np.roll(v, -1)),
    "{} in reverse": (0.1, lambda v: v[::-1]),
    "{} without its first entry": (0.1, _without(0)),
    "{} without its last entry": (0.1, _without(-1)),
    "the first entry of {}": (0.1, _only(0)),
    "the last entry of {}": (0.1, _only(-1)),
    "the sum of the entries of {} in every entry": (0.2, lambda v: np.full(len(v), v.sum())),
    "the mean of the entries of {} in every entry": (0.2, lambda v: np.full(len(v), v.mean())),
    "sign {}": (0.3, np.sign),
}
"""What may happen to a vector's entries."""


DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Superscripts for signs and digits."""
HIGHEST = 8
"""Highest power of alpha and of its inverse that is looked for."""


@lru_cache(maxsize=1)
def powers() -> tuple[Power, ...]:
    """Factors in front of terms, the most usual ones first."""
    usual = {0: "", -2: "α₁", -4: "α₂", 1: "α"}
    found = []
    for k in sorted(range(-HIGHEST, HIGHEST + 1), key=lambda k: (k not in usual, abs(k))):
        name = usual.get(k, f"α{str(k).translate(DIGITS)}")
        found.append(Power(name, 0.0 if k in usual else 0.1, _alpha_to(k, 0)))
    for k in (0, -2, -4):
        found.append(Power("N_g" + (f"·{usual[k]}" if usual[k] else ""), 0.2, _alpha_to(k, 1)))
        found.append(Power((usual[k] or "1") + "/N_g", 0.2, _alpha_to(k, -1)))
    return tuple(found)


def _alpha_to(k: int, samples: int) -> Callable[[CallPoint], float]:
    return lambda c: float(c.alpha**k * float(c.N_g) ** samples)
