"""What an adapter's author runs first: whether a program speaks the wire at all, check by check."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from pydantic_core import from_json, to_json

from spec import OracleParameters, OuterParameters, parse_problem
from verify.subjects.protocol import Call, MissingCapabilityError, StageCalls, SubjectFaultError
from verify.subjects.stage_table import ROWS, STAGES, Stage
from verify.subjects.wire.client import WireSubject
from verify.subjects.wire.conversation import MEMORY_MIB, START_LIMIT, Conversation, split
from verify.subjects.wire.messages import MESSAGE_BYTES, SEEDS, Code, WireFault, quoted
from verify.subjects.wire.methods import introduction, request
from verify.subjects.wire.program import Program
from verify.subjects.wire.request_fields import problem_message
from verify.subjects.wire.seeded_draws import blocks_of, normals

SECONDS = 30.0
"""Time for one answer."""
DOUBLES = (
    0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 5e-324, -5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1e308,
    1.7976931348623157e308, 1e16, 1e20, 9007199254740993.0, 123456.78901234567, math.pi, 1e-7, 4.35, 0.1 + 0.2,
)  # fmt: skip
"""Numbers that careless writing or reading changes."""
LARGE = 200_000
"""Numbers of the large message: about 4 MB."""
TINY = {
    "kind": "quadratic",
    "f": {"xx": [[1, 0], [0, 2]], "xy": [["1/3", 0, 0], [0, 1, 0]], "y": [1, 0, -1]},
    "g": {"yy": [[2, 0, 0], [0, 1, 0], [0, 0, 3]], "xy": [[0, 1, 0], [1, 0, 0]]},
    "constraints": {"A": [[1, 0]], "B": [[1, 1, 0]], "b": ["1/7"]},
    "noise": {"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"},
}
"""n = 2, m = 3, p = 1: every wrong shape shows."""


class CheckFailedError(Exception):
    """A check that did not pass, in a line."""


class SelfTestLine(NamedTuple):
    """One check: its name, whether it passed, and a line that says what was seen."""

    check: str
    ok: bool
    line: str


def run_self_test(command: str, *, seconds: float = SECONDS) -> list[SelfTestLine]:
    """Try everything a subject must be able to do, on tiny inputs, a line a check; a failed handshake ends the list.

    Raises:
        InvalidInputError: If the command line is none, or its program cannot be started.
    """
    lines = [_checked("handshake", lambda: _handshake(command, seconds))]
    if not lines[0].ok:
        return lines
    raw = _Raw(command, seconds)
    try:
        lines += [raw.checked(name, check) for name, check in _RAW.items()]
        lines += _stages(command, seconds)
        lines.append(_checked("shutdown", lambda: _shutdown(command, seconds)))
        lines.append(raw.checked("end of input", _end_of_input))
    finally:
        raw.close()
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


def _handshake(command: str, seconds: float) -> str:
    with closing(Conversation(command, time_limit=seconds)) as talk:
        hello = talk.hello
    return f"{hello.name} {hello.version} in {hello.language} offers {', '.join(hello.capabilities)}"


class _Raw:
    """A subject spoken to line by line: one program for several checks, a new one after each that failed."""

    program: Program

    def __init__(self, command: str, seconds: float) -> None:
        self._arguments, self.seconds, self._runs = split(command), seconds, False

    def _started(self) -> _Raw:
        if not self._runs:
            self.program = Program(self._arguments, message_bytes=MESSAGE_BYTES, memory_bytes=MEMORY_MIB << 20)
            self._runs = True
            hello = request("initialize", 1, introduction("self-test", "1", self.seconds))
            self.program.exchange(to_json(hello) + b"\n", START_LIMIT)
        return self

    def close(self) -> None:
        if self._runs:
            self._runs = False
            self.program.close()

    def checked(self, name: str, check: Callable[[_Raw], str]) -> SelfTestLine:
        line = _checked(name, lambda: check(self._started()))
        if not line.ok:
            self.close()
        return line

    def say(self, line: bytes) -> Any:
        answer = self.program.exchange(line, self.seconds)
        try:
            return from_json(answer, allow_inf_nan=False)
        except ValueError:
            raise CheckFailedError(f"the answer is not JSON: {quoted(answer)}") from None

    def ask(self, method: str, params: dict[str, Any], number: int = 7) -> Any:
        return self.say(to_json(request(method, number, params)) + b"\n")


def _refused(line: bytes, code: int, number: int | None, raw: _Raw) -> str:
    try:
        answer = raw.say(line + b"\n")
    except WireFault as fault:
        raise CheckFailedError(f"{quoted(line)} must be answered with error {code}; it {fault.text}") from None
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict) or error.get("code") != code:
        raise CheckFailedError(f"{quoted(line)} must be answered with error {code}; got {quoted(to_json(answer))}")
    if answer.get("id") != number:
        raise CheckFailedError(f"the error must carry the id {number}; got {answer.get('id')!r}")
    return f"answered with error {code}; {_still_there(raw)}"


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
    requests = [request("echo", number, {"values": [float(number)]}) for number in (11, 12, 13)]
    answers = raw.say(to_json(requests) + b"\n")
    if not isinstance(answers, list) or len(answers) != 3:
        raise CheckFailedError(f"a batch of 3 is answered by an array of 3; got {quoted(to_json(answers))}")
    results = {answer.get("id"): answer.get("result") for answer in answers if isinstance(answer, dict)}
    if results != {number: {"values": [float(number)]} for number in (11, 12, 13)}:
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
    answer = raw.ask("problem", problem_message("p1", parse_problem(TINY)))
    if not isinstance(answer, dict) or "error" in answer:
        raise CheckFailedError(f"a problem must be taken; got {quoted(to_json(answer))}")
    return "a problem is taken; its stages below refer to it"


_RAW: dict[str, Callable[[_Raw], str]] = {
    "unknown method": partial(_refused, to_json(request("no_such_method", 7, {})), Code.NO_METHOD, 7),
    "malformed line": partial(_refused, b'{"jsonrpc":"2.0","id":7,"method":"ec', Code.PARSE_ERROR, None),
    "no request": partial(_refused, b'{"jsonrpc":"2.0"}', Code.INVALID_REQUEST, None),
    "notification": _notification,
    "batch": _batch,
    "doubles": _doubles,
    "large message": _large_message,
    "problem reference": _problem_reference,
}


def _end_of_input(raw: _Raw) -> str:
    raw.program.end_input()
    if not raw.program.gone_within(2.0):
        raise CheckFailedError("the subject must exit within 2 s when its standard input ends")
    return "exits when its standard input ends"


def _shutdown(command: str, seconds: float) -> str:
    talk = Conversation(command, time_limit=seconds)
    started = time.perf_counter()
    try:
        talk.start()
    finally:
        polite = talk.close()
    if not polite:
        raise CheckFailedError("shutdown must be answered, then the subject must exit within 2 s with code 0")
    return f"started and shut down in {time.perf_counter() - started:.2f} s"


def _stages(command: str, seconds: float) -> Iterator[SelfTestLine]:
    with WireSubject(command, time_limit=seconds) as subject:
        for stage in STAGES:
            if stage in subject.hello.capabilities:
                yield _checked(stage, partial(_try, StageCalls(subject), stage))
        if subject.hello.makes_draws and "hypergradient" in subject.hello.capabilities:
            yield _checked("seeded draws", partial(_seeded, StageCalls(subject)))


def _seeded(stages: StageCalls) -> str:
    """Whether normals made from a seed are those that the seed stands for."""
    call = Call(
        alpha=0.5, y_star=np.array([0.1, -0.2, 0.3]), lam=np.array([0.2]), rho=np.array([1.0]),
        y_penalty=np.array([0.2, 0.1, 0.3]), parameters=OracleParameters(N_g=3),
    )  # fmt: skip
    problem, x = parse_problem(TINY), np.array([0.5, -0.25])
    # The first number of the generator handed over is the seed of the message.
    seed = int(np.random.default_rng(3).integers(SEEDS))
    seeded = stages.hypergradient(problem, x, call, np.random.default_rng(3))
    handed, still = (
        stages.hypergradient(problem, x, replace(call, draws=given), np.random.default_rng(3))
        for given in (blocks_of(seed, {"f_x": (3, 2)}), {"f_x": np.zeros((3, 2))})
    )
    if np.allclose(handed, still, rtol=1e-9, atol=1e-12):
        raise CheckFailedError(
            f"normals that are handed over must be used; it answers {handed.tolist()} whatever they are"
        )
    if not np.allclose(seeded, handed, rtol=1e-9, atol=1e-12):
        first = normals(seed, 2).tolist()
        raise CheckFailedError(
            f"seed {seed} stands for normals that begin with {first[0]!r}, {first[1]!r}; given them it answers "
            f"{handed.tolist()}, given the seed {seeded.tolist()}"
        )
    return "a seed gives the answer that its normals give"


def _try(stages: StageCalls, stage: Stage) -> str:
    """Call a stage once on the tiny problem: whether the answer has the right form."""
    x, y, lam, rho = np.array([0.5, -0.25]), np.array([0.1, -0.2, 0.3]), np.array([0.2]), np.array([1.0])
    outer = OuterParameters(goldstein_radius=0.4, epsilon=0.1, D=0.1, eta=0.1, M=4, K=3)
    questions = []

    def oracle(z: Any) -> Any:
        questions.append(z)
        return np.asarray(z)

    given = Call(alpha=0.1, y_star=y, lam=lam, rho=rho)
    few = given.parameters.model_copy(update={"lower_level_steps": 8, "penalty_steps": 2, "shared_samples": 2})
    inner = Call(alpha=0.5, parameters=few.model_copy(update={"lower_level": "primal-dual"}))
    calls = {
        "hypergradient": Call(alpha=0.1),
        "lower_level_runs": inner,
        "penalty_runs": Call(alpha=0.5, y_star=y, lam=lam, rho=rho, parameters=few),
        "hypergradient_runs": inner,
    }
    arguments: dict[str, Any] = {
        "problem": parse_problem(TINY), "x": x, "call": calls.get(stage, given), "rng": np.random.default_rng(2),
        "h": np.array([-0.01]), "lam": lam, "h_width": 0.1, "lam_width": 0.1, "tol": 1e-6,
        "replications": 5 if stage == "hypergradient_samples" else 3,
        "oracle": oracle, "x0": np.tile(x, (5, 1)) if stage == "optimise_runs" else x, "parameters": outer,
        "keep_path": True,
    }  # fmt: skip
    getattr(stages, stage)(**{name: arguments[name] for name in ROWS[stage].takes})
    if "oracle" in ROWS[stage].takes and len(questions) != outer.T:
        raise CheckFailedError(f"asked the oracle {len(questions)} times instead of T = {outer.T}")
    return "answers in the right shapes"
