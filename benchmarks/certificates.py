"""A proof made and checked again, beside the computer algebra that could do the same; a page beside its data."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path

import sympy

from benchmarks.timing import Row, minima
from spec import Generated
from spec.claims import load_claims
from verify.campaign.run import run
from verify.report.site.all_pages import site_files
from verify.truth.certificates import integer_polynomials
from verify.truth.certificates.certificate import Certificate
from verify.truth.certificates.certification import WantedBound, certify
from verify.truth.certificates.checker import check
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import Scenario

SIZES = ((2, 2), (5, 3), (10, 5))
"""Components of x and y, and rows, of random small integers."""
END = Fraction(1, 64)
REPORTED = ["bias-bound", "convergence-experiment"]


def certificates(large: bool) -> Iterator[Row]:  # noqa: ARG001  # all are small
    """The bias proven to be at most C alpha on (0, 1/64]: made, checked, and its roots counted by sympy instead."""
    for n, p in SIZES:
        problem = Generated(family="random-rows", n=n, m=n, p=p, seed=1).quadratic
        problem.arrays  # noqa: B018  # fills the cache, which is no part of what is measured
        yield from _certificate(PenaltyFamily.at(problem, [0] * n), f"n = m = {n}, p = {p}")


def _certificate(family: PenaltyFamily, size: str) -> Iterator[Row]:
    made = certify(family, Scenario(), WantedBound(1), END)
    yield Row("certificate: made", size, "checked", *minima(
        partial(certify, family, Scenario(), WantedBound(1), END), partial(check, made), most=20))  # fmt: skip
    end = made.alpha_0**2 if made.variable == "alpha^2" else made.alpha_0
    mine, theirs = minima(partial(_counted, made, end), partial(_counted_by_sympy, made, end), most=20)
    yield Row("certificate: roots counted", size, "sympy's count_roots", mine, theirs)


def _counted(made: Certificate, end: Fraction) -> list[int]:
    polynomials = [made.denominator, *(premise.determinant for premise in made.convexity)]
    return [integer_polynomials.roots_inside(polynomial, end) for polynomial in polynomials]


def _counted_by_sympy(made: Certificate, end: Fraction) -> list[int]:
    """Up to the end, with it: sympy counts closed intervals, and none of these polynomials vanishes at 0 or there."""
    v = sympy.Symbol("v")
    polynomials = [made.denominator, *(premise.determinant for premise in made.convexity)]
    return [
        int(sympy.Poly([sympy.Rational(c.numerator, c.denominator) for c in reversed(polynomial)], v)
            .count_roots(0, sympy.Rational(end.numerator, end.denominator)))
        for polynomial in polynomials
    ]  # fmt: skip


def pages(large: bool) -> Iterator[Row]:  # noqa: ARG001  # as large as two claims are
    """Pages drawn in one process, against its data written as JSON and read again."""
    report, claims = run(REPORTED, jobs=1), load_claims()
    path = Path(tempfile.mkdtemp()) / "report.json"

    def data() -> object:
        path.write_text(report.model_dump_json(), encoding="utf-8")
        return json.loads(path.read_text(encoding="utf-8"))

    mine, theirs = minima(partial(site_files, report, claims), data, most=10)
    yield Row("report: its pages", f"{len(report.results)} results", "JSON written and read", mine, theirs)
