"""The glue: hands the suite's problems and calls to ``f2csa_torch``, and its tensors back.

Run ``f2csa verify --subject examples.pytorch_subject.adapter:PyTorchSubject --reading repaired``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch

from .f2csa_torch import Bilevel, PenaltyLagrangian, activation, lower_level, outer_loop
from .samples import noise_x

torch.set_default_dtype(torch.float64)
T = torch.as_tensor


def holder(s):
    def g(x, y):
        # So small that no digit sees it, and autograd has derivatives at the origin.
        r = torch.sqrt(x * x + y * y + 1e-150)
        near = torch.clamp(r, max=math.exp(min(700.0, -math.log(3 * s) / s)))
        return (y * y / 2 + x * y * (1 + near**s * (1 + s - s * near / r)))[0]

    return g


def quadratic(xx, xy, yy, x0, y0):
    return lambda x, y: x @ xx @ x / 2 + x @ xy @ y + y @ yy @ y / 2 + x0 @ x + y0 @ y


@lru_cache(maxsize=64)
def bilevel(problem):
    """The suite's problem as functions of tensors; ``generated`` ones say what they are by ``quadratic``."""
    if problem.kind == "holder":
        rows = (torch.tensor(getattr(problem.constraints, name).to_numpy()) for name in ("A", "B", "b"))
        return Bilevel(lambda _, y: y[0], holder(float(problem.s)), *rows)
    a = {name: torch.tensor(block) for name, block in vars(getattr(problem, "quadratic", problem).arrays).items()}
    f, g = (quadratic(*(a[f"{o}_{block}"] for block in ("xx", "xy", "yy", "x", "y"))) for o in "fg")
    return Bilevel(f, g, a["A"], a["B"], a["b"])


class PyTorchSubject:
    name, uses_draws = "pytorch", True

    def lower_level(self, problem, x):
        return lower_level(bilevel(problem), T(x))

    def activation(self, h, lam, h_width, lam_width):
        return activation(T(h), T(lam), h_width, lam_width)

    def penalty_minimiser(self, problem, x, call, tol):  # noqa: ARG002  # Newton's method ends below any tolerance
        L, w = self._stages(problem, T(x), call)
        return L.y_star + w

    def hypergradient(self, problem, x, call, rng):
        return self.hypergradient_samples(problem, x, call, rng, 1)[0]

    def hypergradient_samples(self, problem, x, call, rng, replications):
        x, shape = T(x), (replications, call.parameters.N_g)
        L, w = self._stages(problem, x, call)

        def normals(block, width):
            given = call.draws is not None and block in call.draws
            return T(call.draws[block] if given else rng.standard_normal((*shape, width))).reshape(*shape, width)

        noise = noise_x(problem.noise, x, L.y_star, L.y_star + w, call, normals)
        return L.gradient_x(x, w) + noise.expand(*shape, len(x)).mean(dim=1)

    def _stages(self, problem, x, call):
        """Lines 2 to 5: the Lagrangian and the minimiser's shift, stages taken from the call where it gives them."""
        q = bilevel(problem)
        y_star, lam, rho, y = (v if v is None else T(v) for v in (call.y_star, call.lam, call.rho, call.y_penalty))
        if y_star is None or lam is None:
            found = lower_level(q, x)
            y_star, lam = found[0] if y_star is None else y_star, found[1] if lam is None else lam
        if rho is None:
            h_width = call.parameters.h_width(call.reading, call.alpha**3, float(torch.linalg.matrix_norm(q.B, 2)))
            rho = activation(q.h(x, y_star), lam, h_width, call.parameters.lam_width)
        L = PenaltyLagrangian(q, call.alpha, y_star, lam, rho, frozen=call.reading.dual_term == "frozen")
        return L, L.minimiser(x) if y is None else y - y_star

    def optimise(self, oracle, x0, p, rng):
        x_bar, path = self.optimise_runs(lambda z: oracle(z[0])[None], x0[None], p, rng, True)
        return {"x_out": x_bar[rng.integers(p.K), 0], "x_bar": x_bar[:, 0], "path": path[:, 0]}

    def optimise_runs(self, oracle, x0, p, rng, keep_path):
        def uniform():
            return T(rng.random((len(x0), 1)))

        x_bar, path = outer_loop(lambda z: T(oracle(z.numpy())), T(x0), p.D, p.eta, p.M, p.K, uniform)
        return x_bar, path if keep_path else None
