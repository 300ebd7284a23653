r"""Bilevel problems with affine lower-level constraints, exact and validated.

.. math:: \min_x F(x) = f(x, y^*(x)), \quad y^*(x) = \arg\min_y \{ g(x,y) : h(x,y) = Ax - By - b \le 0 \}.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator

from spec.blocks import families
from spec.blocks.array_files import save_arrays, with_arrays
from spec.blocks.exact_json import dumps, loads
from spec.blocks.noise import Noise
from spec.blocks.quadratic import Constraints, Quadratic, QuadraticArrays
from spec.errors import InvalidInputError, from_validation, unwritable
from spec.exact import MAX_SIDE, Entry, ExactArray, ExactNumber, doubles
from spec.files import Sparing

MAX_FILE_BYTES = 512 * 1024 * 1024
"""Longest problem text read."""


class Holder(Sparing):
    r"""A smooth lower level whose Hessian is only Hölder continuous.

    :math:`f = y`, :math:`g = y^2/2 + xy + xy\,q(r)`, :math:`r^2 = x^2 + y^2`, one row that never binds, where
    :math:`q = r^s` up to :math:`R = (3s)^{-1/s}` and :math:`q = R^s(1 + s - sR/r)` beyond: so :math:`\nabla g` is
    Lipschitz and :math:`g(x, \cdot)` strongly convex, with modulus 1/2, everywhere. At ``x = 0`` the penalty
    estimator's bias is exactly :math:`\alpha^{2s}` for :math:`\alpha^2 \le R`: O(alpha) needs s = 1/2, and s = 1, a
    Lipschitz Hessian, gives the O(alpha^2) of quadratic problems.

    Args:
        kind: ``holder``.
        s: Hölder exponent in (0, 1].
        noise: The stochastic oracles' noise.
        n: Upper-level size, 1.
        m: Lower-level size, 1.
        p: Rows, 1.
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
        return {"kind": self.kind, "s": self.model_dump()["s"]} | self.noise.to_block()


class Generated(Sparing):
    """A problem drawn from a named family, reproducible from its seed.

    Args:
        kind: ``generated``.
        family: ``paper-experiment`` (positive definite, stated condition number), ``paper-literal`` (iid
            Gaussian as the text says; rejected when its draw is not positive definite), ``random-rows``
            (small integers, general rows with a chosen number active at x = 0) or ``coupled-rows`` (as the first,
            with dense rows in x and y in place of the box).
        n: Upper-level size; the paper families use n = m.
        m: Lower-level size (default n).
        p: Rows (families of rows only; default m). The paper families have the 2m rows of a box.
        condition: Condition number of ``g.yy``, >= 1.
        seed: Seed of the draw, >= 0.
        noise: The stochastic oracles' noise.
    """

    kind: Literal["generated"] = "generated"
    family: families.FamilyName
    n: int = Field(ge=1, le=MAX_SIDE // 2)
    m: int | None = Field(default=None, ge=1, le=MAX_SIDE // 2)
    p: int | None = Field(default=None, ge=1, le=MAX_SIDE)
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
        if self.family in ("paper-experiment", "paper-literal"):
            if self.m not in (None, self.n):
                raise InvalidInputError("m", f"must equal n for family {self.family}", self.m)
            if self.p is not None:
                raise InvalidInputError("p", f"must be left out for family {self.family}", self.p)
        return self

    @cached_property
    def quadratic(self) -> Quadratic:
        """The drawn problem: doubles, from which exact entries are made where they are asked for."""
        drawn = families.draw(self.family, self.n, self.m or self.n, self.p, self.condition, self.seed)
        blocks = {part: {name: ExactArray.of_doubles(doubles(array, f"{part}.{name}")) for name, array in held.items()}
                  for part, held in drawn.items()}  # fmt: skip
        problem = parse_problem(
            {"kind": "quadratic", **blocks, "noise": self.noise}, f"{self.family}[seed={self.seed}]"
        )
        assert isinstance(problem, Quadratic)  # by its kind
        return problem

    @property
    def arrays(self) -> QuadraticArrays:
        """All blocks of the drawn problem as doubles."""
        return self.quadratic.arrays

    def to_dict(self) -> dict[str, Any]:
        """The canonical form as plain data."""
        return self.model_dump(exclude_none=True, exclude={"noise"}) | self.noise.to_block()


Problem: TypeAlias = Quadratic | Holder | Generated
"""Any problem a file can hold; the field ``kind`` says which."""

_ANY: TypeAdapter[Problem] = TypeAdapter(Annotated[Problem, Field(discriminator="kind")])


def parse_problem(data: object, argument: str = "problem", folder: Path | None = None) -> Problem:
    """Validate plain data (from JSON, or built in Python) as a problem.

    Args:
        data: Blocks as lists, or numpy arrays.
        argument: Name used in errors.
        folder: Where files that blocks name stand (:mod:`spec.blocks.array_files`); without it none may be named.

    Raises:
        InvalidInputError: One line: argument, rule, value.
    """
    try:
        return _ANY.validate_python(with_arrays(data, folder, argument))
    except ValidationError as error:
        raise from_validation(error, argument) from None
    except RecursionError:
        raise InvalidInputError(argument, "is nested too deeply") from None


def loads_problem(text: str | bytes, argument: str = "problem", folder: Path | None = None) -> Problem:
    """Parse a problem from JSON text.

    Raises:
        InvalidInputError: If it is too long, not JSON or not a valid problem.
    """
    if len(text) > MAX_FILE_BYTES:
        raise InvalidInputError(argument, f"must be at most {MAX_FILE_BYTES} bytes")
    return parse_problem(loads(text, argument, doubles=True), argument, folder)


def load_problem(path: str | Path) -> Problem:
    """Read a problem file, and the numpy files beside it that its blocks name.

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
    return loads_problem(text, path.name, path.parent)


def dumps_problem(problem: Problem, indent: int | None = None) -> str:
    """Write the canonical JSON text; reading it back and writing again gives the same bytes."""
    return dumps(problem.to_dict(), indent=indent)


def save_problem(problem: Problem, path: str | Path) -> None:
    """Write a problem file whose blocks stand in one archive beside it: ``mine.json`` with ``mine.npz``.

    Raises:
        InvalidInputError: If an entry is no double's decimal, or a file cannot be written.
    """
    path = Path(path)
    exact = problem.quadratic if isinstance(problem, Generated) else problem
    data = exact.to_dict() if isinstance(exact, Holder) else {"kind": exact.kind} | exact.noise.to_block()
    if isinstance(exact, Quadratic):
        blocks = {name: block for name, block in exact.blocks.items() if name == "B" or not block.is_zero}
        for name, written in save_arrays(path.with_suffix(".npz"), blocks).items():
            part, _, block = name.partition("_")
            data.setdefault(part if block else "constraints", {})[block or name] = written
    try:
        path.write_text(dumps(data, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise unwritable(error, str(path), "cannot be written", None) from None


def digest(problem: Problem) -> str:
    """What identifies a problem: the hash of its canonical text, or beyond 200 a side of its blocks' doubles."""
    if not isinstance(problem, Quadratic) or max(problem.n, problem.m, problem.p) <= families.SMALL:
        return "sha256:" + hashlib.sha256(dumps_problem(problem).encode()).hexdigest()
    hasher = hashlib.sha256(dumps(problem.noise.to_block()).encode())
    for name, block in problem.blocks.items():
        hasher.update(f"{name} {block.shape}".encode())
        hasher.update(np.ascontiguousarray(block.to_numpy(), dtype="<f8").view(np.uint8).data)
    return "sha256-doubles:" + hasher.hexdigest()
