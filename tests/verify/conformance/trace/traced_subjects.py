"""Subjects as source files, right but for one place, for the search to find."""

from __future__ import annotations

from pathlib import Path

TEN_LINES = """
import numpy as np

{before}

class Subject:
    name = "ten-lines"

    def hypergradient(self, problem, x, call, rng):
        if call.y_penalty is None or problem.noise.model != "none":
            raise NotImplementedError("line 6 alone")
        a = problem.arrays
        w = call.y_penalty - call.y_star
        h = a.A @ x - a.B @ call.y_penalty - a.b
        direct = a.f_xx @ x + a.f_xy @ call.y_penalty + a.f_x
        return {answer}
"""
RIGHT = "direct + a.g_xy @ w / call.alpha**2 + a.A.T @ (call.rho * h) / call.alpha**4"
WRONG = "direct + a.g_xy @ w / call.alpha + a.A.T @ (call.rho * h) / call.alpha**4"


def written(folder: Path, name: str, *, before: str = "", answer: str = RIGHT, source: str = TEN_LINES) -> str:
    """Write a subject; returns the name that loads it once its folder is on the path."""
    (folder / f"{name}.py").write_text(source.replace("{before}", before).replace("{answer}", answer), encoding="utf-8")
    return f"{name}:Subject"


def line_of(folder: Path, name: str, text: str) -> int:
    """The line on which a text stands."""
    lines = (folder / f"{name}.py").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)
