"""Curves as data, to be drawn: they show what was measured, and decide nothing."""

from __future__ import annotations

from spec.files import Frozen


class Series(Frozen):
    """One curve, with a band around it where seeds or instances spread it.

    Args:
        name: Its name in the legend, by which it keeps its colour.
        x: Shape ``(k,)``.
        y: Shape ``(k,)``.
        low: Lower end of the band, shape ``(k,)``; empty without one.
        high: Upper end of the band, likewise.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


class Mark(Frozen):
    """A point of the paper's own figure, as its text prints it.

    Args:
        x: Where it stands.
        y: Its height.
        text: What is written beside it.
    """

    x: float
    y: float
    text: str


class Plot(Frozen):
    """One picture.

    Args:
        title: What it shows.
        x_label: Quantity and unit along x.
        y_label: Quantity and unit along y.
        series: Its curves.
        log_x: Whether x is drawn logarithmically.
        log_y: Whether y is drawn logarithmically.
        marks: Points of the paper's own figure.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False
    marks: tuple[Mark, ...] = ()
