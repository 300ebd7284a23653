"""The files: what machines read of a report."""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from rich.console import Console

from spec.errors import InvalidInputError
from verify.cli.output.folder import FILES
from verify.report.formats.junit import render_junit
from verify.report.formats.markdown import render_markdown
from verify.report.formats.terminal import summary_table
from verify.report.report_files import Report, render_json, report_schema, write
from verify.verdict import Verdict


def cases(report: Report) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(render_junit(report).encode())
    return {case.get("name", ""): case for case in root.iter("testcase")}


def test_json_reads_back_as_the_same_report(report: Report) -> None:
    again = Report.model_validate_json(render_json(report))
    assert again.results == report.timeless.results
    assert again.summary == report.summary


def test_json_keeps_to_its_schema_with_infinities_as_strings(report: Report) -> None:
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    data = json.loads(render_json(report), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    jsonschema.validate(data, schema)
    assert data["schema"] == "f2csa-report/2"
    assert any(result["measured"] == "Infinity" for result in data["results"])
    data["seed"] = "not a number"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema)


def test_junit_fails_only_what_differs_from_the_record(report: Report) -> None:
    made = cases(report)
    failed = [name for name, case in made.items() if case.find("failure") is not None]
    assert failed == ["bias-bound [repaired] toy1"]
    errors = [name for name, case in made.items() if case.find("error") is not None]
    assert errors == ["solution-error [as-written] toy1"]
    assert made["bias-bound [as-written] toy1"].find("skipped") is None
    assert made["bias-bound/T3 [as-written] toy2"].find("skipped").get("message").startswith("vacuous: ")
    assert made["goldstein-convergence"].find("skipped").get("message") == "not checked yet"


def test_junit_counts_agree_with_its_cases(report: Report) -> None:
    root = ElementTree.fromstring(render_junit(report).encode())
    for element in (root, *root.findall("testsuite")):
        inside = list(element.iter("testcase"))
        assert int(element.get("tests")) == len(inside)
        assert int(element.get("failures")) == sum(case.find("failure") is not None for case in inside)
        assert int(element.get("skipped")) == sum(case.find("skipped") is not None for case in inside)
    assert {suite.get("name") for suite in root} >= {"bias-bound", "solution-error", "variance-bound"}


def test_junit_hides_neither_findings_without_a_result_nor_interruption(report: Report) -> None:
    expected = tuple(result.model_copy(update={"expected": True}) for result in report.results)
    made = cases(report.model_copy(update={"results": expected, "complete": False}))
    assert made["agrees with the verdicts on record"].find("failure") is not None
    assert made["ran to its end"].find("error") is not None


def test_junit_survives_control_characters(report: Report) -> None:
    odd = report.results[0].model_copy(update={"fault": "\x00\x1b[31m & <boom> \ud800", "verdict": None})
    made = cases(report.model_copy(update={"results": (odd,), "summary": ()}))
    assert "<boom>" in next(iter(made.values())).find("error").get("message")


def test_junit_names_drifts_beside_changed_verdicts(report: Report) -> None:
    drifted = "variance-bound [as-written] on toy1: its constant is off by 10 %"
    made = cases(report.model_copy(update={"findings": (*report.findings, drifted)}))
    failed = [name for name, case in made.items() if case.find("failure") is not None]
    assert failed == ["bias-bound [repaired] toy1", "agrees with the numbers on record"]
    assert made["agrees with the numbers on record"].find("failure").text == drifted


def test_markdown_opens_with_what_needs_attention_and_folds_the_rest(report: Report, claims: dict) -> None:
    from verify.report.formats.markdown import render_markdown as render

    text = render(report.model_copy(update={"changes": ("a note",)}), claims)
    assert "| **Bias of the hypergradient** `bias-bound` | ✗ refuted | ∎ supported, proven |" in text
    assert "*· not checked yet*" in text
    order = ["## Findings", "## Faults", "no answer within 10 s", "## Verdicts", "<summary>Proof steps", "- a note",
             "<summary>Refuted as written"]  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    refuted = text[places[-1] :]
    assert "`bias-bound/T1`, as written" in refuted
    assert "  f2csa verify bias-bound --reading as-written --instance toy1 --seed 0" in refuted
    assert text.count("<details>") == text.count("</details>") > 2
    assert "| `bias-bound/T1` | proven in part | residual.stop_error " in text
    assert "not re-checked here" in text
    assert len(text) < 12_000


def test_markdown_fits_the_summary_page_of_a_job_whatever_the_report_holds(report: Report, claims: dict) -> None:
    from verify.report.formats.markdown import render_markdown as render

    long = "finding " * 5000
    rows = [row.model_copy(update={"sentence": f"{k} " + "ε" * 4000, "claim": f"x{k}/y", "status": Verdict.REFUTED})
            for k in range(400) for row in report.summary[:1]]  # fmt: skip
    huge = report.model_copy(
        update={"findings": (long,) * 3000, "changes": (long,) * 3000, "summary": (*report.summary, *rows)}
    )
    text = render(huge, claims)
    assert len(text.encode()) < 1024 * 1024
    assert "and 2900 more" in text
    assert "and more, in report.html" in text
    assert text.count("<details>") == text.count("</details>")
    assert text.count("```") % 2 == 0
    assert text.rstrip().endswith("</details>")


def test_markdown_lists_the_closed_forms(report: Report, claims: dict) -> None:
    text = render_markdown(report, claims)
    section = text[text.index("<summary>Closed forms</summary>") :]
    line = r"- `bias-bound`, repaired, on toy1: norm of the bias = \|−α²/(1 + α²)\| = α²/(1 + α²)"
    assert line in section.splitlines()
    assert "(first terms), which this subject leaves" in section


def test_markdown_escapes_what_would_be_markup(report: Report) -> None:
    odd = report.model_copy(update={"findings": ("a | b <script> `c`",)})
    assert r"a \| b \<script\> \`c\`" in render_markdown(odd)


def test_the_terminal_shows_claims_and_indented_steps(report: Report, claims: dict) -> None:
    stream = io.StringIO()
    Console(file=stream, width=120, color_system=None).print(summary_table(report, claims))
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert any(line.startswith("bias-bound ") and "✗ refuted" in line for line in lines)
    assert any(line.startswith("  T1 ") for line in lines)
    assert any("· not checked yet" in line for line in lines)


def test_the_terminal_takes_odd_names_literally(report: Report) -> None:
    odd = report.results[0].model_copy(update={"claim": "[red]x[nonsense]"})
    stream = io.StringIO()
    table = summary_table(report.model_copy(update={"results": (odd,), "summary": ()}))
    Console(file=stream, width=120).print(table)
    assert "[red]x[nonsense]" in stream.getvalue()


def test_write_makes_the_files(report: Report, tmp_path: Path) -> None:
    part = report.model_copy(update={"results": report.results[:2]})
    written = write(part, tmp_path / "made" / "here")
    assert sorted(path.name for path in written if path.parent.name == "here") == sorted(FILES)
    pages = {path.name for path in written if path.parent.name == "pages"}
    assert pages >= {"matrix.html", "bias-bound.html", "glossary.html", "style.css", "site.js"}
    assert all(path.stat().st_size > 100 for path in written)


def test_write_names_the_argument_where_it_cannot(report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInputError, match="--out: must be a writable folder"):
        write(report.model_copy(update={"results": ()}), tmp_path / "file")
