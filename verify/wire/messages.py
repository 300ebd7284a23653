"""What the wire's messages hold, as models: strict and finite."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from spec.noise import NoiseModel, NoisyGradient
from verify.subjects.protocol import CAPABILITIES

PROTOCOL = "f2csa-wire/1"
MESSAGE_BYTES = 256 * 1024 * 1024
"""Longest line either side sends."""
SEEDS = 2**53
"""Seeds stay below this: every language's number holds them."""
BATCH = 64
"""Requests in one batch where the subject does not say."""

STAGES = (*CAPABILITIES, "hypergradient_samples", "optimise_runs")
"""What a subject may announce."""
DRAWN = ("hypergradient", "hypergradient_samples")
"""Stages that may take their normals from the message."""

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
FAILED, NOT_SUPPORTED = -32000, -32001

Stage = Literal[
    "lower_level", "activation", "penalty_minimiser", "hypergradient", "optimise", "lower_level_runs", "penalty_runs",
    "hypergradient_runs", "hypergradient_samples", "optimise_runs",
]  # fmt: skip
Number = Annotated[float, Field(allow_inf_nan=False)]
Vector: TypeAlias = list[Number]
Matrix: TypeAlias = list[list[Number]]
Cube: TypeAlias = list[list[list[Number]]]
Points = Annotated[Matrix | Vector, Field(union_mode="left_to_right")]
"""A point, or one a run."""
Seed = Annotated[int, Field(ge=0, lt=SEEDS)]
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

    batch: Annotated[int, Field(ge=1)] = BATCH
    message_bytes: Annotated[int, Field(ge=65536)] = MESSAGE_BYTES


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


class WireReading(Sent):
    """All choices of the reading."""

    dual_term: str
    noise_pairing: Literal["independent", "common"]
    ramp_width: str
    inner_stop: str
    alpha_range: str
    primal_dual_sign: str
    inner_solver: str
    outer_batch: str


class WireOracleParameters(Sent):
    """All parameters of Algorithm 1 besides α."""

    N_g: Count
    lam_width: Number
    ramp_constant: Number
    lower_level: Literal["exact", "primal-dual"]
    lower_level_steps: Count
    eta_y: Number | None
    eta_lam: Number | None
    shared_samples: Count
    penalty_steps: Count
    preconditioner: Literal["rows", "none"]


class WireDraws(Sent):
    """Standard normals, one row a sample."""

    f_x: Matrix | None = None
    g_x: Matrix | None = None
    g_x_star: Matrix | None = None


class WireCall(Sent):
    """Everything one oracle call is given besides problem and point."""

    alpha: Number
    reading: WireReading
    parameters: WireOracleParameters
    h_width: Number
    y_star: Vector | None
    lam: Vector | None
    rho: Vector | None
    y_penalty: Vector | None
    draws: WireDraws | None


class LowerLevelParams(Sent):
    problem: str
    x: Vector


class ActivationParams(Sent):
    h: Vector
    lam: Vector
    h_width: Number
    lam_width: Number


class PenaltyMinimiserParams(Sent):
    problem: str
    x: Vector
    call: WireCall
    tol: Number | None


class HypergradientParams(Sent):
    problem: str
    x: Vector
    call: WireCall
    seed: Seed | None


class RunsParams(Sent):
    problem: str
    x: Vector
    call: WireCall
    seed: Seed
    replications: Count


class WireOuterParameters(Sent):
    """Parameters of Algorithm 2."""

    goldstein_radius: Number
    epsilon: Number
    D: Number
    eta: Number
    M: Count
    K: Count


class OptimiseParams(Sent):
    x0: Vector
    parameters: WireOuterParameters
    s: Vector | None
    block: Annotated[int, Field(ge=0)]
    seed: Seed


class OptimiseRunsParams(Sent):
    x0: Matrix
    parameters: WireOuterParameters
    s: Matrix | None
    block: list[Annotated[int, Field(ge=0)]]
    seed: Seed
    keep_path: bool


class LowerLevelResult(Received):
    y_star: Vector
    lam: Vector


class ActivationResult(Received):
    rho: Vector


class PenaltyMinimiserResult(Received):
    y: Vector


class HypergradientResult(Received):
    hypergradient: Vector


class SamplesResult(Received):
    hypergradients: Matrix


class LowerLevelRunsResult(Received):
    y: Matrix
    lam: Matrix


class PenaltyRunsResult(Received):
    y: Matrix
    calls: Number


class HypergradientRunsResult(Received):
    hypergradients: Matrix
    calls: Number


class OptimiseResult(Received):
    x_out: Vector
    x_bar: Matrix
    path: Matrix


class OptimiseRunsResult(Received):
    x_bar: Cube
    path: Cube | None = None


class OracleParams(Received):
    """Where the subject asks for a hypergradient: one point, or one a run."""

    z: Points


class OracleAnswer(Sent):
    """The runner's answer to ``oracle``."""

    gradient: Points
