"""How processes of ours are started: without the caller's main module, with our modules first, one BLAS thread each."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SAFE_PATH = "PYTHONSAFEPATH"
OURS = "F2CSA_SAFE_START"
"""Set where ``PYTHONSAFEPATH`` is ours, not the user's: the worker takes it away again."""


@contextmanager
def main_left_alone() -> Iterator[None]:
    """Start workers without running the caller's main module in them.

    They need nothing from it, and running it again would start another run in every script that has no
    ``if __name__ == "__main__"`` guard.
    """
    main = sys.modules["__main__"]
    names = ("__file__", "__spec__")
    attributes: dict[str, Any] = {name: main.__dict__.pop(name) for name in names if name in main.__dict__}
    main.__dict__["__spec__"] = None
    try:
        yield
    finally:
        main.__dict__.update(attributes)


def start_early() -> None:
    """Begin the process that workers are forked from, so that it imports what they need beside this one."""
    with one_blas_thread(), main_left_alone():
        if context().get_start_method() == "forkserver":
            from multiprocessing import forkserver

            forkserver.ensure_running()


def context() -> Any:
    """How worker processes are started."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["verify.campaign.worker_imports", "verify.campaign.plan", "f2csa_ref"])
    return context


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Workers inherit one BLAS thread each: two on two cores stall one another.

    Nor do they look into the working folder first: a ``verify.py`` or ``spec/`` of the user's there is not ours.
    """
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    safe = () if SAFE_PATH in os.environ else (SAFE_PATH, OURS)
    before = {name: os.environ.get(name) for name in (*names, *safe)}
    os.environ.update(dict.fromkeys(before, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def as_the_user_has_it() -> None:
    """Leave in a worker's environment what the user put there: programs it starts find their own folder again."""
    if os.environ.pop(OURS, None):
        os.environ.pop(SAFE_PATH, None)
