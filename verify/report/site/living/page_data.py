"""What the script of the living Algorithm 1 reads: functions of alpha spelt out, orders, claims and switches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from spec.reading import DualTerm
from verify.proofs.kernel.standings import standings
from verify.report import wording
from verify.report.site.frame import SiteFrame
from verify.report.site.living.counted_costs import Cost
from verify.report.site.living.erring_stages import LAM_WIDTH, LEAST, MOST, ErringStages, StageText
from verify.report.site.living.living_texts import Tab
from verify.report.site.living.outer_run import Coefficients, outer_run
from verify.report.site.living.phrases import Switch, switches, tabs
from verify.report.site.living.states_of_alpha import SIGMA, Living, Measured, living_places
from verify.report.site.words.cell_numbers import drawn_mark
from verify.report.site.words.powers import set_powers
from verify.truth.algebra.rational_functions import RationalVector
from verify.verdict import Verdict

_A_DECADE = (
    "1", "1.12", "1.25", "1.4", "1.6", "1.8", "2", "2.24", "2.5", "2.8", "3.15", "3.55", "4", "4.5", "5", "5.6", "6.3",
    "7.1", "8", "9",
)  # fmt: skip
"""Twenty preferred numbers, so that every alpha is a short decimal and every fraction shown is short."""
START = "0.1"
HANGS_ON = ("dual_term", *StageText._fields)
"""The switches that the bias hangs on, in the order in which a state's name has their values."""
WITHOUT_MAPS: DualTerm = "frozen"
"""What stands for a dual term that asks for derivatives where there are none."""
PARTS = {
    "f": "∇_xf", "g_difference": "α₁(∇_xg(x, ỹ) − ∇_xg(x, ỹ*))", "dual": "what is left of α₁Aᵀλ̃",
    "penalty": "α₂Aᵀ(ρ∘h)",
}  # fmt: skip
"""Line 6 in parts."""
ADVERSARY = {"distance": "ỹ* off by ±δ, λ̃ by ±δ, ỹ by ±δ", "gradient": "ỹ* off by ±δ, λ̃ by ±δ, ỹ by a gradient ±α"}
"""The adversary's three errors by the stop of line 5, ± where a sign goes."""


@lru_cache(maxsize=1)
def alphas() -> tuple[str, ...]:
    """From the largest to the smallest, as decimals."""
    decimals = [Decimal(one).scaleb(-power) for power in (1, 2, 3) for one in reversed(_A_DECADE)]
    return tuple(format(one, "f") for one in decimals if LEAST <= Fraction(one) <= MOST)


def data_of(site: SiteFrame, costs: Sequence[Cost], program: Mapping[str, str]) -> Markup:
    """The page's data as JSON within a script element; ``program`` is what a foreign one makes as written, if any."""
    noise = set_powers(Markup(wording.number(float(Fraction(SIGMA) ** 2))))
    data = {
        "alphas": alphas(), "start": alphas().index(START), "hangs_on": HANGS_ON, "without_maps": WITHOUT_MAPS,
        "lam_width": str(LAM_WIDTH), "noise": {"square": noise}, "parts": {k: _set(v) for k, v in PARTS.items()},
        "adversary": {stop: _set(words) for stop, words in ADVERSARY.items()},
        "marks": {"bad": drawn_mark(Verdict.REFUTED), "good": drawn_mark(Verdict.SUPPORTED)},
        "switches": {switch.field: _switch(switch) for switch in switches()},
        "tabs": {tab.id: _tab(site, tab) for tab in tabs()},
        "costs": {cost.value: cost.data() for cost in costs}, "program": dict(program),
    }  # fmt: skip
    head = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    whole = f'{head[:-1]},"run":{_run()},"places":{_places()}}}'
    return Markup(whole.replace("</", "<\\/"))  # our own words and numbers


def _switch(switch: Switch) -> dict[str, Any]:
    return {
        "tab": switch.text.tab, "as_written": switch.as_written, "repaired": switch.repaired,
        "values": [value.value for value in switch.values],
        "repairs": [value.value for value in switch.values if value.is_repair], "title": _set(switch.cause.title),
    }  # fmt: skip


def _tab(site: SiteFrame, tab: Tab) -> dict[str, Any]:
    decided_by = next((switch.field for switch in switches() if switch.text.tab == tab.id), "")
    return {
        "name": tab.name, "claimed": tab.claimed, "words": claimed_words(tab), "letter": tab.letter, "axis": tab.axis,
        "decided_by": decided_by, "proof": _proof(site, tab),
    }  # fmt: skip


def claimed_words(tab: Tab) -> Markup:
    """What is claimed of the tab's variable: ``O(α)``."""
    order = "1" if tab.claimed == 0 else tab.letter if tab.claimed == 1 else f"{tab.letter}<sup>{tab.claimed}</sup>"
    return Markup(f"O({order})".replace("-", "−"))  # a number and a letter


def _proof(site: SiteFrame, tab: Tab) -> Markup:
    """What theorems say of the repaired claim, in a sentence; empty where none does."""
    standing = next((one for one in standings(tab.statement) if one.row.reading == "repaired"), None)
    if standing is None or standing.grade == "no proof":
        return Markup("")
    link = site.link(tab.statement, standing.grade)
    more = (
        Markup(" where {}").format(_set(" and ".join(standing.gaps)))
        if standing.grade == "proven" and standing.gaps
        else ""
    )
    return Markup("For every problem that meets the hypotheses this is {}{}.").format(link, more)


def _set(text: str) -> Markup:
    return set_powers(wording.typeset(text))


@lru_cache(maxsize=1)
def _places() -> str:
    """The functions, which hang on no run."""
    places = {one.place.name: place_data(one) for one in living_places()}
    return json.dumps(places, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=1)
def _run() -> str:
    """The run of Algorithm 2: affine in x, by functions of alpha; equal ones stand once."""
    run, schedule, answers = outer_run(), outer_run().text.schedule.parameters, dict[tuple[str, ...], int]()
    states = {
        state_key(*state): answers.setdefault(_along_x(run.answer(*state)), len(answers))
        for state in run.states
    }  # fmt: skip
    fields = {
        "start": run.text.start, "view": run.text.view, "N_g": run.text.N_g,
        "schedule": {name: getattr(schedule, name) for name in ("D", "eta", "M", "K", "goldstein_radius")},
        "gradient": [str(value) for value in run.gradient], "answers": list(answers), "states": states,
        "variances": {pairing: spelt(one)[0] for pairing, one in run.variances().items()},
        "epsilon": schedule.epsilon,
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _along_x(coefficients: Coefficients) -> tuple[str, ...]:
    return tuple(spelt(one)[0] for one in coefficients)


def place_data(living: Living) -> dict[str, Any]:
    """Everything of one instance; stages that several states share stand once, in ``bundles``."""
    bundles: list[Mapping[str, Any]] = []
    known: dict[str, int] = {}
    states = {}
    for (dual_term, text), state in living.states.items():
        bundle = _bundle(state.stages)
        where = known.setdefault(json.dumps(bundle), len(bundles))
        if where == len(bundles):
            bundles.append(bundle)
        states[state_key(dual_term, text)] = {
            "bundle": where, "order": state.lead.order, "signs": list(state.signs),
        }  # fmt: skip
    place = living.place
    measured: dict[str, Mapping[Any, Measured]] = {"variance": living.variance, "gradient": living.reach}
    return {
        "gradient": [str(value) for value in place.family.hypergradient],
        "pieces": [str(value) for (value,) in place.pieces], "noise": living.noisy.noise.model, "bundles": bundles,
        "noise_of_one": str(living.noise_of_one), "states": states,
        "measured": {
            tab: {value: {"function": spelt(one.function)[0], "order": one.lead.order} for value, one in values.items()}
            for tab, values in measured.items()
        },
    }  # fmt: skip


def state_key(dual_term: DualTerm, text: StageText | None) -> str:
    """The name of a state in the data."""
    return f"{dual_term},exact" if text is None else ",".join((dual_term, *text))


def _bundle(stages: ErringStages) -> dict[str, Any]:
    names = ("y_star", "lam", "rho", "y_min", "y", "f", "g_difference", "penalty")
    plain = {name: spelt(getattr(stages, name)) for name in names}
    return plain | {"dual": {name: spelt(function) for name, function in stages.dual.items()}}


def spelt(function: RationalVector) -> list[str]:
    """Each component in lowest terms, ``n0 n1 …/d0 d1 …``: integer coefficients by rising power."""
    entries = [RationalVector((top,), function.denominator).reduced() for top in function.numerators]
    return [f"{_polynomial(entry.numerators[0])}/{_polynomial(entry.denominator)}" for entry in entries]


def _polynomial(polynomial: Any) -> str:
    return " ".join(str(int(value)) for value in polynomial.coeffs()) or "0"
