"""Distances from the hull of several pieces' gradients: true as worded, close, and no bound of an error."""

from __future__ import annotations

import itertools
import operator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.error_bounds import FIRST
from f2csa_ref import Assumed, SmoothObjectives, Stages, hypergradient, objectives_of
from f2csa_ref.algorithm_1 import checked_oracle
from f2csa_ref.certificate import near_kinks
from spec import REPAIRED, InvalidInputError, parse_problem
from tests.f2csa_ref.certificate.test_certificates_at_kinks import rough_calls
from verify.truth.algebra.rationals import blocks, column, fractions, select
from verify.truth.goldstein.minima import NO_RAYS, shortest
from verify.truth.lower_level import lower_level

ONE = np.ones(1)
SECOND = Assumed(blends=True)


def gradient_of_piece(problem, x, J):
    """The exact gradient of F_J at x, rows J held as equations and all others left out."""
    r, at, m, k = blocks(problem), column(x), problem.m, len(J)
    B, A = select(r.B, J), select(r.A, J)
    system = fmpq_mat(m + k, m + k)
    for i, j in itertools.product(range(m), range(m)):
        system[i, j] = r.g_yy[i, j]
    for i, j in itertools.product(range(k), range(m)):
        system[m + i, j] = B[i, j]
        system[j, m + i] = -B[i, j]
    slope = r.g_y + r.g_xy.transpose() * at
    held = [(A * at)[i, 0] - r.b[row, 0] for i, row in enumerate(J)] if J else []
    solved = system.solve(fmpq_mat(m + k, 1, [-slope[i, 0] for i in range(m)] + held))
    return lower_level.piece_gradient(r, x, fractions(fmpq_mat(m, 1, [solved[i, 0] for i in range(m)])), J)


def hull_error(problem, x, answer):
    """At most so far from the hull is the estimate: some weights in doubles, the rest exact."""
    estimate = [Fraction(value) for value in answer.hypergradient.tolist()]
    gaps = [[a - b for a, b in zip(estimate, gradient_of_piece(problem, x, J), strict=True)]
            for J in answer.certificate.hull.pieces]  # fmt: skip
    weights = [Fraction(t) for t in shortest(np.array(gaps, dtype=float), NO_RAYS)[0]]
    inside = [sum(t * v for t, v in zip(weights, parts, strict=True)) / sum(weights)
              for parts in zip(*gaps, strict=True)]  # fmt: skip
    found = [inside]
    for a, b in itertools.combinations(gaps, 2):
        along = [v - u for u, v in zip(a, b, strict=True)]
        square = sum(v * v for v in along)
        t = min(Fraction(1), max(Fraction(0), -sum(map(operator.mul, a, along)) / square if square else Fraction(0)))
        found.append([u + t * v for u, v in zip(a, along, strict=True)])
    return min(float(np.linalg.norm(np.array(gap, dtype=float))) for gap in found)


def near_a_kink(random_rows, k, seed):
    """A random problem of which one row's multiplier, or two, are within 10^-k of zero at x = 0, on either side."""
    n, m, p = (int(v) for v in np.random.default_rng([k, seed]).integers(1, 4, 3))
    problem = random_rows(n, m, p, seed)
    lam, data = lower_level.solve(problem, [0] * n).lam, problem.to_dict()
    rows = [[Fraction(value) for value in row] for row in problem.arrays.B.tolist()]
    slope = [Fraction(value) for value in problem.arrays.g_y.tolist()]
    for i in range(min(p, m, 1 + seed % 2)):
        off = lam[i] - Fraction((-1) ** (seed // 2 + i), 10**k)
        slope = [value - entry * off for value, entry in zip(slope, rows[i], strict=True)]
    data["g"]["y"] = [str(value) for value in slope]
    return parse_problem(data)


@pytest.fixture(scope="module")
def answers(random_rows):
    """Calls at random kinks and next to them, with and without rough stages: by certificate, answer and distance."""
    found = {"second": [], "first": []}
    for k, seed in itertools.product((3, 11, 16), range(10)):
        problem, rng = near_a_kink(random_rows, k, seed), np.random.default_rng([k, seed, 1])
        x, n_x, alpha = np.zeros(problem.n), [0] * problem.n, 0.1 if seed % 3 else 0.03
        pair = lower_level.solve(problem, n_x)
        y, lam = (np.array([float(v) for v in part]) for part in (pair.y_star, pair.lam))
        rough = Stages(
            y_star=y + alpha**3 * rng.standard_normal(problem.m),
            lam=np.abs(lam + alpha**3 * rng.standard_normal(problem.p) * (rng.random(problem.p) < 0.5)),
        )
        for given_stages in (Stages(y_star=y, lam=lam), rough):
            for name, assumed in (("second", SECOND), ("first", FIRST)):
                answer = hypergradient(problem, x, alpha=alpha, given=given_stages, certify=assumed)
                hull = answer.certificate.hull
                if hull is not None and hull.applies:
                    found[name].append((answer, hull_error(problem, n_x, answer)))
    return found


EYE = [[1, 0], [0, 1]]


@pytest.fixture(scope="module")
def sharp(make):
    """Calls at kinks where one term alone decides, by gradients: the second of two rows, or the only one, is open."""
    one = {"A": [[1]], "B": [[1]]}
    frozen, off = REPAIRED.choose(dual_term="frozen"), Stages(y_star=1e-3 * ONE, lam=0 * ONE, y_penalty=1e-3 * ONE)
    turned = Stages(y_star=-1e-6 * ONE, lam=0 * ONE, rho=ONE, y_penalty=-0.5e-6 * ONE)
    weighted = Stages(rho=np.array([1.0, 0.0]))
    calls = [
        ("y* inexact", make({"xy": [[1]]}, {"yy": [[1]]}, one), 0, {"given": off}),
        ("a sure row has a gap", make({"y": [1, 0]}, {"yy": [[3, 0], [0, 3]]}, {"A": [[1], [0]], "B": EYE}), 1, {}),
        ("force and gap of the open row have one sign", make({}, {"yy": [[1]]}, one), 0, {"given": turned}),
        ("the dual term is kept",
         make({"y": [1, 0]}, {"yy": EYE}, {"A": [[1], [0]], "B": EYE}), 1, {"reading": frozen}),
        ("an inactive row has a weight",
         make({"y": [1, 0]}, {"yy": EYE}, {"A": [[1], [0]], "B": EYE, "b": [1, 0]}), 0, {"given": weighted}),
        ("an inactive row that stands has a weight, and g moves",
         make({"y": [1, 0]}, {"yy": EYE, "xy": [[-1, 0]]}, {"A": [[0], [0]], "B": EYE, "b": [2, 0]}), 1,
         {"given": weighted}),
    ]  # fmt: skip
    found = {}
    for name, problem, x, more in calls:
        answer = hypergradient(problem, x * ONE, alpha=0.1, certify=FIRST, **({"tol": 0.0} | more))
        found[name] = answer, hull_error(problem, [x], answer)
    return found


def test_distances_hold_where_one_term_decides(sharp):
    for name, (answer, error) in sharp.items():
        hull = answer.certificate.hull
        assert error <= hull.distance <= 1.5 * error, name


@pytest.mark.parametrize("kind", ["second", "first"])
def test_random_distances_hold_and_are_close(answers, kind):
    pairs = [(answer.certificate.hull, error) for answer, error in answers[kind]]
    assert len(pairs) >= 25
    assert [error / hull.distance for hull, error in pairs if not error <= hull.distance] == []
    ratios = [hull.distance / error for hull, error in pairs if error > 1e-9]
    assert np.median(ratios) <= (1.0001 if kind == "second" else 6)


TERMS = [("second", "known"), ("first", "known"), ("first", "tangent"), ("first", "rows"), ("first", "solution")]


@pytest.mark.parametrize(("kind", "term"), TERMS)
def test_no_term_can_be_dropped(answers, sharp, kind, term):
    others = sharp.values() if kind == "first" else ()
    found = [(answer.certificate.hull, error) for answer, error in (*answers[kind], *others)]
    assert all(error <= hull.distance for hull, error in found)
    assert any(error > hull.distance - hull.terms[term] for hull, error in found)


def test_neither_end_can_be_left_out(answers):
    """The hull is what is near: not always one of its ends, as a bound of the error would have it."""
    apart = []
    for answer, error in answers["second"]:
        weights = answer.certificate.hull.weights
        assert sum(weights) == pytest.approx(1)
        assert min(weights) >= 0
        apart.append(answer.certificate.hull.spread * min(max(weights), 1 - max(weights)) > 10 * error + 1e-3)
    assert any(apart)


def test_at_a_kink_the_estimate_is_near_both_sides(toy1):
    for assumed in (SECOND, FIRST):
        c = hypergradient(toy1, 0 * ONE, alpha=0.1, certify=assumed).certificate
        assert not c.applies
        assert c.hull.pieces == ((), (0,))
        assert c.hull.distance < 1e-12
        assert c.hull.spread == (pytest.approx(1.0) if assumed is SECOND else None)
        assert "gradients" not in c.why_not


def test_it_bounds_no_error(toy2):
    """Half way up the ramp the estimate is half way between the pieces: in the hull, and off by a half."""
    alpha = 0.1
    x = alpha**2 * 0.1
    answer = hypergradient(toy2, x * ONE, alpha=alpha, certify=SECOND)
    hull, error = answer.certificate.hull, float(np.linalg.norm(answer.hypergradient))  # F = 0 for x >= 0
    assert error == pytest.approx(0.5, abs=1e-6)
    assert hull.distance < 1e-12 < error <= answer.certificate.bound
    assert hull.weights == pytest.approx((0.5, 0.5), abs=1e-6)


def test_where_a_piece_is_not_taken_the_statement_holds_as_worded(make):
    """F = 0 wherever it is, and pieces {0} and {1} occur nowhere: the estimate is 20/41, in the hull of all four."""
    problem = make(
        {"y": [2, -1]}, {"yy": [[1, "1/2"], ["1/2", 1]], "xy": [[-2, "-5/2"]]},
        {"A": [[0], [0]], "B": [[-1, 0], [0, -1]]},
    )  # fmt: skip
    alpha = 0.1
    for x in (alpha**2 * 0.1, 0.0):
        for assumed in (SECOND, FIRST):
            answer = hypergradient(problem, x * ONE, alpha=alpha, tol=0, certify=assumed)
            hull = answer.certificate.hull
            if hull is None:
                assert assumed is FIRST
                continue
            assert hull.pieces == ((), (0,), (1,), (0, 1))
            assert hull_error(problem, [x], answer) <= hull.distance <= 1e-11
    answer = hypergradient(problem, alpha**2 * 0.1 * ONE, alpha=alpha, tol=0, certify=SECOND)
    assert answer.hypergradient[0] == pytest.approx(20 / 41)
    gradients = [float(gradient_of_piece(problem, [alpha**2 * 0.1], J)[0]) for J in answer.certificate.hull.pieces]
    assert gradients[0] == gradients[3] == 0
    assert min(gradients[1:3]) < 0 < max(gradients[1:3])
    # Of the pieces that F has, the estimate is nowhere near.
    assert answer.certificate.bound >= 20 / 41


@given(rough_calls(), st.sampled_from([SECOND, FIRST]))
@settings(max_examples=60, deadline=None)
def test_whatever_the_stages_a_distance_holds_or_is_refused(drawn, assumed):
    problem, x, call = drawn
    at = np.array([float(value) for value in x])
    try:
        answer = checked_oracle(objectives_of(problem), at, replace(call, certify=assumed), np.random.default_rng(0))
    except InvalidInputError:  # L is not convex at this alpha, or doubles find no feasible y
        assume(False)
    hull = answer.certificate.hull
    assume(hull is not None)
    if not hull.applies:
        assert hull.why_not
    elif not hull.terms["noise"]:
        assert hull_error(problem, at.tolist(), answer) <= hull.distance


def test_one_of_the_pieces_is_that_of_f(answers, random_rows):
    """The gradient of F is among those of the pieces, and at a kink all of its one-sided ones are."""
    for k, seed in itertools.product((3, 11, 16), range(10)):
        problem = near_a_kink(random_rows, k, seed)
        x = [0] * problem.n
        for assumed in (SECOND, FIRST):
            c = hypergradient(problem, np.zeros(problem.n), alpha=0.1, certify=assumed).certificate
            if c.hull is None or not c.hull.applies:
                continue
            among = {gradient_of_piece(problem, x, J) for J in c.hull.pieces}
            solved = lower_level.solve(problem, x)
            assert set(lower_level.pieces(problem, x, solved).values()) <= among


def test_a_row_that_one_of_the_pieces_leaves_open_is_in_question_too(make, monkeypatch):
    eye = np.eye(2, dtype=int).tolist()
    problem = make({"y": [1, 1]}, {"yy": eye}, {"A": [[1], [1]], "B": eye, "b": [0, 1]})
    right = near_kinks.judged

    def unsure(piece, x, y, lam):
        pair = right(piece, x, y, lam)
        return replace(pair, undecided=(0, 1)) if piece.rows == (0,) else pair

    assert hypergradient(problem, np.zeros(1), alpha=0.1, certify=True).certificate.hull.rows == (0,)
    monkeypatch.setattr(near_kinks, "judged", unsure)
    hull = hypergradient(problem, np.zeros(1), alpha=0.1, certify=True).certificate.hull
    assert hull.rows == (0, 1)
    assert len(hull.pieces) == 4


def test_noise_is_part_of_the_distance(make):
    noisy = make({"y": [1]}, {"yy": [[1]]}, {"A": [[1]], "B": [[1]]}, noise={"model": "additive", "sigma_f": "1/10"})
    c = hypergradient(noisy, np.zeros(1), alpha=0.1, rng=np.random.default_rng(0), certify=True).certificate
    assert c.hull.terms["noise"] == c.noise.radius > 0.1


def test_what_cannot_be_said_has_its_reason(make):
    twice = make({"y": [1]}, {"yy": [[1]]}, {"A": [[1], [1]], "B": [[1], [1]]})
    assert "dependent" in hypergradient(twice, np.zeros(1), alpha=0.1, certify=True).certificate.hull.why_not
    eye = np.eye(4, dtype=int).tolist()
    many = make({"y": [1] * 4}, {"yy": eye}, {"A": [[1]] * 4, "B": eye})
    hull = hypergradient(many, np.zeros(1), alpha=0.1, certify=True).certificate.hull
    assert hull.why_not == "4 rows are in question, and at most 3 are taken together"
    assert hull.distance == float("inf")
    q = objectives_of(twice)
    first_row = SmoothObjectives(q.grad_x_f, q.grad_y_f, q.grad_x_g, q.grad_y_g, A=ONE[None], B=ONE[None], b=0 * ONE,
                                 mu_g=1.0, C_g=1.0, C_f=0.0)  # fmt: skip
    smooth = replace(FIRST, holder=(0.1, 1.0), g_xy=0.0, f_xy=0.0)
    hull = hypergradient(first_row, np.zeros(1), alpha=0.1, certify=smooth).certificate.hull
    assert "second derivatives" in hull.why_not


def test_away_from_kinks_nothing_is_said_nor_where_nobody_asked(toy1):
    assert hypergradient(toy1, ONE, alpha=0.1, certify=SECOND).certificate.hull is None
    assert hypergradient(toy1, 0.05 * ONE, alpha=0.1, certify=SECOND).certificate.hull is not None
    assert hypergradient(toy1, 0.05 * ONE, alpha=0.1, certify=True).certificate.hull is None


def test_smooth_pieces_by_second_derivatives():
    """g = y²/2 + (cosh y - 1) / 10 with y >= x, f = y: F = x right of 0 and 0 left of it."""
    q = SmoothObjectives(
        grad_x_f=lambda x, y: 0 * x, grad_y_f=lambda x, y: 0 * y + 1, grad_x_g=lambda x, y: 0 * x,
        grad_y_g=lambda x, y: y + np.sinh(y) / 10, A=ONE[None], B=ONE[None], b=0 * ONE, mu_g=1.1, C_g=1.3, C_f=0.0,
        hess_yy_g=lambda x, y: np.array([[1 + np.cosh(y[0]) / 10]]), hess_xy_g=lambda x, y: np.zeros((1, 1)),
    )  # fmt: skip
    assumed = replace(SECOND, holder=(0.12, 1.0), f_xy=0.0)
    for x in (0.0, 0.002, 0.02):
        answer = hypergradient(q, x * ONE, alpha=0.1, certify=assumed)
        hull, g = answer.certificate.hull, answer.hypergradient[0]
        assert max(-g, g - 1, 0.0) <= hull.distance <= 0.01
