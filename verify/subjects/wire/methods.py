"""The wire's messages: requests and responses around what they hold, and the schemas published of both directions."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar, Union

from pydantic import Field, TypeAdapter

from verify.subjects.wire.messages import (
    EchoValues,
    Empty,
    ForgetParams,
    Hello,
    InitializeParams,
    ProblemParams,
    Received,
    Sent,
    Whole,
)
from verify.subjects.wire.stage_messages import (
    ActivationParams,
    ActivationResult,
    HypergradientParams,
    HypergradientResult,
    HypergradientRunsResult,
    LowerLevelParams,
    LowerLevelResult,
    LowerLevelRunsResult,
    OptimiseParams,
    OptimiseResult,
    OptimiseRunsParams,
    OptimiseRunsResult,
    OracleAnswer,
    OracleParams,
    PenaltyMinimiserParams,
    PenaltyMinimiserResult,
    PenaltyRunsResult,
    RunsParams,
    SamplesResult,
)

M = TypeVar("M")
P = TypeVar("P")
R = TypeVar("R")


class Request(Sent, Generic[M, P]):
    """A request of the runner."""

    jsonrpc: Literal["2.0"]
    id: Annotated[int, Field(ge=0)]
    method: M
    params: P


class BareRequest(Sent, Generic[M]):
    """A request without params."""

    jsonrpc: Literal["2.0"]
    id: Annotated[int, Field(ge=0)]
    method: M


class Forget(Sent):
    """The only notification."""

    jsonrpc: Literal["2.0"]
    method: Literal["forget"]
    params: ForgetParams


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
    params: OracleParams


class OracleReply(Sent):
    """The runner's reply."""

    jsonrpc: Literal["2.0"]
    id: int | str
    result: OracleAnswer


class OracleError(Sent):
    """The runner's reply where it has no answer."""

    jsonrpc: Literal["2.0"]
    id: int | str
    error: ErrorObject


class Method:
    """A method: its request, and the response that carries its result.

    Args:
        request: Type of the request.
        result: Type of the result.
    """

    def __init__(self, request: Any, result: Any) -> None:
        self.request_type = request
        self.response_type = Response[result]
        self.request: TypeAdapter[Any] = TypeAdapter(request)
        self.response: TypeAdapter[Any] = TypeAdapter(self.response_type)


METHODS: dict[str, Method] = {
    "initialize": Method(Request[Literal["initialize"], InitializeParams], Hello),
    "shutdown": Method(BareRequest[Literal["shutdown"]], Empty | None),
    "echo": Method(Request[Literal["echo"], EchoValues], EchoValues),
    "problem": Method(Request[Literal["problem"], ProblemParams], Empty | None),
    "lower_level": Method(Request[Literal["lower_level"], LowerLevelParams], LowerLevelResult),
    "activation": Method(Request[Literal["activation"], ActivationParams], ActivationResult),
    "penalty_minimiser": Method(Request[Literal["penalty_minimiser"], PenaltyMinimiserParams], PenaltyMinimiserResult),
    "hypergradient": Method(Request[Literal["hypergradient"], HypergradientParams], HypergradientResult),
    "hypergradient_samples": Method(Request[Literal["hypergradient_samples"], RunsParams], SamplesResult),
    "lower_level_runs": Method(Request[Literal["lower_level_runs"], RunsParams], LowerLevelRunsResult),
    "penalty_runs": Method(Request[Literal["penalty_runs"], RunsParams], PenaltyRunsResult),
    "hypergradient_runs": Method(Request[Literal["hypergradient_runs"], RunsParams], HypergradientRunsResult),
    "optimise": Method(Request[Literal["optimise"], OptimiseParams], OptimiseResult),
    "optimise_runs": Method(Request[Literal["optimise_runs"], OptimiseRunsParams], OptimiseRunsResult),
}
"""All methods of a subject by name."""

FORGET: TypeAdapter[Any] = TypeAdapter(Forget)
FAILURE: TypeAdapter[Any] = TypeAdapter(ErrorResponse)
ORACLE: TypeAdapter[Any] = TypeAdapter(OracleRequest)
ORACLE_REPLY: TypeAdapter[Any] = TypeAdapter(OracleReply | OracleError)


def to_subject_schema() -> dict[str, Any]:
    """JSON Schema of whatever the runner may write on a line."""
    batch = _filled(METHODS["hypergradient"].request_type)
    requests = (method.request_type for method in METHODS.values())
    return _schema_of((*requests, Forget, OracleReply, OracleError, batch))


def to_runner_schema() -> dict[str, Any]:
    """JSON Schema of whatever a subject may write on a line."""
    batch = _filled(METHODS["hypergradient"].response_type | ErrorResponse)
    responses = (method.response_type for method in METHODS.values())
    return _schema_of((*responses, ErrorResponse, OracleRequest, batch))


def _filled(kind: Any) -> Any:
    return Annotated[list[kind], Field(min_length=1)]


def _schema_of(kinds: Any) -> dict[str, Any]:
    made: Any = Union[kinds]  # noqa: UP007  # of a tuple made at run time
    return TypeAdapter(made).json_schema()
