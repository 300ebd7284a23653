"""The claims' formulas, set once for all: a file beside this one, made by ``python -m verify.report.formulary``.

To set a formula takes milliseconds, and a report has hundreds that never change. What the file lacks is set when asked
for, so an old file costs time and nothing else; a test holds it to the claims and to what setting them gives.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path

from spec.claims import load_claims
from verify.report.typeset import Formula, set_formula

Key = tuple[str, bool]
"""LaTeX, and whether it stands in a line of text."""
FILE = "formulas.json"
DIGITS = 5
"""Decimals kept of places and sizes, in pixels of a 12 pixel font; the page writes two."""


def asked() -> Iterator[Key]:
    """Every formula of the claims, each once, in their order."""
    found: dict[Key, None] = {}
    for claim in load_claims().values():
        for _, statement in claim.statements():
            texts = (statement.latex, statement.as_written.latex, statement.repaired.latex)
            found.update({(latex, False): None for latex in texts if latex})
            found.update({(premise.latex, True): None for premise in statement.premises if premise.latex})
    yield from found


@lru_cache(maxsize=1)
def formulary() -> Mapping[Key, Formula | None]:
    """What is set ahead; nothing where the file is missing."""
    file = resources.files("verify.report") / FILE
    if not file.is_file():
        return {}
    data = json.loads(file.read_text(encoding="utf-8"))
    outlines = data["outlines"]
    return {(latex, inline): _read(entry, outlines) for latex, inline, entry in data["formulas"]}


def _read(entry: list[object] | None, outlines: list[str]) -> Formula | None:
    if entry is None:
        return None
    left, top, width, height, glyphs, shapes = entry
    made = tuple((outlines[i], scale, x, y) for i, scale, x, y in glyphs)  # type: ignore[attr-defined]  # as written
    return Formula(left, top, width, height, made, shapes)  # type: ignore[arg-type]  # as written below


def written() -> str:
    """The file's text: outlines by place, then each formula with its glyphs by place, scale and position."""
    places: dict[str, int] = {}
    formulas = []
    for latex, inline in asked():
        made = set_formula(latex, inline)
        if made is None:
            formulas.append([latex, inline, None])
            continue
        glyphs = [
            [places.setdefault(outline, len(places)), *(round(v, DIGITS) for v in where)]
            for outline, *where in made.glyphs
        ]
        box = [round(v, DIGITS) for v in (made.left, made.top, made.width, made.height)]
        formulas.append([latex, inline, [*box, glyphs, made.shapes]])
    data = {"outlines": list(places), "formulas": formulas}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace('],["', '],\n["') + "\n"


if __name__ == "__main__":
    Path(str(resources.files("verify.report") / FILE)).write_text(written(), encoding="utf-8")
