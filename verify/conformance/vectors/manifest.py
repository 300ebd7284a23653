"""The two kinds of files in a folder of vectors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from verify.conformance.bugs.flags import Flag
from verify.conformance.vectors.model import Double, Identifier, TestVector

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
FileName = Annotated[str, Field(pattern=r"^[a-z0-9-]+\.json$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class VectorFile(_Frozen):
    """One file of vectors.

    Args:
        schema_: Name and version of this form.
        vectors: Sorted by id.
    """

    schema_: Literal["f2csa-vectors/1"] = Field(alias="schema")
    vectors: tuple[TestVector, ...]


class FileEntry(_Frozen):
    """What the manifest says about one file.

    Args:
        sha256: Of its bytes.
        bytes: How many there are.
        vectors: How many vectors it holds.
    """

    sha256: Hash
    bytes: int = Field(ge=1)
    vectors: int = Field(ge=1)


class Counts(_Frozen):
    """How many vectors there are of each kind.

    Args:
        vectors: In all.
        stages: By stage.
        strata: By stratum; a vector counts in each of its own.
        flags: By flag; a vector counts in each of its own.
    """

    vectors: int = Field(ge=0)
    stages: dict[str, int]
    strata: dict[str, int]
    flags: dict[str, int]


class Manifest(_Frozen):
    """What a folder of vectors holds.

    Args:
        schema_: Name and version of this form.
        generator: Version of the generator.
        counts: How many vectors there are of each kind.
        files: Hash and size of every file.
        flags: What each flag means.
        left_out: Cases without a vector: the tolerance that honest double arithmetic needs there, relative to the
            answer, is too large to test anything.
    """

    schema_: Literal["f2csa-vectors-manifest/1"] = Field(alias="schema")
    generator: str
    counts: Counts
    files: dict[FileName, FileEntry]
    flags: dict[str, Flag]
    left_out: dict[Identifier, Double]
