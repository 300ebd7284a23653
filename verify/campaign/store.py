"""Finished results on disk, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path

from spec.errors import InvalidInputError
from verify.report.model import Result


class Store:
    """A JSON-lines file: a header that says which run it belongs to, then one finished result a line.

    The file is created if missing; results of other versions are not reused.
    """

    def __init__(self, path: Path, environment: dict[str, str], subject: str, profile: str, seed: int) -> None:
        self.path = path
        self.header = {"environment": environment, "subject": subject, "profile": profile, "seed": seed}

    def start(self) -> dict[str, Result]:
        """Begin anew, whatever the file holds."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.header) + "\n", encoding="utf-8")
        return {}

    def load(self) -> dict[str, Result]:
        """Results kept so far, by key; starts the file if there is none.

        A line that is torn, or is not a result, is dropped with all that follows it. Faults are tried again.

        Raises:
            InvalidInputError: If the file belongs to another run or is not such a file.
        """
        if not self.path.exists():
            return self.start()
        # What a crash left in the last line need not be text.
        lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        try:
            header = json.loads(lines[0])
        except (IndexError, ValueError, RecursionError):
            raise InvalidInputError("--resume", "must find a file of finished results", self.path.name) from None
        if header != self.header:
            different = [
                key for key in self.header if not isinstance(header, dict) or header.get(key) != self.header[key]
            ]
            raise InvalidInputError("--resume", f"must continue the same run; it differs in {', '.join(different)}")
        kept: dict[str, Result] = {}
        for line in lines[1:]:
            try:
                entry = json.loads(line)
                key, result = entry["key"], Result.model_validate(entry["result"])
            except (ValueError, RecursionError, KeyError, TypeError):
                break
            if key != result.key:
                break
            if (result.verdict is None) == (result.fault is None):
                break
            if result.fault is None:
                kept[key] = result
        good = [json.dumps(self.header), *(_line(key, result) for key, result in kept.items())]
        self.path.write_text("\n".join(good) + "\n", encoding="utf-8")
        return kept

    def append(self, key: str, result: Result) -> None:
        """Keep one more result."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(key, result) + "\n")


def _line(key: str, result: Result) -> str:
    return json.dumps({"key": key, "result": result.model_dump(mode="json")})
