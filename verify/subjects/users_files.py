"""Which files are the user's own: neither ours, nor Python's, nor installed."""

from __future__ import annotations

import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_HOUSE = tuple(_ROOT / room for room in ("spec", "f2csa_ref", "verify"))
_STANDARD = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))
_INSTALLED = ("site-packages", "dist-packages")


@lru_cache(maxsize=4096)
def is_users(path: Path) -> bool:
    """Whether a file is neither ours, nor Python's, nor installed."""
    path = path.resolve()
    if any(part in _INSTALLED for part in path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in (*_HOUSE, *_STANDARD))


def forget_users_modules() -> None:
    """Have the user's own source files run again when they are imported next: what they keep is gone with them."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and isinstance(file, str) and file.endswith(".py") and is_users(Path(file)):
            del sys.modules[name]
