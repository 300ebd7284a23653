from __future__ import annotations

import importlib

import numpy as np
import pytest

from f2csa_ref import LowerLevelError, lower_level
from f2csa_ref.lower_level import active_set, proximal
from spec import Generated

# The package's attribute of this name is the function.
exact = importlib.import_module("f2csa_ref.lower_level.exact")


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(exact, "PROXIMAL_FROM", 5)


def test_large_rows_are_solved_by_proxsuite_as_by_daqp(small_is_large, monkeypatch):
    pytest.importorskip("proxsuite")
    problem, x = Generated(family="coupled-rows", n=20, p=12, seed=1), np.ones(20)
    ours = lower_level(problem, x)
    monkeypatch.setattr(exact, "installed", lambda: False)
    theirs = lower_level(problem, x)
    assert ours.y_star == pytest.approx(theirs.y_star, rel=1e-10, abs=1e-10)
    assert ours.lam == pytest.approx(theirs.lam, rel=1e-10, abs=1e-10)


def test_without_it_daqp_answers_and_where_daqp_gives_up_the_extra_is_named(small_is_large, monkeypatch):
    monkeypatch.setattr(exact, "installed", lambda: False)
    problem = Generated(family="coupled-rows", n=8, p=3, seed=1)
    assert lower_level(problem, np.ones(8)).kkt_residual <= 1e-12
    answer = (None, 0.0, -4, {"iterations": 7, "lam": None})
    monkeypatch.setattr(active_set.daqp, "solve", lambda *a, **k: answer)
    with pytest.raises(LowerLevelError, match="exit flag -4 after 7 iterations; the extra `proxsuite`"):
        lower_level(problem, np.ones(8))


def test_it_is_asked_first_and_daqp_where_it_does_not_say_solved(small_is_large, monkeypatch):
    problem, asked = Generated(family="coupled-rows", n=8, p=3, seed=1), []
    truth = lower_level(problem, np.ones(8))
    monkeypatch.setattr(exact, "installed", lambda: True)

    def no_answer(H, c, C, upper):
        asked.append(C.shape)

    monkeypatch.setattr(exact, "proximal_program", no_answer)
    assert lower_level(problem, np.ones(8)).y_star == pytest.approx(truth.y_star, abs=1e-12)
    assert asked == [(3, 8)]
    assert proximal.PROXIMAL_FROM > 200
