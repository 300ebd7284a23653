"""Many short functions that share helpers; slack instead of h, equations multiplied by α⁴."""

from itertools import chain, combinations

import numpy as np

from verify import MissingCapabilityError


def row_values(d, x, y):
    return d.A @ x - d.B @ y - d.b


def partial_x(H_xx, H_xy, x, y):
    return H_xx @ x + H_xy @ y


def partial_y(H_xy, H_yy, x, y):
    return H_xy.T @ x + H_yy @ y


def gradient_f_y(d, x, y):
    return partial_y(d.f_xy, d.f_yy, x, y) + d.f_y


def gradient_g_y(d, x, y):
    return partial_y(d.g_xy, d.g_yy, x, y) + d.g_y


def kkt_matrix(d, rows):
    k = len(rows)
    return np.block([[d.g_yy, -d.B[rows].T], [d.B[rows], np.zeros((k, k))]])


def kkt_right(d, x, rows):
    return np.concatenate([-gradient_g_y(d, x, np.zeros(d.B.shape[1])), d.A[rows] @ x - d.b[rows]])


def candidates(d, x):
    p, m = d.B.shape
    for rows in chain.from_iterable(combinations(range(p), k) for k in range(min(p, m) + 1)):
        rows = list(rows)
        matrix = kkt_matrix(d, rows)
        if np.linalg.cond(matrix) < 1e11:
            yield rows, np.linalg.solve(matrix, kkt_right(d, x, rows))


def is_solution(d, x, y, pushes):
    return (pushes >= -1e-10).all() and (row_values(d, x, y) <= 1e-9).all()


def solve_lower(d, x):
    p, m = d.B.shape
    for rows, both in candidates(d, x):
        y, pushes = both[:m], both[m:]
        if is_solution(d, x, y, pushes):
            lam = np.zeros(p)
            lam[rows] = pushes
            return y, lam
    raise ValueError("infeasible")


def unit_ramp(t):
    return np.clip(t, 0.0, 1.0)


def weigh(h, lam, h_width, lam_width):
    return unit_ramp(1.0 + h / h_width) * unit_ramp(lam / lam_width)


def weighed_gram(d, rho):
    return d.B.T @ np.diag(rho) @ d.B


def matrix_times_alpha4(d, alpha, rho):
    return alpha**4 * d.f_yy + alpha**2 * d.g_yy + weighed_gram(d, rho)


def pull_of_rows(d, x, y, rho):
    return d.B.T @ (rho * row_values(d, x, y))


def slope_times_alpha4(d, x, alpha, y, lam, rho):
    inner = gradient_g_y(d, x, y) - d.B.T @ lam
    return alpha**4 * gradient_f_y(d, x, y) + alpha**2 * inner - pull_of_rows(d, x, y, rho)


def newton(d, x, alpha, y, lam, rho):
    move = np.linalg.solve(matrix_times_alpha4(d, alpha, rho), slope_times_alpha4(d, x, alpha, y, lam, rho))
    return y - move


def term_f(d, x, y):
    return partial_x(d.f_xx, d.f_xy, x, y) + d.f_x


def term_g(d, x, y, y_star):
    return partial_x(d.g_xx, d.g_xy, x, y) - partial_x(d.g_xx, d.g_xy, x, y_star)


def term_rows(d, x, y, rho):
    return (rho * row_values(d, x, y)) @ d.A


def line_6(d, x, alpha, y, y_star, rho):
    return term_f(d, x, y) + term_g(d, x, y, y_star) / alpha**2 + term_rows(d, x, y, rho) / alpha**4


def mean_draw(z):
    return np.add.reduce(z) / z.shape[0]


def length(*vectors):
    return np.sqrt(sum(v @ v for v in vectors))


def noise_of(noise, x, y, y_star, alpha, draws):
    if noise.model == "additive":
        return noise.scale("f.x") * mean_draw(draws["f_x"])
    first = noise.scale("f.x") * length(x, y) * mean_draw(draws["f_x"])
    second = noise.scale("g.x") * length(y - y_star) * mean_draw(draws["g_x"])
    return first + second / alpha**2


def shortened(v, longest):
    return v * min(1.0, longest / max(np.linalg.norm(v), 1e-300))


def next_step(step, gradient, q):
    return shortened(step - q.eta * gradient, q.D)


class Subject:
    name = "small-functions"
    uses_draws = True

    def lower_level(self, problem, x):
        return solve_lower(problem.arrays, x)

    def activation(self, h, lam, h_width, lam_width):
        return weigh(h, lam, h_width, lam_width)

    def penalty_minimiser(self, problem, x, call, tol):
        return newton(problem.arrays, x, call.alpha, call.y_star, call.lam, call.rho)

    def hypergradient(self, problem, x, call, rng):
        d = problem.arrays
        y_star, lam = solve_lower(d, x) if call.lam is None else (call.y_star, call.lam)
        rho = call.rho
        if rho is None:
            width = call.parameters.h_width(call.reading, call.alpha**3, np.linalg.norm(d.B, 2))
            rho = weigh(row_values(d, x, y_star), lam, width, call.parameters.lam_width)
        y = newton(d, x, call.alpha, y_star, lam, rho) if call.y_penalty is None else call.y_penalty
        estimate = line_6(d, x, call.alpha, y, y_star, rho)
        if problem.noise.model == "none":
            return estimate
        if call.draws is None or problem.noise.model not in ("additive", "matrix"):
            raise MissingCapabilityError("normals that are handed in, additive or matrix")
        return estimate + noise_of(problem.noise, x, y, y_star, call.alpha, call.draws)

    def optimise(self, oracle, x0, parameters, rng):
        x, step, asked, path = np.array(x0), np.zeros_like(x0), [], [np.array(x0)]
        for _ in range(parameters.T):
            asked.append(x + rng.uniform() * step)
            x, step = x + step, next_step(step, oracle(asked[-1]), parameters)
            path.append(x)
        blocks = np.array(asked).reshape(parameters.K, parameters.M, -1)
        means = blocks.mean(axis=1)
        return {"x_out": means[rng.integers(parameters.K)], "x_bar": means, "path": np.array(path)}
