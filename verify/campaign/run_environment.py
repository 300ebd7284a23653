"""What a run runs on: versions, and where its subject does."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from verify.subjects import Subject
from verify.subjects.loading import as_program
from verify.subjects.protocol import TRUSTED
from verify.subjects.subject_names import COMMAND, REFERENCE

PACKAGES = ("f2csa-verify", "numpy", "scipy", "daqp", "python-flint", "pydantic", "sympy")
"""What computes results, ours first; each of its versions may compute others."""


def environment() -> dict[str, str]:
    """What a report says that it was computed with: versions, and what chooses the last digits; no names, no paths."""
    return versions() | machine()


def versions() -> dict[str, str]:
    """Versions that can influence a number by more than rounding: part of the address of a result."""
    packages = {name: metadata.version(name) for name in PACKAGES}
    return {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}", **packages}


def machine() -> dict[str, str]:
    """What chooses the last digits here: numpy's code by processor, BLAS with its kernel and threads, and libm."""
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own, which counts once it is loaded

    libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
    named = {" ".join(str(one[key]) for key in _OF_BLAS if one.get(key)) for one in libraries}
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    return {
        "numpy dispatch": " ".join(simd.get("found", ())) or "none beyond the baseline",
        "BLAS": ", ".join(sorted(named)) or "unknown",
        "BLAS threads": str(THREADS),
        "libm": " ".join(platform.libc_ver()).strip() or "unknown",
    }


THREADS = 1
"""Threads of BLAS that a check is held to: sums over several have no one order."""
NOISE = "class of noise"
"""What a project states of it; nothing where it states none."""
MACHINE = ("numpy dispatch", "BLAS", "BLAS threads", "libm")
"""What :func:`machine` says; it decides about last digits alone, so that results of several machines are of one run."""
_OF_BLAS = ("internal_api", "version", "architecture")
"""Of a library that threadpoolctl found: kind, version and the kernel it chose."""


def of_every_machine(environments: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The environment of a run that several machines share: what each of them says, where they differ."""
    given = list(environments)
    shared_environment = dict(given[0])
    for name in MACHINE:
        if values := sorted({value for one in given if name in one for value in one[name].split(_OR)}):
            shared_environment[name] = _OR.join(values)
    return shared_environment


_OR = " or "


def whereabouts(subject: str | Subject, *, in_process: bool) -> dict[str, str]:
    """What is to be said of a subject that runs among those who judge it."""
    if isinstance(subject, str):
        foreign = in_process and subject != REFERENCE and not subject.startswith(COMMAND)
    else:
        held: Any = subject
        while type(held).__module__.startswith("verify.") and "_subject" in getattr(held, "__dict__", {}):
            held = held.__dict__["_subject"]  # what paces and times a subject stands around it
        foreign = as_program(held) is None and type(held) not in TRUSTED
    return {"subject runs": "in the judge's own process: nothing keeps it from deceiving"} if foreign else {}
