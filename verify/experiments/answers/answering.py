"""The protocol: ``prepare`` once, then ``at(x)``: the value, a bound of its error where there is one, counted work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from f2csa_ref.objectives import QuadraticObjectives
from spec.exact import Vector

Effort = Mapping[str, float]
"""How much an entrant does, by the names of its own numbers; empty where it has none."""


class OutsideDomainError(ValueError):
    """A problem, or a point of it, that an entrant is not made for; the text says why, in words for a reader."""


@dataclass(frozen=True)
class Work:
    """What an answer, or a preparation, took; ``None`` where an entrant does not say.

    ``products`` are those of a vector with a dense m × m block; a solution with a factor is one. ``factorisations``
    are Cholesky factorisations of an m × m block, smaller ones by the cube of their share. ``draws`` are samples of a
    noisy gradient; ``bytes_read`` what products and solutions must read.
    """

    products: float | None = None
    factorisations: float | None = None
    draws: int = 0
    bytes_read: int | None = None

    def in_products(self, m: int) -> float | None:
        """All of it in products: a factorisation is m³/3 operations, a product 2m²."""
        if self.products is None or self.factorisations is None:
            return None
        return self.products + self.factorisations * m / 6


@dataclass(frozen=True)
class Answer:
    """One hypergradient (n,), a bound of its error (units of F per unit of x) where the entrant has one, its work."""

    hypergradient: Vector
    work: Work
    error_bound: float | None = None


class Answering(Protocol):
    """An entrant with a problem prepared."""

    preparation: Work

    def at(self, x: Vector, rng: np.random.Generator | None = None) -> Answer:
        """The answer at x, (n,); noise is drawn from ``rng`` where the problem has any and the method samples.

        Raises:
            OutsideDomainError: If the entrant has no answer at this point; what it says is told on.
        """
        ...


class Entrant(Protocol):
    """A method in one implementation.

    ``method`` is what is compared on equal answers, ``implementation`` what on equal time; ``version`` is of the
    program that computes. Two entrants of one method that are brought to one error differ in time alone.
    """

    @property
    def name(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def implementation(self) -> str: ...
    @property
    def version(self) -> str: ...

    def ladders(self, wanted: float, scale: float) -> tuple[tuple[Effort, ...], ...]:
        """What may reach a relative error: ladders by rising effort, each from its greatest effort to its least.

        Where an effort fails those after it on its ladder are not tried. ``scale`` is the gradient's length over
        ‖∇²_xy g‖/μ_g: a residual ∇_y of that size, left in y where it is minimised, makes an error as long as it.
        """
        ...

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> Answering:
        """Everything that stays the same, done once.

        Raises:
            OutsideDomainError: If the problem is not one for this entrant.
        """
        ...
