"""``f2csa vectors``: test vectors as files, listed, or checked."""

from __future__ import annotations

import sys
from pathlib import Path

from spec.errors import InvalidInputError
from verify.conformance.vectors.model import Manifest


def execute(*, out: Path | None, listing: bool, folder: Path | None) -> int:
    """Write, list or check; 1 where a check finds something.

    Raises:
        InvalidInputError: If nothing or too much is asked for, or a folder cannot serve.
    """
    if [out is not None, listing, folder is not None].count(True) != 1:
        raise InvalidInputError("vectors", "needs one of --out DIR, --list and --check DIR")
    if listing:
        from verify.conformance.vectors.generation import all_vectors

        for vector in all_vectors():
            sys.stdout.write(f"{vector.id}\t{vector.stage}\t{','.join(vector.strata)}\t{','.join(vector.flags)}\n")
        return 0
    if out is not None:
        from verify.conformance.vectors.release import write

        sys.stdout.write(f"{_summary(write(out))} written to {out}\n")
        return 0
    from verify.conformance.vectors.checking import Finding, check
    from verify.conformance.vectors.release import GENERATOR

    assert folder is not None  # the one left
    try:
        manifest = check(folder)
    except Finding as finding:
        sys.stdout.write(f"{' '.join(str(finding).split())}\n")
        return 1
    if manifest.generator == GENERATOR:
        verdict = "as released"
    else:
        verdict = (
            f"agree with their manifest; they are of generator {manifest.generator}, "
            f"this version releases those of generator {GENERATOR} and cannot say whether they are as released"
        )
    sys.stdout.write(f"{_summary(manifest)} {verdict}\n")
    return 0


def _summary(manifest: Manifest) -> str:
    counts = manifest.counts
    return (
        f"{counts.vectors} vectors of {len(counts.stages)} stages in {len(manifest.files)} files, "
        f"{len(counts.strata)} strata, {len(counts.flags)} flags"
    )
