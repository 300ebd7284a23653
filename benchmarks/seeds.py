"""Whether any verdict of the reference hangs on its seed: every result at many seeds, against the record.

    python -m benchmarks.seeds --from 100 --to 150 --jobs 2

Results whose evidence is the same at the first two seeds draw nothing and are run there alone. Prints one line a seed
and every result that came out otherwise or as a fault; exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from concurrent.futures import ProcessPoolExecutor

from verify.campaign.baseline.storage import shipped_record
from verify.campaign.plan import perform, plan
from verify.checks.measuring.case import find_profile
from verify.subjects import load_subject


def run(seed: int, drawn: frozenset[str] | None) -> tuple[dict[str, str], list[str]]:
    """A digest of each result's evidence, and a line for each not as recorded; only of those ``drawn``, if given."""
    record, reference = shipped_record(), load_subject("reference")
    evidence, lines = {}, []
    for task in plan([], ["as-written", "repaired"], [], find_profile("ci"), "reference", seed):
        if drawn is not None and task.key not in drawn:
            continue
        result = perform(task, reference)
        evidence[task.key] = hashlib.sha256(repr([item.model_dump() for item in result.evidence]).encode()).hexdigest()
        if result.fault is not None or str(result.verdict) != record.get(task.key):
            lines.append(f"  {task.key}: {result.fault or result.sentence}")
    return evidence, lines


def main() -> int:
    """Run the seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="first", type=int, default=100)
    parser.add_argument("--to", dest="end", type=int, default=150)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    seeds = range(asked.first, asked.end)
    if len(seeds) < 2 or asked.jobs < 1:
        parser.error("at least two seeds and one job are needed")
    off = 0

    def told(seed: int, count: int, lines: list[str]) -> None:
        nonlocal off
        off += len(lines)
        sys.stdout.write("\n".join([f"seed {seed}: {count} results, {len(lines)} not as recorded", *lines]) + "\n")
        sys.stdout.flush()

    with ProcessPoolExecutor(asked.jobs) as pool:
        one, two = pool.map(run, seeds[:2], (None, None))
        for seed, (evidence, lines) in zip(seeds, (one, two), strict=False):
            told(seed, len(evidence), lines)
        drawn = frozenset(key for key in one[0] if one[0][key] != two[0][key])
        for seed, (evidence, lines) in zip(seeds[2:], pool.map(run, seeds[2:], [drawn] * len(seeds[2:])), strict=True):
            told(seed, len(evidence), lines)
    return int(off > 0)


if __name__ == "__main__":
    sys.exit(main())
