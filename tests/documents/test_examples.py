"""Every example of the documents runs and does what its page says."""

from __future__ import annotations

import pytest

from tests.documents.all_pages import START, WITH_EXAMPLES, played


@pytest.mark.parametrize("page", [page for page in WITH_EXAMPLES if page != START])
def test_the_examples_of_a_page_do_what_it_says(page, tmp_path):
    played(page, tmp_path)
