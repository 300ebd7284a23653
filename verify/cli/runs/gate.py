"""``f2csa gate``: whether each statement about a solver can fail, and whether its hypotheses are needed."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import TypeVar

from rich.table import Table

from spec.errors import InvalidInputError
from spec.files import refuse_to_replace, write_files
from verify.campaign.starting import context, one_blas_thread
from verify.campaign.summary import selected
from verify.cli.arguments import options
from verify.cli.arguments.sources import require_at_least
from verify.cli.output.console import plain_console, print_json, progress_bar
from verify.conformance.bugs.gates import GatePassage, about_solvers, page, passage
from verify.truth.propositions.needs import Needs, searched, statements_searched

T = TypeVar("T")


def gate(request: options.Gate) -> int:
    """Take the statements through, print the table or JSON; returns 0 where all pass, else 1."""
    require_at_least("--seed", request.seed, 0)
    require_at_least("--jobs", request.jobs, 1)
    if request.out is not None:
        refuse_to_replace(request.out)
    named = tuple(request.claims or ())
    claims, chosen = about_solvers(named), set(selected(named))
    formulas = [name for name in statements_searched() if name in chosen]
    if not (claims or formulas):
        rule = "must say something about a solver that is checked, or have hypotheses with formulas"
        raise InvalidInputError("claims", rule, ", ".join(named))
    jobs = request.jobs or multiprocessing.cpu_count()
    passages = list(_shared(partial(passage, seed=request.seed), claims, jobs))
    dropped = dict(zip(formulas, _shared(searched, formulas, jobs), strict=True))
    if request.out is not None:
        write_files(request.out.parent, {request.out.name: page(passages, dropped)})
    if request.as_json:
        rows = [{"statement": name, **need.model_dump()} for name, entry in dropped.items() for need in entry.needs]
        print_json({"passages": [asdict(one) for one in passages], "hypotheses": rows})
    else:
        _show(passages)
        _show_dropped(dropped)
    return 0 if all(one.passed for one in passages) else 1


def _shared(take: Callable[[str], T], names: Sequence[str], jobs: int) -> Iterator[T]:
    """In the paper's order, however many processes share the work."""
    with progress_bar() as progress, one_blas_thread(), ProcessPoolExecutor(jobs, mp_context=context()) as pool:
        for k, (name, outcome) in enumerate(zip(names, pool.map(take, names), strict=True)):
            progress(k + 1, len(names), name)
            yield outcome


def _show(passages: Sequence[GatePassage]) -> None:
    if not passages:
        return
    table = Table(box=None, pad_edge=False)
    for column in ("", "statement", "killed", "strengthened", "null subjects supported"):
        table.add_column(column, no_wrap=column == "statement")
    for row in passages:
        mark = "✓" if row.passed else "✗"
        table.add_row(mark, row.claim, row.killed or "none", row.strengthened, ", ".join(row.null) or "–")
    console = plain_console()
    console.print(table)
    failed = [row.claim for row in passages if not row.passed]
    console.print(f"{len(passages) - len(failed)} of {len(passages)} statements about a solver pass all three gates.")


def _show_dropped(dropped: Mapping[str, Needs]) -> None:
    needs = [(name, need) for name, entry in dropped.items() for need in entry.needs]
    if not needs:
        return
    table = Table(box=None, pad_edge=False)
    for column in ("statement", "hypothesis dropped", "without it"):
        table.add_column(column, no_wrap=column == "statement")
    for name, need in needs:
        table.add_row(name, need.premise, f"{need.where}: {need.finding}" if need.where else "not known to be needed")
    console = plain_console()
    console.print(table)
    shown = sum(bool(need.where) for _, need in needs)
    console.print(f"{shown} of {len(needs)} hypotheses with a formula are shown to be needed.")
