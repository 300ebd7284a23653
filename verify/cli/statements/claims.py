"""``f2csa claims``, ``orders`` and ``refute``: what the paper says, and its proofs judged without running anything."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TypeVar, get_args

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from spec import InvalidInputError, load_claims
from spec.claims import Claim, ProofStep, ReadingName, Statement, find
from spec.formulas import choices_within, plain_text
from spec.text.assertions import load_assertions
from spec.works import find as find_work
from verify.checks.measuring.case import checks
from verify.cli.arguments import options
from verify.cli.arguments.sources import require_one_of
from verify.cli.output.console import plain_console, print_json, print_json_text
from verify.cli.statements.assertions import assertions
from verify.proofs.kernel.standings import standings
from verify.proofs.kernel.theorems import load_theorems
from verify.proofs.orders.evaluation import Evaluation, evaluations
from verify.proofs.orders.inference import Following, OrderRow
from verify.proofs.orders.table import FirstBreak, first_breaks, order_table
from verify.proofs.refutation.search import minimal_counterexample, readings_searched, refutable
from verify.report.wording import reading_title
from verify.verdict import Verdict, combine

_ROLES = {"statement": "part of the statement", "proof": "part of the proof", "note": "beside the statement"}
_Read = TypeVar("_Read", Evaluation, FirstBreak, OrderRow)
_STYLES = {
    Following.CONTRADICTION: "red",
    Following.DOES_NOT_FOLLOW: "red",
    Following.INHERITS: "yellow",
    Following.FOLLOWS: "green",
}


def claims(request: options.Claims) -> None:
    """Print the list, or one claim or step, or the paper's assertions."""
    if request.assertions:
        assertions(request)
    elif request.as_json:
        every = [_entry(claim.id, claim) for claim in load_claims().values()]
        print_json(every if request.claim is None else _entry(request.claim, find(request.claim)))
    elif request.claim is None:
        _list()
    else:
        _explain(request.claim, find(request.claim))


def _entry(full_id: str, statement: Statement) -> dict[str, Any]:
    proven = [standing.row.model_dump(mode="json") | {"gaps": standing.gaps} for standing in standings(full_id)]
    entry = statement.model_dump(mode="json") | {"full_id": full_id, "checked": full_id in checks(), "proven": proven}
    for step in entry.get("steps", []):
        step["full_id"] = f"{full_id}/{step['id']}"
        step["checked"] = step["full_id"] in checks()
    return entry


def _list() -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("claim", "kind", "steps", "checked", "open", "title"):
        # An id is there to be copied: only titles are folded.
        table.add_column(
            heading, no_wrap=heading != "title", min_width=max(map(len, load_claims())) if heading == "claim" else None
        )
    for claim in load_claims().values():
        covered = [full_id in checks() for full_id, _ in claim.statements()]
        left_open = sum(bool(statement.left_open) for _, statement in claim.statements())
        shown = f"{sum(covered)} of {len(covered)}" if any(covered) else "not yet"
        table.add_row(claim.id, claim.kind, str(len(claim.steps)), shown, str(left_open or ""), claim.title)
    console = plain_console()
    console.print(table)
    console.print("\nf2csa claims CLAIM explains one; f2csa verify CLAIM checks it.", style="dim")


def _explain(full_id: str, statement: Statement) -> None:
    console = plain_console()

    def line(text: str, style: str = "") -> None:
        console.print(text, style=style, markup=False)

    line(f"{full_id}: {statement.title}", "bold")
    kind = f"{statement.kind}, " if isinstance(statement, Claim) else ""
    role = f", {_ROLES[statement.role]}" if isinstance(statement, ProofStep) else ""
    line(f"{kind}{statement.location}{role}", "dim")
    line(f"\n{statement.statement}")
    if statement.regime:
        line(f"Regime: {statement.regime}")
    for name in get_args(ReadingName):
        assertion = statement.assertion(name)
        line(f"\n{reading_title(name, statement)}: {assertion.text}")
        bound = assertion.bound
        powers = " ".join(f"{name}^{power}" for name, power in bound.exponents.items())
        limit = "0" if bound.toward == "zero" else "∞"
        rate = f" ~ {powers}, {next(iter(bound.exponents))} → {limit}" if powers else ""
        line(f"  {bound.tag}: {bound.quantity}{rate}")
        if (formula := assertion.proposition) is not None:
            line(f"  as a formula: {plain_text(formula)}")
            if hangs := choices_within(formula):
                line(f"  defined by the choices: {', '.join(hangs)}")
    if statement.premises:
        line("\nPremises:")
        for premise in statement.premises:
            where = "" if len(premise.readings) == 2 else f" ({', '.join(premise.readings)} only)"
            line(f"  {premise.id}: {premise.words()}{where}")
            formulas = {plain_text(node): name for name in premise.readings if (node := premise.predicate(name))}
            for formula_text, name in formulas.items():
                line(f"    decided as{'' if len(formulas) == 1 else f' ({name})'}: {formula_text}")
            if premise.taken_from:
                line(f"    taken from: {', '.join(premise.taken_from)}")
            if premise.granted:
                line(f"    not in the text, granted: {premise.granted}")
            if premise.no_formula:
                line(f"    no formula: {premise.no_formula}")
    if statement.no_formula:
        line(f"No formula: {statement.no_formula}")
    if statement.choices:
        line(f"\nIts own choices of reading: {', '.join(statement.choices)}")
    if statement.axes:
        line(f"\nIt hangs on these choices too, as its formula shows: {', '.join(statement.axes)}")
    for work in map(find_work, statement.sources):
        line(f"Source: {work.reference} ({work.place or 'not looked up'}). {work.states}".rstrip())
    if statement.rests_on:
        line(f"Rests on: {', '.join(statement.rests_on)}")
    line(f"Would be refuted by: {statement.refuted_by}")
    if isinstance(statement, Claim) and statement.steps:
        line("\nSteps:")
        for step in statement.steps:
            missing = "  [left open]" if step.left_open else "  [not checked yet]"
            checked = "" if f"{full_id}/{step.id}" in checks() else missing
            line(f"  {full_id}/{step.id}: {step.title}{checked}")
    numbers = load_assertions().covering.get(full_id, ())
    if numbers:
        line(f"Covers: {len(numbers)} of the paper's assertions ({', '.join(map(str, numbers))})")
    check = checks().get(full_id)
    missing = f"none; left open: {statement.left_open}" if statement.left_open else "not checked yet"
    line(f"\nCheck: {'f2csa verify ' + full_id if check else missing}")
    if check:
        line(f"Instances: {', '.join(check.instances)}")
    for text in proof_lines(full_id):
        line(text)


def proof_lines(full_id: str) -> list[str]:
    """What is proven of a statement for every problem, its premises beside its own, or why nothing is."""
    lines = []
    for standing in standings(full_id):
        lines.append(f"\n{standing.headline}")
        lines += [f"  {shown.theorem.coq}: {shown.theorem.says}" for shown in standing.theorems]
        lines += [f"  premise: {text} (granted by {by})" for text, by in standing.grants]
        lines += [f"  a premise more than the statement has: {text}" for text in standing.gaps]
        lines += [f"  not in the theorems: {text}" for text in standing.lacks]
    reason = load_theorems().reasons.get(full_id)
    return [*lines, f"\nNot proven for every problem: {reason}"] if reason else lines


def orders(request: options.Orders) -> int:
    """Print the first broken steps of all proofs, or every inference of one claim or step.

    With ``atlas``, 1 if an inequality is false there.
    """
    if request.reading is not None:
        require_one_of("--reading", request.reading, get_args(ReadingName))
    if request.atlas:
        return _evaluated(request)
    if request.as_json:
        rows = _asked(order_table(request.claim), request)
        print_json([row.model_dump(mode="json") for row in rows])
    elif request.claim is None:
        _breaks(plain_console(), request)
    else:
        _proof(plain_console(), request.claim, request)
    return 0


def _asked(rows: Iterable[_Read], request: options.Orders) -> list[_Read]:
    """Those under the reading asked for."""
    return [one for one in rows if request.reading in (None, one.reading)]


def _evaluated(request: options.Orders) -> int:
    """Every inequality in numbers, the false ones first."""
    if request.claim is not None:
        find(request.claim)
    lines = [
        line
        for line in _asked(evaluations(), request)
        if request.claim in (None, line.step, line.step.partition("/")[0])
    ]
    broken = [line for line in lines if not line.holds]
    if request.as_json:
        print_json([line.model_dump(mode="json") for line in lines])
        return int(bool(broken))
    console = plain_console()
    for line in sorted((line for line in lines if line.instances), key=lambda line: line.holds):
        inequality = f"{line.step}, {line.reading.replace('-', ' ')}: {line.quantity} {line.relation} {line.bound_by}: "
        console.print(inequality, end="", markup=False)
        if line.holds:
            console.print(f"holds on {line.instances} problems, ratio at most {line.ratio:.3g}", style="green")
        else:
            console.print(f"false on {line.worst}: {line.why}", style="red")
    silent = sum(not line.instances for line in lines)
    console.print(
        f"\n{len(lines) - silent - len(broken)} inequalities hold, {len(broken)} are false; {silent} are about counts, "
        "random means or regimes that have no value at a regular point.", style="dim",
    )  # fmt: skip
    return int(bool(broken))


def _breaks(console: Console, request: options.Orders) -> None:
    for proof in _asked(first_breaks(), request):
        reading = proof.reading.replace("-", " ")
        console.print(f"[bold]{proof.claim}[/], {reading}", end=": ")
        if proof.broken is None:
            console.print(f"all {proof.steps} orders follow" if proof.steps > 1 else "its order follows", style="green")
            continue
        step = proof.broken.step.partition("/")[2] or "its conclusion"
        console.print(f"first breaks at [red]{step}[/]")
        _why(console, proof.broken)
    console.print("\nf2csa orders CLAIM shows every inference of one proof.", style="dim")


def _proof(console: Console, claim: str, request: options.Orders) -> None:
    rows = _asked(order_table(claim), request)
    if not rows:
        console.print(f"{claim} ({find(claim).title}): no order is inferred here.")
    for reading in dict.fromkeys(row.reading for row in rows):
        console.print(f"{reading.replace('-', ' ').capitalize()}", style="bold")
        for row in (row for row in rows if row.reading == reading):
            asserted = f"{row.quantity} = {row.asserted}, " if row.quantity else ""
            console.print(f" {row.step}: {asserted}", end="", markup=False)
            console.print(str(row.following), style=_STYLES[row.following])
            _why(console, row)


def _why(console: Console, row: OrderRow) -> None:
    console.print(Padding(row.why, (0, 0, 0, 4)), style="dim")
    if row.following is not Following.FOLLOWS and (verdict := _on_record(row.step, row.reading)):
        # A break is about the argument: what it argues for may hold all the same.
        by = "; the statement holds all the same, by another route" if verdict is Verdict.SUPPORTED else ""
        note = f"`f2csa verify` on record: {verdict}{by}."
        console.print(Padding(note, (0, 0, 0, 4)), style="dim")


def _recorded(full_id: str, reading: str) -> str:
    verdict = _on_record(full_id, reading)
    return f" (on record: {verdict})" if verdict else ""


def _on_record(full_id: str, reading: str) -> Verdict | None:
    """The reference's verdict on a statement as shipped with this version, over all its instances."""
    # Imported here: with it comes all that runs, of which the list of claims needs nothing.
    from verify.campaign.baseline.storage import shipped_record

    start = f"{full_id}|{reading}|"
    return combine(Verdict(verdict) for key, verdict in shipped_record().items() if key.startswith(start))


def _refutable(request: options.Refute) -> None:
    """List the claims and steps a counterexample can be searched for, and the readings that the search expresses."""
    for name, default in vars(options.Refute(as_json=request.as_json)).items():
        if (given := getattr(request, name)) != default:
            raise InvalidInputError(f"--{name}", "must go with a claim: nothing was searched for", str(given))
    searches = {claim: readings_searched(claim) for claim in refutable()}
    if request.as_json:
        print_json([{"claim": claim, "readings": list(readings)} for claim, readings in searches.items()])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("claim", no_wrap=True)
    table.add_column("as written, on record", no_wrap=True)
    table.add_column("readings")
    for claim, readings in searches.items():
        table.add_row(claim, str(_on_record(claim, "as-written") or ""), Text(str(len(readings)), justify="right"))
    console = plain_console()
    console.print(table)
    console.print(
        f"\n{len(searches)} claims and steps have a search. f2csa refute CLAIM looks for the smallest problem that "
        "breaks one; --json lists the readings, for --reading.", style="dim",
    )  # fmt: skip


def refute(request: options.Refute) -> None:
    """Search, print what was found, and write the problem file if asked to."""
    if request.claim is None:
        _refutable(request)
        return
    reading = request.reading
    counterexample = minimal_counterexample(
        request.claim, reading, weight=request.weight, tries=request.tries, seed=request.seed
    )
    if request.out is not None and counterexample is not None:
        request.out.write_text(counterexample.file, encoding="utf-8")
    if request.as_json:
        print_json_text("null" if counterexample is None else counterexample.model_dump_json(indent=1))
        return
    named = reading.replace("-", " ") if reading in get_args(ReadingName) else reading
    asked_about = f"{request.claim}, {named}:"
    if counterexample is None:
        sys.stdout.write(
            f"{asked_about} no counterexample among the one-dimensional problems whose integers add up to at most "
            f"{request.weight}, nor among {request.tries} larger ones. That proves nothing; "
            f"`f2csa verify {request.claim}` weighs the evidence{_recorded(request.claim, reading)}.\n"
        )
        return
    how = (
        "no smaller integer problem breaks it"
        if counterexample.exhaustive
        else "shrunk until no smaller neighbour breaks it"
    )
    lines = [
        f"{asked_about} broken; {how} ({counterexample.examined} examined).",
        f"Claim: {find(request.claim).assertion(counterexample.reading).text}",
        "",
        *(f"  {k}. {line}" for k, line in enumerate(counterexample.derivation, 1)),
        "",
        "Reproduce:" if request.out is None else f"Problem written to {request.out}. Reproduce:",
        f"  {counterexample.command if request.out is None else counterexample.command_with(str(request.out))}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
