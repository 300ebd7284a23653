"""F2CSA in PyTorch: the paper's Algorithms 1 and 2, every derivative by autograd.

It knows nothing of the suite; ``adapter.py`` beside it holds it against the claims. All tensors are doubles on the CPU:
the weights α⁻² and α⁻⁴ leave single precision no digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.autograd.functional import hessian

NEWTON_STEPS = 50


def grad(function: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """Gradient of a scalar function, zero where it does not depend on its argument."""
    at = at.detach().requires_grad_()
    return torch.autograd.grad(function(at), at, materialize_grads=True)[0]


@dataclass(frozen=True)
class Bilevel:
    """Minimise f(x, y*(x)) where y*(x) minimises g(x, y) subject to h = A x - B y - b <= 0."""

    f: Callable[[Tensor, Tensor], Tensor]
    g: Callable[[Tensor, Tensor], Tensor]
    A: Tensor
    B: Tensor
    b: Tensor

    def h(self, x: Tensor, y: Tensor) -> Tensor:
        return self.A @ x - self.B @ y - self.b


def solve_qp(G: Tensor, c: Tensor, B: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """Minimise ½yᵀGy + cᵀy subject to By >= d: Lawson and Hanson's active sets on the dual ½‖Eλ‖² - rᵀλ, λ >= 0."""
    L = torch.linalg.cholesky(G)
    E = torch.linalg.solve_triangular(L, B.T, upper=False)
    free = -torch.cholesky_solve(c[:, None], L)[:, 0]
    r = d - B @ free
    lam, active = torch.zeros_like(r), []
    rounding = 1e-13 * (d.abs() + B.abs() @ free.abs() + 1)
    for _ in range(50 * (len(r) + 1)):
        violated = r - E.T @ (E @ lam)
        violated[active] = -torch.inf
        j = int((violated / rounding).argmax())
        if violated[j] <= rounding[j]:
            y = free + torch.cholesky_solve((B.T @ lam)[:, None], L)[:, 0]
            return y, lam
        lam = _enter(E, r, lam, active, j)
    raise RuntimeError("the active sets cycle")


def _enter(E: Tensor, r: Tensor, lam: Tensor, active: list[int], j: int) -> Tensor:
    """Add row j, dropping rows whose multiplier would turn negative on the way."""
    for _ in range(2 * len(lam) + 2):
        if j not in active:
            spanned = torch.linalg.lstsq(E[:, active], E[:, j]).solution if active else E[:0, j]
            apart = E[:, j] - E[:, active] @ spanned
            if apart.norm() > 1e-11 * E[:, j].norm():
                active.append(j)
                continue
            # The row depends on active ones: trade them in along the direction that leaves E λ as it is.
            step = torch.zeros_like(lam)
            step[active], step[j] = -spanned, 1.0
            if not (step < -1e-12).any():
                raise ValueError("no y satisfies the rows at this x")
        else:
            R = torch.linalg.qr(E[:, active], mode="r").R
            inner = torch.linalg.solve_triangular(R.T, r[active][:, None], upper=False)
            target = torch.zeros_like(lam)
            target[active] = torch.linalg.solve_triangular(R, inner, upper=True)[:, 0]
            if (target[active] >= 0).all():
                return target
            step = target - lam
        falling = [i for i in active if step[i] < 0 and (j not in active or lam[i] + step[i] < 0)]
        length, leaving = min((float(lam[i] / -step[i]), i) for i in falling)
        lam = (lam + length * step).clamp(min=0.0)
        lam[leaving] = 0.0
        active.remove(leaving)
    raise RuntimeError("the active sets cycle")


def lower_level(problem: Bilevel, x: Tensor) -> tuple[Tensor, Tensor]:
    """Line 3: (y*, λ*) by sequential quadratic programs; one program is exact where g is quadratic."""
    d = problem.A @ x - problem.b
    y, lam, moved = torch.zeros(problem.B.shape[1], dtype=x.dtype), torch.zeros_like(d), torch.inf
    for _ in range(NEWTON_STEPS):
        g = partial(problem.g, x)
        G, slope = hessian(g, y, vectorize=True), grad(g, y)
        y_next, lam = solve_qp(G, slope - G @ y, problem.B, d)
        y, before, moved = y_next, moved, float((y_next - y).norm())
        scale = 1 + float(y.norm())
        if moved <= 1e-15 * scale or before <= moved <= 1e-9 * scale:
            return y, lam
    raise RuntimeError("the quadratic programs do not settle: is g convex in y here?")


def activation(h: Tensor, lam: Tensor, h_width: float, lam_width: float) -> Tensor:
    """The smooth activation ρ = σ_h(h) σ_λ(λ)."""
    return ((h_width + h) / h_width).clamp(0, 1) * (lam / lam_width).clamp(0, 1)


@dataclass(frozen=True)
class PenaltyLagrangian:
    """L of Eq. (penaltylagrangian) in x and the shift w = y - ỹ*; ỹ*, λ̃ and ρ count as constants.

    In the shift, what α⁻² and α⁻⁴ amplify is small and known to all its digits. ``frozen`` keeps the multiplier out of
    the value term, so that α₁Aᵀλ̃ stays in the gradient in x; otherwise that term cancels.
    """

    problem: Bilevel
    alpha: float
    y_star: Tensor
    lam: Tensor
    rho: Tensor
    frozen: bool = False

    def __call__(self, x: Tensor, w: Tensor) -> Tensor:
        p, y = self.problem, self.y_star + w
        h_star = p.h(x, self.y_star)
        h = h_star - p.B @ w
        gap = p.g(x, y) - p.g(x, self.y_star) + self.lam @ (h if self.frozen else -p.B @ w)
        return p.f(x, y) + gap / self.alpha**2 + self.rho @ h**2 / (2 * self.alpha**4)

    def minimiser(self, x: Tensor) -> Tensor:
        """Line 5: the shift of the minimiser, by Newton's method until rounding wins."""
        w = torch.zeros_like(self.y_star)
        L, best, least = partial(self, x), w, torch.inf
        for _ in range(NEWTON_STEPS):
            slope = grad(L, w)
            if not slope.norm() < least:
                break
            best, least = w, slope.norm()
            # Cholesky fails, loudly, where L is not convex.
            root = torch.linalg.cholesky(hessian(L, w, vectorize=True))
            w = w - torch.cholesky_solve(slope[:, None], root)[:, 0]
        return best

    def gradient_x(self, x: Tensor, w: Tensor) -> Tensor:
        """Line 6 without noise: ∇_x L."""
        return grad(lambda x: self(x, w), x)


def outer_loop(
    oracle: Callable[[Tensor], Tensor], x: Tensor, D: float, eta: float, M: int, K: int, uniform: Callable[[], Tensor]
) -> tuple[Tensor, Tensor]:
    """Algorithm 2 on any number of runs at once, the rows of x: block means (K, ...) and iterates (T + 1, ...)."""
    step, path, means = torch.zeros_like(x), [x], []
    for _ in range(K):
        mean = torch.zeros_like(x)
        for _ in range(M):
            z = x + uniform() * step
            x = x + step
            step = step - eta * oracle(z)
            length = step.norm(dim=-1, keepdim=True)
            step = torch.where(length > D, step * (D / length), step)
            mean = mean + z / M
            path.append(x)
        means.append(mean)
    return torch.stack(means), torch.stack(path)
