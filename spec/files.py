"""Frozen plain data, how the package's own TOML files become such data, and files written for users."""

from __future__ import annotations

import difflib
import inspect
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from spec.errors import InvalidInputError, from_validation, unwritable

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

BY_US = "# written by f2csa-verify"
"""First line of a TOML file of ours."""
MARKS = (
    BY_US,
    '"schema": "f2csa-', '"f2csa-verify": "', '"name": "f2csa-verify"', 'content="f2csa-verify"',
    "<!-- f2csa-verify -->", '<testsuites name="f2csa"', "/* f2csa-verify */",
    "/Creator (f2csa-verify)",
)  # fmt: skip
"""What a file of ours says among its first characters, and nobody else's does: in JSON, HTML, Markdown, SVG, XML,
style sheets, scripts and PDF."""
_START = 2000
_PAGES = (".html", ".css", ".js")
"""Endings of what a folder of pages holds."""


def described_in(docstring: str) -> dict[str, str]:
    """What the ``Args`` of a docstring say, by name, each in one line."""
    lines = inspect.cleandoc(docstring).splitlines()
    if "Args:" not in lines:
        return {}
    descriptions: dict[str, str] = {}
    name = ""
    for line in lines[lines.index("Args:") + 1 :]:
        if line and not line.startswith(" "):
            break
        if opening := re.match(r" {4}([\w-]+): (.+)", line):
            name = opening[1]
            descriptions[name] = opening[2]
        elif name and line.strip():
            descriptions[name] += f" {line.strip()}"
    return descriptions


class Frozen(BaseModel):
    """Data that is fixed once read, and refuses fields it does not know.

    What the ``Args`` of a class say of a field is its description, in Python and in the JSON Schema.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        told: dict[str, str] = {}
        for kind in reversed(cls.__mro__):
            told |= described_in(kind.__doc__ or "")
        for name, field in cls.model_fields.items():
            if field.description is None:
                field.description = told.get(field.alias or name)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        written = handler.resolve_ref_schema(schema).get("properties", {})
        for name, field in cls.model_fields.items():
            if field.description and (entry := written.get(field.alias or name)) is not None:
                entry.setdefault("description", field.description)
        return schema


class Sparing(Frozen):
    """Data whose representation names what differs from the defaults, and nothing else."""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        held = ((name, field, getattr(self, name)) for name, field in type(self).model_fields.items() if field.repr)
        return [
            (name, value)
            for name, field, value in held
            if field.is_required() or value != field.get_default(call_default_factory=True)
        ]

    def __str__(self) -> str:
        return repr(self)


def package_text(path: str) -> str:
    """A file of this package, ``claims/bias-bound.toml`` or the like."""
    return (resources.files("spec") / path).read_text(encoding="utf-8")


def parse_toml(model: type[Model], text: str, where: str) -> Model:
    """TOML as data of a kind.

    Raises:
        InvalidInputError: If it is malformed.
    """
    try:
        return model.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(where, f"is not valid TOML ({error})") from None
    except ValidationError as error:
        raise from_validation(error, where) from None


_PARTS = 32
_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP = re.compile(rf"^[\s[]*(?:{_PART}[ \t]*\.[ \t]*){{{_PARTS}}}", re.MULTILINE)
"""A key of more parts: the time to read one grows with their square."""


def loads_toml(text: str, argument: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """A user's TOML as plain data.

    Raises:
        InvalidInputError: If it is none, or nobody's: keys of dozens of parts, tables nested without an end.
    """
    if _DEEP.search(text):
        raise InvalidInputError(argument, f"must have keys of at most {_PARTS} parts")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except (ValueError, ArithmeticError) as error:  # a number of too many digits is no error of TOML to its reader
        raise InvalidInputError(argument, f"must be TOML ({error})") from None
    except RecursionError:
        raise InvalidInputError(argument, "must be TOML, and not nested so deeply") from None


def find_named(known: Mapping[str, T], name: str, argument: str, rule: str, otherwise: str) -> T:
    """What has this name, else an error that names the nearest ones, or says something else where none is near."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else otherwise
    raise InvalidInputError(argument, f"{rule}; {hint}", name)


def read_text(path: Path, argument: str, most: int) -> str:
    """A user's file as text.

    Raises:
        InvalidInputError: If it cannot be read, has more than ``most`` bytes, is not UTF-8, or is a pipe that no shell
            made: nobody may ever write into it.
    """
    if path.is_fifo() and not path.is_relative_to("/dev"):
        raise InvalidInputError(argument, "must be a file, no pipe", str(path))
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInputError(argument, f"cannot be read ({reason})", str(path)) from None
    if len(raw) > most:
        raise InvalidInputError(argument, f"must be at most {most} bytes", str(path))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError(argument, "must be UTF-8 text", str(path)) from None


def refuse_to_replace(path: Path, argument: str = "--out") -> None:
    """Refuse a file that is there and that this package did not write: what it writes says so at its start.

    Raises:
        InvalidInputError: If it is somebody else's; an empty file is nobody's.
    """
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(_START if path.suffix != ".pdf" else -1)  # which says so further on
        if start and not _is_ours(start.decode("utf-8", "replace")):
            rule = f"must not hold a {path.name} that f2csa did not write: move it, or choose another folder"
            raise InvalidInputError(argument, rule, str(path))


def _is_ours(start: str) -> bool:
    return any(mark in start for mark in MARKS)


def write_files(folder: Path, texts: Mapping[str, str | bytes], argument: str = "--out") -> list[Path]:
    """Write texts by file name into a folder, made where it is missing; returns their paths.

    A name may lie in a folder within, ``pages/matrix.html``. Each file is replaced whole, or left as it was, and none
    is if the disk cannot hold them all; where a text says that it is ours, only a file that does, too. In the folders
    within, files of ours that are not among the texts are from an earlier time and go at the end.

    Raises:
        InvalidInputError: If the folder cannot be written, or holds somebody else's file.
        OSError: If the disk is full.
    """
    paths = {name: folder / name for name in texts}
    parts = {name: path.with_name(f".{path.name}.part") for name, path in paths.items()}
    within = {path.parent for path in paths.values()} - {folder}
    missing = [place for place in sorted(within) if not place.exists()]
    try:
        for place in (folder, *within):
            place.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            if isinstance(text, bytes) or _is_ours(text[:_START]):
                refuse_to_replace(paths[name], argument)
        for name, text in texts.items():
            if isinstance(text, bytes):
                parts[name].write_bytes(text)
            else:
                parts[name].write_text(text, encoding="utf-8")
        # All are on the disk before the first old file goes, so that old and new are not mixed.
        for name, part in parts.items():
            part.replace(paths[name])
        for place in within:
            _clear(place, set(paths.values()))
    except OSError as error:
        raise unwritable(error, argument, "must be a writable folder", str(folder)) from None
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)
        for place in missing:
            with suppress(OSError):  # what was written into stays
                place.rmdir()
    return list(paths.values())


def _clear(folder: Path, wanted: Collection[Path]) -> None:
    """Remove files of ours that are not wanted; anybody else's stay, and so does what has another ending."""
    for path in sorted(folder.iterdir()):
        if path.suffix in _PAGES and path not in wanted and path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                start = file.read(_START)
            if _is_ours(start.decode("utf-8", "replace")):
                path.unlink()
