"""A program as a subject: stages become messages, whatever goes wrong one clear line."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from pydantic_core import to_json

from spec import OuterParameters, Problem, Reading
from spec.exact import Vector
from verify.subjects.protocol import Call, MissingCapabilityError
from verify.subjects.wire.conversation import MEMORY_MIB, START_LIMIT, TIME_LIMIT, Conversation
from verify.subjects.wire.messages import SEEDS, STAGES, Hello, printable
from verify.subjects.wire.problems import NUMBER_BYTES, call_message, draw_bytes, draws, problem_message

PROBLEMS_KEPT = 64
"""Problems a subject is asked to remember at once."""
CHUNK_BYTES = 4 * 1024 * 1024
"""Size from which repeated estimates are asked for in several messages."""


class WireSubject:
    """A program that speaks the wire, as a subject; started when first needed.

    Args:
        command: Command line; split, never given to a shell.
        time_limit: Seconds one stage call may take, > 0; 30 if ``None``.
        start_limit: Seconds the start may take.
        memory_mib: Memory all its processes may take together, MiB; checked on Linux.

    Raises:
        InvalidInputError: If the command is empty or a limit not positive.
    """

    name: str
    """The subject's own name, with its language."""
    keeps_time = True
    """Its stage calls are limited here, not by whoever runs it."""

    def __init__(
        self,
        command: str,
        *,
        time_limit: float | None = None,
        start_limit: float = START_LIMIT,
        memory_mib: int = MEMORY_MIB,
    ) -> None:
        limit = TIME_LIMIT if time_limit is None else time_limit
        self._made = (command, limit, start_limit, memory_mib)
        self._talk = Conversation(command, time_limit=limit, start_limit=start_limit, memory_mib=memory_mib)
        self._known: dict[int, tuple[Problem, str]] = {}
        self._names: dict[bytes, str] = {}
        self._busy = False
        self._second: WireSubject | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program; a later call starts it again."""
        if self._second is not None:
            self._second.close()
        self._talk.close()

    @property
    def estimates_singly(self) -> bool:
        """Whether many estimates are asked for one by one."""
        return "hypergradient_samples" not in self.hello.capabilities

    @property
    def hello(self) -> Hello:
        """What the subject said of itself; starts it if need be."""
        return self._talk.hello

    @property
    def version(self) -> str:
        """The subject's own version."""
        return printable(self.hello.version)

    @property
    def uses_draws(self) -> bool:
        """Whether ``hypergradient`` takes its normals from the call."""
        return self.hello.draws("hypergradient")

    @property
    def pid(self) -> int | None:
        """The running process, if any."""
        return self._talk.pid

    def __getattr__(self, name: str) -> Any:
        if name == "name":
            return printable(f"{self.hello.name} ({self.hello.language})")
        if name in STAGES:
            offered = self.hello.capabilities
            # Repeated estimates are made of single ones where need be.
            if name in offered or (name == "hypergradient_samples" and "hypergradient" in offered):
                return partial(self._stage, name)
        raise AttributeError(name)

    def _stage(self, stage: str, *args: Any) -> Any:
        if self._busy:
            # The oracle asks this very subject, which is in the middle of an answer: a second process gives this one.
            if self._second is None:
                command, limit, start_limit, memory_mib = self._made
                self._second = WireSubject(command, time_limit=limit, start_limit=start_limit, memory_mib=memory_mib)
            return getattr(self._second, stage)(*args)
        self._busy = True
        try:
            return getattr(self, f"_do_{stage}")(*args)
        finally:
            self._busy = False

    # Stages, as Subject has them.

    def _do_lower_level(self, problem: Problem, x: Vector) -> tuple[Vector, Vector]:
        found = self._talk.ask("lower_level", {"problem": self._id_of(problem), "x": x.tolist()})
        return _array(found.y_star), _array(found.lam)

    def _do_activation(self, h: Vector, lam: Vector, h_width: float, lam_width: float) -> Vector:
        widths = {"h_width": float(h_width), "lam_width": float(lam_width)}
        return _array(self._talk.ask("activation", {"h": h.tolist(), "lam": lam.tolist(), **widths}).rho)

    def _do_penalty_minimiser(self, problem: Problem, x: Vector, call: Call, tol: float | None) -> Vector:
        params = self._given("penalty_minimiser", problem, x, call) | {"tol": None if tol is None else float(tol)}
        return _array(self._talk.ask("penalty_minimiser", params).y)

    def _do_hypergradient(self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator | None) -> Vector:
        params = self._given("hypergradient", problem, x, call)
        if call.draws is None and rng is not None and self._draws_fit("hypergradient", problem, call, 1):
            params["call"]["draws"] = draws(problem, call, 1, rng)
        params["seed"] = _seed(rng)
        return _array(self._talk.ask("hypergradient", params).hypergradient)

    def _do_hypergradient_samples(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> Vector:
        stage = "hypergradient_samples" if "hypergradient_samples" in self.hello.capabilities else "hypergradient"
        common = self._given(stage, problem, x, call)
        drawn = self._draws_fit(stage, problem, call, 1)
        in_result = NUMBER_BYTES * len(x)
        in_request = draw_bytes(problem, call, 1) if drawn else 0
        if stage == "hypergradient":
            in_request += len(to_json(common))
        at_once = max(1, min(CHUNK_BYTES, self._talk.longest) // max(in_result, in_request))
        rows: list[Any] = []
        while len(rows) < replications:
            count = min(at_once, replications - len(rows))
            if stage == "hypergradient_samples":
                params = {**common, "seed": _seed(rng), "replications": count}
                if drawn:
                    params["call"] = common["call"] | {"draws": draws(problem, call, count, rng)}
                rows += self._talk.ask(stage, params).hypergradients
            else:
                batch = []
                for _ in range(min(count, self.hello.limits.batch)):
                    given = {"draws": draws(problem, call, 1, rng)} if drawn else {}
                    batch.append({**common, "seed": _seed(rng), "call": common["call"] | given})
                rows += [found.hypergradient for found in self._talk.ask_all(stage, batch)]
        return _array(rows)

    def _do_lower_level_runs(self, *args: Any) -> tuple[Vector, Vector]:
        found = self._runs("lower_level_runs", *args)
        return _array(found.y), _array(found.lam)

    def _do_penalty_runs(self, *args: Any) -> tuple[Vector, float]:
        found = self._runs("penalty_runs", *args)
        return _array(found.y), found.calls

    def _do_hypergradient_runs(self, *args: Any) -> tuple[Vector, float]:
        found = self._runs("hypergradient_runs", *args)
        return _array(found.hypergradients), found.calls

    def _runs(
        self, stage: str, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> Any:
        params = self._given(stage, problem, x, call) | {"seed": _seed(rng), "replications": int(replications)}
        return self._talk.ask(stage, params)

    def _do_optimise(
        self, oracle: Callable[[Vector], Vector], x0: Vector, parameters: OuterParameters, rng: np.random.Generator
    ) -> dict[str, Vector]:
        found = self._talk.ask("optimise", self._outer(x0, parameters, rng), oracle=(oracle, x0.shape, parameters.T))
        return {"x_out": _array(found.x_out), "x_bar": _array(found.x_bar), "path": _array(found.path)}

    def _do_optimise_runs(
        self,
        oracle: Callable[[Vector], Vector],
        x0: Vector,
        parameters: OuterParameters,
        rng: np.random.Generator,
        keep_path: bool,
    ) -> tuple[Vector, Vector | None]:
        # Runs are independent: as many at once as fit into one message.
        steps = parameters.T * (1 + keep_path * x0.shape[1]) + parameters.K * x0.shape[1]
        at_once = max(1, self._talk.longest // (NUMBER_BYTES * steps))
        parts = []
        for first in range(0, len(x0), at_once):
            some = x0[first : first + at_once]
            params = self._outer(some, parameters, rng) | {"keep_path": bool(keep_path)}
            parts.append(self._talk.ask("optimise_runs", params, oracle=(oracle, some.shape, parameters.T)))
        return _joined([part.x_bar for part in parts]), _joined([part.path for part in parts]) if keep_path else None

    def _outer(self, x0: Vector, parameters: OuterParameters, rng: np.random.Generator) -> dict[str, Any]:
        seed = int(rng.integers(SEEDS))
        own, runs = np.random.default_rng(seed), x0.shape[:-1]
        fits = NUMBER_BYTES * parameters.T * (runs[0] if runs else 1) < self._talk.longest
        s = own.random((parameters.T, *runs)).tolist() if fits else None
        block = own.integers(parameters.K, size=runs or None)
        return {
            "x0": x0.tolist(),
            "parameters": parameters.model_dump(),
            "s": s,
            "block": np.asarray(block).tolist() if fits else np.zeros(runs, dtype=int).tolist(),
            "seed": seed,
        }

    # What stages are given.

    def _given(self, stage: str, problem: Problem, x: Vector, call: Call) -> dict[str, Any]:
        self._support(stage, call.reading)
        return {"problem": self._id_of(problem), "x": x.tolist(), "call": call_message(problem, call)}

    def _support(self, stage: str, reading: Reading) -> None:
        for choice, values in self.hello.readings.items():
            chosen = getattr(reading, choice, None)
            if isinstance(chosen, str) and chosen not in values:
                raise MissingCapabilityError(f"the subject offers no {stage} with {choice} = {chosen}")

    def _draws_fit(self, stage: str, problem: Problem, call: Call, replications: int) -> bool:
        """Whether a call's normals are drawn here and sent."""
        if not self.hello.draws(stage) or call.parameters.lower_level == "primal-dual" or call.draws is not None:
            return False
        return 0 < draw_bytes(problem, call, replications) < self._talk.longest // 2

    def _id_of(self, problem: Problem) -> str:
        """The problem's id, after it was sent."""
        known = self._known.get(id(problem))
        if known is None or known[0] is not problem:
            digest = hashlib.sha256(to_json(problem.to_dict(), inf_nan_mode="constants", fallback=str)).digest()
            name = self._names.setdefault(digest, f"p{len(self._names) + 1}")
            if len(self._known) >= 4 * PROBLEMS_KEPT:
                self._known.clear()
            known = self._known[id(problem)] = (problem, name)
        name = known[1]
        sent = self._talk.sent
        if name not in sent:
            while len(sent) >= PROBLEMS_KEPT:
                self._talk.forget(next(iter(sent)))
            self._talk.ask("problem", problem_message(name, problem), key=f"problem {name}")
            self._talk.sent[name] = None
        return name


def _array(values: Any) -> Vector:
    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        return np.empty(0)  # rows of different lengths: the wrong shape whatever was asked


def _joined(parts: list[Any]) -> Vector:
    """Arrays (steps, runs, n) side by side."""
    arrays = [_array(part) for part in parts]
    if any(array.ndim != 3 or len(array) != len(arrays[0]) for array in arrays):
        return np.empty(0)
    return np.concatenate(arrays, axis=1)


def _seed(rng: np.random.Generator | None) -> int | None:
    return None if rng is None else int(rng.integers(SEEDS))
