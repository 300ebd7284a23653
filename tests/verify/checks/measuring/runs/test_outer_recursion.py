"""A follower knows where answers lead, however the runs are asked."""

from __future__ import annotations

import numpy as np
import pytest

import f2csa_ref
from spec import OuterParameters
from verify.checks.goldstein_convergence.bias import BETA, TEXTURE, _almost_a_gradient, _circulating
from verify.checks.measuring.runs.outer_recursion import OFF, Follower
from verify.subjects.protocol import SubjectFaultError

SCHEDULE = OuterParameters(goldstein_radius=0.5, epsilon=0.1, D=0.1, eta=0.03, M=5, K=4)
STARTS = np.array([[0.3, -0.2], [1.0, 2.0], [-0.5, 0.1]])


def told(z):
    return np.sign(z) + 0.1 * z


@pytest.mark.parametrize("together", [True, False])
def test_the_reference_is_where_it_should_be(together):
    follower, rng = Follower(told, STARTS, SCHEDULE), np.random.default_rng(0)
    for rows in [STARTS] if together else STARTS[:, None]:
        f2csa_ref.outer_loop(follower, rows, parameters=SCHEDULE, rng=rng)
    assert follower.evidence().holds
    assert follower.off < OFF / 1e3


def test_a_step_too_long_is_seen_and_a_question_too_few_is_a_fault():
    longer = SCHEDULE.model_copy(update={"D": 0.11})
    follower = Follower(told, STARTS, SCHEDULE)
    f2csa_ref.outer_loop(follower, STARTS, parameters=longer, rng=np.random.default_rng(0))
    assert not follower.evidence().holds
    with pytest.raises(SubjectFaultError, match="0 times instead of T = 20 for each of 3 runs"):
        Follower(told, STARTS, SCHEDULE).evidence()


def test_the_last_questions_count_too():
    follower, T = Follower(told, STARTS, SCHEDULE), SCHEDULE.T

    def late(z):
        return follower(z + (0.05 if follower.calls == (T - 1) * len(STARTS) else 0.0))

    f2csa_ref.outer_loop(late, STARTS, parameters=SCHEDULE, rng=np.random.default_rng(0))
    assert not follower.evidence().holds


def test_a_question_that_is_no_number_is_a_fault():
    follower = Follower(told, STARTS, SCHEDULE)
    follower(np.full_like(STARTS, np.nan))
    with pytest.raises(SubjectFaultError, match="a point that is no number"):
        follower.evidence()


def test_iterates_are_held_against_the_recursion_too():
    follower = Follower(told, STARTS[:1], SCHEDULE)
    run = f2csa_ref.outer_loop(follower, STARTS[0], parameters=SCHEDULE, rng=np.random.default_rng(0), keep_path=True)
    assert follower.evidence(run.path).holds
    assert not follower.evidence(run.path + 0.01).holds


def test_the_circulating_field_lies_in_the_subdifferential_and_the_other_beside_a_gradient():
    rng = np.random.default_rng(1)
    for z in rng.uniform(-1, 1, (500, 2)) * np.array([TEXTURE.R, 1.5]):
        field, trend = _circulating(z), TEXTURE.trend(z)
        assert field[0] == pytest.approx(trend[0])
        assert abs(field[1] - trend[1]) <= TEXTURE.zigzag
        assert np.linalg.norm(_almost_a_gradient(z) - trend) == pytest.approx(BETA)


def test_the_textures_distance_is_the_least_over_what_the_ball_holds():
    for x in np.random.default_rng(2).uniform(-1.2, 1.2, (50, 2)):
        radius = 0.15
        angle, part = np.meshgrid(np.linspace(0, 2 * np.pi, 120), np.linspace(0, 1, 40))
        ball = x + radius * part[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        first = TEXTURE.trend(ball)[..., 0]
        # The zigzag lets every second component be 0: what is left is an interval of first ones.
        least = 0.0 if first.min() <= 0 <= first.max() else np.abs(first).min()
        assert float(TEXTURE.distance(x, radius)) == pytest.approx(least, abs=0.02)
