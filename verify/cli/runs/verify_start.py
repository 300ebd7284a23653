"""``f2csa verify``; the process that workers are forked from begins first, and imports beside this one."""

from __future__ import annotations

import os
import time

from verify.campaign.starting import start_early
from verify.cli.arguments.options import Verify

# Nothing else is imported here: what is waits before that process.


def verify(options: Verify) -> int:
    """As :func:`verify.cli.runs.verify.verify`; both processes take about a second to import what they need.

    A run that nothing changed since is told again, and nothing of it is imported.
    """
    started = time.monotonic()
    # Where a store is, all may be kept already, and no workers be needed.
    if (
        options.executor is None
        and options.jobs != 1
        and (os.cpu_count() or 1) > 1
        and not any(options.out.glob("*.sqlite"))
    ):
        start_early()
    from verify.cli.runs.unchanged_run import about, told_again

    key = about(options)
    if (code := told_again(options, key, started)) is not None:
        return code
    from verify.cli.runs.verify import verify as carried_out

    return carried_out(options, key, started)
