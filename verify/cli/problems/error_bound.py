"""What ``f2csa hypergradient --certify`` says of an estimate's error: proven in balls where the problem is rational."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from rich.table import Table

import f2csa_ref
from spec import Holder, Problem, Reading
from verify.cli.arguments.sources import Point
from verify.cli.output.console import plain_console
from verify.truth.enclosures.error_enclosure import ErrorEnclosure, Estimated, enclose
from verify.truth.geometry import quadratic_of

MOST_ROWS = 400
"""Largest m + p enclosed in balls: some seconds."""


def certificate_of(
    problem: Problem, x: Point, alpha: float, reading: Reading, answer: f2csa_ref.Hypergradient
) -> dict[str, Any]:
    """The certificate in doubles as plain data, with what balls prove beside it where they can."""
    certificate = answer.certificate
    assert certificate is not None  # asked for
    fields: dict[str, Any] = {
        "applies": certificate.applies, "bound": certificate.bound, "standing": certificate.standing,
        "why_not": certificate.why_not, "terms": certificate.terms, "parts": certificate.parts,
        "active": list(certificate.active), "estimated": list(certificate.estimated),
        "stated": list(certificate.stated), "noise": vars(certificate.noise), "counts": certificate.counts,
        "rigorous": None,
        "hull": None if certificate.hull is None else _of_hull(certificate.hull),
    }  # fmt: skip
    if isinstance(problem, Holder):
        return fields
    quadratic = quadratic_of(problem)
    if quadratic.m + quadratic.p > MOST_ROWS:
        return fields
    noisy = problem.noise.model != "none"
    estimate = None if noisy else answer.hypergradient.tolist()
    lam, rho = answer.lam.tolist(), answer.rho.tolist()
    estimated = Estimated(alpha, answer.y_star.tolist(), answer.shift.tolist(), lam, rho, reading.dual_term, estimate)
    return fields | {"rigorous": _rigorous(enclose(quadratic, x, estimated), noisy=noisy)}


def _of_hull(hull: f2csa_ref.HullDistance) -> dict[str, Any]:
    return {
        "applies": hull.applies, "distance": hull.distance, "why_not": hull.why_not, "rows": list(hull.rows),
        "pieces": [list(piece) for piece in hull.pieces], "weights": list(hull.weights), "spread": hull.spread,
        "terms": hull.terms, "of": "the hull of the pieces' gradients, not the gradient of F",
    }  # fmt: skip


def _rigorous(enclosure: ErrorEnclosure, *, noisy: bool) -> dict[str, Any]:
    if not enclosure.decided:
        rows = ", ".join(map(str, enclosure.undecided[:5]))
        why_not = f"balls cannot tell which of these rows are active: {rows}"
        return {"applies": False, "lower": None, "upper": None, "why_not": why_not}
    return {
        "applies": True, "lower": enclosure.lower, "upper": enclosure.upper, "why_not": "",
        "of": "the estimate's formula, without noise and rounding" if noisy else "the estimate printed",
        "active": list(enclosure.active),
        "parts": {name: {"mid": part.mid, "radius": part.radius} for name, part in enclosure.parts.items()},
    }  # fmt: skip


def show_certificate(certificate: dict[str, Any]) -> None:
    """The same as a table."""
    console, proven = plain_console(), certificate["rigorous"]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("error", "at least", "at most", "standing"):
        table.add_column(heading, no_wrap=True)
    if proven is not None and proven["applies"]:
        table.add_row(
            "in balls", _outwards(proven["lower"], ROUND_FLOOR), _outwards(proven["upper"], ROUND_CEILING), "rigorous"
        )
    if certificate["applies"]:
        table.add_row("in doubles", "", _outwards(certificate["bound"], ROUND_CEILING), certificate["standing"])
        for name, value in certificate["terms"].items():
            table.add_row(f"  {name}", "", f"{value:.3e}", "")
    console.print(table)
    if proven is not None and proven["applies"]:
        console.print(f"in balls: of {proven['of']}", markup=False)
    noise = certificate["noise"]
    if noise["level"] < 1:
        console.print(f"noise: at level {noise['level']:g} ({noise['law']})", markup=False)
    for why_not in (certificate["why_not"], "" if proven is None else proven["why_not"]):
        if why_not:
            console.print(f"no bound: {why_not}", markup=False)
    if certificate["hull"] is not None:
        console.print(_hull_line(certificate["hull"]), markup=False)
    for what in ("estimated", "stated"):
        if certificate[what]:
            console.print(f"constants {what}: {', '.join(certificate[what])}", markup=False)


def _hull_line(hull: dict[str, Any]) -> str:
    """What is said of several pieces together, in words that nobody takes for a bound of the error."""
    rows = ", ".join(map(str, hull["rows"]))
    if not hull["applies"]:
        return f"no distance from the pieces with and without rows {rows}: {hull['why_not']}"
    far = _outwards(hull["distance"], ROUND_CEILING)
    if len(hull["rows"]) == 1:
        what = f"the segment between the gradients of the two pieces with and without row {rows}"
    else:
        what = f"the hull of the gradients of the {len(hull['pieces'])} pieces with and without rows {rows}"
    warning = "this bounds no error: at most one of them is the gradient of F"
    return f"distance of the estimate from {what}: at most {far} ({warning})"


def _outwards(value: float, rounding: str) -> str:
    """Nine digits, rounded so that what is proven stays proven."""
    return f"{Context(prec=9, rounding=rounding).create_decimal(Decimal(value)):e}"
