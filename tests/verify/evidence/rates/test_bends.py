"""Bends hidden in noise: laws that are no powers are neither refuted nor supported as such, powers keep their power."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from spec.claims import Bound
from verify.evidence.budget import Share
from verify.evidence.intervals import Looks
from verify.evidence.rates.bends import POWERS
from verify.evidence.rates.orders import bent
from verify.evidence.rates.rates import SweepEstimate, fit_power_law, invert
from verify.verdict import Verdict, decide

SHARE = Share(3e-9)
"""What one decision of the suite may spend."""
ALPHAS = tuple(0.2 / 2**k for k in range(5))


def bound(tag, exponent):
    return Bound(quantity="q", tag=tag, exponents={"alpha": str(exponent)})


def looked_at(law, claim, seed, width=2, first=2048):
    """The verdict of a sampled sweep and the samples a point that it took, looking up to four times."""
    rng, looks = np.random.default_rng(seed), Looks(first, SHARE.error)
    sums, count = np.zeros(len(ALPHAS)), 1
    for look in range(1, 5):
        size = looks.size(look)
        sums += rng.chisquare(width * (size - count), len(ALPHAS))
        count, dof = size, float(width * (size - 1))
        estimates = [
            SweepEstimate({"alpha": a}, law(a) * total / dof, dof, samples=size)
            for a, total in zip(ALPHAS, sums, strict=True)
        ]
        rate = fit_power_law(estimates, replace(SHARE, error=looks.spends(look)), quantity="q")["alpha"]
        found = decide(claim, [bent(rate)])
        if found.verdict is not Verdict.INCONCLUSIVE:
            break
    return found, size


@pytest.mark.parametrize(
    ("law", "exponent"),
    [
        (lambda a: a / (a + 0.01), 1),
        (lambda a: a / (a + 0.1), 1),
        (lambda a: a + 100 * a**2, 1),
        (lambda a: a + 0.01, 0),
        (lambda a: a * (1 - 2 * a**0.5), 1),
        (lambda a: a * (1 + 5 * a**0.5), 1),
        (lambda a: a * (1 + 0.1 * math.sin(3 * math.log(a))), 1),
    ],
)
def test_no_bend_is_taken_for_another_power_at_any_look(law, exponent):
    for seed in range(12):
        for tag in ("upper", "tight"):
            assert looked_at(law, bound(tag, exponent), seed)[0].verdict is not Verdict.REFUTED
        assert looked_at(law, bound("upper", exponent + 0.5), seed)[0].verdict is not Verdict.SUPPORTED


@pytest.mark.parametrize("law", [lambda a: a / (a + 0.003), lambda a: a / (a + 1e-4), lambda a: a**2 + 1e-3 * a])
def test_no_pole_or_zero_beyond_the_sweep_is_refuted_at_any_look(law):
    for seed in range(6):
        for tag in ("upper", "tight"):
            assert looked_at(law, bound(tag, 1), seed)[0].verdict is not Verdict.REFUTED


@pytest.mark.parametrize(
    ("claim", "verdict", "samples"),
    [(("tight", 1), "SUPPORTED", 9500), (("upper", 1), "SUPPORTED", 9500), (("upper", 2.5), "REFUTED", 2048)],
)
def test_pure_powers_are_decided_by_as_many_samples_as_without_a_thought_of_bends(claim, verdict, samples):
    found = [looked_at(lambda a: a, bound(*claim), seed) for seed in range(20)]
    assert {str(decision.verdict) for decision, _ in found} == {verdict}
    assert np.mean([size for _, size in found]) <= samples


def test_a_power_between_two_whole_ones_is_refuted_by_either():
    for seed in range(6):
        assert looked_at(lambda a: a**0.5, bound("upper", 1), seed)[0].verdict is Verdict.REFUTED
        assert looked_at(lambda a: a**0.5, bound("lower", 0), seed)[0].verdict is Verdict.REFUTED
    found = looked_at(lambda a: a, bound("upper", 2.5), 0)[0]
    assert "past the middle of the bend, and whole powers with one pole or zero, wherever it lies" in found.sentence


def test_what_a_sweep_tells_apart_lies_short_of_every_pole_beyond_it_or_past_them_all():
    sharp = fit_power_law(boxes(lambda a: a, 1e-3), SHARE, quantity="q")["alpha"]
    wide = fit_power_law(boxes(lambda a: a, 0.2), SHARE, quantity="q")["alpha"]
    assert sharp.detectable < 0.5
    assert wide.detectable > 1


def boxes(law, half, alphas=ALPHAS):
    return [SweepEstimate({"alpha": a}, law(a), None, (1 - half) * law(a), (1 + half) * law(a), 100) for a in alphas]


def test_points_with_intervals_leave_open_what_some_bent_law_runs_through():
    wide = fit_power_law(boxes(lambda a: a, 0.2), SHARE, quantity="q")["alpha"]
    sharp = fit_power_law(boxes(lambda a: a, 1e-3), SHARE, quantity="q")["alpha"]
    assert wide.limit[0] < 0 < 2 < wide.limit[1]
    # Whole powers beside it, whose pole or zero no sweep shows, may always be the limit; no support rests on them.
    assert sharp.limit == (0.0, 2.0)
    assert 0.9 < sharp.limit_missed[0] < 1 < sharp.limit_missed[1] < 1.1
    saturating = fit_power_law(boxes(lambda a: a / (a + 0.1), 1e-6), SHARE, quantity="q")["alpha"]
    assert not saturating.settled
    assert saturating.interval[0] <= 1 <= saturating.interval[1]


def test_two_values_show_no_bend_and_say_so():
    grid = [{"alpha": a, "N_g": float(n)} for a in ALPHAS[:2] for n in (1, 4, 16)]
    estimates = [SweepEstimate(at, at["alpha"] / at["N_g"], 1e6, samples=10) for at in grid]
    rate = bent(fit_power_law(estimates, SHARE, quantity="q")["alpha"])
    assert rate.limit == (-math.inf, math.inf)
    found = decide(bound("tight", 1), [rate])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "2 values of α show no bend; a smaller α would tell" in found.sentence


def test_a_bend_in_one_variable_is_none_in_another():
    star = [(a, 1.0) for a in ALPHAS] + [(ALPHAS[0], n) for n in (2.0, 4.0)]
    estimates = [SweepEstimate({"alpha": a, "N_g": n}, a * (1 + 4 * a) / n, 1e7, samples=10) for a, n in star]
    rates = fit_power_law(estimates, SHARE, quantity="q")
    assert rates["N_g"].settled
    assert rates["N_g"].limit[0] <= -1 <= rates["N_g"].limit[1]
    assert rates["alpha"].interval[0] <= 1 <= rates["alpha"].interval[1]


def test_known_powers_are_not_looked_at_for_bends():
    known = fit_power_law(boxes(lambda a: a, 0.2), SHARE, quantity="q", bends=False)["alpha"]
    assert known.limit is None
    assert str(decide(bound("upper", 2), [known]).verdict) == "REFUTED"


def test_an_inverse_ends_where_nothing_shrinks_any_more():
    squares = fit_power_law(boxes(lambda a: 1 / a, 0.05), SHARE, quantity="q")["alpha"]
    open_ = squares.model_copy(update={"limit": (-1.5, 0.2), "limit_missed": None})
    assert invert(open_, quantity="n", variable="alpha").limit == (-math.inf, pytest.approx(-1 / 1.5))


def test_constants_and_the_smallest_doubles_are_no_fault():
    flat = [SweepEstimate({"alpha": a}, 1.0, None, 1.0, 1.0, 100) for a in ALPHAS]
    rate = bent(fit_power_law(flat, SHARE, quantity="q")["alpha"])
    assert str(decide(bound("tight", 0), [rate]).verdict) == "SUPPORTED"
    sentence = decide(bound("tight", 1), [invert(rate, quantity="n", variable="alpha")]).sentence
    assert "^-∞" not in sentence
    assert "-0.00" not in sentence
    for tiny in (5e-324, 1e-310):
        small = [SweepEstimate({"alpha": a}, tiny, 100.0, samples=10) for a in ALPHAS]
        assert fit_power_law(small, SHARE, quantity="q")["alpha"].interval == (-math.inf, math.inf)


def test_powers_of_the_class_are_half_to_two():
    assert (min(POWERS), max(POWERS)) == (0.5, 2.0)
