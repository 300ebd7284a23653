"""Checks decided by sources, the paper's text and arithmetic: each can fail, on another work, number or problem."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import verify
from spec import load_claims
from spec.atlas import find as find_instance
from spec.text.extract import Passage, load_extract
from spec.works import find, load_works
from tests import kept
from verify.checks.experiments import printed_experiments
from verify.checks.measuring.case import checks
from verify.checks.measuring.extracted import orders_with
from verify.checks.text import background, related_rates
from verify.truth.geometry import quadratic_of
from verify.verdict import decide

CLAIMS = ("related-rates", "convergence-experiment", "scaling-experiment", "background")
REFUTED_AS_WRITTEN = {
    "related-rates", "related-rates/one-factor-gap", "related-rates/deterministic-optimum",
    "related-rates/zeroth-order-dimension", "related-rates/no-finite-time-method", "related-rates/three-kinds",
    "related-rates/follow-ups", "related-rates/penalty-constrained", "related-rates/momentum-rate",
    "related-rates/parent-dual-oracle", "related-rates/best-known",
    "convergence-experiment",
    "convergence-experiment/data", "convergence-experiment/bounded-below", "convergence-experiment/tests-the-bounds",
    "convergence-experiment/gradients-in-x", "scaling-experiment", "scaling-experiment/crossover",
    "scaling-experiment/growth", "scaling-experiment/fair-baseline",
    "convergence-experiment/symmetry", "convergence-experiment/parameters", "scaling-experiment/implied-exponent",
    "scaling-experiment/validates-theory",
}  # fmt: skip


def verdict(claim: str, reading: str, evidence) -> str:
    statement = next(s for c in load_claims().values() for full, s in c.statements() if full == claim)
    return str(decide(statement.assertion(reading).bound, evidence).verdict)


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_verdicts_as_computed(claim):
    report = kept.run([claim], profile="smoke")
    for result in (result for result in report.results if result.reading in ("as-written", "repaired")):
        expected = "SUPPORTED" if result.reading == "repaired" or result.claim not in REFUTED_AS_WRITTEN else "REFUTED"
        assert (result.claim, result.reading, str(result.verdict)) == (result.claim, result.reading, expected)
    mine = {name for name in REFUTED_AS_WRITTEN if name.partition("/")[0] == claim}
    assert {result.claim for result in report.results} >= mine


def test_nothing_is_asked_of_a_subject_and_what_is_left_open_has_no_check():
    for name in CLAIMS:
        for full, statement in load_claims()[name].statements():
            assert statement.about != "subject"
            if statement.left_open:
                assert full not in checks()
                assert statement.left_open.endswith(".")


@pytest.mark.parametrize("step", sorted(related_rates.COUNTS))
def test_every_count_of_works_turns_with_what_they_say(step, monkeypatch):
    """With every property of every work taken away, or all of them given to all, one side comes out otherwise."""
    monkeypatch.undo()
    works = load_works()
    silent = {name: work.model_copy(update={"properties": frozenset(), "rates": {}}) for name, work in works.items()}
    everything = frozenset().union(*(work.properties for work in works.values()))
    loud = {name: work.model_copy(update={"properties": everything}) for name, work in works.items() if work.looked_up}
    outcomes = set()
    for changed in (works, silent, loud):
        monkeypatch.setattr(related_rates, "load_works", lambda changed=changed: changed)
        monkeypatch.setattr(related_rates, "find", changed.__getitem__)
        pair = tuple(count.measured()[0].holds for count in related_rates.COUNTS[step])
        outcomes.add(pair)
    assert len(outcomes) > 1


def test_a_faster_later_rate_would_be_noticed(monkeypatch):
    works = dict(load_works())
    faster = {"stochastic-nonsmooth": {"epsilon": Fraction(-2), "goldstein_radius": Fraction(-1)}}
    works["later"] = find("cutkosky-2023").model_copy(update={"id": "later", "rates": faster})
    monkeypatch.setattr(related_rates, "load_works", lambda: works)
    written, repaired = related_rates.COUNTS["best-known"]
    assert not written.measured()[0].holds
    assert not repaired.measured()[0].holds


def test_works_that_were_not_read_are_never_counted():
    assert {"ghadimi-2018", "chen-2024-finding"}.isdisjoint(work.id for work in related_rates.read())
    assert [work.id for work in related_rates.among(related_rates.LISTED)()] == ["chen-2023", "yang-2023"]


def test_the_rate_of_a_squared_norm_counts_twice():
    report = kept.run(["related-rates/momentum-rate"], profile="smoke")
    (result,) = [r for r in report.results if (r.claim, r.reading) == ("related-rates/momentum-rate", "as-written")]
    assert result.measured == -3.0
    assert "E‖" not in result.sentence


@pytest.mark.parametrize("name", sorted(related_rates.FACTS))
def test_quoted_rates_are_those_of_works_that_the_statement_names(name):
    fact = related_rates.FACTS[name]
    assert fact.exponents == {k: float(v) for k, v in find(fact.work).rates[fact.rate].items()}
    assert fact.work in next(s for full, s in load_claims()["related-rates"].statements() if full == name).sources


def verdicts_by_reading(claim):
    report = verify.run([claim], profile="smoke")
    return [str(result.verdict) for result in report.results if result.claim == claim]


def test_constrained_has_two_readings_and_a_method_without_a_penalty_fits_neither(monkeypatch):
    claim = "related-rates/penalty-constrained"

    def told():
        report = verify.run([claim], profile="ci")
        return {result.reading: str(result.verdict) for result in report.results if result.claim == claim}

    holds = {"as-written": "REFUTED", "choose:constrained_by=solution": "SUPPORTED", "repaired": "SUPPORTED"}
    assert told() == holds
    works = dict(load_works())
    works["liu-2022"] = works["liu-2022"].model_copy(update={"properties": works["liu-2022"].properties - {"penalty"}})
    monkeypatch.setattr(related_rates, "load_works", lambda: works)
    assert set(told().values()) == {"REFUTED"}


def test_the_gap_is_what_the_papers_total_and_the_works_leave(monkeypatch):
    assert verdicts_by_reading("related-rates/one-factor-gap") == ["REFUTED", "SUPPORTED"]
    extract = load_extract()
    changed = tuple(
        one.model_copy(update={"powers": one.powers | {"ε": Fraction(-4)}}) if one.name == related_rates.TOTAL else one
        for one in extract.passages
    )
    monkeypatch.setattr(related_rates, "load_extract", lambda: extract.model_copy(update={"passages": changed}))
    assert verdicts_by_reading("related-rates/one-factor-gap") == ["SUPPORTED", "REFUTED"]


def test_an_optimum_needs_a_lower_bound_in_its_source(monkeypatch):
    assert verdicts_by_reading("related-rates/deterministic-optimum") == ["REFUTED", "SUPPORTED"]
    works = dict(load_works())
    works["zhang-2020"] = works["zhang-2020"].model_copy(
        update={"properties": works["zhang-2020"].properties | {"lower-bound"}}
    )
    works["cutkosky-2023"] = works["cutkosky-2023"].model_copy(
        update={"properties": works["cutkosky-2023"].properties - {"lower-bound"}}
    )
    monkeypatch.setattr(related_rates, "find", works.__getitem__)
    assert verdicts_by_reading("related-rates/deterministic-optimum") == ["SUPPORTED", "SUPPORTED"]
    assert verdicts_by_reading("related-rates") == ["REFUTED", "REFUTED"]


def test_a_smooth_point_has_no_jump():
    kink = find_instance("kink")
    assert background.largest_jump(quadratic_of(kink.problem), (Fraction(0),)) == 2
    assert background.largest_jump(quadratic_of(kink.problem), (Fraction(-1, 2),)) == 0
    evidence = (background.compare("jump", 0.0, ">=", 1.0),)
    assert verdict("background/nonsmooth", "as-written", evidence) == "REFUTED"


def test_the_other_curvature_keeps_the_first_derivatives():
    instance = find_instance("interior")
    problem = quadratic_of(instance.problem)
    same = background.with_other_curvature(problem, instance.x, 1)
    assert same.arrays.g_y.tolist() == problem.arrays.g_y.tolist()
    other = background.with_other_curvature(problem, instance.x, 3)
    y = [float(v) for v in background.lower_level.solve(problem, instance.x).y_star]
    slopes = [p.arrays.g_yy @ y + p.arrays.g_y for p in (problem, other)]
    assert slopes[0] == pytest.approx(slopes[1])


def test_a_box_with_a_row_twice_has_dependent_rows():
    box = quadratic_of(find_instance("experiment-1d").problem)
    assert all(rank == count for count, rank in printed_experiments.ranks(box))
    data = box.to_dict()
    data["constraints"] = {"A": [[0], [0], [0]], "B": [[1], [-1], [1]], "b": [1, 1, 1]}
    assert max(count - rank for count, rank in printed_experiments.ranks(quadratic_of(verify_problem(data)))) == 1


def verify_problem(data):
    from spec.problem import parse_problem

    return parse_problem(data)


def test_the_printed_times_imply_less_than_one_power(monkeypatch):
    gaps = printed_experiments.implied_gaps()
    assert gaps == pytest.approx({"DSBLO": math.log(22.6 / 7.7, 4), "SSIGD": math.log(22 / 7.7, 4)})
    # Exactly: r < 4^(4/5) as integers.
    assert all(ratio**5 < 4**4 for ratio in printed_experiments.printed_ratios().values())
    cubic = {"F2CSA": Fraction(1), "DSBLO": Fraction(16), "SSIGD": Fraction(64)}
    monkeypatch.setattr(printed_experiments, "SECONDS", cubic)
    assert printed_experiments.implied_gaps() == pytest.approx({"DSBLO": 2.0, "SSIGD": 3.0})
    assert float(max(abs(r - 3) for r in printed_experiments.printed_ratios().values())) > 0.5


def test_a_bound_with_the_dimension_would_be_found(monkeypatch):
    extract = load_extract()
    assert orders_with(extract, printed_experiments.DIMENSIONS)[0] == []
    assert len(orders_with(extract, ("α",))[0]) > 5
    planted = [
        Passage(kind="order", line=9, name="N_g", says="O", place=place, powers={"d": Fraction(1)})
        for place in ("lem:inner-cost", "proof of lem:inner-cost", "section Related Work", "alg:hypergradient_oracle")
    ]
    whole = extract.model_copy(update={"passages": (*extract.passages, *planted)})
    assert orders_with(whole, ("d",))[0] == planted[:2]
    monkeypatch.setattr(printed_experiments, "load_extract", lambda: whole)
    report = verify.run(["scaling-experiment/validates-theory"], profile="smoke")
    assert [str(result.verdict) for result in report.results] == ["SUPPORTED", "REFUTED"]
    monkeypatch.setattr(printed_experiments, "load_extract", lambda: extract.model_copy(update={"passages": ()}))
    report = verify.run(["scaling-experiment/validates-theory"], profile="smoke")
    assert [str(result.verdict) for result in report.results] == ["REFUTED", "REFUTED"]


def test_a_printed_value_more_is_one_missing_less(monkeypatch):
    monkeypatch.setattr(printed_experiments, "PRINTED", dict.fromkeys(printed_experiments.INPUTS, Fraction(1)))
    report = verify.run(["convergence-experiment/parameters"], profile="smoke")
    assert [str(result.verdict) for result in report.results] == ["SUPPORTED", "REFUTED"]
