"""Every row of the tables of Algorithm 2's edits, planted in a plain loop, is told by its answers in its own words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from spec import OuterParameters
from tests.verify.conformance.blame.loop_subjects import PlantedLoop
from verify.conformance.blame.loop import explain_loop
from verify.conformance.blame.loop_draws import search_outputs, search_queries
from verify.conformance.outer import Trial, listen
from verify.method.loop_edits import ANSWERS, EDITS, INTERVALS, SERIES, Edit, replacements
from verify.method.query_laws import LAWS, distribution
from verify.method.run_series import Series
from verify.subjects.protocol import Stages


def series(s: Any) -> Series:
    """What a planted loop has made so far, as rows."""
    t = len(s.gs)
    path = np.array(s.path)
    x_next = path[1 : t + 1] if len(path) > t else np.vstack([path[1:], [s.x]])
    names = {"z": np.array(s.z), "g": np.array(s.gs), "x": path[:t], "x_next": x_next, "step": np.array(s.steps[:t])}
    more = {"path": path, "x_bar": getattr(s, "x_bar", None), "D": s.q.D, "eta": s.q.eta, "M": s.q.M, "K": s.q.K}
    return Series(names | more, s.q.M)


def with_cut(edit: Edit) -> PlantedLoop:
    def next_step(s: Any) -> Any:
        a, b = s.step[None], s.q.eta * np.array(s.g)[None]
        return series(s).made(edit.formula, {"a": a, "b": b, "v": a - b, "L": s.q.D})[0]

    return PlantedLoop(next_step)


def with_answers(edit: Edit) -> PlantedLoop:
    def next_step(s: Any) -> Any:
        made = series(s)
        return made.made("cut(step - b, D)", {"b": s.q.eta * made.value(edit.formula)})[-1]

    return PlantedLoop(next_step)


def with_mean(edit: Edit) -> PlantedLoop:
    def mean(s: Any) -> Any:
        made = series(s)
        return made.made(edit.formula, {"p": made.value("z")})

    return PlantedLoop(mean=mean)


def with_output(edit: Edit) -> PlantedLoop:
    return PlantedLoop(output=lambda s: series(s).value(edit.formula))


def with_choice(edit: Edit) -> PlantedLoop:
    def output(s: Any) -> Any:
        points = series(s).value(edit.halves[0])
        names = {"i": np.arange(len(points)), "count": len(points), "where": np.where, "maximum": np.maximum}
        weights = np.ones(len(points)) * eval(edit.halves[1], names)
        return points[s.rng.choice(len(points), p=weights / weights.sum())]

    return PlantedLoop(output=output)


def sentences(subject: PlantedLoop) -> list[list[str]]:
    return [[explanation.sentence for explanation in blame.explanations] for blame in explain_loop(Stages(subject))]


PLANT: dict[str, tuple[Callable[[Edit], PlantedLoop], Sequence[Edit]]] = {
    "cuts": (with_cut, EDITS["cuts"]), "answers": (with_answers, replacements(ANSWERS)),
    "windows": (with_mean, EDITS["windows"]), "outputs": (with_output, EDITS["outputs"]),
}  # fmt: skip
UNTOLD = {
    "g is left out": "nothing moves, whatever else is wrong",
    "the steps Δ_t instead of the answers g_t": "nothing moves, whatever else is wrong",
    "the answer of the step before is used (at first one left over)": "a loop without a memory leaves nothing over",
}
UNTOLD[""] = "the right one"
CASES = [(name, edit) for name, (_, edits) in PLANT.items() for edit in edits if edit.words not in UNTOLD]


@pytest.mark.parametrize(("name", "edit"), CASES, ids=[f"{name}: {edit.words}" for name, edit in CASES])
def test_an_edit_is_told_in_its_words(name: str, edit: Edit) -> None:
    found = sentences(PLANT[name][0](edit))
    assert [edit.words in words for line in found for words in line].count(True) == 1, found


MANY = Trial("many-blocks", (0.9, -0.6), OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.1, eta=0.04, M=2, K=5),
             (0.3, 0.2), (0.7, 1.1))  # fmt: skip


@pytest.mark.parametrize("edit", EDITS["choices"], ids=[edit.words for edit in EDITS["choices"]])
def test_a_choice_of_the_output_is_told_over_many_runs(edit: Edit) -> None:
    stages = Stages(with_choice(edit))
    rules = search_outputs([listen(stages, MANY, seed) for seed in range(600)])
    assert any(edit.words in rule.sentence for rule in rules), [rule.sentence for rule in rules]


RNG = np.random.default_rng(1)
U, V = RNG.random((2, 20_000))
NORMAL = RNG.standard_normal(20_000)
DRAWN = {
    "s_t is the square of a uniform draw": U**2, "s_t is the root of a uniform draw": np.maximum(U, V),
    "s_t is the product of two uniform draws": U * V, "s_t is the mean of two uniform draws": (U + V) / 2,
    "s_t is the cube of a uniform draw": U**3, "s_t is the smaller of two uniform draws": np.minimum(U, V),
    "s_t has the law Beta(½, ½)": RNG.beta(0.5, 0.5, 20_000), "s_t has the law Beta(2, 2)": RNG.beta(2, 2, 20_000),
    "s_t is a standard normal number": NORMAL, "s_t is the size of a standard normal number": np.abs(NORMAL),
    "s_t is normal with mean ½ and variance 1": NORMAL + 0.5, "s_t is exponential": -np.log(U),
} | {f"s_t is uniform on [{a:g}, {b:g}], not on [0, 1]": a + (b - a) * U for a, b in INTERVALS}  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=[law.words for law in LAWS])
def test_a_law_is_that_of_its_draws_and_of_no_others(law: Edit) -> None:
    alike = [words for words, drawn in DRAWN.items() if kstest(distribution(law, drawn), "uniform").pvalue > 1e-4]
    assert alike == [law.words]


@pytest.mark.parametrize("law", LAWS, ids=[law.words for law in LAWS])
def test_draws_of_a_law_are_told(law: Edit) -> None:
    place = iter(DRAWN[law.words])
    stages = Stages(PlantedLoop(share=lambda s: float(next(place))))  # as every share
    (rule,) = search_queries([listen(stages, MANY, seed) for seed in range(100)])
    assert law.words in rule.sentence


def test_half_a_step_is_one_sentence() -> None:
    half = PlantedLoop(move=lambda s: s.x + s.step / 2)
    assert sentences(half) == [["x_t = x_{t−1} + ½Δ_t where x_t must be x_{t−1} + Δ_t: x moves by ½Δ_t"]]
    still = PlantedLoop(move=lambda s: s.x)
    assert sentences(still) == [["x_t = x_{t−1} where x_t must be x_{t−1} + Δ_t: x never moves"]]


def test_two_edits_of_one_line_are_both_told() -> None:
    swapped = PlantedLoop(lambda s: clip(s.g - s.q.eta * s.step, s.q.D))
    assert sentences(swapped) == [[
        "Δ_{t+1} = clip_D(g_t − ηΔ_t) where Δ_{t+1} must be clip_D(Δ_t − ηg_t): the steps Δ_t instead of the answers "
        "g_t, the answers g_t instead of the steps Δ_t"
    ]]  # fmt: skip


def clip(v: Any, D: float) -> Any:
    return v * min(1.0, D / max(float(np.linalg.norm(v)), 1e-300))


def test_every_series_may_stand_for_every_other() -> None:
    for noun in SERIES:
        assert {other.formula for other in SERIES} <= {edit.formula.strip("()") for edit in replacements(noun)}


@pytest.mark.parametrize("name", EDITS)
def test_no_table_says_one_thing_twice(name: str) -> None:
    told = [edit[1:] for edit in EDITS[name]]
    assert len(told) == len(set(told))
    assert len(EDITS[name]) == len({edit.formula for edit in EDITS[name]})
