"""The address of a result: a digest of everything it is a function of, the code that makes it included."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from spec.drawn import is_drawn
from verify.campaign.plan import Task
from verify.campaign.store.dependencies import CodeHouse
from verify.checks.measuring.case import checks, full_run_decisions
from verify.subjects.subject_names import COMMAND, REFERENCE

RUNS_THROUGH = "verify.campaign.plan"
"""The module that every result runs through."""


class Addresses:
    """Addresses of a subject's results.

    A result is a function of its task, of the subject by name, version and as far as its files are known, of its
    claim's and its instance's files, of the sources its check depends on, of how many decisions share the budget, and
    of the versions in ``environment``.
    """

    def __init__(self, environment: Mapping[str, str], version: str, subject: str = "", house: CodeHouse | None = None):
        self.house = CodeHouse() if house is None else house
        self.environment = dict(environment)
        self.version = version
        self.subject = subject
        self.codes: dict[str, str] = {}
        """Digests by a check's module of what it depends on; as long as no file changed, they may be given."""

    def inputs(self, task: Task) -> str:
        """All that a result is a function of, as canonical JSON; its samples so far are not: they change no number."""
        question = {
            "claim": task.claim, "reading": task.reading, "instance": task.instance, "subject": task.subject,
            "profile": task.profile, "seed": task.seed, "effort": task.effort,
        }  # fmt: skip
        known = {
            "version": self.version, "sources": self.subject, "environment": self.environment,
            "statement": self.house.digest(f"spec/claims/{task.claim.split('/')[0]}.toml"),
            "problem": task.posed or self._problem(task.instance),
            "code": self._code(checks()[task.claim].function.__module__), "decisions": full_run_decisions(),
        }  # fmt: skip
        return json.dumps(question | known, sort_keys=True)

    def _problem(self, instance: str) -> str:
        return "" if is_drawn(instance) else self.house.digest(f"spec/instances/{instance}.toml")

    def _code(self, module: str) -> str:
        if module not in self.codes:
            own = self.house.closure(module) - self._base
            data = (*self.house.named_data(own), *self._base_data)
            self.codes[module] = self.house.digest_of((*(self.house.modules[m] for m in own | self._base), *data))
        return self.codes[module]

    @cached_property
    def _base(self) -> frozenset[str]:
        return self.house.closure(RUNS_THROUGH)

    @cached_property
    def _base_data(self) -> tuple[str, ...]:
        """What every result reads; claims and instances that the planner lists are not."""
        return tuple(file for file in self.house.named_data(self._base) if not self.house.counts_alone(file))


def address_of(inputs: str) -> str:
    """SHA-256 of a result's inputs."""
    return hashlib.sha256(inputs.encode("utf-8", "surrogatepass")).hexdigest()


MOST_FILES = 4000
"""Files of a foreign subject that are read; of more nothing is known."""


def sources_of(subject: Any) -> str:
    """A digest of what can be known of a subject's code without running it; empty for the reference.

    Of ``package.module:Attribute`` that is its file and the files beside it, of a command line the files it names, of
    an object the file of its type. What these import elsewhere is not known: who takes such results says so.
    """
    if subject == REFERENCE:
        return ""
    hasher = hashlib.sha256()
    for path in sorted(_files_of(subject))[:MOST_FILES]:
        try:
            hasher.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        except OSError:
            hasher.update(f"{path.name} unread\n".encode())
    return hasher.hexdigest()


def _files_of(subject: Any) -> Iterator[Path]:
    if not isinstance(subject, str):
        file = inspect.getsourcefile(type(subject)) if _has_source(type(subject)) else None
        yield from (Path(file),) if file else ()
    elif subject.startswith(COMMAND):
        try:
            words = shlex.split(subject.removeprefix(COMMAND))
        except ValueError:
            words = []
        yield from (Path(word) for word in words if os.path.isfile(word))  # noqa: PTH113  # any text may be no path
        # What is named as a module: after -m, or as one that is served.
        for before, word in pairwise(["", *words]):
            if before == "-m" or ":" in word:
                yield from _beside(word.partition(":")[0])
    else:
        yield from _beside(subject.partition(":")[0])


def _has_source(kind: type) -> bool:
    return getattr(sys.modules.get(kind.__module__), "__file__", None) is not None


def _beside(module: str) -> Iterator[Path]:
    """Python files of a module's folder, found where it would be imported from, without importing it."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        return
    for start in [str(Path.cwd()), *sys.path]:
        place = Path(start).joinpath(*parts)
        # As it is imported: a folder without __init__.py gives way to a module of its name.
        if (place / "__init__.py").is_file():
            yield from place.glob("*.py")
            return
        if place.with_suffix(".py").is_file():
            yield from place.parent.glob("*.py")
            return
