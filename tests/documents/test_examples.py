"""Every example of the documents runs and does what its page says."""

from __future__ import annotations

import pytest

from tests.documents.all_pages import WITH_EXAMPLES, about, played


@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.about(about(page))) for page in WITH_EXAMPLES])
def test_the_examples_of_a_page_do_what_it_says(page, tmp_path, copied):
    played(page, tmp_path, copied)
