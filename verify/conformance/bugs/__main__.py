"""``python -m verify.conformance.bugs``: judge every mutant again, keep the matrix, write the page into ``docs/``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from spec import InvalidInputError
from spec.claims import find as find_claim
from verify.conformance.bugs.catalogue import CATALOGUE, ROWS
from verify.conformance.bugs.kill_matrix import RECORD, Matrix, compute, dumps, roots
from verify.conformance.bugs.model import Bug

ROOT = Path(__file__).parents[3]
KILLED, TRIED, UNTOUCHED = "✗", "·", ""
SHORT = 3
"""Statements named for each mutant beside its declared ones."""
HEAD = """# Wrong implementations and what catches them

Each line of the catalogue is a program that does one thing wrong: a row of data in `verify/conformance/bugs/rows/`,
played by the subject named at its end. A mutant is *killed* by a claim if some verdict of the claim or of its steps
differs from the reference's. `f2csa conform` compares a foreign implementation with the same programs and names the one
that it matches.

This page is written by `python -m verify.conformance.bugs`, which judges every mutant again (a quarter of an hour).
The tests hold it to the catalogue; `python -m pytest --whole` judges every mutant on the results it must change,
every other run a sample of them.
"""


def page(matrix: Matrix) -> str:
    """Markdown of the whole page."""
    return "\n".join([HEAD, *_summary(matrix), *_matrix(matrix), *_catalogue(matrix)]) + "\n"


def killed_by(matrix: Matrix, mutant: Bug) -> list[str]:
    """Statements that catch a mutant, in the paper's order."""
    return [claim for claim, instances in matrix.get(mutant.id, {}).items() if instances]


def _summary(matrix: Matrix) -> Iterator[str]:
    dead = [mutant for mutant in CATALOGUE if killed_by(matrix, mutant)]
    pairs = sum(len(killed_by(matrix, mutant)) for mutant in CATALOGUE)
    tried = sum(len(row) for row in matrix.values())
    yield f"{len(dead)} of {len(CATALOGUE)} mutants are killed; {pairs} of {tried} pairs of mutant and statement kill."
    yield ""


def _matrix(matrix: Matrix) -> Iterator[str]:
    columns = roots()
    yield "## Mutants × claims"
    yield ""
    yield (
        f"{KILLED} the claim or one of its steps catches it; {TRIED} it was judged and not caught; empty: the claim "
        "asks for no stage that the mutant changes. Columns: "
        + "; ".join(f"{k + 1} {find_claim(claim).title} (`{claim}`)" for k, claim in enumerate(columns)) + "."
    )  # fmt: skip
    yield ""
    yield "| mutant | " + " | ".join(str(k + 1) for k in range(len(columns))) + " |"
    yield "|---|" + ":-:|" * len(columns)
    for mutant in CATALOGUE:
        marks = " | ".join(_mark(matrix, mutant, claim) for claim in columns)
        yield f"| [`{mutant.id}`](#{mutant.id}) | {marks} |"
    yield ""


def _mark(matrix: Matrix, mutant: Bug, claim: str) -> str:
    rows = {key: value for key, value in matrix.get(mutant.id, {}).items() if key.split(" ")[0].split("/")[0] == claim}
    if not rows:
        return UNTOUCHED
    return KILLED if any(rows.values()) else TRIED


def _catalogue(matrix: Matrix) -> Iterator[str]:
    yield "## Catalogue"
    for stage, mutants in groupby(CATALOGUE, key=lambda mutant: mutant.stage):
        yield ""
        yield f"### {stage}"
        for mutant in mutants:
            yield ""
            yield f"#### {mutant.id}"
            yield ""
            yield _entry(matrix, mutant)
    yield ""
    yield f"Test vectors alone show {', '.join(f'`{bug.id}`' for bug in ROWS if bug not in CATALOGUE)}."


def _entry(matrix: Matrix, mutant: Bug) -> str:
    kind = mutant.type + (f": `{mutant.choice}` as written" if mutant.choice else "")
    must = ", ".join(
        f"`{catch.claim}` on {catch.instance}" + (f" ({catch.reading})" if catch.reading != "repaired" else "")
        for catch in mutant.caught_by
    )
    declared = {catch.claim for catch in mutant.caught_by}
    also = [claim for claim in killed_by(matrix, mutant) if claim.split(" ")[0] not in declared]
    rest = ""
    if also:
        more = f" and {len(also) - SHORT} more" if len(also) > SHORT else ""
        rest = f" Also caught by {', '.join(f'`{claim}`' for claim in also[:SHORT])}{more}."
    flag = "" if mutant.flag is None else f" Test vectors flag it `{mutant.flag.id or mutant.id}`."
    return f"({kind}) {mutant.effect} Must be caught by {must}.{rest}{flag} `{mutant.source}`"


def main() -> int:
    """Compute and write; 1 where a mutant survives every claim."""
    docs = ROOT / "docs"
    if not docs.is_dir():
        raise InvalidInputError("docs", "must exist beside the package: run this in a checkout", docs.name)
    matrix = compute(lambda line: print(line, file=sys.stderr))
    (Path(__file__).parent / RECORD).write_text(dumps(matrix), encoding="utf-8")
    (docs / "mutants.md").write_text(page(matrix), encoding="utf-8")
    alive = [mutant for mutant, row in matrix.items() if not any(row.values())]
    if alive:
        sys.stderr.write(f"survived: {', '.join(alive)}\n")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
