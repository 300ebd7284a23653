"""Certificates at and near kinks of F, and with rough stages: a bound holds or is refused."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.error_bounds import FIRST, SECOND, Case
from f2csa_ref import LowerLevelError, OracleCall, Stages, hypergradient, objectives_of
from f2csa_ref.algorithm_1 import checked_oracle
from f2csa_ref.certificate.active_piece import judged
from spec import InvalidInputError, parse_problem
from tests.strategies import fractions, quadratics
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.complementarity import InfeasibleLowerLevelError
from verify.truth.lower_level.lower_level import DegenerateLowerLevelError
from verify.truth.lower_level.lower_level import hypergradient as exact_gradient

ONE = np.ones(1)


@pytest.mark.parametrize("assumed", [SECOND, FIRST])
def test_no_bound_at_a_kink(toy1, assumed):
    certificate = hypergradient(toy1, np.zeros(1), alpha=0.1, certify=assumed).certificate
    assert not certificate.applies
    assert certificate.bound == math.inf
    assert "kink" in certificate.why_not


@pytest.mark.parametrize("assumed", [SECOND, FIRST])
def test_close_to_a_kink_the_bound_holds_where_the_rows_are_certain(toy1, assumed):
    for x in (1e-14, -1e-14, 1e-6, -1e-6, 1e-3, 0.05):
        answer = hypergradient(toy1, np.array([x]), alpha=0.1, certify=assumed)
        assert abs(answer.hypergradient[0] - (x > 0)) <= answer.certificate.bound


def test_next_to_a_kink_a_bound_holds_or_is_refused(random_rows):
    """The first row's multiplier at x = 0 moved to within 10^-k of zero, on either side of it."""
    applied = {}
    for k, seed in itertools.product((6, 11, 14), range(8)):
        n, m, p = (int(v) for v in np.random.default_rng([k, seed]).integers(1, 4, 3))
        problem = random_rows(n, m, p, seed)
        first = lower_level.solve(problem, [0] * n).lam[0]
        to, data = Fraction((-1) ** seed, 10**k), problem.to_dict()
        rows = [[Fraction(value) for value in row] for row in problem.arrays.B.tolist()]
        slope = zip(problem.arrays.g_y.tolist(), rows[0], strict=True)
        data["g"]["y"] = [str(Fraction(value) - entry * (first - to)) for value, entry in slope]
        moved = parse_problem(data)
        case = Case(moved, np.zeros(n), OracleCall(0.05), exact_gradient(moved, [0] * n), plain=True)
        for assumed in (SECOND, FIRST):
            try:
                answer = case.answer(assumed)
            except LowerLevelError:  # doubles find no pair here
                continue
            applied.setdefault(k, []).append(answer.certificate.applies)
            assert case.error(answer) <= answer.certificate.bound
    assert all(applied[6])
    assert not all(applied[14])


def test_a_pair_on_the_wrong_side_of_a_kink_is_mended_or_refused(toy1, monkeypatch):
    wrong = Stages(y_star=0.05 * ONE, lam=np.zeros(1), rho=np.zeros(1))  # at x = 1/100 the row binds
    x = 0.01 * ONE
    mended = hypergradient(toy1, x, alpha=0.1, given=wrong, certify=True)
    assert mended.certificate.active == (0,)
    assert abs(mended.hypergradient[0] - 1) <= mended.certificate.bound
    assert not hypergradient(toy1, x, alpha=0.1, given=wrong, certify=FIRST).certificate.applies
    # Without that decision the bound would be wrong.
    monkeypatch.setattr("f2csa_ref.certificate.error_certificate.judged", undoubted)
    believed = hypergradient(toy1, x, alpha=0.1, given=wrong, certify=FIRST)
    assert abs(believed.hypergradient[0] - 1) > believed.certificate.bound


def undoubted(piece, x, y, lam):
    return replace(judged(piece, x, y, lam), undecided=())


def test_dependent_rows_have_no_bound(make):
    problem = make({"y": [1]}, {"yy": [[1]]}, {"A": [[1], [1]], "B": [[1], [1]]})
    assert not hypergradient(problem, ONE, alpha=0.1, certify=True).certificate.applies
    shared = Stages(lam=np.array([0.5, 0.5]))
    assert "dependent" in hypergradient(problem, ONE, alpha=0.1, given=shared, certify=True).certificate.why_not


@st.composite
def rough_calls(draw):
    problem = draw(quadratics(2))
    sizes = {"y_star": problem.m, "lam": problem.p, "rho": problem.p, "y_penalty": problem.m}
    values = {
        name: np.array([float(draw(fractions(2).map(abs) if name == "rho" else fractions(2))) for _ in range(size)])
        for name, size in sizes.items() if draw(st.booleans())
    }  # fmt: skip
    x = [draw(fractions(3)) for _ in range(problem.n)]
    return problem, x, OracleCall(draw(st.sampled_from([0.3, 0.1, 0.03])), given=Stages(**values))


@given(rough_calls(), st.sampled_from([SECOND, FIRST]))
@settings(max_examples=60, deadline=None)
def test_whatever_the_stages_a_bound_holds_or_is_refused(drawn, assumed):
    problem, x, call = drawn
    x = [Fraction(float(value)) for value in x]
    try:
        truth = exact_gradient(problem, x)
    except InfeasibleLowerLevelError:
        assume(False)
    except DegenerateLowerLevelError:
        truth = None
    at = np.array([float(value) for value in x])
    try:
        answer = checked_oracle(objectives_of(problem), at, replace(call, certify=assumed), np.random.default_rng(0))
    except InvalidInputError:  # L is not convex at this alpha, or doubles find no feasible y
        assume(False)
    certificate = answer.certificate
    if not certificate.applies:
        assert certificate.why_not
        return
    assert truth is not None
    bound = (
        certificate.bound + (1 if certificate.noise.law != "none" else 0) * math.inf
        if certificate.noise.radius
        else certificate.bound
    )
    assert Case(problem, at, call, truth, plain=False).error(answer) <= bound
