"""``f2csa prove``: theorems re-checked by Coq; without it, held against the record and said to be no more."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from spec.claims import load_claims
from spec.errors import InvalidInputError
from spec.files import find_named, write_files
from verify.cli.arguments import options
from verify.cli.output.console import plain_console, print_json, print_lines
from verify.cli.statements.prove_certificates import prove_certificates
from verify.proofs.kernel.coq_checking import CoqOutcome, check
from verify.proofs.kernel.proof_record import RECORD, files, load_record
from verify.proofs.kernel.standings import counts
from verify.proofs.kernel.theorems import TheoremTable, load_theorems

SCHEMA = "f2csa-prove/1"


def prove(request: options.Prove) -> int:
    """Check, print the table or JSON; returns 0 where all agree or are on record, 1 where one is refused."""
    if request.certificates is not None:
        return prove_certificates(request)
    for option, given in (("--limit", request.limit), ("--out", request.out)):
        if given is not None:
            raise InvalidInputError(option, "needs --certificates", str(given))
    table = load_theorems()
    names = _named(request.names or (), table)
    if request.record and names:
        raise InvalidInputError("--record", "must be of all theorems: name none", ", ".join(request.names or ()))
    for option, wanted, program in (("--kernel", request.kernel, "coqchk"), ("--record", request.record, "coqc")):
        if wanted and shutil.which(program) is None:
            raise InvalidInputError(option, f"needs {program}, which is not on the path")
    record = None if request.record else load_record()
    outcome = check(names, record=record, kernel=request.kernel)
    if request.record and outcome.state == "re-checked" and outcome.record is not None:
        write_files(RECORD.parent, files(outcome.record), "--record")
    if request.as_json:
        print_json(_entry(outcome, table))
    else:
        _show(outcome, table, whole=not names)
    return int(outcome.state == "refused")


def _named(names: Sequence[str], table: TheoremTable) -> list[str]:
    """Theorems by their names or by the claims, with their steps, that they settle."""
    known: dict[str, list[str]] = {name: [name] for name in table.theorems}
    for claim in load_claims().values():
        for full, _ in claim.statements():
            own = [row for row in table.settled if row.statement == full or row.statement.startswith(f"{full}/")]
            known[full] = [name for row in own for name in row.by]
    theorems = []
    for name in names:
        rule = "must be a theorem, or a claim or step that one settles"
        by = find_named(known, name, "names", rule, "`f2csa prove` lists them")
        if not by:
            reason = table.reasons.get(name, "no theorem settles it")
            raise InvalidInputError("names", f"{rule}; of this one: {reason}", name)
        theorems += by
    return list(dict.fromkeys(theorems))


def _entry(outcome: CoqOutcome, table: TheoremTable) -> dict[str, Any]:
    record = outcome.record or load_record()
    return {
        "schema": SCHEMA,
        "state": outcome.state,
        "words": outcome.words,
        "coq": outcome.coq,
        "coq_on_record": outcome.on_record,
        "small_kernel": outcome.kernel,
        "refusals": list(outcome.refusals),
        "theorems": [
            {
                **table.theorems[name].model_dump(mode="json"),
                "settles": [f"{row.statement} [{row.reading}]" for row in table.settled if name in row.by],
                "statement": record.theorems[name].statement if name in record.theorems else "",
                "axioms": list(record.theorems[name].axioms) if name in record.theorems else [],
            }
            for name in outcome.theorems
        ],
        "sources": record.sources,
    }


def _show(outcome: CoqOutcome, table: TheoremTable, *, whole: bool) -> None:
    if outcome.state == "refused":
        # No row of a table could be relied on.
        print_lines(f"refused: {line}" for line in outcome.refusals)
        return
    shown = Table(box=None, pad_edge=False)
    for column in ("theorem", "says", "settles"):
        shown.add_column(column, no_wrap=column == "theorem", overflow="fold")
    for name in outcome.theorems:
        settles = ", ".join(
            row.statement + (" (refuted as written)" if row.reading == "as-written" else "")
            for row in table.settled
            if name in row.by
        )
        shown.add_row(name, table.theorems[name].says, settles or "helps other proofs")
    console = plain_console()
    console.print(shown)
    number = f"{len(outcome.theorems)} theorem{'s' if len(outcome.theorems) != 1 else ''}"
    console.print(f"\n{number}: {outcome.words}.", markup=False)
    if whole:
        totals = counts()
        console.print(
            f"Of the repaired statements {totals['proven']} are proven for every problem that meets the premises "
            f"({totals['gaps']} with a premise more than they ask for), {totals['part']} in part; "
            f"{totals['left']} have a reason why not (docs/theorems.md).",
            markup=False,
        )
