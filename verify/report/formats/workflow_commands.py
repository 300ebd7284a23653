"""Issues as workflow commands of GitHub Actions, ``::error file=…,line=…,title=…::message``: a job's annotations.

The form and its escapes are those of the runner (actions/toolkit, ``packages/core/src/command.ts``): in the message
``%``, CR and LF, in a property besides them ``:`` and ``,``.
"""

from __future__ import annotations

from collections.abc import Sequence

from verify.report.findings.found_issues import Issue

SHOWN = 10
"""Annotations of a level that GitHub shows of one step."""
LONGEST = 1000
"""Characters of a message; an annotation is for a margin."""


def commands_of(issues: Sequence[Issue]) -> list[str]:
    """One command an issue; issues of one rule with one message, or of one line of source, are one.

    Of each level at most ten are said, as many as GitHub shows; the last then counts the rest.
    """
    groups: dict[tuple[str, object], list[Issue]] = {}
    for issue in issues:
        same = issue.place if issue.place is not None else (issue.rule, issue.kind)
        groups.setdefault((issue.level, same), []).append(issue)
    lines = []
    for level in ("error", "warning"):
        own = [group for (of, _), group in groups.items() if of == level]
        shown = own if len(own) <= SHOWN else own[: SHOWN - 1]
        lines += [_command(group) for group in shown]
        if rest := sum(map(len, own[len(shown) :])):
            more = f"{rest} more; report.md and report.json list all"
            lines.append(f"::{level} title={escape_property('and more')}::{escape_message(more)}")
    return lines


def _command(group: Sequence[Issue]) -> str:
    first = group[0]
    named = {} if first.place is None else {"file": first.place.file, "line": str(first.place.line)}
    named["title"] = f"{first.kind}: {first.where}" if first.kind != first.rule else first.rule
    more = f"{first.message} (and {len(group) - 1} more of it)" if len(group) > 1 else first.message
    if first.reproduce:
        more += f"\nAgain: {first.reproduce}"
    told = ",".join(f"{name}={escape_property(value)}" for name, value in named.items())
    return f"::{first.level} {told}::{escape_message(more if len(more) <= LONGEST else more[:LONGEST] + ' …')}"


def escape_message(text: str) -> str:
    """Text as a command's message; what an older runner would take for one within it is parted."""
    return text.replace("##[", "# #[").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Text as the value of a command's property."""
    return escape_message(text).replace(":", "%3A").replace(",", "%2C")
