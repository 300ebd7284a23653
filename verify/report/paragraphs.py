"""Paragraphs for a terminal, folded to its width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from textwrap import wrap

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text


@dataclass(frozen=True)
class Paragraph:
    """Words that are folded to the width; ``style`` is that of their first ``marked`` characters."""

    text: str
    style: str = ""
    marked: int = 0
    indent: str = ""

    def lines(self, width: int) -> list[Text]:
        """As few lines as they fit in."""
        held = self.text.replace(" [", "\u00a0[")
        folded = wrap(held, max(width, 12), subsequent_indent=self.indent, break_on_hyphens=False)
        texts = [Text(line.replace("\u00a0", " ")) for line in folded]
        if texts and self.marked:
            texts[0].stylize(self.style, 0, self.marked)
        return texts


@dataclass(frozen=True)
class Headline:
    """Paragraphs, one under another."""

    paragraphs: tuple[Paragraph, ...]

    def respelt(self, spell: Callable[[str], str]) -> Headline:
        """The same in other letters."""
        return Headline(tuple(replace(one, text=spell(one.text), marked=len(spell(one.text[: one.marked])))
                              for one in self.paragraphs))  # fmt: skip

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for one in self.paragraphs:
            yield from one.lines(options.max_width)
