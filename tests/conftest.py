"""Settings every test shares."""

from __future__ import annotations

import gc
import os
import sys

from hypothesis import settings

# Read as numpy is first imported: threads of matrices of a few rows only stall the other worker's.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A run in a workflow prints annotations for it.
os.environ.pop("GITHUB_ACTIONS", None)

# What is compiled once serves every process that tests start: each would compile the whole package, for seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test is timed: a loaded machine must not fail one.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """What was collected stays: looking through it again for garbage finds none."""
    gc.collect()
    gc.freeze()
