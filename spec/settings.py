"""A project's own settings: ``[tool.f2csa]`` in its ``pyproject.toml``, or the same keys in an ``f2csa.toml``.

They are looked for in one folder, the working directory: a subject is looked for there, too. What is given on a
command line goes before them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_snake

from spec.errors import InvalidInputError, from_validation
from spec.expectations import ExpectedFailure, Skip, hand_written, listed
from spec.files import Frozen

OWN, SHARED = "f2csa.toml", "pyproject.toml"
"""Names of the files."""


def _dashed(name: str) -> str:
    return to_snake(name).replace("_", "-")


class Settings(Frozen):
    """What a project asks by default.

    Args:
        subject: ``package.module:Attribute`` or ``command:COMMAND LINE``.
        profile: ``smoke``, ``ci`` or ``full``.
        reading: Readings, one or a list.
        seed: Seed of all randomness.
        effort: Factor on all sample sizes.
        time-limit: Seconds a stage call of the subject may take.
        baseline: File of the recorded baseline, from the settings' folder.
        expected-failures: Reasons by name, ``CLAIM``, ``CLAIM|READING`` or ``CLAIM|READING|INSTANCE``.
        skips: The same of what is not to be asked.
    """

    subject: str | None = None
    profile: Literal["smoke", "ci", "full"] | None = None
    reading: tuple[str, ...] = ()
    seed: int | None = Field(default=None, ge=0)
    effort: int | None = Field(default=None, ge=1)
    time_limit: float | None = Field(default=None, gt=0)
    baseline: str | None = None
    expected_failures: dict[str, str] = Field(default_factory=dict)
    skips: dict[str, str] = Field(default_factory=dict)

    model_config = ConfigDict(alias_generator=_dashed, populate_by_name=True, strict=True)

    @field_validator("reading", mode="before")
    @classmethod
    def _one_or_more(cls, given: Any) -> Any:
        return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else given

    @model_validator(mode="after")
    def _lists_are_of_a_subject(self) -> Self:
        listed(ExpectedFailure, self.expected_failures, "expected-failures")
        listed(Skip, self.skips, "skips")
        if (self.expected_failures or self.skips) and self.subject is None:
            raise InvalidInputError("subject", "is required: expected failures and skips are those of one subject")
        return self

    @property
    def failing(self) -> tuple[ExpectedFailure, ...]:
        """What is known to fail."""
        return listed(ExpectedFailure, self.expected_failures, "expected-failures")

    @property
    def skipped(self) -> tuple[Skip, ...]:
        """What is not to be asked."""
        return listed(Skip, self.skips, "skips")


class FoundSettings(Frozen):
    """Settings and where they stand.

    Args:
        settings: What they say.
        source: The file, as a message names it; empty where there is none.
        is_of_another: Whether they are another subject's than the one that is judged, and so not used.
    """

    settings: Settings = Settings()
    source: str = ""
    is_of_another: bool = False


def load_settings(folder: str | Path = ".") -> FoundSettings:
    """The settings of a folder; empty ones where it has none.

    Args:
        folder: Where ``f2csa.toml`` or ``pyproject.toml`` is.

    Raises:
        InvalidInputError: If a file is broken, says what is no setting, or both files say something.
    """
    own, shared = Path(folder) / OWN, Path(folder) / SHARED
    table = _table(shared).get("tool", {}) if shared.is_file() else {}
    mine = table.get("f2csa") if isinstance(table, Mapping) else None
    if own.is_file():
        if mine is not None:
            raise InvalidInputError(OWN, f"must not stand beside [tool.f2csa] in {SHARED}: one of them says it")
        return FoundSettings(settings=_read(_table(own), OWN), source=OWN)
    if mine is None:
        return FoundSettings()
    return FoundSettings(settings=_read(mine, f"{SHARED} [tool.f2csa]"), source=f"{SHARED} [tool.f2csa]")


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(hand_written(path, path.name))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(path.name, f"must be TOML ({error})") from None
    except RecursionError:
        raise InvalidInputError(path.name, "must be TOML, and not nested so deeply") from None


def _read(table: Any, where: str) -> Settings:
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        raise from_validation(error, where) from None
