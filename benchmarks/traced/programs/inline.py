"""Each stage as one function, everything inline, in the words of the paper."""

import numpy as np

from verify import MissingCapabilityError


class Subject:
    """Dense numpy; the lower level by trying sets of binding rows, smallest first."""

    name = "inline"
    uses_draws = True

    def lower_level(self, problem, x):
        """The pair."""
        blocks = problem.arrays
        slope = blocks.g_xy.T @ x + blocks.g_y
        least = blocks.A @ x - blocks.b
        free = -np.linalg.solve(blocks.g_yy, slope)
        p = len(least)
        for mask in sorted(range(2**p), key=lambda number: bin(number).count("1")):
            rows = [row for row in range(p) if mask >> row & 1]
            picked = blocks.B[rows]
            reach = picked @ np.linalg.solve(blocks.g_yy, picked.T)
            if rows and np.linalg.cond(reach) > 1e11:
                continue
            push = np.linalg.solve(reach, least[rows] - picked @ free) if rows else np.zeros(0)
            y = free + np.linalg.solve(blocks.g_yy, picked.T @ push)
            if (push >= -1e-10).all() and (blocks.B @ y >= least - 1e-9).all():
                lam = np.zeros(p)
                lam[rows] = push
                return y, lam
        raise ValueError("no y meets the rows")

    def activation(self, h, lam, h_width, lam_width):
        """Two ramps."""
        near = np.minimum(1.0, np.maximum(0.0, 1.0 + h / h_width))
        pushing = np.minimum(1.0, np.maximum(0.0, lam / lam_width))
        return near * pushing

    def penalty_minimiser(self, problem, x, call, tol):
        """One Newton step from the given point: the penalty Lagrangian is quadratic."""
        blocks = problem.arrays
        one, two = 1 / call.alpha**2, 1 / call.alpha**4
        start, lam, rho = call.y_star, call.lam, call.rho
        gap = blocks.A @ x - blocks.B @ start - blocks.b
        upper = blocks.f_yy @ start + blocks.f_xy.T @ x + blocks.f_y
        lower = blocks.g_yy @ start + blocks.g_xy.T @ x + blocks.g_y - blocks.B.T @ lam
        slope = upper + one * lower - two * (blocks.B.T @ (rho * gap))
        curvature = blocks.f_yy + one * blocks.g_yy + two * (blocks.B.T * rho) @ blocks.B
        return start - np.linalg.solve(curvature, slope)

    def hypergradient(self, problem, x, call, rng):
        """Line 6, stages that are not given computed before."""
        blocks, alpha = problem.arrays, call.alpha
        start, lam = (call.y_star, call.lam) if call.lam is not None else self.lower_level(problem, x)
        rho = call.rho
        if rho is None:
            width = call.parameters.h_width(call.reading, alpha**3, np.linalg.norm(blocks.B, 2))
            gap_there = blocks.A @ x - blocks.B @ start - blocks.b
            rho = self.activation(gap_there, lam, width, call.parameters.lam_width)
        y = call.y_penalty
        if y is None:
            from dataclasses import replace

            y = self.penalty_minimiser(problem, x, replace(call, y_star=start, lam=lam, rho=rho), None)
        gap = blocks.A @ x - blocks.B @ y - blocks.b
        value = blocks.f_xx @ x + blocks.f_xy @ y + blocks.f_x
        value = value + (blocks.g_xy @ (y - start)) / alpha**2
        value = value + (blocks.A.T @ (rho * gap)) / alpha**4
        noise = problem.noise
        if noise.model == "none":
            return value
        if call.draws is None or noise.model not in ("additive", "matrix"):
            raise MissingCapabilityError("normals that are handed in, additive or matrix")
        spread = noise.scale("f.x")
        if noise.model == "matrix":
            spread = spread * np.linalg.norm(np.concatenate([x, y]))
            other = noise.scale("g.x") * np.linalg.norm(y - start) / alpha**2
            value = value + other * call.draws["g_x"].mean(axis=0)
        return value + spread * call.draws["f_x"].mean(axis=0)

    def optimise(self, oracle, x0, parameters, rng):
        """Algorithm 2."""
        x, step = np.array(x0, float), np.zeros(len(x0))
        path, means, block = [x.copy()], [], []
        for _ in range(parameters.T):
            z = x + rng.random() * step
            gradient = oracle(z)
            block.append(z)
            x = x + step
            path.append(x)
            wanted = step - parameters.eta * gradient
            length = np.linalg.norm(wanted)
            step = wanted if length <= parameters.D else wanted * (parameters.D / length)
            if len(block) == parameters.M:
                means.append(sum(block) / parameters.M)
                block = []
        return {"x_out": means[rng.integers(len(means))], "x_bar": np.array(means), "path": np.array(path)}
