"""``python -m verify.subjects.wire.serve package.module:Attribute``: any Python subject over the wire."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, BinaryIO

import numpy as np
from pydantic import ValidationError
from pydantic_core import from_json, to_json

from spec import OracleParameters, OuterParameters, Problem, Reading, parse_problem
from spec.errors import InvalidInputError, from_validation
from verify.subjects.faults import (
    LoadingFaultError,
    MissingCapabilityError,
    SubjectFaultError,
    as_fault,
    as_numbers,
    described,
)
from verify.subjects.protocol import (
    GIVEN,
    OWN_WORDS,
    WHOLE_RUNS,
    Call,
    Subject,
    checked_count,
    offers,
    parts_of,
)
from verify.subjects.stage_table import ROWS, Asked
from verify.subjects.subject_names import load_here, name_of, version_of
from verify.subjects.users_files import forget_users_modules
from verify.subjects.wire.messages import PROTOCOL, UNSTATED, Code, WireFault, numbers
from verify.subjects.wire.methods import METHODS, taken_out


class StopServingError(Exception):
    """The runner said shutdown, or left."""


class AnswerError(Exception):
    """An answer that is an error of the wire."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """Answers the wire's requests with a Python subject; ``ask``, which ``optimise`` needs, asks the runner.

    ``load`` makes the subject, at the first request and whenever it is to be as new.
    """

    def __init__(self, load: Callable[[], Subject], ask: Callable[[dict[str, Any]], Any] | None = None) -> None:
        self._load = load
        self._loaded: Any = None
        self._ask = ask
        self._problems: dict[str, Problem] = {}
        self._asked = 0
        self.stopped = False

    @property
    def _subject(self) -> Any:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def answer(self, line: bytes) -> bytes | None:
        """The line that answers a line, or ``None`` where none is due."""
        try:
            message = from_json(line, allow_inf_nan=False)
        except (ValueError, RecursionError):
            return _line(_error(None, Code.PARSE_ERROR, "the line is not JSON"))
        if not isinstance(message, list):
            answer = self._one(message)
            return None if answer is None else _line(answer)
        if not message:
            return _line(_error(None, Code.INVALID_REQUEST, "a batch holds at least one request"))
        answers = [answer for answer in map(self._one, message) if answer is not None]
        return _line(answers) if answers else None

    def _one(self, message: Any) -> dict[str, Any] | None:
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return _error(None, Code.INVALID_REQUEST, "a request is an object with a method")
        number, method = message.get("id"), message["method"]
        if "id" not in message:
            if method == "forget" and isinstance(message.get("params"), dict):
                self._problems.pop(str(message["params"].get("id")), None)
            return None
        if not isinstance(number, int) or isinstance(number, bool):
            return _error(None, Code.INVALID_REQUEST, "an id is an integer")
        try:
            return {"jsonrpc": "2.0", "id": number, "result": self._result(method, message)}
        except AnswerError as error:
            return _error(number, error.code, str(error))
        except (StopServingError, KeyboardInterrupt):
            raise
        except OWN_WORDS as error:
            return _error(number, Code.NOT_SUPPORTED, str(error))
        except SubjectFaultError as error:
            return _error(number, Code.FAILED_SO, str(error))
        except Exception as error:
            return _error(number, Code.FAILED, described(error))

    def _result(self, method: str, message: dict[str, Any]) -> Any:
        known = METHODS.get(method)
        if known is None or (method in ROWS and not offers(self._subject, method)):
            raise AnswerError(Code.NO_METHOD, f"there is no {method[:100]}")
        try:
            arrays = taken_out(message)
            params = getattr(known.request.validate_python(message), "params", None)
        except ValidationError as error:
            raise AnswerError(Code.INVALID_PARAMS, str(from_validation(error, ""))) from None
        except WireFault as error:
            raise AnswerError(Code.INVALID_PARAMS, error.text) from None
        for name, array in arrays.items():
            setattr(params, name, array)
        return self._stage(method, params) if method in ROWS else getattr(self, f"_do_{method}")(params)

    def _do_initialize(self, _params: Any) -> dict[str, Any]:
        try:
            subject = self._subject
        except InvalidInputError as error:
            code = Code.FAILED_SO if isinstance(error, LoadingFaultError) else Code.ABSENT
            raise AnswerError(code, error.rule) from None
        draws = ["hypergradient"] if getattr(subject, "uses_draws", False) is True else []
        accuracy = getattr(subject, "accuracy", None)
        return {
            "protocol": PROTOCOL,
            "name": name_of(subject)[:100],
            "language": "Python",
            "version": version_of(subject)[:100] or UNSTATED,
            "capabilities": [stage for stage in ROWS if offers(subject, stage)],
            "uses_draws": draws,
            "packed": True,
            "renews": True,
        } | ({} if accuracy is None else {"accuracy": accuracy})

    def _do_renew(self, _params: Any) -> dict[str, Any]:
        # What a module of the user's own keeps is as new, too.
        forget_users_modules()
        self._loaded = self._load()
        return {}

    def _do_shutdown(self, _params: Any) -> dict[str, Any]:
        self.stopped = True
        return {}

    def _do_echo(self, params: Any) -> dict[str, Any]:
        return {"values": params.values}

    def _do_problem(self, params: Any) -> dict[str, Any]:
        try:
            self._problems[params.id] = parse_problem(params.file)
        except InvalidInputError as error:
            raise AnswerError(Code.INVALID_PARAMS, str(error)) from None
        return {}

    def _problem(self, params: Any) -> Problem:
        if params.problem not in self._problems:
            raise AnswerError(Code.INVALID_PARAMS, f"problem: must have been sent; got {params.problem[:100]}")
        return self._problems[params.problem]

    def _stage(self, stage: Asked, params: Any) -> dict[str, Any]:
        row, method = ROWS[stage], getattr(self._subject, stage)
        arguments = [self._argument(name, params) for name in row.takes]
        with as_fault(f"{stage} raised"):
            try:
                answer = method(*arguments)
            except OWN_WORDS as refusal:
                if type(refusal) not in OWN_WORDS:
                    raise
                raise MissingCapabilityError(str(refusal)) from None
        result: dict[str, Any] = {}
        for part, value in zip(row.gives, parts_of(stage, answer), strict=True):
            where = f"{stage}.{part.name}" if stage in WHOLE_RUNS else stage
            if part.name == "calls":
                result[part.name] = checked_count(stage, value)
            else:
                missing = part.optional and value is None
                result[part.name] = None if missing else numbers(as_numbers(where, value), packed=True)
        return result

    def _argument(self, name: str, params: Any) -> Any:
        """An argument of a stage's method, from its request."""
        if name == "oracle":
            return self._oracle
        if name == "rng":
            # What Algorithm 2 was drawn are the first numbers of this very generator.
            return None if params.seed is None else np.random.default_rng(params.seed)
        if name == "problem":
            return self._problem(params)
        value = getattr(params, name)
        if name == "call":
            return _call(value)
        if name == "parameters":
            return OuterParameters.model_validate(value.model_dump())
        return _vector(value) if isinstance(value, list) else value

    def _oracle(self, z: Any) -> Any:
        if self._ask is None:
            raise AnswerError(Code.FAILED, "there is no way to ask the oracle")
        self._asked += 1
        sent = numbers(as_numbers("the oracle", z), packed=True)
        reply = self._ask({"jsonrpc": "2.0", "id": f"a{self._asked}", "method": "oracle", "params": {"z": sent}})
        if not isinstance(reply, dict) or "result" not in reply:
            raise AnswerError(Code.FAILED, "the oracle gave no answer")
        arrays = taken_out(reply)
        return np.array(arrays.get("gradient", reply["result"]["gradient"]), dtype=np.float64)


def _call(given: Any) -> Call:
    stages = {name: getattr(given, name) for name in GIVEN}
    draws = None
    if given.draws is not None:
        draws = {name: _vector(block) for name, block in given.draws if block is not None}
    return Call(
        alpha=given.alpha,
        reading=_parsed(Reading, tuple(vars(given.reading).items())),
        parameters=_parsed(OracleParameters, tuple(vars(given.parameters).items())),
        draws=draws,
        **{name: None if value is None else _vector(value) for name, value in stages.items()},
    )


@lru_cache(maxsize=64)
def _parsed(model: type[Reading | OracleParameters], fields: tuple[tuple[str, Any], ...]) -> Any:
    return model.model_validate(dict(fields))


def _vector(values: Any) -> Any:
    return np.array(values, dtype=np.float64)


def _error(number: int | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _line(message: Any) -> bytes:
    return to_json(message) + b"\n"


def serve(load: Callable[[], Subject], source: BinaryIO, target: BinaryIO) -> None:
    """Answer lines until there are none, or until shutdown."""

    def send(line: bytes) -> None:
        target.write(line)
        target.flush()

    def ask(request: dict[str, Any]) -> Any:
        send(_line(request))
        reply = source.readline()
        if not reply:
            raise StopServingError
        try:
            return from_json(reply)
        except ValueError:
            raise AnswerError(Code.FAILED, "the oracle's reply is not JSON") from None

    server = Server(load, ask)
    while not server.stopped and (line := source.readline()):
        try:
            answer = server.answer(line)
            if answer is not None:
                send(answer)
        except (StopServingError, BrokenPipeError):
            return


def main() -> int:
    """Serve the subject named on the command line."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -m verify.subjects.wire.serve package.module:Attribute\n")
        return 2
    # What the subject prints must not get between the messages.
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    serve(partial(load_here, sys.argv[1]), sys.stdin.buffer, target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
