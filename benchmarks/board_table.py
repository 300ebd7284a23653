"""The board's table in docs/experiments.md, from the data of a run.

    f2csa experiment board --out board && python -m benchmarks.board_table board/board.json docs/experiments.md

Replaces what stands between the two marks; exits with 2 where there is no run or no marks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from verify.experiments.answers.board_table import by_problem, markdown

BEGIN, END = "<!-- board -->\n", "<!-- end of board -->\n"
NAMED = ("python", "numpy", "scipy")
"""Of what a run says of its environment."""


def replaced(text: str, data: str) -> str:
    """The document with the table of this run, its size and seed, between the marks.

    Raises:
        ValueError: If the marks are missing, or the data are not of a board.
    """
    found = json.loads(data)
    if text.count(BEGIN) != 1 or text.count(END) != 1 or not isinstance(found, dict) or found.get("name") != "board":
        raise ValueError(f"must be a board's JSON and a document with {BEGIN.strip()} and {END.strip()}")
    rows = [row for row in found["rows"] if "status" in row]
    said = f"`f2csa experiment board`, {found['size']}, seed {found['seed']}"
    said += "".join(f", {name} {value}" for name, value in found["environment"].items() if name in NAMED)
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{said}:\n\n{markdown(list(by_problem(rows)))}{END}{rest.split(END)[1]}"


def main(arguments: list[str]) -> int:
    """Write the document anew."""
    try:
        data, document = map(Path, arguments)
        document.write_text(replaced(document.read_text("utf-8"), data.read_text("utf-8")), "utf-8")
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
