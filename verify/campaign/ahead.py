"""What a report will need beside its results, made in a thread while worker processes find these.

The process that waits for workers has little to do, and would make all this when they are done, alone.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from verify.campaign.store.kept_results import Request
from verify.campaign.store.stored_report import Searches
from verify.campaign.summary import is_searched
from verify.report.model import Result
from verify.verdict import Verdict

FEW = 50
"""Where fewer results are left to find, it is not worthwhile: what is made might never be asked for."""


class Ahead:
    """Makes ahead what pages hold whatever is found, then searches for what refutes a statement once a result does.

    All of it is kept where it is made, so that nothing but the time shows whether it was made ahead. What fails here
    fails again, and is told, where it is needed.

    Args:
        request: What the run is about; a foreign subject's report needs no searches.
        search: What searches for smallest counterexamples; nobody else uses it before this has ended.
        worthwhile: Whether there is anything to wait for beside; else nothing is made.
    """

    def __init__(self, request: Request, search: Searches, *, worthwhile: bool) -> None:
        self._request, self._search = request, search
        self._left: SimpleQueue[str | None] = SimpleQueue()
        self._ended = False
        self._thread = threading.Thread(target=self._work, daemon=True) if worthwhile else None

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        self._left.put(None)
        if self._thread is not None:
            self._thread.join()

    def of(self, result: Result) -> None:
        """A result is there: what it will need may be made."""
        if (
            self._thread is not None
            and result.verdict is Verdict.REFUTED
            and is_searched(self._request.subject, result.reading)
        ):
            self._left.put(result.claim)

    def _work(self) -> None:
        # A run of few results does without what draws pages.
        from verify.report.site.preparing import preparations

        try:
            for step in preparations():
                if self._ended:
                    return
                step()
            while (claim := self._left.get()) is not None and not self._ended:
                self._search(claim)
        except Exception:  # told where it is needed
            return
