"""Baselines survive the disk, and nothing else is taken for one or overwritten by one."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from spec.errors import InvalidInputError
from tests.verify.campaign.baseline.reports import exact, level, rate, report, result
from verify.campaign.baseline.model import Baseline, Selection, replay
from verify.campaign.baseline.storage import (
    RECORD,
    dumps,
    load,
    load_report,
    refuse_to_overwrite,
    shipped_record,
    store,
)
from verify.campaign.plan import plan
from verify.checks.measuring.case import PROFILES, find_profile
from verify.cli.implementations.exports import schemas
from verify.report.formats.data_files import data_files
from verify.report.report_files import render_json
from verify.verdict import Verdict

ZERO = rate(0.0, points=(), exponent=math.inf, interval=(math.inf, math.inf))
FULL = report(
    result(rate(), exact(), level(), rung="certified"),
    result(ZERO, instance="toy2"),
    result(instance="a-zero", verdict=Verdict.NOT_APPLICABLE, rung=None),
    result(instance="thin", verdict=None),
    subject_version="1.2",
)


def test_a_baseline_reads_back_as_it_was_and_keeps_to_its_schema(tmp_path: Path) -> None:
    kept = Baseline.of(FULL)
    path = tmp_path / "new" / "b.json"
    store(kept, path)
    assert load(path) == kept
    text = path.read_text()
    assert "NaN" not in text
    assert '"Infinity"' in text
    Draft202012Validator(schemas()["baseline"]).validate(json.loads(text))
    assert (kept.subject_version, len(kept.results)) == ("1.2", 3)
    assert sum(line.startswith('  {"claim"') for line in text.splitlines()) == 3
    assert [p.name for p in path.parent.iterdir()] == ["b.json"]


def test_a_report_and_a_record_of_verdicts_are_baselines_too(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(render_json(FULL))
    assert load(path) == Baseline.of(FULL)
    assert load_report(tmp_path, "x") == FULL.timeless
    path.write_text('{"bias-bound/T3|repaired|toy1": "SUPPORTED"}')
    found = load(path)
    assert (found.verdicts_only, found.verdicts) == (True, {"bias-bound/T3|repaired|toy1": "SUPPORTED"})


def test_a_record_of_verdicts_is_a_baseline_without_numbers(tmp_path: Path) -> None:
    store(Baseline.of(FULL).bare, tmp_path / "r.json")
    bare = load(tmp_path / "r.json")
    assert (bare.verdicts_only, bare.verdicts) == (True, Baseline.of(FULL).verdicts)
    assert not any(entry.rung or entry.sweeps or entry.levels for entry in bare.results)
    assert "quantity" not in (tmp_path / "r.json").read_text()


def test_the_shipped_record_is_a_baseline_of_the_reference() -> None:
    shipped = load(Path(str(RECORD)))
    assert (shipped.subject, shipped.profile, shipped.verdicts_only) == ("reference", "ci", True)
    assert shipped.verdicts == shipped_record()


GOOD = json.loads(dumps(Baseline.of(FULL)))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not valid JSON"),
        (b"\xff\x00", "must be UTF-8 text"),
        (b"[1]", "must be a report.json or a recorded baseline"),
        (b"{}", "must hold at least one verdict"),
        (b'{"a|b|c": "MAYBE"}', "must be a report.json or a recorded baseline"),
        (b'{"a": "SUPPORTED"}', "must be a report.json or a recorded baseline"),
        (b'{"schema": "f2csa-baseline/9", "results": []}', "must have the schema f2csa-baseline/1"),
        (b'{"results": [1]}', "must hold results with claim, reading, instance and verdict"),
        (json.dumps(GOOD | {"results": []}).encode(), "must hold at least one"),
        (json.dumps(GOOD | {"results": GOOD["results"] * 2}).encode(), "the same result twice"),
        (json.dumps(GOOD | {"profile": "fast"}).encode(), "baseline.profile"),
        (json.dumps(GOOD | {"extra": 1}).encode(), "baseline.extra"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_other_files_are_refused_in_one_line(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=says) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_a_path_that_leads_nowhere_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read \\(No such file or directory\\)"):
        load(tmp_path / "nothing.json")
    with pytest.raises(InvalidInputError, match="cannot be read \\(Is a directory\\)"):
        load(tmp_path)


SWEEP = json.loads(Baseline.of(report(result(rate(), level()))).model_dump_json(by_alias=True))


@pytest.mark.parametrize(
    ("kind", "field", "value", "says"),
    [
        ("sweeps", "exponent", 2.5, "must lie in its interval"),
        ("sweeps", "exponent", "NaN", "must lie in its interval"),
        ("sweeps", "exponent", "Infinity", "must lie in its interval"),
        ("sweeps", "interval", [3.0, 1.0], "must begin before it ends"),
        ("sweeps", "interval", ["NaN", "NaN"], "must lie in its interval"),
        ("sweeps", "measured", ["NaN"] * 5, "finite"),
        ("sweeps", "uncertainty", [-1.0] * 5, "greater than or equal to 0"),
        ("sweeps", "coefficient", "Infinity", "finite"),
        ("sweeps", "samples", -1, "greater than or equal to 0"),
        ("levels", "tolerance", "Infinity", "finite"),
        ("levels", "error_rate", 1.5, "less than or equal to 1"),
        ("levels", "measured", 9.0, "must be <= 2 where the verdict is SUPPORTED"),
        ("levels", "measured", "NaN", "must be <= 2 where the verdict is SUPPORTED"),
    ],
)
def test_numbers_no_run_records(kind: str, field: str, value: Any, says: str, tmp_path: Path) -> None:
    made = copy.deepcopy(SWEEP)
    made["results"][0][kind][0][field] = value
    path = tmp_path / "file.json"
    path.write_text(json.dumps(made))
    with pytest.raises(InvalidInputError, match=says) as caught:
        load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["claim", "reading", "instance"])
def test_names_do_not_hold_what_separates_them(field: str, tmp_path: Path) -> None:
    made = copy.deepcopy(SWEEP)
    made["results"][0][field] = "a|b"
    (tmp_path / "file.json").write_text(json.dumps(made))
    with pytest.raises(InvalidInputError, match=f"baseline.results.0.{field}"):
        load(tmp_path / "file.json")


def test_a_report_of_every_profile_is_recorded() -> None:
    for profile in PROFILES:
        assert Baseline.of(report(result(rate()), profile=profile)).profile == profile


def test_only_baselines_are_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    refuse_to_overwrite(path, force=False)
    store(Baseline.of(FULL), path)
    refuse_to_overwrite(path, force=False)
    for content in (render_json(FULL), "my notes"):
        path.write_text(content)
        with pytest.raises(InvalidInputError, match="--out: must not be a file that holds something else"):
            refuse_to_overwrite(path, force=False)
        refuse_to_overwrite(path, force=True)
    with pytest.raises(InvalidInputError, match="not a folder"):
        refuse_to_overwrite(tmp_path, force=True)


def test_a_selection_is_what_a_run_of_it_produces() -> None:
    both = Selection(claims=("bias-bound",), readings=("as-written", "repaired"), instances=("toy1",))
    alone = result(claim="bias-bound/T3", reading="only:dual_term", instance="toy1")
    elsewhere = result(claim="bias-bound/T3", reading="repaired", instance="toy2")
    other = result(claim="solution-error", reading="repaired", instance="toy1")
    assert both.of([alone, elsewhere, other]) == (alone,)
    assert Selection(readings=("repaired",)).narrow(Baseline.of(FULL)) == Baseline.of(FULL)
    assert Selection(claims=("solution-error",)).narrow(Baseline.of(FULL)) is None


def test_a_replay_asks_for_what_was_recorded() -> None:
    one = Baseline.of(report(result()))
    assert replay(one) == Selection(("bias-bound/T3",), ("repaired",), ("toy1",))
    # Naming every claim would also run what a smoke run leaves out.
    tasks = plan([], ["repaired"], [], find_profile("smoke"), "", 0)
    smoke = [result(claim=task.claim, instance=task.instance) for task in tasks]
    assert replay(Baseline.of(report(*smoke, profile="smoke"))) == Selection((), ("repaired",), ())
    gone = Baseline.of(report(result(claim="no-such-claim")))
    assert replay(gone).claims == ()


def test_a_report_alone_is_compared_by_verdicts_and_with_its_evidence_by_numbers(tmp_path: Path) -> None:
    for name, text in data_files(FULL).items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "report.json"
    assert load(path) == Baseline.of(FULL)
    assert load_report(tmp_path, "x", "see") == FULL.timeless
    (tmp_path / "evidence.json").unlink()
    assert load(path).verdicts_only
    assert load(path).verdicts == Baseline.of(FULL).verdicts
    assert load_report(path, "x").lacks_evidence
    with pytest.raises(InvalidInputError, match=r"x: must have its evidence\.json beside it, to see"):
        load_report(path, "x", "see")
    (tmp_path / "evidence.json").write_text("{}")
    for read in (load, load_report):
        with pytest.raises(InvalidInputError, match="x: must lie beside"):
            read(path, "x")
