"""``f2csa doctor``: what computes here, and whether it is ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from threadpoolctl import threadpool_info

from f2csa_command import ROOT, own_files
from verify.campaign.run_environment import environment, machine
from verify.cli.arguments.skeleton_options import Doctor
from verify.cli.output.console import cores, print_json, printable


def doctor(options: Doctor) -> int:
    """Print it; returns the exit code, 3 where files of our packages are not those that were installed."""
    files = own_files()
    threads = max((int(one["num_threads"]) for one in threadpool_info() if one["user_api"] == "blas"), default=1)
    data: dict[str, Any] = {
        "versions": environment(),
        "machine": machine() | {"cores": str(cores()), "BLAS threads outside of checks": str(threads)},
        "settings": {name: os.environ[name] for name in CHOOSING if name in os.environ},
        "packages": str(ROOT),
        "interpreter": sys.executable,
        "installed": files.installed,
        "altered": list(files.altered),
        "others": list(files.others),
        "well": not files.altered,
    }
    if options.as_json:
        print_json(data)
    else:
        lines = [*_rows("versions", data), *_rows("machine", data), *_rows("settings", data)]
        lines += [f"packages: {ROOT}, installed {files.installed}", f"interpreter: {sys.executable}"]
        lines.append(f"fault: {files}" if files.altered else WELL[files.installed])
        sys.stdout.write("".join(printable(line) + "\n" for line in lines))
    return 3 if files.altered else 0


CHOOSING = (
    "OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NPY_DISABLE_CPU_FEATURES",
    "NPY_ENABLE_CPU_FEATURES", "MKL_CBWR", "SYMPY_GROUND_TYPES",
)  # fmt: skip
"""Environment variables by which libraries choose their code."""
WELL = {
    "as a wheel": "well: every file of the packages is the one that was installed",
    "editable": "well: an editable installation, whose files are those of a working copy",
    "not at all": "well: run from a folder, whose files are held against nothing",
}
"""What is said of files that are ours, by how they were installed."""


def _rows(part: str, data: Mapping[str, Any]) -> list[str]:
    held: Mapping[str, str] = data[part]
    return [f"{part}:", *(f"  {name}: {value}" for name, value in held.items())] if held else []
