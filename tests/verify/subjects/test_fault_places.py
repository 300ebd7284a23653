"""A fault says which line of the user's source raised it, and no line of the judge's."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verify
from spec import Quadratic
from spec.atlas import find
from tests.verify.subjects import crashing
from verify.subjects import faults
from verify.subjects.fault_places import LONGEST, raised_at
from verify.subjects.faults import described

FILE = "tests/verify/subjects/crashing.py"
FAULTS = {
    "Divides": ("ZeroDivisionError: float division by zero", "step"),
    "Solves": ("LinAlgError: Singular matrix", "hypergradient"),
    "Recurses": ("RecursionError: maximum recursion depth exceeded", "hypergradient"),
    "Refused": ("InvalidInputError: alpha: must be > 0", "hypergradient"),
}


def the_line(kind: str) -> int:
    """Where a class of that file raises."""
    lines = Path(crashing.__file__).read_text(encoding="utf-8").splitlines()
    begins = lines.index(f"class {kind}:")
    return next(number for number, text in enumerate(lines, 1) if number > begins and text.endswith("# the line"))


def fault_of(subject: object, **how: object) -> str:
    report = verify.run(
        ["bias-bound/black-box"], subject=subject, instances=["toy1"], readings=["repaired"], profile="smoke", **how
    )
    (result,) = report.results
    assert result.verdict is None
    assert result.sentence == f"Fault: {result.fault}"
    return result.fault


@pytest.mark.parametrize("kind", FAULTS)
def test_the_innermost_line_of_the_user_is_named_the_same_wherever_it_runs(kind, monkeypatch, tmp_path):
    error, function = FAULTS[kind]
    here = fault_of(getattr(crashing, kind)())
    assert here.startswith(f"hypergradient raised {error}")
    assert here.endswith(f" ({FILE}:{the_line(kind)} in {function})")
    name = f"{crashing.__name__}:{kind}"
    monkeypatch.chdir(tmp_path)  # files are named as they are imported, not from here
    assert fault_of(name) == here
    assert fault_of(name, in_process=True) == here


def test_what_raises_nowhere_in_the_users_source_has_no_place():
    assert fault_of(crashing.Words()).endswith("got str (TypeError: no real numbers)")
    assert fault_of(f"{crashing.__name__}:Words") == fault_of(crashing.Words())


def caught(call) -> BaseException:
    try:
        call()
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next  # without this function's own line
        return error
    raise AssertionError("nothing was raised")


def made(source: str, file: str, name: str = "solver") -> ModuleType:
    module = ModuleType(name)
    exec(compile(source, file, "exec"), vars(module))
    return module


RAISES = "def f():\n    raise ValueError('x')\n"


@pytest.mark.parametrize(
    ("file", "name", "place"),
    [
        ("/home/u/solver.py", "solver", "solver.py:2 in f"),
        ("/home/u/mine/steps.py", "mine.steps", "mine/steps.py:2 in f"),
        ("/home/u/mine/__init__.py", "mine", "mine/__init__.py:2 in f"),
        ("/home/u/script.py", "__main__", "script.py:2 in f"),
        ("/opt/lib/site-packages/sold/core.py", "sold.core", "sold/core.py:2 in f"),
        ("<string>", "solver", ""),
        (faults.__file__, "solver", ""),
        (sys.modules["json"].__file__, "json", ""),
    ],
)
def test_files_are_named_as_they_are_imported(file, name, place):
    error = caught(made(RAISES, file, name).f)
    assert raised_at(error) == place
    assert described(error) == (f"ValueError: x ({place})" if place else "ValueError: x")
    assert described(error, placed=False) == "ValueError: x"


CALLS = "def g(f=None):\n    return below()\n"


def test_an_installed_library_is_blamed_only_where_nothing_of_the_users_calls_it():
    library = made(RAISES, "/opt/lib/site-packages/lib/core.py", "lib.core")
    for file, name, place in (
        ("/home/u/solver.py", "solver", "solver.py:2 in g"),
        ("/opt/lib/site-packages/sold/api.py", "sold.api", "sold/api.py:2 in g"),
    ):
        caller = made(CALLS, file, name)
        caller.below = library.f
        assert raised_at(caught(caller.g)) == place
    # Of an installed solver it is its own innermost line.
    inner, outer = made(CALLS, "/opt/lib/site-packages/sold/steps.py", "sold.steps"), caller
    inner.below, outer.below = library.f, inner.g
    assert raised_at(caught(outer.g)) == "sold/steps.py:2 in g"


@given(st.text(max_size=300), st.text(min_size=1, max_size=300))
def test_a_place_is_one_short_line_whatever_a_file_calls_itself(text, file):
    error = caught(made(f"def f():\n    raise ValueError({text!r})\n", file.replace("\0", "")).f)
    place = raised_at(error)
    assert place.isprintable()
    assert len(place) <= LONGEST
    assert described(error).isprintable()


def test_a_write_to_an_array_that_was_given_is_told_how_to_mend() -> None:
    given = find("toy1").problem
    assert isinstance(given, Quadratic)
    with pytest.raises(ValueError, match="read-only") as caught:
        given.arrays.g_yy[0, 0] = 2.0
    assert "the arrays given are read-only: copy what is written to" in described(caught.value)
    assert "copy" not in described(ValueError("another matter"))
