"""A board as a page and as Markdown: programs in columns, then what each stage and each statement came out with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from verify.conformance.board.entrants import Board, BoardProgram
from verify.report.formats.markdown import escape
from verify.report.signs import look
from verify.report.site.frame import stylesheet_text
from verify.report.site.front_pages.subject_page import STANDS
from verify.report.site.words.cell_numbers import figure, word
from verify.report.wording import counted, typeset

TITLE = "F2CSA: programs side by side"
NOT_ASKED = "not asked"
_OWN = """
main { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.1rem 4rem; }
.board th, .board td { padding: .3rem 1rem .3rem 0; overflow-wrap: anywhere; }
.board thead th { overflow-wrap: normal; }
.board .v { white-space: normal; } .board code { font-size: .8em; }
@media screen and (max-width: 50rem) {
  .board, .board :is(caption, tbody, tr, th, td) { display: block; width: auto !important; }
  .board thead { display: none; } .board tr { padding: .6rem 0; border-top: 1px solid var(--rule); }
  .board th, .board td { border: 0 !important; padding: .1rem 0; }
  .board td[data-l]::before { content: attr(data-l) ": "; font-style: italic; color: var(--quiet); }
}
"""


def board_page(board: Board, folder: Path) -> str:
    """The page; ``folder`` is where it goes, from which it leads to the reports."""
    body = Markup("").join(
        [
            Markup('<p class="kicker">F2CSA, held against the repaired paper</p><h1>{}</h1>').format(
                f"{counted(len(board.entrants), 'program')} side by side"
            ),
            *(Markup("<p><b>{}</b></p>").format(line) for line in board.cautions),
            _table("The programs", ("Program", *_FACTS), [_facts(one, folder) for one in board.entrants]),
            *_stages(board),
            *_statements(board),
            *_letters(board),
        ]
    )
    style = Markup((stylesheet_text() + _OWN).replace("</", "<\\/"))  # our own file
    return str(
        Markup(
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="generator" content="f2csa-verify">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n<title>{}</title>\n<style>\n{}\n</style>\n</head>\n'
            '<body>\n<a class="skip" href="#main">To the content</a>\n<main id="main">\n{}\n</main>\n</body>\n</html>\n'
        ).format(TITLE, style, body)
    )


_FACTS = ("Version", "Statements that hold", "Profile", "Judged on", "Findings", "Faults")


def _facts(one: BoardProgram, folder: Path) -> list[Markup | str]:
    href = os.path.relpath(one.page, folder) if one.page else ""
    name = Markup('<a href="{}">{}</a>').format(href, one.name) if href else Markup("{}").format(one.name)
    held = f"{one.coverage.held} of {one.coverage.applicable} asked, of {one.coverage.all}"
    suite = f" (suite {one.suite})" if one.suite else ""
    return [name, one.version or "not said", held, one.profile, f"{one.date}{suite}", str(one.findings),
            str(one.faults)]  # fmt: skip


def _stages(board: Board) -> Iterator[Markup]:
    if not board.stages:
        return
    yield Markup('<h2 id="stages">Stage by stage</h2><p>Each stage by itself, on right inputs.</p>')
    rows = [
        [Markup("<code>{}</code>").format(stage), *(_status(one.status_of.get(stage, "")) for one in board.entrants)]
        for stage in board.stages
    ]
    yield _table("Stages", ("Stage", *_names(board)), rows)


def _status(status: str) -> Markup | str:
    return figure(STANDS[status], status) if status in STANDS else NOT_ASKED


def _statements(board: Board) -> Iterator[Markup]:
    """What differs in full; what comes out alike of all, counted and folded."""
    differing = board.differing
    alike = [name for name in board.statements if name not in differing]
    yield Markup('<h2 id="statements">Statement by statement</h2>')
    if differing:
        yield _table("Statements on which the programs differ", ("Statement", *_names(board)),
                     [_row(board, name) for name in differing])  # fmt: skip
    if alike:
        told = counted(len(alike), "statement comes", "statements come")
        yield Markup("<details><summary>{} out alike</summary>{}</details>").format(
            told, _table("Statements alike", ("Statement", *_names(board)), [_row(board, name) for name in alike])
        )


def _row(board: Board, name: str) -> list[Markup | str]:
    cells = [one.statements.get(name, "") for one in board.entrants]
    return [Markup("<code>{}</code>").format(name), *(figure(c, word(c)) if c else NOT_ASKED for c in cells)]


def _letters(board: Board) -> Iterator[Markup]:
    told = [one for one in board.entrants if one.letter]
    if told:
        yield Markup('<h2 id="letters">What they compute instead</h2>')
    for one in told:
        lines = Markup("").join(Markup("<li>{}</li>").format(typeset(line)) for line in one.letter)
        yield Markup("<h3>{}</h3><ul>{}</ul>").format(one.name, lines)


def _names(board: Board) -> list[str]:
    """Headings of columns; two programs of a name are told apart by their folders."""
    names = [one.name for one in board.entrants]
    return [f"{one.name} ({one.folder})" if names.count(one.name) > 1 else one.name for one in board.entrants]


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[Markup | str]]) -> Markup:
    top = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in head)
    body = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            row[0],
            Markup("").join(
                Markup('<td data-l="{}">{}</td>').format(name, cell)
                for name, cell in zip(head[1:], row[1:], strict=True)
            ),
        )
        for row in rows
    )
    return Markup(
        '<table class="board"><caption class="unseen">{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
    ).format(caption, top, body)


def board_markdown(board: Board) -> str:
    """The same for a wiki or a CI summary."""
    names = [escape(name) for name in _names(board)]
    lines = ["<!-- f2csa-verify -->", f"# {TITLE}", "", *(f"**{escape(line)}**\n" for line in board.cautions)]
    lines += [*_markdown_table(("Program", *_FACTS), [_plain_facts(one) for one in board.entrants])]
    if board.stages:
        rows = [[f"`{s}`", *(_plain(STANDS.get(one.status_of.get(s, ""), ""), one.status_of.get(s, ""))
                             for one in board.entrants)] for s in board.stages]  # fmt: skip
        lines += ["", "## Stage by stage", "", *_markdown_table(("Stage", *names), rows)]
    if board.differing:
        rows = [[f"`{name}`", *(_plain(one.statements.get(name, ""), "") for one in board.entrants)]
                for name in board.differing]  # fmt: skip
        lines += ["", "## Statements on which they differ", "", *_markdown_table(("Statement", *names), rows)]
    alike = len(board.statements) - len(board.differing)
    lines += ["", f"{counted(alike, 'statement comes', 'statements come')} out alike."]
    for one in board.entrants:
        lines += ["", f"## What {escape(one.name)} computes instead", ""] if one.letter else []
        lines += [f"- {escape(line)}" for line in one.letter]
    return "\n".join(lines) + "\n"


def _plain_facts(one: BoardProgram) -> list[str]:
    return [escape(str(Markup("{}").format(cell).striptags())) for cell in _facts(one, Path())]


def _plain(status: str, words: str) -> str:
    return f"{look(status).mark} {words or word(status)}" if status else NOT_ASKED


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
