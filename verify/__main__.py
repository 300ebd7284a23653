"""``python -m verify`` is ``f2csa``."""

from __future__ import annotations

from verify.cli.main import main

if __name__ == "__main__":
    main()
