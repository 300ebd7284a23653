"""What theorems and derivations say of repaired statements, for every output: their grade, and an order before any fit.

Nothing is typed: a grade is computed from the record of theorems (:mod:`verify.proofs.kernel.standings`), an order from
the propagation of orders (:mod:`verify.proofs.orders`). Neither is ever credited to a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from spec.claims import Statement, load_claims
from spec.errors import InvalidInputError
from verify.evidence.model import PROVEN
from verify.proofs.kernel.standings import NO_GOAL, ProofStanding, standings
from verify.proofs.orders.inference import Following
from verify.proofs.orders.table import order_table
from verify.report import wording
from verify.report.findings.outline import Outline, StatementOutline
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import ReportData
from verify.verdict import Verdict

IN_PART = "proven in part"
DERIVED = "derived"


def standing_of(full_id: str, reading: str = "repaired") -> ProofStanding | None:
    """What theorems say of a statement under a named reading, where the record counts and says anything."""
    candidates = (one for one in standings(full_id) if one.row.reading == reading)
    return next((one for one in candidates if one.grade != "no proof"), None)


def grade(full_id: str) -> str:
    """Of a repaired statement: ``proven``, ``proven in part``, or empty."""
    standing = standing_of(full_id)
    return standing.grade if standing is not None else ""


@lru_cache(maxsize=1)
def _derived() -> Mapping[str, bool]:
    """By statement: whether every order inferred for its repaired text follows."""
    derived: dict[str, bool] = {}
    for row in order_table():
        if row.reading == "repaired" and row.quantity:
            derived[row.step] = derived.get(row.step, True) and row.following == Following.FOLLOWS
    return derived


@dataclass(frozen=True)
class FirmOrder:
    """An order that no measurement is needed for: in print, and whether it is ``proven`` or ``derived``."""

    order: str
    how: str


def firm_order(outcome: ReadingOutline) -> FirmOrder | None:
    """The order that a repaired statement asserts, where it holds in the run and a theorem or a derivation gives it."""
    statement = outcome.statement
    if outcome.reading != "repaired" or outcome.status != Verdict.SUPPORTED or statement is None:
        return None
    bound = statement.repaired.bound
    if not bound.exponents or bound.tag == "equality":
        return None
    how = grade(outcome.claim) if grade(outcome.claim) == PROVEN else DERIVED if _derived().get(outcome.claim) else ""
    return FirmOrder(wording.bound(bound), how) if how else None


@dataclass(frozen=True)
class ProvenStatement:
    """A repaired statement that holds in the run and is proven whole.

    Args:
        entry: The statement.
        premises: What its own theorem asks of a problem, in words: its premises and assumptions of the paper.
        more: Premises of the theorem that the statement does not have.
        by: Names of the theorems.
        measured: On how many instances the run found that it holds.
    """

    entry: StatementOutline
    premises: tuple[str, ...]
    more: tuple[str, ...]
    by: tuple[str, ...]
    measured: int


@dataclass(frozen=True)
class ProvenInRun:
    """How the repaired statements that hold in a run stand to theorems."""

    whole: tuple[ProvenStatement, ...]
    part: tuple[StatementOutline, ...]
    rest: int
    """How many hold that no theorem is about: on the instances tried."""

    @property
    def leading(self) -> tuple[ProvenStatement, ...]:
        """Those whose theorems ask for something; claims of the paper before their steps."""
        asking = [one for one in self.whole if one.premises or one.more]
        return tuple(sorted(asking, key=lambda one: "/" in one.entry.id))

    @property
    def plain(self) -> tuple[ProvenStatement, ...]:
        """Those that hold by their own words."""
        return tuple(one for one in self.whole if not (one.premises or one.more))

    @property
    def lacking(self) -> str:
        """What those in part lack, counted; empty where none is."""
        lacks = [standing.lacks for one in self.part if (standing := standing_of(one.id)) is not None]
        by_hand, short = sum(one == (NO_GOAL,) for one in lacks), sum(one != (NO_GOAL,) for one in lacks)
        told = []
        if by_hand:
            told.append(f"{by_hand} are not stated as one theorem yet: theorems are matched with them by hand")
        if short:
            told.append(f"of {short} the theorems leave out a part, which the claim’s page names")
        return f"Of the {len(lacks)} proven in part {'; '.join(told)}." if told else ""

    @property
    def said(self) -> str:
        """``14 are proven for every problem that meets their premises, 113 in part``; empty where nothing is."""
        told = []
        if self.whole:
            one = len(self.whole) == 1
            more = sum(bool(one.more) for one in self.whole)
            beyond = f" ({more} with one added)" if more > 1 else ""
            told.append(
                f"{len(self.whole)} {'is' if one else 'are'} proven for every problem that meets "
                f"{'its' if one else 'their'} premises{beyond}"
            )
        if self.part:
            verb = "" if told else " is proven" if len(self.part) == 1 else " are proven"
            told.append(f"{len(self.part)}{verb} in part")
        return wording.listing(told)


def proven_ids(report: ReportData, arranged: Outline) -> frozenset[str]:
    """Ids of the repaired statements that hold in a report on the paper and are proven whole; none of a program's."""
    return frozenset(one.entry.id for one in proven_in(arranged).whole) if report.is_of_the_paper else frozenset()


def proven_in(arranged: Outline) -> ProvenInRun:
    """Of an outline of a report on the paper; where an experiment falls is no statement that holds."""
    held = [
        entry for entry in arranged.statements
        if "repaired" in entry.named and entry.named["repaired"].status == Verdict.SUPPORTED
        and not wording.asks_of_experiment(entry.statement)
    ]  # fmt: skip
    grades = {entry.id: grade(entry.id) for entry in held}
    whole = tuple(_proven(entry) for entry in held if grades[entry.id] == PROVEN)
    part = tuple(entry for entry in held if grades[entry.id] == IN_PART)
    return ProvenInRun(whole, part, len(held) - len(whole) - len(part))


def _proven(entry: StatementOutline) -> ProvenStatement:
    standing = standing_of(entry.id)
    if standing is None:
        raise InvalidInputError("statement", "must be proven", entry.id)
    premises = tuple(_asked(entry.id, name) for name in standing.row.under or ())
    return ProvenStatement(
        entry, premises, standing.gaps, standing.row.by,
        entry.named["repaired"].instances.get(str(Verdict.SUPPORTED), 0)
    )  # fmt: skip


def _asked(full_id: str, name: str) -> str:
    """A premise in words: of the statement, of its claim, or a statement of the paper that stands for all."""
    claim = load_claims()[full_id.partition("/")[0]]
    known: dict[str, Statement] = {full: one for each in load_claims().values() for full, one in each.statements()}
    if name in known:
        return known[name].title[0].lower() + known[name].title[1:]
    own = (*known[full_id].premises, *claim.premises)
    text = next((premise.words("repaired").rstrip(".") for premise in own if premise.id == name), name)
    return text[0].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
