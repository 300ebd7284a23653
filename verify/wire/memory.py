"""How much memory a program takes, with all it started."""

from __future__ import annotations

import os
from pathlib import Path


def resident_bytes(group: int) -> int:
    """Memory of all processes of a group and of their descendants (Linux; elsewhere 0)."""
    found: dict[int, tuple[int, int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = stat.read_bytes().rpartition(b")")
        except OSError:
            continue
        fields = rest.split()
        if len(fields) > 21:
            found[int(number.split()[0])] = int(fields[1]), int(fields[2]), int(fields[21])
    inside = {pid for pid, (_, its_group, _) in found.items() if its_group == group}
    new = inside
    while new:
        new = {pid for pid, (parent, *_) in found.items() if parent in new} - inside
        inside |= new
    pages = sum(found[pid][2] for pid in inside)
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0
