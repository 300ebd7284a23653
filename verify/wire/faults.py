"""What a subject can do wrong on the wire, by kind."""

from __future__ import annotations

from typing import Literal, get_args

from spec.errors import shorten

Kind = Literal[
    "crash", "hang", "garbage", "half", "schema", "not-finite", "unknown-id", "closed-pipe", "flood", "memory", "lie",
    "error",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)

SHOWN = 300
"""Longest text of a fault, in characters."""
LOST: frozenset[Kind] = frozenset({"crash", "hang", "garbage", "half", "unknown-id", "closed-pipe", "flood", "memory"})
"""Kinds after which nobody knows where the conversation stands: the process is replaced."""


class WireFault(Exception):  # noqa: N818  # a fault is the project's word
    """One thing a subject did wrong.

    Args:
        kind: Which.
        text: A clause to follow the stage's name: "did not answer within 30 s".
        lost: Whether the process must be replaced; as usual for the kind if ``None``.
    """

    def __init__(self, kind: Kind, text: str, *, lost: bool | None = None) -> None:
        self.text = printable(text)[:SHOWN]
        super().__init__(self.text)
        self.kind: Kind = kind
        self.lost = kind in LOST if lost is None else lost


def printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


class Refusal(Exception):  # noqa: N818  # not an error of anybody
    """A subject's own word that it does not support what it was asked."""


def quoted(data: bytes) -> str:
    """Bytes on one line of bounded length."""
    return shorten(repr(data.decode(errors="replace"))[1:-1]) if data else "nothing"
