"""What a page says many times and needs to hold once: marks, what signs mean, problem files and theorems."""

from __future__ import annotations

import re
from collections import Counter

_MARK = re.compile(r'<svg class="m" viewBox="0 0 10 10" aria-hidden="true">(.*?)</svg>', re.S)
"""A mark as :func:`verify.report.site.words.cell_numbers.drawn_mark` draws it."""
_MEANING = re.compile(r'<(abbr|span) class="(sym|rung|sign)" title="([^"]*)">')
"""A sign that says what it means when it is pointed at; the script lends the meaning to those after the first."""
_LONG = re.compile(
    r'<details(?: class="more")?><summary>(Problem file|As the kernel states it)</summary>'
    r"(?:(?!<details).)*?</details>",
    re.S,
)
"""What is long, closed, and the same wherever it stands."""


def said_once(text: str) -> str:
    """A whole page with each mark drawn, each sign explained and each long text given where it first stands.

    Args:
        text: The page; what stands before its ``<body>`` is left as it is.
    """
    head, body, rest = text.partition("<body>\n")
    return head + body + _with_links(_with_first_meanings(_with_one_drawing(rest)))


def _with_one_drawing(text: str) -> str:
    """Marks refer to their drawing at the top of the page."""
    drawings: dict[str, str] = {}

    def referring(match: re.Match[str]) -> str:
        name = drawings.setdefault(match[1], f"mark-{len(drawings) + 1}")
        return f'<svg class="m" aria-hidden="true"><use href="#{name}"/></svg>'

    body = _MARK.sub(referring, text)
    symbols = "".join(f'<symbol id="{name}" viewBox="0 0 10 10">{drawn}</symbol>' for drawn, name in drawings.items())
    return f'<svg class="marks" aria-hidden="true">{symbols}</svg>\n{body}' if drawings else body


def _with_first_meanings(text: str) -> str:
    """A meaning that the page has said is left out."""
    meanings: set[tuple[str, str]] = set()

    def put(match: re.Match[str]) -> str:
        tag, kind, meaning = match.groups()
        if (kind, meaning) in meanings:
            return f'<{tag} class="{kind}">'
        meanings.add((kind, meaning))
        return match[0]

    return _MEANING.sub(put, text)


def _with_links(text: str) -> str:
    """A long text that was given before is a link to it."""
    several = {whole for whole, count in Counter(match[0] for match in _LONG.finditer(text)).items() if count > 1}
    places: dict[str, str] = {}

    def put(match: re.Match[str]) -> str:
        whole, words = match[0], match[1]
        if whole not in several:
            return whole
        if whole in places:
            return f'<p class="small"><a href="#{places[whole]}">{words}</a></p>'
        places[whole] = f"given-{len(places) + 1}"
        return whole.replace("<details", f'<details id="{places[whole]}"', 1)

    return _LONG.sub(put, text)
