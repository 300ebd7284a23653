"""The page of a made-up run that shows every cause, made and written once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spec.files import write_files
from tests.verify.report.site.story_reports import failing
from verify.report.site.frame import LIVING, SCRIPT, STYLE, Page, SiteFrame, render, script_text, stylesheet_text
from verify.report.site.living.algorithm_page import pages


@pytest.fixture(scope="session")
def page() -> Page:
    (made,) = pages(SiteFrame.of(failing()))
    return made


@pytest.fixture(scope="session")
def texts(page: Page) -> dict[str, str]:
    whole = render(page, replace(SiteFrame.of(failing()), files=(LIVING,)))
    return {LIVING: whole, STYLE: stylesheet_text(), SCRIPT: script_text(), **dict(page.beside)}


@pytest.fixture(scope="session")
def folder(texts: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("living")
    write_files(made, texts)
    return made
