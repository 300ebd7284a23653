"""What the stages' messages hold: the params they are given and the results they answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from verify.subjects.wire.messages import Count, Cube, Matrix, Number, Points, Received, Seed, Sent, Vector


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
