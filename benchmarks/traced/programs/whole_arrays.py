"""Whole arrays: einsum and stacked systems, all candidate sets of rows at once, runs along a leading axis."""

import numpy as np

from verify import MissingCapabilityError


def saddle(data, x):
    """All sets of rows in one stack of systems, (2^p, m + p, m + p), and their right-hand sides."""
    p, m = data.B.shape
    masks = (np.arange(2**p)[:, None] >> np.arange(p)) & 1
    masks = masks.astype(float)
    matrices = np.zeros((len(masks), m + p, m + p))
    matrices[:, :m, :m] = data.g_yy
    matrices[:, :m, m:] = -data.B.T[None] * masks[:, None, :]
    matrices[:, m:, :m] = masks[:, :, None] * data.B[None]
    matrices[:, m:, m:] = np.einsum("si,ij->sij", 1.0 - masks, np.eye(p))
    linear = np.einsum("ij,i->j", data.g_xy, x) + data.g_y
    bound = np.einsum("ij,j->i", data.A, x) - data.b
    right = np.concatenate([np.broadcast_to(-linear, (len(masks), m)), masks * bound], axis=1)
    return matrices, right, bound


def ramps(h, lam, h_width, lam_width):
    """Both at once."""
    levels = np.stack([1.0 + h / h_width, lam / lam_width])
    return np.prod(np.clip(levels, 0.0, 1.0), axis=0)


class Subject:
    name = "whole-arrays"
    uses_draws = True

    def lower_level(self, problem, x):
        data = problem.arrays
        m = data.B.shape[1]
        matrices, right, bound = saddle(data, x)
        usable = np.linalg.cond(matrices) < 1e11
        both = np.linalg.solve(matrices[usable], right[usable][..., None])[..., 0]
        short = np.clip(bound - both[:, :m] @ data.B.T, 0.0, None).max(axis=1)
        below = np.clip(-both[:, m:], 0.0, None).max(axis=1)
        chosen = both[np.argmin(short + below)]
        return chosen[:m], chosen[m:]

    def activation(self, h, lam, h_width, lam_width):
        return ramps(h, lam, h_width, lam_width)

    def penalty_minimiser(self, problem, x, call, tol):
        data, alpha = problem.arrays, call.alpha
        powers = alpha ** np.array([0.0, -2.0, -4.0])
        curvatures = np.stack([data.f_yy, data.g_yy, np.einsum("ki,k,kj->ij", data.B, call.rho, data.B)])
        h = np.einsum("ij,j->i", data.A, x) - np.einsum("ij,j->i", data.B, call.y_star) - data.b
        of_f = np.einsum("ij,i->j", data.f_xy, x) + np.einsum("ij,j->i", data.f_yy, call.y_star) + data.f_y
        of_g = np.einsum("ij,i->j", data.g_xy, x) + np.einsum("ij,j->i", data.g_yy, call.y_star) + data.g_y
        of_lagrangian = of_g - np.einsum("ki,k->i", data.B, call.lam)
        of_rows = -np.einsum("ki,k,k->i", data.B, call.rho, h)
        slopes = np.stack([of_f, of_lagrangian, of_rows])
        hessian = np.tensordot(powers, curvatures, axes=1)
        slope = np.tensordot(powers, slopes, axes=1)
        return call.y_star - np.linalg.solve(hessian, slope)

    def hypergradient(self, problem, x, call, rng):
        data, alpha = problem.arrays, call.alpha
        y_star, lam = (call.y_star, call.lam) if call.lam is not None else self.lower_level(problem, x)
        if call.rho is None:
            width = call.parameters.h_width(call.reading, alpha**3, np.linalg.norm(data.B, 2))
            rho = ramps(data.A @ x - data.B @ y_star - data.b, lam, width, call.parameters.lam_width)
        else:
            rho = call.rho
        if call.y_penalty is None:
            from dataclasses import replace

            y = self.penalty_minimiser(problem, x, replace(call, y_star=y_star, lam=lam, rho=rho), None)
        else:
            y = call.y_penalty
        w = y - y_star
        h = np.einsum("ij,j->i", data.A, x) - np.einsum("ij,j->i", data.B, y) - data.b
        by_f = np.einsum("ij,j->i", data.f_xx, x) + np.einsum("ij,j->i", data.f_xy, y) + data.f_x
        by_g = np.einsum("ij,j->i", data.g_xy, w)
        by_rows = np.einsum("ki,k,k->i", data.A, rho, h)
        estimate = np.stack([by_f, by_g, by_rows]).T @ alpha ** np.array([0.0, -2.0, -4.0])
        if problem.noise.model == "none":
            return estimate
        if call.draws is None or problem.noise.model not in ("additive", "matrix"):
            raise MissingCapabilityError("normals that are handed in, additive or matrix")
        sizes = np.array([problem.noise.scale("f.x"), problem.noise.scale("g.x") * alpha**-2])
        if problem.noise.model == "matrix":
            sizes = sizes * np.array([np.linalg.norm(np.append(x, y)), np.linalg.norm(w)])
            return estimate + sizes[0] * call.draws["f_x"].mean(0) + sizes[1] * call.draws["g_x"].mean(0)
        return estimate + sizes[0] * call.draws["f_x"].mean(0)

    def optimise(self, oracle, x0, parameters, rng):
        K, M, T = parameters.K, parameters.M, parameters.T
        shares = rng.random(T)
        x, steps, z = np.tile(x0, (T + 1, 1)), np.zeros((T + 1, len(x0))), np.zeros((T, len(x0)))
        for t, share in enumerate(shares):
            z[t] = x[t] + share * steps[t]
            x[t + 1] = x[t] + steps[t]
            wanted = steps[t] - parameters.eta * oracle(z[t])
            steps[t + 1] = wanted / max(1.0, np.linalg.norm(wanted) / parameters.D)
        means = z.reshape(K, M, -1).mean(axis=1)
        return {"x_out": means[rng.integers(K)], "x_bar": means, "path": x}
