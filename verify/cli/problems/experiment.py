"""``f2csa experiment``: an experiment's cells performed or taken up again, then its page and its data."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path

from spec.errors import InvalidInputError
from spec.files import refuse_to_replace, write_files
from verify.campaign.run import environment
from verify.cli.arguments import experiment_options
from verify.cli.arguments.sources import require_at_least
from verify.cli.output.console import cores, ended_politely, memory, plain_console, print_json, progress_bar
from verify.cli.output.folder import require_folder
from verify.experiments.model import Experiment, Size
from verify.experiments.work_cells import Bench

SHARE = 0.6
"""Of the machine's memory, what an experiment may take unasked."""


def convergence(options: experiment_options.Convergence) -> None:
    """Loss and stationarity over calls and over seconds."""
    _run("convergence", options)


def scaling(options: experiment_options.Scaling) -> None:
    """Work and time as the dimension grows."""
    from verify.experiments.scaling import LEAST_LARGEST, largest_within

    if options.largest is not None:
        require_at_least("--largest", options.largest, LEAST_LARGEST)
    _run("scaling", options, largest=options.largest or largest_within(SHARE * memory()))


def board(options: experiment_options.BoardOptions) -> None:
    """Time to an error of the hypergradient, entrant by entrant."""
    from verify.experiments.answers.board_field import field_of
    from verify.experiments.hypergradient_board import LEAST_LARGEST

    if options.largest is not None:
        require_at_least("--largest", options.largest, LEAST_LARGEST)
    elsewhere = tuple(options.entrant or ())
    field_of(elsewhere)  # refused before any work is done
    _run("board", options, module="hypergradient_board", largest=options.largest, elsewhere=elsewhere)


def kinks(options: experiment_options.Kinks) -> None:
    """Where rows switch on and off."""
    _run("kinks", options, module="across_kinks")


def _run(name: str, options: experiment_options.ExperimentOptions, *, module: str = "", **further: object) -> None:
    require_at_least("--seed", options.seed, 0)
    jobs = cores() if options.jobs is None else options.jobs
    require_at_least("--jobs", jobs, 1)
    _require_ours(options.out, name)
    size: Size = "quick" if options.quick else "whole"
    header = {"experiment": name, "size": size, "seed": options.seed, "environment": environment()}
    started = time.perf_counter()
    with ended_politely(), progress_bar() as show:
        bench = Bench(options.out / f"{name}.cells.jsonl", header, jobs=jobs, resume=options.resume, show=show)
        experiment = import_module(f"verify.experiments.{module or name}")
        outcome: Experiment = experiment.run(bench, size, options.seed, **further)
    outcome = outcome.model_copy(update={"environment": environment(), "seconds": time.perf_counter() - started})
    _write(outcome, options, bench.reused)


def _require_ours(out: Path, name: str) -> None:
    """Refuse a folder that holds somebody else's file under one of our names, before any work is done."""
    require_folder(out)
    for path in (out / f"{name}.{ending}" for ending in ("json", "html", "csv", "cells.jsonl")):
        if path.exists() and not path.is_file():
            raise InvalidInputError("--out", f"must hold no folder, pipe or device named {path.name}", str(out))
    for ending in ("json", "html"):
        refuse_to_replace(out / f"{name}.{ending}")
    # A table of numbers says nothing of who wrote it; ours has its JSON beside it.
    if (out / f"{name}.csv").exists() and not (out / f"{name}.json").exists():
        raise InvalidInputError("--out", f"must not hold a {name}.csv without its {name}.json: move it", str(out))


def _write(outcome: Experiment, options: experiment_options.ExperimentOptions, reused: int) -> None:
    from verify.report.formats.experiment_page import files

    paths = write_files(options.out, files(outcome))
    if options.as_json:
        print_json(outcome.model_dump(mode="json", by_alias=True))
        return
    console = plain_console()
    for sentence in (outcome.lead, *outcome.sentences, *(f"{f.statement}: {f.sentence}" for f in outcome.findings)):
        console.print(sentence, markup=False)
    page = next(path for path in paths if path.suffix == ".html")
    reuse = f"; {reused} finished cells were there" if reused else ""
    sys.stderr.write(f"{outcome.seconds:.0f} s{reuse}; page: {page}\n")
