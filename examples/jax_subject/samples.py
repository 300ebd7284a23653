"""Noise of the sampled gradients in x, as the problem's noise model says, from standard normals."""

from __future__ import annotations

import numpy as np
from jax.scipy.special import ndtr


def length(*vectors):
    return np.linalg.norm(np.concatenate(vectors))


def difference_of_g(noise, x, y_star, y, common, normals):
    """Noise of ∇_x g(x, y) - ∇_x g(x, y*) for scale 1, shape (..., n)."""
    n = len(x)
    if noise.model == "jump":
        thresholds = normals("g_x", 1)
        others = thresholds if common else normals("g_x_star", 1)
        here, there = ((v[0] > t) - float(ndtr(v[0])) for v, t in ((y, thresholds), (y_star, others)))
        return (here - there) * np.eye(n)[0]
    z = normals("g_x", n)
    # A matrix of iid normals times v is ‖v‖ z; the same matrix at both points sees y - y* alone.
    sizes = (length(x, y), length(x, y_star), length(y - y_star)) if noise.model == "matrix" else (1.0, 1.0, 0.0)
    return sizes[2] * z if common else sizes[0] * z - sizes[1] * normals("g_x_star", n)


def noise_x(noise, x, y_star, y, call, normals):
    """Noise of ∇_x f(x, y) + α₁(∇_x g(x, y) - ∇_x g(x, y*)); ``normals(block, width)`` has shape (..., width)."""
    common, total = call.reading.noise_pairing == "common", np.zeros(len(x))
    if noise.scale("f.x") > 0:
        total = noise.scale("f.x") * (length(x, y) if noise.model == "matrix" else 1.0) * normals("f_x", len(x))
    if noise.scale("g.x") == 0 or (common and noise.model == "additive"):
        return total  # the same draw at both points cancels
    return total + noise.scale("g.x") / call.alpha**2 * difference_of_g(noise, x, y_star, y, common, normals)
