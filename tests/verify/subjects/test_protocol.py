"""What a subject is given and how it is held to its answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from spec.atlas import find
from verify.subjects import Call, ReferenceSubject
from verify.subjects.protocol import Stages

X = np.array([1.0])


def noisy_call(N_g: int) -> Call:
    call = Call(0.1)
    blocks = {"f_x": np.full((N_g, 1), 2.0)}
    return Call(0.1, parameters=call.parameters.model_copy(update={"N_g": N_g}), draws=blocks)


def test_supplied_draws_are_used_in_place_of_the_generator() -> None:
    problem = find("toy1").problem
    stages = Stages(ReferenceSubject())
    assert stages.use_draws
    quiet = stages.hypergradient(problem.model_copy(update={"noise": type(problem.noise)()}), X, Call(0.1))
    noisy = stages.hypergradient(problem, X, noisy_call(3))
    np.testing.assert_allclose(noisy - quiet, 2.0 * float(problem.noise.sigma_f), rtol=1e-12)


def test_a_subject_cannot_tread_on_the_draws() -> None:
    class Treads(ReferenceSubject):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            assert call.draws is not None
            call.draws["f_x"][:] = np.nan
            return np.zeros(1)

    call = noisy_call(2)
    Stages(Treads()).hypergradient(find("toy1").problem, X, call)
    assert call.draws is not None
    assert np.isfinite(call.draws["f_x"]).all()


def test_a_subject_that_says_nothing_about_draws_uses_none() -> None:
    class Plain:
        name = "plain"

        def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
            return h

    assert not Stages(Plain()).use_draws
