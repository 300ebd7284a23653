"""``python -m benchmarks.traced [--all|--record] [PROGRAM ...]``: does ``conform --trace`` name the mistake's line?

Each blind slip of ``slips.toml``, with ``--all`` of the other lists too, is written as a file; its line is sought
as ``f2csa conform --trace`` does, in a process of its own and within its limit. ``--record`` writes ``record.json``
and the tables of ``docs/trace.md``.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.traced.measuring_lines import PROGRAMS, measured_program, measured_slip, slips
from benchmarks.traced.trace_page import Record, tables, write


def main(arguments: list[str]) -> int:
    """Measure, print, and record where that is asked for; 2 where a program is not there."""
    record, every = "--record" in arguments, "--all" in arguments
    chosen = [name for name in arguments if name not in ("--record", "--all")] or list(PROGRAMS)
    unknown = [name for name in chosen if name not in PROGRAMS]
    if unknown:
        sys.stderr.write(f"PROGRAM: must be one of {', '.join(PROGRAMS)}; got {unknown[0]!r}\n")
        return 2
    if record and (every or set(chosen) != set(PROGRAMS)):
        sys.stderr.write("--record: must go with all programs, and without --all\n")
        return 2
    found = []
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for one in pool.map(
            measured_slip, [one for one in slips() if one.program in chosen and (every or one.kind == "blind")]
        ):
            found.append(one)
            sys.stdout.write(f"{one}\n")
            sys.stdout.flush()
    made = Record(slips=tuple(found), programs=tuple(measured_program(name) for name in chosen))
    sys.stdout.write("\n" + tables(made))
    if record:
        write(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
