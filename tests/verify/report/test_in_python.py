"""A report in Python: by claim, as records, as a data frame, in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import verify
from spec.claims import find
from tests import kept
from verify.report.model import NAMED
from verify.report.report_files import POINT, Report


@pytest.fixture(scope="module")
def found() -> Report:
    return kept.run(["bias-bound"], profile="smoke")


def test_a_statement_is_found_by_its_id_with_both_readings_and_all_instances(found: Report) -> None:
    third = found["bias-bound/T3"]
    assert {result.claim for result in third.results} == {"bias-bound/T3"}
    assert {row.reading for row in third.summary} == {*NAMED, *find("bias-bound/T3").literal_readings}
    asked = {(result.reading, result.instance) for result in found.results if result.claim == "bias-bound/T3"}
    assert {(result.reading, result.instance) for result in third.results} == asked
    assert len({instance for _, instance in asked}) > 1
    assert "bias-bound/T3" in found
    assert third["bias-bound/T3"] == third


def test_a_claim_brings_its_steps_as_in_a_run(found: Report) -> None:
    whole = found["bias-bound"]
    assert whole.results == found.results
    assert "bias-bound" in whole
    assert "bias-bound" in found["bias-bound/T3"]


def test_an_unknown_id_is_a_key_error_that_names_near_ones(found: Report) -> None:
    with pytest.raises(KeyError, match=r"bias-bound/T33: no claim or step of this report; did you mean .*/T3"):
        found["bias-bound/T33"]
    with pytest.raises(KeyError, match=r"zzz: no claim or step of this report; it holds \d+ others"):
        found["zzz"]
    assert "zzz" not in found
    assert 3 not in found


def test_records_hold_the_points_of_the_sweeps(found: Report) -> None:
    for row, result in zip(found.records(), found.results, strict=True):
        sweeps = [item for item in result.evidence if item.kind == "rate"]
        assert len(row["points"]) == sum(len(rate.points) for rate in sweeps)
        assert row["points"] == result.points
        assert all(tuple(result.named | point) == POINT for point in row["points"])
    (toy,) = (r for r in found["bias-bound/T3"].results if (r.reading, r.instance) == ("as-written", "toy1"))
    first = toy.points[0]
    assert (first["quantity"], first["variable"], first["at"]) == ("T₃", "alpha", 0.1)
    assert first["measured"] == pytest.approx(99.99009900990099)


def test_a_data_frame_has_a_row_a_result_or_a_row_a_point(found: Report) -> None:
    pytest.importorskip("pandas", reason="pandas is optional; this runs where it is installed")
    frame = found.to_pandas()
    assert len(frame) == len(found.results)
    assert list(frame["claim"]) == [result.claim for result in found.results]
    points = found.to_pandas(points=True)
    assert tuple(points.columns) == POINT
    assert len(points) == sum(len(result.points) for result in found.results)
    assert list(found["bias-bound/T3"].to_pandas(points=True)["at"][:2]) == [0.1, 0.05]


def test_without_pandas_one_line_says_so(found: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"^to_pandas needs pandas: pip install pandas$"):
        found.to_pandas()


def test_representations_are_one_short_line(found: Report) -> None:
    for thing in (found, *found.results, *found.summary, found["bias-bound/T3"]):
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 300
    assert repr(found).startswith("<Report of reference, profile smoke, seed 20240913: ")
    (toy,) = (r for r in found["bias-bound/T3"].results if (r.reading, r.instance) == ("as-written", "toy1"))
    assert repr(toy) == "<Result bias-bound/T3 [as-written] on toy1: REFUTED, T₃: -2 (certified)>"
    crashed = toy.model_copy(update={"verdict": None, "fault": "x", "measured": None, "rung": None})
    assert repr(crashed) == "<Result bias-bound/T3 [as-written] on toy1: FAULT>"
    partial = found.model_copy(update={"results": (crashed,), "summary": (), "complete": False})
    assert repr(partial).endswith(": 1 results, 1 of them faults on 1 statement, not complete>")


def test_a_written_report_is_loaded_again(found: Report, tmp_path: Path) -> None:
    found.write(tmp_path)
    for where in (tmp_path, str(tmp_path / "report.json")):
        # As text: an exponent that no sweep gave is NaN, which equals nothing.
        assert verify.load_report(where).model_dump_json() == found.timeless.model_dump_json()


def test_the_public_names_are_listed_before_anything_is_imported() -> None:
    code = "import verify; print(*sorted(set(verify.__all__) - set(dir(verify))), len(dir(verify)) > 5)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert set(verify.__all__) <= set(dir(verify))
    for name in verify.__all__:
        assert getattr(verify, name) is not None
    assert not [name for name in dir(verify) if name.startswith("_") and not name.startswith("__")]
