"""Noise of the sampled gradients in x, as the problem's noise model says, from standard normals."""

from __future__ import annotations

import torch


def length(*vectors):
    return torch.cat(vectors).norm()


def jump(v, threshold):
    """1[v₁ > ζ] - Φ(v₁), on the first component."""
    return (v[0] > threshold).double() - torch.special.ndtr(v[0])


def noise_x(noise, x, y_star, y, call, normals):
    """Noise of ∇_x f(x, y) + α₁(∇_x g(x, y) - ∇_x g(x, y*)); ``normals(block, width)`` has shape (..., width)."""
    n, matrix, common = len(x), noise.model == "matrix", call.reading.noise_pairing == "common"
    s_f, s_g, width = noise.scale("f.x"), noise.scale("g.x"), 1 if noise.model == "jump" else n
    upper = s_f * (length(x, y) if matrix else 1.0) * normals("f_x", n) if s_f > 0 else torch.zeros(n)
    if s_g == 0 or (common and noise.model == "additive"):
        return upper  # the same draw at both points cancels
    here = normals("g_x", width)
    there = here if common else normals("g_x_star", width)
    if noise.model == "jump":
        difference = (jump(y, here) - jump(y_star, there)) * torch.eye(n)[0]
    elif matrix and common:  # a matrix of iid normals times v is ‖v‖ z; the same one at both points sees y - y* alone
        difference = length(y - y_star) * here
    elif matrix:
        difference = length(x, y) * here - length(x, y_star) * there
    else:
        difference = here - there
    return upper + s_g / call.alpha**2 * difference
