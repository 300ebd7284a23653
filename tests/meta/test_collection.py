"""What tests/conftest.py does to the order of files."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from tests.conftest import DEAREST, pytest_collection_modifyitems

ROOT = Path(__file__).parents[1]


def test_the_dearest_files_are_there():
    assert [file for file in DEAREST if not (ROOT / file).is_file()] == []
    assert len(set(DEAREST)) == len(DEAREST)


def test_the_dearest_come_first_and_all_else_stays_in_order():
    paths = [Path("/elsewhere/test_it.py"), ROOT / "spec/blocks/test_noise.py", ROOT / DEAREST[1], ROOT / DEAREST[0]]
    items = [SimpleNamespace(path=path, name=f"{k}") for path in paths for k in (2, 1)]
    pytest_collection_modifyitems(items)
    assert [item.path for item in items[::2]] == [paths[3], paths[2], paths[0], paths[1]]
    assert [item.name for item in items] == ["2", "1"] * 4
