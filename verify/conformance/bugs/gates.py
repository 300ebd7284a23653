"""Gates that every repaired statement about a solver must pass, so that being supported is earned.

*Killed*: a catalogued wrong implementation is refuted. *Strengthened*: half an order stronger, the statement is not
supported for the reference, else the sharper one would be the truth. *Null*: nothing that knows nothing is supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from spec.claims import Bound
from spec.claims import find as find_claim
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.campaign.summary import selected
from verify.checks.measuring.case import checks, find_profile
from verify.conformance.bugs.bent_subject import subject_class
from verify.conformance.bugs.catalogue import CATALOGUE
from verify.conformance.bugs.catalogue import find as find_bug
from verify.conformance.bugs.kill_matrix import recorded
from verify.conformance.bugs.null_subjects import Deaf, null_subjects
from verify.evidence.model import ComparisonEvidence
from verify.report.model import Result
from verify.subjects import ReferenceSubject
from verify.truth.propositions.needs import Needs
from verify.verdict import Verdict, combine

HALF = Fraction(1, 2)
INSTANCES = 3
"""Instances on which a null subject is judged, the most telling first; one refutation is enough."""


@dataclass(frozen=True)
class GatePassage:
    """How one statement fares.

    Args:
        claim: Full id.
        killed: A bug that is refuted, and where: ``keeps-dual-term on toy1``; empty if no catalogued one is.
        raised: Bounds half an order stronger that are still supported, ``alpha^3/2``; empty as it should be.
        orders: Whether there is an order to raise.
        reached: Of an inequality without an order, the largest part of its right side that is measured.
        null: Null subjects that are supported; empty as it should be.
    """

    claim: str
    killed: str
    raised: tuple[str, ...]
    orders: bool
    reached: float | None
    null: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether all three gates are passed."""
        return bool(self.killed) and not self.raised and not self.null

    @property
    def strengthened(self) -> str:
        """The second gate in words."""
        if self.raised:
            return f"still supported at {', '.join(self.raised)}"
        if self.orders:
            return "not supported"
        return "no order" if self.reached is None else f"reaches {100 * self.reached:.3g} %"


def about_solvers(claims: Sequence[str] = ()) -> list[str]:
    """Full ids of the statements about a solver that have a check, of some claims or of all."""
    return [claim for claim in selected(claims) if claim in checks() and find_claim(claim).about == "subject"]


def passage(claim: str, profile: str = "smoke", seed: int = DEFAULT_SEED) -> GatePassage:
    """Take one repaired statement about a solver through the gates."""
    bound = find_claim(claim).repaired.bound
    stronger = tuple(
        f"{variable}^{more.exponents[variable]}"
        for variable, more in ((variable, raised(bound, variable)) for variable in bound.exponents)
        if combine(result.verdict for result in _reference(claim, profile, seed, more)) is Verdict.SUPPORTED
    )
    reached = None if bound.exponents else _reached(list(_reference(claim, profile, seed)))
    null = tuple(name for name in null_subjects() if fools(name, claim, profile, seed))
    return GatePassage(claim, killer(claim, seed), stronger, bool(bound.exponents), reached, null)


def killer(claim: str, seed: int = DEFAULT_SEED) -> str:
    """The first bug that the statement's own check refutes, its stages held to nothing beside it.

    The record says where to look, and any other bug in the same stages is tried.
    """
    check = checks()[claim]
    on_record = [(bug, name) for bug, row in recorded().items() for name in row.get(claim, ())]
    changing = [bug.id for bug in CATALOGUE if set(bug.changes) & set(check.needs)]
    others = [(bug, name) for bug in changing for name in check.instances[:2]]
    for bug, name in dict.fromkeys([*on_record, *others]):
        task = Task(claim, "repaired", name, bug, "smoke" if (bug, name) in others else "ci", seed)
        if perform(task, subject_class(find_bug(bug))(), held=False).verdict is Verdict.REFUTED:
            return f"{bug} on {name}"
    return ""


def raised(bound: Bound, variable: str) -> Bound:
    """The same bound, half an order stronger in one variable."""
    sign = (1 if bound.toward == "zero" else -1) * (-1 if bound.tag == "lower" else 1)
    exponents = bound.exponents | {variable: bound.exponents[variable] + sign * HALF}
    return bound.model_copy(update={"exponents": exponents})


def fools(null: str, claim: str, profile: str = "smoke", seed: int = DEFAULT_SEED) -> bool:
    """Whether a null subject is supported; one that is null in a single stage is asked where that is needed."""
    subject, verdicts = null_subjects()[null], []
    if isinstance(subject, Deaf) and "optimise" not in checks()[claim].needs:
        return False
    for name in checks()[claim].instances[:INSTANCES]:
        verdicts.append(perform(Task(claim, "repaired", name, null, profile, seed), subject).verdict)
        if verdicts[-1] in (Verdict.REFUTED, None):
            return False
    return combine(verdicts) is Verdict.SUPPORTED


def _reference(claim: str, profile: str, seed: int, bound: Bound | None = None) -> Iterator[Result]:
    for name in checks()[claim].instances[: find_profile(profile).breadth]:
        yield perform(Task(claim, "repaired", name, "reference", profile, seed), ReferenceSubject(), bound)


def _reached(results: Sequence[Result]) -> float | None:
    compared = [item for result in results for item in result.evidence if isinstance(item, ComparisonEvidence)]
    # What is counted in roundings is an equality.
    bounds = [
        item for item in compared
        if item.role == "conclusion" and item.relation == "<=" and item.predicted and "roundings" not in item.quantity
    ]  # fmt: skip
    return max((item.measured / item.predicted for item in bounds), default=None)


def page(passages: Sequence[GatePassage], dropped: Mapping[str, Needs]) -> str:
    """The tables as Markdown: docs/gates.md."""
    rows = "\n".join(
        f"| {'✓' if row.passed else '✗'} | `{row.claim}` | {row.killed or 'none'} | {row.strengthened} "
        f"| {', '.join(row.null) or '–'} |"
        for row in passages
    )
    passed = sum(p.passed for p in passages)
    head = HEAD.format(passed=passed, all=len(passages), nulls=", ".join(null_subjects()))
    return f"{head}{rows}\n{_dropped_table(dropped)}"


def _dropped_table(dropped: Mapping[str, Needs]) -> str:
    needs = [(name, need) for name, entry in dropped.items() for need in entry.needs]
    rows = "\n".join(
        f"| `{name}` | {need.premise} | {f'{need.where}: {need.finding}' if need.where else 'not known to be needed'} |"
        for name, need in needs
    )
    shown = sum(bool(need.where) for _, need in needs)
    return DROPPED.format(shown=shown, all=len(needs), rows=rows) if needs else ""


DROPPED = """
## Hypotheses dropped

The fourth gate is about hypotheses. Each one that has a formula is dropped in turn from each repaired statement that
has one: the problems of the atlas, draws of every family and paths to the kinks next to them are searched for one that
breaks it alone and on which the statement is refuted. {shown} of {all} are shown to be needed; the others are listed as
not known to be.

| statement | hypothesis | without it |
|---|---|---|
{rows}
"""


HEAD = """# Four gates

<!-- f2csa-verify -->

A statement about a solver is worth supporting if it can fail. `f2csa gate` takes each through three gates, and
hypotheses through a fourth, below; {passed} of {all} pass all three:

* **Killed**: a wrong implementation from the [catalogue](mutants.md) is refuted by the statement's own check, without
  the comparison of stages with exact values that every other subject must pass besides; the first one found is named.
* **Strengthened**: half an order stronger, the statement is not supported for the reference. Where it is an inequality
  without an order, the table says how much of its right side is reached.
* **Null**: subjects that know nothing ({nulls}) are not supported. `deaf` runs Algorithm 2 without
  listening to its oracle; it is asked where Algorithm 2 is.

|  | statement | killed | strengthened | null subjects supported |
|---|---|---|---|---|
"""
