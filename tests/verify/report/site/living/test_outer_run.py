"""The page's run of Algorithm 2: the reference's steps on the same answers, which are those of the exact formulas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from f2csa_ref.algorithm_2 import outer_loop
from spec import InvalidInputError
from tests.verify.report.site.browser import CHROMIUM, DESK
from tests.verify.report.site.living.page_script import NO_SCRIPT, NODE, ask, ask_browser
from verify.report.site.living.erring_stages import StageText
from verify.report.site.living.outer_run import LivingRun, outer_run
from verify.report.site.living.states_of_alpha import NO_ERRORS, SIGMA
from verify.truth.lower_level import lower_level

needs_a_script = pytest.mark.skipif(CHROMIUM is None and NODE is None, reason=NO_SCRIPT)
ALPHAS = ("0.4", "0.1", "0.001")
RUNS = """
const alphas = data.alphas.map(parsed), runs = outerRuns(data, alphas);
const base = { ...model.all('repaired'), errors: true, draw: 1 };
const asked = [
  base, { ...base, errors: false }, { ...base, draw: 2 }, { ...base, ...model.all('as_written') },
  ...Object.entries(data.switches).map(([field, one]) => ({ ...base, [field]: one.as_written })),
];
return asked.flatMap(s => WANTED.map(text => {
  const found = runs.of({ ...s, at: data.alphas.indexOf(text) });
  return { ...s, alpha: text, ...found, far: found.blocks.map(runs.fromStationary) };
}));
"""


@pytest.fixture(scope="module")
def ran(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(
        folder, RUNS.replace("WANTED", json.dumps(ALPHAS)), tmp_path_factory.mktemp("run")
    )
    return found


@dataclass
class Replayed:
    """A generator whose segment points are those of the page."""

    along: Iterator[float]

    def random(self) -> float:
        return next(self.along)

    def integers(self, high: int, size: None) -> int:
        assert (high > 0, size) == (True, None)
        return 0


@needs_a_script
def test_the_reference_makes_the_same_steps_on_the_same_answers(ran: list[dict[str, Any]]) -> None:
    schedule = outer_run().text.schedule.parameters
    for run in ran:
        steps, seen = run["steps"], list[float]()
        answers = iter(step["g"] for step in steps)

        def oracle(z: Any, answers: Iterator[float] = answers, seen: list[float] = seen) -> Any:
            seen.append(float(z[0]))
            return np.array([next(answers)])

        blocks = len(run["blocks"])
        if run["left"] == 0:
            assert (len(steps), blocks) == (schedule.T, schedule.K)
        whole = outer_loop(
            oracle, np.array([float(outer_run().text.start)]), keep_path=True,
            parameters=schedule.model_copy(update={"K": blocks}),
            rng=Replayed(iter(step["along"] for step in steps)),  # type: ignore[arg-type]  # draws what the page drew
        )  # fmt: skip
        n = len(seen)
        assert whole.path is not None
        assert whole.path[1:, 0] == pytest.approx([step["x"] for step in steps[:n]], abs=1e-12)
        assert seen == pytest.approx([step["z"] for step in steps[:n]], abs=1e-12)
        assert whole.x_bar[:, 0] == pytest.approx(run["blocks"], abs=1e-12)


@needs_a_script
def test_the_answers_are_those_of_the_exact_formulas_but_for_their_noise(ran: list[dict[str, Any]]) -> None:
    """The mean is the suite's; what is added is N_g samples' noise."""
    made = outer_run()
    variances, scaled = made.variances(), dict[str, list[float]]()
    for run in ran:
        alpha, pairing = Fraction(run["alpha"]), run["noise_pairing"]
        mean = [float(one(alpha)[0]) for one in made.answer(run["dual_term"], text_of(run))]
        spread = float(variances[pairing](alpha)[0] / made.text.N_g) ** 0.5
        z, g = (np.array([step[name] for step in run["steps"]]) for name in ("z", "g"))
        scaled.setdefault(pairing, []).extend((g - np.polynomial.Polynomial(mean)(z)) / spread)
    assert set(scaled) == {"independent", "common"}
    for normals in scaled.values():
        # Sums over these seeds; the draws of one seed serve several runs, so that its size says little of their law.
        assert np.abs(normals).max() < 5
        assert np.mean(normals) == pytest.approx(0, abs=0.1)
        assert np.var(normals) == pytest.approx(1, abs=0.2)


def text_of(run: dict[str, Any]) -> StageText | None:
    return StageText(*(run[name] for name in StageText._fields)) if run["errors"] else None


def test_between_whole_numbers_the_answers_hold_too() -> None:
    made, x = outer_run(), Fraction(5, 2)
    place = made.place(x)
    for dual_term, text in made.states:
        stages = place.stages(text or NO_ERRORS, made.states[dual_term, text].signs)
        fixed, slope = made.answer(dual_term, text)
        assert stages.estimate(dual_term) == fixed + slope.times(x)


def test_one_sample_has_the_variance_of_the_oracles_or_that_of_two_apart() -> None:
    sigma, alpha = Fraction(SIGMA) ** 2, Fraction(1, 10)
    found = {pairing: one(alpha)[0] for pairing, one in outer_run().variances().items()}
    assert found == {"common": sigma, "independent": sigma + 2 * sigma * alpha**-4}


@needs_a_script
def test_each_phrase_that_moves_the_run_breaks_it_and_the_others_leave_it(ran: list[dict[str, Any]]) -> None:
    at_tenth = [run for run in ran if run["alpha"] == "0.1" and run["errors"] and run["draw"] == 1]
    repaired, _, *single = at_tenth
    assert repaired["far"][-1] < 0.1
    moved = {}
    for run in single:
        (field,) = [
            name for name in run if name in repaired and isinstance(run[name], str) and run[name] != repaired[name]
        ]
        moved[field] = run["left"] > 0 or run["far"][-1] > 1
        assert moved[field] or run["steps"] == repaired["steps"], field
    assert sorted(field for field, breaks in moved.items() if not breaks) == ["inner_solver", "multiplier_width"]
    assert len(moved) == 6


@needs_a_script
def test_other_draws_are_another_run(ran: list[dict[str, Any]]) -> None:
    first, second = (next(run for run in ran if run["draw"] == draw and run["alpha"] == "0.1") for draw in (1, 2))
    assert first["steps"] != second["steps"]


@needs_a_script
def test_distances_are_those_of_the_gradients_within_the_radius(ran: list[dict[str, Any]]) -> None:
    made = outer_run()
    radius, problem = Fraction(str(made.text.schedule.goldstein_radius)), made.place(0).problem
    for run in ran:
        for x, far in zip(map(Fraction, run["blocks"]), run["far"], strict=True):
            low, high = (lower_level.hypergradient(problem, (x + d,))[0] for d in (-radius, radius))
            assert far == pytest.approx(float(max(low, -high, Fraction(0))), abs=1e-12)


def test_its_words_are_true() -> None:
    """y* = x and F(x) = x²/2 - x over the picture, and what the schedule takes for granted of F."""
    made, (low, high) = outer_run(), outer_run().text.view
    assert made.text.words.endswith("y* = x and F(x) = ½x² − x for x ≥ −5")
    for x in map(Fraction, (low, 0, made.text.start, high)):
        place = made.place(x)
        assert (place.family.lower.y_star, place.family.hypergradient) == ((x,), (x - 1,))
    assert lower_level.solve(made.place(0).problem, (Fraction(-5),)).weakly_active == (0,)
    schedule = made.text.schedule
    assert max(abs(made.place(x).family.hypergradient[0]) for x in (low, high)) == schedule.lipschitz_F
    assert Fraction(made.text.start - 1) ** 2 / 2 == schedule.gap


def test_a_picture_beyond_the_row_is_refused() -> None:
    text = outer_run().text
    bent = LivingRun(text.model_copy(update={"view": (-6, 4)}))
    with pytest.raises(InvalidInputError, match="x: must be where the row binds; got -6"):
        bent.answer("cancelled", None)


def test_a_weight_that_leaves_its_piece_within_the_picture_is_refused() -> None:
    """At x = -1 the multiplier is half of ε_λ, and the weight follows x."""
    text = outer_run().text
    flat = text.problem | {"g": {"yy": [[1]], "y": ["21/20"]}}
    with pytest.raises(ArithmeticError, match="x = -1 does not follow"):
        LivingRun(text.model_copy(update={"problem": flat})).answer("cancelled", None)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_the_page_tells_a_run_and_draws_another(folder: Path, tmp_path: Path) -> None:
    script = """
    const said = () => document.getElementById('living-run-said').textContent;
    const before = said(); document.getElementById('living-again').click();
    const other = { said: said(), at: location.hash };
    document.querySelector('input[name=inner_stop][value=distance]').click();
    return { before, other, broken: said(), curve: document.querySelectorAll('#living-run .curve').length };
    """
    found = partial(ask_browser, folder, script, tmp_path, width=DESK)(address="#repaired&on=toy1&alpha=0.1")
    assert found.value["before"].startswith("At α = 0.1 dist(0, ∂δF) is 0.")
    assert found.value["other"]["at"].endswith("&draw=2")
    assert found.value["broken"].startswith("At α = 0.1 x leaves the picture at step")
    assert "Repaired, with the same draws: dist" in found.value["broken"]
    assert (found.value["curve"], found.console) == (1, [])
