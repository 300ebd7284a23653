"""Texts as a store keeps them: compressed, what results have in common not kept again with each."""

from __future__ import annotations

import zlib
from functools import lru_cache
from importlib import resources
from typing import Any

DICTIONARY = "dictionary-3.txt"
"""Some results and the inputs of one, as this format's rows hold them; a change of it is another format.

A row of a few kilobytes repeats names of fields and words that are in every other. A zlib stream names the dictionary
that it needs by a checksum, and one of version 2 needs none, so that both are read alike.
"""
_LONGEST = 1 << 28
"""Bytes of a text beyond which no column is opened."""


@lru_cache(maxsize=1)
def dictionary() -> bytes:
    """What every row is compressed against, at most the 32 KB that zlib looks back."""
    return (resources.files("verify.campaign.store") / DICTIONARY).read_bytes()


def packed(text: str) -> bytes:
    """A text as a store keeps it, compressed."""
    stream = zlib.compressobj(zdict=dictionary())
    return stream.compress(text.encode("utf-8", "surrogatepass")) + stream.flush()


def unpacked(column: Any) -> Any:
    """The text in a column, or the column itself where no :func:`packed` made it."""
    if not isinstance(column, bytes):
        return column
    opened = zlib.decompressobj(zdict=dictionary())
    try:
        text = opened.decompress(column, _LONGEST)
        return text.decode("utf-8", "surrogatepass") if opened.eof and not opened.unused_data else column
    except (zlib.error, UnicodeDecodeError):
        return column
