"""Bounds of one call's error: never violated, close, and none of their terms can be left out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.error_bounds import FIRST, SECOND, Case, cases
from f2csa_ref import OracleCall, Stages
from f2csa_ref.certificate.active_piece import Piece, spectral
from tests.f2csa_ref.conftest import quadratic
from verify.truth.lower_level.lower_level import hypergradient as exact_gradient

ONE = np.ones(1)


@pytest.fixture(scope="module")
def random_calls():
    """Random cases, each answered with both kinds of certificate: (case, answer, error)."""
    found = {"second": [], "first": []}
    for case in cases(150):
        for name, assumed in (("second", SECOND), ("first", FIRST)):
            answer = case.answer(assumed)
            found[name].append((case, answer, case.error(answer)))
    return found


def small(f, g, rows, x, **given_stages):
    """A call with n = 1 on which the bounds of norms are sharp."""
    problem, x = quadratic(f, g, rows), np.array([float(x)])
    stages = Stages(**{name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in given_stages.items()})
    return Case(problem, x, OracleCall(0.1, given=stages), exact_gradient(problem, x.tolist()), plain=False)


FREE, MOVES, SKEW = {"A": [[0]], "B": [[1]], "b": [100]}, {"A": [[1]], "B": [[1]]}, {"A": [[1]], "B": [[1, 0]]}
ROUND = {"yy": [["3/2", "1/2"], ["1/2", "3/2"]]}
SHARP = {
    "no row binds, minimiser not reached": small({"y": [1]}, {"yy": [[2]], "xy": [[1]]}, FREE, 1, y_penalty=-1),
    "the row moves": small({"y": [1]}, {"yy": [[3]]}, MOVES, 1),
    "the row moves, minimiser not reached": small({"y": [1]}, {"yy": [[3]]}, MOVES, 1, y_penalty=1 + 1e-3),
    "the row stands, g moves": small({"y": [1]}, {"yy": [[1]], "xy": [[-1]]}, {"A": [[0]], "B": [[-1]]}, 1),
    "y* inexact, f_xy": small({"xy": [[1]]}, {"yy": [[1]]}, FREE, 1, y_star=-1e-3),
    "y* inexact, f_yy": small({"yy": [[1]]}, {"yy": [[1]], "xy": [[1]]}, FREE, 0, y_star=1e-3),
    "y* inexact off its row, f_xy": small(
        {"xy": [[-1]]}, {"yy": [[1]]}, MOVES, 1, y_star=0.999, y_penalty=0.999, lam=0.999, rho=0
    ),
    "an inactive row has a weight": small({"y": [1]}, {"yy": [[1]]}, {"A": [[1]], "B": [[1]], "b": [1]}, 0, rho=1),
    "tangent and rows coupled": small({"y": [0, 1]}, ROUND, SKEW, 1, y_penalty=[1, -1 / 3]),
}
"""Calls where one constant or another decides."""
MISLED = small({"y": [1]}, {"yy": [[1]]}, MOVES, -0.01, y_star=0.02, lam=0.042, rho=1, y_penalty=-0.0101)
"""A pair that takes a row for active which is not, with room to tell so exactly as far as the radius has it."""


def answered(case, assumed):
    answer = case.answer(assumed)
    return answer.certificate, case.error(answer)


@pytest.mark.parametrize("kind", ["second", "first"])
def test_random_bounds_hold_and_are_close(random_calls, kind):
    bounds = [(a.certificate, error, case) for case, a, error in random_calls[kind] if a.certificate.applies]
    assert len(bounds) >= 0.97 * len(random_calls[kind])
    assert [error / c.bound for c, error, _ in bounds if not error <= c.bound] == []
    ratios = [c.bound / error for c, error, case in bounds if error > 0 and case.call.alpha <= 0.05]
    assert np.median(ratios) <= (1.0001 if kind == "second" else 3)


@pytest.mark.parametrize("assumed", [SECOND, FIRST])
@pytest.mark.parametrize("name", SHARP)
def test_bounds_hold_where_constants_are_sharp(name, assumed):
    certificate, error = answered(SHARP[name], assumed)
    assert certificate.applies
    assert error <= certificate.bound
    assert certificate.bound <= 2.1 * error


def test_the_parts_add_up_to_the_error(random_calls):
    for case, answer, error in random_calls["second"]:
        c = answer.certificate
        assert set(c.parts) == {"upper-level", "gradient-left", "rows", "inactive-rows", "dual"}
        gap = answer.hypergradient - np.array([float(value) for value in case.truth])
        allowed = c.terms["solution"] + c.terms["rounding"] + 1e-15 * np.linalg.norm(answer.hypergradient)
        assert np.linalg.norm(sum(c.parts.values()) - gap) <= allowed
        assert c.bound == sum(c.terms.values())
        assert c.terms["rounding"] <= 1e-5 * (1 + error)


def broken(bounds_and_errors):
    """How many bounds, given with the errors they were to bound, are violated."""
    return sum(not error <= bound for bound, error in bounds_and_errors)


def everything(random_calls, kind):
    sharp = [answered(case, SECOND if kind == "second" else FIRST) for case in SHARP.values()]
    return sharp + [(a.certificate, error) for _, a, error in random_calls[kind] if a.certificate.applies]


DROPPED = [("first", "known"), ("first", "tangent"), ("first", "solution"), ("second", "known"), ("second", "rounding")]


@pytest.mark.parametrize(("kind", "term"), DROPPED)
@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_no_term_can_be_dropped_or_halved(random_calls, kind, term, kept):
    if term == "rounding":
        kept = 0.0  # an allowance: half of it would always have been enough
    found = everything(random_calls, kind)
    assert broken((c.bound, error) for c, error in found) == 0
    assert broken((c.bound - (1 - kept) * c.terms[term], error) for c, error in found) > 0


@pytest.mark.parametrize("part", ["upper-level", "gradient-left", "rows", "inactive-rows", "dual"])
@pytest.mark.parametrize("kept", [0.0, 0.5, -1.0])
def test_no_part_of_the_identity_can_be_dropped_halved_or_turned(random_calls, part, kept):
    def mutant(c):
        known = np.linalg.norm(sum(c.parts.values()) - (1 - kept) * c.parts[part])
        return c.bound - c.terms["known"] + known

    assert broken((mutant(c), error) for c, error in everything(random_calls, "second")) > 0


@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_no_term_of_the_constants_can_be_dropped_or_halved(monkeypatch, k, kept):
    def mutant(piece, s, t):
        mu, C_g, sigma = piece.q.mu_g, piece.q.C_g, piece.sigma
        kappa = C_g / mu
        parts = [s / mu, math.sqrt(kappa) * t / sigma, C_g * t / sigma**2, math.sqrt(kappa) * s / sigma]
        parts[k] *= kept
        return math.hypot(*parts[:2]), parts[2] + parts[3]

    assert not answered(MISLED, FIRST)[0].applies
    monkeypatch.setattr(Piece, "response", mutant)
    found = [answered(case, FIRST) for case in (*SHARP.values(), MISLED)]
    assert broken((c.bound, error) for c, error in found if c.applies) > 0


@pytest.mark.parametrize("k", range(2))
@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_no_term_of_the_tangent_norm_can_be_dropped_or_halved(monkeypatch, k, kept):
    def mutant(piece, g_xy):
        terms = [spectral(g_xy), 0.0]
        if piece.rows:
            along = np.linalg.pinv(piece.B)
            terms = [
                spectral(g_xy - g_xy @ along @ piece.B),
                (piece.q.C_g - piece.q.mu_g) / 2 * spectral(along @ piece.A),
            ]
        assert sum(terms) / piece.q.mu_g == pytest.approx(right(piece, g_xy))
        terms[k] *= kept
        return sum(terms) / piece.q.mu_g

    right = Piece.tangent_norm
    monkeypatch.setattr(Piece, "tangent_norm", mutant)
    assert broken((c.bound, error) for c, error in (answered(case, FIRST) for case in SHARP.values())) > 0


@pytest.mark.parametrize(("name", "case"), [("L_y", "y* inexact, f_yy"), ("f_xy", "y* inexact, f_xy")])
def test_constants_given_too_small_break_bounds(name, case):
    right, error = answered(SHARP[case], replace(FIRST, **{name: 1.0}))
    wrong, _ = answered(SHARP[case], replace(FIRST, **{name: 0.5}))
    assert wrong.bound < error <= right.bound
    assert name in right.stated
