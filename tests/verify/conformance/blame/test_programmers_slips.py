"""Slips of programs: blocks that fit by chance, half of the rows, weights that move, roundings; each told whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from f2csa_ref.objectives import objectives_of
from spec import Noise
from spec.exact import Vector
from tests.verify.conformance.blame.plain_lines import Given, line_6, minimiser
from tests.verify.conformance.blame.test_call_blame import REFERENCE, PlainCall
from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.noise.noise_blame import explain_noise
from verify.conformance.blame.noise.noise_matrix import FIRST, LATER, matrix_laws, matrix_spots
from verify.conformance.blame.noise.noise_spots import COUNTS
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.letter.diagnosis import diagnose
from verify.conformance.model import Diagnosis
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.truth.geometry import ramp


class Slip(ReferenceSubject):
    """The reference, its estimate without noise changed by what a slip adds to it."""

    def __init__(self, slip: str) -> None:
        self.name = slip

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        right = super().hypergradient(problem, x, call, rng)
        if problem.kind == "holder":
            return right
        q = problem.arrays
        ys, lam, rho, y = self._stages(problem, x, call)
        h, a2 = q.A @ x - q.B @ y - q.b, call.alpha**-4
        more: Vector = getattr(self, f"_{self.name}")(problem, x, call, (q, ys, lam, rho, h))
        return right + a2 * more

    def _stages(self, problem: Any, x: Any, call: Any) -> tuple[Vector, Vector, Vector, Vector]:
        ys, lam = (call.y_star, call.lam) if call.lam is not None else self.lower_level(problem, x)
        q = problem.arrays
        rho = self._weights(problem, call, q.A @ x - q.B @ ys - q.b, lam) if call.rho is None else call.rho
        given = {"y_star": ys, "lam": lam, "rho": rho}
        asked = type(call)(call.alpha, call.reading, call.parameters, **given)
        y = self.penalty_minimiser(problem, x, asked, None) if call.y_penalty is None else call.y_penalty
        return ys, lam, rho, y

    def _width(self, problem: Any, call: Any) -> float:
        return float(call.parameters.h_width(call.reading, call.alpha**3, objectives_of(problem).B_norm))

    def _weights(self, problem: Any, call: Any, h: Vector, lam: Vector) -> Vector:
        return ramp(h, lam, self._width(problem, call), call.parameters.lam_width)

    def _untransposed(self, problem: Any, x: Any, call: Any, at: Any) -> Vector:
        q, _, _, rho, h = at
        return (q.A - q.A.T) @ (rho * h) if q.A.shape[0] == q.A.shape[1] else 0 * x

    def _wrong_rows(self, problem: Any, x: Any, call: Any, at: Any) -> Vector:
        q, _, _, rho, h = at
        return (q.B - q.A).T @ (rho * h) if q.A.shape == q.B.shape else 0 * x

    def _half_the_rows(self, problem: Any, x: Any, call: Any, at: Any) -> Vector:
        q, _, _, rho, h = at
        return -2 * q.A.T @ np.where(2 * np.arange(len(h)) >= len(h), rho * h, 0.0)

    def _differences(self, problem: Any, x: Any, call: Any, at: Any) -> Vector:
        _, _, _, rho, h = at
        return 3e-11 * np.sin(1e3 * x) * (rho @ h**2)

    def _single_rows(self, problem: Any, x: Any, call: Any, at: Any) -> Vector:
        q, _, _, rho, h = at
        return q.A.T @ (rho * (np.float32(h).astype(float) - h))


def told(slip: str) -> Diagnosis:
    seen = look(StageCalls(Slip(slip)), only=["hypergradient"])
    (found,) = [one for one in diagnose(seen, explain_all(seen.stages, seen)) if one.stage == "hypergradient"]
    return found


@pytest.mark.parametrize(
    ("slip", "words"),
    [("untransposed", "line 6 = the right one + α₂·(A − Aᵀ where A is square)(ρ∘h(x,ỹ))"),
     ("wrong_rows", "line 6 = the right one + α₂·(Bᵀ − Aᵀ where both are of one size)(ρ∘h(x,ỹ))"),
     ("half_the_rows", "line 6 = the right one − 2α₂·Aᵀ(ρ of rows beyond p/2 only∘h(x,ỹ))")],
)  # fmt: skip
def test_a_slip_is_told_and_nothing_is_left(slip: str, words: str) -> None:
    found = told(slip)
    assert words in found.sentence
    assert found.rest.startswith("It gives all ")


@pytest.mark.parametrize(("slip", "single"), [("single_rows", True), ("differences", False)])
def test_only_rows_that_err_by_single_precision_are_of_single_precision(slip: str, single: bool) -> None:
    found = told(slip)
    assert ("single-precision" in [match.id for match in found.matches]) is single


class MovingWeights(PlainCall):
    """A call that differentiates the weights it makes itself."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        right = super().hypergradient(problem, x, call, rng)
        if call.rho is not None:
            return right
        q, p = problem.arrays, call.parameters
        ys, lam = (call.y_star, call.lam) if call.lam is not None else REFERENCE.lower_level(problem, x)
        width, h = p.h_width(call.reading, call.alpha**3, objectives_of(problem).B_norm), q.A @ x - q.B @ ys - q.b
        y = minimiser(Given(q, x, ys, ys, lam, ramp(h, lam, width, p.lam_width), call.alpha, p.N_g))
        slope = ((h > -width) & (h < 0)) / width * np.clip(lam / p.lam_width, 0.0, 1.0)
        return right + 0.5 * call.alpha**-4 * q.A.T @ (slope * (q.A @ x - q.B @ y - q.b) ** 2)


class OtherWidth(PlainCall):
    """A call that makes the width of h's ramp of another norm of B."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        norms = float(np.linalg.norm(problem.arrays.B)), objectives_of(problem).B_norm
        return PlainCall(factor=max(1.0, norms[0]) / max(1.0, norms[1])).hypergradient(problem, x, call, rng)


class InPlace(PlainCall):
    """A call that makes h's ramp in the place of h(x,ỹ*)."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        if call.rho is not None:
            return super().hypergradient(problem, x, call, rng)
        q, p = problem.arrays, call.parameters
        ys, lam = (call.y_star, call.lam) if call.lam is not None else REFERENCE.lower_level(problem, x)
        width, h = p.h_width(call.reading, call.alpha**3, objectives_of(problem).B_norm), q.A @ x - q.B @ ys - q.b
        changed = replace(q, b=q.A @ x - q.B @ ys - np.clip(1 + h / width, 0.0, 1.0))
        c = Given(changed, x, ys, ys, lam, ramp(h, lam, width, p.lam_width), call.alpha, p.N_g)
        return line_6(c.but(y=minimiser(c)))


@pytest.mark.parametrize(
    ("subject", "words"),
    [(InPlace, "where it makes ρ itself, lines 5 and 6 have σ_h(h(x,ỹ*)) where h(x,ỹ*) belongs"),
     (MovingWeights, "ρ is not held still: line 6 = the right one + ½α₂·Aᵀ(ρ′∘h(x,ỹ)²)"),
     (OtherWidth, "2τ·max(1,‖B‖_F)·α³ for the width 2τ·max(1,‖B‖)·α³")],
)  # fmt: skip
def test_weights_are_played_with_the_call_that_makes_them(subject: type[PlainCall], words: str) -> None:
    seen = look(StageCalls(subject()), only=["hypergradient"])
    (found,) = diagnose(seen, explain_all(seen.stages, seen))
    assert words in found.sentence
    assert found.rest.startswith("It gives all ")


class PairAgain(PlainCall):
    """A call that solves its lower level wherever no ρ is given."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        call = replace(call, y_star=None, lam=None) if call.rho is None else call
        return super().hypergradient(problem, x, call, rng)


def test_a_pair_that_is_solved_for_again_is_told() -> None:
    seen = look(StageCalls(PairAgain()), only=["hypergradient"])
    (found,) = diagnose(seen, explain_all(seen.stages, seen))
    assert "where no ρ is given, a given ỹ* and λ̃ are solved for anew" in found.sentence
    assert found.rest.startswith("It gives all ")


class CorrelatedBatches(ReferenceSubject):
    """Samples of a batch that follow on another: of one, two and four the variance is nearly that of N_g^(−½)."""

    uses_draws = False

    def hypergradient_samples(self, problem: Any, x: Any, call: Any, rng: Any, count: int) -> Any:
        quiet = problem.model_copy(update={"noise": Noise()})
        right = ReferenceSubject.hypergradient(self, quiet, x, call, rng)
        N_g, n = call.parameters.N_g, len(x)
        z = rng.standard_normal((2, count, N_g, n))
        for j in range(1, N_g):
            z[:, :, j] = 0.5 * z[:, :, j - 1] + 0.75**0.5 * z[:, :, j]
        of_f, of_g = z.mean(axis=2)
        matrix = problem.noise.model == "matrix"
        here = float(np.linalg.norm([*x, *call.y_penalty])) if matrix else 1.0
        apart = float(np.linalg.norm(call.y_penalty - call.y_star)) if matrix else 0.0
        noise = problem.noise.scale("f.x") * here * of_f + problem.noise.scale("g.x") * apart / call.alpha**2 * of_g
        return right + noise

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        return self.hypergradient_samples(problem, x, call, rng, 1)[0]


def test_no_law_in_the_size_of_a_batch_is_told_that_large_batches_refute() -> None:
    told = [one.sentence for blame in explain_noise(StageCalls(CorrelatedBatches())) for one in blame.explanations]
    assert not [sentence for sentence in told if "N_g^(−¼)" in sentence]
    # What it is told of lies in batches of 16 and 64: of fewer alone the law would do.
    spots = matrix_spots("f", FIRST)
    drawn = [spot.draw(StageCalls(CorrelatedBatches())) for spot in spots]
    law = next(law for law in matrix_laws("f", drawn) if "N_g^(−¼)" in law.sentence)
    later = [spot.draw(StageCalls(CorrelatedBatches()), 2000) for spot in matrix_spots("f", LATER, COUNTS)]
    assert law.excess(later) > 1
