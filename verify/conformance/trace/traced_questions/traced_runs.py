"""Runs of Algorithm 2 with every quantity of each step: what is right follows from the points that were asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec import OuterParameters
from spec.exact import Vector
from verify.conformance.comparison.runs_together import one_by_one
from verify.conformance.outer import RIGHT, LoopTrial, RecordedLoop, along, compare_lines
from verify.conformance.trace.named_values import GIVEN, PART, SCALED, ByAnswers, Named
from verify.conformance.trace.seen_values import ValueWatch
from verify.conformance.trace.traced_questions.traced_calls import TracedQuestion
from verify.method.player import Space
from verify.subjects.protocol import StageCalls

SCHEDULES = ((2, 3, 4, 0.004), (3, 4, 3, 0.03), (2, 2, 6, 0.012))
"""n, K, M and η of the runs: steps that are never clipped, soon, and late."""
FURTHER = ((3, 2, 5, 0.02), (2, 4, 3, 0.008))
"""Of runs that are asked only about what was found."""
OFF = 2.0
"""How far an answer is off that has not even the right number of calls."""


class LoggedGenerator(np.random.Generator):
    """A generator that remembers its uniforms."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.log: list[float] = []

    def random(self, *args: Any, **options: Any) -> Any:
        """As of any generator."""
        value = super().random(*args, **options)
        self.log += np.ravel(value).tolist()
        return value

    def uniform(self, *args: Any, **options: Any) -> Any:
        """As of any generator."""
        value = super().uniform(*args, **options)
        self.log += np.ravel(value).tolist()
        return value


@dataclass
class HeardRun:
    """A run and the uniforms it was drawn."""

    one: RecordedLoop
    log: list[float]


def loop_questions() -> Iterator[TracedQuestion]:
    """Runs on known oracles."""
    for seed, (n, K, M, eta) in enumerate((*SCHEDULES, *FURTHER)):
        yield replace(_question(_trial(seed, n, K, M, eta), seed), is_further=seed >= len(SCHEDULES))


def _trial(seed: int, n: int, K: int, M: int, eta: float) -> LoopTrial:
    rng = np.random.default_rng([seed, 21])
    x0 = tuple(float(v) for v in np.round(rng.normal(size=n), 3))
    curvature = tuple(float(v) for v in np.round(rng.uniform(0.5, 3.0, n), 3))
    q = OuterParameters(goldstein_radius=0.07 * M, epsilon=0.1, D=0.07, eta=eta, M=M, K=K)
    return LoopTrial(f"n = {n}, K = {K}, M = {M}", x0, q, tuple(float(v) for v in rng.uniform(0.3, 0.9, n)), curvature)


def _question(trial: LoopTrial, seed: int) -> TracedQuestion:
    def run(stages: StageCalls, watch: ValueWatch) -> HeardRun:
        queries: list[Vector] = []

        def oracle(z: Vector) -> Vector:
            queries.append(np.array(z, dtype=np.float64).reshape(len(trial.x0)))
            watch.clock = len(queries)
            return trial.oracle(queries[-1])

        drawn = LoggedGenerator(seed)
        answer = one_by_one(stages).optimise(oracle, np.array(trial.x0), trial.parameters, drawn)
        z = np.array(queries).reshape(-1, len(trial.x0))
        return HeardRun(
            RecordedLoop(trial, answer, z, np.array([trial.oracle(at) for at in z]).reshape(z.shape)), drawn.log
        )

    return TracedQuestion("optimise", "", trial.id, run, _parts, _named, steps=trial.parameters.M)


def _parts(heard: HeardRun) -> tuple[float, ...]:
    one = heard.one
    if len(one.z) != one.trial.parameters.T:
        return (OFF,) * 4
    away = float(np.linalg.norm(one.run.x_bar - one.run.x_out, axis=1).min())
    size = float(np.abs(one.run.path).max()) or 1.0
    return away / (1e-9 * size), *(line.excess for line in compare_lines([one], RIGHT))


def _named(heard: HeardRun) -> list[Named]:
    """What every line comes to on the way that the drawn numbers lead."""
    one = heard.one
    q = one.trial.parameters
    rows = _played(one.trial, _shares(heard))
    T, K, M = q.T, q.K, q.M
    of = {name: np.array(value) for name, value in rows.items()}
    z, n = of["z"], len(one.trial.x0)
    sizes = np.linalg.norm(of["v"], axis=1)
    means, totals = z.reshape(K, M, n).mean(1), z.reshape(K, M, n).sum(1)
    steps: dict[str, Any] = {
        "x_t": of["x"], "Δ_t": of["step"], "s_t": of["s"], "g_t": of["g"],
        "Δ_{t+1} = clip_D(Δ_t − η g_t)": of["next"],
    }  # fmt: skip
    parts: dict[str, Any] = {
        "z_t = x_t + s_t Δ_t": z, "s_t Δ_t": of["s"][:, None] * of["step"], "η g_t": q.eta * of["g"],
        "Δ_t − η g_t": of["v"], "‖Δ_t − η g_t‖": sizes, "‖Δ_t − η g_t‖²": sizes**2, "D/‖Δ_t − η g_t‖": q.D / sizes,
        "min(1, D/‖Δ_t − η g_t‖)": np.minimum(1.0, q.D / sizes), "max(D, ‖Δ_t − η g_t‖)": np.maximum(q.D, sizes),
        "‖Δ_t − η g_t‖/D": sizes / q.D, "x_{t+1} = x_t + Δ_t": of["x"] + of["step"], "z_t/M": z / M,
        "−g_t": -of["g"],
    }  # fmt: skip
    terms = {"x_{t+1} = x_t + Δ_t": {"+x_t", "+Δ_t"}, "z_t = x_t + s_t Δ_t": {"+x_t", "+s_t Δ_t"},
             "Δ_t − η g_t": {"+Δ_t", "−η g_t"}}  # fmt: skip
    quantities = [Named(name, ByAnswers(value), GIVEN) for name, value in steps.items()]
    quantities += [Named(name, ByAnswers(value), PART, frozenset(terms.get(name, ()))) for name, value in parts.items()]
    sums = np.cumsum(z.reshape(K, M, n), axis=1).reshape(T, n)
    quantities.append(Named("the block's sum of z so far", ByAnswers(sums), PART))
    quantities.append(Named("the block's sum of z so far, over M", ByAnswers(sums / M), PART))
    blocks = {"the mean of the block": means, "the sum of the block": totals}
    quantities += [Named(name, ByAnswers(np.repeat(value, M, axis=0)), PART) for name, value in blocks.items()]
    whole = {"all z_t": z, "z_t by block": z.reshape(K, M, n), "the block means": means, "the block sums": totals,
             "the path": np.array(rows["path"]), "all s_t": of["s"]}  # fmt: skip
    quantities += [Named(name, value, PART) for name, value in whole.items()]
    quantities += [Named(name, float(getattr(q, name)), GIVEN) for name in ("D", "M", "K")]
    return [*quantities, Named("η", q.eta, GIVEN), Named("D/2", q.D / 2, SCALED)]


def _shares(heard: HeardRun) -> Vector:
    """The s_t of a run: of its points where these are right, else as drawn, else any."""
    one, T = heard.one, heard.one.trial.parameters.T
    log = np.array(heard.log)
    drawn = len(log) >= T and log.min() >= 0 and log.max() <= 1 and len(set(log[:T].tolist())) == T
    if len(one.z) == T and len(one.run.path) == T + 1:
        s, off = along(one)
        apart = np.abs(one.z - one.run.path[:-1] - s[:, None] * one.steps).max(initial=0.0)
        within = off.sum() > 1 and ((s >= 0) & (s <= 1)).all() and len({round(v, 9) for v in s[off]}) == off.sum()
        # Along a path that is wrong they may be another multiple of what was drawn.
        if apart < 1e-9 and within and (not drawn or all(np.abs(log - v).min() < 1e-6 for v in s[off])):
            return np.where(off, s, 0.5)
    return log[:T] if drawn else np.random.default_rng(T).random(T)


def _played(trial: LoopTrial, shares: Vector) -> dict[str, list[Any]]:
    """Algorithm 2 line by line."""
    q = trial.parameters
    x, step = np.array(trial.x0), np.zeros(len(trial.x0))
    rows: dict[str, list[Any]] = {name: [] for name in ("x", "step", "s", "z", "g", "v", "next", "path")}
    for s in shares:
        space: Space = {"x": x, "step": step, "s": float(s), "eta": q.eta, "D": q.D}
        space["z"] = RIGHT.line("step", "z", space)
        space["g"] = trial.oracle(space["z"])
        space["v"] = RIGHT.line("step", "v", space)
        space["next"] = RIGHT.line("step", "step_next", space)
        for name in ("x", "step", "s", "z", "g", "v", "next"):
            rows[name].append(space[name])
        rows["path"].append(x)
        x, step = RIGHT.line("step", "x_next", space), space["next"]
    rows["path"].append(x)
    return rows
