"""The documents as a site: every page has its place, and nothing that a page links to is missing."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import verify
from tests.meta import plain_yaml

ROOT = Path(__file__).parents[2]
SITE = plain_yaml.read((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
MADE = {"index.md", "contributing.md", "changelog.md", "api.md"}
"""Pages that the hook makes."""


def pages(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    return [page for part in (node.values() if isinstance(node, dict) else node) for page in pages(part)]


def test_every_document_has_one_place_in_the_navigation() -> None:
    named = pages(SITE["nav"])
    assert len(named) == len(set(named))
    assert set(named) == {file.name for file in (ROOT / "docs").glob("*.md")} | MADE


def test_nothing_is_fetched_from_elsewhere() -> None:
    assert SITE["theme"]["font"] == "false"
    assert "://" not in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.mark.skipif(
    importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None,
    reason="mkdocs-material is not here: pip install mkdocs-material",
)
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    api = (tmp_path / "site" / "api" / "index.html").read_text(encoding="utf-8")
    assert [name for name in verify.__all__ if f"<code>verify.{name}</code>" not in api] == []
    wire = (tmp_path / "site" / "wire" / "index.html").read_text(encoding="utf-8")
    (source,) = set(re.findall(r'href="([^"]*echo\.py\.txt)"', wire))
    assert (tmp_path / "site" / "wire" / source).resolve().is_file()
