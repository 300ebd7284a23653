"""A subject whose every answer is a little off: what of a result stays as it was does not depend on the subject."""

from __future__ import annotations

from typing import Any

from verify.subjects import ReferenceSubject

FACTOR = 1.003
"""Too far off for rounding, near enough that the checks go on."""


class Displaced(ReferenceSubject):
    """The reference with each answer of a stage, sampled ones included, multiplied by a factor near 1."""

    name = "displaced"

    def lower_level(self, problem: Any, x: Any) -> Any:
        """Both parts off."""
        y_star, lam = super().lower_level(problem, x)
        return FACTOR * y_star, FACTOR * lam

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        """Weights off, and still at most 1."""
        return super().activation(h, lam, h_width, lam_width) / FACTOR

    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: float | None) -> Any:
        """Off."""
        return FACTOR * super().penalty_minimiser(problem, x, call, tol)

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        """Off."""
        return FACTOR * super().hypergradient(problem, x, call, rng)

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        """Every sample off."""
        return FACTOR * super().hypergradient_samples(problem, x, call, rng, replications)

    def lower_level_runs(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        """Every run off."""
        y, lam = super().lower_level_runs(problem, x, call, rng, replications)
        return FACTOR * y, FACTOR * lam

    def penalty_runs(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        """Every run off."""
        y, calls = super().penalty_runs(problem, x, call, rng, replications)
        return FACTOR * y, calls

    def hypergradient_runs(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        """Every run off."""
        estimates, calls = super().hypergradient_runs(problem, x, call, rng, replications)
        return FACTOR * estimates, calls

    def optimise_runs(self, oracle: Any, x0: Any, parameters: Any, rng: Any, keep_path: bool) -> Any:
        """Means and paths off."""
        x_bar, path = super().optimise_runs(oracle, x0, parameters, rng, keep_path)
        return FACTOR * x_bar, None if path is None else FACTOR * path
