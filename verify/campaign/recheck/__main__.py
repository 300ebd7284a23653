"""``python -m verify.campaign.recheck FOLDER``: run the reference into FOLDER and record what reports are held to."""

from __future__ import annotations

import sys
from pathlib import Path

from spec.errors import InvalidInputError
from verify.campaign.recheck.rechecking import share_of
from verify.campaign.recheck.recording import record

if __name__ == "__main__":
    try:
        record([Path(name) for name in sys.argv[1:]], share_of(1))
    except InvalidInputError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
