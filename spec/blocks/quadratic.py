"""Quadratic objectives and affine rows: every entry exact, every block checked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from spec.blocks.noise import Noise
from spec.errors import InvalidInputError
from spec.exact import ExactArray, ExactMatrix, ExactVector, FloatArray, doubles
from spec.files import Frozen


def _missing_matrix() -> ExactArray:
    return ExactArray.zeros(0, 0)


def _missing_vector() -> ExactArray:
    return ExactArray.zeros(0)


class QuadraticForm(Frozen):
    """½ xᵀ(xx)x + xᵀ(xy)y + ½ yᵀ(yy)y + xᵀ(x) + yᵀ(y); a missing block is zero, but ``g.yy`` is required.

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


class Constraints(Frozen):
    """The rows of h(x, y) = A x - B y - b <= 0.

    Args:
        A: Shape (p, n); zero if missing.
        B: Shape (p, m); required, with at least one row.
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


class Quadratic(Frozen):
    """A problem with quadratic objectives, every entry exact.

    Args:
        kind: ``quadratic``.
        f: Upper-level objective.
        g: Lower-level objective; required, as ``g.yy`` must be positive definite.
        constraints: Lower-level rows; required, as B must have at least one. A and b are zero if missing.
        noise: The stochastic oracles' noise.
        symmetrise: Replace ``xx`` and ``yy`` by (M + Mᵀ)/2 instead of refusing asymmetric ones; blocks given as
            doubles by that mean as doubles. The canonical form carries the symmetrised blocks, and this field is
            then absent.

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

    def __repr__(self) -> str:
        noise = "" if self.noise.model == "none" else f", {self.noise.model} noise"
        return f"<Quadratic problem, n = {self.n}, m = {self.m}, p = {self.p}{noise}>"

    def __str__(self) -> str:
        return repr(self)

    @property
    def n(self) -> int:
        return self.constraints.A.shape[1]

    @property
    def m(self) -> int:
        return self.constraints.B.shape[1]

    @property
    def p(self) -> int:
        return self.constraints.B.shape[0]

    @property
    def blocks(self) -> dict[str, ExactArray]:
        """All blocks by their names in :class:`QuadraticArrays`, in its order."""
        forms = {f"{name}_{block}": getattr(getattr(self, name), block)
                 for name in ("f", "g") for block in ("xx", "xy", "yy", "x", "y")}  # fmt: skip
        return forms | {name: getattr(self.constraints, name) for name in ("A", "B", "b")}

    @cached_property
    def arrays(self) -> QuadraticArrays:
        """All blocks as doubles."""
        return QuadraticArrays(**{name: block.to_numpy() for name, block in self.blocks.items()})

    @cached_property
    def sizes(self) -> QuadraticArrays:
        """The absolute value of every entry; not kept with the arrays, whose ``vars`` are the blocks alone."""
        return QuadraticArrays(*(np.abs(getattr(self.arrays, block.name)) for block in fields(self.arrays)))

    def to_dict(self) -> dict[str, Any]:
        """The canonical form as plain data: zero blocks left out, rows always written."""
        data: dict[str, Any] = {"kind": self.kind}
        for name in ("f", "g"):
            form: QuadraticForm = getattr(self, name)
            blocks = {block: getattr(form, block) for block in ("xx", "xy", "yy", "x", "y")}
            nonzero = {block: array.to_list() for block, array in blocks.items() if not array.is_zero}
            if nonzero:
                data[name] = nonzero
        data["constraints"] = {key: getattr(self.constraints, key).to_list() for key in ("A", "B", "b")}
        return data | self.noise.to_block()


def _dimensions(problem: Quadratic) -> tuple[int, int, int]:
    rows, f, g = problem.constraints, problem.f, problem.g
    p, m = rows.B.shape
    known_n = [rows.A.shape[-1], f.x.shape[0], f.xx.shape[0], f.xy.shape[0], g.x.shape[0], g.xx.shape[0], g.xy.shape[0]]
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
    if array.given_as_doubles:
        return _symmetric_doubles(array, argument, symmetrise=symmetrise)
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


def _symmetric_doubles(array: ExactArray, argument: str, *, symmetrise: bool) -> ExactArray:
    """The same for a block of doubles, whose means are rounded to doubles."""
    M = array.to_numpy()
    if np.array_equal(M, M.T):
        return array
    if not symmetrise:
        i, j = np.argwhere(np.tril(M != M.T))[0].tolist()
        rule = f'must be symmetric (or say "symmetrise": true); [{i}][{j}] is {M[i, j]}, [{j}][{i}] is'
        raise InvalidInputError(argument, f"{rule} {M[j, i]}")
    return ExactArray.of_doubles(doubles(M / 2 + M.T / 2, argument))


def _require_positive_definite(block: ExactArray) -> None:
    matrix = block.to_numpy()
    try:
        pivots = np.diag(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        pivots = np.zeros(1)
    # A factor whose pivots nearly vanish says nothing in doubles; then look at the eigenvalue itself.
    if pivots.min() ** 2 > 1e-10 * max(matrix.max(), -matrix.min()):
        return
    eigenvalues = np.linalg.eigvalsh(matrix)
    rounding = len(matrix) * float(np.finfo(np.float64).eps) * float(np.abs(eigenvalues).max())
    if eigenvalues[0] <= rounding:
        rule = "must be positive definite" + (" beyond rounding" if eigenvalues[0] > 0 else "")
        raise InvalidInputError("g.yy", f"{rule}; its smallest eigenvalue is {eigenvalues[0]:.6g}")
