"""Requests and responses around what they hold; a subject's line read against what it was asked; the schemas."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar, Union

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from spec.errors import from_validation, shorten
from spec.exact import FloatArray
from verify.subjects.stage_table import ROWS
from verify.subjects.wire import messages
from verify.subjects.wire.messages import (
    Packed,
    Received,
    Refusal,
    Sent,
    Whole,
    WireFault,
    message,
    printable,
    quoted,
    whole,
)

M = TypeVar("M")
P = TypeVar("P")
R = TypeVar("R")


class _Numbered(Sent):
    jsonrpc: Literal["2.0"]
    id: Annotated[int, Field(ge=0)]


class WireRequest(_Numbered, Generic[M, P]):
    """A request of the runner."""

    method: M
    params: P


class BareRequest(_Numbered, Generic[M]):
    """A request without params."""

    method: M


class Response(Received, Generic[R]):
    """A subject's answer."""

    jsonrpc: Literal["2.0"]
    id: Whole
    result: R


class ErrorObject(Received):
    """What went wrong."""

    code: Whole
    message: str
    data: Any = None


class ErrorResponse(Received):
    """A subject's answer where it has none; ``id`` is null where the request could not be read."""

    jsonrpc: Literal["2.0"]
    id: Whole | None
    error: ErrorObject


class OracleRequest(Received):
    """The only request of a subject."""

    jsonrpc: Literal["2.0"]
    id: int | Annotated[str, Field(max_length=100)]
    method: Literal["oracle"]
    params: messages.OracleParams


class WireMethod:
    """A method by name: types of its request, and of the response that carries its result."""

    def __init__(self, name: str, params: Any, result: Any) -> None:
        generic: Any = BareRequest if params is None else WireRequest
        named: Any = Literal[name]
        self.request_type = generic[named] if params is None else generic[named, params]
        self.response_type = Response[result]
        self.request: TypeAdapter[Any] = TypeAdapter(self.request_type)
        self.response: TypeAdapter[Any] = TypeAdapter(self.response_type)


_HELD: dict[str, tuple[Any, Any]] = {
    "initialize": (messages.InitializeParams, messages.Hello),
    "shutdown": (None, messages.Empty | None),
    "echo": (messages.EchoValues, messages.EchoValues),
    "renew": (None, messages.Empty | None),
    "problem": (messages.ProblemParams, messages.Empty | None),
    **{stage: (messages.PARAMS[stage], messages.RESULTS[stage]) for stage in ROWS},
}
METHODS = {name: WireMethod(name, params, result) for name, (params, result) in _HELD.items()}
"""All methods of a subject by name."""
_FORGET = message(Sent, "Forget", "jsonrpc method params", "The only notification.",
                  jsonrpc=Literal["2.0"], method=Literal["forget"], params=messages.ForgetParams)  # fmt: skip
_REPLY = message(Sent, "OracleReply", "jsonrpc id result", "The runner's reply.",
                 jsonrpc=Literal["2.0"], id=int | str, result=messages.OracleAnswer)  # fmt: skip
_NO_REPLY = message(Sent, "OracleError", "jsonrpc id error", "The runner's reply where it has no answer.",
                    jsonrpc=Literal["2.0"], id=int | str, error=ErrorObject)  # fmt: skip
FORGET: TypeAdapter[Any] = TypeAdapter(_FORGET)
FAILURE: TypeAdapter[Any] = TypeAdapter(ErrorResponse)
ORACLE: TypeAdapter[Any] = TypeAdapter(OracleRequest)


def request(method: str, number: int, params: dict[str, Any] | None) -> dict[str, Any]:
    """A request as it is sent."""
    bare = {"jsonrpc": "2.0", "id": number, "method": method}
    return bare if params is None else {**bare, "params": params}


def introduction(name: str, version: str, seconds: float) -> dict[str, Any]:
    """The params of ``initialize``: who asks, and the time for one answer."""
    return {
        "protocol": messages.PROTOCOL,
        "runner": {"name": name, "version": version},
        "limits": {"message_bytes": messages.MESSAGE_BYTES, "seconds": seconds},
    }


def to_subject_schema() -> dict[str, Any]:
    """JSON Schema of whatever the runner may write on a line."""
    batch = _filled(METHODS["hypergradient"].request_type)
    requests = (method.request_type for method in METHODS.values())
    return _schema_of((*requests, _FORGET, _REPLY, _NO_REPLY, batch))


def to_runner_schema() -> dict[str, Any]:
    """JSON Schema of whatever a subject may write on a line."""
    batch = _filled(METHODS["hypergradient"].response_type | ErrorResponse)
    responses = (method.response_type for method in METHODS.values())
    return _schema_of((*responses, ErrorResponse, OracleRequest, batch))


def _filled(kind: Any) -> Any:
    return Annotated[list[kind], Field(min_length=1)]


def _schema_of(kinds: Any) -> dict[str, Any]:
    union: Any = Union[kinds]  # noqa: UP007  # of a tuple known at run time alone
    return TypeAdapter(union).json_schema()


class OracleQuestion(NamedTuple):
    """What the subject asks the oracle: about one point, or one a run."""

    id: int | str
    z: Any


def read_answers(line: bytes, method: str, ids: Sequence[int]) -> list[Any] | OracleQuestion:
    """The results of one request, or of a batch in the order of the ids; or what the subject asks the oracle.

    Raises:
        WireFault: If the line is no valid answer, or an error.
        Refusal: If the subject says that it does not support this.
    """
    from verify.subjects.wire.plain_answers import read_plainly  # who serves a subject reads no answers

    data = _json(line)
    plain = read_plainly(data, line, method, ids)
    if plain is not None:
        return plain if isinstance(plain, list) else OracleQuestion(*plain)
    _require_unique(data, line)
    unpacked = taken_out(data) if b'"f64"' in line else {}
    if isinstance(data, dict) and "method" in data and not {"result", "error"} & data.keys():
        question = _oracle(data, method)
        _put_back(question.params, unpacked)
        return OracleQuestion(question.id, question.params.z)
    if isinstance(data, list) and len(ids) == 1:
        raise WireFault("schema", "answered a single request with an array", lost=True)
    if isinstance(data, list):
        return _batch(data, method, ids)
    if len(ids) > 1:
        # A batch refused as a whole is answered by one error.
        _single(data, method, None)
        raise WireFault("unknown-id", "answered a batch with a single response")
    answer = _single(data, method, ids[0])
    _put_back(answer, unpacked)
    return [answer]


def taken_out(data: Any) -> dict[str, FloatArray]:
    """Packed arrays taken out of a message by name; as many brackets are left to be checked by the schema.

    Raises:
        WireFault: If one holds something else than it says, or no numbers.
    """
    arrays: dict[str, FloatArray] = {}
    for name, value in _content(data).items():
        if isinstance(value, dict) and "f64" in value:
            try:
                packed = Packed.model_validate(value)
            except ValidationError as error:
                raise _against_schema(error, f"answer.{name}") from None
            arrays[name] = packed.array
            _content(data)[name] = np.zeros([min(size, 1) for size in packed.shape]).tolist()
    return arrays


def _content(data: Any) -> dict[str, Any]:
    """What a message holds beside its envelope."""
    content = (data.get("result") or data.get("params")) if isinstance(data, dict) else None
    return content if isinstance(content, dict) else {}


def _put_back(content: Any, unpacked: dict[str, FloatArray]) -> None:
    """Give a validated message its packed arrays."""
    for name in unpacked.keys() & getattr(type(content), "model_fields", {}).keys():
        setattr(content, name, unpacked[name])


def _json(line: bytes) -> Any:
    try:
        data = from_json(line, allow_inf_nan=False)
    except (ValueError, RecursionError):
        if any(word in line for word in (b"NaN", b"Infinity")) and _almost_json(line):
            raise WireFault("not-finite", "answered NaN or Infinity, which are no numbers") from None
        raise WireFault("garbage", _not_json(line)) from None
    return data


def _require_unique(data: Any, line: bytes) -> None:
    # The parser keeps the last of equal keys. Rarely are there more marks than keys: some stand in texts or lists.
    if len(_KEY.findall(line)) > _keys(data):
        json.loads(line, object_pairs_hook=_unique)


_KEY = re.compile(rb'"\s*:')


def _keys(data: Any) -> int:
    """Keys of an object and of those within, but in lists."""
    return sum(1 + _keys(value) for value in data.values()) if isinstance(data, dict) else 0


def _unique(pairs: list[tuple[str, Any]]) -> None:
    repeated = [name for name, times in Counter(name for name, _ in pairs).items() if times > 1]
    if repeated:
        raise WireFault("schema", f"answered with {shorten(repeated[0])} twice in one object", lost=True)


def _not_json(line: bytes) -> str:
    if not line.strip():
        return "answered with an empty line"
    # What a printer for people writes: the first of many lines.
    more = "; a message must be on one line" if line.strip() in (b"{", b"[") else ""
    return f"answered what is not JSON: {quoted(line[:200])}{more}"


def _almost_json(line: bytes) -> bool:
    try:
        from_json(line)
    except (ValueError, RecursionError):
        return False
    return True


def _oracle(data: dict[str, Any], method: str) -> OracleRequest:
    if data["method"] != "oracle":
        name = shorten(data["method"])
        raise WireFault("schema", f"sent a request of its own, {name}; it may ask for oracle alone", lost=True)
    try:
        question: OracleRequest = ORACLE.validate_python(data)
    except ValidationError as error:
        fault = _against_schema(error, "oracle request")
        raise WireFault(fault.kind, fault.text, lost=True) from None
    if method not in ("optimise", "optimise_runs"):
        raise WireFault("unknown-id", "asked for the oracle, which only optimise may")
    return question


def _batch(data: list[Any], method: str, ids: Sequence[int]) -> list[Any]:
    if len(data) != len(ids):
        raise WireFault("unknown-id", f"answered {len(data)} responses to a batch of {len(ids)}")
    results: dict[Any, Any] = {}
    for item in data:
        given = whole(item.get("id")) if isinstance(item, dict) else None
        if not isinstance(given, int) or given not in ids or given in results:
            raise WireFault("unknown-id", f"answered id {shorten(given)} in a batch of {ids[0]} to {ids[-1]}")
        unpacked = taken_out(item)
        results[given] = _single(item, method, given)
        _put_back(results[given], unpacked)
    return [results[wanted] for wanted in ids]


def _single(data: Any, method: str, wanted: int | None) -> Any:
    failed = isinstance(data, dict) and "error" in data
    try:
        answer = (FAILURE if failed else METHODS[method].response).validate_python(data)
    except ValidationError as error:
        raise _against_schema(error, "answer") from None
    if wanted is not None and answer.id != wanted and not (failed and answer.id is None):
        raise WireFault("unknown-id", f"answered id {shorten(answer.id)} instead of {wanted}")
    if failed:
        raise _refusal(answer.error, method)
    return answer.result


def _refusal(error: ErrorObject, method: str) -> Exception:
    """What an error means."""
    words = shorten(printable(error.message[: messages.SHOWN]) or "nothing")
    if error.code == messages.Code.NOT_SUPPORTED:
        return Refusal(f"the subject does not support this {method}: {words}")
    if error.code == messages.Code.NO_METHOD:
        return WireFault("lie", f"was announced, but answered that there is no such method ({words})")
    if (kind := messages.LINES.get(error.code)) is not None:
        return WireFault(kind, error.message[: messages.SHOWN] or f"{method} failed", is_line=True)
    return WireFault("error", f"answered error {error.code}: {words}")


def _against_schema(error: ValidationError, what: str) -> WireFault:
    first = error.errors(include_url=False)[0]
    given, where = first["input"], ".".join(str(part) for part in first["loc"] if part != "list[constrained-float]")
    too_large = isinstance(given, int) and not isinstance(given, bool)
    if first["type"] == "finite_number" or (first["type"] == "float_type" and too_large):
        return WireFault("not-finite", f"answered a number beyond doubles at {where}")
    if first["type"] == "float_type" and given is None:
        return WireFault("not-finite", f"answered null instead of a number at {where}")
    if first["loc"] == ("error",) and given is None:
        return WireFault("schema", "answered against the schema: answer.error: must be left out where there is none")
    # Text that looks like a number is shown as text.
    text = ", which is text" if first["type"] in ("int_type", "float_type") and isinstance(given, str) else ""
    return WireFault("schema", f"answered against the schema: {from_validation(error, what)}{text}")
