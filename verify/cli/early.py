"""``f2csa verify``, with the process that workers are forked from begun before this one imports what it needs itself."""

from __future__ import annotations

from verify.campaign.starting import start_early
from verify.campaign.store.database import NAME as STORE
from verify.cli.console import cores
from verify.cli.options import Verify


def verify(asked: Verify) -> int:
    """As :func:`verify.cli.verify.verify`; both take about a second to import, one beside the other."""
    # Where results are kept already, there may be nothing left for workers to do.
    if asked.executor is None and asked.jobs != 1 and cores() > 1 and not (asked.out / STORE).exists():
        start_early()
    from verify.cli.verify import verify as carried_out

    return carried_out(asked)
