"""``python -m verify.campaign.recheck REPORT``: record which evidence a full run of the reference holds."""

from __future__ import annotations

import sys
from pathlib import Path

from verify.campaign.baseline.storage import load_report
from verify.campaign.recheck.expected_evidence import RECORD, write
from verify.campaign.recheck.rechecking import share_of

if __name__ == "__main__":
    write(load_report(Path(sys.argv[1]), "REPORT", "record what it holds"), share_of(1), Path(str(RECORD)))
