"""Turn a Python file of ``# %%`` cells into a notebook with its outputs.

``python examples/make_notebook.py examples/story.py`` writes ``examples/story.ipynb``.

Every cell is run, in order, in one namespace; what it prints, and the value of its last line, are its output.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

MARK = "# %%"


def cells(text: str) -> list[tuple[str, str]]:
    """The cells of a file: ``markdown`` or ``code``, and the text."""
    found = []
    for part in ("\n" + text).split(f"\n{MARK}")[1:]:
        head, _, body = part.partition("\n")
        if head.strip() == "[markdown]":
            lines = [line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()]
            found.append(("markdown", "\n".join(lines)))
        else:
            # Remarks to the linters are for the file.
            found.append(("code", re.sub(r"  # (noqa|fmt): .*", "", body.strip("\n"))))
    return found


def run(source: str, space: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one cell; its outputs as a notebook holds them."""
    *body, last = ast.parse(source).body or [ast.Pass()]
    shown = isinstance(last, ast.Expr) and not source.rstrip().endswith(";")
    if not shown:
        body.append(last)
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, type_ignores=[]), "<cell>", "exec"), space)
        if isinstance(last, ast.Expr) and shown:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), space)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        outputs.append({"data": _shown(value), "metadata": {}, "output_type": "display_data"})
    return outputs


def notebook(text: str) -> dict[str, Any]:
    """The notebook of a file, every cell run."""
    space: dict[str, Any] = {"__name__": "__notebook__"}
    made = []
    for number, (kind, source) in enumerate(cells(text)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": _lines(source)}
        if kind == "code":
            count = sum(one["cell_type"] == "code" for one in made) + 1
            cell |= {"execution_count": count, "outputs": run(source, space)}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _shown(value: Any) -> dict[str, Any]:
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        # Else the picture names the version that drew it.
        value.savefig(picture, format="png", metadata={"Software": None})
        return {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": ["<Figure>"]}
    return {"text/plain": _lines(repr(value))}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    made = notebook(path.read_text(encoding="utf-8"))
    path.with_suffix(".ipynb").write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
