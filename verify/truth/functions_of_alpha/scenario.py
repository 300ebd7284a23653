"""Which estimator is meant: dual term, activation, and errors spent on its stages as powers of alpha.

Plain data, so that a certificate checker can read it without any algebra library.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, PlainSerializer

from spec import InvalidInputError
from spec.files import Frozen
from spec.reading import DualTerm

Quantity: TypeAlias = Literal["bias", "T1", "T2", "T3", "solution-shift", "penalty-shift"]
"""``bias``: estimator minus gradient of F. ``T1``, ``T2``, ``T3``: its parts in the proof. ``solution-shift``: penalty
minimiser with inexact minus with exact multipliers. ``penalty-shift``: penalty minimiser minus y*."""

WITH_MAPS: tuple[DualTerm, ...] = ("map", "both-maps")
"""Dual terms that need the derivative of y*, or of λ* too."""

Exact = Annotated[Fraction, BeforeValidator(Fraction), PlainSerializer(str)]
"""A rational number, spelt ``"p/q"`` in files."""


class Error(Frozen):
    """An error ``direction * alpha**power``, exact."""

    power: int = Field(ge=0, le=40)
    direction: tuple[Exact, ...]


class Scenario(Frozen):
    """One estimator among those a reading allows.

    Args:
        rho: Activation weights computed from the inexact pair, shape (p,), >= 0; ``None`` means 1 on active rows.
        y_star_error: Errors of the lower-level solution, shape (m,) each, summed, as all errors are; ``lam_error``
            those of the multipliers, shape (p,), ``y_error`` of the penalty minimiser, shape (m,).
        gradient_error: Gradient of the penalty Lagrangian in y left where its minimisation stops, shape (m,); an error
            of the penalty minimiser said by what a gradient stop measures.

    Source: Algorithm 1, lines 3 to 6.
    """

    dual_term: DualTerm = "cancelled"
    rho: tuple[Exact, ...] | None = None
    y_star_error: tuple[Error, ...] = ()
    lam_error: tuple[Error, ...] = ()
    y_error: tuple[Error, ...] = ()
    gradient_error: tuple[Error, ...] = ()

    @property
    def errors(self) -> tuple[Error, ...]:
        """All errors spent."""
        return (*self.y_star_error, *self.lam_error, *self.y_error, *self.gradient_error)

    def fitted(self, m: int, p: int, active: Sequence[int]) -> Self:
        """The same scenario with its activation spelt out; refused if a vector does not fit or a weight is negative."""
        for name, length in (("y_star_error", m), ("lam_error", p), ("y_error", m), ("gradient_error", m)):
            for k, error in enumerate(getattr(self, name)):
                if len(error.direction) != length:
                    argument = f"scenario.{name}[{k}].direction"
                    raise InvalidInputError(argument, f"must have length {length}", len(error.direction))
        rho = self.rho if self.rho is not None else tuple(Fraction(int(i in active)) for i in range(p))
        if len(rho) != p or any(weight < 0 for weight in rho):
            raise InvalidInputError("scenario.rho", f"must have length {p} and entries >= 0", [str(w) for w in rho])
        return self.model_copy(update={"rho": rho})


def exact_error(power: int, direction: Sequence[Rational | float]) -> Error:
    """An error from any numbers; floats stand for the dyadic rationals they are."""
    return Error(power=power, direction=tuple(Fraction(value) for value in direction))
