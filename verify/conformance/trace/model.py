"""The line of a mistake, as data: what every surface prints is made here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from verify.evidence.model import FrozenData

Say = Callable[[str], None]
"""Who is told what is looked for now."""
TracedStage = Literal["lower_level", "activation", "penalty_minimiser", "hypergradient", "samples", "optimise"]
"""Stages whose lines are looked for."""


class TracedLine(FrozenData):
    """An expression of the user's that, put right, puts every wrong question right.

    Args:
        stage: The stage that is wrong.
        file: The file, below the working directory where it is there.
        line: Where the expression, or what should be changed within it, begins, counted from 1.
        text: The expression as written.
        quantity: What it should be: a quantity, source between backticks, or what should become of a statement.
        instead: What it is there instead, where that has a name; empty else.
        wrong: Wrong questions, all of which were right with it put right.
        asked: Questions of that kind.
        where: On what questions alone it is wrong, where one condition says so.
        unknown: A name read in it whose value is no known quantity: that may be wrong before.
        is_loop: Whether the line is that of a loop which ends before it has reached the quantity.
        beside: The place of a second mistake: only with both put right are all questions right.
        is_doubtful: Whether what is made there is right as it is, so that a change may make up for another mistake.
    """

    stage: TracedStage
    file: str
    line: int
    text: str
    quantity: str
    instead: str = ""
    wrong: int
    asked: int
    where: str = ""
    unknown: str = ""
    is_loop: bool = False
    beside: str = ""
    is_doubtful: bool = False

    @property
    def place(self) -> str:
        """``my_solver.py:52``."""
        return f"{self.file}:{self.line}"

    @property
    def sentence(self) -> str:
        """The tested statement, without its place."""
        return self.words if self.is_loop else f"`{self.text}` {self.words}"

    @property
    def words(self) -> str:
        """What the expression should be and what that was tested on."""
        this = f"this and {self.beside} put right, with neither alone" if self.beside else "this put right"
        questions = f"wrong on {self.wrong} of {self.asked} questions{self.where}, all right with {this}"
        if self.is_loop:
            return f"the loop here ends before it reaches {self.quantity} ({questions.replace('this', 'its start')})"
        may = f"; {self.unknown}, read there, is no quantity known here and may be wrong before" if self.unknown else ""
        if self.is_doubtful:
            may += "; all that is made there is right as it is, so that this may make up for a mistake elsewhere"
        return f"should be {self.quantity}{self.instead} ({questions}{may})"

    def is_named_in(self, text: str) -> bool:
        """Whether a text names the quantity, by its letter or its formula."""
        plain = [re.sub(r"_\{t[+−]1\}", "_t", one).replace(" ", "") for one in (*self.quantity.split(" = "), text)]
        return any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", plain[-1]) for one in plain[:-1])

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}"


class Trace(FrozenData):
    """What a search for lines came to.

    Args:
        lines: One a stage, or two where two mistakes are told apart.
        no_line: Stages that are wrong in what was asked here and for which no line is named, each with the reason.
        left_out: Files that could not be rewritten, each with the reason.
        seconds: How long it took.
        stopped: Whether it was ended by its limit.
    """

    lines: tuple[TracedLine, ...] = ()
    no_line: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0
    stopped: bool = False

    def placed(self, explained: Sequence[tuple[str, str]]) -> list[list[tuple[TracedLine, str]]]:
        """The lines under each explanation ``(stage, sentence)``, with what is to be said beside.

        Of several of one stage a line belongs to the one that names its quantity; where no single one does, it stands
        after the last.
        """
        under: list[list[tuple[TracedLine, str]]] = [[] for _ in explained]
        for line in self.lines:
            own = [i for i, (stage, _) in enumerate(explained) if stage == line.stage]
            naming = [i for i in own if line.is_named_in(explained[i][1])] if len(own) > 1 else own
            beside = "" if len(naming) == 1 else f"; which of what is said of {line.stage} it makes is not known"
            if own:
                under[naming[0] if len(naming) == 1 else own[-1]].append((line, beside))
        return under

    def notes(self) -> list[str]:
        """What a reader should know beside the lines."""
        told = [f"No line is named for {reason}." for reason in self.no_line]
        if self.left_out:
            told.append(f"Left out of the search for lines: {', '.join(self.left_out)}.")
        if self.stopped:
            told.append(f"The search for lines was ended after {self.seconds:.0f} s.")
        return told
