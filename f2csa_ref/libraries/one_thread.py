"""One thread for numerical libraries: two on two cores stall one another, and sums differ with their number."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS to one thread. Limits hold for what is loaded: scipy's, which is loaded late, is loaded before."""
    from threadpoolctl import threadpool_limits

    importlib.import_module("scipy.linalg")
    with threadpool_limits(limits=1):
        yield
