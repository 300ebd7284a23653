"""The glue: hands the suite's problems and calls to ``f2csa_jax``, and its arrays back.

Run ``f2csa verify --subject examples.jax_subject.adapter:JaxSubject --reading repaired``.
"""

from __future__ import annotations

from functools import lru_cache

import jax.numpy as jnp
import numpy as np

from . import f2csa_jax as method
from .samples import noise_x


def quadratic(o):
    def value(a, x, y):
        xx, xy, yy, x0, y0 = (a[f"{o}_{block}"] for block in ("xx", "xy", "yy", "x", "y"))
        return x @ xx @ x / 2 + x @ xy @ y + y @ yy @ y / 2 + x0 @ x + y0 @ y

    return value


def holder_g(s, x, y):
    # So small that no digit sees it, and jax.grad has derivatives at the origin.
    r = jnp.sqrt(x * x + y * y + 1e-150)
    near = jnp.minimum(r, jnp.exp(-jnp.log(3 * s) / s))
    return (y * y / 2 + x * y * (1 + near**s * (1 + s - s * near / r)))[0]


QUADRATIC = method.Objectives(quadratic("f"), quadratic("g"))
HOLDER = method.Objectives(lambda _s, _x, y: y[0], holder_g)


@lru_cache(maxsize=64)
def model(problem):
    """(objectives, their data, rows); ``generated`` problems say what they are by ``quadratic``."""
    if problem.kind == "holder":
        rows = (getattr(problem.constraints, name).to_numpy() for name in ("A", "B", "b"))
        return HOLDER, float(problem.s), method.Rows(*map(jnp.asarray, rows))
    a = {name: jnp.asarray(block) for name, block in vars(getattr(problem, "quadratic", problem).arrays).items()}
    return QUADRATIC, a, method.Rows(a.pop("A"), a.pop("B"), a.pop("b"))


class JaxSubject:
    name, uses_draws = "jax", True

    def lower_level(self, problem, x):
        return method.lower_level(*model(problem), x)

    def activation(self, h, lam, h_width, lam_width):
        return method.activation(h, lam, h_width, lam_width)

    def penalty_minimiser(self, problem, x, call, tol):  # noqa: ARG002  # Newton's method ends below any tolerance
        stages, w = self._stages(problem, x, call)
        return stages.y_star + w

    def hypergradient(self, problem, x, call, rng):
        return self.hypergradient_samples(problem, x, call, rng, 1)[0]

    def hypergradient_samples(self, problem, x, call, rng, replications):
        (objectives, data, rows), shape = model(problem), (replications, call.parameters.N_g)
        stages, w = self._stages(problem, x, call)

        def normals(block, width):
            given = call.draws is not None and block in call.draws
            return (call.draws[block] if given else rng.standard_normal((*shape, width))).reshape(*shape, width)

        noise = noise_x(problem.noise, x, stages.y_star, stages.y_star + w, call, normals)
        mean = method.gradient_x(objectives, call.reading.dual_term == "frozen", data, rows, stages, x, w)
        return mean + np.broadcast_to(noise, (*shape, len(x))).mean(axis=1)

    def _stages(self, problem, x, call):
        """Lines 2 to 5: what L holds constant and the minimiser's shift, taken from the call where it gives them."""
        objectives, data, rows = model(problem)
        y_star, lam, rho = call.y_star, call.lam, call.rho
        if y_star is None or lam is None:
            found = self.lower_level(problem, x)
            y_star, lam = found[0] if y_star is None else y_star, found[1] if lam is None else lam
        if rho is None:
            h_width = call.parameters.h_width(call.reading, call.alpha**3, float(np.linalg.norm(rows.B, 2)))
            rho = method.activation(rows.h(x, y_star), lam, h_width, call.parameters.lam_width)
        stages = method.Stages(call.alpha, y_star, lam, rho)
        given = call.y_penalty is not None
        return stages, call.y_penalty - y_star if given else method.penalty_shift(objectives, data, rows, stages, x)

    def optimise(self, oracle, x0, p, rng):
        x_bar, path = self.optimise_runs(lambda z: oracle(z[0])[None], x0[None], p, rng, True)
        return {"x_out": x_bar[rng.integers(p.K), 0], "x_bar": x_bar[:, 0], "path": path[:, 0]}

    def optimise_runs(self, oracle, x0, p, rng, keep_path):
        def uniform():
            return rng.random((len(x0), 1))

        x_bar, path = method.outer_loop(lambda z: oracle(np.asarray(z)), x0, p.D, p.eta, p.M, p.K, uniform)
        return x_bar, path if keep_path else None
