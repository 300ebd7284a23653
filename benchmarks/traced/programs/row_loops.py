"""Loops over rows and samples, sums built up with +=, as a program moved over from C or Fortran does."""

import numpy as np

from verify import MissingCapabilityError


def one_row(data, i, x, y):
    value = -data.b[i]
    value += data.A[i] @ x
    value -= data.B[i] @ y
    return value


class Subject:
    name = "row-loops"
    uses_draws = True

    def lower_level(self, problem, x):
        data = problem.arrays
        p, m = data.B.shape
        linear = data.g_y.copy()
        for i in range(len(x)):
            linear += x[i] * data.g_xy[i]
        best, pair = np.inf, None
        for code in range(2**p):
            rows = [i for i in range(p) if code >> i & 1]
            k = len(rows)
            if k > m:
                continue
            matrix = np.zeros((m + k, m + k))
            right = np.zeros(m + k)
            matrix[:m, :m] = data.g_yy
            right[:m] = -linear
            for j, i in enumerate(rows):
                matrix[:m, m + j] = -data.B[i]
                matrix[m + j, :m] = data.B[i]
                right[m + j] = data.A[i] @ x - data.b[i]
            if np.linalg.matrix_rank(matrix) < m + k:
                continue
            both = np.linalg.solve(matrix, right)
            lam = np.zeros(p)
            for j, i in enumerate(rows):
                lam[i] = both[m + j]
            y = both[:m]
            worst = max(max(one_row(data, i, x, y), -lam[i], 0.0) for i in range(p))
            if worst < best:
                best, pair = worst, (y, lam)
        return pair

    def activation(self, h, lam, h_width, lam_width):
        rho = np.zeros(len(h))
        for i in range(len(h)):
            near = 1.0 + h[i] / h_width
            if near > 1.0:
                near = 1.0
            if near < 0.0:
                near = 0.0
            push = lam[i] / lam_width
            push = max(0.0, min(1.0, push))
            rho[i] = near * push
        return rho

    def penalty_minimiser(self, problem, x, call, tol):
        data, y = problem.arrays, call.y_star
        first, second = call.alpha**-2, call.alpha**-4
        slope = data.f_y + data.f_yy @ y
        slope += data.f_xy.T @ x
        inner = data.g_y + data.g_yy @ y
        inner += data.g_xy.T @ x
        matrix = data.f_yy + first * data.g_yy
        for i in range(len(call.rho)):
            inner -= call.lam[i] * data.B[i]
            slope -= second * call.rho[i] * one_row(data, i, x, y) * data.B[i]
            matrix = matrix + second * call.rho[i] * np.outer(data.B[i], data.B[i])
        slope += first * inner
        return y - np.linalg.solve(matrix, slope)

    def hypergradient(self, problem, x, call, rng):
        data = problem.arrays
        y_star, lam = call.y_star, call.lam
        if lam is None:
            y_star, lam = self.lower_level(problem, x)
        rho = call.rho
        if rho is None:
            width = call.parameters.h_width(call.reading, call.alpha**3, np.linalg.norm(data.B, 2))
            h = np.array([one_row(data, i, x, y_star) for i in range(len(lam))])
            rho = self.activation(h, lam, width, call.parameters.lam_width)
        y = call.y_penalty
        if y is None:
            from dataclasses import replace

            y = self.penalty_minimiser(problem, x, replace(call, y_star=y_star, lam=lam, rho=rho), None)
        total = data.f_x.copy()
        total += data.f_xx @ x
        total += data.f_xy @ y
        change = data.g_xy @ y
        change -= data.g_xy @ y_star
        total += change / call.alpha**2
        pull = np.zeros(len(x))
        for i in range(len(rho)):
            pull += rho[i] * one_row(data, i, x, y) * data.A[i]
        total += pull / call.alpha**4
        if problem.noise.model == "none":
            return total
        if call.draws is None or problem.noise.model not in ("additive", "matrix"):
            raise MissingCapabilityError("normals that are handed in, additive or matrix")
        size = problem.noise.scale("f.x")
        if problem.noise.model == "matrix":
            size *= np.sqrt(np.sum(x * x) + np.sum(y * y))
        drawn = np.zeros(len(x))
        for sample in call.draws["f_x"]:
            drawn += sample
        total += size * drawn / len(call.draws["f_x"])
        if problem.noise.model == "matrix":
            other = problem.noise.scale("g.x") * np.linalg.norm(y - y_star)
            again = np.zeros(len(x))
            for sample in call.draws["g_x"]:
                again += sample
            total += other * again / len(call.draws["g_x"]) / call.alpha**2
        return total

    def optimise(self, oracle, x0, parameters, rng):
        K, M, D = parameters.K, parameters.M, parameters.D
        path, means = np.zeros((K * M + 1, len(x0))), np.zeros((K, len(x0)))
        path[0] = x0
        step = np.zeros(len(x0))
        t = 0
        for k in range(K):
            total = np.zeros(len(x0))
            for _ in range(M):
                z = path[t] + rng.random() * step
                total += z
                gradient = oracle(z)
                path[t + 1] = path[t] + step
                step = step - parameters.eta * gradient
                size = np.sqrt(np.sum(step**2))
                if size > D:
                    step = step * (D / size)
                t += 1
            means[k] = total / M
        return {"x_out": means[rng.integers(K)], "x_bar": means, "path": path}
