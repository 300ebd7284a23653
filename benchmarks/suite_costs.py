"""``python -m benchmarks.suite_costs [PYTEST ARGUMENTS]``: processor seconds of the tests by file, dearest first.

Of a test counts what its own process spends in it, fixtures included, and what processes that it waited for spent; what
a fixture of a file or session makes counts with the first test that asks for it.
"""

from __future__ import annotations

import os
import resource
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from tests import copies

SHOWN = 40
COSTS = "processor_seconds"


def spent() -> float:
    """Processor seconds of this process, of the children it has waited for, and of commands in copies of a process."""
    return copies.spent() + sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
                                for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Each test's cost travels with the report of its last phase, to whoever counts."""
    item.stash[STARTED] = spent()
    return (yield)


STARTED = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[object]:
    report = yield
    if report.when == "teardown":
        report.user_properties.append((COSTS, spent() - item.stash[STARTED]))
    return report


class Counting:
    """By file, in the process that reports."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == COSTS and report.when == "teardown":
                file = report.nodeid.partition("::")[0]
                self.seconds[file] += value
                self.tests[file] += 1

    def table(self) -> Iterator[str]:
        """Markdown."""
        yield f"{sum(self.tests.values()):,} tests, {self.seconds.total():.0f} processor seconds."
        yield ""
        yield "| file | tests | processor s |"
        yield "|---|--:|--:|"
        for file, value in self.seconds.most_common(SHOWN):
            yield f"| {file} | {self.tests[file]} | {value:.1f} |"


def main() -> int:
    """Run pytest with what is asked; its exit code."""
    counting = Counting()
    # Workers count, too: they take the plugin by its name.
    code = pytest.main(["-q", "-p", "benchmarks.suite_costs", *sys.argv[1:]], plugins=[counting])
    print(os.linesep.join(counting.table()))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
