"""Plots to take away: an SVG that needs no page, a PDF with its fonts, the same bytes for the same report."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

import pytest
from markupsafe import Markup

from spec.errors import InvalidInputError
from spec.files import write_files
from tests.verify.report.formats.test_experiment_page import FOUND
from tests.verify.report.site.story_reports import FELL, both, report
from verify.report.formats.experiment_page import files
from verify.report.formats.take_away import as_pdf, as_svg, plots_of
from verify.report.site.frame import SiteFrame


@pytest.fixture(scope="module")
def plots() -> dict[str, str | bytes]:
    return plots_of(SiteFrame.of(report(both("bias-bound/T3", FELL, -2.0))))


def contents(pdf: bytes) -> bytes:
    """What a PDF's streams say."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.S)
    found = []
    for stream in streams:
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:
            found.append(stream)
    return b"\n".join(found)


def test_each_statement_that_is_drawn_has_both_files(plots: dict[str, str | bytes]) -> None:
    assert set(plots) == {"bias-bound.T3.svg", "bias-bound.T3.pdf"}
    assert plots == plots_of(SiteFrame.of(report(both("bias-bound/T3", FELL, -2.0))))


def test_the_svg_stands_alone(plots: dict[str, str | bytes]) -> None:
    text = plots["bias-bound.T3.svg"]
    assert isinstance(text, str)
    assert text.startswith("<!-- f2csa-verify -->")
    root = ET.fromstring(text.partition("\n")[2])
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    style = root.findtext("{http://www.w3.org/2000/svg}style") or ""
    assert ".s-bad{stroke:#" in style
    assert "var(" not in text
    used = {name for each in root.iter() for name in each.get("class", "").split()} - {"slopes"}
    assert {name for name in used if f".{name}{{" not in style} == set()


def test_the_pdf_draws_every_shape_and_word(plots: dict[str, str | bytes]) -> None:
    pdf, svg = plots["bias-bound.T3.pdf"], plots["bias-bound.T3.svg"]
    assert isinstance(pdf, bytes)
    assert isinstance(svg, str)
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf
    assert b"/Creator (f2csa-verify)" in pdf
    inside = contents(pdf)
    lines, dots = svg.count('<path class="s-'), svg.count('<path class="p-') + svg.count("<circle")
    assert lines >= 2
    assert inside.count(b" m\n") + inside.count(b" m ") >= lines + dots
    assert inside.count(b"BT") >= svg.count("<text") > 4


def test_a_shape_that_no_page_draws_is_an_error() -> None:
    drawing = Markup('<svg viewBox="0 0 10 10"><ellipse cx="1" cy="1" rx="1" ry="2"/></svg>')
    assert "<ellipse" in as_svg(drawing)
    with pytest.raises(ValueError, match="paths, circles and texts; got ellipse"):
        as_pdf(drawing)


def test_an_experiment_has_its_pictures_as_files_and_its_page_leads_to_them() -> None:
    made = files(FOUND)
    assert {"scaling-1.svg", "scaling-1.pdf"} <= set(made)
    page = made["scaling.html"]
    assert isinstance(page, str)
    for name in ("scaling-1.svg", "scaling-1.pdf"):
        assert f'href="{name}"' in page
    svg, pdf = made["scaling-1.svg"], made["scaling-1.pdf"]
    assert isinstance(svg, str)
    assert isinstance(pdf, bytes)
    assert {"F2CSA", "implicit"} <= set("|".join(ET.fromstring(svg.partition("\n")[2]).itertext()).split("|"))
    assert pdf.startswith(b"%PDF")


def test_somebody_elses_pdf_is_not_replaced(tmp_path: Path, plots: dict[str, str | bytes]) -> None:
    write_files(tmp_path, plots)
    write_files(tmp_path, plots)
    (tmp_path / "bias-bound.T3.pdf").write_bytes(b"%PDF-1.4 mine")
    with pytest.raises(InvalidInputError, match="f2csa did not write"):
        write_files(tmp_path, plots)
