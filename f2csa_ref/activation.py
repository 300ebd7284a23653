"""Smooth activation: how surely each row is active."""

from __future__ import annotations

import math

from spec.errors import InvalidInputError
from spec.exact import Vector


def ramp_h(h: Vector, h_width: float) -> Vector:
    """0 below ``-h_width``, 1 from 0 on, linear between; shape of ``h``."""
    return (1.0 + h / h_width).clip(0.0, 1.0)


def ramp_lam(lam: Vector, lam_width: float) -> Vector:
    """0 up to 0, 1 from ``lam_width`` on, linear between; shape of ``lam``."""
    return (lam / lam_width).clip(0.0, 1.0)


def activation_weights(h: Vector, lam: Vector, *, h_width: float, lam_width: float) -> Vector:
    r"""Weigh each constraint by how surely it is active.

    :math:`\rho_i = \sigma_h(h_i)\,\sigma_\lambda(\lambda_i)`, each factor a linear ramp from 0 to 1.

    Args:
        h: Constraint values ``A @ x - B @ y - b`` at the lower-level solution, shape ``(p,)``, in constraint
            units; feasible where ``h <= 0``.
        lam: Multiplier estimates, shape ``(p,)``, units of ``g`` per unit of ``h``.
        h_width: Ramp width below the boundary, constraint units (paper: tau * delta). Must be > 0.
        lam_width: Ramp width of the multiplier (paper: epsilon_lambda). Must be > 0.

    Returns:
        Weights in ``[0, 1]``, shape ``(p,)``.

    Raises:
        InvalidInputError: If a width is not strictly positive, or shapes differ.

    Source:
        "Smooth Activation Function". Differs from the paper: nothing; the width it leaves open is an argument.

    Example:
        >>> import numpy as np
        >>> activation_weights(np.array([-0.25, 0.0]), np.array([1.0, 0.05]), h_width=0.5, lam_width=0.1)
        array([0.5, 0.5])
    """
    for name, width in (("h_width", h_width), ("lam_width", lam_width)):
        if not (0 < width < math.inf):
            raise InvalidInputError(name, "must be > 0 and finite", width)
    if h.shape != lam.shape:
        raise InvalidInputError("lam", f"must have the shape of h, {h.shape}", lam.shape)
    return ramp_h(h, h_width) * ramp_lam(lam, lam_width)
