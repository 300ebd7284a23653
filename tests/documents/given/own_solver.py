"""What a reader may have: the guide's solver with other parameters, in batches, and as a whole optimiser."""

import guide
import numpy as np


def hypergradient(problem, x, lam1, lam2):
    assert np.isclose(lam2, lam1**2)
    a, alpha = guide.arrays(problem), lam1**-0.5
    y_star, lam = guide.lower_level(a, x)
    rho = guide.activation(a.A @ x - a.B @ y_star - a.b, lam, 2 * alpha**3 * np.linalg.norm(a.B, 2), 0.1)
    return guide.gradient_x(a, x, alpha, y_star, lam, rho, guide.penalty_shift(a, x, alpha, y_star, lam, rho))


def estimate(problem, x, temperature):
    return hypergradient(problem, x, 1 / temperature, 1 / temperature**2)


def hypergradient_batch(problem, X, call, rng):
    return np.array([hypergradient(problem, x, call.alpha**-2, call.alpha**-4) for x in X])


def solve(problem, x0, D, eta, M, K, alpha, rng):
    x, step, path = x0, np.zeros_like(x0), [x0]
    for _ in range(K * M):
        z = x + rng.random() * step
        x = x + step
        step = step - eta * hypergradient(problem, z, alpha**-2, alpha**-4)
        step = step * min(1.0, D / max(np.linalg.norm(step), 1e-300))
        path.append(x)
    return {"path": np.array(path), "x_out": path[M // 2]}
