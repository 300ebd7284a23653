"""What ``living.toml`` says of the living algorithms: the claims shown, the phrases that are switches, the run."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any, Self

from pydantic import model_validator

from spec import OuterParameters, parse_problem
from spec.claims import find
from spec.errors import InvalidInputError
from spec.files import Frozen
from verify.report import wording


class Tab(Frozen):
    """A claim that the page shows: the statement, its short name, the variable of its bound, what is on the axis."""

    id: str
    statement: str
    name: str
    variable: str
    axis: str

    @property
    def claimed(self) -> int:
        """The power of the variable that the text asserts."""
        return int(find(self.statement).as_written.bound.exponents[self.variable])

    @property
    def letter(self) -> str:
        return wording.letter(self.variable)


class Beyond(Frozen):
    """A value that the words of a choice do not name, and the statement that is judged with it."""

    value: str
    statement: str
    words: str


class SwitchText(Frozen):
    """A row of ``living.toml``."""

    choice: str
    tab: str
    asks: str
    at: tuple[str, ...]
    beyond: Beyond | None = None


class Schedule(Frozen):
    """What the theorem's schedule of Algorithm 2 is made from: see :meth:`spec.OuterParameters.paper`."""

    goldstein_radius: float
    epsilon: float
    lipschitz_F: float  # noqa: N815  # the paper's letter
    gap: float

    @property
    def parameters(self) -> OuterParameters:
        """The theorem's."""
        return OuterParameters.paper(**self.model_dump())


class RunText(Frozen):
    """The run of Algorithm 2: its problem (n = m = p = 1), in words too, its start, the x that the picture shows."""

    problem: dict[str, Any]
    words: str
    start: int
    view: tuple[int, int]
    N_g: int
    schedule: Schedule

    @model_validator(mode="after")
    def _one_line(self) -> Self:
        problem = parse_problem(self.problem)
        if (problem.n, problem.m, problem.p) != (1, 1, 1):
            raise InvalidInputError("problem", "must have n = m = p = 1", (problem.n, problem.m, problem.p))
        return self


class LivingTexts(Frozen):
    """All of ``living.toml``."""

    tabs: tuple[Tab, ...]
    switches: tuple[SwitchText, ...]
    run: RunText


@lru_cache(maxsize=1)
def living_texts() -> LivingTexts:
    """Read once a process."""
    text = (resources.files("verify.report.site.living") / "living.toml").read_text(encoding="utf-8")
    return LivingTexts.model_validate(tomllib.loads(text))
