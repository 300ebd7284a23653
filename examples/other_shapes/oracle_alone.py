"""A program that is one function: the hypergradient, by general solvers, in the weights ``lam1`` and ``lam2``.

``solved_hypergradient`` is as people write it, from data of its own; below it is all that the suite needs.
Run ``f2csa conform --python examples.other_shapes.oracle_alone:mine``.
"""

import numpy as np
from scipy.optimize import minimize

from verify.subjects.adapters import Reparametrised


def solved_hypergradient(data, x, lam1, lam2):
    """Gradient in x of f + lam1 (g + λ'h - g*) + lam2/2 ‖h‖² over active rows, y from SLSQP and one linear solve."""
    A, B, b = data["A"], data["B"], data["b"]
    H, c = data["g_yy"], data["g_xy"].T @ x + data["g_y"]
    rows = {"type": "ineq", "fun": lambda y: b + B @ y - A @ x, "jac": lambda _: B}
    y_star = minimize(lambda y: y @ H @ y / 2 + c @ y, np.linalg.lstsq(B, A @ x - b, rcond=None)[0],
                      jac=lambda y: H @ y + c, constraints=rows, options={"ftol": 1e-15, "maxiter": 500}).x  # fmt: skip
    active = b + B @ y_star - A @ x < 1e-6
    B_I = B[active]
    # The minimiser once more, with the rows that it is on as equations: SLSQP leaves eight digits.
    k = B_I.shape[0]
    kkt = np.block([[H, -B_I.T], [B_I, np.zeros((k, k))]])
    y_star, lam = np.split(np.linalg.solve(kkt, np.concatenate([-c, (A @ x - b)[active]])), [len(c)])
    hessian = data["f_yy"] + lam1 * H + lam2 * B_I.T @ B_I
    right = data["f_xy"].T @ x + data["f_y"] + lam1 * (c - B_I.T @ lam) - lam2 * B_I.T @ (A @ x - b)[active]
    y = -np.linalg.solve(hessian, right)
    h = (A @ x - B @ y - b)[active]
    grad = data["f_xx"] @ x + data["f_xy"] @ y + data["f_x"] + lam1 * data["g_xy"] @ (y - y_star)
    return grad + A[active].T @ (lam1 * lam + lam2 * h)


def adapted(problem, x, lam1, lam2):
    return solved_hypergradient(vars(problem.arrays), x, lam1, lam2)


mine = Reparametrised(adapted, name="oracle-alone")
