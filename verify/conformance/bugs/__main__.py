"""``python -m verify.conformance.bugs``: judge every mutant again, keep the matrix, write the page into ``docs/``."""

from __future__ import annotations

import sys
from pathlib import Path

from spec import InvalidInputError
from verify.conformance.bugs.kill_matrix import RECORD, compute, dumps
from verify.conformance.bugs.page import page

ROOT = Path(__file__).parents[3]


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
