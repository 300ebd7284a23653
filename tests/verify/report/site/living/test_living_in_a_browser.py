"""The page's script against the suite: equal fractions at every point, the program's answers, and a reader's hands."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from spec import Reading
from tests.verify.cli.test_main import run
from tests.verify.report.site.browser import AXE, CHROMIUM, DESK, PHONE, Visit, visit
from tests.verify.report.site.living.page_script import NO_SCRIPT, NODE, POINTS, Answer, ask, ask_browser
from verify.checks.lagrangian_gradient.multiplier_reach import ReachPair
from verify.report.site.frame import LIVING
from verify.report.site.living.erring_stages import DUAL_TERMS, LAM_WIDTH, ErringPlace
from verify.report.site.living.states_of_alpha import PLACES, TEXTS, living_place
from verify.truth.algebra.rationals import Vector, fractions, rational
from verify.truth.algebra.rings import RATIONALS
from verify.truth.formulas import Lagrangian, exact_minimiser, solution_maps_over
from verify.truth.functions_of_alpha.noise import variance
from verify.truth.functions_of_alpha.scenario import WITH_MAPS
from verify.truth.stages import ExactSetting, evaluate, weights

pytestmark = pytest.mark.skipif(CHROMIUM is None and NODE is None, reason=NO_SCRIPT)
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
ALPHAS = ("0.4", "0.25", "0.1", "0.0315", "0.001")


@pytest.fixture(scope="module")
def answered(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    wanted = json.dumps(ALPHAS)
    script = f"{POINTS} return {{ points: points(data, model, {wanted}), others: others(data, model, {wanted}) }};"
    found: dict[str, Any] = ask(folder, script, tmp_path_factory.mktemp("ask"))
    return found


@pytest.fixture(scope="module")
def places() -> dict[str, ErringPlace]:
    return {name: ErringPlace.at(name) for name in PLACES}


def numbers(words: list[str]) -> Vector:
    return tuple(map(Fraction, words))


def test_the_page_offers_every_reading_on_every_instance(
    answered: dict[str, Any], places: dict[str, ErringPlace]
) -> None:
    seen = Counter((one["on"], one["key"]) for one in answered["points"])
    wanted = {
        (name, key)
        for name, place in places.items()
        for dual in DUAL_TERMS if not (place.pieces and dual in WITH_MAPS)
        for key in (f"{dual},exact", *(",".join((dual, *text)) for text in TEXTS))
    }  # fmt: skip
    assert seen == dict.fromkeys(wanted, len(ALPHAS))
    assert len(answered["points"]) >= 500


def test_every_point_is_the_same_fraction_as_the_suites_formulas(
    answered: dict[str, Any], places: dict[str, ErringPlace]
) -> None:
    for one in answered["points"]:
        place, alpha, (dual, *text) = places[one["on"]], Fraction(one["alpha"]), one["key"].split(",")
        lower, problem = place.family.lower, place.problem
        stage = {name: numbers(one[name]) for name in ("y_star", "lam", "rho", "y_min", "y")}
        s_star, s_lam, s_y = one["signs"]
        assert stage["y_star"] == tuple(
            a + s_star * alpha**3 * b for a, b in zip(lower.y_star, place.inside, strict=True)
        )
        assert stage["lam"] == tuple(
            a + s_lam * alpha**3 * b for a, b in zip(lower.lam, place.on_binding_rows, strict=True)
        )
        ramp, stop, width = text if len(text) == 3 else ("delta", "gradient", "fixed")
        h = evaluate(ExactSetting(problem, place.family.x, alpha, given=stage | {"y_penalty": stage["y"]})).h
        wide = alpha**6 if ramp == "tau-delta" else 2 * place.row_norm * alpha**3
        assert stage["rho"] == weights(h, stage["lam"], wide, alpha**3 if width == "shrinking" else LAM_WIDTH)
        scales = rational(alpha**-2), rational(alpha**-4)
        L = Lagrangian.of(RATIONALS, problem, place.family.x, scales, (stage["y_star"], stage["lam"], stage["rho"]))
        assert stage["y_min"] == exact_minimiser(L, alpha)
        left = fractions(L.gradient_y(RATIONALS.vector(stage["y"])).entries)
        if stop == "distance":
            assert stage["y"] == tuple(
                a + s_y * alpha**3 * b for a, b in zip(stage["y_min"], place.amplified, strict=True)
            )
        else:
            assert left == tuple(s_y * alpha * v for v in place.amplified_gradient)
        if dual in WITH_MAPS:
            L = replace(L, maps=partial(solution_maps_over, RATIONALS, problem, place.family.x))
        else:
            called = ExactSetting(
                problem, place.family.x, alpha, Reading(dual_term=dual), given=stage | {"y_penalty": stage["y"]}
            )
            assert evaluate(called).hypergradient == numbers(one["total"])
        total = fractions(L.estimate(RATIONALS.vector(stage["y"]), dual).entries)
        assert total == numbers(one["total"]), one
        for exact, shown in zip(total, one["doubles"], strict=True):
            assert abs(Fraction(shown) - exact) <= abs(exact) * Fraction(2) ** -52


def test_variances_and_changes_of_the_gradient_are_those_of_the_suite(
    answered: dict[str, Any], places: dict[str, ErringPlace]
) -> None:
    at_minimiser = {(one["on"], one["alpha"]): numbers(one["y_min"]) for one in answered["points"]
                    if one["key"] == "cancelled,exact"}  # fmt: skip
    for one in answered["others"]:
        place, alpha, exact = places[one["on"]], Fraction(one["alpha"]), Fraction(one["exact"])
        if one["tab"] == "variance":
            noisy = living_place(one["on"]).noisy
            stages = at_minimiser[one["on"], one["alpha"]], place.family.lower.y_star
            assert exact == variance(noisy, place.family.x, alpha, stages, one["value"])
            continue
        width, changes = alpha**3 if one["value"] == "shrinking" else LAM_WIDTH, []
        for row, normal in enumerate(place.problem.constraints.B.to_fractions()):
            square = sum(v * v for v in normal)
            y = tuple(a - v / square for a, v in zip(place.family.lower.y_star, normal, strict=True))
            changes.append(
                sum(float(v @ v) for v in ReachPair(place.problem, place.family.x, alpha, row, width).change(y))
            )
        assert float(exact) == pytest.approx(max(changes), rel=1e-12)
    assert len(answered["others"]) == 2 * 2 * len(PLACES) * len(ALPHAS)


def test_the_program_answers_the_same_with_the_same_stages(
    answered: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    sample = [one for one in answered["points"] if one["alpha"] in ("0.4", "0.25", "0.1")][::11]
    assert {one["on"] for one in sample} == set(PLACES)
    assert {one["key"].split(",")[0] for one in sample} == set(DUAL_TERMS)
    assert any("shrinking" in one["key"] for one in sample)
    for one in sample:
        name, *arguments = shlex.split(one["command"])
        assert name == "f2csa"
        code, out, err = run(capsys, *arguments, "--json")
        assert (code, err) == (0, "")
        for told, shown in zip(json.loads(out)["hypergradient"], one["doubles"], strict=True):
            assert abs(told - shown) <= 1e-12 * one["largest"], one["command"]


READER = (Path(__file__).parent / "reader.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reader(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Answer:
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    return ask_browser(folder, READER, tmp_path_factory.mktemp("reader"))


@in_a_browser
def test_each_cause_is_broken_by_one_switch_and_says_so(reader: Answer) -> None:
    presets = reader.value["presets"]
    assert presets.pop("as-written")["said"].startswith("Refuted here: the estimate is off by 109.99")
    assert presets.pop("repaired")["said"].startswith("Holds")
    assert len(presets) == 6
    for field, found in presets.items():
        assert found["said"].startswith("Refuted"), field
        assert "At fault: “" in found["said"], field
        assert found["at"].startswith(f"#repaired&{field}="), field


@in_a_browser
def test_the_tabs_obey_the_arrow_keys(reader: Answer) -> None:
    names = ["variance", "gradient", "cost", "bias", "cost", "bias", "cost"]
    assert reader.value["tabs"] == [f"living-tab-{name}" for name in names]


@in_a_browser
def test_a_repair_strikes_the_phrase_and_writes_its_own(reader: Answer) -> None:
    broken, mended = reader.value["broken"], reader.value["mended"]
    assert broken["said"].startswith("Refuted here: the estimate is off by 1 at α = 0.1")
    assert "The ramp is narrower than the error" in broken["said"]
    assert broken["at"] == "#repaired&ramp_width=tau-delta&on=toy1&alpha=0.1"
    assert (broken["struck"], mended["struck"]) == (0, 1)
    assert mended["said"].startswith("Holds")
    (written,) = mended["written"]
    assert "at least 2‖B‖" in written


@in_a_browser
def test_the_slider_says_where_it_stands(reader: Answer) -> None:
    assert "alpha=0.001" in reader.value["smallest"]["at"]
    assert reader.value["smallest"]["text"].startswith("α = 0.001: ")


@in_a_browser
def test_at_a_kink_no_map_can_be_chosen(reader: Answer) -> None:
    assert reader.value["kink"]["disabled"] == ["map", "both-maps"]
    assert "dual_term=frozen" in reader.value["kink"]["at"]


@in_a_browser
def test_everything_is_named_fetches_nothing_and_fits_a_phone(reader: Answer) -> None:
    assert reader.value["named"] == []
    assert reader.value["live"] == "polite"
    assert reader.value["fetched"] == []
    assert reader.value["over"] <= 0
    assert len(reader.value["hidden"]) == 1
    assert reader.console == []


@in_a_browser
@pytest.mark.parametrize("address", [
    "#repaired&ramp_width=tau-delta&on=toy2&alpha=0.02", "#as-written&on=two-of-three&alpha=0.4&errors=none",
    "#repaired&noise_pairing=independent&on=toy1&alpha=0.1", "#repaired&on=toy1&alpha=0.001&see=cost",
])  # fmt: skip
def test_an_address_opens_what_it_says_and_stays(folder: Path, tmp_path: Path, address: str) -> None:
    script = "return { at: location.hash, said: document.getElementById('living-said').textContent };"
    found = ask_browser(folder, script, tmp_path, address=address, width=DESK)
    assert found.value["at"] == address
    assert found.value["said"]
    assert found.console == []


@in_a_browser
def test_an_address_without_a_place_opens_where_it_hurts(folder: Path, tmp_path: Path) -> None:
    script = "return { at: location.hash, said: document.getElementById('living-said').textContent };"
    found = ask_browser(folder, script, tmp_path, address="#repaired&multiplier_width=shrinking", width=DESK)
    assert found.value["at"].startswith("#repaired&multiplier_width=shrinking&on=weakly-active&")
    assert found.value["said"].startswith("Refuted")


@in_a_browser
def test_a_mangled_address_does_no_harm(folder: Path, tmp_path: Path) -> None:
    script = "return { said: document.getElementById('living-said').textContent };"
    address = "#repaired&on=constructor&alpha=x&dual_term=<b>&see=toString&ramp_width"
    found = ask_browser(folder, script, tmp_path, address=address, width=PHONE)
    assert found.value["said"].startswith("Holds here")
    assert found.console == []


@in_a_browser
@pytest.mark.parametrize("dark", [False, True])
def test_every_tab_fits_from_the_smallest_phone_on_and_axe_finds_nothing(
    folder: Path, tmp_path: Path, *, dark: bool
) -> None:
    addresses = ("#as-written", "#repaired&see=variance", "#repaired&multiplier_width=shrinking&on=weakly-active",
                 "#repaired&inner_solver=averaged")  # fmt: skip
    visits = [Visit(f"{LIVING}{one}", width, audited=AXE.is_file()) for one in addresses for width in (320, DESK)]
    seen, console = visit(folder, visits, tmp_path, dark=dark)
    assert [(one.name, one.width, one.over, one.beyond) for one in seen if one.over > 0] == []
    assert {one.name: one.axe for one in seen if one.axe} == {}
    assert console == []
