"""The notebook is what its Python file says, and its outputs are what a run gives."""

from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PICTURE = "image/png"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    found = importlib.util.spec_from_file_location("make_notebook", EXAMPLES / "make_notebook.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_notebook_on_disk_is_the_one_that_running_it_makes(maker: ModuleType) -> None:
    stored = json.loads((EXAMPLES / "story.ipynb").read_text(encoding="utf-8"))
    made = maker.notebook((EXAMPLES / "story.py").read_text(encoding="utf-8"))
    one, other = pictures(stored), pictures(made)
    assert made == stored
    # How a picture is encoded depends on the version that draws it.
    assert len(one) == len(other) == 1
    for picture in (*one, *other):
        assert base64.b64decode(picture).startswith(b"\x89PNG")
        assert len(picture) > 10_000


def test_the_readme_begins_with_it() -> None:
    start, _, _ = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8").partition("\n## ")
    title = json.loads((EXAMPLES / "story.ipynb").read_text(encoding="utf-8"))["cells"][0]["source"][0]
    assert f"[{title.strip().removeprefix('# ')}](examples/story.ipynb)" in start


def pictures(notebook: dict[str, Any]) -> list[str]:
    """The pictures, taken out of their cells."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return [output["data"].pop(PICTURE) for output in outputs if PICTURE in output.get("data", {})]


def test_cells_are_run_in_one_namespace_and_show_what_they_print_and_end_with(maker: ModuleType) -> None:
    text = '# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\na = 2\nprint("x")\na\n\n# %%\na + 1;\n\n# %%\nb = a\n'
    made = maker.notebook(text)
    assert [cell["cell_type"] for cell in made["cells"]] == ["markdown", "code", "code", "code"]
    assert "".join(made["cells"][0]["source"]) == "# Title\n\nText."
    printed, shown = made["cells"][1]["outputs"]
    assert (printed["text"], shown["data"]) == (["x\n"], {"text/plain": ["2"]})
    assert [cell["outputs"] for cell in made["cells"][2:]] == [[], []]
    assert [cell["execution_count"] for cell in made["cells"][1:]] == [1, 2, 3]


def test_a_cell_that_fails_fails_the_notebook(maker: ModuleType) -> None:
    with pytest.raises(ZeroDivisionError):
        maker.notebook("# %%\n1 / 0\n")
