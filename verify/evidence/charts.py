"""Curves as data, to be drawn: they show what was measured, and decide nothing."""

from __future__ import annotations

from spec.files import Frozen


class Series(Frozen):
    """One curve: x and y of equal length, with a band (low, high) around y where seeds or instances spread it."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


class Mark(Frozen):
    """A point of the paper's own figure, as its text prints it."""

    x: float
    y: float
    text: str


class Plot(Frozen):
    """One picture; labels name quantity and unit, and a series keeps its colour by name throughout an experiment."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False
    marks: tuple[Mark, ...] = ()
