"""Small instances with known answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from f2csa_ref import SmoothObjectives, objectives_of
from spec import Generated, Problem, Quadratic, parse_problem
from spec.atlas import find
from spec.blocks.noise import Noise
from spec.exact import Vector


def quadratic(f: dict[str, Any], g: dict[str, Any], rows: dict[str, Any], **more: Any) -> Quadratic:
    problem = parse_problem({"kind": "quadratic", "f": f, "g": g, "constraints": rows} | more)
    assert isinstance(problem, Quadratic)
    return problem


@pytest.fixture(scope="session")
def make() -> Callable[..., Quadratic]:
    return quadratic


@pytest.fixture
def toy1() -> Quadratic:
    """F(x) = x where x > 0: y* = x, lam* = x."""
    return quadratic({"y": [1]}, {"yy": [[1]]}, {"A": [[1]], "B": [[1]]})


@pytest.fixture
def toy2() -> Quadratic:
    """h = y <= 0 (row B = -1): for x > 0, y* = 0 and lam* = x."""
    return quadratic({"y": [1]}, {"yy": [[1]], "xy": [[-1]]}, {"B": [[-1]], "A": [[0]]})


@pytest.fixture(scope="session")
def random_rows() -> Callable[[int, int, int, int], Quadratic]:
    def made(n: int, m: int, p: int, seed: int) -> Quadratic:
        return Generated(family="random-rows", n=n, m=m, p=p, seed=seed).quadratic

    return made


@pytest.fixture(scope="session")
def as_callables() -> Callable[..., SmoothObjectives]:
    """The same quadratic, handed over as gradient functions only."""

    def made(problem: Quadratic, calls: dict[str, int] | None = None, noise: Noise | None = None) -> SmoothObjectives:
        q = problem.arrays
        eigenvalues = np.linalg.eigvalsh(q.g_yy)

        def counted(name: str, gradient: Callable[..., Any]) -> Callable[..., Any]:
            def called(x: Any, y: Any) -> Any:
                if calls is not None:
                    calls[name] = calls.get(name, 0) + 1
                return gradient(x, y)

            return called

        return SmoothObjectives(
            grad_x_f=counted("grad_x_f", lambda x, y: q.f_xx @ x + q.f_xy @ y + q.f_x),
            grad_y_f=counted("grad_y_f", lambda x, y: q.f_xy.T @ x + q.f_yy @ y + q.f_y),
            grad_x_g=counted("grad_x_g", lambda x, y: q.g_xx @ x + q.g_xy @ y + q.g_x),
            grad_y_g=counted("grad_y_g", lambda x, y: q.g_xy.T @ x + q.g_yy @ y + q.g_y),
            A=q.A,
            B=q.B,
            b=q.b,
            mu_g=float(eigenvalues[0]),
            C_g=float(eigenvalues[-1]),
            C_f=float(np.abs(np.linalg.eigvalsh(q.f_yy)).max()),
            noise=noise or Noise(),
        )

    return made


@pytest.fixture(scope="session")
def at() -> Callable[..., tuple[Problem, Vector]]:
    """An instance of the atlas by name, with or without noise of size 1/10, and its point."""

    def made(name: str, model: str | None = "additive") -> tuple[Problem, Vector]:
        instance = find(name)
        if model is not None:
            instance = instance.with_noise(Noise.model_validate({"model": model, "sigma_f": "1/10", "sigma_g": "1/10"}))
        return instance.problem, np.array([float(v) for v in instance.x])

    return made


@pytest.fixture
def noisy(random_rows):
    def made(model, **more):
        noise = Noise(model=model, sigma_f="1/2", sigma_g=2, **more)
        return objectives_of(random_rows(2, 3, 2, 0).model_copy(update={"noise": noise}))

    return made
