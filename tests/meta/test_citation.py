"""The citation has the form of CFF 1.2.0, agrees with the package, and names the paper."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.meta import plain_yaml

ROOT = Path(__file__).parents[2]
CITATION = plain_yaml.read((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_it_has_what_the_format_asks_for_and_is_the_package_s() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    assert CITATION["type"] == "software"
    same = {"version": "version", "license": "license", "keywords": "keywords"}
    assert {name: CITATION[name] for name in same} == {name: PROJECT[other] for name, other in same.items()}
    assert CITATION["title"].partition(":")[0] == PROJECT["name"]


def test_the_report_names_the_same_paper() -> None:
    (paper,) = CITATION["references"]
    shown = (ROOT / "verify" / "report" / "templates" / "site" / "parts.html.j2").read_text(encoding="utf-8")
    authors = " and ".join(f"{one['given-names'][0]}. {one['family-names']}" for one in paper["authors"])
    assert f"{authors}, <i>{paper['title']}</i>" in shown


def test_it_names_the_paper_with_its_authors() -> None:
    (paper,) = CITATION["references"]
    assert {"type", "title", "authors"} <= set(paper)
    assert paper["title"].startswith("Bridging Constraints and Stochasticity")
    assert [author["family-names"] for author in paper["authors"]] == ["Phan", "Wang"]
