"""This package's own ``spec``, whatever bears that name where Python was started."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path


def load() -> None:
    """Import ``spec`` from the folder that holds ``f2csa_ref``.

    Raises:
        ImportError: If another module of that name was imported before.
    """
    root = Path(__file__).resolve().parents[1]
    if "spec" in sys.modules:
        origin = getattr(sys.modules["spec"], "__file__", None)
        if origin is not None and root not in Path(origin).resolve().parents:
            own = f"this package's own spec ({root / 'spec'})"
            raise ImportError(f"{origin} stands in front of {own}: rename it, or run from another folder")
        return
    found_spec = PathFinder.find_spec("spec", [str(root)])
    if found_spec is None or found_spec.loader is None:
        return  # packed otherwise: Python's own way finds it or says why not
    module = module_from_spec(found_spec)
    sys.modules["spec"] = module
    try:
        found_spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["spec"]
        raise


load()
