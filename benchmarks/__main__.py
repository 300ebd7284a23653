"""``python -m benchmarks [--large] [TABLE ...]``: ratios of ours to peers, each in one run, as Markdown.

Tables: oracle, lower-level, penalty, sampling, batched, reading, certificate, report, growth. ``--large`` goes to
d = 4000 (about 4 GB).
BLAS is pinned to one thread; times are minima of repeats that take turns.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import platform
import sys
from importlib.metadata import version

from benchmarks.batched import batched_calls, why_no_gpu
from benchmarks.reading import reading
from benchmarks.speed import TABLES, chosen, growth
from benchmarks.timing import HEAD
from f2csa_ref.libraries.one_thread import one_thread
from spec import InvalidInputError


def machine() -> str:
    """The machine and the versions that matter, in one line."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123  # a device, not a file of ours
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        model = platform.processor()
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "daqp"))
    return f"{model}, {os.cpu_count()} cores, one thread; Python {platform.python_version()}, {packages}"


def main(arguments: list[str]) -> int:
    """Print the tables; 2 where one is asked for that there is not."""
    large = "--large" in arguments
    tables = TABLES | {"batched": batched_calls, "reading": reading}
    try:
        names = chosen([name for name in arguments if name != "--large"], [*tables, "growth"])
    except InvalidInputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{machine()}\n")
    with one_thread():
        for name in names:
            sys.stdout.write(f"\n## {name}\n\n")
            if name == "growth":
                for line in growth(large):
                    sys.stdout.write(f"{line}\n")
                continue
            sys.stdout.write(f"{HEAD}\n")
            for row in tables[name](large):
                sys.stdout.write(f"{row}\n")
                sys.stdout.flush()
            if name == "batched" and (why := why_no_gpu()):
                sys.stdout.write(f"\n{why}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
