"""What documents show as Python is Python and names what is there; what they show as JSON is a problem file."""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path

import pytest

from verify.cli.main import invoke

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md")))
OURS = ("verify", "spec", "f2csa_ref")


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (page, block)
        for page in PAGES
        for block in re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.S | re.M)
    ]


PYTHON, JSON = blocks("python"), blocks("json")


def test_there_are_examples() -> None:
    assert len(PYTHON) >= 5
    assert JSON


@pytest.mark.parametrize(("page", "code"), PYTHON, ids=[page for page, _ in PYTHON])
def test_python_is_python_and_what_it_takes_of_ours_is_there(page: str, code: str) -> None:
    tree = ast.parse(code, page)
    modules = {alias.name: alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
               for alias in node.names if alias.name.split(".")[0] in OURS}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in OURS:
            module = importlib.import_module(node.module)
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules.values():
            assert hasattr(importlib.import_module(node.value.id), node.attr), ast.unparse(node)


@pytest.mark.parametrize(("page", "text"), JSON, ids=[page for page, _ in JSON])
def test_json_is_a_problem_that_can_be_asked_about(
    page: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "problem.json"
    file.write_text(text, encoding="utf-8")
    assert invoke(["hypergradient", str(file), "--x", "1/2", "--alpha", "1/20", "--json"]) == 0, page
    assert "hypergradient" in json.loads(capsys.readouterr().out)
