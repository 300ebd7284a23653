"""Named instances, each with its purpose: the places where a claim is put to the test.

Each is a file of ``spec/instances``. Strata are declared there and re-derived exactly in the tests, so a label cannot
drift from its instance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, cast

from pydantic import Field

from spec.drawn import draw, family_of, is_drawn
from spec.exact import ExactNumber
from spec.files import Frozen, find_named, package_text, parse_toml
from spec.noise import Noise
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
    "toy1", "toy2", "scalar-rational", "interior", "concave-upper", "experiment-1d", "kink", "swapping-rows",
    "crossing-kinks", "absolute-fixed", "absolute-moving", "two-of-three", "box-rational", "fixed-rows",
    "moving-box", "random-2x3x4", "random-3x5x4", "random-4x6x6", "random-10x12x6", "experiment-5d", "ill-conditioned",
    "rows-nearly-dependent", "weakly-active", "licq-fails", "infeasible", "holder-1-4", "holder-1-2", "holder-3-4",
    "holder-1",
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

    Raises:
        InvalidInputError: If there is none, naming the nearest known names; about ``argument``.
    """
    if is_drawn(name):
        return _drawn(name, argument)
    known = atlas()
    return find_named(known, name, argument, "must name an atlas instance", f"known are {', '.join(known)}")
