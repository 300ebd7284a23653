"""The first page, whose examples take as long as those of all others: a file, and so a worker, of its own."""

from __future__ import annotations

from tests.documents.all_pages import START, played


def test_the_examples_of_the_first_page_do_what_it_says(tmp_path):
    played(START, tmp_path)
