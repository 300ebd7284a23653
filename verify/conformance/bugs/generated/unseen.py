"""Problems that nobody has seen: random ones with every block non-zero, and probes on them, exact answers at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from spec import Noise, OuterParameters, Quadratic, parse_problem
from spec.exact import FloatArray, Vector
from verify.conformance.places.places import JudgedPlace, rounded
from verify.conformance.places.sizes import ANY_PROGRAM
from verify.conformance.probes.probes import GRADIENT_NORM, Probe, activation_probe, lower_level_probe, probe_of
from verify.conformance.vectors import known_answers as known

SIZES = ((2, 3, 2), (3, 2, 2), (2, 2, 2), (3, 4, 3), (1, 2, 1), (4, 3, 2), (3, 3, 3), (2, 5, 3), (4, 4, 5), (1, 1, 2))
"""(n, m, p) in turn; most are of no problem that conformance asks about."""
ALPHAS = (0.1, 0.07, 0.04)
SAME_RUN = 1e-9
"""Relative difference of two answers or runs that are the same."""
NOISES = (
    Noise(model="additive", sigma_f="1/8", sigma_g="3/16"),  # type: ignore[arg-type]  # exact spellings are parsed
    Noise(model="matrix", sigma_f="1/16", sigma_g="1/4"),  # type: ignore[arg-type]  # as above
)
"""Two noises whose scales differ."""


def unseen_place(rng: np.random.Generator, sizes: tuple[int, int, int], name: str) -> JudgedPlace:
    """A random problem at a random point: some rows active, some multipliers on their ramp, all entries eighths."""
    n, m, p = sizes
    held = int(rng.integers(1, min(m, p) + 1))

    def eighths(*shape: int) -> Any:
        """Odd eighths in [-15/8, 15/8]: none is 0."""
        return (2 * rng.integers(-8, 8, size=shape) + 1) / 8

    def symmetric(d: int) -> Any:
        M = eighths(d, d)
        return np.triu(M) + np.triu(M, 1).T

    root = eighths(m, m)
    # Dyadic numbers of this size are added and multiplied without rounding.
    g_yy = np.eye(m) + root @ root.T / 4
    x, y, A, B, g_xy, f_xx = eighths(n), eighths(m), eighths(p, n), eighths(p, m), eighths(n, m), symmetric(n)
    B[:held] += 4 * np.eye(p, m)[:held]
    B /= rng.choice([1, 1, 16])
    lam = np.where(np.arange(p) < held, rng.integers(1, 20, p) / 64 * np.where(rng.random(p) < 0.6, 8, 1), 0.0)
    slack = np.where(np.arange(p) < held, 0.0, (1 + rng.integers(0, 8, p)) / 8)
    b = A @ x - B @ y + slack
    g_y = B.T @ lam - g_yy @ y - x @ g_xy
    f = {"xx": f_xx, "xy": eighths(n, m), "yy": symmetric(m), "x": eighths(n), "y": eighths(m)}
    g = {"xx": symmetric(n), "xy": g_xy, "yy": g_yy, "x": eighths(n), "y": g_y}
    blocks = {"f": f, "g": g, "constraints": {"A": A, "B": B, "b": b}}
    data = {part: {key: _exact(value) for key, value in given.items()} for part, given in blocks.items()}
    problem = parse_problem({"kind": "quadratic", **data})
    assert isinstance(problem, Quadratic)  # by its kind
    return JudgedPlace(name, problem, rounded(x))


def _exact(values: FloatArray) -> Any:
    return np.vectorize(lambda value: str(Fraction(float(value))), otypes=[object])(values).tolist()


@dataclass(frozen=True, eq=False)
class Unseen:
    """Probes of every deterministic stage, drawn from one generator; the oracle's also with noise."""

    probes: tuple[Probe, ...]

    def of(self, stage: str) -> tuple[Probe, ...]:
        """Probes of one stage, in order."""
        return tuple(probe for probe in self.probes if probe.stage == stage)


def draw_unseen(rng: np.random.Generator, rounds: int = 3) -> Unseen:
    """``rounds`` problems of each of the sizes, and at each one probe of every kind; in mixed order."""
    probes: list[Probe] = []
    for k in range(rounds):
        for sizes in SIZES:
            name = f"unseen-{k}-{'x'.join(map(str, sizes))}"
            place, alpha = unseen_place(rng, sizes, name), ALPHAS[k % len(ALPHAS)]
            probes += _probes_at(place, alpha, rng)
    return Unseen(tuple(probes[k] for k in rng.permutation(len(probes))))


def _probes_at(place: JudgedPlace, alpha: float, rng: np.random.Generator) -> Iterator[Probe]:
    p, m = place.problem.p, place.problem.m
    yield lower_level_probe(place)
    yield lower_level_probe(place.moved(float(rng.integers(1, 5)) / 256))
    h_width, lam_width = float(rng.integers(1, 9)) / 64, float(rng.integers(1, 9)) / 16
    rows = int(rng.integers(2, 7))
    h, lam = rng.uniform(-1.5, 0.4, rows) * h_width, rng.uniform(-0.3, 1.8, rows) * lam_width
    yield activation_probe(place.name, h, lam, h_width, lam_width)
    off: dict[str, Callable[[], Any]] = {
        "y_star": lambda: rounded(place.y_star + 1e-3 * rng.uniform(0.3, 2.0, m) * rng.choice([-1, 1], m)),
        "lam": lambda: rounded(place.lam + rng.uniform(0.01, 0.8, p)),
        "rho": lambda: rounded(rng.uniform(0.1, 1.0, p)),
        "y_penalty": lambda: rounded(place.y_star + 2e-3 * rng.uniform(0.3, 2.0, m) * rng.choice([-1, 1], m)),
    }
    given = {name: draw() for name, draw in off.items() if name != "y_penalty"}
    setting = place.setting(alpha=Fraction(alpha), given=given)
    yield probe_of(f"penalty/{place.name}/unseen", known.penalty_minimiser(setting, ANY_PROGRAM, GRADIENT_NORM),
                   tol=GRADIENT_NORM)  # fmt: skip
    for names in (("y_star", "lam", "rho", "y_penalty"), ("y_star", "lam", "rho"), ("y_star", "lam"), ()):
        chosen = {name: off[name]() for name in names}
        if names == ("y_star", "lam"):
            # A little inside the active rows, so that weights are on their ramp.
            chosen["y_star"] = rounded(place.y_star + _inside(place, alpha, rng))
            chosen["lam"] = rounded(np.where(rng.random(p) < 1 / 2, rng.uniform(0.005, 0.12, p), place.lam + 0.01))
        constant = Fraction(1) if len(names) != 2 else Fraction(int(rng.integers(3, 7)), 4)
        setting = place.setting(alpha=Fraction(alpha), given=chosen, ramp_constant=constant)
        yield _estimate(place, setting, f"{len(names)} given", chosen)
        if len(names) == 4:
            for noise in NOISES:
                N_g = int(rng.integers(2, 6))
                draws = {key: tuple(rounded(row) for row in rng.standard_normal((N_g, len(place.x))))
                         for key in ("f_x", "g_x")}  # fmt: skip
                noisy = place.setting(alpha=Fraction(alpha), given=chosen, noise=noise, N_g=N_g, draws=draws)
                yield _estimate(place, noisy, noise.model, chosen)


def _estimate(place: JudgedPlace, setting: Any, name: str, given: Any) -> Probe:
    probe = probe_of(f"hypergradient/{place.name}/{name}", known.hypergradient(setting, ANY_PROGRAM))
    return replace(probe, id=f"{probe.id}/{len(given)}")


def _inside(place: JudgedPlace, alpha: float, rng: np.random.Generator) -> Vector:
    """A shift of y that leaves each active row a share of the ramp's width inside."""
    rows = list(place.lower.active)
    width = place.setting(alpha=Fraction(alpha)).h_width()
    shares = rng.uniform(0.1, 0.9, len(rows)) * width
    return np.asarray(np.linalg.lstsq(place.problem.arrays.B[rows], shares, rcond=None)[0])


@dataclass(frozen=True, eq=False)
class UnseenTrial:
    """A run of Algorithm 2 on a smooth oracle of its own."""

    x0: Vector
    parameters: OuterParameters
    slopes: Vector
    curvature: Vector
    seed: int

    def oracle(self, z: Vector) -> Vector:
        """Its answer, nowhere zero for long."""
        return self.slopes + self.curvature * z + np.sin(3 * z)

    def trace(self, subject: Any) -> Vector:
        """Everything a run shows, in one row; empty where the run ends in an error."""
        queries: list[Vector] = []

        def remembering(z: Vector) -> Vector:
            queries.append(np.array(z))
            return self.oracle(z)

        try:
            with np.errstate(all="ignore"):
                run = subject.optimise(remembering, self.x0.copy(), self.parameters, np.random.default_rng(self.seed))
            parts = (np.array(queries), run["path"], run["x_bar"], run["x_out"])
            return np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts])
        except Exception:
            return np.zeros(0)


def unseen_trials(rng: np.random.Generator, count: int = 6) -> tuple[UnseenTrial, ...]:
    """Runs with short and with clipped steps, in one to three dimensions."""
    trials = []
    for k in range(count):
        n, D = 1 + k % 3, float(rng.uniform(0.02, 0.5))
        M, K = int(rng.integers(2, 7)), int(rng.integers(3, 7))
        schedule = OuterParameters(goldstein_radius=M * D, epsilon=0.1, D=D, eta=D * (0.1 if k % 2 else 0.7), M=M, K=K)
        trials.append(UnseenTrial(rng.uniform(-1, 1, n), schedule, rng.uniform(-2, 2, n), rng.uniform(0.1, 1, n), k))
    return tuple(trials)
