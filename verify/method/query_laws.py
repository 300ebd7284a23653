"""How s_t is drawn by mistake: laws, as formulas of their distribution functions."""

from __future__ import annotations

import numpy as np
from scipy import special

from spec.exact import Vector
from verify.method.loop_edits import EDITS, INTERVALS, LineEdit
from verify.method.player import FUNCTIONS, Space

LAW_FUNCTIONS: Space = FUNCTIONS | {
    "cbrt": np.cbrt, "log": np.log, "betainc": special.betainc, "ndtr": special.ndtr
}  # fmt: skip


def uniform_law(a: float, b: float) -> LineEdit:
    """The uniform law on an interval."""
    return LineEdit(f"clip((s - {a}) / ({b} - {a}), 0, 1)", "", f"s_t is uniform on [{a:g}, {b:g}], not on [0, 1]")


LAWS = (*(uniform_law(a, b) for a, b in INTERVALS), *EDITS["laws"])


def distribution(law: LineEdit, s: Vector) -> Vector:
    """A law's distribution function at draws."""
    return np.asarray(eval(law.formula, LAW_FUNCTIONS, {"s": s, "u": np.clip(s, 0, 1)}))
