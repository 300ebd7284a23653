"""The house keeps its plan: small rooms, floors, no circle, one name for one file, no new room at the top."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
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
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
            if any(f"{node.module}.{alias.name}" not in MODULES for alias in node.names):
                names.add(node.module)
    return (names & MODULES.keys()) - {module(path)}


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
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_no_new_room_at_the_top() -> None:
    assert {path.name for path in (ROOT / "verify").iterdir() if path.name != "__pycache__"} == ROOMS


def test_files_are_of_a_size_to_read() -> None:
    sizes = {module(path): len(path.read_text(encoding="utf-8").splitlines()) for path in files()}
    assert {name: size for name, size in sizes.items() if size > 350} == {}
    assert sum(sizes.values()) / len(sizes) >= 120


WIDE = {
    "f2csa_ref.algorithm_1.hypergradient": "Algorithm 1's inputs; users call it by keyword",
    "f2csa_ref.algorithm_2.outer_loop": "Algorithm 2's inputs and its options; users call it by keyword",
    "verify.cli.pytest_plugin.parametrize_with_claims": "public: options of the plug-in",
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


EMPTY = {"found", "made", "said", "kept", "asked"}
"""Words that any value answers to."""
BOUND = {ast.arg: "arg", ast.ExceptHandler: "name", ast.MatchAs: "name", ast.MatchStar: "name", ast.alias: "asname"}
"""Nodes that bind a name, beside those that are one, and what of them it is."""
UNSAID: dict[str, str] = {}
"""Variables that are called by such a word all the same, each with its reason."""


def variables(node: ast.AST, where: str) -> Iterator[tuple[str, str]]:
    """Variables and parameters below a node, each with where it is; fields, which data on disk have, are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.ClassDef) and isinstance(child, ast.AnnAssign):
            yield from variables(child.value or ast.Pass(), where)
            continue
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield where, child.id
        elif type(child) in BOUND:
            yield where, getattr(child, BOUND[type(child)])
        is_named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from variables(child, f"{where}.{child.name}" if is_named else where)


def test_variables_say_what_they_hold() -> None:
    unsaid = {
        f"{where}.{variable}"
        for name, path in MODULES.items()
        for where, variable in variables(ast.parse(path.read_text(encoding="utf-8")), name)
        if variable in EMPTY
    }
    assert unsaid == UNSAID.keys()
    code = "class C:\n made: int\n def f(said): return lambda asked: [asked for kept in said if (found := kept)]"
    assert [word for _, word in variables(ast.parse(code), "")] == ["said", "asked", "kept", "found"]


SIBLINGS, FLOORS = 20, 8
"""Of a folder at most: what stands in it, and the longest way down through its imports."""
TALL = {
    "f2csa_ref": (15, "a page calls the pages whose lines it needs, down to what is minimised"),
    "verify.campaign": (
        10,
        "a run is planned, kept, held against a record, shared out and gone on with, each on the last",
    ),
    "verify.conformance": (10, "what is told rests on what was asked, compared, explained and traced"),
    "verify.conformance.blame.sums": (
        10,
        "a search rests on edits, these on changes of terms, these on a call's parts",
    ),
    "verify.truth.theorems": (10, "kinds of places are made of letters, these of letters of other kinds"),
}
"""Folders with more floors, how many, and why; these numbers only get smaller."""
APART = {
    "verify.conformance.bugs.generated": "docs/generated-mistakes.md runs it; it measures blame, which knows the bugs",
}
"""What a documented path keeps in a room that would look back up for it: it counts beside that room, not in it."""
FOLDERS = ["", *(name for name, path in MODULES.items() if path.name == "__init__.py")]


def siblings(folder: str, apart: Collection[str] = APART.keys()) -> dict[str, set[str]]:
    """What stands in a folder, each with the others that it imports; a sub-folder counts as one."""
    start = f"{folder}." if folder else ""
    beside = [name for name in apart if name.rsplit(".", 2)[0] == folder]

    def named(name: str) -> str:
        return next((one for one in beside if f"{name}.".startswith(f"{one}.")), name[len(start) :].split(".")[0])

    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        if name.startswith(start):
            down = {named(other) for other in imported(path) if other.startswith(start)}
            graph.setdefault(named(name), set()).update(down - {named(name)})
    return graph


def floors(graph: dict[str, set[str]]) -> int:
    heights: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        heights[name] = 1 + max((heights[other] for other in graph[name]), default=0)
    return max(heights.values(), default=0)


def is_a_list(folder: str) -> bool:
    """Whether a folder says that it is one of a kind: a file a claim, a module a command."""
    told = ast.get_docstring(ast.parse(MODULES[folder].read_text(encoding="utf-8"))) if folder else None
    return bool(re.search(r"\b(a|one) (file|module) an? ", told or ""))


def test_no_room_looks_back_up() -> None:
    assert {name: names for name in FOLDERS if (names := circle(siblings(name)))} == {}
    for name in APART:
        assert circle(siblings(name.rsplit(".", 2)[0], APART.keys() - {name})), f"{name} no longer stands apart"


def test_rooms_are_small_or_say_that_they_are_a_list() -> None:
    counts = {name: len(siblings(name)) for name in FOLDERS if not is_a_list(name)}
    assert {name: count for name, count in counts.items() if count > SIBLINGS} == {}
    assert is_a_list("verify.checks")


def test_rooms_have_few_floors() -> None:
    heights = {name: floors(siblings(name)) for name in FOLDERS}
    assert {name: high for name, high in heights.items() if high > FLOORS} == {
        name: high for name, (high, _) in TALL.items()
    }
