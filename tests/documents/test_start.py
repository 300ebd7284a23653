"""The page of all commands, whose examples take as long as those of all others: a file, and so a worker, of its own."""

from __future__ import annotations

from tests.documents.all_pages import START, played


def test_the_examples_of_the_page_of_commands_do_what_it_says(tmp_path):
    played(START, tmp_path)
