"""Deterministic sweeps of laws that bend: what settles is enclosed, what crosses over decides nothing."""

from __future__ import annotations

import math

import pytest

from verify.evidence.rates.local_exponents import read_sweep

ALPHAS = tuple(0.2 / 2**k for k in range(8))


def read(law, alphas=ALPHAS, relative=1e-15):
    values = [law(a) for a in alphas]
    return read_sweep(alphas, values, [relative * value for value in values])


@pytest.mark.parametrize("r", [0.5, 1, 2])
@pytest.mark.parametrize("c", [-1, 0.3, 1, 4])
@pytest.mark.parametrize("k", [-2, 0, 1])
def test_a_correction_of_either_sign_is_extrapolated(k, c, r):
    found = read(lambda a: a**k * (1 + c * a**r))
    assert found.interval[0] <= k <= found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.35


@pytest.mark.parametrize(
    ("law", "toward"),
    [
        (lambda a: a + 1e4 * a**2, -math.inf),
        (lambda a: a**2 + 1e-4 * a, -math.inf),
        (lambda a: a + 1e-5, -math.inf),
        (lambda a: a / (a + 1e-4), math.inf),
    ],
)
def test_drifts_that_grow_leave_their_side_open(law, toward):
    found = read(law)
    assert not found.settled
    assert toward in found.interval
    assert min(abs(end - found.exponent) for end in found.interval) < 0.2


@pytest.mark.parametrize("start", [0.2, 1e-3])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_logarithm_is_no_power(start, sign):
    found = read(lambda a: a * math.log(1 / a) ** sign, [start / 2**k for k in range(8)])
    assert found.interval[0] <= 1 <= found.interval[1]


@pytest.mark.parametrize("k", [0.7, 1, 2, 3, 5])
def test_what_oscillates_is_never_settled_away_from_its_mean(k):
    for shift in range(24):
        phase = shift * math.pi / 12
        found = read(lambda a, phase=phase: a * (1 + 0.1 * math.sin(k * math.log(a) + phase)))
        assert found.interval[0] - 0.1 <= 1 <= found.interval[1] + 0.1


def test_what_rounding_blurs_at_the_end_is_known_from_before():
    values = [a * (1 + a) for a in ALPHAS]
    found = read_sweep(ALPHAS, values, [1e-9 / a for a in ALPHAS])
    assert found.interval[0] <= 1 <= found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.1


def test_two_local_exponents_that_differ_show_no_settling():
    assert math.inf in read(lambda a: a / (a + 1), ALPHAS[:3]).interval
    assert math.isfinite(read(lambda a: a, ALPHAS[:3]).interval[1])
