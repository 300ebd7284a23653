"""Tests that are many of a kind: a command runs all and keeps a record, every other run plays a sample of them.

``python -m pytest --whole -n 2`` runs all of :data:`MANY`, and nothing else where no file is named, or with ``--kind``
those whose name has these words, and writes down in
``whole.json`` which passed, with digests of their ids and of the data they are about. Every other run holds that record
against its own tests and data (``tests/meta/test_whole.py``), and plays one in so many of each kind, others whenever a
source changes; a test that is named, by its id or with ``-k``, is played whatever the sample. One that says what it is
about (``@pytest.mark.about("digest")``) is played, too, wherever that is not what was recorded. A kind is one function
with many arguments, or functions of any files that each take seconds and are alike in what they go through.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from verify.campaign.store.dependencies import CodeHouse

HERE = Path(__file__).parent
RECORD = HERE / "whole.json"
RUN = "python -m pytest --whole -n 2"
"""The command that makes the record anew."""


@dataclass(frozen=True)
class Kind:
    """How many of its tests there are to one that is played, the data that they are about, and their functions' ids."""

    one_in: int
    data: tuple[str, ...]
    functions: tuple[str, ...]


def kinds(text: str) -> dict[str, Kind]:
    """The table ``many.toml``: by a file of functions their numbers, or fields; or by words what ``tests`` it has."""
    found = {}
    for where, table in tomllib.loads(text).items():
        if "tests" in table:
            found[where] = Kind(table["one_in"], (), tuple(table["tests"]))
            continue
        for name, told in table.items():
            fields = {"one_in": told} if isinstance(told, int) else told
            found[f"{where}::{name}"] = Kind(fields["one_in"], tuple(fields.get("data", ())), (f"{where}::{name}",))
    return found


MANY = kinds((HERE / "many.toml").read_text(encoding="utf-8"))
"""By a test function's id under this folder, or by words for several."""
KIND_OF = {function: name for name, kind in MANY.items() for function in kind.functions}
"""The kind of each function that is of one."""


def digest(lines: list[str]) -> str:
    """Of lines, whatever their order; short, for it only has to differ where they do."""
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def digest_of_data(kind: Kind) -> str:
    """Of the content of all files that the kind's tests are about."""
    folders = [HERE.parent / name for name in kind.data]
    files = [
        file
        for at in folders
        for file in ([at] if at.is_file() else at.rglob("*"))
        if file.suffix in (".toml", ".json")
    ]
    return digest([f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files])


def recorded() -> dict[str, dict[str, Any]]:
    """What passed when all were run last, by function."""
    kept: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return kept


def kind_of(nodeid: str) -> str:
    """What a test is one of, as :data:`MANY` has it; its function's id where that is of no kind."""
    function = nodeid.partition("[")[0].removeprefix("tests/")
    return KIND_OF.get(function, function)


def sampled(ids: list[str], one_in: int, state: str) -> set[str]:
    """One in so many, at least one: others for another ``state`` of the sources."""
    return set(sorted(ids, key=lambda one: zlib.crc32(f"{state} {one}".encode()))[: -(-len(ids) // one_in)])


@dataclass(eq=False)
class Whole:
    """Chooses what is played, and writes down what passed where all was."""

    config: pytest.Config
    ids: dict[str, list[str]] = field(default_factory=dict)
    """All tests of each kind that was collected, played or not."""
    about: dict[str, str] = field(default_factory=dict)
    """What tests say that they are about, by id."""
    passed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    failed: set[str] = field(default_factory=set)

    def _asked(self, name: str) -> bool:
        """Whether all of a kind are to run, where all of some are."""
        return name in MANY and self.config.option.kind in name

    @property
    def named(self) -> bool:
        """Whether single tests are asked for."""
        return any("::" in argument for argument in self.config.args) or bool(self.config.option.keyword)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the sample, or all of the kinds where these are asked for."""
        found: dict[str, list[str]] = defaultdict(list)
        for item in items:
            if kind_of(item.nodeid) in MANY:
                found[kind_of(item.nodeid)].append(item.nodeid)
                if (about := item.get_closest_marker("about")) is not None:
                    self.about[item.nodeid] = about.args[0]
                    # Where workers run it, the process that records sees reports alone.
                    item.user_properties.append(("about", about.args[0]))
        self.ids = dict(found)
        if self.config.option.whole:
            kept = [item for item in items if self._asked(kind_of(item.nodeid))]
        elif self.named:
            return
        else:
            state = CodeHouse().whole
            played = {one for name, ids in found.items() for one in sampled(ids, MANY[name].one_in, state)}
            known = {one: text for row in recorded().values() for one, text in row.get("about", {}).items()}
            played |= {one for one, text in self.about.items() if known.get(one) != text}
            kept = [item for item in items if kind_of(item.nodeid) not in MANY or item.nodeid in played]
        staying = set(kept)
        self.config.hook.pytest_deselected(items=[item for item in items if item not in staying])
        items[:] = kept

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In the process that reports."""
        name = kind_of(report.nodeid)
        if "about" in (told := dict(report.user_properties)):
            self.about[report.nodeid] = str(told["about"])
        if name in MANY and report.when == "call" and report.passed:
            self.passed[name].add(report.nodeid)
        elif name in MANY and report.failed:
            self.failed.add(name)

    def pytest_sessionfinish(self) -> None:
        """The record of every kind that ran and of which nothing failed; others stay as they are."""
        if not self.config.option.whole or self.named or hasattr(self.config, "workerinput"):
            return
        made = recorded() if RECORD.is_file() else {}
        for name, ids in self.passed.items():
            if {one.partition("[")[0].removeprefix("tests/") for one in ids} != {*MANY[name].functions}:
                continue  # of some of its files alone
            made[name] = {
                "passed": len(ids), "ids": digest([*ids]), "data": digest_of_data(MANY[name]),
                "sources": CodeHouse().whole[:16],
            }  # fmt: skip
            if about := {one: self.about[one] for one in sorted(ids) if one in self.about}:
                made[name]["about"] = about
        made = {name: made[name] for name in MANY if name in made and name not in self.failed}
        RECORD.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")


CHOOSING = pytest.StashKey[Whole]()
"""Where a session keeps its own."""
