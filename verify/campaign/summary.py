"""Results gathered by claim and reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from spec import load_claims
from spec.claims import Bound, Statement
from spec.claims import find as find_claim
from verify.checks.measuring.case import Profile, checks
from verify.evidence.rates.orders import claimed_order
from verify.report.model import NAMED, Result
from verify.report.rows.summary_row import Claimed, SmallestCounterexample, SummaryRow
from verify.report.wording import FAULT, status_of, tally
from verify.subjects.stage_table import REFUSED
from verify.subjects.subject_names import REFERENCE
from verify.verdict import Verdict, not_refuted_by, rolled_up

DECIDING = ("claimed", "quantity", "measured", "interval", "loose_by", "rung")
"""What a row takes over from the result that decided it."""


def selected(claims: Sequence[str]) -> list[str]:
    """Full ids of the named claims and their steps, in the paper's order; all if none is named."""
    known = [full_id for claim in load_claims().values() for full_id, _ in claim.statements()]
    for claim in claims:
        find_claim(claim)
    if not claims:
        return known
    return [full_id for full_id in known if full_id in claims or full_id.split("/")[0] in claims]


def left_out(profile: Profile, claims: Sequence[str], subject: str) -> list[str]:
    """What a profile leaves out of these claims, in one sentence; nothing where it leaves out nothing."""
    chosen = [name for name in selected(claims) if subject == REFERENCE or find_claim(name).about == "subject"]
    names = profile.left_out(claims, chosen)
    if not names:
        return []
    steps: dict[str, list[str]] = {}
    for name in names:
        claim, _, step = name.partition("/")
        steps.setdefault(claim, []).append(step or "the claim itself")
    listing = "; ".join(f"{claim} ({', '.join(parts)})" for claim, parts in steps.items())
    count = f"{len(names)} statement{'s' * (len(names) > 1)}"
    why = "cannot take fewer samples or runs without leaving the verdict open"
    return [
        f"profile {profile.name} leaves out {count} that {why}: {listing}; named, or with --profile ci, each is judged"
    ]


@lru_cache(maxsize=64)
def smallest(full_id: str) -> SmallestCounterexample | None:
    """The smallest counterexample to a statement as written, where it was searched for and there is one."""
    from verify.proofs.refutation.search import minimal_counterexample, refutable

    counterexample = minimal_counterexample(full_id) if full_id in refutable() else None
    if counterexample is None:
        return None
    return SmallestCounterexample(
        problem=counterexample.problem,
        x=counterexample.x,
        derivation=counterexample.derivation,
        command=counterexample.command,
        minimal=counterexample.exhaustive,
    )


Search = Callable[[str], SmallestCounterexample | None]


def summarise(
    results: Sequence[Result], claims: Sequence[str] = (), subject: str = REFERENCE, search: Search = smallest
) -> Iterator[SummaryRow]:
    """One row a claim or step and reading, in the paper's order; claims without a check are said to have none.

    A claim's row under a named reading also weighs the steps that are part of its statement: the claim falls with them.
    At the other points of its lattice it is of the claim's own check; its parts make choices of their own. ``search``
    finds smallest counterexamples.
    """
    by_key: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        by_key.setdefault((result.claim, result.reading), []).append(result)
    wanted = set(selected(claims))
    for claim in load_claims().values():
        for full_id, statement in claim.statements():
            if full_id not in wanted or (subject != REFERENCE and statement.about != "subject"):
                continue
            run = {name for name, _ in by_key}
            steps = [step for step in claim.parts("repaired") if step in run] if statement is claim else []
            if full_id not in checks() and not steps:
                yield SummaryRow(
                    claim=full_id, reading="", status="LEFT_OPEN" if statement.left_open else "NOT_CHECKED",
                    sentence=statement.left_open or "Not checked yet.", **_told(full_id, statement),
                )  # fmt: skip
                continue
            for reading in _readings_present(full_id, steps, by_key):
                own = by_key.get((full_id, reading), [])
                parts = [step for step in claim.parts(reading) if step in steps] if reading in NAMED else []
                if not own and not parts:
                    continue
                row = _row(full_id, reading, own, [r for s in parts for r in by_key.get((s, reading), [])])
                # Where a part fails, the part's counterexample is shown: of the claim itself none was found.
                own_fails = row.status is Verdict.REFUTED and row.decided_by == full_id
                searched = is_searched(subject, reading) and own_fails
                known: dict[str, Any] = {"smallest": search(full_id)} if searched else {}
                if reading == "as-written" and subject == REFERENCE:
                    known |= _left_open([full_id, *parts], row, by_key)
                yield row.model_copy(update=known | _told(full_id, statement))


def is_searched(subject: str, reading: str) -> bool:
    """Whether a smallest counterexample is searched for where a statement is refuted under a reading.

    The search is about the paper's formulas, which the reference follows; a stranger may not.
    """
    return subject == REFERENCE and reading == "as-written"


def _told(full_id: str, statement: Statement) -> dict[str, Any]:
    """What a row says of its statement, whatever came out."""
    check = checks().get(full_id)
    return {
        "about": statement.about, "title": statement.title, "stages": check.needs if check is not None else (),
        "printed": _claimed(statement.as_written.bound), "repaired": _claimed(statement.repaired.bound),
    }  # fmt: skip


def _claimed(bound: Bound) -> Claimed:
    return Claimed(quantity=bound.quantity, order=claimed_order(bound), exponents=bound.exponents, tag=bound.tag)


def _readings_present(full_id: str, steps: list[str], by_key: dict[tuple[str, str], list[Result]]) -> list[str]:
    own = [reading for claim, reading in by_key if claim == full_id]
    shared = [reading for claim, reading in by_key if claim in steps and reading in NAMED]
    return list(dict.fromkeys([*own, *shared]))


def _row(full_id: str, reading: str, own: list[Result], inherited: list[Result]) -> SummaryRow:
    weighed = own + inherited
    answered = {result.claim for result in weighed if result.verdict is Verdict.SUPPORTED}
    weighed = [_open(result) if result.claim in answered and is_unanswered(result) else result for result in weighed]
    parts: dict[str, list[Verdict | None]] = {}
    for result in weighed:
        parts.setdefault(result.claim, []).append(result.verdict)
    # Over instances a claim says nothing where it does not apply; of a statement's parts each must hold.
    verdict = rolled_up(find_claim(full_id), parts)
    status: Any = verdict or FAULT
    deciding = _deciding([result for result in weighed if result.verdict == verdict])
    sentence = deciding.sentence if deciding.claim == full_id else f"By its part {deciding.claim}: {deciding.sentence}"
    row = SummaryRow(
        claim=full_id, reading=reading, status=status, sentence=sentence, deciding=deciding.instance,
        instances=dict(Counter(map(status_of, own))), reproduce=deciding.reproduce, decided_by=deciding.claim,
        **{name: getattr(deciding, name) for name in DECIDING},
    )  # fmt: skip
    if not (row.fallen_part and own):
        return row
    # What fails is the part's assertion and not the statement's own: the row says so.
    told = tally(str(Verdict.SUPPORTED), row.instances)
    return row.model_copy(update={"sentence": f"{sentence} Its own check refutes nothing: {told}."})


def _deciding(alike: Sequence[Result]) -> Result:
    """The first of results of one verdict; of a statement that holds, the first that holds with least to spare."""
    own = [result for result in alike if result.claim == alike[0].claim]
    return min(own, key=lambda result: result.loose_by or 0.0) if own[0].verdict is Verdict.SUPPORTED else own[0]


def _left_open(weighed: Sequence[str], row: SummaryRow, by_key: dict[tuple[str, str], list[Result]]) -> dict[str, Any]:
    """What a refuted row becomes where “we meant it otherwise” has no answer: other literal readings are undecided.

    A run of one reading by its name is about that point; where the repaired text was asked, too, about the text.
    """
    if row.status is not Verdict.REFUTED or not any((claim, "repaired") in by_key for claim in weighed):
        return {}
    wanting: dict[str, tuple[str, ...]] = {}
    for claim in weighed:
        verdicts = _by_reading(claim, by_key)
        if verdicts["as-written"] is Verdict.REFUTED:
            wanting[claim] = not_refuted_by(verdicts)
    if not wanting or not all(wanting.values()):
        return {}
    claim, names = next(iter(wanting.items()))
    readings = "; ".join(name if (claim, name) in by_key else f"{name} (not asked)" for name in names)
    count = len(find_claim(claim).literal_readings)
    sentence = f"{row.sentence} Not decided under {len(names)} of {count} literal readings: {readings}."
    return {"status": Verdict.INCONCLUSIVE, "sentence": sentence}


def _by_reading(full_id: str, by_key: dict[tuple[str, str], list[Result]]) -> dict[str, Verdict | None]:
    """The verdict of a statement's own check as written and under each literal reading; none where it was not asked."""
    statement = find_claim(full_id)
    names = dict.fromkeys(("as-written", *statement.literal_readings))
    results = {name: by_key.get((full_id, name), []) for name in names}
    verdicts = {
        name: rolled_up(statement, {full_id: [result.verdict for result in own]}) if own else None
        for name, own in results.items()
    }
    failing = {one.instance for own in results.values() for one in own if one.verdict is Verdict.REFUTED}
    # One that holds only where nothing fails shows nothing.
    untried = {n for n, own in results.items() if verdicts[n] is Verdict.SUPPORTED and failing.isdisjoint(_on(own))}
    return {name: Verdict.INCONCLUSIVE if name in untried and failing else one for name, one in verdicts.items()}


def _on(results: Sequence[Result]) -> set[str]:
    return {result.instance for result in results}


def is_unanswered(result: Result) -> bool:
    """Whether a stage that is offered did not answer there, or was not asked by somebody's wish."""
    refused = result.verdict is Verdict.NOT_APPLICABLE and result.sentence.startswith(f"Not applicable: {REFUSED}")
    return refused or result.is_skipped


def _open(result: Result) -> Result:
    """One that was refused where others of its statement were answered: who chooses the questions proves nothing."""
    reason = result.sentence.removeprefix("Not applicable: ")
    where = "was asked" if result.is_skipped else "answers"
    sentence = f"Supported where it {where}; on {result.instance} {reason}"
    return result.model_copy(update={"verdict": Verdict.INCONCLUSIVE, "sentence": sentence})
