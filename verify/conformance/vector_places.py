"""Problems at points, each with a permanent name: the atlas, and what the atlas does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from spec import Generated, Noise, Problem, Quadratic, parse_problem
from spec.atlas import atlas
from verify.truth.algebra.rationals import Vector
from verify.truth.stages import Setting

_DECLARED = ("rows-nearly-dependent", "ill-conditioned", "kink-nearby")
"""Strata of the atlas that no exact sign decides: taken over at the atlas's own point."""


@dataclass(frozen=True, eq=False)
class Place:
    """A quadratic problem at a point.

    Args:
        name: Part of every id made here; permanent.
        problem: The problem, without noise.
        x: Upper variable.
        purpose: What the place is for, a clause.
        declared: Strata that are stated rather than derived.
    """

    name: str
    problem: Quadratic
    x: Vector
    purpose: str
    declared: tuple[str, ...] = ()

    def setting(self, **choices: Any) -> Setting:
        """What a stage is given here."""
        noise: Noise | None = choices.pop("noise", None)
        problem = self.problem if noise is None else with_noise(self.problem, noise)
        return Setting(problem=problem, x=self.x, **choices)

    @property
    def strata(self) -> tuple[str, ...]:
        """What kind of problem and point this is."""
        return tuple(sorted({*self.declared, *derived_strata(self.setting())}))


def with_noise(problem: Quadratic, noise: Noise) -> Quadratic:
    """The same problem under another noise model."""
    made = parse_problem(problem.to_dict() | {"noise": noise})
    assert isinstance(made, Quadratic)  # by its kind
    return made


def derived_strata(setting: Setting) -> Iterator[str]:
    """The strata that exact signs decide."""
    problem, lower = setting.problem, setting.lower
    yield "A-zero" if problem.constraints.A.is_zero else "A-nonzero"
    degenerate = bool(lower.weakly_active) and lower.licq
    if degenerate:
        yield "weakly-active"
    else:
        yield {0: "no-active-row", 1: "one-active-row"}.get(len(lower.active), "several-active-rows")
    if lower.inactive:
        yield "inactive-row"
    if not lower.licq:
        yield "licq-fails"
    elif lower.strict_complementarity:
        yield "strictly-complementary"
    yield "box" if _is_box(problem) else "general-rows"
    coefficients = setting.rows.f_yy.charpoly().coeffs()
    if any(c * (-1) ** (len(coefficients) - 1 - k) < 0 for k, c in enumerate(coefficients)):
        yield "indefinite-f-yy"


def _is_box(problem: Quadratic) -> bool:
    rows = problem.constraints.B.to_fractions()
    m = problem.m
    units = [[Fraction(sign * (i == j)) for j in range(m)] for sign in (1, -1) for i in range(m)]
    return problem.constraints.A.is_zero and rows == units


@lru_cache(maxsize=1)
def atlas_places() -> tuple[Place, ...]:
    """Every feasible quadratic instance of the atlas at its own point."""
    made = []
    for instance in atlas().values():
        problem = getattr(instance.problem, "quadratic", instance.problem)
        if isinstance(problem, Quadratic) and "infeasible" not in instance.strata:
            declared = tuple(sorted(set(instance.strata) & set(_DECLARED)))
            plain = with_noise(problem, Noise())
            made.append(Place(instance.name, plain, tuple(instance.x), instance.purpose.rstrip("."), declared))
    return tuple(made)


def place(name: str) -> Place:
    """A place by name."""
    return next(found for found in (*atlas_places(), *further_places()) if found.name == name)


def at(found: Place, name: str, x: Vector) -> Place:
    """The same problem at another point."""
    return Place(f"{found.name}-{name}", found.problem, x, f"{found.purpose}; at another point")


@lru_cache(maxsize=1)
def further_places() -> tuple[Place, ...]:
    """Sizes m = 1 to 10, and corners the atlas does without."""
    return (*_sizes(), *_corners())


def _sizes() -> Iterator[Place]:
    for m in range(1, 11):
        n, p = 1 + m // 3, m + m % 3
        drawn = parse_problem({"kind": "generated", "family": "random-rows", "n": n, "m": m, "p": p, "seed": 100 + m})
        purpose = f"small random integers, n = {n}, m = {m}, p = {p}, half of the rows active"
        yield Place(f"rows-m{m}", _entries(drawn), (Fraction(0),) * n, purpose)
    for d in (1, 2, 3, 4):
        drawn = parse_problem({"kind": "generated", "family": "paper-experiment", "n": d, "seed": 200 + d})
        x = tuple(Fraction((-1) ** k * (k + 1), 2) for k in range(d))
        yield Place(f"box-d{d}", _entries(drawn), x, f"the paper's experiment family, d = {d}")


def _entries(drawn: Problem) -> Quadratic:
    """A family member entry by entry, so that nobody has to draw it again."""
    assert isinstance(drawn, Generated)  # by its kind
    return drawn.quadratic


def _corners() -> Iterator[Place]:
    yield _corner(
        "unconstrained",
        f={"xy": [[1, 2]], "yy": [[1, 0], [0, 2]], "y": [1, -1]},
        g={"xy": [[1, -1]], "yy": [[2, 1], [1, 3]], "y": [1, 0]},
        rows={"A": [[0]], "B": [[0, 0]], "b": [1]},
        x=["1/2"],
        purpose="its one row is 0 <= 1: no constraint at all, whichever way an implementation spells that",
    )
    yield _corner(
        "vertex",
        f={"xx": [[1, 0], [0, 1]], "xy": [[1, 2], [-1, 1]], "yy": [[1, 0], [0, 1]], "x": [1, 0], "y": [1, 1]},
        g={"yy": [[1, 0], [0, 1]], "y": [3, 2]},
        rows={"A": [[1, 0], [0, 1]], "B": [[1, 0], [1, 1]], "b": [0, 0]},
        x=[1, 2],
        purpose="as many active rows as unknowns: the rows alone decide y*",
    )
    yield _corner(
        "duplicate-slack-row",
        f={"y": [1, 2]},
        g={"yy": [[2, 0], [0, 1]], "y": [-2, -1]},
        rows={"A": [[1], [1], [0]], "B": [[1, 0], [1, 0], [0, 1]], "b": [2, 2, 0]},
        x=[1],
        purpose="the same row twice, but slack: independence is asked of active rows only",
    )
    yield _corner(
        "equation-as-two-rows",
        f={"xy": [[1, 1]], "y": [1, 0]},
        g={"yy": [[1, 0], [0, 2]], "y": [0, -1]},
        rows={"A": [[1], [-1]], "B": [[1, 1], [-1, -1]], "b": [0, 0]},
        x=[2],
        purpose="an equation written as two opposite rows: multipliers are not unique, their pull is",
    )
    yield _corner(
        "three-rows-through-a-point",
        f={"y": [1, 1]},
        g={"yy": [[1, 0], [0, 1]], "y": [2, 2]},
        rows={"A": [[1], [1], [2]], "B": [[1, 0], [0, 1], [1, 1]], "b": [0, 0, 0]},
        x=[1],
        purpose="three rows through one point of a plane: independence fails though no two rows are alike",
    )
    yield _corner(
        "weakly-active-beside-active",
        f={"xy": [[1, 2]], "y": [1, 1]},
        g={"yy": [[1, 0], [0, 1]], "y": [1, 0]},
        rows={"A": [[1], [0]], "B": [[1, 0], [0, 1]], "b": [0, 0]},
        x=[1],
        purpose="one row carries a multiplier, one is active without: only the first may pull",
    )
    yield _corner(
        "weakly-active-box",
        f={"xx": [[1]], "xy": [[1]], "yy": [[2]]},
        g={"xy": [[1]], "yy": [[1]]},
        rows={"A": [[0], [0]], "B": [[1], [-1]], "b": [1, 1]},
        x=[-1],
        purpose="y* = -x arrives at the side of its box without pressing",
    )
    yield _corner(
        "one-y-four-rows",
        f={"xx": [[1, 0], [0, 2]], "xy": [[1], [-1]], "yy": [[1]], "x": [0, 1], "y": [1]},
        g={"xy": [[1], [1]], "yy": [[2]], "y": [1]},
        rows={"A": [[1, 0], [0, 1], [1, 1], [-1, 0]], "B": [[1], [2], [1], [-1]], "b": [0, 0, 5, 9]},
        x=[1, 3],
        purpose="one unknown under four moving rows of which one binds",
    )
    yield _corner(
        "five-x-one-y",
        f={"xx": [[int(i == j) for j in range(5)] for i in range(5)], "xy": [[1], [0], [-1], [2], [1]], "y": [3]},
        g={"xx": [[2 * int(i == j) for j in range(5)] for i in range(5)], "xy": [[1], [1], [0], [0], [-1]],
           "yy": [[4]], "x": [1, 2, 3, 4, 5], "y": [1]},
        rows={"A": [[1, 2, 0, -1, 1]], "B": [[2]], "b": [-1]},
        x=[1, "1/2", -1, 0, "1/4"],
        purpose="more upper than lower variables, and g depends on x alone as well, which must cancel",
    )  # fmt: skip
    yield _corner(
        "large-and-small",
        f={"xy": [[1000]], "yy": [[1]], "x": ["1/1000"], "y": [100]},
        g={"xy": [["1/100"]], "yy": [[50]], "y": [-7]},
        rows={"A": [["1/8"]], "B": [[16]], "b": ["-1/2"]},
        x=[4],
        purpose="entries from 1/1000 to 1000: nothing is of unit size",
    )
    yield _corner(
        "thirds",
        f={"xx": [["1/3"]], "xy": [["2/3", "1/7"]], "yy": [["1/3", 0], [0, "-1/9"]], "x": ["1/7"], "y": ["1/3", 1]},
        g={"xy": [["1/3", "1/9"]], "yy": [["4/3", "1/3"], ["1/3", "5/3"]], "y": ["2/3", "1/7"]},
        rows={"A": [["1/3"]], "B": [["2/7", "1/3"]], "b": ["-1/9"]},
        x=["1/3"],
        purpose="no entry is a double: inputs are rounded before anything is computed",
    )


def _corner(
    name: str, *, f: dict[str, Any], g: dict[str, Any], rows: dict[str, Any], x: list[Any], purpose: str
) -> Place:
    problem = parse_problem({"kind": "quadratic", "f": f, "g": g, "constraints": rows}, name)
    assert isinstance(problem, Quadratic)  # by its kind
    return Place(name, problem, tuple(Fraction(value) for value in x), purpose)
