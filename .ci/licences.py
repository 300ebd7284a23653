"""Licences of all packages in constraints.txt, from their own metadata: python .ci/licences.py > docs/licences.md."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
HEAD = """# Licences of what is installed

What the packages in [constraints.txt](../constraints.txt) say of themselves: a licence expression, else a short name,
else a classifier. Nothing of theirs is copied here. Made by `python .ci/licences.py`.

One font is: the pages of a report set formulas in a subset of STIX Two Math, Copyright 2001-2021 The STIX Fonts Project
Authors (https://github.com/stipub/stixfonts), licensed under the [SIL Open Font License 1.1](https://openfontlicense.org).
The subset goes by the name "Formulas" and stands in every style sheet beside this notice.

| package | version | licence |
|---|---|---|
"""
SHORT = 40
"""Characters of the longest name; what is longer is a licence's text."""


def locked() -> dict[str, str]:
    """Version of each package, by name."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", CONSTRAINTS.read_text(encoding="utf-8"), re.M))


def licence(name: str) -> str:
    """What an installed package says of its licence."""
    said = metadata.metadata(name)
    short = (said.get("License") or "").strip()
    classified = [line.split("::")[-1].strip() for line in said.get_all("Classifier") or () if "License ::" in line]
    short = short if len(short) <= SHORT and "\n" not in short else ""
    found = said.get("License-Expression") or short or ", ".join(classified)
    if not found:
        raise ValueError(f"{name}: must name its licence")
    return found


def row(name: str, version: str) -> str:
    """A package's line of the page; refused where another version is installed."""
    if (here := metadata.version(name)) != version:
        raise ValueError(f"{name}: must be installed as locked, {version}; got {here}")
    return f"| {name} | {version} | {licence(name)} |\n"


if __name__ == "__main__":
    sys.stdout.write(HEAD + "".join(row(*package) for package in locked().items()))
