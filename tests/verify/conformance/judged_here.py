"""``f2csa conform`` without its own process: what this one has worked out already is not worked out again."""

from __future__ import annotations

import pytest


def judge_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command judge a class in this process, as the process it would start does."""
    monkeypatch.setattr("verify.cli.conform.is_apart", lambda: True)
    for name in ("follow_parent", "say_finished"):
        monkeypatch.setattr(f"verify.cli.conform.{name}", lambda: None)
