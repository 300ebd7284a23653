"""Consistency of the paper's text: each step's count is of its own contradictions, and any text can fail or pass it."""

from __future__ import annotations

from collections import Counter

import pytest

import verify
from spec import load_claims
from spec.text.assertions import load_assertions
from spec.text.extract import Extract, corrected_extract, load_extract
from verify.checks.measuring.case import checks
from verify.checks.text.consistency import EVERYTHING, STEPS, UNUSED, counted
from verify.evidence.model import agrees
from verify.proofs.paper.linting import RULES, lint


@pytest.fixture(scope="module")
def verdicts():
    report = verify.run(["consistency"], readings=["as-written", "repaired"])
    assert not report.faults
    return {(result.claim, result.reading): result for result in report.results}


def test_a_contradiction_stands_beside_the_sentences_that_make_it_and_no_other():
    extract = load_extract()
    beside = [
        (entry, full.removeprefix("consistency/"))
        for entry in load_assertions().assertions if entry.quote
        for full in entry.covered_by if full.startswith("consistency/")
    ]  # fmt: skip
    lines = {step: {finding.line for finding in compared.findings(extract)} for step, compared in STEPS.items()}
    for entry, step in beside:
        first, last = entry.quote.lines
        assert any(first <= line <= last for line in lines[step]), (entry.number, step)
    # Each is told at one of the places where it stands, or, being about letters, among the notes on notation.
    told = {step for _, step in beside}
    noted = {full for entry in load_assertions().assertions if not entry.quote for full in entry.covered_by}
    assert {step for step in STEPS if lines[step] and step not in told and f"consistency/{step}" not in noted} == {
        step.id for step in load_claims()["consistency"].steps if step.beside and lines[step.id]
    }


def test_every_step_has_its_check_and_every_check_its_step():
    ids = {full_id for full_id, _ in load_claims()["consistency"].statements()}
    assert ids == {"consistency", *(f"consistency/{step}" for step in STEPS)}
    assert ids <= set(checks())


def test_steps_share_out_all_findings():
    assert {rule for compared in STEPS.values() for rule in compared.rules} == set(RULES) - {UNUSED}
    whole = Counter((one.rule, one.line, one.subject) for one in EVERYTHING.findings(load_extract()))
    parts: Counter[tuple[str, int, str]] = Counter()
    for compared in STEPS.values():
        parts += Counter((one.rule, one.line, one.subject) for one in compared.findings(load_extract()))
    assert parts == whole
    assert len(whole) == len([one for one in lint(load_extract()) if one.rule != UNUSED])


def test_verdicts_under_both_readings(verdicts):
    for claim in {claim for claim, _ in verdicts}:
        expected = "SUPPORTED" if claim == "consistency/labels" else "REFUTED"
        assert verdicts[claim, "as-written"].verdict == expected, claim
        assert verdicts[claim, "repaired"].verdict == "SUPPORTED", claim


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("attributions", ("assumption:smoothness (iii)", "lemma:bias_bound")),
        ("parts", ("Part 1", "term 2")),
        ("accuracy-and-radius", ("δ", "radius", "inner accuracy")),
        ("iterates-and-means", ("x_t", "x_k")),
        ("random-draws", ("ζ",)),
        ("pair-order", ("Goldstein", "7 other places")),
        ("solver-names", ("SGD", "primal-dual", "SVRG")),
        ("schedule-powers", ("L_F^-2", "L_F^-4")),
        ("outer-calls", ("Θ", "L_F^2")),
        ("curvature", ("Ω(α·μ_g)",)),
        ("upper-bounds", ("both sides",)),
    ],
)
def test_findings_are_quoted_with_their_lines(step, words):
    measurement = counted(load_extract(), STEPS[step], "q")
    told = " ".join(f"{key} {value}" for key, value in measurement.values.items())
    assert all(word in told for word in words), told
    assert "line " in told


@pytest.mark.parametrize("step", STEPS)
def test_without_passages_nothing_is_supported(step):
    empty = Extract(sha256="0" * 64, lines=1, passages=())
    numbers = counted(empty, STEPS[step], "q").evidence
    assert not all(agrees(item.measured, item.relation, item.predicted, 0.0) for item in numbers)


@pytest.mark.parametrize("step", [step for step in STEPS if step != "labels"])
def test_each_correction_is_needed(step):
    """With the passages of one step as they stand and all others corrected, that step fails."""
    from spec.files import package_text, parse_toml
    from spec.text.extract import Corrections, correct

    corrections = parse_toml(Corrections, package_text("paper/corrections.toml"), "corrections").corrections
    others = correct(load_extract(), tuple(one for one in corrections if one.step != step))
    assert {one.step for one in corrections} <= set(STEPS)
    assert STEPS[step].findings(others)
    assert not STEPS[step].findings(corrected_extract())


def test_a_doubled_and_a_missing_label_are_seen():
    extract = load_extract()
    label = next(extract.of("label"))
    twice = extract.model_copy(update={"passages": (*extract.passages, label.model_copy(update={"line": 900}))})
    assert STEPS["labels"].findings(twice)
    reference = next(extract.of("reference")).model_copy(update={"name": "nowhere"})
    assert STEPS["labels"].findings(extract.model_copy(update={"passages": (*extract.passages, reference)}))


def test_a_theta_is_found_where_a_bound_from_one_side_was_derived_and_nowhere_else():
    found = {one.subject: (one.here.says, one.there.says) for one in lint(load_extract(), ["order-letters"])}
    assert found == {"δ^-1·ε^-5": ("Θ", "O\u0303"), "μ": ("Θ", "≥"), "T": ("Θ", "O"), "η": ("Θ", "O")}
    assert lint(corrected_extract(), ["order-letters"]) == []
