"""What the wire's messages hold, as models: strict and finite."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from spec import OracleParameters, OuterParameters, Reading
from spec.errors import shorten
from spec.noise import NoiseModel, NoisyGradient
from verify.subjects.stage_table import ROWS, Stage, Value, values

PROTOCOL = "f2csa-wire/1"
MESSAGE_BYTES = 256 * 1024 * 1024
"""Longest line either side sends."""
SEEDS = 2**53
"""Seeds stay below this: every language's number holds them."""
BATCH = 64
"""Requests in one batch where the subject does not say."""

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
FAILED, NOT_SUPPORTED = -32000, -32001


def whole(value: Any) -> Any:
    """An integer spelt as a double, as an integer; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[float, Field(allow_inf_nan=False)]
Vector: TypeAlias = list[Number]
Matrix: TypeAlias = list[list[Number]]
Points = Annotated[Matrix | Vector, Field(union_mode="left_to_right")]
"""A point, or one a run."""
Whole = Annotated[int, BeforeValidator(whole)]
"""An integer however it is spelt: some languages know doubles alone, and write 7 as ``7.0``."""
Name = Annotated[str, Field(min_length=1, max_length=100)]
Count = Annotated[int, Field(ge=1)]


class Sent(BaseModel):
    """What the runner sends: complete and without extras."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class Received(BaseModel):
    """What a subject sends; it may say more than it must."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class Empty(Received):
    """Nothing that matters."""


class Runner(Sent):
    """Who asks."""

    name: str
    version: str


class RunnerLimits(Sent):
    """Longest line in bytes; time for one answer in seconds."""

    message_bytes: Count
    seconds: Annotated[float, Field(gt=0)]


class InitializeParams(Sent):
    """First message."""

    protocol: Literal["f2csa-wire/1"]
    runner: Runner
    limits: RunnerLimits


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
    capabilities: Annotated[list[Stage], Field(min_length=1)]
    uses_draws: bool | list[Literal["hypergradient", "hypergradient_samples"]] = False
    readings: dict[str, list[str]] = Field(default_factory=dict)
    limits: SubjectLimits = Field(default_factory=SubjectLimits)

    def draws(self, stage: str) -> bool:
        """Whether a stage takes its normals from the message."""
        return stage in self.uses_draws if isinstance(self.uses_draws, list) else self.uses_draws


class EchoValues(Received):
    """Numbers there and back."""

    values: Vector


class WireNoise(Sent):
    """The problem's noise in doubles."""

    model: NoiseModel
    sigma_f: Number
    sigma_g: Number
    on: list[NoisyGradient]


class QuadraticBlocks(Sent):
    """All blocks in doubles."""

    f_xx: Matrix
    f_xy: Matrix
    f_yy: Matrix
    f_x: Vector
    f_y: Vector
    g_xx: Matrix
    g_xy: Matrix
    g_yy: Matrix
    g_x: Vector
    g_y: Vector
    A: Matrix
    B: Matrix
    b: Vector


class RowBlocks(Sent):
    """The rows alone."""

    A: Matrix
    B: Matrix
    b: Vector


class _ProblemParams(Sent):
    id: str
    n: Count
    m: Count
    p: Count
    noise: WireNoise
    file: dict[str, Any]


class QuadraticParams(_ProblemParams):
    """A quadratic problem."""

    kind: Literal["quadratic"]
    arrays: QuadraticBlocks


class HolderParams(_ProblemParams):
    """The problem with a Hölder continuous Hessian."""

    kind: Literal["holder"]
    s: Number
    arrays: RowBlocks


ProblemParams = Annotated[QuadraticParams | HolderParams, Field(discriminator="kind")]


class ForgetParams(Sent):
    """A problem not used again."""

    id: str


class OracleParams(Received):
    """Where the subject asks for a hypergradient: one point, or one a run."""

    z: Points


class OracleAnswer(Sent):
    """The runner's answer to ``oracle``."""

    gradient: Points


class WireDraws(Sent):
    """Standard normals, one row a sample."""

    f_x: Matrix | None = None
    g_x: Matrix | None = None
    g_x_star: Matrix | None = None


def _complete(name: str, line: str, model: type[BaseModel], kinds: dict[Any, Any]) -> Any:
    """A model of :mod:`spec` as it is sent: every field is there, its kind the wire's."""
    annotations = {field: info.annotation for field, info in model.model_fields.items()}
    kept: dict[str, Any] = {field: (kinds.get(kind, kind), ...) for field, kind in annotations.items()}
    return create_model(name, __base__=Sent, __doc__=line, **kept)


_KINDS: dict[Any, Any] = {int: Count, float: Number, float | None: Number | None}
# Choices are names; only the pairing decides what else a message holds.
_CHOICES = {info.annotation: str for name, info in Reading.model_fields.items() if name != "noise_pairing"}
_CALL: dict[str, Any] = {
    "reading": _complete("WireReading", "All choices of the reading.", Reading, _CHOICES),
    "parameters": _complete(
        "WireOracleParameters", "All parameters of Algorithm 1 besides α.", OracleParameters, _KINDS
    ),
    "draws": WireDraws,
}


def _model(name: str, base: type[BaseModel], fields: tuple[Value, ...], kinds: dict[str, Any], line: str = "") -> Any:
    """What a message holds: numbers unless ``kinds`` says else, in arrays of as many dimensions as there are sizes."""

    def field(value: Value) -> Any:
        kind: Any = kinds.get(value.name, Number)
        for _ in value.sizes:
            kind = list[kind]
        # What a subject may leave out is null.
        return (kind | None, None if base is Received else ...) if value.optional else (kind, ...)

    return create_model(name, __base__=base, __doc__=line or None, **{value.name: field(value) for value in fields})


_SENT: dict[str, Any] = {
    "problem": str,
    "call": _model(
        "WireCall", Sent, values("alpha reading parameters h_width y_star[m]? lam[p]? rho[p]? y_penalty[m]? draws?"),
        _CALL, "Everything one oracle call is given besides problem and point.",
    ),
    "seed": Annotated[int, Field(ge=0, lt=SEEDS)],
    "replications": Count,
    "parameters": _complete("WireOuterParameters", "Parameters of Algorithm 2.", OuterParameters, _KINDS),
    "block": Annotated[int, Field(ge=0)],
    "keep_path": bool,
}  # fmt: skip
_RUNS = _model("RunsParams", Sent, ROWS["lower_level_runs"].sends, _SENT)


def _title(stage: Stage) -> str:
    return "Samples" if stage == "hypergradient_samples" else stage.title().replace("_", "")


PARAMS: dict[Stage, Any] = {
    stage: _RUNS if "replications" in row.takes else _model(f"{_title(stage)}Params", Sent, row.sends, _SENT)
    for stage, row in ROWS.items()
}
"""What a request of each stage holds."""
RESULTS: dict[Stage, Any] = {
    stage: _model(f"{_title(stage)}Result", Received, row.gives, {}) for stage, row in ROWS.items()
}
"""What an answer of each stage holds."""


Kind = Literal[
    "crash", "hang", "garbage", "half", "schema", "not-finite", "unknown-id", "closed-pipe", "flood", "memory", "lie",
    "error",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)

SHOWN = 300
"""Longest text of a fault, in characters."""

LOST: frozenset[Kind] = frozenset({"crash", "hang", "garbage", "half", "unknown-id", "closed-pipe", "flood", "memory"})
"""Kinds after which nobody knows where the conversation stands: the process is replaced."""


class WireFault(Exception):  # noqa: N818  # a fault is the project's word
    """One thing a subject did wrong.

    Args:
        kind: Which.
        text: A clause to follow the stage's name: "did not answer within 30 s".
        lost: Whether the process must be replaced; as usual for the kind if ``None``.
    """

    def __init__(self, kind: Kind, text: str, *, lost: bool | None = None) -> None:
        self.text = printable(text)[:SHOWN]
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
