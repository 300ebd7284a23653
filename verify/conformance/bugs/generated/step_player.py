"""The plain implementation as a subject: it evaluates its formulas, whatever they have become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from f2csa_ref.lower_level.exact import solve_program
from spec import Noise, OuterParameters
from spec.exact import Vector
from verify.conformance.bugs.generated.method_steps import FORMULAS, Formulas, Procedure
from verify.subjects import Call

ITERATIONS = 8
"""Newton steps; one is enough where the gradient is affine, the others take back rounding or walk over kinks."""
SETTLED = 1e-15
"""Relative length of a Newton step that ends the solve."""
Space = dict[str, Any]


def norm(value: Any) -> float:
    """Euclidean length of a vector, largest singular value of a matrix."""
    return float(np.linalg.norm(value, 2))


def misread(matrix: Any) -> Any:
    """A matrix whose entries are read column by column where they lie row by row; square ones are transposed."""
    return np.asarray(matrix).ravel().reshape(matrix.shape[::-1]).T


def binding(hessian: Any, slope: Any, rows: Any, least: Any) -> Any:
    """Which rows of ``rows @ y >= least`` hold with equality, and push, at the minimum; shape (p,)."""
    scale = float(np.linalg.norm(hessian, 2))
    size = float(np.linalg.norm(slope)) / scale + float(np.abs(least).max(initial=0.0))
    _, lam = solve_program(hessian / scale, slope / scale, rows, least, size=size or 1.0, x=slope)
    return lam > 0


def spread(values: Any, where: Any) -> Any:
    """Values put back to their rows, zeros elsewhere."""
    whole = np.zeros(len(where))
    whole[where] = values
    return whole


FUNCTIONS: Space = {
    "norm": norm, "misread": misread, "binding": binding, "spread": spread, "solve": np.linalg.solve,
    "clip": np.clip, "maximum": np.maximum, "minimum": np.minimum, "where": np.where, "abs": np.abs, "sqrt": np.sqrt,
    "exp": np.exp, "zeros": np.zeros_like, "ones": np.ones_like, "sum": np.sum, "len": len,
    "norm_1": lambda v: float(np.abs(v).sum()), "norm_max": lambda v: float(np.abs(v).max(initial=0.0)),
    "frobenius": lambda v: float(np.sqrt((np.asarray(v) ** 2).sum())),
    "shifted": lambda v: np.roll(v, 1), "joined": lambda x, y: np.concatenate([x, y]),
}  # fmt: skip
"""What a formula may call; a procedure adds its own."""


class PlainMethod:
    """All stages by formulas; right as it stands."""

    name = "plain-method"
    uses_draws = True

    def __init__(self, formulas: Formulas | None = None) -> None:
        self.code = {
            procedure: [(name, compile(text, f"<{name}>", "eval")) for name, text in steps.items()]
            for procedure, steps in (formulas or FORMULAS).items()
        }
        self.memory: dict[tuple[Any, ...], Any] = {}
        self.known: dict[int, tuple[Any, Space]] = {}
        self.globals: Space = FUNCTIONS | {"previous": self.previous, "first": self.first}

    def previous(self, key: str, value: Any) -> Any:
        """The value of the call before, where that had the same shape."""
        slot = ("previous", key, np.shape(value))
        answer = self.memory.get(slot, value)
        self.memory[slot] = np.array(value)
        return answer

    def first(self, key: str, value: Any) -> Any:
        """The first value of this shape, kept for ever."""
        return self.memory.setdefault(("first", key, np.shape(value)), np.array(value))

    def lower_level(self, problem: Any, x: Vector) -> Any:
        space = self._run("lower_level", self._blocks(problem) | {"x": x})
        return space["y_star"], space["lam"]

    def activation(self, h: Vector, lam: Vector, h_width: float, lam_width: float) -> Any:
        return self._run("activation", {"h": h, "lam": lam, "h_width": h_width, "lam_width": lam_width})["rho"]

    def penalty_minimiser(self, problem: Any, x: Vector, call: Call, tol: float | None) -> Any:  # noqa: ARG002  # solved to rounding
        _require_repaired(call)
        given = {"x": x, "y_star": call.y_star, "lam": call.lam, "rho": call.rho, "alpha": call.alpha}
        return self._minimised(self._blocks(problem) | given)

    def hypergradient(self, problem: Any, x: Vector, call: Call, rng: Any) -> Any:
        return self._sampled(self._estimated(problem, x, call), problem, call, rng)

    def hypergradient_samples(self, problem: Any, x: Vector, call: Call, rng: Any, replications: int) -> Any:
        space = self._estimated(problem, x, call)
        return np.array([self._sampled(dict(space), problem, call, rng) for _ in range(replications)])

    def optimise(self, oracle: Callable[[Vector], Vector], x0: Vector, parameters: OuterParameters, rng: Any) -> Any:
        q, x = parameters, np.array(x0)
        space: Space = {"D": q.D, "eta": q.eta, "M": q.M, "K": q.K, "x": x, "step": 0 * x, "total": 0 * x}
        drawn = {"uniform": rng.random, "index": rng.integers, "oracle": lambda z: np.asarray(oracle(z))}
        path, means = [x], []
        for _ in range(q.K):
            for _ in range(q.M):
                self._run("step", space, drawn)
                space |= {"x": space["x_next"], "step": space["step_next"], "total": space["total_next"]}
                path.append(space["x"])
            self._run("block", space, drawn)
            space["total"] = space["total_next"]
            means.append(space["mean"])
        space["x_bar"] = np.array(means)
        self._run("output", space, drawn)
        return {"x_out": space["x_out"], "x_bar": space["x_bar"], "path": np.array(path)}

    def _run(self, procedure: Procedure, space: Space, more: Mapping[str, Any] | None = None) -> Space:
        names = self.globals if more is None else {**self.globals, **more}
        for name, code in self.code[procedure]:
            space[name] = eval(code, names, space)
        return space

    def _blocks(self, problem: Any) -> Space:
        """Blocks of a problem by name; the problem is kept beside them, so that its id stays its own."""
        if id(problem) not in self.known:
            arrays = getattr(problem, "quadratic", problem).arrays
            self.known[id(problem)] = problem, {field.name: getattr(arrays, field.name) for field in fields(arrays)}
        return dict(self.known[id(problem)][1])

    def _minimised(self, space: Space) -> Any:
        """Where the gradient's formula vanishes, and what is made of it; shape (m,)."""

        def gradient(y: Any) -> Any:
            return self._run("lagrangian", space | {"y": y})["gradient"]

        y = np.array(space["y_star"])
        for _ in range(ITERATIONS):
            here = gradient(y)
            slopes = np.array([gradient(y + unit) - here for unit in np.eye(len(y))]).T
            change = np.linalg.solve(slopes, here)
            y = y - change
            if np.linalg.norm(change) <= SETTLED * np.linalg.norm(y):
                break
        return self._run("minimised", space | {"y": y})["y_penalty"]

    def _estimated(self, problem: Any, x: Vector, call: Call) -> Space:
        """Everything of an oracle call but its noise."""
        _require_repaired(call)
        parameters = call.parameters
        if parameters.lower_level != "exact":
            raise NotImplementedError("only the exact lower level")
        y_star, lam = call.y_star, call.lam
        if y_star is None or lam is None:
            own = self.lower_level(problem, x)
            y_star, lam = own[0] if y_star is None else y_star, own[1] if lam is None else lam
        space = self._blocks(problem) | {
            "x": x, "alpha": call.alpha, "y_star": y_star, "lam": lam, "N_g": parameters.N_g,
            "ramp_constant": parameters.ramp_constant, "eps_lam": parameters.lam_width,
        }  # fmt: skip

        def penalty_minimiser(y_star: Any, lam: Any, rho: Any, alpha: Any) -> Any:
            given = {"x": x, "y_star": y_star, "lam": lam, "rho": rho, "alpha": alpha}
            return self._minimised(self._blocks(problem) | given)

        own_stages = {"activation": self.activation, "penalty_minimiser": penalty_minimiser,
                      "lower_level": lambda: self.lower_level(problem, x)}  # fmt: skip
        self._run("widths", space, own_stages)
        for name, code in self.code["oracle"]:
            handed = getattr(call, name, None)
            space[name] = eval(code, {**self.globals, **own_stages}, space) if handed is None else handed
        return self._run("line_6", space, own_stages)

    def _sampled(self, space: Space, problem: Any, call: Call, rng: Any) -> Any:
        noise: Noise = problem.noise
        if noise.model == "none":
            return space["estimate"]
        if noise.model == "jump":
            raise NotImplementedError("no jump noise")

        def normals(name: str, count: int) -> Any:
            if call.draws is not None and self.uses_draws:
                return np.asarray(call.draws[name])[:count]
            return rng.standard_normal((count, len(space["x"])))

        space |= {"matrix": noise.model == "matrix", "sigma_f": noise.scale("f.x"), "sigma_g": noise.scale("g.x")}
        return self._run("noise", space, {"normals": normals})["answer"]


def _require_repaired(call: Call) -> None:
    if call.reading.dual_term != "cancelled" or call.reading.noise_pairing != "common":
        raise NotImplementedError("only the repaired reading")
