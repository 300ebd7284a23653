"""Subjects played by formulas: the whole method, and the reference with another Algorithm 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np

from spec import Noise, OuterParameters
from spec.exact import Vector
from verify.method.lines import Formulas, edited
from verify.method.player import Player, Space
from verify.subjects import Call, ReferenceSubject

ITERATIONS = 8
"""Newton steps; one is enough where the gradient is affine, the others take back rounding or walk over kinks."""
SETTLED = 1e-15
"""Relative length of a Newton step that ends the solve."""


class PlainMethod(Player):
    """All stages by formulas; right as it stands."""

    name = "plain-method"
    uses_draws = True

    def __init__(self, formulas: Formulas | None = None) -> None:
        super().__init__(formulas)
        self.known: dict[int, tuple[Any, Space]] = {}

    def lower_level(self, problem: Any, x: Vector) -> Any:
        space = self.run("lower_level", self._blocks(problem) | {"x": x})
        return space["y_star"], space["lam"]

    def activation(self, h: Vector, lam: Vector, h_width: float, lam_width: float) -> Any:
        return self.run("activation", {"h": h, "lam": lam, "h_width": h_width, "lam_width": lam_width})["rho"]

    def penalty_minimiser(self, problem: Any, x: Vector, call: Call, tol: float | None) -> Any:
        _require_repaired(call)
        return self.minimiser(problem, x, call, tol)

    def minimiser(self, problem: Any, x: Vector, call: Call, tol: float | None) -> Any:
        """Line 5 whatever the reading, solved to rounding; ``stops`` is 1 where no accuracy is asked for, else 0."""
        given = {"x": x, "y_star": call.y_star, "lam": call.lam, "rho": call.rho, "alpha": call.alpha,
                 "stops": float(tol is None and bool(np.any(call.rho)))}  # fmt: skip
        return self._minimised(self._blocks(problem) | given)

    def line_6(self, problem: Any, x: Vector, call: Call) -> Space:
        """Every value of line 6 without noise, from a call that has all stages."""
        stages = {name: value for name, value in call.stages.items() if value is not None}
        return self.run("line_6", self._blocks(problem) | {"x": x, "alpha": call.alpha} | stages)

    def hypergradient(self, problem: Any, x: Vector, call: Call, rng: Any) -> Any:
        return self._sampled(self._estimated(problem, x, call), problem, call, rng)

    def hypergradient_samples(self, problem: Any, x: Vector, call: Call, rng: Any, replications: int) -> Any:
        space = self._estimated(problem, x, call)
        return np.array([self._sampled(dict(space), problem, call, rng) for _ in range(replications)])

    def optimise(self, oracle: Callable[[Vector], Vector], x0: Vector, parameters: OuterParameters, rng: Any) -> Any:
        return self.play_run(oracle, x0, parameters, rng)

    def _blocks(self, problem: Any) -> Space:
        """Blocks of a problem by name; the problem is kept beside them, so that its id stays its own."""
        if id(problem) not in self.known:
            arrays = getattr(problem, "quadratic", problem).arrays
            blocks = {field.name: getattr(arrays, field.name) for field in fields(arrays)}
            keys = {"problem": f"{id(problem)} ", "sizes": f"{arrays.A.shape} {arrays.B.shape} "}
            self.known[id(problem)] = problem, blocks | keys
        return dict(self.known[id(problem)][1])

    def _minimised(self, space: Space) -> Any:
        """Where the gradient's formula vanishes, and what is made of it; shape (m,)."""

        def gradient(y: Any) -> Any:
            return self.run("lagrangian", space | {"y": y})["gradient"]

        y = np.array(space["y_star"])
        for _ in range(ITERATIONS):
            here = gradient(y)
            slopes = np.array([gradient(y + unit) - here for unit in np.eye(len(y))]).T
            change = np.linalg.solve(slopes, here)
            y = y - change
            if np.linalg.norm(change) <= SETTLED * np.linalg.norm(y):
                break
        return self.run("minimised", space | {"y": y})["y_penalty"]

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
        self.run("widths", space, own_stages)
        for name, code in self.code["oracle"]:
            handed = getattr(call, name, None)
            space[name] = eval(code, {**self.globals, **own_stages}, space) if handed is None else handed
        return self.run("line_6", space, own_stages)

    def _sampled(self, space: Space, problem: Any, call: Call, rng: Any) -> Any:
        noise: Noise = problem.noise
        if noise.model == "none":
            return space["estimate"]
        if noise.model == "jump":
            raise NotImplementedError("no jump noise")

        def normals(name: str, count: int) -> Any:
            if call.draws is not None and self.uses_draws:
                # A block that is not there adds no noise.
                return np.asarray(call.draws.get(name, np.zeros((count, len(space["x"])))))[:count]
            return rng.standard_normal((count, len(space["x"])))

        space |= {"matrix": noise.model == "matrix", "sigma_f": noise.scale("f.x"), "sigma_g": noise.scale("g.x")}
        return self.run("noise", space, {"normals": normals})["answer"]


def _require_repaired(call: Call) -> None:
    if call.reading.dual_term != "cancelled" or call.reading.noise_pairing != "common":
        raise NotImplementedError("only the repaired reading")


class PlainLoop(Player, ReferenceSubject):
    """The reference but for Algorithm 2, which is played with some of its formulas exchanged."""

    name = "plain-outer-loop"
    edits: Formulas = MappingProxyType({})

    def __init__(self) -> None:
        super().__init__(edited(self.edits))

    def __reduce__(self) -> Any:
        return type(self), ()

    @property
    def fixed_query(self) -> bool:
        """Whether the oracle is asked at a place of the segment that is not drawn."""
        return "uniform" not in self.formulas["step"]["s"]

    @property
    def fixed_output(self) -> bool:
        """Whether the block that is output is not drawn."""
        output = self.formulas["output"]
        return "index" not in output["k"] or "k" not in output["x_out"]

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        return self.play_run(oracle, x0, parameters, rng)

    def optimise_runs(self, oracle: Any, x0: Any, parameters: Any, rng: Any, keep_path: bool) -> Any:
        space = self.play_loop(oracle, x0, parameters, lambda: rng.random((len(x0), 1)))
        return space["x_bar"], space["path"] if keep_path else None
