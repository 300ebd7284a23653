"""``f2csa refute``: the smallest problem that breaks a claim."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast, get_args

from spec import InvalidInputError
from spec.claims import ReadingName, find
from verify.proofs.refutation.search import minimal_counterexample


def execute(claim: str, *, reading: str, out: Path | None, weight: int, tries: int, seed: int, as_json: bool) -> None:
    """Search, print what was found, and write the problem file if asked to."""
    if reading not in get_args(ReadingName):
        raise InvalidInputError("--reading", f"must be one of {', '.join(get_args(ReadingName))}", reading)
    found = minimal_counterexample(claim, cast("ReadingName", reading), weight=weight, tries=tries, seed=seed)
    if out is not None and found is not None:
        out.write_text(found.file, encoding="utf-8")
    if as_json:
        sys.stdout.write("null\n" if found is None else found.model_dump_json(indent=1) + "\n")
        return
    said = reading.replace("-", " ")
    if found is None:
        sys.stdout.write(
            f"{claim}, {said}: no counterexample among the one-dimensional problems whose integers add up to at most "
            f"{weight}, nor among {tries} larger ones. That proves nothing; `f2csa verify {claim}` weighs the evidence."
            "\n"
        )
        return
    how = "no smaller integer problem breaks it" if found.exhaustive else "shrunk until no smaller neighbour breaks it"
    lines = [
        f"{claim}, {said}: broken; {how} ({found.examined} examined).",
        f"Claim: {find(claim).assertion(found.reading).text}",
        "",
        *(f"  {k}. {line}" for k, line in enumerate(found.derivation, 1)),
        "",
        "Reproduce:" if out is None else f"Problem written to {out}. Reproduce:",
        f"  {found.command if out is None else found.command_with(str(out))}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
