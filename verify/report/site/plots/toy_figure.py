"""The toy problem as a page shows it: two errors over α, a slider, and the numbers where it stands."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources

from markupsafe import Markup

from verify.report import wording
from verify.report.site.plots.toy_problem import TOY, Curve, Toy, toy

AT, HIGH, LOW = Fraction(1, 10), Fraction(1, 2), Fraction(1, 100)
"""Where the slider stands, and stays without scripts; the range of α."""
_STEPS = 24
_LEFT, _WIDE, _TOP, _TALL = 44.0, 350.0, 12.0, 200.0


@dataclass(frozen=True)
class ToyFigure:
    """Paths of both errors, places of ticks and marks, numbers at :data:`AT`, and data for the script."""

    exact: Toy
    name: str
    shown: dict[str, str]
    written: str
    repaired: str
    marks: dict[str, str]
    up: tuple[tuple[str, int], ...]
    across: tuple[tuple[str, str], ...]
    data: str
    script: Markup


def toy_figure() -> ToyFigure:
    """Everything computed exactly, and rounded once to be printed or drawn."""
    problem = toy()
    curves = problem.as_written, problem.repaired
    grid = [float(HIGH) * float(LOW / HIGH) ** (k / _STEPS) for k in range(_STEPS + 1)]

    def error(curve: Curve, alpha: float) -> float:
        return abs(float(curve(Fraction(alpha)) - problem.truth))

    ends = [error(curve, alpha) for curve in curves for alpha in (grid[0], grid[-1])]
    low, high = math.floor(math.log10(min(ends))), math.ceil(math.log10(max(ends)))

    def x(alpha: float) -> float:
        return _LEFT + math.log(float(HIGH) / alpha) / math.log(float(HIGH / LOW)) * _WIDE

    def y(value: float) -> float:
        return _TOP + (high - math.log10(value)) / (high - low) * _TALL

    written, repaired = ("M" + "L".join(f"{x(a):.1f} {y(error(c, a)):.1f}" for a in grid) for c in curves)
    at = float(AT)
    marks = {"x": f"{x(at):.1f}", "written": f"{y(error(curves[0], at)):.1f}",
             "repaired": f"{y(error(curves[1], at)):.1f}"}  # fmt: skip
    data = {
        "truth": float(problem.truth), "written": _numbers(curves[0]), "repaired": _numbers(curves[1]),
        "box": [_LEFT, _WIDE, _TOP, _TALL], "high": float(HIGH), "low": float(LOW), "decades": [low, high],
    }  # fmt: skip
    return ToyFigure(
        problem, TOY, _shown(problem), written, repaired, marks,
        tuple((f"{y(10.0**k):.1f}", k) for k in range(low, high + 1, 2)),
        tuple((f"{x(float(a)):.1f}", wording.number(float(a))) for a in (HIGH, AT, LOW)),
        json.dumps(data, separators=(",", ":")), _script(),
    )  # fmt: skip


def _numbers(curve: Curve) -> list[list[float]]:
    return [[float(c) for c in curve.top], [float(c) for c in curve.bottom]]


def _shown(problem: Toy) -> dict[str, str]:
    written, repaired = problem.as_written(AT), problem.repaired(AT)
    return {
        "alpha": wording.number(float(AT)), "truth": wording.number(float(problem.truth)),
        "written": wording.number(float(written), 6), "repaired": wording.number(float(repaired), 6),
        "written_error": wording.number(float(abs(written - problem.truth)), 6),
        "repaired_error": wording.number(float(abs(repaired - problem.truth)), 4),
    }  # fmt: skip


def _script() -> Markup:
    text = (resources.files("verify.report") / "templates" / "site" / "toy.js").read_text(encoding="utf-8")
    return Markup(text)  # our own file
