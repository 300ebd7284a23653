"""Bytes in, lines out."""

from __future__ import annotations

from verify.subjects.wire.messages import WireFault, quoted

SHOWN = 200
"""Bytes quoted of an answer that cannot be read."""


class Lines:
    """Bytes in, lines out.

    Args:
        longest: Bytes after which a line is too long.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._held = bytearray()
        self._scanned = 0

    def __len__(self) -> int:
        return len(self._held)

    def add(self, data: bytes) -> None:
        """Take what was read."""
        self._held += data

    def take(self) -> bytes | None:
        """The first line without its line feed, if it is there in full.

        Raises:
            WireFault: If it is too long.
        """
        end = self._held.find(b"\n", self._scanned)
        if end < 0:
            self._scanned = len(self._held)
            if self._scanned > self._longest:
                raise WireFault("flood", f"wrote more than {self._longest} bytes without a line end")
            return None
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        self._scanned = 0
        return line

    @property
    def shown(self) -> str:
        """The beginning of what is held, to be quoted."""
        return quoted(bytes(self._held[:SHOWN]))

    @property
    def shown_with_size(self) -> str:
        """The same after how long it is."""
        return f"{len(self)} bytes, {self.shown}"
