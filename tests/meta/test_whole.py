"""Kinds of tests of which a sample is played: all of them passed when they were last run, as they are now."""

from __future__ import annotations

import pytest

from tests import whole
from tests.whole import MANY, RUN, Whole, digest, digest_of_data, kind_of, recorded, sampled


@pytest.mark.parametrize("name", MANY)
def test_the_record_is_of_the_tests_that_there_are(name: str, request: pytest.FixtureRequest) -> None:
    kept = recorded()[name]
    assert kept["data"] == digest_of_data(MANY[name]), f"the data changed since all were run: {RUN}"
    ids = request.config.stash[whole.CHOOSING].ids.get(name, [])
    # Where all its files were collected, too; what says what it is about is played where that is not on record.
    there = {one.partition("[")[0].removeprefix("tests/") for one in ids}
    if there == {*MANY[name].functions} and len(ids) > 1 and "about" not in kept:
        assert (kept["passed"], kept["ids"]) == (len(ids), digest(ids)), f"there are other tests than recorded: {RUN}"


def test_nothing_is_on_record_that_is_no_kind() -> None:
    assert list(recorded()) == list(MANY)
    functions = [function.partition("::") for kind in MANY.values() for function in kind.functions]
    assert all(f"def {name.rpartition('::')[2]}(" in (whole.HERE / file).read_text() for file, _, name in functions)
    assert len(whole.KIND_OF) == len(functions), "a function is of two kinds"


def test_a_sample_is_of_its_size_and_another_for_other_sources() -> None:
    ids = [f"tests/a.py::test_b[{k}]" for k in range(90)]
    one, other = sampled(ids, 4, "one"), sampled(ids, 4, "other")
    assert (len(one), one <= {*ids}, one == sampled(ids[::-1], 4, "one")) == (23, True, True)
    assert one != other
    assert sampled(ids[:1], 4, "one") == {ids[0]}
    # Over the states of a project none is left out.
    assert set().union(*(sampled(ids, 4, str(state)) for state in range(60))) == {*ids}


def test_what_says_what_it_is_about_is_played_where_that_is_not_on_record(monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(name for name in MANY if "::" in name)
    ids = [f"tests/{name}[{k}]" for k in range(MANY[name].one_in * 4)]
    kept = {name: {"about": dict.fromkeys(ids, "as it was")}}
    monkeypatch.setattr(whole, "recorded", lambda: kept)

    def played(changed: list[str]) -> set[str]:
        items = [Item(one, "another" if one in changed else "as it was") for one in ids]
        chosen = choosing(whole=False)
        chosen.pytest_collection_modifyitems(items)  # type: ignore[arg-type]  # what it looks at
        return {item.nodeid for item in items}

    sample = played([])
    assert len(sample) == 4
    others = [one for one in ids if one not in sample][:2]
    assert played(others) == sample | {*others}


class Item:
    def __init__(self, nodeid: str, about: str) -> None:
        self.nodeid, self.about = nodeid, about
        self.user_properties: list[tuple[str, str]] = []

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return pytest.Mark(name, (self.about,), {}, _ispytest=True) if name == "about" else None


def test_data_that_change_change_their_digest(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "HERE", tmp_path / "tests")
    kind = whole.Kind(4, ("rows",), ())
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.toml").write_text("a = 1")
    before = digest_of_data(kind)
    (tmp_path / "rows" / "a.toml").write_text("a = 2")
    assert digest_of_data(kind) != before


class Report:
    def __init__(self, nodeid: str, outcome: bool) -> None:
        self.nodeid, self.passed, self.failed, self.when = nodeid, outcome, not outcome, "call"
        self.user_properties = [("about", "a digest")]


def choosing(*args: str, whole: bool = True) -> Whole:
    """As a session has it that was asked for all, or for a sample."""
    options = type("Options", (), {"whole": whole, "keyword": "", "kind": ""})
    hook = type("Hook", (), {"pytest_deselected": staticmethod(lambda items: None)})
    config = type("Config", (), {"option": options, "args": args, "hook": hook})
    return Whole(config())  # type: ignore[arg-type]  # what it looks at


def test_a_kind_of_which_one_fails_is_not_on_record(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "RECORD", tmp_path / "whole.json")
    good, bad = [name for name in MANY if "::" in name][:2]
    played = [(good, True), (bad, True), (bad, False)]
    for args, kept in ((("tests/a.py::test_b",), False), (("tests",), True)):
        chosen = choosing(*args)
        for name, outcome in played:
            chosen.pytest_runtest_logreport(Report(f"tests/{name}[1]", outcome))  # type: ignore[arg-type]  # as above
        chosen.pytest_sessionfinish()
        assert whole.RECORD.is_file() == kept
    assert [(name, one["passed"]) for name, one in recorded().items()] == [(good, 1)]
    assert kind_of(f"tests/{good}[a/b-c]") == good


def test_functions_of_several_files_are_one_kind() -> None:
    table = '["runs"]\none_in = 3\ntests = ["a/test_a.py::test_b", "test_c.py::test_d"]\n["test_e.py"]\ntest_f = 2'
    found = whole.kinds(table)
    assert found["runs"] == whole.Kind(3, (), ("a/test_a.py::test_b", "test_c.py::test_d"))
    assert found["test_e.py::test_f"] == whole.Kind(2, (), ("test_e.py::test_f",))
    name = next(name for name, kind in MANY.items() if len(kind.functions) > 1)
    assert {kind_of(f"tests/{function}[1]") for function in MANY[name].functions} == {name}
