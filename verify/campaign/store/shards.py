"""A run cut into shares of equal size, the same on every machine that runs the same code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from spec.errors import InvalidInputError
from verify.campaign.plan import Task
from verify.campaign.store.addresses import Addresses, address_of

_RULE = "must be I/K with 1 <= I <= K, such as 1/2"


@dataclass(frozen=True)
class Shard:
    """Share ``number`` of ``count`` shares of a plan, ``1 <= number <= count``."""

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise InvalidInputError("shard", _RULE, str(self))

    @classmethod
    def parse(cls, text: str, argument: str = "--shard") -> Self:
        """From ``I/K``.

        Raises:
            InvalidInputError: If it is anything else.
        """
        number, _, count = text.partition("/")
        # More digits than any count of machines has are not read.
        if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in (number, count)):
            raise InvalidInputError(argument, _RULE, text)
        if not 1 <= int(number) <= int(count):
            raise InvalidInputError(argument, _RULE, text)
        return cls(int(number), int(count))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, tasks: Sequence[Task], addresses: Addresses) -> list[Task]:
        """Every ``count``-th task by address, in the plan's order; all shares together are the plan."""
        by_address = sorted(tasks, key=lambda task: address_of(addresses.inputs(task)))
        mine = {task.key for task in by_address[self.number - 1 :: self.count]}
        return [task for task in tasks if task.key in mine]

    def said(self, mine: int, planned: int) -> str:
        """What a report of a share says of itself."""
        return f"shard {self} of a run: {mine} of its {planned} results"
