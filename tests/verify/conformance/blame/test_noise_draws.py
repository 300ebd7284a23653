"""Noise made of given normals by a wrong formula gets that formula; right noise and what means nothing get none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.noise.noise_blame import explain_noise
from verify.conformance.blame.noise.noise_draws import MODELS, drawn_call, explain_draws
from verify.conformance.blame.noise.noise_matrix import (
    ADDITIVE_SCALE,
    SOURCES,
    TAKEN_SCALES,
    MatrixLaw,
    matrix_spots,
    shares_as_told,
)
from verify.conformance.blame.noise.noise_terms import NoiseTerm, NoisyCall
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.null_subjects import null_subjects
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.letter.diagnosis import diagnose
from verify.method.lines import FORMULAS
from verify.method.plain_subject import PlainMethod
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls

MATRIX_G = "α₁·σ_g·‖ỹ−ỹ*‖·Σz_g/N_g"


def mistaken(step: str, formula: str, *, uses_draws: bool = True) -> StageCalls:
    subject = PlainMethod({**FORMULAS, "noise": {**FORMULAS["noise"], step: formula}})
    subject.uses_draws = uses_draws
    return StageCalls(subject)


@pytest.mark.parametrize(
    ("step", "formula", "said"),
    [("answer", "estimate + noise_f + noise_g", f"adds σ_g·‖ỹ−ỹ*‖·Σz_g/N_g where {MATRIX_G} belongs"),
     ("answer", "estimate + noise_f - alpha_1 * noise_g", f"adds −{MATRIX_G} where {MATRIX_G} belongs"),
     ("answer", "estimate + noise_f", f"adds no noise of g where {MATRIX_G} belongs"),
     ("answer", "estimate - noise_f + alpha_1 * noise_g", "either model of noise line 6 adds −σ_f·Σz_f/N_g where"),
     ("answer", "-estimate + noise_f + alpha_1 * noise_g", "adds −2·the estimate without noise, which does not belong"),
     ("answer", "estimate + noise_f + alpha_1", "adds α₁·1 in every component where"),
     ("noise_g", "sigma_f * size_g * z_g.sum(0) / N_g", f"adds α₁·σ_f·‖ỹ−ỹ*‖·Σz_g/N_g where {MATRIX_G} belongs"),
     ("noise_g", "sigma_g * size_f * z_g.sum(0) / N_g", f"adds α₁·σ_g·‖(x,ỹ)‖·Σz_g/N_g where {MATRIX_G} belongs"),
     ("noise_g", "sigma_g * size_g * z_g[0]", "adds α₁·σ_g·‖ỹ−ỹ*‖·z_g of the first sample where"),
     ("noise_f", "sigma_f * size_f * z_f.sum(0) * N_g", "adds N_g·σ_f·Σz_f where"),
     ("noise_f", "sigma_f * size_f * abs(z_f).sum(0) / N_g", "adds σ_f·Σ|z_f|/N_g where"),
     ("noise_f", "sigma_f * size_f * z_f.mean()", "adds σ_f·Σ(mean of z_f's components)/N_g where"),
     ("noise_f", "sigma_f * size_f * z_f[:, 0].mean()", "adds σ_f·Σ(first component of z_f)/N_g where"),
     ("size_f", "norm(x) if matrix else 1", "matrix noise line 6 adds σ_f·‖x‖·Σz_f/N_g where σ_f·‖(x,ỹ)‖·Σz_f/N_g"),
     ("size_f", "norm(x) + norm(y) if matrix else 1", "matrix noise line 6 adds σ_f·(‖x‖+‖ỹ‖)·Σz_f/N_g where"),
     ("size_g", "norm_1(y - y_0)", "adds α₁·σ_g·‖ỹ−ỹ*‖₁·Σz_g/N_g where"),
     ("z_f", "normals('f_x', N_g - 1)", "adds σ_f·Σz_f without the last sample/N_g where")],
)  # fmt: skip
def test_a_wrong_formula_of_noise_is_told_alone(step: str, formula: str, said: str) -> None:
    blame = explain_draws(mistaken(step, formula))
    assert blame is not None
    (found,) = blame.explanations
    assert said in found.sentence
    assert blame.stage == "samples"
    assert blame.held_out >= 6
    assert blame.effect is not None
    assert blame.effect > 0


class NoiseEverywhere(ReferenceSubject):
    """σ_f, whether the problem's noise is on ∇_x f or not."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        right = super().hypergradient(problem, x, call, rng)
        noise = getattr(problem, "noise", None)
        if noise is None or noise.model != "additive" or "f.x" in noise.on:
            return right
        return right + float(noise.sigma_f) * rng.standard_normal((call.parameters.N_g, len(x))).mean(axis=0)


def test_noise_on_a_gradient_that_the_problem_leaves_out_is_told_alone() -> None:
    seen = look(StageCalls(NoiseEverywhere()), only=["hypergradient"])
    (found,) = diagnose(seen, explain_all(seen.stages, seen))
    assert found.stage == "samples"
    assert "σ_f·Σz_f/N_g is added to line 6 where the problem's noise leaves ∇_x f out" in found.sentence
    assert found.held_out == 300


class NoiseEverywhereOfItsOwn(NoiseEverywhere):
    """The same where it draws its normals itself alone."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        asked = super() if call.draws is None else ReferenceSubject()
        return asked.hypergradient(problem, x, call, rng)


def test_noise_that_is_drawn_where_none_belongs_is_told_though_given_normals_are_used_rightly() -> None:
    seen = look(StageCalls(NoiseEverywhereOfItsOwn()), only=["hypergradient"])
    assert [a.probe.own_draws for a in seen.answers if not a.excess <= 1] == [True, True]
    (found,) = diagnose(seen, explain_all(seen.stages, seen))
    assert "leaves ∇_x f out (its `on` has no f.x) and no normals are given" in found.sentence


class HalfThePenaltyToo(NoiseEverywhereOfItsOwn):
    """The same with half of line 6's penalty term."""

    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        right = super().hypergradient(problem, x, call, rng)
        if call.y_penalty is None or call.rho is None or problem.kind != "quadratic":
            return right
        q = problem.arrays
        rows = call.rho * (q.A @ x - q.B @ call.y_penalty - q.b)
        return right - 0.5 * call.alpha**-4 * (q.A.T @ rows)


def test_noise_that_is_drawn_where_none_belongs_is_told_beside_a_wrong_line_6() -> None:
    seen = look(StageCalls(HalfThePenaltyToo()), only=["hypergradient"])
    sentences = {d.stage: d.sentence for d in diagnose(seen, explain_all(seen.stages, seen))}
    assert "½α₂ where α₂ belongs" in sentences["hypergradient"]
    assert "leaves ∇_x f out (its `on` has no f.x) and no normals are given" in sentences["samples"]


@pytest.mark.parametrize("model", MODELS)
def test_a_formula_answers_calls_that_it_was_not_made_from(model: Any) -> None:
    stages = mistaken("noise_f", "2 * sigma_f * size_f * z_f.sum(0) / N_g")
    blame, probe = explain_draws(stages), drawn_call(990, model)
    assert blame is not None
    answer = blame.explanations[0].answer(probe)
    assert answer is not None
    assert answer == pytest.approx(probe.ask(stages), rel=1e-9)
    assert np.abs(answer - probe.expected).max() > 1e-3


def test_one_sample_too_few_is_told_and_divides_by_no_zero_where_there_is_but_one() -> None:
    blame = explain_draws(mistaken("noise_f", "sigma_f * size_f * z_f.sum(0) / maximum(N_g - 1, 1)"))
    assert blame is not None
    assert "(N_g − 1)" in blame.explanations[0].sentence
    term = NoiseTerm(1.0, (1.0, 0.0, 0.0, -1.0), "Σz_f", more=-1.0)
    single: Any = SimpleNamespace(scales=(2.0, 1.0, 0.5, 1), sizes={"": 1.0}, vectors={"Σz_f": np.array([3.0])})
    assert term.value(single).tolist() == [6.0]


def test_a_fixed_seed_is_told_beside_a_wrong_formula() -> None:
    stages = mistaken("noise_f", "2 * sigma_f * size_f * z_f.sum(0) / N_g")
    many = stages.subject.hypergradient_samples
    stages.subject.hypergradient_samples = lambda problem, x, call, _, count: many(
        problem, x, call, np.random.default_rng(0), count
    )
    told = [one.sentence for blame in explain_noise(stages, look(stages, only=["samples"]).sampled)
            for one in blame.explanations]  # fmt: skip
    assert any("adds 2·σ_f·Σz_f/N_g" in one for one in told), told
    assert any("a fixed seed in each call" in one for one in told)


@pytest.mark.parametrize("subject", [ReferenceSubject(), PlainMethod()])
def test_right_noise_gets_nothing(subject: Any) -> None:
    assert explain_draws(StageCalls(subject)) is None


@pytest.mark.parametrize("name", ["zero", "constant", "random", "noise"])
def test_what_means_nothing_gets_no_formula(name: str) -> None:
    subject = null_subjects()[name]
    subject.uses_draws = True
    assert not [e for blame in explain_noise(StageCalls(subject)) for e in blame.explanations]


def test_draws_that_a_subject_ignores_give_no_formula() -> None:
    class Deaf(PlainMethod):
        def _sampled(self, space: Any, problem: Any, call: Any, rng: Any) -> Any:
            return space["estimate"] + (problem.noise.model != "none") * rng.standard_normal(len(space["x"]))

    blame = explain_draws(StageCalls(Deaf()))
    assert blame is not None
    assert not blame.explanations


def test_the_right_noise_of_a_call_is_that_of_the_exact_answer() -> None:
    probe = drawn_call(991, "matrix")
    quiet = ReferenceSubject().hypergradient(
        probe.problem.model_copy(update={"noise": type(probe.problem.noise)()}), probe.x, probe.call, None
    )
    at = NoisyCall(probe, np.asarray(quiet))
    assert at.quiet + sum(at.right.values()) == pytest.approx(probe.expected, rel=1e-9)


def test_noise_of_g_is_missed_without_draws_too() -> None:
    found = look(mistaken("answer", "estimate + noise_f + noise_g", uses_draws=False), only=("samples",)).findings
    assert [finding.status for finding in found] == ["diverges"]


@pytest.mark.parametrize(
    ("step", "formula", "said"),
    [("answer", "estimate + noise_f + noise_g", "g is σ_g·‖ỹ−ỹ*‖/√N_g where α₁·σ_g·‖ỹ−ỹ*‖/√N_g belongs"),
     ("answer", "estimate + noise_f", "g is 0 where α₁·σ_g·‖ỹ−ỹ*‖/√N_g belongs"),
     ("size_f", "norm(x) if matrix else 1", "f is σ_f·‖x‖/√N_g where σ_f·‖(x,ỹ)‖/√N_g belongs"),
     ("noise_g", "3 * sigma_g * size_g * z_g.sum(0) / N_g", "·α₁·σ_g·‖ỹ−ỹ*‖/√N_g where α₁·σ_g·‖ỹ−ỹ*‖/√N_g belongs")],
)  # fmt: skip
def test_the_law_of_matrix_noise_is_told_of_subjects_that_draw_their_own(step: str, formula: str, said: str) -> None:
    (blame,) = explain_noise(mistaken(step, formula, uses_draws=False))
    (law,) = blame.explanations
    assert law.sentence.endswith(said)
    assert blame.held_out > 0


@pytest.mark.parametrize(("formula", "said"), [("z_f", "the same normals as that of f"),
                                               ("-z_f", "the opposite normals of f's")])  # fmt: skip
def test_normals_that_two_gradients_share_are_told_and_no_bug_of_another_law_beside_them(
    formula: str, said: str
) -> None:
    stages = mistaken("z_g", formula, uses_draws=False)
    (blame,) = explain_noise(stages)
    (rule,) = blame.explanations
    assert f"under matrix noise the noise of g is made of {said}" in rule.sentence
    assert shares_as_told(blame, stages)
    assert not shares_as_told(blame, StageCalls(by_id("loses-one-of-two")))
    assert not shares_as_told(blame, StageCalls(PlainMethod()))
    assert shares_as_told(None, StageCalls(PlainMethod()))


class NeverHandedNormals(NoiseEverywhere):
    """The same of a program that takes no normals from a call."""

    uses_draws = False


def test_noise_where_none_belongs_is_seen_of_a_program_that_takes_no_normals() -> None:
    seen = look(StageCalls(NeverHandedNormals()), only=["hypergradient"])
    assert {a.probe.own_draws for a in seen.answers if not a.excess <= 1} == {True}
    assert all(a.probe.call.draws is None for a in seen.answers)
    (found,) = diagnose(seen, explain_all(seen.stages, seen))
    assert "leaves ∇_x f out (its `on` has no f.x) and no normals are given" in found.sentence


def test_right_noise_of_own_draws_gets_nothing() -> None:
    assert explain_noise(mistaken("size_g", "norm(y - y_0)", uses_draws=False)) == ()


def test_a_law_of_matrix_noise_is_false_of_right_draws() -> None:
    law = MatrixLaw("g", "‖ỹ−ỹ*‖", 0)
    right, wrong = StageCalls(PlainMethod()), mistaken("answer", "estimate + noise_f + noise_g", uses_draws=False)
    spots = matrix_spots("g", range(760, 763))
    assert law.predicts([spot.draw(wrong) for spot in spots])
    assert not law.predicts([spot.draw(right) for spot in spots])
    assert not law.predicts([])


def test_two_factors_left_out_of_matrix_noise_show_in_its_law() -> None:
    (blame,) = explain_noise(mistaken("noise_g", "z_g.sum(0) / N_g", uses_draws=False))
    (law,) = blame.explanations
    assert "the standard deviation of the noise of g is α₁/√N_g where α₁·σ_g·‖ỹ−ỹ*‖/√N_g belongs" in law.sentence
    (other,) = explain_noise(mistaken("noise_g", "sigma_g * z_g.sum(0) / N_g", uses_draws=False))
    assert "α₁·σ_g/√N_g where" in other.explanations[0].sentence


@pytest.mark.parametrize(
    ("step", "formula", "said"),
    [("noise_g", "sigma_f * size_g * z_g.sum(0) / N_g", "under matrix noise the noise of g has σ_f where σ_g belongs"),
     ("noise_f", "(sigma_g if matrix else sigma_f) * size_f * z_f.sum(0) / N_g",
      "under matrix noise the noise of f has σ_g where σ_f belongs"),
     ("noise_f", "(sigma_f if matrix else sigma_g) * size_f * z_f.sum(0) / N_g",
      "under additive noise the noise of f has σ_g where σ_f belongs")],
)  # fmt: skip
def test_the_scale_of_the_other_gradient_is_told_of_subjects_that_draw_their_own(
    step: str, formula: str, said: str
) -> None:
    (blame,) = explain_noise(mistaken(step, formula, uses_draws=False))
    assert [one.sentence for one in blame.explanations] == [said]


def test_no_scale_is_taken_for_another_in_right_draws() -> None:
    right = StageCalls(PlainMethod())
    drawn = [spot.draw(right) for source in SOURCES for spot in matrix_spots(source, range(760, 763))]
    assert not any(rule.predicts(drawn) for rule in TAKEN_SCALES)
    assert not ADDITIVE_SCALE.predicts([])
