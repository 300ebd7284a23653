r"""Laws that bend, hidden in a sweep's noise or seen through it: which the points leave open, and where they lead.

The class: :math:`q = C v^k (1 + c v^r)^{\pm 1}` with r from ½ to 2 and c > 0, one variable bending at a time. It holds
v^k with a correction of either sign, the saturating a/(a + s), the crossing a + Ca² and the floor a + c. In logarithms
a law is a straight line and a shape, known up to r and up to x, the correction's size at the sweep's last point. For a
shape the exponent is the straight fit's of what it leaves. A shape is open where it leaves no curvature beyond what
noise makes: two contrasts that no straight line enters, the quadratic and the cubic one, are within their own errors.
Some law of the class is the true one; its contrasts leave their errors with half of the error, its exponent's fit with
the other half, so the hull over all open shapes misses the limit with probability ``error`` at most, however it bends.

A power law that noise alone keeps from being told from a crossing far beyond the sweep is granted to be none: while no
bend shows, only corrections with x <= 1, or ½ for r < 1, are tried, whose sweep has come to the middle of the crossing
or past it; more for a claim to be supported. Once a bend shows, all are. A claim is refuted only where no rational law
of a whole order with one pole or zero meets it either, wherever that lies: a/(a + s) looks like a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spec.exact import Vector

POWERS = (0.5, 0.71, 1.0, 1.41, 2.0)
"""Powers r of the correction; neighbours' exponents cover those between."""
SIZES = (0.0, *(2.0 ** (j / 2) for j in range(-40, 25)))
"""Sizes x of the correction at the last point; between neighbours a shape's curvature is between theirs."""
SLOW = 1.0
"""Powers below this die off slowly: their sweep has to have come further."""
PASSED, PASSED_SLOWLY = 1.0, 0.5
"""Largest x while no bend shows: the sweep's end is past the middle of the crossing."""
SUPPORTED = 2**0.5
"""Factor by which x may be larger still for a claim to be supported: told at the larger error, that takes no more."""
DEPENDENT = 1e-9
"""Share of a polynomial that must be left beside the fit for a contrast to exist."""

Errors = Callable[[Vector, float], tuple[float, float]]
"""Bounds, lower and upper, of the error of a linear combination of the points' logs, by the error to spend."""


@dataclass(frozen=True)
class Bends:
    """One variable of a joint fit in logarithms, its points from first to last towards the limit.

    ``design`` has shape (points, coefficients), ``relative`` the points' widths, ``row`` maps logs to the variable's
    exponent, and ``variable`` are the variable's logs. ``boxes`` hold the true logs jointly, lower and upper ends,
    where the points come with intervals of their own: a law is open then where some line and its shape run through
    all of them.
    """

    logs: Vector
    design: Vector
    relative: Vector
    row: Vector
    variable: Vector
    errors: Errors
    boxes: tuple[Vector, Vector] | None = None

    @cached_property
    def contrasts(self) -> tuple[Vector, ...]:
        """Combinations of logs that are 0 on every power law: curvature, and its change; fewer where values are."""
        design, contrasts = self.design, []
        weights = 1 / self.relative**2
        centred = self.variable - self.variable.mean()
        for power in (2, 3):
            column = centred**power
            root = np.sqrt(weights)
            fitted = np.linalg.lstsq(design * root[:, None], column * root, rcond=None)[0]
            left = column - design @ fitted
            if float(left @ (weights * left)) <= DEPENDENT * float(column @ (weights * column)):
                break
            contrasts.append(weights * left / float(left @ (weights * left)))
            design = np.column_stack([design, column])
        return tuple(contrasts)

    @cached_property
    def _shapes(self) -> Vector:
        """All shapes: signs and powers, by size, by point."""
        values = list(dict.fromkeys(self.variable.tolist()))
        # 0 at the last value, more before.
        away = (self.variable - values[-1]) * np.sign(values[0] - values[-1])
        size = np.array(SIZES)[:, None]
        shapes = np.array([np.log1p(size * np.exp(power * away)[None, :]) for power in POWERS])
        return np.concatenate([shapes, -shapes])

    def at(self, error: float, missed: float) -> Bends:
        """With the points' own intervals, of ``error``, narrowed to ``missed`` as those of a sub-Gaussian tail are."""
        if self.boxes is None:
            return self
        share = float(np.sqrt(np.log(len(self.logs) / missed) / np.log(len(self.logs) / error)))
        lower, upper = (self.logs + share * (ends - self.logs) for ends in self.boxes)
        return replace(self, boxes=(lower, upper))

    def straight(self, error: float) -> bool:
        """Whether no bend shows; where none could, none does."""
        if self.boxes is not None:
            low, high = self._through(*self.boxes)
            return bool(low[0, 0] <= high[0, 0])
        return all(low <= value <= high for value, low, high in self._curvatures(error))

    def limit(self, error: float, *, reach: float = 1.0, whole: bool = False) -> tuple[float, float] | None:
        """Exponents in the limit of all open laws; ``None`` where no law is open.

        Corrections are tried up to ``reach`` times those of a sweep that is past the middle of its crossing; where a
        bend shows, an infinite one tries all, and where the middle of the crossing may lie ahead two orders beyond are
        open on the side to which local exponents go. With ``whole`` rational laws are open besides: of a whole
        exponent in the limit, with one pole or zero wherever it lies. Unbounded where a variable has too few values for
        a curvature.
        """
        if not self.contrasts:
            return -np.inf, np.inf
        seen = np.ones((len(self._shapes), len(SIZES) - 1), dtype=np.bool_)
        if self.boxes is not None:
            lows, highs = self._through(*self.boxes)
        else:
            for contrast, (value, low, high) in zip(self.contrasts, self._curvatures(error), strict=True):
                least, most = _pairs(value - self._shapes @ contrast)
                seen &= (most >= low) & (least <= high)
            below, above = self.errors(self.row, error / 2)
            exponents = float(self.row @ self.logs) - self._shapes @ self.row
            lows, highs = exponents - above, exponents - below
        least, most = _pairs(lows)[0], _pairs(highs)[1]
        seen &= least <= most
        open_ = seen & self._tried(reach)[:, 1:]
        if not open_.any():
            return None
        low, high = float(least[open_].min()), float(most[open_].max())
        if np.isinf(reach):
            ahead = open_ & (np.array(SIZES[1:]) > PASSED)
            # What takes over there may do so by any power of the class.
            if ahead[self._falling].any():
                low = min(low, float(lows[0, 0]) - POWERS[-1])
            if ahead[~self._falling].any():
                high = max(high, float(highs[0, 0]) + POWERS[-1])
            return low, high
        ends = self._whole(lows, highs, least, most, seen) if whole else []
        return min([low, *ends]), max([high, *ends])

    def _whole(self, lows: Vector, highs: Vector, least: Vector, most: Vector, seen: NDArray[np.bool_]) -> list[float]:
        """Whole exponents in the limit of the open rational laws, wherever they cross over: their ends."""
        rows = np.flatnonzero(self._rational)
        # Of a crossing beyond every size the sweep shows the power before it alone.
        straight = [(float(lows[0, 0]) + step, float(highs[0, 0]) + step) for step in (-1.0, 1.0)]
        ends = [straight] if straight[0][0] <= straight[0][1] else []
        ends += [list(zip(least[i][seen[i]], most[i][seen[i]], strict=True)) for i in rows]
        ranges = [(np.ceil(low), np.floor(high)) for some in ends for low, high in some]
        return [float(end) for low, high in ranges if low <= high for end in (low, high)]

    def _tried(self, reach: float) -> NDArray[np.bool_]:
        """Which shapes lie within reach: signs and powers, by size."""
        most = [reach * (PASSED_SLOWLY if power < SLOW else PASSED) for power in POWERS]
        return np.array([[size <= largest for size in SIZES] for largest in (*most, *most)])

    @cached_property
    def _falling(self) -> NDArray[np.bool_]:
        """Which shapes' local exponents fall towards the limit."""
        return np.asarray(self._shapes[:, -1] @ self.row > 0)

    def told(self, error: float, missed: float, reach: float = 1.0) -> float:
        """How far off a power law is told from every law of the class, but with probability ``missed``.

        Where that is as far off as a rational law whose crossing lies beyond the sweep, it is beyond all of these.
        """
        if not self.contrasts:
            return np.inf
        if self.boxes is not None:
            wide = self.boxes[1] - self.boxes[0]
            lows, highs = self._through(-wide, wide)
            seen, off, own = lows <= highs, np.maximum(-lows, highs), 0.0
            nearest = np.maximum(0.0, np.maximum(lows, -highs))
        else:
            seen = np.ones((len(self._shapes), len(SIZES)), dtype=np.bool_)
            for contrast in self.contrasts:
                noise = sum(
                    max(abs(end) for end in self.errors(contrast, part / 2 / len(self.contrasts)))
                    for part in (error, missed)
                )
                seen &= np.abs(self._shapes @ contrast) <= noise
            off = np.abs(self._shapes @ self.row)
            own = sum(max(abs(end) for end in self.errors(self.row, part / 2)) for part in (error, missed))
            nearest = off - own
        tried = self._tried(reach)
        widest = float(off[seen & tried].max()) + own
        beyond = seen & ~tried & self._rational
        if beyond.any() and widest >= float(nearest[beyond].min()):
            return max(1.0, float(off[beyond].max())) + own + widest
        return widest

    @property
    def _rational(self) -> NDArray[np.bool_]:
        """Which shapes have a pole or a zero, signs and powers by one."""
        return np.array([[power == 1.0] for power in (*POWERS, *POWERS)])

    def _through(self, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
        """Least and largest slope of a line that, with each shape, runs through boxes; crossed where none does.

        A slope k has such a line where no two boxes forbid it: k (t_j - t_i) <= U_j - L_i for all i and j.
        """
        i, j = np.nonzero(self.variable[None, :] > self.variable[:, None])
        way, bent = self.variable[j] - self.variable[i], self._shapes[..., j] - self._shapes[..., i]
        highs = ((upper[j] - lower[i] - bent) / way).min(axis=-1)
        lows = ((lower[j] - upper[i] - bent) / way).max(axis=-1)
        return lows, highs

    def _curvatures(self, error: float) -> Sequence[tuple[float, float, float]]:
        """Each contrast's value and the bounds of its error."""
        part = error / 2 / max(1, len(self.contrasts))
        return [(float(contrast @ self.logs), *self.errors(contrast, part)) for contrast in self.contrasts]


def _pairs(values: Vector) -> tuple[Vector, Vector]:
    """Least and largest of what neighbouring sizes have."""
    return np.minimum(values[:, :-1], values[:, 1:]), np.maximum(values[:, :-1], values[:, 1:])
