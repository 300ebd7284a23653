"""Planted mistakes in Algorithm 2 get their own sentence; right loops and loops that know nothing get none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.blame.loop_subjects import PlantedLoop, clip
from verify.conformance import outer
from verify.conformance.blame.algorithm_2.loop import explain_loop
from verify.conformance.blame.algorithm_2.loop_rule import LoopRule
from verify.conformance.blame.algorithm_2.loop_trials import HELD_OUT
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.null_subjects import null_subjects
from verify.conformance.probes.probes import probes
from verify.method.factors import Factor, FactorMoments, fit, spelt
from verify.subjects import ReferenceSubject
from verify.subjects.protocol import StageCalls


def eta(s: Any) -> float:
    return float(s.q.eta)


def block(s: Any, k: int, rows: Any = None) -> Any:
    M = s.q.M
    return np.array(s.z if rows is None else rows)[k * M : (k + 1) * M]


def average(rows: Any) -> Any:
    return np.mean(rows, axis=0) if len(rows) else np.zeros(1)


def means(made: Any) -> Any:
    return lambda s: np.array([made(s, k) for k in range(s.q.K)])


def once_a_block(s: Any) -> float:
    if s.t % s.q.M == 0:
        s.kept = s.rng.random()
    return float(s.kept)


def once_a_run(s: Any) -> float:
    if s.t == 0:
        s.kept = s.rng.random()
    return float(s.kept)


def same_each_block(s: Any) -> float:
    if s.t < s.q.M:
        return float(s.rng.random())
    return float(s.shares[s.t - s.q.M])


def antithetic(s: Any) -> float:
    return 1 - s.shares[-1] if s.t % 2 else float(s.rng.random())


def other_norm(s: Any, norm: Any) -> Any:
    v = s.step - eta(s) * s.g
    return v * min(1.0, s.q.D / max(norm(v), 1e-300))


def asked(point: Any) -> Any:
    return lambda s: s.oracle(np.array(point(s)))


def ball(s: Any) -> Any:
    v = s.rng.standard_normal(len(s.x))
    return s.x + s.q.D * v / np.linalg.norm(v) * s.rng.random() ** (1 / len(s.x))


def in_order(s: Any) -> Any:
    return np.array(s.step)


PLANTED: dict[str, tuple[PlantedLoop, str]] = {
    "twice-eta": (PlantedLoop(lambda s: clip(s.step - 2 * eta(s) * s.g, s.q.D)), "η is multiplied by 2"),
    "third-eta": (PlantedLoop(lambda s: clip(s.step - eta(s) * s.g / 3, s.q.D)), "η is multiplied by 1/3"),
    "eta-over-m": (PlantedLoop(lambda s: clip(s.step - eta(s) / s.q.M * s.g, s.q.D)), "η is multiplied by 1/M"),
    "eta-squared": (PlantedLoop(lambda s: clip(s.step - eta(s) ** 2 * s.g, s.q.D)), "η is multiplied by η"),
    "eta-decays": (PlantedLoop(lambda s: clip(s.step - eta(s) / (s.t + 1) ** 0.5 * s.g, s.q.D)), "multiplied by 1/√t"),
    "eta-by-time": (PlantedLoop(lambda s: clip(s.step - eta(s) / (s.t + 1) * s.g, s.q.D)), "multiplied by 1/t"),
    "eta-by-block": (PlantedLoop(lambda s: clip(s.step - eta(s) / (s.t // s.q.M + 1) * s.g, s.q.D)), "by 1/k"),
    "eta-geometric": (PlantedLoop(lambda s: clip(s.step - eta(s) * 0.98**s.t * s.g, s.q.D)), "^t"),
    "memory": (PlantedLoop(lambda s: clip(0.9 * s.step - eta(s) * s.g, s.q.D)), "previous step is multiplied by 0.9"),
    "no-memory": (PlantedLoop(lambda s: clip(-eta(s) * s.g, s.q.D)), "the previous step is left out"),
    "ascent": (PlantedLoop(lambda s: clip(s.step + eta(s) * s.g, s.q.D)), "g is added, not subtracted"),
    "components": (PlantedLoop(lambda s: np.clip(s.step - eta(s) * s.g, -s.q.D, s.q.D)), "every component is cut"),
    "unclipped": (PlantedLoop(lambda s: s.step - eta(s) * s.g), "nothing is cut"),
    "half-d": (PlantedLoop(lambda s: clip(s.step - eta(s) * s.g, s.q.D / 2)), "D is multiplied by 0.5"),
    "radius": (PlantedLoop(lambda s: clip(s.step - eta(s) * s.g, s.q.goldstein_radius)), "D is multiplied by M"),
    "normalised": (PlantedLoop(lambda s: s.q.D * (v := s.step - eta(s) * s.g) / max(np.linalg.norm(v), 1e-300)),
                   "short steps are stretched"),
    "before-adding": (PlantedLoop(lambda s: s.step - clip(eta(s) * s.g, s.q.D)), "only the new part is cut"),
    "cuts-g": (PlantedLoop(lambda s: s.step - eta(s) * clip(s.g, s.q.D)), "g itself is cut"),
    "one-norm": (PlantedLoop(lambda s: other_norm(s, lambda v: np.abs(v).sum())), "sums of components"),
    "squared": (PlantedLoop(lambda s: other_norm(s, lambda v: v @ v)), "squared length is compared"),
    "sign": (PlantedLoop(lambda s: clip(s.step - eta(s) * np.sign(s.g), s.q.D)), "only the signs of g"),
    "unit": (PlantedLoop(lambda s: clip(s.step - eta(s) * s.g / np.linalg.norm(s.g), s.q.D)), "scaled to length 1"),
    "stale": (PlantedLoop(lambda s: clip(s.step - eta(s) * (s.gs[-2] if s.t else 0 * s.g), s.q.D)),
              "answer of the step before"),
    "average": (PlantedLoop(lambda s: clip(s.step - eta(s) * np.mean(s.gs, axis=0), s.q.D)), "so far are averaged"),
    "accumulated": (PlantedLoop(lambda s: clip(s.step - eta(s) * np.sum(s.gs, axis=0), s.q.D)),
                    "all answers so far are added up"),
    "update-first": (PlantedLoop(update_first=True), "Δ is updated before x moves"),
    "reset": (PlantedLoop(lambda s: clip((0 if (s.t + 1) % s.q.M == 0 else 1) * s.step - eta(s) * s.g, s.q.D)),
              "previous step is multiplied by [0 from the last step of a block"),
    "twice-eta-unclipped": (PlantedLoop(lambda s: s.step - 2 * eta(s) * s.g), "nothing is cut, the step size η"),
    "components-at-twice": (PlantedLoop(lambda s: np.clip(s.step - eta(s) * s.g, -2 * s.q.D, 2 * s.q.D)),
                            "every component is cut by itself, D is multiplied by 2"),
    "stale-without-memory": (PlantedLoop(lambda s: clip(-eta(s) * (s.gs[-2] if s.t else s.g), s.q.D)),
                             "answer of the step before is used (the first one twice), the previous step is left out"),
    "starts-with-d": (PlantedLoop(first=lambda s: np.full(len(s.x), s.q.D)), "first step Δ_1 is D in every"),
    "too-far": (PlantedLoop(point=lambda s: s.x + (1 + s.s) * s.step), "s_t is uniform on [1, 2]"),
    "behind": (PlantedLoop(point=lambda s: s.x - s.s * s.step), "s_t is uniform on [-1, 0]"),
    "twice-as-long": (PlantedLoop(share=lambda s: 2 * s.rng.random()), "s_t is uniform on [0, 2]"),
    "end": (PlantedLoop(share=lambda s: 1.0), "s_t is always 1"),
    "square": (PlantedLoop(share=lambda s: s.rng.random() ** 2), "the square of a uniform draw"),
    "normal": (PlantedLoop(share=lambda s: s.rng.standard_normal()), "a standard normal number"),
    "once-a-block": (PlantedLoop(share=once_a_block), "drawn once a block"),
    "once-a-run": (PlantedLoop(share=once_a_run), "used in every step of a run"),
    "same-each-block": (PlantedLoop(share=same_each_block), "every block uses the same s_t"),
    "antithetic": (PlantedLoop(share=antithetic), "antithetic pairs"),
    "grid": (PlantedLoop(share=lambda s: (s.t % s.q.M + 0.5) / s.q.M), "(j − ½)/M"),
    "by-component": (PlantedLoop(share=lambda s: s.rng.random(len(s.x))), "one s_t must serve all components"),
    "ball": (PlantedLoop(point=ball), "uniform in the ball of radius D around x_{t−1}"),
    "previous-segment": (PlantedLoop(point=lambda s: s.path[max(s.t - 1, 0)] + s.s * (s.x - s.path[max(s.t - 1, 0)])),
                         "the segment before"),
    "iterates": (PlantedLoop(mean=means(lambda s, k: block(s, k, s.path[1:]).mean(axis=0))), "iterates x_t instead"),
    "iterates-before": (PlantedLoop(mean=means(lambda s, k: block(s, k, s.path[:-1]).mean(axis=0))), "x_{t−1} instead"),
    "all-so-far": (PlantedLoop(mean=means(lambda s, k: np.mean(s.z[: (k + 1) * s.q.M], axis=0))), "all points so far"),
    "last-left-out": (PlantedLoop(mean=means(lambda s, k: average(block(s, k)[:-1]))), "last point of each block"),
    "every-kth": (PlantedLoop(mean=means(lambda s, k: np.mean(s.z[k :: s.q.K], axis=0))), "every K-th point"),
    "summed": (PlantedLoop(mean=means(lambda s, k: block(s, k).sum(axis=0))), "multiplied by M"),
    "shifted": (PlantedLoop(mean=means(lambda s, k: average(s.z[k * s.q.M + 1 : (k + 1) * s.q.M + 1]))),
                "start one step late"),
    "shifted-sum": (PlantedLoop(mean=means(lambda s, k: np.sum(
        [*s.z[k * s.q.M + 1 : (k + 1) * s.q.M + 1], 0 * s.z[0]], axis=0) / s.q.M)),
                    "start one step late, and the sum of the last lacks a point"),
    "over-k": (PlantedLoop(mean=means(lambda s, k: block(s, k).sum(axis=0) / s.q.K)), "multiplied by M/K"),
    "last-block": (PlantedLoop(output=lambda s: s.x_bar[-1]), "always the last block's mean"),
    "never-last": (PlantedLoop(output=lambda s: s.x_bar[s.rng.integers(len(s.x_bar) - 1)]), "never the last"),
    "mean-of-means": (PlantedLoop(output=lambda s: s.x_bar.mean(axis=0)), "the mean of all block means"),
    "random-point": (PlantedLoop(output=lambda s: s.z[s.rng.integers(len(s.z))]), "a uniform queried point"),
    "last-iterate": (PlantedLoop(output=lambda s: s.x), "the last iterate"),
    "asks-before": (PlantedLoop(before=asked(lambda s: s.x0)), "KM + 1 times instead of KM: one call more before"),
    "asks-after": (PlantedLoop(after=asked(lambda s: s.x)), "one call more after the last step, at x_T"),
}  # fmt: skip


def named(subject: Any) -> list[list[str]]:
    return [[e.sentence for e in blame.explanations] for blame in explain_loop(StageCalls(subject))]


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_gets_its_sentence(name: str) -> None:
    subject, words = PLANTED[name]
    (blame,) = explain_loop(StageCalls(subject))
    sentences = [explanation.sentence for explanation in blame.explanations]
    assert len(sentences) == 1, sentences
    assert words in sentences[0]
    assert blame.held_out > 0
    assert blame.agrees > blame.held_out
    assert blame.apart <= 1
    assert blame.effect is not None
    assert blame.effect > 0


def test_two_wrong_lines_are_two_sentences_the_larger_effect_first() -> None:
    both = PlantedLoop(lambda s: s.step - eta(s) * s.g, mean=means(lambda s, k: block(s, k, s.path[1:]).mean(axis=0)))
    found = explain_loop(StageCalls(both))
    assert [
        "nothing is cut" in found[0].explanations[0].sentence,
        "the iterates x_t" in found[1].explanations[0].sentence,
    ]
    assert (found[0].effect or 0) > (found[1].effect or 0)


def test_a_wrong_line_beside_a_call_too_many_is_named() -> None:
    both = PlantedLoop(share=lambda s: 1.0, before=asked(lambda s: s.x0))
    words = [sentences[0] for sentences in named(both)]
    assert len(words) == 2
    assert any("KM + 1" in sentence for sentence in words)
    assert any("always 1" in sentence for sentence in words)


class Driver(ReferenceSubject):
    """Algorithm 2 as a training loop: options are its mistakes."""

    asks_at_x = one_array = keeps_start = unclipped = False

    def __init__(self, **options: bool) -> None:
        vars(self).update(options)

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        q = parameters
        x, step = np.array(x0), np.zeros(len(x0))
        path, points = [x.copy() if self.keeps_start else x], []
        for _ in range(q.K * q.M):
            points.append(x + rng.random() * step)
            if self.one_array:
                x += step
            else:
                x = x + step
            path.append(x)
            step = step - q.eta * np.asarray(oracle(x if self.asks_at_x else points[-1]))
            step = step if self.unclipped else clip(step, q.D)
        x_bar = np.array(points).reshape(q.K, q.M, -1).mean(axis=1)
        return {"path": np.array(path), "x_bar": x_bar, "x_out": x_bar[rng.integers(q.K)]}


def test_means_of_points_that_the_oracle_was_not_asked_at() -> None:
    asked, means = named(Driver(asks_at_x=True))
    assert asked[0].startswith("the oracle is asked at x_t (s_t is always 1) where it must be asked at z_t")
    assert "not of the points that the oracle was asked at" in means[0]


def test_means_that_are_of_the_asked_points_where_a_block_has_one_are_not_of_others() -> None:
    # Weights that nothing known gives: 1, 4, 9, … in each block.
    odd = means(lambda s, k: np.average(block(s, k), axis=0, weights=np.arange(1, s.q.M + 1) ** 2.0))
    assert named(PlantedLoop(mean=odd)) == [[]]


def test_a_path_that_is_one_array_is_told_and_what_it_hides_is_judged() -> None:
    assert named(Driver()) == []
    ((one,),) = named(Driver(one_array=True))
    assert one.startswith("the path is the last iterate T + 1 times")
    more = [sentences[0] for sentences in named(Driver(one_array=True, asks_at_x=True))]
    assert more[0] == one
    assert any("asked at x_t" in sentence for sentence in more)
    ((kept,),) = named(Driver(one_array=True, keeps_start=True))
    assert kept == one.replace("T + 1 times", "T times after x_0")
    # Of other steps than line 7's the iterates are not known.
    assert named(Driver(one_array=True, unclipped=True)) == [[one]]


def test_a_line_that_nothing_explains_beside_one_that_is_explained_is_told() -> None:
    worn = means(lambda s, k: block(s, k).mean(axis=0) + 0.01 * (1 + s.x0[0] ** 2))
    found = explain_loop(StageCalls(PlantedLoop(share=lambda s: 1.0, mean=worn)))
    (unknown,) = (blame for blame in found if not blame.explanations)
    assert unknown.described.startswith("Its block means are off in no way known here: mean of block 1 is ")
    # Alone it is held against the catalogue.
    assert [blame.described for blame in explain_loop(StageCalls(PlantedLoop(mean=worn)))] == [""]


@pytest.mark.parametrize(
    "subject",
    [ReferenceSubject(), PlantedLoop(), PlantedLoop(lists=True),
     PlantedLoop(own_generator=np.random.Generator(np.random.MT19937(5)))],
    ids=["reference", "plain", "lists", "own-generator"],
)  # fmt: skip
def test_right_loops_are_blamed_for_nothing(subject: Any) -> None:
    assert explain_loop(StageCalls(subject)) == ()


@pytest.mark.parametrize("name", ["zero", "constant", "random", "echo", "unmoved", "deaf", "nan", "missing"])
def test_what_knows_nothing_gets_no_name(name: str) -> None:
    assert all(sentences == [] for sentences in named(null_subjects()[name]))


def test_right_steps_with_noise_get_no_name() -> None:
    noisy = PlantedLoop(lambda s: clip(s.step - eta(s) * s.g, s.q.D) + 1e-3 * s.rng.standard_normal(len(s.x)))
    assert named(noisy) == [[]]


def test_a_rule_that_only_some_runs_follow_is_not_named() -> None:
    # Wrong by a factor that no law of the schedule explains: it differs from run to run.
    moody = PlantedLoop(lambda s: clip(s.step - eta(s) * (1 + s.x0[0] ** 2) * s.g, s.q.D))
    assert named(moody) == [[]]


def test_a_segment_too_far_is_not_clipping() -> None:
    seen = outer.watch(StageCalls(PLANTED["too-far"][0]))
    wrong = [c for c in outer.compare(seen, outer.RIGHT) if c.excess > 1]
    assert [c.part for c in wrong] == ["queries"]
    assert "must be in [" in wrong[0].said


def test_conditions_are_said_as_conditions() -> None:
    for name, words in (
        ("never-clips", "where D = 0.02 is the most"), ("queries-the-end", "every s_t is 1, where fresh ones differ"),
    ):  # fmt: skip
        wrong = [c for c in outer.compare(outer.watch(StageCalls(by_id(name))), outer.RIGHT) if c.excess > 1]
        assert words in wrong[0].said


def test_a_run_starts_where_it_is_told() -> None:
    class Elsewhere(PlantedLoop):
        def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
            return super().optimise(oracle, x0 + 0.125, parameters, rng)

    wrong = [c for c in outer.compare(outer.watch(StageCalls(Elsewhere())), outer.RIGHT) if c.excess > 1]
    assert wrong[0].said == "first iterate of the path is 0.825, must be 0.7"


def test_rules_are_executable() -> None:
    subject, _ = PLANTED["twice-eta"]
    (rule,) = explain_loop(StageCalls(subject))[0].explanations
    assert isinstance(rule, LoopRule)
    right, wrong = (outer.listen(StageCalls(one), HELD_OUT[1], 3) for one in (PlantedLoop(), subject))
    assert rule.predicts([wrong])
    assert not rule.predicts([right])
    assert rule.answer(probes()[0]) is None


def test_factors_are_spelt_simply() -> None:
    at = [FactorMoments(trial, np.arange(1.0, 9.0)) for trial in HELD_OUT]
    assert fit([(one, np.full(8, 0.5)) for one in at]) == [Factor(0.5)]
    assert [f.shown for f in fit([(one, 2 / np.sqrt(one.t)) for one in at])] == ["2·1/√t"]
    assert fit([(one, np.sin(one.t)) for one in at]) == []
    assert (spelt(1 / 3), spelt(0.123456789), spelt(2.0)) == ("1/3", "0.123457", "2")


def scaled_mean(s: Any) -> Any:
    return 0.5 * s.x_bar[s.rng.integers(len(s.x_bar))]


MORE_PLANTED: dict[str, tuple[PlantedLoop, str]] = {
    "guarded": (PlantedLoop(lambda s: (v := s.step - eta(s) * s.g) * (s.q.D / (max(np.linalg.norm(v), s.q.D) + 1e-6))),
                "1e-06 is added to the divisor"),
    "tenth-of-x": (PlantedLoop(point=lambda s: 0.5 * s.x + s.s * s.step), "x_{t−1} is multiplied by 0.5"),
    "g-left-out": (PlantedLoop(lambda s: clip(s.step - eta(s) * np.ones_like(s.g), s.q.D)), "g is left out"),
    "halved-sum": (PlantedLoop(mean=means(lambda s, k: halved(block(s, k)) / s.q.M)), "the sum is multiplied by 0.5"),
    "half-the-output": (PlantedLoop(output=scaled_mean), "0.5 times the mean of a uniform block"),
    "first-two": (PlantedLoop(output=lambda s: s.x_bar[s.rng.integers(2)]), "one of the first two blocks"),
}  # fmt: skip


def halved(rows: Any) -> Any:
    total = np.zeros(rows.shape[1])
    for row in rows:
        total = 0.5 * total + row
    return total


@pytest.mark.parametrize("name", MORE_PLANTED)
def test_a_mistake_of_arithmetic_gets_its_sentence(name: str) -> None:
    subject, words = MORE_PLANTED[name]
    (blame,) = explain_loop(StageCalls(subject))
    assert [words in explanation.sentence for explanation in blame.explanations] == [True]


LIMITED: dict[str, tuple[PlantedLoop, str]] = {
    "from-z": (PlantedLoop(move=lambda s: s.z[-1] + s.step), "x_t = z_t + Δ_t where x_t must be x_{t−1} + Δ_t"),
    "only-the-step": (PlantedLoop(move=lambda s: s.step), "x_{t−1} is left out"),
    "from-before-last": (PlantedLoop(move=lambda s: s.path[-2 if s.t else -1] + s.step), "from the iterate before"),
    "step-late": (PlantedLoop(move=lambda s: s.x + (s.steps[-1] if s.t else 0)), "the step before is taken"),
    "eta-for-d": (PlantedLoop(lambda s: limited(s, eta(s), s.q.D)), "the clip's numerator is η, its divisor has D"),
    "d-and-eta": (PlantedLoop(lambda s: limited(s, s.q.D, eta(s))), "the clip's divisor has η, its numerator is D"),
}  # fmt: skip


def limited(s: Any, top: float, bottom: float) -> Any:
    v = s.step - eta(s) * s.g
    return v * (top / max(float(np.linalg.norm(v)), bottom))


@pytest.mark.parametrize("name", LIMITED)
def test_other_moves_and_limits_get_their_sentence(name: str) -> None:
    subject, words = LIMITED[name]
    (blame,) = explain_loop(StageCalls(subject))
    (explanation,) = blame.explanations
    assert words in explanation.sentence
    assert blame.held_out > 0


def test_a_choice_of_the_output_is_told_where_no_block_of_one_step_moves() -> None:
    both = PlantedLoop(
        lambda s: (0 if (s.t + 1) % s.q.M == 0 else 1) * clip(s.step - eta(s) * s.g, s.q.D),
        output=lambda s: s.x_bar[s.rng.integers(len(s.x_bar) - 1)],
    )
    words = [sentences[0] for sentences in named(both)]
    assert any("never the last" in sentence for sentence in words), words


def test_a_wrong_line_behind_a_wrong_move_is_named_too() -> None:
    both = PlantedLoop(move=lambda s: s.step, output=lambda s: s.x_bar[-1])
    words = [sentences[0] for sentences in named(both)]
    assert len(words) == 2
    assert any("x_{t−1} is left out" in sentence for sentence in words)
    assert any("always the last block's mean" in sentence for sentence in words)
