"""The house keeps its plan: floors, no circle, one name for one file, and no new room at the top of ``verify``."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("spec", "f2csa_ref", "verify")
ROOMS = {
    "truth", "subjects", "experiments", "checks", "evidence", "method", "report", "campaign", "conformance", "proofs",
    "cli", "verdict.py", "__init__.py", "__main__.py", "py.typed",
}  # fmt: skip
MODELS = {"__init__.py", "__main__.py", "model.py"}
"""File names that every room may have: its face, its command and its data."""


def files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(path): path for path in files()}


@cache
def imported(path: Path) -> set[str]:
    """Modules of the house that a file imports anywhere: lazily, for types only, in whatever form."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
            if any(f"{node.module}.{alias.name}" not in MODULES for alias in node.names):
                found.add(node.module)
    return (found & MODULES.keys()) - {module(path)}


def circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_circle_of_files() -> None:
    # ``import verify`` answers lazily for every room: a face, not a floor.
    graph = {name: imported(path) for name, path in MODULES.items() if name != "verify"}
    assert circle(graph) == []


def test_no_circle_of_rooms() -> None:
    def room(name: str) -> str:
        parts = name.split(".")
        return ".".join(parts[:2]) if parts[0] == "verify" else parts[0]

    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        if name != "verify":
            graph.setdefault(room(name), set()).update({room(other) for other in imported(path)} - {room(name)})
    assert circle(graph) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_second_file_of_one_name(package: str) -> None:
    names = Counter(path.name for path in files() if module(path).split(".")[0] == package)
    assert [name for name, count in names.items() if count > 1 and name not in MODELS] == []


def test_a_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_no_new_room_at_the_top() -> None:
    assert {path.name for path in (ROOT / "verify").iterdir() if path.name != "__pycache__"} == ROOMS


def test_files_are_of_a_size_to_read() -> None:
    sizes = {module(path): len(path.read_text(encoding="utf-8").splitlines()) for path in files()}
    assert {name: size for name, size in sizes.items() if size > 350} == {}
    assert sum(sizes.values()) / len(sizes) >= 120


WIDE = {
    "f2csa_ref.algorithm_1.hypergradient": "Algorithm 1's inputs; users call it by keyword",
    "f2csa_ref.algorithm_2.outer_loop": "Algorithm 2's inputs and its options; users call it by keyword",
    "verify.campaign.run.run": "the public entry point: one keyword an option of the command",
    "verify.campaign.pytest_plugin.parametrize_with_claims": "public: options of the plug-in",
    "verify.conformance.judge.conform": "public: options of the command",
}
"""Functions that take seven arguments or more, each with its reason."""


def test_few_functions_take_seven_arguments() -> None:
    wide = set()
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if len(arguments) - (arguments[:1] in (["self"], ["cls"])) >= 7:
                    wide.add(f"{name}.{node.name}")
    assert wide == WIDE.keys()
    assert len(wide) <= 15


def test_the_rooms_of_blame_are_small_and_look_one_way() -> None:
    blame = "verify.conformance.blame."
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        if name.startswith(blame):
            room, others = name[len(blame) :].split(".")[0], {o for o in imported(path) if o.startswith(blame)}
            graph.setdefault(room, set()).update({o[len(blame) :].split(".")[0] for o in others} - {room})
    assert circle(graph) == []
    folders = [ROOT / "verify" / "conformance" / "blame", *(ROOT / "verify" / "conformance" / "blame").glob("[a-z]*/")]
    siblings = {folder.name: len([*folder.glob("[a-z]*")]) for folder in (*folders, ROOT / "verify" / "method")}
    assert {name: count for name, count in siblings.items() if count > 20} == {}
