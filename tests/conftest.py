"""Settings every test shares."""

from __future__ import annotations

import os

from hypothesis import settings

# Read as numpy is first imported: threads of matrices of a few rows only stall the other worker's.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No test is timed: a loaded machine must not fail one.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
