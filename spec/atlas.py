"""Named instances, each with its purpose: the places where a claim is put to the test.

Each is a file of ``spec/instances``. Strata are declared there and re-derived exactly in the tests, so a label cannot
drift from its instance.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spec.errors import InvalidInputError, from_validation
from spec.exact import ExactNumber
from spec.noise import Noise
from spec.problem import Generated, Problem, parse_problem

Stratum = Literal[
    "A-zero",
    "A-nonzero",
    "no-active-row",
    "one-active-row",
    "several-active-rows",
    "inactive-row",
    "strictly-complementary",
    "weakly-active",
    "licq-fails",
    "rows-nearly-dependent",
    "ill-conditioned",
    "infeasible",
    "box",
    "general-rows",
    "indefinite-f-yy",
    "hessian-not-lipschitz",
    "kink-nearby",
]


@dataclass(frozen=True)
class Instance:
    """A problem at a point, with the reason it is here.

    Args:
        name: Unique, as written on the command line after ``atlas:``.
        problem: The problem.
        x: The upper-level point, exact, length n.
        purpose: What it is for, in a sentence.
        strata: What kind of point it is.
        known: Closed-form values by name, exact spellings, each re-derived in the tests.
    """

    name: str
    problem: Problem
    x: tuple[Fraction, ...]
    purpose: str
    strata: frozenset[Stratum]
    known: dict[str, str] = field(default_factory=dict)

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
    "toy1",
    "toy2",
    "scalar-rational",
    "interior",
    "concave-upper",
    "experiment-1d",
    "kink",
    "swapping-rows",
    "crossing-kinks",
    "absolute-fixed",
    "absolute-moving",
    "two-of-three",
    "box-rational",
    "fixed-rows",
    "moving-box",
    "random-2x3x4",
    "random-3x5x4",
    "random-4x6x6",
    "experiment-5d",
    "ill-conditioned",
    "rows-nearly-dependent",
    "weakly-active",
    "licq-fails",
    "infeasible",
    "holder-1-4",
    "holder-3-4",
)
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


class _File(BaseModel):
    """One file of ``spec/instances``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    purpose: str = Field(min_length=1)
    strata: frozenset[Stratum]
    x: tuple[ExactNumber, ...]
    known: dict[str, str] = Field(default_factory=dict)
    problem: dict[str, Any]


@lru_cache(maxsize=1)
def atlas() -> dict[str, Instance]:
    """All named instances, in a stable order.

    Raises:
        InvalidInputError: If a file is malformed.
    """
    folder = resources.files("spec") / "instances"
    return {name: _load(name, (folder / f"{name}.toml").read_text(encoding="utf-8")) for name in ORDER}


def _load(name: str, text: str) -> Instance:
    where = f"instances/{name}.toml"
    try:
        file = _File.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(where, f"is not valid TOML ({error})") from None
    except ValidationError as error:
        raise from_validation(error, where) from None
    x = tuple(Fraction(value) for value in file.x)
    return Instance(name, parse_problem(file.problem, where), x, file.purpose, file.strata, file.known)


def find(name: str) -> Instance:
    """Look an instance up by name.

    Raises:
        InvalidInputError: If there is none, naming the nearest known names.
    """
    import difflib

    known = atlas()
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else f"; known are {', '.join(known)}"
    raise InvalidInputError("instance", f"must name an atlas instance{hint}", name)
