"""``f2csa gate``: whether each statement about a solver can fail."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial

from rich.table import Table

from spec.errors import InvalidInputError
from spec.files import refuse_to_replace, write_files
from verify.campaign.starting import context, one_blas_thread
from verify.cli import options
from verify.cli.console import plain_console, print_json, progress_bar
from verify.cli.sources import require_at_least
from verify.conformance.gates import Passage, about_solvers, page, passage


def gate(asked: options.Gate) -> int:
    """Take the statements through, print the table or JSON; returns 0 where all pass, else 1."""
    require_at_least("--seed", asked.seed, 0)
    require_at_least("--jobs", asked.jobs, 1)
    if asked.out is not None:
        refuse_to_replace(asked.out)
    named = tuple(asked.claims or ())
    claims = about_solvers(named)
    if not claims:
        raise InvalidInputError("claims", "must say something about a solver that is checked", ", ".join(named))
    found = list(_passages(claims, asked.seed, asked.jobs or multiprocessing.cpu_count()))
    if asked.out is not None:
        write_files(asked.out.parent, {asked.out.name: page(found)})
    if asked.as_json:
        print_json([asdict(passage) for passage in found])
    else:
        _show(found)
    return 0 if all(passage.passed for passage in found) else 1


def _passages(claims: Sequence[str], seed: int, jobs: int) -> Iterator[Passage]:
    """In the paper's order, however many processes share the work."""
    take = partial(passage, seed=seed)
    with progress_bar() as progress, one_blas_thread(), ProcessPoolExecutor(jobs, mp_context=context()) as pool:
        for k, found in enumerate(pool.map(take, claims)):
            progress(k + 1, len(claims), found.claim)
            yield found


def _show(found: Sequence[Passage]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("", "statement", "killed", "strengthened", "null subjects supported"):
        table.add_column(column, no_wrap=column == "statement")
    for row in found:
        mark = "✓" if row.passed else "✗"
        table.add_row(mark, row.claim, row.killed or "none", row.strengthened, ", ".join(row.null) or "–")
    console = plain_console()
    console.print(table)
    failed = [row.claim for row in found if not row.passed]
    console.print(f"{len(found) - len(failed)} of {len(found)} statements about a solver pass all three gates.")
