"""A project's own settings: ``[tool.f2csa]`` in its ``pyproject.toml``, or the same keys in an ``f2csa.toml``.

They are looked for in one folder, the working directory: a subject is looked for there, too. What is given on a
command line goes before them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from spec.errors import InvalidInputError, from_validation
from spec.expectations import ExpectedFailure, Skip, hand_written, listed
from spec.files import Frozen, loads_toml
from spec.reading import KEEPING, NAMED, NAMES

OWN, SHARED = "f2csa.toml", "pyproject.toml"
"""Names of the files."""
EFFORTS = tuple(4**k for k in range(7))
"""Factors that there are on sample sizes."""


def _dashed(name: str) -> str:
    return name.replace("_", "-")


class Settings(Frozen):
    """What a project asks by default.

    Args:
        subject: ``package.module:Attribute`` or ``command:COMMAND LINE``.
        profile: ``smoke``, ``ci`` or ``full``.
        reading: Readings, one or a list.
        seed: Seed of all randomness.
        effort: Factor on all sample sizes.
        noise: Class of laws of the estimates within which samples may support a bound of a variance.
        time-limit: Seconds a stage call of the subject may take.
        baseline: File of the recorded baseline, from the settings' folder.
        expected-failures: Reasons by name, ``CLAIM``, ``CLAIM|READING`` or ``CLAIM|READING|INSTANCE``.
        skips: The same of what is not to be asked.
    """

    subject: str | None = Field(default=None, min_length=1)
    profile: Literal["smoke", "ci", "full"] | None = None
    reading: tuple[str, ...] = ()
    seed: int | None = Field(default=None, ge=0)
    effort: int | None = None
    noise: str | None = Field(default=None, min_length=1)
    time_limit: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    baseline: str | None = Field(default=None, min_length=1)
    expected_failures: dict[str, str] = Field(default_factory=dict)
    skips: dict[str, str] = Field(default_factory=dict)

    model_config = ConfigDict(alias_generator=_dashed, populate_by_name=True, strict=True)

    @field_validator("reading", mode="before")
    @classmethod
    def _one_or_more(cls, given: Any) -> Any:
        return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else given

    @field_validator("reading")
    @classmethod
    def _are_readings(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for name in given:
            if name not in NAMED and not name.startswith(("only:", "choose:", KEEPING)):
                raise InvalidInputError("", NAMES, name)
        return given

    @field_validator("effort")
    @classmethod
    def _is_a_step(cls, given: int | None) -> int | None:
        if given is not None and given not in EFFORTS:
            raise InvalidInputError("", f"must be one of {', '.join(map(str, EFFORTS))}", given)
        return given

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

    def of(self, subject: str | None) -> FoundSettings:
        """What they say of a subject, or of whom they name: of any other than that one nothing but where they stand."""
        others = subject is not None and self.settings.subject not in (None, subject)
        return FoundSettings(source=self.source, is_of_another=True) if others else self


def load_settings(folder: str | Path = ".") -> FoundSettings:
    """The settings of a folder; empty ones where it has none.

    Args:
        folder: Where ``f2csa.toml`` or ``pyproject.toml`` is.

    Raises:
        InvalidInputError: If a file is broken, says what is no setting, or both files say something.
    """
    if not Path(folder).is_dir():
        raise InvalidInputError("folder", "must be a folder", str(folder))
    own, shared = Path(folder) / OWN, Path(folder) / SHARED
    # A link to nowhere and a folder of that name are no settings left out: they are wrong.
    table = _table(shared).get("tool", {}) if os.path.lexists(shared) else {}
    mine = table.get("f2csa") if isinstance(table, Mapping) else None
    if os.path.lexists(own):
        if mine is not None:
            raise InvalidInputError(OWN, f"must not stand beside [tool.f2csa] in {SHARED}: one of them says it")
        return FoundSettings(settings=_read(_table(own), OWN), source=OWN)
    if mine is None:
        return FoundSettings()
    return FoundSettings(settings=_read(mine, f"{SHARED} [tool.f2csa]"), source=f"{SHARED} [tool.f2csa]")


def _table(path: Path) -> dict[str, Any]:
    return loads_toml(hand_written(path, path.name), path.name)


def _read(table: Any, where: str) -> Settings:
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        raise from_validation(error, where) from None
