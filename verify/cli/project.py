"""What a project's settings add to a command line: whatever was not given there, and its two lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from spec.errors import InvalidInputError
from spec.expectations import ExpectedFailure, Kind, Skip, read_list
from spec.settings import OWN, SHARED, FoundSettings, load_settings
from verify.cli.arguments import options
from verify.cli.arguments.conform_options import Conform
from verify.cli.arguments.skeleton_options import SettingsOptions
from verify.cli.arguments.sources import require_one_of
from verify.cli.output.console import print_json, print_lines


class Lists(NamedTuple):
    """What is expected to fail and what is not asked, and a line on what the settings say; empty without any."""

    expected_failures: tuple[ExpectedFailure, ...] = ()
    skips: tuple[Skip, ...] = ()
    notice: str = ""


AnyCommand = TypeVar("AnyCommand", bound=options.Verify | options.RecordOptions | Conform)


def settings_of(subject: str | None, *, unread: bool) -> FoundSettings:
    """The settings of the working directory, unless they are to be left unread or are another subject's.

    Raises:
        InvalidInputError: If they are broken.
    """
    return FoundSettings() if unread else load_settings().of(subject)


def with_settings(request: AnyCommand, subject: str | None) -> tuple[AnyCommand, FoundSettings]:
    """A command with what the settings say where nothing was given; the settings, with what was taken alone.

    An effort goes with a profile, so that a command that repeats a result repeats it.

    Args:
        request: The command.
        subject: Whom it names, if anybody.

    Raises:
        InvalidInputError: If settings are broken.
    """
    own_settings = settings_of(subject, unread=request.no_settings)
    empty: tuple[object, ...] = (None, (), [])
    taken: dict[str, Any] = {
        name: value for name, value in own_settings.settings
        if value not in empty and getattr(request, name, value) in empty and (name != "effort" or not request.profile)
    }  # fmt: skip
    if "baseline" in taken:
        taken["baseline"] = Path(taken["baseline"])
    return replace(request, **taken), own_settings


def settings(request: SettingsOptions) -> None:
    """Print the settings of the working directory, as they are understood."""
    own_settings = load_settings()
    held = own_settings.settings.model_dump(mode="json", by_alias=True, exclude_defaults=not request.as_json)
    if request.name is not None:
        whole = own_settings.settings.model_dump(mode="json", by_alias=True)
        value = whole[require_one_of("name", request.name, whole)]
        if value in (None, [], {}):
            raise InvalidInputError(request.name, f"must be set in {OWN} or in [tool.f2csa] of {SHARED}")
        shown = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else " ".join(map(str, _each(value)))
        print_lines([shown])
        return
    if request.as_json:
        print_json({"source": own_settings.source or None} | held)
        return
    if not own_settings.source:
        print_lines(["no settings here: f2csa.toml, or [tool.f2csa] in pyproject.toml, would say them"])
        return
    lines = [f"{own_settings.source}:"]
    for name, value in held.items():
        if isinstance(value, dict):
            lines += [f"  {name}:", *(f"    {entry}: {reason}" for entry, reason in value.items())]
        else:
            lines.append(f"  {name}: {', '.join(value) if isinstance(value, list) else value}")
    print_lines(lines)


def lists_of(own_settings: FoundSettings, xfails: Path | None = None, skips: Path | None = None) -> Lists:
    """What is expected to fail and what is not asked: of the settings, which are of this subject, and of files.

    Raises:
        InvalidInputError: If a file is broken, or names what the settings name.
    """
    held = own_settings.settings
    failing = _joined(held.failing, ExpectedFailure, xfails, "--xfails-file")
    skipped = _joined(held.skipped, Skip, skips, "--skips-file")
    rest = " are another subject's: none of them is used" if own_settings.is_of_another else ""
    return Lists(failing, skipped, f"settings of {own_settings.source}{rest}" if own_settings.source else "")


def _joined(own: Sequence[Kind], kind: type[Kind], file: Path | None, option: str) -> tuple[Kind, ...]:
    more = () if file is None else read_list(kind, file, option)
    known = {entry.id for entry in own}
    for entry in more:
        if entry.id in known:
            raise InvalidInputError(option, "must not name what the settings name, too", entry.id)
    return (*own, *more)


def _each(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
