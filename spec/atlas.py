"""Named instances, each with its purpose: the places where a claim is put to the test.

Each is a file of ``spec/instances``. Strata are declared there and re-derived exactly in the tests, so a label cannot
drift from its instance. A user's own instance is a file of the same form, named by its path (:func:`read_instance`).
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, ValidationError

from spec.blocks.exact_json import dumps, loads
from spec.blocks.noise import Noise
from spec.drawn import draw, family_of, is_drawn
from spec.errors import InvalidInputError, from_validation
from spec.exact import ExactNumber, parse_entry, to_json_value
from spec.files import Frozen, find_named, loads_toml, package_text, parse_toml, read_text
from spec.problem import Generated, Problem, parse_problem

Stratum = Literal[
    "A-zero", "A-nonzero", "no-active-row", "one-active-row", "several-active-rows", "inactive-row",
    "strictly-complementary", "weakly-active", "licq-fails", "rows-nearly-dependent", "ill-conditioned",
    "infeasible", "box", "general-rows", "indefinite-f-yy", "hessian-not-lipschitz", "kink-nearby",
]  # fmt: skip


@dataclass(frozen=True)
class Instance:
    """A problem at a point, shape (n,), with the reason it is here.

    The name is unique, as written on the command line after ``atlas:``; ``known`` holds closed-form values by name,
    exact spellings, each re-derived in the tests.
    """

    name: str
    problem: Problem
    x: tuple[Fraction, ...]
    purpose: str
    strata: frozenset[Stratum]
    known: dict[str, str] = field(default_factory=dict)

    @property
    def seeds_as(self) -> str:
        """What names its random draws: its own name, or of a file's instance what it holds, wherever the file lies."""
        if not is_file(self.name):
            return self.name
        return f"sha256:{hashlib.sha256(self.text.encode()).hexdigest()}"

    @property
    def text(self) -> str:
        """Point and problem as the JSON text of an instance file."""
        x = [to_json_value(parse_entry(value)) for value in self.x]
        return dumps({"x": x, "problem": self.problem.to_dict()})

    def with_noise(self, noise: Noise) -> Instance:
        """The same instance under another noise model."""
        # A family member is drawn first: a copy of it would carry the noise-free draw along.
        drawn = self.problem.quadratic if isinstance(self.problem, Generated) else self.problem
        problem = drawn.model_copy(update={"noise": noise})
        return Instance(f"{self.name}+{noise.model}", problem, self.x, self.purpose, self.strata, self.known)

    def at(self, *x: Fraction | int | str) -> Instance:
        """The same problem at another point; closed forms no longer apply."""
        return Instance(self.name, self.problem, tuple(Fraction(v) for v in x), self.purpose, self.strata)


ORDER = (
    "toy1", "toy2", "scalar-rational", "interior", "concave-upper", "mildly-concave", "experiment-1d", "kink",
    "swapping-rows", "crossing-kinks", "absolute-fixed", "absolute-moving", "two-of-three", "box-rational",
    "fixed-rows", "moving-box", "random-2x3x4", "random-3x5x4", "random-4x6x6", "random-10x12x6", "experiment-5d",
    "ill-conditioned", "rows-nearly-dependent", "weakly-active", "licq-fails", "infeasible", "holder-1-4", "holder-1-2",
    "holder-3-4", "holder-1",
)  # fmt: skip
"""The instances, from the plainest to the degenerate ones."""


def experiment(d: int, *, condition: float = 10.0, seed: int = 0, literal: bool = False) -> Problem:
    """The paper's experiment family in dimension d: box [-1, 1]^d, A = 0.

    Args:
        d: Dimension of x and y, >= 1.
        condition: Condition number of Q_l and Q_u for the positive definite construction, >= 1.
        seed: Seed of the draw.
        literal: Draw all matrices iid Gaussian as the text says. Such a lower level is rarely strongly convex;
            entering its entries then raises :class:`InvalidInputError` naming the negative eigenvalue.

    Source: section "Problem Setup". Differs from the paper: the positive definite construction is ours, the
    text gives none.
    """
    family = "paper-literal" if literal else "paper-experiment"
    return parse_problem({"kind": "generated", "family": family, "n": d, "condition": condition, "seed": seed})


class _File(Frozen):
    """One file of ``spec/instances``.

    Args:
        purpose: Why the instance is here.
        strata: What kind of problem and point it is.
        x: The upper-level point, shape ``(n,)``.
        known: Closed-form values by name, exact spellings.
        problem: The problem file's content.
    """

    purpose: str = Field(min_length=1)
    strata: frozenset[Stratum]
    x: tuple[ExactNumber, ...]
    known: dict[str, str] = Field(default_factory=dict)
    problem: dict[str, Any]


@lru_cache(maxsize=1)
def atlas() -> dict[str, Instance]:
    """All named instances, in a stable order."""
    return {name: _load(name, package_text(f"instances/{name}.toml")) for name in ORDER}


def _load(name: str, text: str) -> Instance:
    where = f"instances/{name}.toml"
    file = parse_toml(_File, text, where)
    x = tuple(Fraction(value) for value in file.x)
    return Instance(name, parse_problem(file.problem, where), x, file.purpose, file.strata, file.known)


@lru_cache(maxsize=256)
def _drawn(name: str, argument: str) -> Instance:
    problem, known = draw(name, argument)
    return Instance(name, problem, known.x, family_of(name).purpose, cast(frozenset[Stratum], known.strata))


def find(name: str, argument: str = "instance") -> Instance:
    """Look an instance up by name: one of the atlas, or a draw (:mod:`spec.drawn`), whose strata are what it ensures.

    A name that ends in ``.toml`` or ``.json`` is the path of a file, as :func:`read_instance` or :func:`hold_instance`
    knows it.

    Raises:
        InvalidInputError: If there is none, naming the nearest known names; about ``argument``.
    """
    if is_drawn(name):
        return _drawn(name, argument)
    if is_file(name):
        return _HELD[name] if name in _HELD else read_instance(name, argument)
    known = atlas()
    return find_named(known, name, argument, "must name an atlas instance", f"known are {', '.join(known)}")


ENDINGS = (".toml", ".json")
LARGEST = 16 * 1024 * 1024
"""Bytes of an instance file."""
_HELD: dict[str, Instance] = {}
"""Instances of files, by path, as they were read: a file may change, or lie on another machine."""


class InstanceFile(Frozen):
    """An instance file of a user's: as those of ``spec/instances``, of which it may leave out what is for readers.

    Args:
        purpose: Why it is asked about.
        strata: What kind of problem and point it is; what is asked there goes by what is derived.
        x: The upper-level point, shape ``(n,)``.
        known: Closed-form values by name, exact spellings; for readers.
        problem: The problem file's content.
    """

    purpose: str = ""
    strata: frozenset[Stratum] = frozenset()
    x: tuple[ExactNumber, ...]
    known: dict[str, str] = Field(default_factory=dict)
    problem: dict[str, Any]


def is_file(name: str) -> bool:
    """Whether an instance's name is the path of a file."""
    return name.endswith(ENDINGS)


def read_instance(path: str, argument: str = "instance") -> Instance:
    """Read the file of an instance, and know it by its path from then on.

    TOML or JSON, by its ending: ``x`` and ``problem``, and as in ``spec/instances`` a ``purpose``; or a problem file
    with ``x`` beside its blocks, as ``f2csa conform --problem`` reads it.

    Raises:
        InvalidInputError: If it cannot be read, or is no instance.
    """
    if not path.isprintable() or "|" in path:
        raise InvalidInputError(argument, "must be a path of printable characters without |", path)
    text = read_text(Path(path), argument, LARGEST)
    return hold_instance(path, text, Path(path).parent)


def hold_instance(path: str, text: str, folder: Path | None = None) -> Instance:
    """An instance from the text of its file, known by its path from then on.

    Args:
        path: Its name.
        text: What the file holds: TOML or JSON, where it begins with a brace.
        folder: Where files that its blocks name stand; without it none may be named.

    Raises:
        InvalidInputError: If it is no instance.
    """
    where = Path(path).name
    data = loads(text, where) if text.lstrip()[:1] == "{" else loads_toml(text, where, Decimal)
    if isinstance(data, dict) and "problem" not in data:
        data = {"x": data.pop("x", None), "problem": data}
    if isinstance(data, dict) and data.get("x") is None:
        raise InvalidInputError(f"{where}: x", "is required: the upper-level point, a list of n numbers")
    try:
        file = InstanceFile.model_validate(data)
    except ValidationError as error:
        raise from_validation(error, where) from None
    problem, x = parse_problem(file.problem, where, folder), tuple(Fraction(value) for value in file.x)
    n = problem.quadratic.n if isinstance(problem, Generated) else problem.n
    if len(x) != n:
        raise InvalidInputError(f"{where}: x", f"must have {n} number(s)", len(x))
    _HELD[path] = Instance(path, problem, x, file.purpose or "An instance of its user's.", file.strata, file.known)
    return _HELD[path]


def know_instance(path: str, text: str) -> None:
    """Know an instance by its path, where nothing else is known by it: what a store holds of one goes after files.

    What is no instance is not known.
    """
    if path not in _HELD:
        with suppress(InvalidInputError):
            hold_instance(path, text)
