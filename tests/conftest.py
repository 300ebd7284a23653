"""Settings every test shares."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
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

DEAREST = (
    "verify/campaign/recheck/test_rechecking.py", "verify/checks/test_outer_loop_claims.py",
    "verify/checks/test_audit_numbers.py", "verify/checks/test_moment_premises.py",
    "verify/conformance/test_conform.py", "verify/conformance/test_diagnosis.py",
    "verify/conformance/bugs/test_kill_matrix.py", "verify/cli/test_every_stream.py",
    "verify/method/test_loop_edits.py", "verify/campaign/recheck/test_forgeries.py",
    "verify/checks/test_null_optimisers.py", "verify/campaign/test_run.py", "verify/conformance/test_strangers.py",
    "verify/conformance/blame/test_loop.py", "verify/truth/propositions/test_axes.py",
    "verify/subjects/test_fuzz_subjects.py", "verify/conformance/test_gates.py",
    "verify/conformance/blame/test_sum_blame.py", "verify/checks/test_stochastic_claims.py",
    "verify/proofs/test_kernel_proofs.py", "verify/proofs/test_fooled_proofs.py",
    "verify/report/site/test_all_pages.py", "verify/checks/measuring/test_budget.py",
)  # fmt: skip
"""Files that take ten processor seconds and more, dearest first (benchmarks/README.md)."""


def pytest_configure(config: pytest.Config) -> None:
    """Files are handed to workers in the order of collection, not by how many tests they hold."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The dearest files first: whichever worker ends last then has only a cheap one left, and the other waits less."""
    rank = {file: k for k, file in enumerate(DEAREST)}
    here = Path(__file__).parent
    order = {path: rank.get(path.relative_to(here).as_posix(), len(rank)) for path in {item.path for item in items}
             if path.is_relative_to(here)}  # fmt: skip
    items.sort(key=lambda item: order.get(item.path, len(rank)))


def pytest_collection_finish() -> None:
    """What was collected stays: looking through it again for garbage finds none."""
    gc.collect()
    gc.freeze()
