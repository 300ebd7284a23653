"""Single changes of the activation: those with nothing to measure, and those with a number to be measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from verify.conformance.blame.activation.ramp_shapes import AFTERWARDS, ENTERS, SHAPES, TOGETHER, WIDTHS
from verify.conformance.blame.activation.ramps import CUTS, OF_OTHER_ROWS, RELATIVE, RIGHT_WEIGHTS, Bracket, WeightRule

Part = Literal["h", "lam", "both", "rule"]
SIDES: tuple[Literal["h", "lam", "both"], ...] = ("h", "lam", "both")
STARTS = (-2.0, -1.0, -0.5, 0.5, 1.0)
CENTRED = (("start", -0.5), ("factor", 2.0))
"""(h + w)/(2w) in place of 1 + h/w: two changes that are made together."""
WITHOUT_EFFECT = (("lam", "positive part"), ("both", "row before"), ("both", "row after"),
                  *((side, name) for side in ("h", "both") for name in ("of largest", "of sum")))  # fmt: skip
"""Changes of what is cut off anyway, of what is moved afterwards as well, and by sizes that h, below 0, seldom has."""
FACTORS = (0.5, 2.0, 10.0, 0.1)


@dataclass(frozen=True)
class RampEdit:
    """A change of one bracket, of both alike or of the whole.

    A ``measured`` part is set to a number from ``low`` to ``high``, or to its negative where ``signed``.
    """

    part: Part
    values: tuple[tuple[str, Any], ...]
    measured: str = ""
    low: float = 1e-3
    high: float = 1e3
    signed: bool = False

    @property
    def mixes(self) -> bool:
        """Whether a row's weight depends on others."""
        return dict(self.values).get("enters") in OF_OTHER_ROWS

    def apply(self, rule: WeightRule, number: float | None = None) -> WeightRule | None:
        """The rule with this change too; ``None`` where it has changed there before."""
        if self.part == "both":
            first = replace(self, part="h").apply(rule, number)
            return None if first is None else replace(self, part="lam").apply(first, number)
        target: Any = rule if self.part == "rule" else getattr(rule, self.part)
        right: Any = RIGHT_WEIGHTS if self.part == "rule" else Bracket(target.side)
        values = dict(self.values) | ({self.measured: number} if self.measured and number is not None else {})
        names = [*values, *([self.measured] if self.measured else [])]
        if any(getattr(target, name) != getattr(right, name) for name in names if name != "sharpness"):
            return None
        if self.part != "rule" and (target.left_out or ("left_out" in values and target != right)):
            return None
        changed = replace(target, **values)
        return changed if self.part == "rule" else replace(rule, **{self.part: changed})


def plain_edits() -> Iterator[RampEdit]:
    """All with nothing to measure."""
    for side in SIDES:
        yield RampEdit(side, (("left_out", True),))
        yield RampEdit(side, (("upside_down", True),))
        yield RampEdit(side, CENTRED)
        yield from (RampEdit(side, (("enters", name), ("width", "one"))) for name in RELATIVE
                    if (side, name) not in WITHOUT_EFFECT)  # fmt: skip
        for name, options in (
            ("enters", ENTERS), ("width", [w for w in WIDTHS if w != "one"]), ("cut", CUTS), ("start", STARTS),
            ("factor", FACTORS), ("shape", [shape for shape, kind in SHAPES.items() if not kind.sharp]),
        ):  # fmt: skip
            right = getattr(Bracket("h"), name)
            yield from (RampEdit(side, ((name, option),)) for option in options
                        if option != right and (side, option) not in WITHOUT_EFFECT)  # fmt: skip
    yield from (RampEdit("rule", (("together", name),)) for name in TOGETHER if name != "product")
    for name, finish in AFTERWARDS.items():
        if name != "nothing":
            yield from (RampEdit("rule", (("afterwards", name), ("threshold", c))) for c in finish.thresholds)


def measured_edits() -> Iterator[RampEdit]:
    """All with a number to be measured."""
    for side in SIDES:
        yield RampEdit(side, (), "factor", 1e-8, 1e4)
        yield RampEdit(side, (("width", "one"),), "factor", 1e-8, 1e3)
        yield RampEdit(side, (), "guard", 1e-13, 10.0, signed=True)
        yield RampEdit(side, (), "start", 1e-4, 10.0, signed=True)
        yield from (
            RampEdit(side, (("shape", name),), "sharpness", 1e-2, 1e3) for name, kind in SHAPES.items() if kind.sharp
        )
    for name, finish in AFTERWARDS.items():
        if not finish.thresholds:
            yield RampEdit("rule", (("afterwards", name),), "threshold", 1e-12, 100.0, signed=name == "raised")


def single_ramp_edits() -> tuple[WeightRule, ...]:
    """Every activation that is right but for one change with nothing to measure."""
    rules = (edit.apply(RIGHT_WEIGHTS) for edit in plain_edits())
    return tuple(rule for rule in rules if rule is not None)
