r"""Lower levels computed from the free minimiser and the binding rows, with some part of that formula changed.

Right is, with S the rows that bind, :math:`K = B_S g_{yy}^{-1} B_S^T` and :math:`y_0 = -g_{yy}^{-1}(g_{xy}^Tx + g_y)`:

.. math:: \lambda_S = K^{-1}(A_S x - b_S - B_S y_0), \qquad y = y_0 + g_{yy}^{-1} B_S^T \lambda_S.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from spec import Quadratic
from spec.exact import Vector
from verify.conformance.answers import Answer
from verify.conformance.blame.lower_fits import NOTHING, plain_factor
from verify.conformance.blame.near_one import is_almost_one, left_words
from verify.conformance.blame.ramps import number
from verify.conformance.probes import Probe

TERMS = ("A_S x", "b_S", "B_S y₀")
"""What multipliers are solved from, with the signs of the formula."""
PARTS = ("y₀", "g_yy⁻¹B_Sᵀλ_S")
"""What y is the sum of."""
LEFT = 1e-6
"""Part of an answer that may be left where factors are read off."""
FORMULA = "λ_S = K⁻¹(A_S x − b_S − B_S y₀) on the binding rows S, K = B_S g_yy⁻¹B_Sᵀ, and y = y₀ + g_yy⁻¹B_Sᵀλ_S"
"""The right formula, y₀ the minimiser of g without rows."""


@dataclass(frozen=True)
class ByParts:
    """A lower level whose formula has factors: of the terms of the multipliers, and of the parts of y."""

    terms: tuple[float, ...] = (1.0, 1.0, 1.0)
    parts: tuple[float, ...] = (1.0, 1.0)

    def answer(self, probe: Probe) -> Vector | None:
        """Its pair at a probe, y first; ``None`` on other than quadratic problems."""
        if not isinstance(probe.problem, Quadratic):
            return None
        from_terms, free, back = _columns(probe)
        lam = from_terms @ np.array(self.terms)
        y = self.parts[0] * free + self.parts[1] * (back @ lam)
        return np.concatenate([y, lam])

    @property
    def words(self) -> tuple[str, ...]:
        """Each factor that is not 1, in words."""
        pairs = [*zip(TERMS, self.terms, strict=True), *zip(PARTS, self.parts, strict=True)]
        return tuple(_factor_words(name, factor) for name, factor in pairs if factor != 1)

    @property
    def edits(self) -> int:
        """Single changes."""
        return max(1, len(self.words))

    @property
    def sentence(self) -> str:
        """What differs from the right formula."""
        return f"your lower level is {FORMULA}, but " + "; and ".join(self.words)


def _factor_words(name: str, factor: float) -> str:
    if factor == 0:
        return f"without {name}"
    if is_almost_one(factor):
        return left_words(factor, name)
    sign = "−" if factor == -1 else f"{number(factor)}·"
    return f"with {sign}{name} in place of {name}"


@lru_cache(maxsize=500)
def _columns(probe: Probe) -> tuple[Vector, Vector, Vector]:
    """Multipliers that each term alone gives (p, 3), the free minimiser (m,), and what multipliers do to y (m, p)."""
    a, x = probe.problem.arrays, probe.x
    m, p = len(a.g_y), len(a.b)
    S = np.flatnonzero(probe.expected[m:] > 0)
    free = -np.linalg.solve(a.g_yy, a.g_xy.T @ x + a.g_y)
    back = np.linalg.solve(a.g_yy, a.B.T)
    from_terms = np.zeros((p, 3))
    if len(S):
        W = a.B[S]
        right = np.stack([a.A[S] @ x, -a.b[S], -W @ free], axis=1)
        from_terms[S] = np.linalg.solve(W @ back[:, S], right)
    return from_terms, free, back


def factors_read_off(answers: Sequence[Answer], roughly: float) -> Iterator[ByParts]:
    """The formula whose factors suit all answers best, if they suit them at all."""
    lams, terms, ys, parts = [], [], [], []
    for answer in answers:
        m = answer.probe.problem.m
        from_terms, free, back = _columns(answer.probe)
        lams.append(answer.got[m:])
        terms.append(from_terms)
        ys.append(answer.got[:m])
        parts.append(np.stack([free, back @ answer.got[m:]], axis=1))
    of_lam = _suited(np.concatenate(terms), np.concatenate(lams), roughly)
    of_y = _suited(np.concatenate(parts), np.concatenate(ys), roughly)
    if of_lam is not None and of_y is not None and any((*of_lam, *of_y)):
        yield ByParts(of_lam, of_y)


def _suited(columns: Vector, values: Vector, roughly: float) -> tuple[float, ...] | None:
    factors = np.linalg.lstsq(columns, values)[0]
    allowed = max(LEFT, roughly) * (1.0 + float(np.abs(values).max(initial=0.0)))
    if not (np.abs(columns @ factors - values) <= allowed).all():
        return None
    return tuple(plain_factor(float(value), max(NOTHING, roughly)) for value in factors)
