"""Functions of a file that run are found with their objects, and run changed source while that lasts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from verify.conformance.trace.patches.running_functions import RunLines, RunningFunction, running_functions

SOURCE = """
from __future__ import annotations

def outer(v):
    def inner(u: float):
        return u + 1
    return inner(v)

kept = (lambda: None)

def make():
    def made(u):
        return u - 2
    return made

kept = make()

class Base:
    def value(self, v):
        return v

class Own(Base):
    @property
    def name(self):
        return "own"

    def value(self, v):
        return super().value(v) * 2

def idle(v):
    return v
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "patched_functions_source.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("patched_functions_source")
    sys.modules.pop("patched_functions_source")


def functions_of(module: ModuleType) -> dict[str, RunningFunction]:
    ran, path = RunLines(), str(module.__file__)
    with ran.watching({path}):
        module.outer(3.0)
        module.kept(3.0)
        module.Own().value(3.0)
    assert ran.seconds > 0
    return {one.name: one for one in running_functions({path}, ran)}


def test_only_what_ran_is_found(module: ModuleType) -> None:
    assert {*functions_of(module)} == {"outer", "make", "Base.value", "Own.value"}


@pytest.mark.parametrize(
    ("name", "instead", "call", "before", "after"),
    [
        ("outer", "`return u - 1`", lambda module: module.outer(3.0), 4.0, 2.0),
        ("make", "`return u + 2`", lambda module: module.kept(3.0), 1.0, 5.0),
        ("Own.value", "`super().value(v) * 3`", lambda module: module.Own().value(3.0), 6.0, 9.0),
    ],
)
def test_a_changed_function_runs_changed_while_it_lasts(
    module: ModuleType, name: str, instead: str, call: object, before: float, after: float
) -> None:
    assert callable(call)
    function = functions_of(module)[name]
    edit = next(
        edit
        for edit in function.edits({*range(40)})
        if instead in (edit.instead, f"`return {edit.instead.strip('`')}`")
    )
    assert call(module) == before
    with function.changed(edit):
        assert call(module) == after
    assert call(module) == before


def test_names_that_hold_the_same_kind_are_alike(module: ModuleType) -> None:
    written = functions_of(module)["outer"].written
    assert {*written.alike("u")} == {"v"}
    assert {*written.numeric} == {"u", "v"}
