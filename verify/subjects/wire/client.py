"""A program as a subject: stages become messages, whatever goes wrong one clear line."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Self

import numpy as np
from pydantic_core import to_json

from spec import OuterParameters, Problem, Reading
from spec.exact import Vector
from verify.subjects.protocol import SPEAKERS, Call, MissingCapabilityError, StageFaultError, unused_generator
from verify.subjects.stage_table import END_TO_END, ROWS, STAGES, Asked
from verify.subjects.wire.answer_arrays import array, array_of, joined, numbers_in, returned
from verify.subjects.wire.conversation import MEMORY_MIB, START_LIMIT, TIME_LIMIT, Conversation
from verify.subjects.wire.messages import SEEDS, Hello, numbers, printable
from verify.subjects.wire.request_fields import (
    NUMBER_BYTES,
    block_shapes,
    call_message,
    draw_bytes,
    problem_message,
    seed_of,
)
from verify.subjects.wire.seeded_draws import GENERATOR

PROBLEMS_KEPT = 64
"""Problems a subject is asked to remember at once."""
LISTED_BYTES = 64 * 1024
"""Size of one estimate's normals from which a seed is sent instead."""
SHARE = 0.05
"""Part of the time for one answer that answers in one line should take, at the pace of those before."""
CHUNK_BYTES = 4 * 1024 * 1024
"""Size from which repeated estimates are asked for in several messages."""


class WireSubject:
    """A program that speaks the wire, as a subject; started when first needed, its command line never by a shell.

    ``time_limit`` is for one stage call, ``start_limit`` for the start, in seconds; the memory, which all its processes
    may take together, is checked on Linux. An empty command or a limit that is not positive is refused.
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
        environment: Mapping[str, str] | None = None,
    ) -> None:
        limit = TIME_LIMIT if time_limit is None else time_limit
        self._again: Callable[[], WireSubject] = partial(
            WireSubject, command, time_limit=limit, start_limit=start_limit, memory_mib=memory_mib,
            environment=environment,
        )  # fmt: skip
        self._talk = Conversation(
            command, time_limit=limit, start_limit=start_limit, memory_mib=memory_mib, environment=environment
        )
        self._known: dict[int, tuple[Problem, str]] = {}
        self._names: dict[bytes, str] = {}
        self._busy = False
        self._at_once = 1
        self._second: WireSubject | None = None
        self._idle: list[WireSubject] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program; a later call starts it again."""
        for other in (*self._idle, *([] if self._second is None else [self._second])):
            other.close()
        self._talk.close()

    @property
    def estimates_singly(self) -> bool:
        """Whether many estimates are asked for one by one."""
        return "hypergradient_samples" not in self.hello.capabilities

    @property
    def answers_slowly(self) -> bool:
        """Whether many numbers take long to come: each is spelt out."""
        return not self.hello.packed

    @property
    def renews(self) -> bool:
        """Whether a copy as new can be had at once."""
        return self.hello.renews

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
    def accuracy(self) -> float | None:
        """What it says of its solvers, relative; ``None`` where it says nothing."""
        return self.hello.accuracy

    @property
    def pid(self) -> int | None:
        """The running process, if any."""
        return self._talk.pid

    def __getattr__(self, name: str) -> Any:
        if name == "name":
            return self._called(self.hello)
        if name in STAGES or name == END_TO_END:
            offered = self.hello.capabilities
            # Repeated estimates are made of single ones where need be.
            if name in offered or (name == "hypergradient_samples" and "hypergradient" in offered):
                return partial(self._stage, name)
        raise AttributeError(name)

    def _called(self, hello: Hello) -> str:
        return printable(f"{hello.name} ({hello.language})")

    @contextmanager
    def fresh(self) -> Iterator[WireSubject]:
        """A copy of the subject as it is when newly started, in a process of its own, which is kept for the next."""
        copy = self._idle.pop() if self._idle else self._another()
        if copy.pid is not None:
            copy.renew()
        try:
            yield copy
        finally:
            self._idle.append(copy)

    def _another(self) -> WireSubject:
        """The same program once more, which must offer the same."""
        other = self._again()
        if other.hello.capabilities != self.hello.capabilities:
            other.close()
            raise StageFaultError("the subject announced other stages in a second process", "lie")
        return other

    def renew(self) -> None:
        """Forget everything that was asked: by its own word where it renews itself, else by a new process."""
        if self.hello.renews:
            self._talk.ask("renew")
        else:
            self.close()

    def _stage(self, stage: Asked, *args: Any) -> Any:
        if self._busy:
            # The oracle asks this very subject, which is in the middle of an answer: a second process gives this one.
            self._second = self._second or self._another()
            return getattr(self._second, stage)(*args)
        self._busy = True
        try:
            return getattr(self, f"_do_{stage}", partial(self._ask, stage))(*args)
        finally:
            self._busy = False

    def _ask(self, stage: Asked, *args: Any) -> Any:
        """A stage that is one request: what its method returns."""
        given = dict(zip(ROWS[stage].takes, args, strict=True))
        params = self._params(stage, given)
        oracle = (given["oracle"], given["x0"].shape, given["parameters"].T) if "oracle" in given else None
        return returned(stage, self._talk.ask(stage, params, oracle=oracle, expects=numbers_in(stage, given)))

    def _params(self, stage: Asked, given: dict[str, Any]) -> dict[str, Any]:
        """The fields of a request, from the arguments of the stage's method."""
        if "call" in given:
            self._support(stage, given["call"].reading)
        params: dict[str, Any] = {}
        for name, value in given.items():
            if name == "problem":
                params[name] = self._id_of(value)
            elif name == "call":
                params[name] = call_message(given["problem"], value)
            elif name == "parameters":
                params[name] = value.model_dump()
            elif name == "rng":
                params |= self._drawn(given) if "oracle" in given else {"seed": seed_of(value)}
            elif name != "oracle":
                kind = {"replications": int, "keep_path": bool}.get(name, float)
                array = isinstance(value, np.ndarray)
                params[name] = self._numbers(value) if array else None if value is None else kind(value)
        return params

    def _drawn(self, given: dict[str, Any]) -> dict[str, Any]:
        """What Algorithm 2 draws, and the seed it is drawn from."""
        runs, outer, seed = given["x0"].shape[:-1], given["parameters"], int(given["rng"].integers(SEEDS))
        own = np.random.default_rng(seed)
        fits = NUMBER_BYTES * outer.T * (runs[0] if runs else 1) < self._talk.longest
        s = self._numbers(own.random((outer.T, *runs))) if fits else None
        block = own.integers(outer.K, size=runs or None)
        return {"s": s, "block": np.asarray(block if fits else np.zeros(runs, dtype=int)).tolist(), "seed": seed}

    def _numbers(self, array: Vector) -> Any:
        return numbers(array, packed=self.hello.packed)

    # Stages that are several requests, or bring their draws.

    def _do_hypergradient(self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator | None) -> Vector:
        params = self._estimate_params(problem, x, call, rng)
        return array(self._talk.ask("hypergradient", params, expects=len(x)).hypergradient)

    def _estimate_params(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator | None
    ) -> dict[str, Any]:
        params = self._params("hypergradient", {"problem": problem, "x": x, "call": call})
        if rng is not None and self._draws_fit("hypergradient", problem, call):
            params["call"]["draws"] = self._draws(problem, call, 1, rng)
        params["seed"] = seed_of(rng)
        return params

    def hypergradients_together(
        self, problem: Problem, calls: Sequence[tuple[Vector, Call]], rng: np.random.Generator | None
    ) -> list[Vector]:
        """Estimates at the first of some points and calls: as many as take a small part of the time for one answer."""
        if self._busy:
            return [self.hypergradient(problem, *calls[0], rng or unused_generator())]
        began, batch, size = time.monotonic(), list[dict[str, Any]](), 0
        for x, call in calls[: self._at_once]:
            batch.append(self._estimate_params(problem, x, call, rng or unused_generator()))
            size += len(to_json(batch[-1]))
            if size > min(CHUNK_BYTES, self._talk.longest // 2):
                break
        answers = self._talk.ask_all("hypergradient", batch, expects=calls[0][0].size)
        pace = (time.monotonic() - began) / len(batch)
        self._at_once = max(1, min(self.hello.limits.batch, 4 * len(batch), int(SHARE * self._talk.limit / pace)))
        return [array(answer.hypergradient) for answer in answers]

    def _do_hypergradient_samples(
        self, problem: Problem, x: Vector, call: Call, rng: np.random.Generator, replications: int
    ) -> Vector:
        singly = self.estimates_singly
        stage: Asked = "hypergradient" if singly else "hypergradient_samples"
        common = self._params(stage, {"problem": problem, "x": x, "call": call})
        drawn = self._draws_fit(stage, problem, call)
        listed = drawn and not self.hello.makes_draws
        if listed and not singly and draw_bytes(problem, call) * replications > CHUNK_BYTES:
            drawn = listed = False  # the seed stands for them
        in_request = (draw_bytes(problem, call) if listed else 0) + (len(to_json(common)) if singly else 0)
        at_once = max(1, min(CHUNK_BYTES, self._talk.longest) // max(NUMBER_BYTES * len(x), in_request))
        parts: list[Vector] = []
        received = 0
        while received < replications:
            count = min(at_once, replications - received)
            if not singly:
                params = {**common, "seed": seed_of(rng), "replications": count}
                if drawn:
                    params["call"] = common["call"] | {"draws": self._draws(problem, call, count, rng)}
                rows = self._talk.ask(stage, params, expects=count * len(x)).hypergradients
                received += len(rows)
                parts.append(array(rows))
                if not len(rows):
                    break  # it would not end: too few are the wrong shape
                continue
            batch = []
            for _ in range(min(count, self.hello.limits.batch)):
                given = {"draws": self._draws(problem, call, 1, rng)} if drawn else {}
                batch.append({**common, "seed": seed_of(rng), "call": common["call"] | given})
            answers = self._talk.ask_all(stage, batch, expects=len(x))
            received += len(answers)
            parts.append(array([answer.hypergradient for answer in answers]))
        return parts[0] if len(parts) == 1 else array_of(parts)

    def _do_optimise_runs(
        self,
        oracle: Callable[[Vector], Vector],
        x0: Vector,
        parameters: OuterParameters,
        rng: np.random.Generator,
        keep_path: bool,
    ) -> Any:
        # Runs are independent: as many at once as fit into one message.
        steps = parameters.T * (1 + keep_path * x0.shape[1]) + parameters.K * x0.shape[1]
        at_once = max(1, self._talk.longest // (NUMBER_BYTES * steps))
        some = [x0[first : first + at_once] for first in range(0, len(x0), at_once)]
        parts = [self._ask("optimise_runs", oracle, starts, parameters, rng, keep_path) for starts in some]
        means, paths = zip(*parts, strict=True)
        return joined(means), joined(paths) if keep_path else None

    # What stages are given.

    def _support(self, stage: str, reading: Reading) -> None:
        for choice, values in self.hello.readings.items():
            chosen = getattr(reading, choice, None)
            if isinstance(chosen, str) and chosen not in values:
                raise MissingCapabilityError(f"the subject offers no {stage} with {choice} = {chosen}")

    def _draws_fit(self, stage: Asked, problem: Problem, call: Call) -> bool:
        """Whether a call's normals are drawn here and sent."""
        if not self.hello.draws(stage) or call.parameters.lower_level == "primal-dual" or call.draws is not None:
            return False
        size = draw_bytes(problem, call)
        return size > 0 and (self.hello.makes_draws or size < min(LISTED_BYTES, self._talk.longest // 2))

    def _draws(self, problem: Problem, call: Call, replications: int, rng: np.random.Generator) -> dict[str, Any]:
        """Normals for independent estimates, each (replications * N_g, k): a seed where the subject makes them."""
        shapes = block_shapes(problem, call, replications)
        if not self.hello.makes_draws:
            return {name: rng.standard_normal(shape).tolist() for name, shape in shapes.items()}
        sizes = {name: list(shape) for name, shape in shapes.items()}
        return {"generator": GENERATOR, "seed": int(rng.integers(SEEDS)), "shapes": sizes}

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


SPEAKERS.add(WireSubject)
