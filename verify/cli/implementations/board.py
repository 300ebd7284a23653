"""``f2csa board``: reports of several programs side by side, as a page and as Markdown."""

from __future__ import annotations

import sys

from spec.files import write_files
from verify.cli.arguments import store_options
from verify.cli.output.console import print_json_text
from verify.cli.output.folder import require_folder
from verify.conformance.board.board_page import board_markdown, board_page
from verify.conformance.board.entrants import board_of

PAGE, MARKDOWN = "board.html", "board.md"


def board(options: store_options.EntrantsOptions) -> None:
    """Write the board into its folder, and print its Markdown, or its data."""
    require_folder(options.out)
    scoreboard = board_of(options.reports)
    text = board_markdown(scoreboard)
    paths = write_files(options.out, {PAGE: board_page(scoreboard, options.out), MARKDOWN: text})
    if options.as_json:
        print_json_text(scoreboard.model_dump_json(indent=1))
    else:
        sys.stdout.write(text)
    sys.stderr.write("".join(f"{path}\n" for path in paths))
