"""The command ``f2csa``: whose files it runs on, then the command.

Any distribution may hold packages named ``spec`` or ``verify``, and an installer writes one over another in silence.
This module bears a name of its own, so that it is there to say so, and needs nothing but the standard library.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from importlib.metadata import Distribution

DISTRIBUTION = "f2csa-verify"
ROOT = Path(__file__).resolve().parent
"""The folder that holds our packages side by side."""
FIRST_WORDS = {
    "spec/__init__.py": '"""What the paper says',
    "f2csa_ref/__init__.py": '"""What the paper does',
    "verify/__init__.py": '"""Whether the paper holds',
    "verify/cli/__init__.py": '"""The command line',
    "verify/cli/main.py": '"""The command ``f2csa``',
}
"""How the files begin that every command runs through: read at every start, which takes a tenth of a millisecond."""
_SHOWN = 3
"""Most files that a line names."""


@dataclass(frozen=True)
class OwnFiles:
    """Whether the files of our packages are those that were installed.

    Args:
        root: The folder they are in.
        installed: ``as a wheel``, ``editable`` or ``not at all``: only a wheel's files have digests to be held against.
        altered: Files that are missing or other than they were installed, from the folder of the packages.
        others: Distributions that have files of these names, too, with their versions.
        source: What the installer was given: our name, or a place; where it was given nothing, what to give it.
    """

    root: Path
    installed: str
    altered: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    source: str = DISTRIBUTION

    def __str__(self) -> str:
        """What is wrong and what mends it, in one line; empty where nothing is."""
        if not self.altered:
            return ""
        more = len(self.altered) - _SHOWN
        named = ", ".join(self.altered[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        whose = f"those of {', '.join(self.others)}" if self.others else "no longer those that were installed"
        away = f"pip uninstall {' '.join(name.partition(' ')[0] for name in self.others)}; " if self.others else ""
        again = f"{away}pip install --force-reinstall --no-deps {self.source}"
        return f"files of this package are {whose} ({named} in {self.root}): {again}"


def own_files(root: Path = ROOT) -> OwnFiles:
    """Hold the files of our packages under a folder against the digests they were installed with.

    Args:
        root: The folder that holds them side by side.
    """
    from importlib.metadata import distributions

    beside = [one for one in distributions(path=[str(root)]) if one.files]
    mine = next((one for one in beside if _name(one) == DISTRIBUTION), None)
    if mine is None or _is_editable(mine):
        foreign = tuple(_begins_otherwise(root))
        linked = any(_is_editable(one) and _place(one) == str(root) for one in distributions(name=DISTRIBUTION))
        source = f"-e {shlex.quote(str(root))}" if linked else "path/to/checkout"
        return OwnFiles(root, "editable" if linked else "not at all", foreign, _others(beside, foreign), source)
    known = {str(file): file.hash for file in mine.files or () if file.hash is not None and file.suffix != ".pyc"}
    packages = {name.partition("/")[0] for name in FIRST_WORDS}
    ours = {name: digest for name, digest in known.items() if name.partition("/")[0] in packages}
    altered = tuple(name for name, digest in ours.items() if _digest(root / name, digest.mode) != digest.value)
    source = shlex.quote(_place(mine) or DISTRIBUTION)
    return OwnFiles(root, "as a wheel", altered, _others(beside, altered), source)


def _origin(distribution: Distribution) -> dict[str, Any]:
    """Where a distribution was installed from, if not by its name (PEP 610)."""
    found = json.loads(distribution.read_text("direct_url.json") or "{}")
    return found if isinstance(found, dict) else {}


def _is_editable(distribution: Distribution) -> bool:
    return bool(_origin(distribution).get("dir_info", {}).get("editable"))


def _place(distribution: Distribution) -> str:
    from urllib.parse import unquote

    return unquote(str(_origin(distribution).get("url", "")).removeprefix("file://"))


def _others(beside: list[Distribution], altered: tuple[str, ...]) -> tuple[str, ...]:
    """Distributions other than ours that have files of these names."""
    names = set(altered)
    found = [one for one in beside if _name(one) != DISTRIBUTION and not names.isdisjoint(map(str, one.files or ()))]
    return tuple(sorted(f"{_name(one)} {one.version}" for one in found))


def _name(distribution: Distribution) -> str:
    return str(distribution.metadata["Name"]).lower().replace("_", "-")


def _digest(path: Path, mode: str) -> str:
    """A file's digest as an installer writes it; empty where there is none."""
    try:
        found = hashlib.new(mode, path.read_bytes()).digest()
    except OSError:
        return ""
    return base64.urlsafe_b64encode(found).decode().rstrip("=")


def _begins_otherwise(root: Path) -> Iterator[str]:
    """Files that every command runs through and that do not begin as ours do."""
    for name, words in FIRST_WORDS.items() if root.is_dir() else ():  # in an archive nobody writes over files
        start = words.encode()
        try:
            with (root / name).open("rb") as file:
                begins = file.read(len(start))
        except OSError:
            begins = b""
        if begins != start:
            yield name


def main() -> NoReturn:
    """Entry point of the console script: refuse to run on somebody else's files, else run the command."""
    if any(_begins_otherwise(ROOT)):
        sys.exit(_refused(str(own_files())))
    try:
        from verify.cli.main import main as command

        command(lambda: str(own_files()))
    except Exception:
        # What is wrong within is said by the command itself, unless that cannot be imported, or not to the end.
        if said := str(own_files()) or _in_front():
            sys.exit(_refused(said))
        raise


def _in_front() -> str:
    """What is imported instead of our ``verify``, from another folder; empty where it is ours."""
    found = getattr(sys.modules.get("verify"), "__file__", None)
    if found is None or ROOT in Path(found).resolve().parents:
        return ""
    return f"{found} stands in front of this package's own verify ({ROOT / 'verify'}): uninstall it, or rename it"


def _refused(said: str) -> int:
    sys.stderr.write(f"f2csa: {said}\n")
    return 3


if __name__ == "__main__":
    main()
