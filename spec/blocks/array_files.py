"""Blocks of a problem file that stand in numpy files beside it: named by a relative path, checked before they are read.

``{"npy": "g_yy.npy"}`` is the array of a file, ``{"npz": "blocks.npz", "array": "g_yy"}`` one of an archive.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np

from spec.errors import InvalidInputError, unwritable
from spec.exact import MAX_SIDE, ExactArray, FloatArray, doubles

MAX_BLOCK_BYTES = 2 * 1024**3
"""Largest array read from a file."""
_CHUNK = 1 << 20
_FORM = {"xx": "nn", "xy": "nm", "yy": "mm", "x": "n", "y": "m"}
_SIZES = {"f": _FORM, "g": _FORM, "constraints": {"A": "pn", "B": "pm", "b": "p"}}
"""What the sides of a block count: upper variables, lower variables, rows."""
_KEYS = ({"npy"}, {"npz", "array"})


def with_arrays(data: object, folder: Path | None, argument: str) -> object:
    """A problem's plain data with every block that names a file replaced by what it holds.

    Raises:
        InvalidInputError: If a reference, or the array it leads to, breaks a rule; where no folder is known, whatever
            file is named.
    """
    if not isinstance(data, dict):
        return data
    parts = {name: part for name, part in data.items() if name in _SIZES and isinstance(part, dict)}
    if not any(isinstance(held, dict) for part in parts.values() for held in part.values()):
        return data
    _agree(
        {
            (name, block): _shape(held) or _read(held, folder, f"{argument}.{name}.{block}", of=_header)[0]
            for name, part in parts.items()
            for block, held in part.items()
            if block in _SIZES[name] and (isinstance(held, dict) or _shape(held))
        },
        argument,
    )
    return data | {
        name: {
            block: _read(held, folder, f"{argument}.{name}.{block}", of=_array) if isinstance(held, dict) else held
            for block, held in part.items()
        }
        for name, part in parts.items()
    }


def _shape(block: object) -> tuple[int, ...]:
    """Of a list of numbers, or of lists; empty where it is neither."""
    if not isinstance(block, list) or not block:
        return ()
    return (len(block), len(block[0])) if isinstance(block[0], list) else (len(block),)


def _agree(shapes: Mapping[tuple[str, str], tuple[int, ...]], argument: str) -> None:
    """Refuse blocks that cannot be of one problem, before any is read."""
    known: dict[str, int] = {}
    for (part, block), shape in shapes.items():
        wanted = tuple(known.setdefault(letter, size) for letter, size in zip(_SIZES[part][block], shape, strict=False))
        if wanted != shape[: len(wanted)]:
            raise InvalidInputError(f"{argument}.{part}.{block}", f"must have shape {wanted}", shape)


def _read(reference: dict[str, Any], folder: Path | None, argument: str, *, of: Callable[[IO[bytes], str], Any]) -> Any:
    """What is read of the array that a reference leads to: its header, or all of it."""
    if set(reference) not in _KEYS or not all(isinstance(value, str) for value in reference.values()):
        rule = 'must be a list, {"npy": FILE} or {"npz": FILE, "array": NAME}'
        raise InvalidInputError(argument, rule, reference)
    if folder is None:
        raise InvalidInputError(argument, "may name a file only where the problem is read from one", reference)
    name = reference.get("npy", reference.get("npz", ""))
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in name:
        raise InvalidInputError(argument, "must name a file by its path relative to the problem's", name)
    with _reasons(argument, name):
        if not (folder / path).resolve().is_relative_to(folder.resolve()):
            raise InvalidInputError(argument, "must name a file in the problem's folder, no link out of it", name)
        with _opened(folder / path, reference.get("array"), argument) as file:
            return of(file, argument)


@contextmanager
def _reasons(argument: str, name: str) -> Iterator[None]:
    """Whatever numpy, zip or the system say of a bad file, on one line."""
    try:
        yield
    except InvalidInputError:
        raise
    except OSError as error:
        raise InvalidInputError(argument, f"cannot be read ({error.strerror or error})", name) from None
    except (ValueError, EOFError, MemoryError, NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
        why = str(error).split("\n", maxsplit=1)[0] or type(error).__name__
        raise InvalidInputError(argument, f"is no readable numpy file ({why})", name) from None
    except Exception as error:  # a damaged stream fails in zlib, or in the header's literal
        raise InvalidInputError(argument, f"is no readable numpy file ({type(error).__name__})", name) from None


@contextmanager
def _opened(path: Path, member: str | None, argument: str) -> Iterator[IO[bytes]]:
    if path.exists() and not path.is_file():
        raise InvalidInputError(argument, "must name a file, no folder, pipe or device", path.name)
    with path.open("rb") as raw:
        if member is None:
            yield raw
            return
        with zipfile.ZipFile(raw) as archive:
            if f"{member}.npy" not in archive.namelist():
                held = ", ".join(sorted(name.removesuffix(".npy") for name in archive.namelist())[:8])
                raise InvalidInputError(argument, f"must name an array of the archive, one of: {held}", member)
            with archive.open(f"{member}.npy") as file:
                yield file


def _header(file: IO[bytes], argument: str) -> tuple[tuple[int, ...], bool, Any]:
    """Shape, order and type of the array at the file's position, judged before its numbers are read."""
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read_header(file)
    if dtype.kind not in "fiu" or dtype.itemsize > 8:
        raise InvalidInputError(argument, "must hold doubles, floats or integers", str(dtype))
    if len(shape) not in (1, 2):
        raise InvalidInputError(argument, "must have 1 or 2 dimensions", shape)
    count = int(np.prod(shape, dtype=object))
    if max(shape) > MAX_SIDE or count * 8 > MAX_BLOCK_BYTES:
        rule = f"must have at most {MAX_SIDE} entries a side and {MAX_BLOCK_BYTES} bytes"
        raise InvalidInputError(argument, rule, shape)
    if not count:
        raise InvalidInputError(argument, "must not be empty", shape)
    return shape, fortran, dtype


def _array(file: IO[bytes], argument: str) -> ExactArray:
    """The array at the file's position."""
    shape, fortran, dtype = _header(file, argument)
    count = int(np.prod(shape, dtype=object))
    array = np.empty(count, dtype=dtype)
    view, position = memoryview(array.view(np.uint8)), 0  # type: ignore[arg-type]  # arrays are buffers
    while position < len(view):
        read = file.readinto(view[position : position + _CHUNK])  # type: ignore[attr-defined]  # both kinds of file have it
        if not read:
            raise InvalidInputError(argument, f"must hold {len(view)} bytes of numbers", position)
        position += read
    shaped = array.reshape(shape[::-1]).T if fortran else array.reshape(shape)
    block: FloatArray = doubles(shaped, argument)
    return ExactArray.of_doubles(block)


def save_arrays(path: Path, blocks: Mapping[str, ExactArray]) -> dict[str, dict[str, str]]:
    """Write blocks of doubles into one archive, uncompressed; what a problem file says of each, by its name.

    Raises:
        InvalidInputError: If a block holds an entry that is no double's decimal, or the file cannot be written.
    """
    for name, block in blocks.items():
        if not block.given_as_doubles and ExactArray(block.to_numpy(), ndim=block.ndim) != block:
            raise InvalidInputError(name, "must hold doubles to be written to a numpy file")
    try:
        np.savez(path, **{name: block.to_numpy() for name, block in blocks.items()})  # type: ignore[arg-type]  # names
    except OSError as error:
        raise unwritable(error, str(path), "cannot be written", None) from None
    return {name: {"npz": path.name, "array": name} for name in blocks}
