"""The stochastic oracles' noise, as a specification."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import field_validator

from spec.errors import InvalidInputError
from spec.exact import Entry, ExactNumber
from spec.files import Frozen

NoiseModel = Literal["none", "additive", "matrix", "jump"]
NoisyGradient = Literal["f.x", "f.y", "g.x", "g.y"]


class Noise(Frozen):
    r"""How the sampled gradients scatter around the true ones.

    ``additive``: iid N(0, sigma^2) on every gradient component.
    ``matrix``: iid N(0, sigma^2) on every entry of the quadratic blocks (the paper's experiment), so the
    noise of :math:`\nabla_x g` is :math:`W_{xx} x + W_{xy} y` and differences shrink with distance (mean-square
    smooth).
    ``jump``: :math:`\sigma(1[y_1 > \zeta] - \Phi(y_1))` with :math:`\zeta \sim N(0,1)` on the first component of
    :math:`\nabla_x g` and :math:`\nabla_y g`: unbiased, bounded variance, *not* mean-square smooth in ``y``;
    the upper level's noise is additive.
    ``none``: exact gradients.

    Args:
        model: One of the four above.
        sigma_f: Scale of the upper-level noise, per component (or entry), >= 0.
        sigma_g: Scale of the lower-level noise, per component (or entry), >= 0.
        on: Which partial gradients are noisy. The paper's experiment has a noise-free ``g.x``.

    Source: Assumption "Stochastic Oracles"; section "Problem Setup" of the experiments.
    """

    model: NoiseModel = "none"
    sigma_f: ExactNumber = 0
    sigma_g: ExactNumber = 0
    on: tuple[NoisyGradient, ...] = ("f.x", "f.y", "g.x", "g.y")

    @field_validator("sigma_f", "sigma_g")
    @classmethod
    def _scale(cls, value: Entry) -> Entry:
        if value < 0:
            raise InvalidInputError("", "must be >= 0", str(value))
        return value

    @field_validator("on")
    @classmethod
    def _ordered(cls, value: tuple[NoisyGradient, ...]) -> tuple[NoisyGradient, ...]:
        return tuple(sorted(set(value)))

    def to_block(self) -> dict[str, Any]:
        """The block ``noise`` of a problem file; empty where there is no noise."""
        if self == Noise():
            return {}
        fields = self.model_dump()
        if self.on == Noise().on:
            fields.pop("on")
        return {"noise": fields}

    def scale(self, gradient: NoisyGradient) -> float:
        """Standard deviation per component of one partial gradient."""
        if self.model == "none" or gradient not in self.on:
            return 0.0
        return float(self.sigma_f if gradient.startswith("f") else self.sigma_g)
