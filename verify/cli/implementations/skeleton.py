"""``f2csa init``: the skeleton of an implementation, with its CI workflow and the commands to record a baseline."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from verify.cli.arguments.skeleton_options import Init
from verify.conformance.skeleton_files import find_skeleton, write_skeleton


def init(options: Init) -> None:
    """Write the files, and say what to do next."""
    skeleton = find_skeleton(options.language)
    for path in write_skeleton(options.language, options.out, force=options.force):
        sys.stdout.write(f"{path}\n")
    there = "" if options.out == Path() else f"cd {shlex.quote(str(options.out))} && "
    built = there + (f"{skeleton.build} && " if skeleton.build else "")
    sys.stdout.write(
        f"\nStage 2 of 5 is written. Write lower_level first, in {skeleton.solver}; until all 5 answer, this exits 3 "
        f"and names those that do not:\n  {built}f2csa conform\n"
    )
