"""A solver whose multipliers are those of a penalty: λ = c·max(h, 0) where g + c/2·‖max(h, 0)‖² is least.

So its y* is off by about ‖λ‖/c, however well it solves; ``Solver`` says so, ``Undeclared`` leaves it to be asked.
Run ``f2csa conform --python examples.other_shapes.penalty_multipliers:Solver``.
"""

import numpy as np

C = 1e7


def penalised(g_yy, slope, B, rhs):
    """The y where g_yy y + slope = c B'max(rhs - B y, 0), by Newton's method on the rows that are violated."""
    y, held = np.linalg.solve(g_yy, -slope), None
    for _ in range(100):
        violated = (rhs - B @ y > 0).tolist()
        if violated == held:
            return y, C * np.maximum(rhs - B @ y, 0.0)
        held, W = violated, B[violated]
        y = np.linalg.solve(g_yy + C * W.T @ W, C * W.T @ rhs[held] - slope)
    raise ArithmeticError("the rows that are violated do not settle")


class Undeclared:
    name = "penalty-multipliers"

    def lower_level(self, problem, x):
        a = problem.arrays
        return penalised(a.g_yy, a.g_xy.T @ x + a.g_y, a.B, a.A @ x - a.b)


class Solver(Undeclared):
    accuracy = 1e-7


class Halved(Solver):
    """As if the penalty were c·‖max(h, 0)‖², whose slope has a 2 that is forgotten."""

    def lower_level(self, problem, x):
        y, lam = super().lower_level(problem, x)
        return y, lam / 2
