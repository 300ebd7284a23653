"""Test vectors as data: one vector, a file of them, and the manifest of a folder."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from spec import Problem, Reading, parse_problem
from verify.conformance.bugs.model import Flag

StageName = Literal["lower_level", "lower_level_runs", "activation", "penalty_minimiser", "hypergradient"]
"""The stages a vector can test, named as a subject's methods are."""

Double = Annotated[float, Field(allow_inf_nan=False)]
Doubles = tuple[Double, ...]
Block = Doubles | tuple[Doubles, ...]
"""A vector, or a matrix row by row."""
Rational = Annotated[str, Field(pattern=r"^-?\d+(/\d+)?$")]
Digits = Annotated[str, Field(pattern=r"^-?\d+(\.\d+)?(e[+-]?\d+)?$")]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
FileName = Annotated[str, Field(pattern=r"^[a-z0-9-]+\.json$")]
Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]+([-/.][a-z0-9]+)*$", max_length=120)]

MAIN_OUTPUT: dict[StageName, tuple[str, ...]] = {
    "lower_level": ("y_star", "lam"),
    "lower_level_runs": ("y_star", "lam"),
    "activation": ("rho",),
    "penalty_minimiser": ("y_penalty",),
    "hypergradient": ("hypergradient",),
}
"""What a stage's method returns; other expected blocks are for implementations that show more."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Numbers(_Frozen):
    """Input numbers.

    Args:
        value: Doubles to compute with.
        exact: The numbers meant, as ``p/q``; each double is the nearest one.
    """

    value: Doubles
    exact: tuple[Rational, ...]


class Number(_Frozen):
    """One input number.

    Args:
        value: The double to compute with.
        exact: The number meant, as ``p/q``.
    """

    value: Double
    exact: Rational


class Expected(_Frozen):
    """One block that must come out.

    Args:
        value: The doubles nearest to the true values.
        exact: The true values as ``p/q``, where they are rational and short.
        digits: Else their decimals, every digit shown certified but the last within one unit.
        tolerance: Largest accepted ``|computed - value|``, entry by entry.
    """

    value: Doubles
    exact: tuple[Rational, ...] | None = None
    digits: tuple[Digits, ...] | None = None
    tolerance: Doubles


class Parameters(_Frozen):
    """Every number Algorithm 1 derives, so that nobody has to.

    Args:
        N_g: Gradient samples averaged.
        alpha_1: alpha**-2.
        alpha_2: alpha**-4.
        inner_tol: The delta of Algorithm 1, alpha**3.
        ramp_constant: The constant c in the width of the ramp below the boundary.
        h_width: Width of that ramp, constraint units; exactly this double.
        lam_width: Width of the multiplier's ramp; exactly this double.
        sigma_f: Noise scale of the gradient of f in x; 0 where it is free of noise.
        sigma_g: Noise scale of the gradient of g in x; 0 where it is free of noise.
        gradient_norm: The penalty minimiser stops where its gradient is no longer than this, ...
        distance: ... or no farther than this from the minimiser; at most one of the two is given.
        eta_y: Primal step size of the primal-dual iteration.
        eta_lam: Its dual step size.
        lower_level_steps: Its number of steps.
    """

    N_g: int | None = Field(default=None, ge=1)
    alpha_1: Number | None = None
    alpha_2: Number | None = None
    inner_tol: Number | None = None
    ramp_constant: Double | None = None
    h_width: Double | None = None
    lam_width: Double | None = None
    sigma_f: Number | None = None
    sigma_g: Number | None = None
    gradient_norm: Double | None = None
    distance: Double | None = None
    eta_y: Double | None = None
    eta_lam: Double | None = None
    lower_level_steps: int | None = Field(default=None, ge=1)


class Rejection(_Frozen):
    """Bad input: an error must come out.

    Args:
        argument: What is wrong with the input.
        rule: The rule it breaks.
    """

    argument: str
    rule: str


class TestVector(_Frozen):
    """One stage, what it is given, and what must come out.

    Args:
        id: Permanent name.
        stage: The stage called.
        strata: What kind of problem and point it is, in the words of the atlas.
        flags: What it is sensitive to, or what is special about it; each is explained in the registry of flags.
        notes: What it is for.
        problem: The problem in the canonical form of a problem file.
        blocks: The same problem as doubles, every block dense; absent where the problem is not quadratic or bad.
        x: Upper variable.
        alpha: Accuracy parameter.
        reading: The paper's open choices.
        parameters: Everything derived from alpha and the reading, in numbers.
        given: Stage values to use as they are; their doubles are exact.
        draws: Standard normals, one row a sample; blocks as :class:`f2csa_ref.Draws` says.
        expected: Blocks that must come out.
        separation: For each flag that names a bug, how many tolerances away an implementation with that bug lands.
        rejects: Set where the input is bad: then nothing else is expected.
    """

    __test__ = False  # not a class of tests, whatever its name suggests to pytest

    id: Identifier
    stage: StageName
    strata: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    notes: str
    problem: dict[str, Any] | None = None
    blocks: dict[str, Block] | None = None
    x: Numbers | None = None
    alpha: Number | None = None
    reading: Reading | None = None
    parameters: Parameters = Field(default_factory=Parameters)
    given: dict[str, Numbers] = Field(default_factory=dict)
    draws: dict[str, tuple[Doubles, ...]] = Field(default_factory=dict)
    expected: dict[str, Expected] = Field(default_factory=dict)
    separation: dict[str, Double] = Field(default_factory=dict)
    rejects: Rejection | None = None

    def parsed_problem(self) -> Problem:
        """The problem, validated.

        Raises:
            InvalidInputError: If it is not one, as in vectors that must be rejected.
        """
        return parse_problem(self.problem)

    @property
    def main_outputs(self) -> tuple[str, ...]:
        """The expected blocks that the stage's own method returns."""
        return tuple(name for name in MAIN_OUTPUT[self.stage] if name in self.expected)


class VectorFile(_Frozen):
    """One file of vectors.

    Args:
        schema_: Name and version of this form.
        vectors: Sorted by id.
    """

    schema_: Literal["f2csa-vectors/1"] = Field(alias="schema")
    vectors: tuple[TestVector, ...]


class FileEntry(_Frozen):
    """What the manifest says about one file.

    Args:
        sha256: Of its bytes.
        bytes: How many there are.
        vectors: How many vectors it holds.
    """

    sha256: Hash
    bytes: int = Field(ge=1)
    vectors: int = Field(ge=1)


class Counts(_Frozen):
    """How many vectors there are of each kind.

    Args:
        vectors: In all.
        stages: By stage.
        strata: By stratum; a vector counts in each of its own.
        flags: By flag; a vector counts in each of its own.
    """

    vectors: int = Field(ge=0)
    stages: dict[str, int]
    strata: dict[str, int]
    flags: dict[str, int]


class Manifest(_Frozen):
    """What a folder of vectors holds.

    Args:
        schema_: Name and version of this form.
        generator: Version of the generator.
        counts: How many vectors there are of each kind.
        files: Hash and size of every file.
        flags: What each flag means.
        left_out: Cases without a vector: the tolerance that honest double arithmetic needs there, relative to the
            answer, is too large to test anything.
    """

    schema_: Literal["f2csa-vectors-manifest/1"] = Field(alias="schema")
    generator: str
    counts: Counts
    files: dict[FileName, FileEntry]
    flags: dict[str, Flag]
    left_out: dict[Identifier, Double]
