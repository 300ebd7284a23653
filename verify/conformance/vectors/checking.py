"""Whether a folder of vectors is what it says it is: hashes, form, ids, and numbers that agree with themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from spec import InvalidInputError, parse_problem
from spec.blocks.exact_json import loads
from spec.errors import from_validation
from verify.conformance.vectors.model import Expected, Manifest, Number, Numbers, TestVector, VectorFile
from verify.conformance.vectors.release import GENERATOR, MANIFEST, file_of, fingerprint, released, shipped_manifest

MAX_BYTES = 256 * 1024 * 1024
"""Longest file read."""

Model = TypeVar("Model", bound=BaseModel)


class VectorFinding(Exception):  # noqa: N818  # a finding is an answer, not an error
    """What is wrong with a folder of vectors, in one line."""


def check(folder: Path) -> Manifest:
    """Check a folder that holds ``manifest.json`` and the files it names: its manifest.

    Raises:
        InvalidInputError: If there is no such folder, or no manifest in it.
        Finding: At the first thing that is wrong.
    """
    if not folder.is_dir():
        raise InvalidInputError("--check", "must be a folder", str(folder))
    path = folder / MANIFEST
    if not path.is_file():
        raise InvalidInputError("--check", f"must hold a {MANIFEST}", str(folder))
    text = _read(path)
    manifest = _parsed(Manifest, text, MANIFEST)
    vectors: list[TestVector] = []
    for name, entry in sorted(manifest.files.items()):
        if not (folder / name).is_file():
            raise VectorFinding(f"{name}: is missing")
        content = _read(folder / name)
        digest = hashlib.sha256(content).hexdigest()
        if digest != entry.sha256:
            raise VectorFinding(f"{name}: has sha256 {digest[:12]}…, the manifest says {entry.sha256[:12]}…")
        file = _parsed(VectorFile, content, name)
        if len(file.vectors) != entry.vectors:
            raise VectorFinding(f"{name}: holds {len(file.vectors)} vectors, the manifest says {entry.vectors}")
        for vector in file.vectors:
            for problem in problems_of(vector, name, manifest):
                raise VectorFinding(f"{vector.id}: {problem}")
        vectors += file.vectors
    for name in sorted(path.name for path in folder.glob("*.json")):
        if name not in {*manifest.files, MANIFEST}:
            raise VectorFinding(f"{name}: is not in the manifest")
    _check_ids(vectors, manifest)
    if manifest.generator == GENERATOR and text != shipped_manifest():
        raise VectorFinding(f"{MANIFEST}: differs from the one released with generator {GENERATOR}")
    return manifest


def _check_ids(vectors: list[TestVector], manifest: Manifest) -> None:
    ids = [vector.id for vector in vectors]
    repeated = sorted({id_ for id_ in ids if ids.count(id_) > 1}) if len(set(ids)) < len(ids) else []
    if repeated:
        raise VectorFinding(f"{repeated[0]}: the id occurs more than once")
    if len(ids) != manifest.counts.vectors:
        raise VectorFinding(f"{MANIFEST}: counts {manifest.counts.vectors} vectors, the files hold {len(ids)}")
    known = released()
    for vector in vectors:
        if vector.id in known and fingerprint(vector) != known[vector.id]:
            raise VectorFinding(f"{vector.id}: the id was released for other input")
    if manifest.generator == GENERATOR:
        for id_ in sorted(set(ids) - set(known)):
            raise VectorFinding(f"{id_}: is not among the released ids")
        for id_ in sorted(set(known) - set(ids)):
            raise VectorFinding(f"{id_}: was released and is missing")


def problems_of(vector: TestVector, file: str, manifest: Manifest) -> Iterator[str]:
    """What is wrong with one vector."""
    if file_of(vector) != file:
        yield f"belongs into {file_of(vector)}, not {file}"
    for flag in sorted({*vector.flags, *vector.separation}):
        if flag not in manifest.flags:
            yield f"flag {flag} is not explained in the manifest"
    for flag in vector.separation:
        if flag not in vector.flags:
            yield f"separation names {flag}, which is not among its flags"
    if (vector.rejects is None) == (not vector.expected):
        yield "must either expect values or be rejected"
    for name, block in vector.expected.items():
        yield from _expected_problems(name, block)
    for name, given in {**vector.given, "x": vector.x, "alpha": vector.alpha, **dict(vector.parameters)}.items():
        if isinstance(given, Numbers):
            yield from _input_problems(name, given.value, given.exact)
        elif isinstance(given, Number):
            yield from _input_problems(name, (given.value,), (given.exact,))
    if vector.problem is not None and vector.rejects is None:
        try:
            parse_problem(vector.problem)
        except InvalidInputError as error:
            yield str(error)


def _input_problems(name: str, value: tuple[float, ...], exact: tuple[str, ...]) -> Iterator[str]:
    if len(value) != len(exact):
        yield f"{name} has {len(value)} doubles and {len(exact)} exact numbers"
    elif any(a != _nearest(b) for a, b in zip(value, exact, strict=True)):
        yield f"{name} has a double that is not the one nearest to its exact number"


def _expected_problems(name: str, block: Expected) -> Iterator[str]:
    if (block.exact is None) == (block.digits is None):
        yield f"expected {name} must have either exact numbers or digits"
        return
    spelt = block.exact if block.exact is not None else block.digits or ()
    if not len(block.value) == len(spelt) == len(block.tolerance):
        yield f"expected {name} has blocks of different lengths"
    elif any(a != _nearest(b) for a, b in zip(block.value, spelt, strict=True)):
        yield f"expected {name} has a double that is not the one nearest to its exact number"
    elif any(limit < 0 for limit in block.tolerance):
        yield f"expected {name} has a negative tolerance"


def _nearest(spelt: str) -> float | None:
    """The double nearest to an exact number; ``None`` where there is none."""
    try:
        return float(Fraction(spelt))
    except (ValueError, ArithmeticError):  # p/0, too large for a double, or of more digits than Python reads
        return None


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise VectorFinding(f"{path.name}: is longer than {MAX_BYTES} bytes")
    return text


def _parsed(model: type[Model], text: bytes, name: str) -> Model:
    try:
        return model.model_validate(loads(text, name))
    except ValidationError as error:
        raise VectorFinding(str(from_validation(error, name))) from None
    except InvalidInputError as error:
        raise VectorFinding(str(error)) from None
