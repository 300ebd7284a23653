"""What an adapter's author runs first: whether a program speaks the wire at all, check by check."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from pydantic_core import from_json, to_json

from verify.subjects.protocol import MissingCapabilityError, Stages, SubjectFaultError
from verify.subjects.self_test import CheckFailedError, tiny_problem, try_stage
from verify.subjects.stage_table import STAGES
from verify.subjects.wire.client import WireSubject
from verify.subjects.wire.conversation import MEMORY_MIB, START_LIMIT, Conversation
from verify.subjects.wire.messages import (
    INVALID_REQUEST,
    MESSAGE_BYTES,
    NO_METHOD,
    PARSE_ERROR,
    PROTOCOL,
    WireFault,
    quoted,
)
from verify.subjects.wire.problems import problem_message
from verify.subjects.wire.program import Program, split

SECONDS = 30.0
"""Time for one answer."""
DOUBLES = (
    0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 5e-324, -5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1e308,
    1.7976931348623157e308, 1e16, 1e20, 9007199254740993.0, 123456.78901234567, math.pi, 1e-7, 4.35, 0.1 + 0.2,
)  # fmt: skip
"""Numbers that careless writing or reading changes."""
LARGE = 200_000
"""Numbers of the large message: about 4 MB."""


class SelfTestLine(NamedTuple):
    """One check: its name, whether it passed, and a line that says what was seen."""

    check: str
    ok: bool
    line: str


def run_self_test(command: str, *, seconds: float = SECONDS) -> list[SelfTestLine]:
    """Try everything a subject must be able to do, on tiny inputs.

    Args:
        command: Command line of the subject; split, never given to a shell.
        seconds: Time for one answer.

    Returns:
        One line a check, in the order made; a failed handshake ends the list.

    Raises:
        InvalidInputError: If the command line is none, or its program cannot be started.
    """
    lines = [_checked("handshake", lambda: _handshake(command, seconds))]
    if not lines[0].ok:
        return lines
    raw: tuple[tuple[str, Callable[[_Raw], str]], ...] = (
        ("unknown method", _unknown_method),
        ("malformed line", _malformed_line),
        ("no request", _no_request),
        ("notification", _notification),
        ("batch", _batch),
        ("doubles", _doubles),
        ("large message", _large_message),
        ("problem reference", _problem_reference),
    )
    spoken = _Spoken(command, seconds)
    try:
        for name, check in raw:
            line = _checked(name, partial(_spoken_to, spoken, check))
            lines.append(line)
            if not line.ok:
                spoken.close()
        lines += _stages(command, seconds)
        lines.append(_checked("shutdown", lambda: _shutdown(command, seconds)))
        lines.append(_checked("end of input", lambda: _end_of_input(spoken.to())))
    finally:
        spoken.close()
    return lines


def _checked(name: str, check: Callable[[], str]) -> SelfTestLine:
    try:
        return SelfTestLine(name, True, check())
    except WireFault as fault:
        return SelfTestLine(name, False, f"the subject {fault.text}")
    except MissingCapabilityError as refusal:
        return SelfTestLine(name, True, f"answered with error -32001: {refusal}")
    except (CheckFailedError, SubjectFaultError) as error:
        return SelfTestLine(name, False, str(error))


def _conversation(command: str, seconds: float) -> Conversation:
    return Conversation(command, time_limit=seconds, start_limit=START_LIMIT, memory_mib=MEMORY_MIB)


def _handshake(command: str, seconds: float) -> str:
    talk = _conversation(command, seconds)
    try:
        hello = talk.hello
    finally:
        talk.close()
    return f"{hello.name} {hello.version} in {hello.language} offers {', '.join(hello.capabilities)}"


class _Raw:
    """A running subject, spoken to line by line."""

    def __init__(self, program: Program, seconds: float) -> None:
        self.program, self.seconds = program, seconds

    def say(self, line: bytes) -> Any:
        answer = self.program.exchange(line, self.seconds)
        try:
            return from_json(answer, allow_inf_nan=False)
        except ValueError:
            raise CheckFailedError(f"the answer is not JSON: {quoted(answer)}") from None

    def ask(self, method: str, params: Any = None, number: int = 7) -> Any:
        return self.say(to_json(_request(method, params, number)) + b"\n")


def _request(method: str, params: Any, number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method} | ({} if params is None else {"params": params})


class _Spoken:
    """One program for several checks; a new one after each that failed."""

    def __init__(self, command: str, seconds: float) -> None:
        self._arguments, self._seconds = split(command), seconds
        self._program: Program | None = None

    def to(self) -> _Raw:
        if self._program is None:
            self._program = Program(
                self._arguments, message_bytes=MESSAGE_BYTES, memory_bytes=MEMORY_MIB << 20
            )  # fmt: skip
            params = {
                "protocol": PROTOCOL,
                "runner": {"name": "self-test", "version": "1"},
                "limits": {"message_bytes": MESSAGE_BYTES, "seconds": self._seconds},
            }
            self._program.exchange(to_json(_request("initialize", params, 1)) + b"\n", START_LIMIT)
        return _Raw(self._program, self._seconds)

    def close(self) -> None:
        program, self._program = self._program, None
        if program is not None:
            program.close()


def _spoken_to(spoken: _Spoken, check: Callable[[_Raw], str]) -> str:
    return check(spoken.to())


def _refused(raw: _Raw, line: bytes, code: int, number: int | None) -> str:
    try:
        answer = raw.say(line)
    except WireFault as fault:
        raise CheckFailedError(f"{quoted(line.strip())} must be answered with error {code}; it {fault.text}") from None
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict) or error.get("code") != code:
        raise CheckFailedError(
            f"{quoted(line.strip())} must be answered with error {code}; got {quoted(to_json(answer))}"
        )
    if answer.get("id") != number:
        raise CheckFailedError(f"the error must carry the id {number}; got {answer.get('id')!r}")
    return f"answered with error {code}"


def _unknown_method(raw: _Raw) -> str:
    said = _refused(raw, to_json(_request("no_such_method", {}, 7)) + b"\n", NO_METHOD, 7)
    return f"{said}; {_still_there(raw)}"


def _malformed_line(raw: _Raw) -> str:
    said = _refused(raw, b'{"jsonrpc":"2.0","id":7,"method":"ec\n', PARSE_ERROR, None)
    return f"{said}; {_still_there(raw)}"


def _no_request(raw: _Raw) -> str:
    said = _refused(raw, b'{"jsonrpc":"2.0"}\n', INVALID_REQUEST, None)
    return f"{said}; {_still_there(raw)}"


def _notification(raw: _Raw) -> str:
    raw.program.tell(b'{"jsonrpc":"2.0","method":"forget","params":{"id":"p9"}}\n', raw.seconds)
    _still_there(raw)
    return "forget is taken without an answer"


def _still_there(raw: _Raw) -> str:
    answer = raw.ask("echo", {"values": [1.5]}, 8)
    if not isinstance(answer, dict) or answer.get("id") != 8 or answer.get("result") != {"values": [1.5]}:
        raise CheckFailedError(f"echo must be answered afterwards; got {quoted(to_json(answer))}")
    return "the next request is answered"


def _batch(raw: _Raw) -> str:
    requests = [_request("echo", {"values": [float(number)]}, number) for number in (11, 12, 13)]
    answers = raw.say(to_json(requests) + b"\n")
    if not isinstance(answers, list) or len(answers) != 3:
        raise CheckFailedError(f"a batch of 3 is answered by an array of 3; got {quoted(to_json(answers))}")
    found = {answer.get("id"): answer.get("result") for answer in answers if isinstance(answer, dict)}
    if found != {number: {"values": [float(number)]} for number in (11, 12, 13)}:
        raise CheckFailedError(f"each response carries its request's id; got {quoted(to_json(answers))}")
    return "3 requests on one line, 3 responses on one line"


def _doubles(raw: _Raw) -> str:
    rng = np.random.default_rng(0)
    spread = rng.standard_normal(2000) * 10.0 ** rng.integers(-300, 300, 2000)
    sent = [*DOUBLES, *spread.tolist()]
    returned = _echoed(raw, sent)
    for before, after in zip(sent, returned, strict=True):
        if float(after) != before:
            raise CheckFailedError(f"{before!r} came back as {after!r}")
    lost = any(math.copysign(1.0, float(b)) != math.copysign(1.0, a) for a, b in zip(sent, returned, strict=True))
    return f"{len(sent)} numbers came back exactly" + (", except that -0 became 0, which is allowed" if lost else "")


def _echoed(raw: _Raw, sent: list[float]) -> list[Any]:
    answer = raw.ask("echo", {"values": sent})
    values = answer.get("result", {}).get("values") if isinstance(answer, dict) else None
    if not isinstance(values, list) or len(values) != len(sent):
        raise CheckFailedError(f"echo must answer with as many values; got {quoted(to_json(answer)[:300])}")
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        raise CheckFailedError("echo must answer with numbers only")
    return values


def _large_message(raw: _Raw) -> str:
    sent = np.random.default_rng(1).standard_normal(LARGE).tolist()
    started = time.perf_counter()
    if _echoed(raw, sent) != sent:
        raise CheckFailedError("a large message came back changed")
    return f"{LARGE} numbers there and back in {time.perf_counter() - started:.2f} s"


def _problem_reference(raw: _Raw) -> str:
    answer = raw.ask("problem", problem_message("p1", tiny_problem()))
    if not isinstance(answer, dict) or "error" in answer:
        raise CheckFailedError(f"a problem must be taken; got {quoted(to_json(answer))}")
    return "a problem is taken; its stages below refer to it"


def _end_of_input(raw: _Raw) -> str:
    raw.program.end_input()
    if not raw.program.gone_within(2.0):
        raise CheckFailedError("the subject must exit within 2 s when its standard input ends")
    return "exits when its standard input ends"


def _shutdown(command: str, seconds: float) -> str:
    talk = _conversation(command, seconds)
    started = time.perf_counter()
    try:
        talk.start()
    finally:
        polite = talk.close()
    if not polite:
        raise CheckFailedError("shutdown must be answered, then the subject must exit within 2 s with code 0")
    return f"started and shut down in {time.perf_counter() - started:.2f} s"


def _stages(command: str, seconds: float) -> Iterator[SelfTestLine]:
    problem = tiny_problem()
    with WireSubject(command, time_limit=seconds) as subject:
        stages = Stages(subject)
        for stage in STAGES:
            if stage in subject.hello.capabilities:
                yield _checked(stage, partial(try_stage, stages, stage, problem))
