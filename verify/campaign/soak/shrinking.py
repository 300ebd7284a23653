"""From a draw on which a statement goes wrong to the smallest problem found on which it goes wrong in the same way."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import HypothesisException

from spec.atlas import Instance, find, hold_instance
from spec.errors import InvalidInputError
from verify.campaign.draws import status_of_draw
from verify.campaign.plan import Task
from verify.campaign.soak.simpler_problems import simpler_problems
from verify.checks.measuring.case import checks
from verify.checks.measuring.where_asked import is_place_of
from verify.report.model import Result

Judge = Callable[[Task], Result]
"""Whoever answers one task."""
TRIES = 400
"""Problems drawn until one shows it: the first ones are nearly the draw itself."""
SECONDS = 30.0
"""Longest time spent on one finding."""
WORDS = 8
"""Words of a fault that must be the same."""


def way_of(result: Result) -> str:
    """How a result went wrong: its outcome, and of a fault its first words without numbers."""
    words = re.findall(r"[^\W\d_]{2,}", result.fault or "")
    return " ".join([status_of_draw(result), *words[:WORDS]])


def shrunk(task: Task, judge: Judge, seconds: float = SECONDS) -> tuple[Instance, Result] | None:
    """The smallest problem found on which a task's statement goes wrong as it does on its own, and the result there.

    Args:
        task: About a draw.
        judge: Answers tasks.
        seconds: After which no further problem is asked about.

    Returns:
        ``None`` if nothing goes wrong there, asked once more.
    """
    start, given = find(task.instance), judge(task)
    wanted = way_of(given)
    if status_of_draw(given) not in ("FAULT", "REFUTED"):
        return None
    if not seconds:
        return start, given
    search = _Shrinking(task, judge, wanted, time.monotonic() + seconds)
    search.shows(start.text)  # the draw, by what it holds
    how = settings(
        database=None, deadline=None, max_examples=TRIES, phases=(Phase.generate, Phase.shrink), print_blob=False,
        suppress_health_check=list(HealthCheck), verbosity=Verbosity.quiet,
    )  # fmt: skip
    with _nothing_left_behind():
        try:
            text = hypothesis.find(simpler_problems(start), search.shows, settings=how, random=Random(0))
        except HypothesisException:  # nothing simpler shows it
            text = start.text
    smallest = search.shown.get(text)
    return (start, given) if smallest is None else smallest


class _Shrinking:
    """Which problems show it: each is asked about once."""

    def __init__(self, task: Task, judge: Judge, wanted: str, ends: float) -> None:
        self.task, self.judge, self.wanted, self.ends = task, judge, wanted, ends
        self.shown: dict[str, tuple[Instance, Result] | None] = {}

    def shows(self, text: str) -> bool:
        if text not in self.shown:
            self.shown[text] = None if time.monotonic() > self.ends else self._tried(text)
        return self.shown[text] is not None

    def _tried(self, text: str) -> tuple[Instance, Result] | None:
        try:
            # A name of its own: what is kept of one problem must not serve another.
            instance = hold_instance(f"tried-{len(self.shown)}-of-{self.task.instance}.json", text)
            if not is_place_of(checks()[self.task.claim], instance.name):
                return None
        except InvalidInputError:
            return None
        result = self.judge(replace(self.task, instance=instance.name, posed=instance.text))
        return (instance, result) if way_of(result) == self.wanted else None


@contextmanager
def _nothing_left_behind() -> Iterator[None]:
    """Let Hypothesis keep what it keeps in a folder that goes."""
    with tempfile.TemporaryDirectory() as folder:
        set_hypothesis_home_dir(Path(folder))
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)
