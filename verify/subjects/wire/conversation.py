"""Requests and answers with one program, started again where it breaks, given up where it breaks again."""

from __future__ import annotations

import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from typing import Any

import numpy as np
from pydantic_core import to_json

from spec.errors import InvalidInputError
from verify.subjects.protocol import MissingCapabilityError, StageFaultError
from verify.subjects.time_limits import check_limit
from verify.subjects.wire.messages import MESSAGE_BYTES, Hello, Kind, Refusal, WireFault, numbers
from verify.subjects.wire.methods import (
    FORGET,
    METHODS,
    OracleQuestion,
    introduction,
    read_answers,
    request,
    taken_out,
)
from verify.subjects.wire.program import Program

TIME_LIMIT = 30.0
"""Seconds a stage call may take unless said otherwise."""
START_LIMIT = 60.0
"""Seconds a subject may take to start: some runtimes load for long."""
MEMORY_MIB = 4096
"""Memory all processes of a subject may take together."""
STARTS = 24
"""Starts in all before a subject is given up."""
SPARE_BYTES, NUMBER_ROOM = 1 << 20, 64
"""How long a line of a subject may be: bytes beside its numbers, and bytes for each of these."""
ORACLE_EXTRA = 100
"""Oracle requests beyond twice the T of the run before it counts as a flood."""

Oracle = tuple[Callable[[Any], Any], tuple[int, ...], int]
"""The runner's oracle, the shape of a point, and the number of calls expected."""


class Conversation:
    """One program and what was said to it; ``time_limit`` is for one answer, ``start_limit`` for the first."""

    def __init__(
        self,
        command: str,
        *,
        time_limit: float,
        start_limit: float = START_LIMIT,
        memory_mib: int = MEMORY_MIB,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._arguments = split(command)
        self._environment = environment
        check_limit(time_limit)
        self.limit, self._start_limit, self._memory = float(time_limit), float(start_limit), memory_mib << 20
        self._program: Program | None = None
        self._hello: Hello | None = None
        self._ids = 0
        self._starts = 0
        self._broken: Counter[str] = Counter()
        self._shown: set[str] = set()
        self._last: dict[str, tuple[str, Kind]] = {}
        self.sent: dict[str, None] = {}

    @property
    def hello(self) -> Hello:
        """What the subject said of itself; it is started if need be."""
        return self._hello if self._hello is not None else self._start()[1]

    @property
    def pid(self) -> int | None:
        """The running process, if any."""
        return None if self._program is None else self._program.pid

    @property
    def longest(self) -> int:
        """Longest line the subject takes, bytes."""
        return min(MESSAGE_BYTES, self.hello.limits.message_bytes)

    def start(self) -> None:
        """Start the subject if it does not run."""
        self._running()

    def close(self) -> bool:
        """Shut the program down; whether it left by itself."""
        program, self._program = self._program, None
        self.sent = {}
        return program is not None and program.close(self._line("shutdown", None))

    def ask(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        oracle: Oracle | None = None,
        key: str = "",
        expects: int = 0,
    ) -> Any:
        """The result of one request; arguments as for :meth:`ask_all`."""
        return self.ask_all(method, [params], oracle=oracle, key=key, expects=expects)[0]

    def ask_all(
        self,
        method: str,
        batch: Sequence[dict[str, Any] | None],
        *,
        oracle: Oracle | None = None,
        key: str = "",
        expects: int = 0,
    ) -> list[Any]:
        """The results of a request, or of a batch of them; ``oracle`` answers the subject's own requests.

        What ``key`` names, or the method, is not asked again once it broke the program twice. ``expects`` is how many
        numbers each line of the subject holds at most: a line much longer than these is not read.

        Raises:
            StageFaultError: If the subject does not answer as it must.
            MissingCapabilityError: If it says that it does not support this.
        """
        key = key or method
        if self._broken[key] > 1:
            text, kind = self._last[key]
            raise StageFaultError(f"{method} is not called again: it {text}, for the second time", kind)
        ids = [self._next_id() for _ in batch]
        messages = [request(method, number, params) for number, params in zip(ids, batch, strict=True)]
        if method not in self._shown:
            # What the runner itself builds is as the schemas say: the first request shows it, others cost time.
            shown = {**messages[0], **({"params": dict(messages[0]["params"])} if "params" in messages[0] else {})}
            taken_out(shown)
            METHODS[method].request.validate_python(shown)
            self._shown.add(method)
        line = to_json(messages[0] if len(messages) == 1 else messages) + b"\n"
        if len(line) > self.longest:
            raise MissingCapabilityError(f"the subject reads no message of {len(line)} bytes, as {method} needs")
        program = self._running()
        longest = min(MESSAGE_BYTES, SPARE_BYTES + NUMBER_ROOM * expects * len(batch))
        questions = 0
        with self._judged(method, key):
            while True:
                answer = read_answers(program.exchange(line, self.limit, longest), method, ids)
                if not isinstance(answer, OracleQuestion):
                    return answer
                questions += 1
                line = self._reply(answer, oracle, questions)

    def forget(self, name: str) -> None:
        """Tell the subject that a problem will not be used again."""
        message = {"jsonrpc": "2.0", "method": "forget", "params": {"id": name}}
        FORGET.validate_python(message)
        with self._judged("forget", "forget"):
            self._running().tell(to_json(message) + b"\n", self.limit)
            self.sent.pop(name, None)

    def _reply(self, request: OracleQuestion, oracle: Oracle | None, questions: int) -> bytes:
        if oracle is None:
            raise WireFault("unknown-id", "asked for an oracle nobody brought")
        answer, shape, expected = oracle
        if questions > 2 * expected + ORACLE_EXTRA:
            raise WireFault("flood", f"asked the oracle more than {questions - 1} times instead of T = {expected}")
        try:
            z = np.array(request.z, dtype=np.float64)
        except ValueError:
            raise WireFault("schema", "asked the oracle about rows of different lengths", lost=True) from None
        if z.shape != shape:
            raise WireFault("schema", f"asked the oracle about shape {z.shape} instead of {shape}", lost=True)
        gradient = np.asarray(answer(z), dtype=np.float64)
        if not np.isfinite(gradient).all():
            raise InvalidInputError("oracle", "must answer finite numbers", gradient.ravel()[:4].tolist())
        result = {"gradient": numbers(gradient, packed=self.hello.packed)}
        return to_json({"jsonrpc": "2.0", "id": request.id, "result": result}) + b"\n"

    @contextmanager
    def _judged(self, method: str, key: str) -> Iterator[None]:
        """Turn what went wrong into a line; drop the program where nobody knows what it will say next."""
        try:
            yield
        except WireFault as fault:
            if fault.lost or method == "initialize":
                self._drop()
                self._broken[key] += 1
                self._last[key] = fault.text, fault.kind
            raise StageFaultError(fault.text if fault.is_line else f"{method} {fault.text}", fault.kind) from None
        except Refusal as refusal:
            if method == "initialize":
                self._drop()
                raise StageFaultError(f"initialize was refused: {refusal}") from None
            raise MissingCapabilityError(str(refusal)) from None
        except BaseException:
            # An oracle that failed or an interrupt: the program still waits for a reply that never comes.
            self._drop()
            self._starts -= 1  # not the subject's doing
            raise

    def _drop(self) -> None:
        program, self._program = self._program, None
        self.sent = {}
        if program is not None:
            program.close()

    def _running(self) -> Program:
        # One that died meanwhile is found out by the next request, and said; it is not replaced in silence.
        return self._program if self._program is not None else self._start()[0]

    def _start(self) -> tuple[Program, Hello]:
        if self._broken["initialize"] > 1 or self._starts >= STARTS:
            text, kind = self._last.get("initialize", (f"was started {self._starts} times", "crash"))
            raise StageFaultError(f"the subject is down: it {text}", kind)
        self._starts += 1
        program = Program(self._arguments, message_bytes=MESSAGE_BYTES, memory_bytes=self._memory,
                          environment=self._environment)  # fmt: skip
        self._program = program
        params = introduction("f2csa-verify", metadata.version("f2csa-verify"), self.limit)
        with self._judged("initialize", "initialize"):
            line = self._line("initialize", params)
            answer = read_answers(program.exchange(line, self._start_limit), "initialize", [self._ids])
            hello = answer[0] if isinstance(answer, list) else None
            if not isinstance(hello, Hello):
                raise WireFault("unknown-id", "was not answered first")
            if self._hello is not None and hello.capabilities != self._hello.capabilities:
                raise WireFault("lie", "announced other stages than before it was restarted")
        self._hello = hello
        return program, hello

    def _line(self, method: str, params: dict[str, Any] | None) -> bytes:
        message = request(method, self._next_id(), params)
        METHODS[method].request.validate_python(message)
        return to_json(message) + b"\n"

    def _next_id(self) -> int:
        self._ids += 1
        return self._ids


def split(command: str) -> list[str]:
    """Split a command line as a POSIX shell would, which never sees it; refuse one that names nothing to be run."""
    try:
        parts = shlex.split(command)
    except ValueError as error:
        reason = str(error)
        raise InvalidInputError("command", f"cannot be split ({reason[:1].lower()}{reason[1:]})", command) from None
    if not parts or not parts[0] or any("\0" in part for part in parts):
        raise InvalidInputError("command", "must name a program", command.strip())
    if shutil.which(parts[0]) is None:
        raise InvalidInputError("command", "must begin with a program that is there and may be run", parts[0])
    return parts
