"""A prepared solver answers as one that is set up anew, whatever it was asked before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2csa_ref.lower_level.active_set import PREPARED_CONDITION, PREPARED_FROM, by_daqp, prepared_daqp

SHAPES = ("free", "rows twice", "rows nearly twice", "whole numbers", "corner at 0", "no way in")


def programs(shape, seed, m=PREPARED_FROM, condition=1e6, many=12):
    """One H, its rows, and pairs c, upper."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((m, m)))[0]
    H = Q @ np.diag(np.geomspace(1 / condition, 1, m)) @ Q.T
    B = rng.standard_normal((m + 4, m))
    if shape == "rows twice":
        B[4:8] = B[:4]
    if shape == "rows nearly twice":
        B[4:8] = B[:4] * (1 + 1e-9)
    if shape == "whole numbers":
        B = np.round(B)
        B[~B.any(axis=1), 0] = 1.0
    if shape == "no way in":
        B[1] = -B[0]
    rows = B / np.linalg.norm(B, axis=1)[:, None]
    asked = [(rng.standard_normal(m), rng.standard_normal(m + 4)) for _ in range(many)]
    if shape == "corner at 0":
        asked = [(c, upper * (k % 3)) for k, (c, upper) in enumerate(asked)]
    if shape == "no way in":
        for k, (_, upper) in enumerate(asked):
            upper[1] = -upper[0] + (-1.0) ** k
    return (H + H.T) / 2, rows, asked


def same(one, other):
    y, lam, flag, steps = one
    if flag != 1:
        return flag == other[2]
    return (y == other[0]).all() and (lam == other[1]).all() and (flag, steps) == other[2:]


@given(st.sampled_from(SHAPES), st.integers(0, 10**6), st.permutations(range(12)))
def test_an_answer_does_not_hang_on_those_before_it(shape, seed, order):
    H, rows, asked = programs(shape, seed)
    kept = prepared_daqp(H, rows, 1e6)
    answers = {k: kept(*asked[k]) for k in order}
    assert all(same(answer, prepared_daqp(H, rows, 1e6)(*asked[k])) for k, answer in answers.items())
    assert len({answer[2] for answer in answers.values()}) == (2 if shape == "no way in" else 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_what_daqp_says_of_the_program_alone(shape):
    H, rows, asked = programs(shape, 7, condition=1e3)
    kept, alone = prepared_daqp(H, rows, 1e3), by_daqp(H, rows)
    for c, upper in asked:
        (y, lam, flag, _), (y_alone, lam_alone, flag_alone, _) = kept(c, upper), alone(c, upper)
        assert flag == flag_alone
        if flag == 1:
            np.testing.assert_allclose(y, y_alone, rtol=0, atol=1e-10)
            if "twice" not in shape:
                np.testing.assert_array_equal(lam > 0, lam_alone > 0)


@pytest.mark.parametrize(("m", "condition"), [(PREPARED_FROM - 1, 10.0), (PREPARED_FROM, 2 * PREPARED_CONDITION)])
def test_small_and_ill_conditioned_programs_are_set_up_anew(m, condition):
    # daqp regularises what it keeps of a worse H: its answers would hang on those before them.
    H, rows, asked = programs("free", 3, m=m, condition=condition)
    kept, alone = prepared_daqp(H, rows, condition), by_daqp(H, rows)
    assert all(same(kept(*one), alone(*one)) for one in asked)


def test_threads_share_it():
    H, rows, asked = programs("free", 5, m=40, many=200)
    kept = prepared_daqp(H, rows, 1e6)
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda one: kept(*one), asked))
    assert all(same(answer, kept(*one)) for answer, one in zip(together, asked, strict=True))
