"""The small steps of Algorithm 2 and of its theorem's proof: decided exactly, and how each can fail."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.verify.checks.asking import found, stronger, verdict
from verify.checks.goldstein_convergence import output_distance, small_steps
from verify.checks.goldstein_convergence.output_distance import mean_distance
from verify.verdict import Verdict

G = "goldstein-convergence/"
AS_WRITTEN = ("step-length", "first-step", "momentum", "block-count")
NOT_AS_WRITTEN = (
    "clip-at-zero", "what-is-averaged", "whole-steps", "in-expectation", "error-names", "T-from-the-proof",
    "eta-scaling", "theta-epsilon",
)  # fmt: skip


@pytest.mark.parametrize("step", AS_WRITTEN + NOT_AS_WRITTEN)
def test_repaired_it_is_supported(step):
    assert set(found(G + step).values()) == {Verdict.SUPPORTED}


@pytest.mark.parametrize("step", NOT_AS_WRITTEN)
def test_as_written_it_is_refuted(step):
    assert verdict(G + step, "as-written") is Verdict.REFUTED


@pytest.mark.parametrize("step", AS_WRITTEN)
def test_as_written_it_is_supported(step):
    assert verdict(G + step, "as-written") is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("step", "variable", "by"),
    [
        ("T-from-the-proof", "L_F", "-1/2"), ("eta-scaling", "L_F", "1/2"), ("block-count", "epsilon", "1/2"),
        ("block-count", "goldstein_radius", "1/2"),
    ],
)  # fmt: skip
def test_another_order_is_refuted(step, variable, by):
    assert verdict(G + step, bound=stronger(G + step, variable, by)) is Verdict.REFUTED


def test_an_unclipped_step_is_refuted(monkeypatch):
    monkeypatch.setattr(small_steps, "extended", lambda _v, _limit: Fraction(1))
    assert verdict(G + "clip-at-zero") is Verdict.REFUTED


def test_a_first_step_that_moves_is_refuted(monkeypatch):
    steps = small_steps.steps
    monkeypatch.setattr(small_steps, "steps", lambda answers: [small_steps.D, *steps(answers)[1:]])
    assert verdict(G + "first-step", "as-written") is Verdict.REFUTED
    assert verdict(G + "first-step") is Verdict.REFUTED


def test_a_direction_that_forgets_is_refuted(monkeypatch):
    def forgetful(answers):
        made = [Fraction(0)]
        for g in answers:
            made.append(made[-1] * Fraction(9, 10) - small_steps.ETA * g)
        return made

    monkeypatch.setattr(small_steps, "steps", forgetful)
    assert verdict(G + "momentum") is Verdict.REFUTED


def test_on_one_side_of_the_kink_points_and_gradients_agree(monkeypatch):
    monkeypatch.setattr(small_steps, "POINTS", (Fraction(1), Fraction(2)))
    assert verdict(G + "what-is-averaged", "as-written") is Verdict.SUPPORTED


def test_a_ball_that_stops_short_of_the_kink_does_not_hold_the_mean_gradient(monkeypatch):
    within = small_steps.gradients_within
    monkeypatch.setattr(small_steps, "gradients_within", lambda centre, reach: within(centre, reach / 4))
    assert verdict(G + "what-is-averaged") is Verdict.REFUTED


def test_a_gradient_at_the_end_of_the_segment_is_refuted(monkeypatch):
    monkeypatch.setattr(small_steps, "along", lambda x, step: (x + step) ** 3 * step)
    assert verdict(G + "in-expectation") is Verdict.REFUTED


def test_without_noise_every_run_is_its_mean(monkeypatch):
    law = small_steps.runs
    still = [small_steps.LawOutcome(Fraction(1), (Fraction(0),))]
    monkeypatch.setattr(small_steps, "runs", lambda start, _: law(start, lambda _: still))
    assert verdict(G + "in-expectation", "as-written") is Verdict.SUPPORTED


def test_a_second_moment_without_its_noise_is_refuted(monkeypatch):
    mean_square = small_steps.mean_square
    monkeypatch.setattr(small_steps, "mean_square", lambda law, around: mean_square(law, around) ** 2)
    assert verdict(G + "error-names") is Verdict.REFUTED


def test_from_afar_the_distance_is_not_zero():
    radius = output_distance.RADIUS
    assert mean_distance(3 * radius, radius / 9, 9, 6) > 0
    assert mean_distance(radius / 2, radius / 9, 9, 6) == 0


def test_a_start_outside_the_radius_has_a_distance_of_some_order(monkeypatch):
    monkeypatch.setattr(output_distance, "START", Fraction(5, 2))
    assert verdict(G + "theta-epsilon") is Verdict.REFUTED, "three blocks whatever ε are too few from there"
