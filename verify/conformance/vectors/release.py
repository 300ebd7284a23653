"""Vectors as files: one a family, byte for byte the same on every run, and a manifest with their hashes.

``python -m verify.conformance.vectors.release`` puts the vectors as they are now on record as released: it adds new ids
and rewrites the manifest, and refuses where a released id is gone or stands for something else: then the changed case
needs a name of its own.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from spec import InvalidInputError
from spec.blocks.exact_json import dumps
from verify.conformance.bugs.catalogue import FLAGS
from verify.conformance.vectors.generation import all_vectors, left_out
from verify.conformance.vectors.model import Counts, FileEntry, Manifest, TestVector

GENERATOR = "1"
"""Version of the generator; it rises whenever a file's bytes change."""
MANIFEST = "manifest.json"
RELEASED = "released.json"
FOLDER = Path(__file__).parent / "records"


def file_of(vector: TestVector) -> str:
    """The file a vector is in: the first part of its id."""
    return f"{vector.id.partition('/')[0]}.json"


@lru_cache(maxsize=1)
def contents() -> Mapping[str, bytes]:
    """Every file of a release by name, the manifest last."""
    vectors = all_vectors()
    files = {name: file_bytes(vector for vector in vectors if file_of(vector) == name)
            for name in sorted({file_of(vector) for vector in vectors})}  # fmt: skip
    return MappingProxyType(files | {MANIFEST: manifest_bytes(vectors, files)})


def file_bytes(vectors: Iterable[TestVector]) -> bytes:
    """One file: a vector a line, so that differences can be read."""
    lines = ",\n".join(dumps(plain(vector)) for vector in vectors)
    return f'{{"schema": "f2csa-vectors/1", "vectors": [\n{lines}\n]}}\n'.encode()


def plain(vector: TestVector) -> dict[str, Any]:
    """A vector as plain data: what is absent or empty is left out."""
    data = vector.model_dump(exclude_none=True)
    return {key: value for key, value in data.items() if value not in ({}, ()) or key in ("strata", "flags")}


def manifest_bytes(vectors: tuple[TestVector, ...], files: Mapping[str, bytes]) -> bytes:
    """The manifest of these files."""
    manifest = Manifest(
        schema_="f2csa-vectors-manifest/1",
        generator=GENERATOR,
        counts=Counts(
            vectors=len(vectors),
            stages=_counted(vector.stage for vector in vectors),
            strata=_counted(stratum for vector in vectors for stratum in vector.strata),
            flags=_counted(flag for vector in vectors for flag in vector.flags),
        ),
        files={
            name: FileEntry(
                sha256=hashlib.sha256(text).hexdigest(),
                bytes=len(text),
                vectors=sum(file_of(vector) == name for vector in vectors),
            )
            for name, text in files.items()
        },
        flags=dict(sorted(FLAGS.items())),
        left_out={id_: float(f"{value:.2g}") for id_, value in sorted(left_out().items())},
    )
    return (json.dumps(manifest.model_dump(by_alias=True), indent=1, ensure_ascii=False) + "\n").encode()


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def write(out: Path) -> Manifest:
    """Write a release into a folder, which is made if it is not there; files of the same name are replaced.

    Raises:
        InvalidInputError: If the path is there and is no folder.
        OSError: If it cannot be written.
    """
    if out.exists() and not out.is_dir():
        raise InvalidInputError("--out", "must be a folder", str(out))
    out.mkdir(parents=True, exist_ok=True)
    files = contents()
    for name, text in files.items():
        # Whole files only: an interrupted run leaves the old one.
        unfinished = out / f".{name}.part"
        unfinished.write_bytes(text)
        unfinished.replace(out / name)
    return Manifest.model_validate_json(files[MANIFEST])


def fingerprint(vector: TestVector) -> str:
    """A short hash of everything a vector gives, nothing it expects: what an id stands for."""
    given = {key: value for key, value in plain(vector).items() if key in _GIVEN}
    return hashlib.sha256(dumps(given).encode()).hexdigest()[:16]


_GIVEN = ("id", "stage", "problem", "blocks", "x", "alpha", "reading", "parameters", "given", "draws", "rejects")


def released() -> dict[str, str]:
    """Every id ever released with its fingerprint; ids are added, never changed or taken away."""
    return cast("dict[str, str]", json.loads((FOLDER / RELEASED).read_bytes()))


def shipped_manifest() -> bytes:
    """The manifest of this version's release."""
    return (FOLDER / MANIFEST).read_bytes()


def changed_ids(known: dict[str, str], now: dict[str, str]) -> list[str]:
    """Released ids that are gone or stand for something else."""
    return sorted(id_ for id_, print_ in known.items() if now.get(id_) != print_)


def main() -> int:
    """Write the record; 1 where a released id would change."""
    known = released() if (FOLDER / RELEASED).exists() else {}
    now = {vector.id: fingerprint(vector) for vector in all_vectors()}
    changed = changed_ids(known, now)
    if changed:
        sys.stderr.write(
            f"{len(changed)} released id(s) gone or changed, first {changed[0]}: give the case a new name\n"
        )
        return 1
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / RELEASED).write_text(json.dumps(dict(sorted(now.items())), indent=0) + "\n", encoding="utf-8")
    (FOLDER / MANIFEST).write_bytes(contents()[MANIFEST])
    sys.stdout.write(f"{len(now) - len(known)} new id(s), {len(now)} released\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
