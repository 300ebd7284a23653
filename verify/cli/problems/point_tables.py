"""One oracle call, and one Goldstein distance, as tables for people; JSON has the same with every digit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from rich.table import Table

from spec import OracleParameters
from verify.cli.output.console import PlainConsole, plain_console

SHOWN = 8
"""Components of a vector that are shown; JSON has all."""
LONGEST = 24
"""Characters of the longest fraction that is shown as it is."""
LETTERS = {"y_star": "y*", "lam": "λ*", "rho": "ρ", "y_penalty": "ỹ", "hypergradient": "∇F"}
"""Stages as the paper writes them."""


def show_call(call: Mapping[str, Any]) -> None:
    """Print one oracle call: what each stage came to, the exact truth beside it, and what it cost."""
    console = plain_console()
    exact = call["exact"] or {}
    rationals = exact.get("rational") or {}
    width = call["lam_width"]
    ramp = "" if width == OracleParameters().lam_width else f", ε_λ = {_number(width)}"
    how = f"α = {_number(call['alpha'])}, N_g = {call['N_g']}{ramp}; {_choices(call)}"
    at = rationals.get("x", ())
    _lines(console, f"x = ({_listed(at if at and _is_short(at) else call['x'])}), {how}")
    table = _table("stage", "computed", "exact", "difference")
    for name, letter in LETTERS.items():
        if name == "hypergradient":
            for term, value in call["terms"].items():
                _rows(table, f"  {term.replace('_', ' ')}", value, None, None)
        _rows(table, letter, call[name], exact.get(name), rationals.get(name))
    console.print(table)
    kinks = [f"({_listed(kink)})" for kink in rationals.get("kink_gradients") or exact.get("kink_gradients", ())]
    if kinks:
        _lines(console, f"F has no gradient here: the adjoining pieces have {', '.join(kinks)}")
    if exact:
        _lines(console, _standing(exact))
    counts = ", ".join(f"{name} {count}" for name, count in call["counts"].items())
    _lines(console, f"counts: {counts}")
    for note in call["notes"]:
        _lines(console, f"note: {note}")


def _choices(call: Mapping[str, Any]) -> str:
    from spec.reading import AS_WRITTEN, REPAIRED

    for name, reading in (("repaired", REPAIRED), ("as written", AS_WRITTEN)):
        if call["reading"] == reading.model_dump():
            return name
    default = REPAIRED.model_dump()
    changed = [f"{field}={value}" for field, value in call["reading"].items() if value != default[field]]
    return f"repaired but for {', '.join(changed)}"


def _standing(exact: Mapping[str, Any]) -> str:
    how = {"rational": "in rationals", "balls": "in balls", "closed form": "by its closed form"}[exact["method"]]
    parts = [f"exact values {how}, doubles within {_number(exact['error'], 2)}"]
    active = {kind: exact.get(f"{kind}_active", ()) for kind in ("strictly", "weakly")}
    parts += [f"{kind} active rows {_listed(list(map(str, rows)))}" for kind, rows in active.items() if rows]
    if exact.get("licq") is False:
        parts.append("their gradients are dependent: LICQ fails")
    return "; ".join(parts)


def _rows(
    table: Table,
    name: str,
    computed: Sequence[float | None],
    exact: Sequence[float] | None,
    rational: Sequence[str] | None,
) -> None:
    """A component a row; where its fraction is short, that is the exact value."""
    for i, value in enumerate(computed[:SHOWN]):
        shown, difference = "", ""
        if exact is not None:
            shown = _number(exact[i])
            if rational is not None and len(rational[i]) <= LONGEST:
                shown = rational[i] + (f" = {shown}" if "/" in rational[i] else "")
            difference = "" if value is None else _number(value - exact[i], 3)
        index = f"[{i}]" if len(computed) > 1 else ""
        table.add_row(f"{name}{index}", "diverged" if value is None else _number(value), shown, difference)
    if len(computed) > SHOWN:
        table.add_row(f"  … {len(computed) - SHOWN} more", "", "", "")


def show_goldstein(bracket: Mapping[str, Any]) -> None:
    """Print a distance, its two bounds and the combination of gradients behind the upper one."""
    console = plain_console()
    _lines(console, f"dist(0, ∂_δF(x)) at x = ({_listed(bracket['x'])}), radius δ = {bracket['radius']}")
    table = _table("bound", "value", "standing")
    if bracket["exact"] is not None and len(bracket["exact"]) <= LONGEST:
        table.add_row("exactly", bracket["exact"], "proven, a rational")
    proven = {True: "proven", False: "an estimate"}
    for side in ("lower", "upper"):
        name = {"lower": "at least", "upper": "at most"}[side]
        table.add_row(name, _outwards(bracket[side], side), proven[bracket["certified"][side]])
    console.print(table)
    pieces = f"{bracket['cells']} piece{'s' * (bracket['cells'] != 1)} of F"
    proof = bracket["proof"]
    how = {"interval": "exact on the line", "cells": "all pieces that meet the ball", "bundle": "pieces found"}
    _lines(console, f"method: {bracket['method']} ({how[bracket['method']]}), {pieces}")
    if proof["weights"]:
        table = _table("weight", "point", "gradient there")
        points = proof["exact_points"] if all(map(_is_short, proof["exact_points"])) else proof["points"]
        rows = list(zip(proof["weights"], points, proof["gradients"], strict=True))
        for weight, point, gradient in rows[:SHOWN]:
            table.add_row(_number(weight), f"({_listed(point)})", f"({_listed(gradient)})")
        if len(rows) > SHOWN:
            table.add_row(f"… {len(rows) - SHOWN} more", "", "")
        console.print(table)
    if proof["direction"]:
        _lines(console, f"the lower bound is along ({_listed(proof['direction'])})")
    for note in bracket["notes"]:
        _lines(console, f"note: {note}")


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=not at)
    return table


def _listed(values: Sequence[float | str]) -> str:
    shown = [value if isinstance(value, str) else _number(value) for value in values[:SHOWN]]
    return ", ".join(shown) + ", …" * (len(values) > SHOWN)


def _is_short(exact: Sequence[str]) -> bool:
    return all(len(value) <= LONGEST for value in exact)


def _number(value: float, digits: int = 7) -> str:
    # Adding zero makes -0.0 a zero.
    return f"{value + 0.0:.{digits}g}"


def _outwards(bound: float, side: str) -> str:
    """Ten digits, rounded so that what is proven stays proven."""
    rounding = ROUND_FLOOR if side == "lower" else ROUND_CEILING
    return f"{Context(prec=10, rounding=rounding).create_decimal(Decimal(bound)):g}"


def _lines(console: PlainConsole, text: str) -> None:
    console.print(text, markup=False)
