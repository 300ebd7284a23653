"""``python -m verify.conformance.vectors.release``: put the vectors as they are now on record as released.

Adds new ids and rewrites the manifest. Refuses where a released id is gone or stands for something else: then the
changed case needs a name of its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from verify.conformance.vectors import all_vectors
from verify.conformance.vectors.files import MANIFEST, RELEASED, contents, fingerprint, released

FOLDER = Path(__file__).parent / "records"


def changed_ids(known: dict[str, str], now: dict[str, str]) -> list[str]:
    """Released ids that are gone or stand for something else."""
    return sorted(id_ for id_, print_ in known.items() if now.get(id_) != print_)


def main() -> int:
    """Write the record; 1 where a released id would change."""
    known = released() if (FOLDER / RELEASED).exists() else {}
    now = {vector.id: fingerprint(vector) for vector in all_vectors()}
    changed = changed_ids(known, now)
    if changed:
        sys.stderr.write(
            f"{len(changed)} released id(s) gone or changed, first {changed[0]}: give the case a new name\n"
        )
        return 1
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / RELEASED).write_text(json.dumps(dict(sorted(now.items())), indent=0) + "\n", encoding="utf-8")
    (FOLDER / MANIFEST).write_bytes(contents()[MANIFEST])
    sys.stdout.write(f"{len(now) - len(known)} new id(s), {len(now)} released\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
