"""What the wire's messages hold, as models: strict and finite."""

from __future__ import annotations

import base64
from enum import IntEnum
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, create_model

from spec import OracleParameters, OuterParameters, Reading
from spec.blocks.noise import NoiseModel, NoisyGradient
from spec.errors import shorten
from spec.exact import FloatArray
from verify.subjects.stage_table import ROWS, Asked, StageRow, Value, values

PROTOCOL = "f2csa-wire/1"
MESSAGE_BYTES = 256 * 1024 * 1024
"""Longest line either side sends."""
SEEDS = 2**53
"""Seeds stay below this: every language's number holds them."""
UNSTATED = "unstated"
"""The version of a Python subject that states none."""
PACKED_FROM = 32
"""Numbers in an array from which it is sent packed."""
BATCH = 64
"""Requests in one batch where the subject does not say."""


class Code(IntEnum):
    """Errors of JSON-RPC 2.0, and four of this wire: a stage failed, does not support what it was asked, or failed
    as the message says in a line that names the stage; whom the program was to serve is not there.
    """

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    NO_METHOD = -32601
    INVALID_PARAMS = -32602
    FAILED = -32000
    NOT_SUPPORTED = -32001
    FAILED_SO = -32002
    ABSENT = -32003


def whole(value: Any) -> Any:
    """An integer spelt as a double, as an integer; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[float, Field(allow_inf_nan=False)]
Matrix: TypeAlias = list[list[Number]]
Whole = Annotated[int, BeforeValidator(whole)]
"""An integer however it is spelt: some languages know doubles alone, and write 7 as ``7.0``."""
Name = Annotated[str, Field(min_length=1, max_length=100)]
Count = Annotated[int, Field(ge=1)]


class Sent(BaseModel):
    """What the runner sends: complete and without extras."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Received(BaseModel):
    """What a subject sends; it may say more than it must."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, defer_build=True)


class Packed(Received):
    """An array as the base64 text of its doubles, little-endian, row by row; it may stand for any array of numbers."""

    shape: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=3)]
    f64: str

    @classmethod
    def of(cls, array: FloatArray) -> dict[str, Any]:
        """An array as it is sent."""
        data = np.ascontiguousarray(array, dtype="<f8").tobytes()
        return {"shape": list(array.shape), "f64": base64.b64encode(data).decode()}

    @property
    def array(self) -> FloatArray:
        """The numbers; whatever is none is refused with a :class:`WireFault`."""
        try:
            data = base64.b64decode(self.f64, validate=True)
            numbers = np.frombuffer(data, dtype="<f8").reshape(self.shape)
        except (ValueError, OverflowError):
            rule = f"what is not base64 of {' x '.join(map(str, self.shape))} doubles"
            raise WireFault("schema", f"answered against the schema: f64 is {rule}") from None
        if not np.isfinite(numbers).all():
            raise WireFault("not-finite", "answered NaN or Infinity, which are no numbers")
        return numbers.astype(np.float64)


def numbers(array: FloatArray, *, packed: bool) -> Any:
    """An array as it is sent: packed where it may be and that is worth it."""
    return Packed.of(array) if packed and array.size >= PACKED_FROM else array.tolist()


class MayBePacked:
    """Marks an array that may come packed, in the published schemas; messages are validated without such arrays."""

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [handler(core), Packed.model_json_schema()]}


Points = Annotated[Matrix | list[Number], Field(union_mode="left_to_right"), MayBePacked()]
"""A point, or one a run."""


class Empty(Received):
    """Nothing that matters."""


class SubjectLimits(Received):
    """What the subject can take."""

    batch: Annotated[Whole, Field(ge=1)] = BATCH
    message_bytes: Annotated[Whole, Field(ge=65536)] = MESSAGE_BYTES


class Hello(Received):
    """Answer to ``initialize``: who the subject is and what it offers."""

    protocol: Literal["f2csa-wire/1"]
    name: Name
    language: Name
    version: Name
    capabilities: Annotated[list[Asked], Field(min_length=1)]
    uses_draws: bool | Literal["seeded"] | list[Literal["hypergradient", "hypergradient_samples"]] = False
    accuracy: Annotated[float, Field(ge=0, le=1e-3)] | None = None
    readings: dict[str, list[str]] = Field(default_factory=dict)
    limits: SubjectLimits = Field(default_factory=SubjectLimits)
    packed: bool = False
    renews: bool = False

    def draws(self, stage: str) -> bool:
        """Whether a stage takes its normals from the message."""
        return stage in self.uses_draws if isinstance(self.uses_draws, list) else bool(self.uses_draws)

    @property
    def makes_draws(self) -> bool:
        """Whether it makes normals from a seed by the wire's own generator."""
        return self.uses_draws == "seeded"


class OracleParams(Received):
    """Where the subject asks for a hypergradient: one point, or one a run."""

    z: Points


class WireDraws(Sent):
    """Standard normals, one row a sample."""

    f_x: Matrix | None = None
    g_x: Matrix | None = None
    g_x_star: Matrix | None = None


class SeededDraws(Sent):
    """Standard normals that a seed stands for, blocks of so many rows and columns."""

    generator: Literal["splitmix64-box-muller"]
    seed: Annotated[int, Field(ge=0, lt=SEEDS)]
    shapes: dict[Literal["f_x", "g_x", "g_x_star"], Annotated[list[Count], Field(min_length=2, max_length=2)]]


_FIELDS: dict[str, Any] = {
    "protocol": Literal["f2csa-wire/1"], "name": str, "version": str, "message_bytes": Count,
    "seconds": Annotated[float, Field(gt=0)], "id": str, "n": Count, "m": Count, "p": Count, "file": dict[str, Any],
    "problem": str, "seed": Annotated[int, Field(ge=0, lt=SEEDS)], "replications": Count,
    "block": Annotated[int, Field(ge=0)], "keep_path": bool, "gradient": Points,
}  # fmt: skip
"""What a field is in every message; a number where nothing is said."""


def message(base: type[BaseModel], title: str, fields: str | tuple[Value, ...], line: str = "", /, **kinds: Any) -> Any:
    """What a message holds, as a model: each field in an array of as many dimensions as it has sizes.

    ``title`` and ``line`` are its name and description in the published schemas; ``kinds`` says what a field is here,
    ``packed`` whether its arrays may be packed.
    """

    def field(value: Value) -> Any:
        kind: Any = (_FIELDS | kinds).get(value.name, Number)
        for _ in value.sizes:
            kind = list[kind]
        if value.sizes and kinds.get("packed"):
            kind = Annotated[kind, MayBePacked()]
        # What a subject has not, it may leave out.
        return (kind | None, None if base is Received else ...) if value.optional else (kind, ...)

    given = values(fields) if isinstance(fields, str) else fields
    return create_model(title, __base__=base, __doc__=line or None, **{value.name: field(value) for value in given})


def of_model(title: str, line: str, model: type[BaseModel], kinds: dict[Any, Any]) -> Any:
    """A model of :mod:`spec` as it is sent: every field is there, its type the wire's."""
    fields = model.model_fields.items()
    return message(Sent, title, " ".join(model.model_fields), line,
                   **{name: kinds.get(info.annotation, info.annotation) for name, info in fields})  # fmt: skip


_NUMBERS: dict[Any, Any] = {int: Count, float: Number, float | None: Number | None}
# Choices are names; only the pairing decides what else a message holds.
_CHOICES = {info.annotation: str for name, info in Reading.model_fields.items() if name != "noise_pairing"}

InitializeParams = message(
    Sent, "InitializeParams", "protocol runner limits", "First message.",
    runner=message(Sent, "Runner", "name version", "Who asks."),
    limits=message(
        Sent, "RunnerLimits", "message_bytes seconds", "Longest line in bytes; time for one answer in seconds.",
    ),
)  # fmt: skip
EchoValues = message(Received, "EchoValues", "values[k]", "Numbers there and back.")
ForgetParams = message(Sent, "ForgetParams", "id", "A problem not used again.")
OracleAnswer = message(Sent, "OracleAnswer", "gradient", "The runner's answer to ``oracle``.")

_NOISE = message(
    Sent, "WireNoise", "model sigma_f sigma_g on", "The problem's noise in doubles.",
    model=NoiseModel, on=list[NoisyGradient],
)  # fmt: skip
_BLOCKS = "f_xx[n,n] f_xy[n,m] f_yy[m,m] f_x[n] f_y[m] g_xx[n,n] g_xy[n,m] g_yy[m,m] g_x[n] g_y[m]"
_ROWS = "A[p,n] B[p,m] b[p]"
_QUADRATIC = message(
    Sent, "QuadraticParams", "id n m p noise file kind arrays", "A quadratic problem.",
    noise=_NOISE, kind=Literal["quadratic"],
    arrays=message(Sent, "QuadraticBlocks", f"{_BLOCKS} {_ROWS}", "All blocks in doubles."),
)  # fmt: skip
_HOLDER = message(
    Sent, "HolderParams", "id n m p noise file kind s arrays", "The problem with a Hölder continuous Hessian.",
    noise=_NOISE, kind=Literal["holder"], arrays=message(Sent, "RowBlocks", _ROWS, "The rows alone."),
)  # fmt: skip
ProblemParams: Any = Annotated[_QUADRATIC | _HOLDER, Field(discriminator="kind")]

_CALL = message(
    Sent, "WireCall", "alpha reading parameters h_width y_star[m]? lam[p]? rho[p]? y_penalty[m]? draws?",
    "Everything one oracle call is given besides problem and point.",
    reading=of_model("WireReading", "All choices of the reading.", Reading, _CHOICES),
    parameters=of_model(
        "WireOracleParameters", "All parameters of Algorithm 1 besides α.", OracleParameters, _NUMBERS,
    ),
    draws=SeededDraws | WireDraws,
)  # fmt: skip
_OUTER = of_model("WireOuterParameters", "Parameters of Algorithm 2.", OuterParameters, _NUMBERS)
_RUNS = message(Sent, "RunsParams", ROWS["lower_level_runs"].sends, call=_CALL, packed=True)


def _title(stage: Asked) -> str:
    return "Samples" if stage == "hypergradient_samples" else stage.title().replace("_", "")


def _params(stage: Asked, row: StageRow) -> Any:
    shared = "replications" in row.takes
    kinds: dict[str, Any] = {"call": _CALL, "parameters": _OUTER, "packed": True}
    return _RUNS if shared else message(Sent, f"{_title(stage)}Params", row.sends, **kinds)


PARAMS = {stage: _params(stage, row) for stage, row in ROWS.items()}
"""What a request of each stage holds."""
RESULTS = {stage: message(Received, f"{_title(stage)}Result", row.gives, packed=True) for stage, row in ROWS.items()}
"""What an answer of each stage holds."""


Kind = Literal[
    "crash", "hang", "garbage", "half", "schema", "not-finite", "unknown-id", "closed-pipe", "flood", "memory", "lie",
    "error", "absent",
]  # fmt: skip
LINES: dict[int, Kind] = {Code.FAILED_SO: "error", Code.ABSENT: "absent"}
"""Errors whose message is the line to be shown."""

SHOWN = 300
"""Longest text of a fault, in characters."""
LOST: frozenset[Kind] = frozenset({"crash", "hang", "garbage", "half", "unknown-id", "closed-pipe", "flood", "memory"})
"""Kinds after which nobody knows where the conversation stands: the process is replaced."""


class WireFault(Exception):  # noqa: N818  # a fault is the project's word
    """One thing a subject did wrong, as a clause to follow the stage's name: "did not answer within 30 s".

    ``lost`` says whether the process must be replaced; as usual for the kind if ``None``. ``is_line`` says that the
    text names the stage itself.
    """

    def __init__(self, kind: Kind, text: str, *, lost: bool | None = None, is_line: bool = False) -> None:
        self.text = printable(text)[:SHOWN]
        self.is_line = is_line
        super().__init__(self.text)
        self.kind: Kind = kind
        self.lost = kind in LOST if lost is None else lost


def printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


class Refusal(Exception):  # noqa: N818  # not an error of anybody
    """A subject's own word that it does not support what it was asked."""


def quoted(data: bytes) -> str:
    """Bytes on one line of bounded length."""
    return shorten(repr(data.decode(errors="replace"))[1:-1]) if data else "nothing"
