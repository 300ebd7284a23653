"""The bar that a terminal shows while a run lasts: it goes forward only, and says the time to go."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from verify.cli.output.pace import Pace

WIDTH = 24
"""Of the bar, in letters, whatever stands beside it."""


class ToGo(ProgressColumn):
    """The time to go, of the stage that is at work."""

    def __init__(self, pace: Pace) -> None:
        super().__init__(Column(no_wrap=True, min_width=len("about 55 min to go")))
        self.pace = pace

    def render(self, task: Task) -> Text:
        """Nothing beside what is finished."""
        return Text("" if task.finished else self.pace.to_go(self.pace.clock()))


class Bar:
    """Told how much is done, of how much, and what was done last. A stage after another has a bar of its own.

    What was done last is cut to the room there is, so that its length moves nothing.

    Args:
        console: Where it is shown, once ``shown`` is entered.
        clock: Seconds, from any zero.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.pace = Pace(clock)
        what = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
        columns = (
            BarColumn(WIDTH, table_column=Column(no_wrap=True, min_width=WIDTH)),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TimeElapsedColumn(table_column=Column(no_wrap=True)), ToGo(self.pace), what,
        )  # fmt: skip
        self.shown = Progress(*columns, console=console, transient=True, expand=True)
        self.tasks = [self.shown.add_task("starting", total=None)]

    def __call__(self, done: int, total: int, what: str) -> None:
        """Hear it."""
        before = self.pace.stage
        self.pace(done, total, what)
        if self.pace.stage > before >= 1:
            self.shown.stop_task(self.tasks[-1])
            self.tasks.append(self.shown.add_task(""))
        self.shown.update(self.tasks[-1], completed=done, total=total, description=self.pace.what)
