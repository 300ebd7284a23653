"""Completion in bash, zsh and fish: what a shell is told to source, and the names that it offers."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from typer import BadParameter

COMPLETING = "_F2CSA_COMPLETE"
"""Environment variable by which a shell asks for completions."""
KNOWN = ("bash", "zsh", "fish")
SHELLS = "bash, zsh or fish"
OPTIONS = ("--install-completion", "--show-completion")


def with_shell(arguments: list[str]) -> list[str]:
    """The arguments, with the user's own shell where a completion is asked for and none is named."""
    if arguments and len(arguments) == 1 and arguments[0] in OPTIONS:
        return [*arguments, Path(os.environ.get("SHELL", "")).name]
    return arguments


def prepare() -> None:
    """Have the parser answer a shell."""
    from typer.completion import completion_init  # type: ignore[attr-defined]  # it lists nothing as exported

    completion_init()


def script_of(shell: str, program: str) -> str:
    """What the shell sources to complete the program."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # it lists nothing as exported

    _require_known(shell, "--show-completion")
    return get_completion_script(prog_name=program, complete_var=COMPLETING, shell=shell)


def install(shell: str, program: str) -> Path:
    """Put that script where the shell finds it; where that is."""
    from typer.completion import install as put  # type: ignore[attr-defined]  # it lists nothing as exported

    _require_known(shell, "--install-completion")
    return put(shell=shell, prog_name=program, complete_var=COMPLETING)[1]


def _require_known(shell: str, option: str) -> None:
    if shell not in KNOWN:
        given = f"got '{shell}'" if shell else "$SHELL names none"
        raise BadParameter(f"must name a shell, {SHELLS}; {given}", param_hint=option)


def claims(incomplete: str) -> list[str]:
    """Ids of claims; of their steps, too, once a claim is named."""
    return [name for name in _statements(with_steps="/" in incomplete) if name.startswith(incomplete)]


def _statements(*, with_steps: bool) -> Iterator[str]:
    for file in _files("claims"):
        yield file.stem
        if with_steps:
            steps = tomllib.loads(file.read_text(encoding="utf-8")).get("steps", ())
            yield from (f"{file.stem}/{step['id']}" for step in steps)


def instances(incomplete: str) -> list[str]:
    """Names of the atlas."""
    return [file.stem for file in _files("instances") if file.stem.startswith(incomplete)]


def _files(folder: str) -> list[Path]:
    # Found, not imported: a shell waits for the answer.
    package = find_spec("spec")
    assert package is not None  # it ships with this
    assert package.origin is not None
    return sorted((Path(package.origin).parent / folder).glob("*.toml"))


def profiles(incomplete: str) -> list[str]:
    """Sizes of a run."""
    return [name for name in ("smoke", "ci", "full") if name.startswith(incomplete)]


def readings(incomplete: str) -> list[str]:
    """The two named readings."""
    return [name for name in ("as-written", "repaired") if name.startswith(incomplete)]


def strata(incomplete: str) -> list[str]:
    """Names of the atlas's strata."""
    names = {name for file in _files("instances") for name in tomllib.loads(file.read_text(encoding="utf-8"))["strata"]}
    return sorted(name for name in names if name.startswith(incomplete))
