"""Settings every test shares."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.copies import copying
from tests.kept import Keeping
from tests.whole import CHOOSING, RUN, Whole

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
    "documents/test_examples.py", "verify/campaign/store/test_contradictions.py",
    "verify/conformance/test_conform.py", "verify/conformance/blame/test_partly_given.py",
    "verify/cli/runs/test_unchanged_run.py", "verify/proofs/test_kernel_certificates.py",
    "verify/cli/runs/test_baseline.py", "verify/conformance/test_strangers.py",
    "verify/campaign/recheck/test_rechecking.py", "examples/test_ten_minutes.py",
    "verify/cli/output/test_closed_streams.py", "verify/campaign/test_run.py", "spec/test_neighbours.py",
    "verify/report/site/claims/test_objections.py", "verify/conformance/board/test_entrants.py",
    "verify/conformance/test_over_the_wire.py", "verify/conformance/letter/test_diagnosis.py",
    "verify/conformance/blame/test_sum_blame.py", "verify/evidence/test_continuation.py",
    "verify/cli/output/test_every_stream.py", "verify/cli/output/test_ci_output.py",
    "verify/cli/runs/test_run_summary.py", "verify/conformance/probes/test_probes.py",
    "verify/cli/test_pytest_plugin.py", "meta/test_action.py", "verify/proofs/test_fooled_proofs.py",
    "verify/report/site/paper/test_paper_page.py", "verify/checks/test_text_and_sources.py",
    "verify/conformance/blame/test_state.py", "verify/conformance/test_exit_first.py",
    "verify/conformance/blame/test_loop.py", "verify/conformance/blame/test_warm_rows.py",
    "verify/conformance/blame/test_lower_slips.py", "meta/test_same_orders.py",
    "verify/conformance/bugs/generated/test_generated.py", "verify/conformance/blame/test_solver_slips.py",
    "verify/conformance/blame/test_call_blame.py", "verify/report/site/test_all_pages.py",
    "meta/test_contributing.py", "verify/report/site/living/test_living_in_a_browser.py",
    "verify/campaign/calibration/test_calibration.py", "verify/subjects/test_hostile.py",
    "verify/conformance/test_skeleton_files.py", "verify/method/test_loop_edits.py", "verify/cli/test_project.py",
    "verify/conformance/bugs/test_kill_matrix.py", "verify/report/site/test_in_a_browser.py",
)  # fmt: skip
"""Files that take about twelve processor seconds and more, dearest first (benchmarks/README.md)."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """All of what is many, instead of a sample of it, or all of some kinds."""
    parser.addoption("--whole", action="store_true", help=f"run all tests of tests/whole.py, and record it: {RUN}")
    parser.addoption("--kind", default="", help="with --whole: kinds alone whose name in tests/many.toml has this")


def pytest_configure(config: pytest.Config) -> None:
    """Files are handed to workers in the order of collection, not by how many tests they hold."""
    config.stash[CHOOSING] = Whole(config)
    config.pluginmanager.register(config.stash[CHOOSING])
    config.pluginmanager.register(Keeping())
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The dearest files first: whichever worker ends last then has only a cheap one left, and the other waits less."""
    rank = {file: k for k, file in enumerate(DEAREST)}
    here = Path(__file__).parent
    order = {path: rank.get(path.relative_to(here).as_posix(), len(rank)) for path in {item.path for item in items}
             if path.is_relative_to(here)}  # fmt: skip
    items.sort(key=lambda item: order.get(item.path, len(rank)))


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Words in place of a Python's path, for ``-m MODULE``: a copy of one process, not a start (tests/copies.py)."""
    with copying(tmp_path_factory.mktemp("copied")) as words:
        yield words


def pytest_collection_finish() -> None:
    """What was collected stays: looking through it again for garbage finds none."""
    gc.collect()
    gc.freeze()
