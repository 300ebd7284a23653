from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np
import pytest

from spec.exact import Vector
from verify.conformance.blame.activation.weights_blame import explain_activation
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.noise.noise_spots import DrawnSpot
from verify.conformance.bugs.generated import measuring_names
from verify.conformance.bugs.generated.__main__ import drawn, main, measured, misses, page
from verify.conformance.bugs.generated.marking import Mark, Marked, Unheld, describes, marked, named
from verify.conformance.bugs.generated.measuring_names import NamingOutcome, measure
from verify.conformance.bugs.generated.mistakes import Mistake, answered, draw_mistake, draw_pair, numbered, standing
from verify.conformance.bugs.generated.unseen import Unseen, draw_unseen
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.outer import RecordedLoop
from verify.conformance.probes.probes import Probe
from verify.method.alike import WEIGHTS, Kind
from verify.method.edits import Edit, all_edits
from verify.method.lines import FORMULAS, STAGE_OF, Procedure, Stage
from verify.method.plain_subject import PlainMethod
from verify.subjects.loading import load_subject
from verify.subjects.protocol import StageCalls


@pytest.fixture(scope="module")
def unseen() -> Unseen:
    return draw_unseen(np.random.default_rng(1), 2)


def edit_of(procedure: str, step: str, formula: str) -> Edit:
    return next(edit for edit in all_edits() if (edit.procedure, edit.step, edit.formula) == (procedure, step, formula))


def test_without_edits_every_stage_agrees() -> None:
    found = {finding.stage: finding.status for finding in look(StageCalls(PlainMethod())).findings}
    assert found.pop("runs") == "not offered"
    assert set(found.values()) == {"agrees"}
    assert len(found) == 6


def test_without_edits_it_is_right_where_nobody_looked(unseen: Unseen) -> None:
    stages = StageCalls(PlainMethod())
    assert len(unseen.probes) == 200
    assert max(probe.excess_of(stages) for probe in unseen.probes) <= 0.1


def test_unseen_problems_leave_no_block_out(unseen: Unseen) -> None:
    for probe in unseen.of("lower_level"):
        arrays = probe.problem.arrays
        for block in ("f_xx", "f_xy", "f_yy", "f_x", "f_y", "g_xx", "g_xy", "g_yy", "g_x", "A", "B", "b"):
            assert np.count_nonzero(getattr(arrays, block)) > 0, (probe.id, block)
        assert (probe.expected[arrays.B.shape[1] :] > 0).any()


def test_every_procedure_has_a_stage_and_formulas() -> None:
    assert FORMULAS.keys() == STAGE_OF.keys() == set(get_args(Procedure))


def test_there_are_hundreds_of_every_shade() -> None:
    edits = all_edits()
    assert len({(edit.procedure, edit.step, edit.formula) for edit in edits}) == len(edits) > 900
    assert {edit.kind for edit in edits} == WEIGHTS.keys() == set(get_args(Kind))
    assert min(Counter(edit.stage for edit in edits).values()) > 50


@pytest.mark.parametrize(
    ("procedure", "step", "formula", "expected"),
    [
        ("line_6", "h", "A @ x - b", "changes"),
        ("line_6", "alpha_2", "alpha ** (-4 + 1)", None),
        ("lagrangian", "lower", "g_xy.T @ x + g_yy @ y + g_y + B.T @ lam", "changes"),
        ("line_6", "grad_f", "misread(f_xx) @ x + f_xy @ y + f_x", "equivalent"),
        ("activation", "rho", "ramp_lam * ramp_h", "equivalent"),
        ("step", "z", "x - s * step", "changes"),
        ("lower_level", "r", "A @ z - b", "breaks"),
    ],
)  # fmt: skip
def test_edits_are_what_they_say(procedure: str, step: str, formula: str, expected: str | None) -> None:
    made = [edit for edit in all_edits() if (edit.procedure, edit.step, edit.formula) == (procedure, step, formula)]
    assert bool(made) is (expected is not None)
    assert [standing(edit) for edit in made] == ([] if expected is None else [expected])


def test_a_dropped_term_is_missing_by_its_value(unseen: Unseen) -> None:
    wrong = StageCalls(Mistake(edits=(edit_of("line_6", "grad_f", "f_xx @ x + f_xy @ y"),)).subject())
    for probe in unseen.of("hypergradient"):
        missing = probe.problem.arrays.f_x
        assert np.allclose(PlainAnswers.right(probe) - probe.ask(wrong), missing, rtol=1e-6, atol=1e-6)


class PlainAnswers:
    @staticmethod
    def right(probe: Probe) -> Vector:
        return probe.ask(StageCalls(PlainMethod()))


def test_a_stale_value_is_the_call_before(unseen: Unseen) -> None:
    subject = Mistake(edits=(edit_of("line_6", "weights", "previous('weights.rho', rho)"),)).subject()
    twice = [probe for probe in unseen.of("hypergradient") if probe.id.endswith("given/4")][:1] * 2
    answers = [got for got in answered(subject, twice) if got is not None]
    assert [got.tolist() for got in answers] == [PlainAnswers.right(probe).tolist() for probe in twice]
    same_size = [probe for probe in unseen.of("hypergradient") if len(probe.x) == len(twice[0].x)]
    assert any(not probe.excess(got) <= 1 for probe, got in zip(same_size, answered(subject, same_size), strict=True)
               if got is not None)  # fmt: skip


DRAWN = tuple(range(12))


@pytest.mark.parametrize("seed", DRAWN)
def test_drawn_mistakes_are_caught(seed: int) -> None:
    mistake = numbered(seed)
    only: tuple[Stage, ...] = (mistake.stage,) if mistake.stage == "optimise" else (mistake.stage, "hypergradient")
    with np.errstate(all="ignore"):
        findings = look(StageCalls(mistake.subject()), only=only).findings
    assert {"diverges", "fault"} & {finding.status for finding in findings}, mistake.sentence


def test_a_seed_is_a_mistake_and_a_subject() -> None:
    assert numbered(5) == numbered(5)
    loaded = load_subject("verify.conformance.bugs.generated:Seed5")
    assert isinstance(loaded, PlainMethod)
    assert len({numbered(seed).sentence for seed in DRAWN}) > 8
    pair = draw_pair(np.random.default_rng(2))
    assert pair.edits[0].procedure != pair.edits[1].procedure
    assert draw_mistake(np.random.default_rng(9)) == draw_mistake(np.random.default_rng(9))


@dataclass(frozen=True)
class ByFormulas:
    """An explanation that is a subject."""

    mistake: Mistake
    sentence: str = "as made"
    edits: int = 1

    def answer(self, probe: Probe) -> Vector | None:
        return probe.ask(StageCalls(self.mistake.subject()))


@dataclass(frozen=True)
class Silent(ByFormulas):
    def answer(self, probe: Probe) -> Vector | None:
        return None


def explanations() -> Iterator[tuple[Edit, Edit]]:
    yield edit_of("line_6", "h", "A @ x - b"), edit_of("line_6", "h", "A @ x + B @ y - b")
    lower = "g_xy.T @ x + g_yy @ y + g_y"
    yield edit_of("lagrangian", "lower", lower), edit_of("lagrangian", "lower", f"{lower} + B.T @ lam")
    yield (
        edit_of("activation", "ramp_h", "1 + h / h_width"),
        edit_of("activation", "ramp_h", "maximum(1 + h / h_width, 0)"),
    )


@pytest.mark.parametrize(("made", "rival"), [*explanations()])
def test_only_what_gives_the_subjects_own_answers_is_exact(made: Edit, rival: Edit, unseen: Unseen) -> None:
    mistake = Mistake(edits=(made,))
    unheld, stage = Unheld(mistake, unseen), mistake.stage
    truth, other = ByFormulas(mistake), ByFormulas(Mistake(edits=(rival,)))
    assert describes(unheld, stage, truth) == {0}
    assert describes(unheld, stage, other) == set()
    assert describes(unheld, stage, ByFormulas(Mistake(edits=()))) == set()
    assert describes(unheld, stage, Silent(mistake)) == set()
    assert marked(unheld, [Blame(stage, (truth,))]) == Marked({stage: "exact"}, frozenset({0}))
    assert marked(unheld, [Blame(stage, (other, truth))]) == Marked({stage: "one-of"}, frozenset({0}))
    assert marked(unheld, [Blame(stage, (other,))]) == Marked({stage: "wrong"}, frozenset())
    assert marked(unheld, [Blame("lower_level", (truth,))]) == Marked({"lower_level": "wrong"}, frozenset())
    assert marked(unheld, [Blame(stage)]) == Marked({}, frozenset())


@dataclass(frozen=True)
class Predicting(Silent):
    """An explanation of something random."""

    predicts: Callable[[Any], bool] = bool


def longest_step(runs: Sequence[RecordedLoop]) -> float:
    return max(float(np.linalg.norm(one.steps, axis=1).max()) / one.trial.parameters.D for one in runs)


def test_a_rule_of_the_loop_must_tell_the_subjects_runs_from_the_right_ones(unseen: Unseen) -> None:
    mistake = Mistake(edits=(edit_of("step", "step_next", "v"),))
    unclipped = Unheld(mistake, unseen)
    assert describes(unclipped, "optimise", Predicting(mistake, predicts=lambda runs: longest_step(runs) > 1.01)) == {0}
    assert (
        describes(unclipped, "optimise", Predicting(mistake, predicts=lambda runs: longest_step(runs) <= 1.01)) == set()
    )
    assert describes(unclipped, "optimise", Predicting(mistake, predicts=lambda runs: True)) == set()
    assert describes(unclipped, "optimise", Silent(mistake)) == set()


def test_a_law_of_noise_must_tell_the_subjects_draws_from_the_right_ones(unseen: Unseen) -> None:
    mistake = Mistake(
        edits=(edit_of("noise", "noise_f", "2 * (sigma_f * size_f * z_f.sum(0) / N_g)"),), uses_draws=False
    )

    def twice(drawn: Sequence[DrawnSpot]) -> bool:
        return all(2 < one.variance / max(one.spot.setting.deviation, 1e-9) ** 2 < 6 for one in drawn)

    louder = Unheld(mistake, unseen)
    assert describes(louder, "samples", Predicting(mistake, predicts=twice)) == {0}
    assert describes(louder, "samples", Predicting(mistake, predicts=lambda drawn: not twice(drawn))) == set()
    assert describes(louder, "samples", Predicting(mistake, predicts=lambda drawn: True)) == set()


def test_names_of_the_catalogue_are_held_against_what_they_stand_for(unseen: Unseen) -> None:
    unclipped = Unheld(Mistake(edits=(edit_of("step", "step_next", "v"),)), unseen)
    assert named(unclipped, "optimise", ["never-clips"]) == "exact"
    assert named(unclipped, "optimise", ["clips-components"]) == "wrong"
    assert named(unclipped, "optimise", []) == "unnamed"


def test_outcomes_do_not_depend_on_what_was_measured_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring_names, "diagnose", lambda seen: ())
    monkeypatch.setattr(measuring_names, "explain_all", lambda *given: ())
    monkeypatch.setattr(measuring_names, "ROUNDS", 1)
    found, _ = drawn(4, 2, 0)
    first, second = measured(4, found, 1)
    assert [*measured(4, found[::-1], 1)] == [second, first]
    assert first.caught
    assert first.visible
    assert first.mark == "unnamed"


def test_a_wrong_ramp_is_described_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring_names, "diagnose", lambda seen: ())
    # The others would find nothing, and take their time.
    only = partial(look, only=("activation",))
    monkeypatch.setattr(measuring_names, "look", only)
    monkeypatch.setattr(
        measuring_names, "explain_all", lambda stages, seen, *_: [explain_activation(stages, seen.of("activation"))]
    )
    outcome = measure(5, 0, Mistake(edits=(edit_of("activation", "rho", "minimum(ramp_h, ramp_lam)"),)))
    assert outcome.caught
    assert outcome.visible == {0}
    assert outcome.mark == "exact"
    assert outcome.lines


def test_the_page_counts_outcomes() -> None:
    mistake = Mistake(edits=(edit_of("line_6", "h", "A @ x - b"),))
    named_right = NamingOutcome(
        0, mistake, True, frozenset({0}), Marked({"hypergradient": "exact"}, frozenset({0})), "wrong"
    )
    named_wrong = NamingOutcome(
        1, mistake, True, frozenset({0}), Marked({"hypergradient": "wrong"}, frozenset()), "unnamed"
    )
    unseen_by_all = NamingOutcome(2, mistake, False, frozenset(), Marked({}, frozenset()), "unnamed")
    lines = [*page(7, [named_right, named_wrong, unseen_by_all], 5)]
    assert "| all | 3 | 2 | 2 | 1 | 0 | 1 | 1 | 0 | 1 |" in lines
    assert "| line_6 | 3 | 2 | 2 | 1 | 0 | 1 | 1 | 0 | 1 |" in lines
    told = "\n".join(misses([named_right, named_wrong, unseen_by_all]))
    assert told.count("WRONG [drop]") == 1
    assert "NOT CAUGHT UNNAMED [drop]" in told


def test_a_pair_is_exact_only_if_both_are() -> None:
    one, other = edit_of("line_6", "h", "A @ x - b"), edit_of("activation", "ramp_h", "1 + h / h_width")
    pair, both = Mistake(edits=(one, other)), frozenset({0, 1})

    def of(described: set[int], activation: Mark) -> NamingOutcome:
        marks: dict[Stage, Mark] = {"hypergradient": "exact", "activation": activation}
        return NamingOutcome(0, pair, True, both, Marked(marks, frozenset(described)), "unnamed")

    assert (of({1}, "exact").mark, of({1}, "exact").partly) == ("unnamed", True)
    assert (of({0, 1}, "one-of").mark, of({0, 1}, "one-of").partly) == ("one-of", False)
    assert of({0, 1}, "exact").mark == "exact"
    assert of({0, 1}, "wrong").mark == "wrong"


def test_of_two_mistakes_in_one_stage_an_explanation_describes_the_one_it_is_of(unseen: Unseen) -> None:
    inner = edit_of("oracle", "h_star", "A @ x - B @ y_star")
    outer_one = edit_of("line_6", "h", "A @ x - b")
    pair = Unheld(Mistake(edits=(inner, outer_one)), unseen)
    of_line_6 = Unheld(Mistake(edits=(outer_one,)), unseen)

    def whole_alone(explained: Unheld) -> ByFormulas:
        class OfLine6(ByFormulas):
            def answer(self, probe: Probe) -> Vector | None:
                return super().answer(probe) if probe.call.y_penalty is not None else None

        return OfLine6(explained.mistake)

    assert describes(pair, "hypergradient", ByFormulas(pair.mistake)) == {0, 1}
    assert describes(pair, "hypergradient", ByFormulas(of_line_6.mistake)) == {1}
    assert describes(pair, "hypergradient", whole_alone(of_line_6)) == {1}
    assert describes(pair, "hypergradient", ByFormulas(Mistake(edits=(inner,)))) == set()


def test_a_count_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--mistakes", "-3"])
    assert ended.value.code == 2
    assert "must be a whole number >= 0; got -3" in capsys.readouterr().err
