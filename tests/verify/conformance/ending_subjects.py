"""Classes that end or never leave the process they run in."""

from __future__ import annotations

import os
from typing import Any


class Exits:
    """Ends its process, as if all had gone well."""

    name = "exits"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        os._exit(0)


class Spins:
    """Never answers."""

    name = "spins"

    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        while True:
            pass
