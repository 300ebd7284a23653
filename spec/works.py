"""The works that the paper's statements about others rest on, and what was read in them.

A work that was not looked up has no properties and no rates, so nothing can be decided from it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from spec.errors import InvalidInputError
from spec.files import Frozen, find_named, package_text, parse_toml

Property = Literal[
    "gradients-only", "implicit-gradient", "finite-differences", "penalty", "deterministic", "stochastic",
    "doubly-stochastic", "unconstrained-lower-level", "fixed-lower-level-set", "lower-level-rows", "moving-rows",
    "finite-time", "optimal-dual-oracle", "kkt-points", "squared-norm", "rate-up-to-logarithms", "nonsmooth",
    "radius-of-its-own", "lower-bound", "optimal-in-radius",
]  # fmt: skip
"""What a work says of its own method, problem class or guarantee."""

Power = Annotated[Fraction, BeforeValidator(Fraction), PlainSerializer(str)]


class CitedWork(Frozen):
    """One work by others.

    Args:
        id: Short name.
        key: The paper's citation key; empty where the paper does not cite it.
        reference: Authors, title, year.
        place: Where in the work it was looked up; empty if it was not.
        states: What it says there, in our words.
        properties: What it says of itself there.
        rates: Its rates by setting, each as powers by variable.
    """

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    key: str = ""
    reference: str = Field(min_length=1)
    place: str = ""
    states: str = ""
    properties: frozenset[Property] = frozenset()
    rates: dict[str, dict[str, Power]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _read_or_silent(self) -> Self:
        if bool(self.place) != bool(self.states) or (not self.place and (self.properties or self.rates)):
            raise InvalidInputError(
                f"works.{self.id}", "must say what it states where it was looked up, and only there"
            )
        return self

    @property
    def looked_up(self) -> bool:
        """Whether anything in it was read."""
        return bool(self.place)

    def has(self, *properties: Property) -> bool:
        """Whether it says all of this of itself."""
        return self.properties.issuperset(properties)


class _WorksFile(Frozen):
    """The file of works.

    Args:
        works: Each of them, in order.
    """

    works: tuple[CitedWork, ...]


@lru_cache(maxsize=1)
def load_works() -> dict[str, CitedWork]:
    """All works by id.

    Raises:
        InvalidInputError: If the file is malformed or an id repeats.
    """
    works = parse_toml(_WorksFile, package_text("works.toml"), "works.toml").works
    by_id = {work.id: work for work in works}
    if len(by_id) != len(works):
        raise InvalidInputError("works.toml", "ids must not repeat", [work.id for work in works])
    return by_id


def find(name: str) -> CitedWork:
    """Look a work up by id.

    Raises:
        InvalidInputError: If there is none, naming the nearest known ids.
    """
    return find_named(load_works(), name, "work", "must be a known work", "spec/works.toml lists them")
