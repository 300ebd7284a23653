r"""Bilevel problems with affine lower-level constraints, exact and validated.

.. math:: \min_x F(x) = f(x, y^*(x)), \quad y^*(x) = \arg\min_y \{ g(x,y) : h(x,y) = Ax - By - b \le 0 \}.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from spec import families
from spec.errors import InvalidInputError, from_validation
from spec.exact import (
    MAX_DIMENSION,
    Entry,
    ExactArray,
    ExactMatrix,
    ExactNumber,
    ExactVector,
    FloatArray,
    dumps,
    loads,
)
from spec.noise import Noise

MAX_FILE_BYTES = 512 * 1024 * 1024
"""Longest problem text read."""

_MATRIX_BLOCKS = ("xx", "xy", "yy")


def _missing_matrix() -> ExactArray:
    return ExactArray.zeros(0, 0)


def _missing_vector() -> ExactArray:
    return ExactArray.zeros(0)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class QuadraticForm(_Frozen):
    """½ xᵀ(xx)x + xᵀ(xy)y + ½ yᵀ(yy)y + xᵀ(x) + yᵀ(y); a missing block is zero.

    Args:
        xx: Shape (n, n), symmetric.
        xy: Shape (n, m).
        yy: Shape (m, m), symmetric.
        x: Shape (n,).
        y: Shape (m,).
    """

    xx: ExactMatrix = Field(default_factory=_missing_matrix)
    xy: ExactMatrix = Field(default_factory=_missing_matrix)
    yy: ExactMatrix = Field(default_factory=_missing_matrix)
    x: ExactVector = Field(default_factory=_missing_vector)
    y: ExactVector = Field(default_factory=_missing_vector)


class Constraints(_Frozen):
    """The rows of h(x, y) = A x - B y - b <= 0.

    Args:
        A: Shape (p, n); zero if missing.
        B: Shape (p, m).
        b: Shape (p,); zero if missing.
    """

    A: ExactMatrix = Field(default_factory=_missing_matrix)
    B: ExactMatrix
    b: ExactVector = Field(default_factory=_missing_vector)


@dataclass(frozen=True, eq=False)
class QuadraticArrays:
    """A quadratic problem as doubles, read-only; each entry is the exact one correctly rounded."""

    f_xx: FloatArray
    f_xy: FloatArray
    f_yy: FloatArray
    f_x: FloatArray
    f_y: FloatArray
    g_xx: FloatArray
    g_xy: FloatArray
    g_yy: FloatArray
    g_x: FloatArray
    g_y: FloatArray
    A: FloatArray
    B: FloatArray
    b: FloatArray

    def __post_init__(self) -> None:
        # Everyone who solves the problem shares these: a stray in-place operation must not change it.
        for block in fields(self):
            getattr(self, block.name).setflags(write=False)


class Quadratic(_Frozen):
    """A problem with quadratic objectives, every entry exact.

    Args:
        f: Upper-level objective.
        g: Lower-level objective; ``g.yy`` must be positive definite.
        constraints: Lower-level rows.
        noise: The stochastic oracles' noise.
        symmetrise: Replace ``xx`` and ``yy`` by (M + Mᵀ)/2 instead of refusing asymmetric ones. The
            canonical form carries the symmetrised blocks, and this field is then absent.

    Raises:
        InvalidInputError: Naming the block, the rule and the value: shapes that do not fit, asymmetry, an
            indefinite ``g.yy`` (with its smallest eigenvalue), entries that are not finite numbers.

    Source: Eq. (constrainedbilevel), Eq. (linearconstraints).
    """

    kind: Literal["quadratic"] = "quadratic"
    f: QuadraticForm = Field(default_factory=QuadraticForm)
    g: QuadraticForm
    constraints: Constraints
    noise: Noise = Field(default_factory=Noise)
    symmetrise: bool = Field(default=False, strict=True)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        n, m, p = _dimensions(self)
        shapes = {"xx": (n, n), "xy": (n, m), "yy": (m, m), "x": (n,), "y": (m,)}
        for name in ("f", "g"):
            form: QuadraticForm = getattr(self, name)
            blocks = {
                block: _block(getattr(form, block), shape, f"{name}.{block}", symmetrise=self.symmetrise)
                for block, shape in shapes.items()
            }
            object.__setattr__(self, name, QuadraticForm.model_construct(None, **blocks))
        rows = self.constraints
        fitted = Constraints.model_construct(
            A=_shaped(rows.A, (p, n), "constraints.A"),
            B=_shaped(rows.B, (p, m), "constraints.B"),
            b=_shaped(rows.b, (p,), "constraints.b"),
        )
        object.__setattr__(self, "constraints", fitted)
        object.__setattr__(self, "symmetrise", False)
        _require_positive_definite(self.g.yy)
        return self

    @property
    def n(self) -> int:
        return self.constraints.A.shape[1]

    @property
    def m(self) -> int:
        return self.constraints.B.shape[1]

    @property
    def p(self) -> int:
        return self.constraints.B.shape[0]

    @cached_property
    def arrays(self) -> QuadraticArrays:
        """All blocks as doubles."""
        forms = {f"{name}_{block}": getattr(getattr(self, name), block).to_numpy()
                 for name in ("f", "g") for block in ("xx", "xy", "yy", "x", "y")}  # fmt: skip
        rows = self.constraints
        return QuadraticArrays(**forms, A=rows.A.to_numpy(), B=rows.B.to_numpy(), b=rows.b.to_numpy())

    def to_dict(self) -> dict[str, Any]:
        """The canonical form as plain data: zero blocks left out, rows always written."""
        made: dict[str, Any] = {"kind": self.kind}
        for name in ("f", "g"):
            form: QuadraticForm = getattr(self, name)
            blocks = {block: getattr(form, block) for block in ("xx", "xy", "yy", "x", "y")}
            kept = {block: array.to_list() for block, array in blocks.items() if not array.is_zero}
            if kept:
                made[name] = kept
        made["constraints"] = {key: getattr(self.constraints, key).to_list() for key in ("A", "B", "b")}
        return made | _noise_dict(self.noise)


def _dimensions(problem: Quadratic) -> tuple[int, int, int]:
    rows, f, g = problem.constraints, problem.f, problem.g
    p, m = rows.B.shape if rows.B.rows else (0, 0)
    known_n = [
        rows.A.shape[-1],
        f.x.shape[0],
        f.xx.shape[0],
        f.xy.shape[0],
        g.x.shape[0],
        g.xx.shape[0],
        g.xy.shape[0],
    ]
    n = next((size for size in known_n if size), 0)
    for name, size, how in (("p", p, "constraints.B needs a row"), ("m", m, "constraints.B needs a column"),
                            ("n", n, "give constraints.A, f.x or another block with n rows")):  # fmt: skip
        if size < 1:
            raise InvalidInputError(name, f"must be >= 1 ({how})", size)
    return n, m, p


def _shaped(array: ExactArray, shape: tuple[int, ...], argument: str) -> ExactArray:
    if array.shape in ((0, 0), (0,)):
        return ExactArray.zeros(*shape)
    if array.shape != shape:
        raise InvalidInputError(argument, f"must have shape {shape}", array.shape)
    return array


def _block(array: ExactArray, shape: tuple[int, ...], argument: str, *, symmetrise: bool) -> ExactArray:
    array = _shaped(array, shape, argument)
    if argument[-2:] not in ("xx", "yy"):
        return array
    rows = array.rows
    off = next(((i, j) for i in range(len(rows)) for j in range(i) if rows[i][j] != rows[j][i]), None)
    if off is None:
        return array
    if not symmetrise:
        i, j = off
        rule = f'must be symmetric (or say "symmetrise": true); [{i}][{j}] is {rows[i][j]}, [{j}][{i}] is'
        raise InvalidInputError(argument, f"{rule} {rows[j][i]}")
    halves = [[(Fraction(rows[i][j]) + Fraction(rows[j][i])) / 2 for j in range(len(rows))] for i in range(len(rows))]
    return ExactArray(halves, ndim=2, argument=argument)


def _require_positive_definite(block: ExactArray) -> None:
    matrix = block.to_numpy()
    try:
        pivots = np.diag(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        pivots = np.zeros(1)
    # A factor whose pivots nearly vanish says nothing in doubles; then look at the eigenvalue itself.
    if pivots.min() ** 2 > 1e-10 * np.abs(matrix).max():
        return
    eigenvalues = np.linalg.eigvalsh(matrix)
    rounding = len(matrix) * float(np.finfo(np.float64).eps) * float(np.abs(eigenvalues).max())
    if eigenvalues[0] <= rounding:
        rule = "must be positive definite" + (" beyond rounding" if eigenvalues[0] > 0 else "")
        raise InvalidInputError("g.yy", f"{rule}; its smallest eigenvalue is {eigenvalues[0]:.6g}")


def _noise_dict(noise: Noise) -> dict[str, Any]:
    if noise == Noise():
        return {}
    made = noise.model_dump()
    if noise.on == Noise().on:
        made.pop("on")
    return {"noise": made}


class Holder(_Frozen):
    r"""A smooth lower level whose Hessian is only Hölder continuous.

    :math:`f = y`, :math:`g = y^2/2 + xy + xy(x^2+y^2)^{s/2}`, one row that never binds. At ``x = 0`` the penalty
    estimator's bias is exactly :math:`\alpha^{2s}`, so the O(alpha) claim needs a Hessian-Lipschitz ``g``.

    Args:
        s: Hölder exponent in (0, 1].
        noise: The stochastic oracles' noise.
    """

    kind: Literal["holder"] = "holder"
    s: ExactNumber
    noise: Noise = Field(default_factory=Noise)

    @field_validator("s")
    @classmethod
    def _exponent(cls, value: Entry) -> Entry:
        if not 0 < value <= 1:
            raise InvalidInputError("", "must be in (0, 1]", str(value))
        return value

    n: int = Field(default=1, ge=1, le=1, exclude=True, repr=False)
    m: int = Field(default=1, ge=1, le=1, exclude=True, repr=False)
    p: int = Field(default=1, ge=1, le=1, exclude=True, repr=False)

    @property
    def constraints(self) -> Constraints:
        """One row, -y - 100 <= 0, inactive wherever the instance is used."""
        return Constraints(A=ExactArray([[0]], ndim=2), B=ExactArray([[1]], ndim=2), b=ExactArray([100], ndim=1))

    def to_dict(self) -> dict[str, Any]:
        """The canonical form as plain data."""
        return {"kind": self.kind, "s": self.model_dump()["s"]} | _noise_dict(self.noise)


class Generated(_Frozen):
    """A problem drawn from a named family, reproducible from its seed.

    Args:
        family: ``paper-experiment`` (positive definite, stated condition number), ``paper-literal`` (iid
            Gaussian as the text says; rejected when its draw is not positive definite) or ``random-rows``
            (small integers, general rows with a chosen number active at x = 0).
        n: Upper-level size; the paper families use n = m.
        m: Lower-level size (default n).
        p: Rows (``random-rows`` only; default m). The paper families have the 2m rows of a box.
        condition: Condition number of ``g.yy``, >= 1.
        seed: Seed of the draw, >= 0.
        noise: The stochastic oracles' noise.
    """

    kind: Literal["generated"] = "generated"
    family: families.FamilyName
    n: int = Field(ge=1, le=MAX_DIMENSION)
    m: int | None = Field(default=None, ge=1, le=MAX_DIMENSION)
    p: int | None = Field(default=None, ge=1, le=MAX_DIMENSION)
    condition: float = Field(default=10.0, ge=1.0, le=1e8)
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    noise: Noise = Field(default_factory=Noise)

    @field_validator("n", "m", "p", "condition", "seed", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        # Pydantic would read true as 1 and "2" as 2; the schema does not.
        if isinstance(value, bool | str):
            raise InvalidInputError("", "must be a number", value)
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.family != "random-rows":
            if self.m not in (None, self.n):
                raise InvalidInputError("m", f"must equal n for family {self.family}", self.m)
            if self.p is not None:
                raise InvalidInputError("p", f"must be left out for family {self.family}", self.p)
            if 2 * self.n > MAX_DIMENSION:
                raise InvalidInputError("n", f"must be <= {MAX_DIMENSION // 2} for the 2n rows of a box", self.n)
        return self

    @cached_property
    def quadratic(self) -> Quadratic:
        """The drawn problem, entry by entry."""
        blocks = families.draw(self.family, self.n, self.m or self.n, self.p, self.condition, self.seed)
        drawn = parse_problem({"kind": "quadratic", **blocks, "noise": self.noise}, f"{self.family}[seed={self.seed}]")
        assert isinstance(drawn, Quadratic)  # by its kind
        return drawn

    def to_dict(self) -> dict[str, Any]:
        """The canonical form as plain data."""
        return self.model_dump(exclude_none=True, exclude={"noise"}) | _noise_dict(self.noise)


Problem: TypeAlias = Quadratic | Holder | Generated
"""Any problem a file can hold; the field ``kind`` says which."""

_ANY: TypeAdapter[Problem] = TypeAdapter(Annotated[Problem, Field(discriminator="kind")])


def parse_problem(data: object, argument: str = "problem") -> Problem:
    """Validate plain data (from JSON, or built in Python) as a problem.

    Raises:
        InvalidInputError: One line: argument, rule, value.
    """
    try:
        return _ANY.validate_python(data)
    except ValidationError as error:
        raise from_validation(error, argument) from None
    except RecursionError:
        raise InvalidInputError(argument, "is nested too deeply") from None


def loads_problem(text: str | bytes, argument: str = "problem") -> Problem:
    """Parse a problem from JSON text.

    Raises:
        InvalidInputError: If it is too long, not JSON or not a valid problem.
    """
    if len(text) > MAX_FILE_BYTES:
        raise InvalidInputError(argument, f"must be at most {MAX_FILE_BYTES} bytes")
    return parse_problem(loads(text, argument), argument)


def load_problem(path: str | Path) -> Problem:
    """Read a problem file.

    Raises:
        InvalidInputError: If the file cannot be read, is too large, or does not hold a valid problem.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            # Read, not asked for: a pipe or a device has no size.
            text = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InvalidInputError(str(path), f"cannot be read ({error.strerror})") from None
    except ValueError as error:  # a name no file can have
        raise InvalidInputError(str(path), f"cannot be read ({error})") from None
    return loads_problem(text, path.name)


def dumps_problem(problem: Problem, indent: int | None = None) -> str:
    """Write the canonical JSON text; reading it back and writing again gives the same bytes."""
    return dumps(problem.to_dict(), indent=indent)
