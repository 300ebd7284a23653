"""``python -m verify`` is ``f2csa``."""

from __future__ import annotations

from f2csa_command import main

if __name__ == "__main__":
    main()
