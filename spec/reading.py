"""One complete resolution of the choices the paper's text leaves open."""

from __future__ import annotations

import tomllib
from typing import Any, Literal, NamedTuple, Self, get_args

from spec.errors import InvalidInputError
from spec.files import Frozen, package_text


class Reading(Frozen):
    """How the paper is read; each field is one open choice, its default the repaired one.

    Args:
        dual_term: Differentiating the penalty Lagrangian in x, is the value term ``-g(x, y*_hat)`` frozen, so
            that ``alpha_1 A' lam_hat`` stays, or does it carry the multiplier so that the term cancels?
        noise_pairing: Do ``g(x, y_hat)`` and ``g(x, y*_hat)`` of one sample see independent draws or the same?
        ramp_width: Is the activation's ramp tau * delta wide (delta^2), or Theta(delta)?
        inner_stop: Is the penalty minimiser stopped by distance delta, or by its gradient norm alpha?
        alpha_range: Must alpha be at least 2 C_f / mu_g, or at most sqrt(mu_g / (2 C_f))?
        primal_dual_sign: Is the primal step ``y - eta (grad g + B' lam)`` or with ``- B' lam``?
        inner_solver: Constant-step iteration, decreasing step with averaging, or one shared sample?
        outer_batch: ``N_g = sigma^2 / alpha^2`` samples an outer step, or a single one?

    Source: see :data:`CHOICES` for the place of each in the paper.
    """

    dual_term: Literal["frozen", "cancelled"] = "cancelled"
    noise_pairing: Literal["independent", "common"] = "common"
    ramp_width: Literal["tau-delta", "delta"] = "delta"
    inner_stop: Literal["distance", "gradient"] = "gradient"
    alpha_range: Literal["lower-bound", "upper-bound"] = "upper-bound"
    primal_dual_sign: Literal["plus", "minus"] = "minus"
    inner_solver: Literal["constant-step", "averaged", "shared-sample"] = "averaged"
    outer_batch: Literal["sigma2-over-alpha2", "single"] = "single"

    def choose(self, /, **choices: str) -> Self:
        """The same reading with some choices changed.

        Raises:
            InvalidInputError: If a field is unknown or a value not among its alternatives.
        """
        for name, value in choices.items():
            if name not in type(self).model_fields:
                raise InvalidInputError("reading", f"must be one of {', '.join(type(self).model_fields)}", name)
            allowed = alternatives(name)
            if value not in allowed:
                raise InvalidInputError(f"reading.{name}", f"must be one of {', '.join(allowed)}", value)
        return type(self).model_validate(self.model_dump() | choices)

    def choose_from_text(self, assignments: list[str]) -> Self:
        """The same reading after ``FIELD=VALUE`` assignments, as given on a command line."""
        chosen: dict[str, str] = {}
        for text in assignments:
            name, equals, value = text.partition("=")
            if not equals:
                raise InvalidInputError("--choose", "must have the form FIELD=VALUE", text)
            chosen[name.strip().replace("-", "_")] = value.strip()
        return self.choose(**chosen)

    def differences(self, other: Reading) -> dict[str, Any]:
        """Fields of this reading whose value differs from the other's."""
        mine, theirs = self.model_dump(), other.model_dump()
        return {name: value for name, value in mine.items() if theirs[name] != value}


def alternatives(field: str) -> tuple[str, ...]:
    """The values one choice can take."""
    return get_args(Reading.model_fields[field].annotation)


REPAIRED = Reading()
"""The choices under which the mathematics holds."""


class Choice(NamedTuple):
    """One open choice: where the paper leaves it open, and what hangs on it."""

    field: str
    location: str
    as_written: str
    repaired: str
    matters: str


CHOICES = tuple(Choice(**row) for row in tomllib.loads(package_text("choices.toml"))["choices"])
AS_WRITTEN = Reading.model_validate({choice.field: choice.as_written for choice in CHOICES})
"""The literal text."""
NAMED: dict[str, Reading] = {"as-written": AS_WRITTEN, "repaired": REPAIRED}
