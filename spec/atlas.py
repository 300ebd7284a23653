"""Named instances, each with its purpose: the places where a claim is put to the test.

Strata are declared here and re-derived exactly in the tests, so a label cannot drift from its instance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from spec.errors import InvalidInputError
from spec.noise import Noise
from spec.problem import Generated, Problem, Quadratic, parse_problem

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


def _quadratic(*, f: dict[str, Any], g: dict[str, Any], A: Any, B: Any, b: Any) -> Quadratic:
    made = parse_problem({"kind": "quadratic", "f": f, "g": g, "constraints": {"A": A, "B": B, "b": b}}, "atlas")
    assert isinstance(made, Quadratic)  # by its kind
    return made


def _instance(
    name: str,
    problem: Problem,
    x: list[Any],
    strata: str,
    purpose: str,
    **known: str,
) -> Instance:
    labels: Any = frozenset(strata.split())
    return Instance(name, problem, tuple(Fraction(v) for v in x), purpose, labels, known)


def _box(m: int) -> dict[str, Any]:
    eye = [[int(i == j) for j in range(m)] for i in range(m)]
    return {"B": eye + [[-v for v in row] for row in eye], "b": [1] * (2 * m)}


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


@lru_cache(maxsize=1)
def atlas() -> dict[str, Instance]:
    """All named instances, in a stable order."""
    made = [*_small(), *_kinks(), *_general(), *_degenerate()]
    return {instance.name: instance for instance in made}


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


def _small() -> list[Instance]:
    return [
        _instance(
            "toy1",
            _quadratic(f={"y": [1]}, g={"yy": [[1]]}, A=[[1]], B=[[1]], b=[0]),
            [1],
            "A-nonzero one-active-row strictly-complementary general-rows",
            "The smallest moving constraint: y* = x on the boundary, so A'λ* ≠ 0 and the frozen dual term shows.",
            y_star="1",
            lam="1",
            hypergradient="1",
        ),
        _instance(
            "toy2",
            _quadratic(f={"y": [1]}, g={"xx": [[1]], "xy": [[-1]], "yy": [[1]]}, A=[[0]], B=[[-1]], b=[0]),
            ["1/2"],
            "A-zero one-active-row strictly-complementary kink-nearby",
            "A fixed constraint y <= 0 that binds for x > 0: F = min(x, 0), with a kink at x = 0.",
            y_star="0",
            lam="1/2",
            hypergradient="0",
            kink="0",
        ),
        _instance(
            "scalar-rational",
            _quadratic(
                f={"xx": [[1]], "xy": [["1/3"]], "yy": [[-2]], "x": ["1/2"], "y": [1]},
                g={"xy": [["1/2"]], "yy": [["3/2"]], "y": [1]},
                A=[["2/3"]],
                B=[["4/5"]],
                b=["1/7"],
            ),
            [1],
            "A-nonzero one-active-row strictly-complementary general-rows indefinite-f-yy",
            "Every scalar coefficient non-zero and rational: the closed form of the bias with no term missing.",
        ),
        _instance(
            "interior",
            _quadratic(
                f={"xy": [[1, 0], [0, 1]], "yy": [[1, 0], [0, -1]], "y": [1, -1]},
                g={"xy": [[1, 0], [1, 1]], "yy": [[2, 1], [1, 2]], "y": [1, 0]},
                A=[[1, 0]],
                B=[[0, 1]],
                b=[10],
            ),
            ["1/2", "1/4"],
            "A-nonzero no-active-row inactive-row strictly-complementary general-rows indefinite-f-yy",
            "No row binds: the unconstrained penalty method, bias from curvature of f alone.",
        ),
        _instance(
            "concave-upper",
            _quadratic(f={"yy": [[-1]]}, g={"yy": [[1]], "xy": [[1]]}, A=[[0]], B=[[1]], b=[10]),
            [1],
            "A-zero no-active-row inactive-row strictly-complementary indefinite-f-yy",
            "f = -y²/2 against g = y²/2 + xy: C_f = μ_g = 1, so the hypothesis α >= 2C_f/μ_g picks α = 2, where the "
            "penalty Lagrangian is concave.",
        ),
        _instance(
            "experiment-1d",
            _quadratic(
                f={"xx": [[1]], "x": [3], "yy": [[4]], "xy": [[4]]},
                g={"yy": [[2]], "xy": [[1]]},
                A=[[0], [0]],
                **_box(1),
            ),
            ["5/2"],
            "A-zero one-active-row inactive-row strictly-complementary box kink-nearby",
            "The paper's experiment in one dimension: y* = clip(-x/2, -1, 1), F' known piece by piece.",
            y_star="-1",
            hypergradient="3/2",
            kink="2",
        ),
    ]


def _kinks() -> list[Instance]:
    return [
        _instance(
            "kink",
            _quadratic(f={"x": [-1], "y": [2]}, g={"xx": [[1]], "xy": [[-1]], "yy": [[1]]}, A=[[0]], B=[[1]], b=[0]),
            ["-1/2"],
            "A-zero one-active-row strictly-complementary kink-nearby",
            "F = |x|: the simplest kink, the constraint y >= 0 binds on one side.",
            y_star="0",
            lam="1/2",
            hypergradient="-1",
            kink="0",
        ),
        _instance(
            "swapping-rows",
            _quadratic(
                f={"y": [1, -1]},
                g={"xx": [[2]], "xy": [[-1, 1]], "yy": [[1, 0], [0, 1]]},
                A=[[0], [0]],
                B=[[1, 0], [0, 1]],
                b=[0, 0],
            ),
            ["1/2"],
            "A-zero one-active-row inactive-row strictly-complementary kink-nearby",
            "y = (max(x, 0), max(-x, 0)) and F = x: two rows switch at the same x, where F itself is smooth.",
            hypergradient="1",
            kink="0",
        ),
        _instance(
            "crossing-kinks",
            _quadratic(
                f={"x": ["3/10", "17/10"], "y": [-2, -2, 2]},
                g={
                    "xx": [[2, -1], [-1, 2]],
                    "xy": [[-1, 0, -1], [0, -1, 1]],
                    "yy": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                },
                A=[[0, 0], [0, 0]],
                B=[[-1, -1, 0], [0, 0, 1]],
                b=[1, 0],
            ),
            ["1/2", 1],
            "A-zero several-active-rows strictly-complementary general-rows kink-nearby",
            "F = |s-1| + |d| + 0.3 d - 1 with s = x1+x2, d = x1-x2: two kinks cross at the minimiser (1/2, 1/2).",
            hypergradient="3/10 17/10",
        ),
        _instance(
            "absolute-fixed",
            _quadratic(
                f={"x": [-1, -2], "y": [2, 4]},
                g={"xx": [[1, 0], [0, 1]], "xy": [[-1, 0], [0, -1]], "yy": [[1, 0], [0, 1]]},
                A=[[0, 0], [0, 0]],
                B=[[1, 0], [0, 1]],
                b=[0, 0],
            ),
            [-1, "1/2"],
            "A-zero one-active-row inactive-row strictly-complementary kink-nearby",
            "F = |x1| + 2|x2| with a fixed constraint y >= 0.",
            hypergradient="-1 2",
        ),
        _instance(
            "absolute-moving",
            _quadratic(
                f={"x": [-1, -2], "y": [2, 4]},
                g={"yy": [[1, 0], [0, 1]]},
                A=[[1, 0], [0, 1]],
                B=[[1, 0], [0, 1]],
                b=[0, 0],
            ),
            [1, "1/2"],
            "A-nonzero several-active-rows strictly-complementary general-rows kink-nearby",
            "The same F = |x1| + 2|x2| with moving constraints x <= y: λ* = max(x, 0) and A'λ* ≠ 0.",
            hypergradient="1 2",
        ),
    ]


def _general() -> list[Instance]:
    return [
        _instance(
            "two-of-three",
            _quadratic(
                f={
                    "xx": [[1, 0], [0, 2]],
                    "xy": [[1, 0, -1], [0, 2, 1]],
                    "yy": [[1, 2, 0], [2, -1, 0], [0, 0, 1]],
                    "x": [1, -1],
                    "y": [2, 1, -1],
                },
                g={"xy": [[1, 0, 1], [0, -1, 1]], "yy": [[3, 1, 0], [1, 2, 0], [0, 0, 2]], "y": [2, 1, -1]},
                A=[[1, 1], [1, -1], [0, 1]],
                B=[[1, 0, 1], [0, 1, 0], [1, 1, 0]],
                b=[0, 0, 5],
            ),
            [1, "1/2"],
            "A-nonzero several-active-rows inactive-row strictly-complementary general-rows indefinite-f-yy",
            "Two moving rows bind, one is slack, every block is non-zero and f_yy is indefinite.",
        ),
        _instance(
            "box-rational",
            _quadratic(
                f={
                    "xx": [[1, 0], [0, 1]],
                    "xy": [[1, 2, 0], [0, 1, -1]],
                    "yy": [[0, 1, 0], [1, 0, 0], [0, 0, 1]],
                    "y": [1, -2, "1/2"],
                },
                g={
                    "xy": [[1, 0, "1/2"], [0, 1, "-1/3"]],
                    "yy": [[2, "1/2", 0], ["1/2", 2, 0], [0, 0, 1]],
                    "y": [-4, 3, 0],
                },
                A=[[0, 0]] * 6,
                **_box(3),
            ),
            ["1/2", "1/4"],
            "A-zero several-active-rows inactive-row strictly-complementary box indefinite-f-yy",
            "A box with two binding and one free coordinate: A = 0 hides the frozen term and the worst amplification.",
        ),
        _instance(
            "fixed-rows",
            _quadratic(
                f={
                    "xx": [[1, 0], [0, 1]],
                    "xy": [[2, 0, 1], [1, 1, 0]],
                    "yy": [[1, 0, 0], [0, -1, 0], [0, 0, 2]],
                    "y": [1, 1, -2],
                },
                g={"xy": [[1, 0, 0], [0, 1, 1]], "yy": [[2, 0, 1], [0, 2, 0], [1, 0, 3]], "y": [1, -1, 2]},
                A=[[0, 0], [0, 0]],
                B=[[1, 1, 0], [0, 1, 2]],
                b=[-2, -2],
            ),
            [1, -1],
            "A-zero several-active-rows strictly-complementary general-rows indefinite-f-yy",
            "General rows that do not move with x and all bind: A = 0 without a box, no slack row.",
        ),
        _instance(
            "moving-box",
            _quadratic(
                f={"xy": [[1, 0], [1, -1]], "yy": [[1, 0], [0, -2]], "y": [1, 2]},
                g={"xy": [[1, 0], [0, "1/2"]], "yy": [[2, "1/2"], ["1/2", 1]], "y": [4, -1]},
                A=[[1, 0], [0, 1], [-1, 0], [0, -1]],
                **_box(2),
            ),
            ["1/2", 1],
            "A-nonzero one-active-row inactive-row strictly-complementary general-rows indefinite-f-yy",
            "A box of half-width 1 that travels with x: |y - x| <= 1, one side binds, one coordinate is free.",
        ),
        *(
            _instance(
                f"random-{n}x{m}x{p}",
                parse_problem({"kind": "generated", "family": "random-rows", "n": n, "m": m, "p": p, "seed": seed}),
                [0] * n,
                "A-nonzero several-active-rows inactive-row strictly-complementary general-rows indefinite-f-yy",
                "Small random integers with half of its rows active: nothing about it was chosen by hand.",
            )
            for n, m, p, seed in ((2, 3, 4, 1), (3, 5, 4, 2), (4, 6, 6, 3))
        ),
        _instance(
            "experiment-5d",
            experiment(5, condition=10.0, seed=0),
            ["1/2", "-1/2", 1, 2, -1],
            "A-zero several-active-rows inactive-row strictly-complementary box indefinite-f-yy",
            "The paper's experiment family, d = 5, positive definite with condition number 10.",
        ),
        _instance(
            "ill-conditioned",
            _quadratic(
                f={"xy": [[1, 1]], "yy": [[1, 0], [0, -1]], "y": [1, 1]},
                g={"xy": [[1, 10]], "yy": [[1, 0], [0, 10000]], "y": [0, 0]},
                A=[[1]],
                B=[[1, 1]],
                b=[0],
            ),
            [1],
            "A-nonzero one-active-row strictly-complementary general-rows ill-conditioned indefinite-f-yy",
            "κ_g = 10⁴: constants grow, exponents must not.",
        ),
        _instance(
            "rows-nearly-dependent",
            _quadratic(
                f={"xy": [[1, 1]], "y": [1, 2]},
                g={"yy": [[1, 0], [0, 1]], "y": [0, 0]},
                A=[[1], [1]],
                B=[[1, 0], [1, "1/5"]],
                b=[0, "-1/100"],
            ),
            [1],
            "A-nonzero several-active-rows strictly-complementary general-rows rows-nearly-dependent",
            "LICQ holds with a smallest singular value near 0.14: multipliers and constants are large.",
        ),
    ]


def _degenerate() -> list[Instance]:
    return [
        _instance(
            "weakly-active",
            _quadratic(f={"y": [1]}, g={"yy": [[1]]}, A=[[1]], B=[[1]], b=[0]),
            [0],
            "A-nonzero weakly-active general-rows kink-nearby",
            "The row binds with multiplier 0: strict complementarity fails, F has a kink exactly here.",
            y_star="0",
            lam="0",
        ),
        _instance(
            "licq-fails",
            _quadratic(f={"y": [1]}, g={"yy": [[1]]}, A=[[1], [2]], B=[[1], [2]], b=[0, 0]),
            [1],
            "A-nonzero several-active-rows licq-fails general-rows",
            "The same row twice: multipliers are not unique.",
        ),
        _instance(
            "infeasible",
            _quadratic(f={"y": [1]}, g={"yy": [[1]]}, A=[[0], [0]], B=[[1], [-1]], b=[-1, -1]),
            [0],
            "A-zero infeasible",
            "Two rows ask for y >= 1 and y <= -1 at once: the lower level is empty.",
        ),
        *(
            _instance(
                f"holder-{s.replace('/', '-')}",
                parse_problem({"kind": "holder", "s": s}),
                [0],
                "A-zero no-active-row inactive-row strictly-complementary hessian-not-lipschitz",
                f"g smooth, its Hessian only Hölder-{s}: the bias is exactly α to the power 2·{s}.",
                hypergradient="-1",
            )
            for s in ("1/4", "3/4")
        ),
    ]
