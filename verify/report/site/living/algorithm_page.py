"""The page that lets a reader break Algorithm 1: phrases as switches, and what becomes of the estimate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from importlib import resources

from markupsafe import Markup

from spec.atlas import find
from spec.claims import find as find_claim
from verify.proofs.kernel.standings import ProofStanding, standings
from verify.report import wording
from verify.report.site.causes.failure_causes import causes
from verify.report.site.frame import FOLDER, LIVING, MARK, Page, SiteFrame, drawn
from verify.report.site.living.counted_costs import OUTER_STEPS, Cost, costs
from verify.report.site.living.erring_stages import TRIED
from verify.report.site.living.orders_table import ReadingRow, other_rows, reading_rows, unswitched
from verify.report.site.living.outer_run import outer_run
from verify.report.site.living.page_data import alphas, claimed_words, data_of
from verify.report.site.living.phrase_summary import phrase_rows
from verify.report.site.living.phrases import ALGORITHM, ShownAlgorithms, Switch, switches, tabs
from verify.report.site.living.states_of_alpha import SIGMA, Living, living_places
from verify.report.site.paper.algorithm_code import CodeOfLine, code_of
from verify.report.site.words.powers import set_powers

STYLE, SCRIPT = f"{FOLDER}algorithm.css", f"{FOLDER}algorithm.js"
TITLE = "Break it yourself"
_SCRIPTS = ("exact.js", "view.js", "run.js", "verdict.js", "page.js")
"""In the order in which they build on each other."""
_COUNTS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
COUNTED_AT = {3: "steps", 6: "each"}
"""Lines of Algorithm 2 at which counts stand: how often its loop runs, and what one step takes."""


def pages(site: SiteFrame) -> list[Page]:
    """The page: of a report on the paper that shows a cause, and of a program that makes a phrase as written."""
    shown_causes, program = causes(site), _as_the_program(site)
    if not shown_causes and not program:
        return []
    cost, solver = tabs()[-1], next(one for one in switches() if one.text.tab == tabs()[-1].id)
    # What a run of somebody's program took says nothing of the paper's cost.
    counted = costs(site, solver, cost) if site.report.is_of_the_paper else ()
    places, shown = living_places(), ShownAlgorithms(site)
    table = reading_rows(places)
    holding, others = [row for row in table if row.holds(tabs()[0].claimed)], other_rows(places, counted)
    body = drawn(
        "living/page.html.j2", site, title=TITLE, count=_COUNTS[len(switches())], counted_at=COUNTED_AT,
        switches=switches(), shown=shown, places=places, alphas=alphas(), program=program,
        told={cause.text.choice: cause for cause in shown_causes}, proofs=_proofs, lines_of_code=_Code(shown),
        table=table, tabs=[{"tab": tab, "words": claimed_words(tab)} for tab in tabs()], holding=holding,
        phrases=phrase_rows(site, switches(), table, others), others=others, unswitched=unswitched(), tried=TRIED,
        holding_links=_links(holding), run=outer_run(), sigma=float(Fraction(SIGMA)), costs_only=solver.number,
        kinks_only=next(one.number for one in switches() if one.field == "multiplier_width"),
        orders_of_a_run=_orders_of_a_run(counted), purpose=_purpose, claimed_words=claimed_words, data="DATA",
    )  # fmt: skip
    data = data_of(site, counted, {one.field: one.as_written for one in program})
    body = set_powers(body).replace("DATA", data)
    description = f"Algorithm 1 with {len(switches())} phrases as switches: turn one, and see the estimate leave ∇F."
    return [Page(LIVING, TITLE, body, description, ((STYLE, stylesheet_text()), (SCRIPT, script_text())))]


def _as_the_program(site: SiteFrame) -> tuple[Switch, ...]:
    """The phrases that a foreign program makes as written, by the letter to its author."""
    letter = site.report.letter
    fields = {field for one in letter.wrong for field in one.choices} if letter else set()
    return tuple(one for one in switches() if one.field in fields)


@lru_cache(maxsize=1)
def stylesheet_text() -> str:
    """The style of this page alone."""
    return f"{MARK}\n{_file('page.css')}"


@lru_cache(maxsize=1)
def script_text() -> str:
    """The page's script: exact numbers, the figure, the page."""
    return "\n".join([MARK, *map(_file, _SCRIPTS)])


def _file(name: str) -> str:
    folder = resources.files("verify.report") / "templates" / "site" / "living"
    return (folder / name).read_text(encoding="utf-8")


def _proofs(switch: Switch) -> Iterator[tuple[ProofStanding, str, str]]:
    """What theorems say: of the cause as written, of its repair, and of the claim repaired."""
    tab = next(one for one in tabs() if one.id == switch.text.tab)
    sides = [(switch.cause.statement, "as-written"), (switch.cause.repaired or switch.cause.statement, "repaired")]
    for statement, reading in dict.fromkeys([*sides, (tab.statement, "repaired")]):
        for standing in standings(statement):
            if standing.row.reading == reading and standing.grade != "no proof":
                yield standing, statement, reading


class _Code:
    """The reference's code of the lines in which a switch stands."""

    def __init__(self, shown: ShownAlgorithms) -> None:
        self._lines = {switch.field: line.number for line in shown.lines for switch in line.switches}

    def __call__(self, switch: Switch) -> list[CodeOfLine]:
        code = code_of(ALGORITHM).get(self._lines[switch.field])
        return [code] if code else []


def _purpose(living: Living) -> str:
    return find(living.place.name).purpose


def _links(rows: list[ReadingRow]) -> list[Markup]:
    """Readings as links, in the words in which they differ from the repaired text; those that differ least first."""
    return [
        Markup('<a href="{}">{}</a>').format(
            row.address, wording.typeset("; ".join(row.words[one.field] for one in row.changed) or "the repaired text")
        ) for row in sorted(rows, key=lambda row: len(row.changed))
    ]  # fmt: skip


def _orders_of_a_run(counted: tuple[Cost, ...]) -> Markup:
    """Outer steps times the gradients of one, as orders, for each cost that is known to hold."""
    steps = find_claim(OUTER_STEPS).repaired.bound.exponents["epsilon"]
    words = {value.value: value.words for one in switches() for value in one.values}
    parts = [
        Markup("{}: ε<sup>{}</sup> a step, ε<sup>{}</sup> in all").format(
            wording.typeset(words[cost.value]), _signed(cost.order - int(steps)), _signed(cost.order)
        ) for cost in counted if cost.derived
    ]  # fmt: skip
    if not parts:
        return Markup("")
    return Markup("Its steps number ε<sup>{}</sup>, with α = Θ(ε) in line 6. {}.").format(
        _signed(int(steps)), Markup("; ").join(parts)
    )


def _signed(power: int) -> str:
    return str(power).replace("-", "−")
