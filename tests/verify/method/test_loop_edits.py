"""Every row of the tables of Algorithm 2's edits, planted in a plain loop, is told by its answers in its own words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from spec import OuterParameters
from tests.verify.conformance.blame.loop_subjects import PlantedLoop
from verify.conformance.blame.algorithm_2.loop import explain_loop
from verify.conformance.blame.algorithm_2.loop_draws import search_outputs, search_queries
from verify.conformance.outer import LoopTrial, listen
from verify.method.loop_edits import ANSWERS, EDITS, INTERVALS, SERIES, LineEdit, replacements
from verify.method.query_laws import LAWS, distribution
from verify.method.run_series import RunSeries
from verify.subjects.protocol import StageCalls


def series(s: Any) -> RunSeries:
    """What a planted loop has made so far, as rows."""
    t = len(s.gs)
    path = np.array(s.path)
    x_next = path[1 : t + 1] if len(path) > t else np.vstack([path[1:], [s.x]])
    names = {"z": np.array(s.z), "g": np.array(s.gs), "x": path[:t], "x_next": x_next, "step": np.array(s.steps[:t])}
    more = {"path": path, "x_bar": getattr(s, "x_bar", None), "D": s.q.D, "eta": s.q.eta, "M": s.q.M, "K": s.q.K}
    return RunSeries(names | more, s.q.M)


def with_cut(edit: LineEdit) -> PlantedLoop:
    def next_step(s: Any) -> Any:
        a, b = s.step[None], s.q.eta * np.array(s.g)[None]
        # What depends on t is made for all steps so far; this one is the last.
        return series(s).made(edit.formula, {"a": a, "b": b, "v": a - b, "L": s.q.D})[-1]

    return PlantedLoop(next_step)


def with_answers(edit: LineEdit) -> PlantedLoop:
    def next_step(s: Any) -> Any:
        made = series(s)
        return made.made("cut(step - b, D)", {"b": s.q.eta * made.value(edit.formula)})[-1]

    return PlantedLoop(next_step)


def with_mean(edit: LineEdit) -> PlantedLoop:
    def mean(s: Any) -> Any:
        made = series(s)
        return made.made(edit.formula, {"p": made.value("z")})

    return PlantedLoop(mean=mean)


def with_output(edit: LineEdit) -> PlantedLoop:
    return PlantedLoop(output=lambda s: series(s).value(edit.formula))


def with_choice(edit: LineEdit) -> PlantedLoop:
    def output(s: Any) -> Any:
        points = series(s).value(edit.halves[0])
        names = {"i": np.arange(len(points)), "count": len(points), "where": np.where, "maximum": np.maximum}
        weights = np.ones(len(points)) * eval(edit.halves[1], names)
        return points[s.rng.choice(len(points), p=weights / weights.sum())]

    return PlantedLoop(output=output)


def sentences(subject: PlantedLoop) -> list[list[str]]:
    return [[explanation.sentence for explanation in blame.explanations] for blame in explain_loop(StageCalls(subject))]


PLANT: dict[str, tuple[Callable[[LineEdit], PlantedLoop], Sequence[LineEdit]]] = {
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
def test_an_edit_is_told_in_its_words(name: str, edit: LineEdit) -> None:
    found = sentences(PLANT[name][0](edit))
    assert [edit.words in words for line in found for words in line].count(True) == 1, found


MANY = LoopTrial(
    "many-blocks", (0.9, -0.6), OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.1, eta=0.04, M=2, K=5),
    (0.3, 0.2), (0.7, 1.1),
)  # fmt: skip


@pytest.mark.parametrize("edit", EDITS["choices"], ids=[edit.words for edit in EDITS["choices"]])
def test_a_choice_of_the_output_is_told_over_many_runs(edit: LineEdit) -> None:
    stages = StageCalls(with_choice(edit))
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
def test_a_law_is_that_of_its_draws_and_of_no_others(law: LineEdit) -> None:
    alike = [words for words, drawn in DRAWN.items() if kstest(distribution(law, drawn), "uniform").pvalue > 1e-4]
    assert alike == [law.words]


@pytest.mark.parametrize("law", LAWS, ids=[law.words for law in LAWS])
def test_draws_of_a_law_are_told(law: LineEdit) -> None:
    place = iter(DRAWN[law.words])
    stages = StageCalls(PlantedLoop(share=lambda s: float(next(place))))  # as every share
    (rule,) = search_queries([listen(stages, MANY, seed) for seed in range(100)])
    assert law.words in rule.sentence


def back(s: Any) -> Any:
    """The step before, and the iterate before."""
    return s.steps[-1] if s.steps else 0 * s.x, s.path[-2] if len(s.path) > 1 else s.x


MOVES: dict[str, Callable[[Any], Any]] = {
    "x moves on from the queried point": lambda s: s.z[-1] + s.step, "x_{t−1} is left out": lambda s: s.step,
    "x_{t−1} is multiplied by 2": lambda s: 2 * s.x + s.step,
    "x_{t−1} is multiplied by 0.5": lambda s: s.x / 2 + s.step,
    "x_{t−1} is multiplied by -1": lambda s: s.step - s.x,
    "x moves on from the iterate before": lambda s: back(s)[1] + s.step,
    "the step before is taken": lambda s: s.x + back(s)[0], "x never moves": lambda s: s.x,
} | {
    f"x moves by {shown}Δ_t": lambda s, c=c: s.x + c * s.step
    for shown, c in (("½", 1 / 2), ("2", 2), ("−", -1), ("⅓", 1 / 3), ("3", 3), ("¼", 1 / 4), ("0.9", 0.9),
                     ("1.1", 1.1), ("0.1", 0.1), ("10", 10))
}  # fmt: skip
LINES: dict[str, Callable[[Any], Any]] = {
    "the step before is followed from x_{t−1}": lambda s: s.x + s.s * back(s)[0],
    "the step before is followed from x_t": lambda s: s.x + s.step + s.s * back(s)[0],
    "the segment before is used": lambda s: back(s)[1] + s.s * back(s)[0],
    "it starts a point early": lambda s: back(s)[1] + s.s * s.step,
    "x_{t−1} is multiplied by 0.5": lambda s: s.x / 2 + s.s * s.step,
    "x_{t−1} is multiplied by 2": lambda s: 2 * s.x + s.s * s.step,
    "x_{t−1} is multiplied by 0": lambda s: s.s * s.step,
    "x_{t−1} is multiplied by -1": lambda s: s.s * s.step - s.x,
    "Δ_t is left out": lambda s: s.x + s.s,
    "segments start at x_0": lambda s: s.x0 + s.s * (s.x + s.step - s.x0),
    "segments start where the block does": lambda s: at_start(s) + s.s * (s.x + s.step - at_start(s)),
    "a multiple of x_{t−1} is asked at": lambda s: s.s * s.x,
    "a multiple of x_t is asked at": lambda s: s.s * (s.x + s.step),
}
FIRST: dict[str, Callable[[Any], Any]] = {
    "D in every component": lambda s: s.q.D + 0 * s.x, "−D in every component": lambda s: 0 * s.x - s.q.D,
    "of length D in the direction (1, …, 1)": lambda s: s.q.D / len(s.x) ** 0.5 + 0 * s.x,
    "D in the first component": lambda s: s.q.D * np.eye(len(s.x))[0],
    "x_0": lambda s: s.x, "−ηx_0": lambda s: -s.q.eta * s.x,
    "−x_0: the method starts at 0": lambda s: -s.x, "x_0 cut to D": lambda s: clip(s.x, s.q.D),
    "η in every component": lambda s: s.q.eta + 0 * s.x,
    "−ηg_1, cut to D": lambda s: clip(-s.q.eta * answer(s), s.q.D), "−ηg_1": lambda s: -s.q.eta * answer(s),
    "D against g_1": lambda s: -s.q.D * answer(s) / np.linalg.norm(answer(s)),
}  # fmt: skip


def at_start(s: Any) -> Any:
    return s.path[s.t // s.q.M * s.q.M]


def after_x_0(s: Any) -> Any:
    return s.x + (s.s * s.step if s.t else 0)


def answer(s: Any) -> Any:
    """What the oracle says of the first point asked at, which is x_0."""
    return s.oracle(s.x)


class Quiet:
    """A loop that asks at the first point, x_0, before it makes its first step, and there only once."""

    name = "quiet"

    def __init__(self, loop: PlantedLoop) -> None:
        self.loop = loop

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        known: list[Any] = []

        def once(z: Any) -> Any:
            if not known or not np.array_equal(known[0][0], z):
                known[:] = [(np.array(z), oracle(z))]
            return known[0][1]

        return self.loop.optimise(once, x0, parameters, rng)


class Sparing:
    """A loop that leaves out calls of its oracle, by their number from 0, and takes the answer before instead."""

    name = "sparing"

    def __init__(self, asks: Callable[[int, OuterParameters], bool]) -> None:
        self.asks = asks

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        number, last = iter(range(10**6)), [0 * x0]

        def spared(z: Any) -> Any:
            last[0] = oracle(z) if self.asks(next(number), parameters) else last[0]
            return last[0]

        return PlantedLoop().optimise(spared, x0, parameters, rng)


def again(when: Callable[[Any], bool], then: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What a line makes, after one call more."""

    def made(s: Any) -> Any:
        if when(s):
            s.oracle(s.x)
        return then(s)

    return made


def step(s: Any) -> Any:
    return clip(s.step - s.q.eta * s.g, s.q.D)


def asked(times: Callable[[Any], int]) -> Callable[[Any], Any]:
    return lambda s: [s.oracle(s.x) for _ in range(times(s))]


CALLS: dict[str, Any] = {
    "one call more before the first step": PlantedLoop(before=asked(lambda s: 1)),
    "one call more after the last step": PlantedLoop(after=asked(lambda s: 1)),
    "one call more before the first step and one after the last": PlantedLoop(
        before=asked(lambda s: 1), after=asked(lambda s: 1)),
    "two calls a step, of which the first counts": PlantedLoop(again(lambda s: True, step)),
    "two calls a step, of which the second counts": PlantedLoop(share=again(lambda s: True, lambda s: s.rng.random())),
    "one call more at the start of each block": PlantedLoop(
        share=again(lambda s: s.t % s.q.M == 0, lambda s: s.rng.random())),
    "one call more at the end of each block": PlantedLoop(again(lambda s: (s.t + 1) % s.q.M == 0, step)),
    "one call for each block after the last step": PlantedLoop(after=asked(lambda s: s.q.K)),
    "one block too many": PlantedLoop(after=asked(lambda s: s.q.M)),
    "one call too few": Sparing(lambda t, q: t < q.T - 1),
    "one call too few in each block": Sparing(lambda t, q: (t + 1) % q.M != 0),
    "one block too few": Sparing(lambda t, q: t < q.T - q.M), "one call a block": Sparing(lambda t, q: t % q.M == 0),
    "M calls, as if there were one block": Sparing(lambda t, q: t < q.M),
    "the oracle is never asked": Sparing(lambda t, q: False),
}  # fmt: skip
BY_HAND: dict[str, dict[str, Any]] = {
    "moves": {words: PlantedLoop(move=move) for words, move in MOVES.items()},
    "lines": {words: PlantedLoop(point=point) for words, point in LINES.items()},
    "first_steps": {words: Quiet(PlantedLoop(first=first, point=after_x_0)) for words, first in FIRST.items()},
    "calls": CALLS,
}  # fmt: skip
PLANTED = [(name, words) for name, table in BY_HAND.items() for words in table]


@pytest.mark.parametrize(("name", "words"), PLANTED)
def test_what_is_planted_by_hand_is_told_in_its_words(name: str, words: str) -> None:
    found = sentences(BY_HAND[name][words])
    assert any(words in told for line in found for told in line), found


def test_every_row_is_planted() -> None:
    moves = (*EDITS["moves"], *EDITS["moves_that_queries_show"])
    assert {edit.words for edit in moves} == MOVES.keys()
    assert {edit.words for edit in EDITS["lines"][1:]} == LINES.keys()
    assert {edit.shown for edit in EDITS["first_steps"][1:]} == FIRST.keys()
    assert {edit.words for edit in EDITS["calls"]} == CALLS.keys()


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
