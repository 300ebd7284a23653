"""report.json and evidence.json: together they are the report, apart they say so."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.errors import InvalidInputError
from tests.verify.campaign.baseline.reports import exact, level, rate, result
from tests.verify.campaign.baseline.reports import report as report_of
from verify.cli.implementations.exports import schemas
from verify.report.formats.data_files import BULKY, EVIDENCE, FILE, REQUIRED, data_files, rejoined
from verify.report.model import FIRST_SCHEMA, SCHEMA
from verify.report.report_files import Report, report_schema

EVIDENCES = st.lists(
    st.one_of(
        st.builds(rate, st.floats(0, 1e9), st.floats(-5, 5)),
        st.builds(level, st.floats(allow_nan=False)),
        st.just(exact()),
    ),
    max_size=3,
)


def test_both_files_together_are_the_report(report: Report) -> None:
    files = data_files(report)
    assert list(files) == [FILE, EVIDENCE]
    again = rejoined(Report.model_validate_json(files[FILE]), files[EVIDENCE])
    assert again == report.timeless
    assert not again.lacks_evidence
    assert data_files(again) == files


@given(st.lists(EVIDENCES, max_size=4), st.sampled_from([None, 1.0, -0.0, math.inf, -math.inf]))
def test_whatever_was_measured_comes_back(evidences: list[list[Any]], measured: float | None) -> None:
    results = [result(*one, instance=f"i{k}", measured=measured) for k, one in enumerate(evidences)]
    made = report_of(*results)
    files = data_files(made)
    assert rejoined(Report.model_validate_json(files[FILE]), files[EVIDENCE]) == made.timeless


def test_the_report_holds_no_bulk_and_a_result_a_line(report: Report) -> None:
    text = data_files(report)[FILE]
    data = json.loads(text)
    assert data["schema"] == SCHEMA
    assert not any(name in row for row in data["results"] for name in BULKY)
    assert all(value not in (None, "", [], {}) for row in data["results"] for name, value in row.items()
               if name not in REQUIRED)  # fmt: skip
    assert sum(line.startswith('  {"claim"') for line in text.splitlines()) == len(report.results) + len(report.summary)
    assert all("verdict" in row for row in data["results"])
    # A row of the summary has every field.
    assert len({tuple(row) for row in data["summary"]}) == 1


def test_both_keep_to_their_schemas(report: Report) -> None:
    files = data_files(report)
    for text, schema in ((files[FILE], report_schema()), (files[EVIDENCE], schemas()["evidence"])):
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(json.loads(text), schema)


def test_a_report_alone_knows_what_it_lacks_and_is_not_written_again(report: Report, tmp_path: Path) -> None:
    alone = Report.model_validate_json(data_files(report)[FILE])
    assert alone.lacks_evidence
    assert [one.verdict for one in alone.results] == [one.verdict for one in report.results]
    assert alone.summary == report.summary
    with pytest.raises(InvalidInputError, match=r"report: must have its evidence\.json beside it"):
        alone.write(tmp_path)
    assert not list(tmp_path.iterdir())


def _digested(report: str, evidence: str) -> Report:
    data = json.loads(report)
    data["evidence_file"]["sha256"] = hashlib.sha256(evidence.encode()).hexdigest()
    return Report.model_validate_json(json.dumps(data))


def test_the_evidence_of_another_report_is_refused(report: Report) -> None:
    files = data_files(report)
    read = Report.model_validate_json(files[FILE])
    with pytest.raises(InvalidInputError, match=r"must lie beside the evidence\.json it was written with"):
        rejoined(read, files[EVIDENCE] + "\n")
    data = json.loads(files[EVIDENCE])
    stranger = json.dumps(data | {"results": [data["results"][0] | {"instance": "elsewhere"}]})
    twice = json.dumps(data | {"results": data["results"][:1] * 2})
    for text in (stranger, twice):
        with pytest.raises(InvalidInputError, match=r"evidence\.json: must hold results of report\.json, each once"):
            rejoined(_digested(files[FILE], text), text)
    other = json.dumps(data | {"schema": "f2csa-evidence/9"})
    with pytest.raises(InvalidInputError, match="must have the schema f2csa-evidence/1; got f2csa-evidence/9"):
        rejoined(_digested(files[FILE], other), other)
    with pytest.raises(InvalidInputError, match=r"evidence\.json"):
        rejoined(_digested(files[FILE], "{"), "{")


def test_a_report_of_the_first_schema_is_read_and_written_as_one_of_this(report: Report) -> None:
    held = json.loads(report.timeless.model_dump_json(by_alias=True))
    held["schema"] = FIRST_SCHEMA
    del held["evidence_file"]
    old = Report.model_validate_json(json.dumps(held))
    assert not old.lacks_evidence
    assert data_files(old) == data_files(report)
