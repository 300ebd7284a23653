"""What the paper says of works by others, held against what was read in them; nothing is run.

Each work stands in ``spec/works.toml`` with the place that was read. What rests on a work that was not looked up is
left open, and has no check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from spec.claims import find as statement
from spec.text.extract import load_extract
from spec.works import CitedWork, Property, find, load_works
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.evidence.model import ComparisonEvidence, RateEvidence, Relation


@dataclass(frozen=True)
class Fact:
    """One rate as a work states it."""

    quantity: str
    work: str
    rate: str

    @property
    def exponents(self) -> dict[str, float]:
        """Powers by variable."""
        return {name: float(power) for name, power in find(self.work).rates[self.rate].items()}

    @property
    def source(self) -> str:
        """The work, and where in it the rate stands."""
        work = find(self.work)
        return f"{work.reference}, {work.place}"

    def stated(self, variable: str, value: float, quantity: str = "") -> RateEvidence:
        """A power as evidence, of the fact's own quantity or of what follows from it."""
        return RateEvidence(
            quantity=f"{quantity or self.quantity}, by {self.source},", variable=variable, points=(), exponent=value,
            interval=(value, value), rung="cited",
        )  # fmt: skip


FACTS = {
    "related-rates": Fact("the optimal rate", "cutkosky-2023", "stochastic-nonsmooth"),
    "related-rates/deterministic-optimum": Fact("the deterministic rate", "zhang-2020", "deterministic"),
    "related-rates/zeroth-order-dimension": Fact("the zeroth-order rate", "kornowski-2024", "zeroth-order"),
    "related-rates/deterministic-first-order": Fact("the first-order rate", "kornowski-2024", "first-order"),
    "related-rates/unconstrained-penalty": Fact("the fully stochastic rate", "chen-2023", "fully-stochastic"),
}
TOTAL = "SFOcomplexity"
"""What the extract of the paper's source calls its total."""


def paper_rate() -> float:
    """The power of ε in the paper's own total, by the extract of its source."""
    totals = [passage.powers["ε"] for passage in load_extract().of("order") if passage.name == TOTAL]
    (power,) = set(totals)
    return float(power)


def _register_rate(claim: str, fact: Fact) -> None:
    @check(claim, instances=("toy1",))
    def cited(case: Case) -> Measurement:
        order = f"lower bounds of that order in {fact.source}"
        lower = compare(order, float(find(fact.work).has("lower-bound")), ">=", 1.0, rung="cited")
        stated = (fact.stated(name, fact.exponents.get(name, 0.0)) for name in case.bound.exponents)
        return Measurement((*stated, lower) if case.bound.tag == "tight" else tuple(stated))


for _claim, _fact in FACTS.items():
    _register_rate(_claim, _fact)


@check("related-rates/one-factor-gap", instances=("toy1",))
def gap_to_the_optimum(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """The power of ε that the paper's total states, less the sourced optimum's."""
    fact = FACTS["related-rates"]
    gap = paper_rate() - fact.exponents["epsilon"]
    return Measurement((fact.stated("epsilon", gap, "the ratio of the paper's rate to the optimum"),))


@dataclass(frozen=True)
class Count:
    """How many works are such, against a number."""

    quantity: str
    works: Callable[[], Iterable[CitedWork]]
    relation: Relation
    predicted: float

    def measured(self) -> tuple[ComparisonEvidence, str]:
        """The comparison, and the works by reference."""
        works = list(self.works())
        evidence = compare(self.quantity, float(len(works)), self.relation, self.predicted, rung="cited")
        return evidence, "; ".join(f"{work.reference} ({work.place}): {work.states}" for work in works)


def read() -> list[CitedWork]:
    """Works that were looked up."""
    return [work for work in load_works().values() if work.looked_up]


def saying(*properties: Property, without: tuple[Property, ...] = ()) -> Callable[[], list[CitedWork]]:
    """Works read that say all of this of themselves, and none of that."""
    return lambda: [work for work in read() if work.has(*properties) and not work.properties.intersection(without)]


def among(
    names: Iterable[str], *properties: Property, without: tuple[Property, ...] = ()
) -> Callable[[], list[CitedWork]]:
    """The same among named works."""
    chosen = set(names)
    return lambda: [work for work in saying(*properties, without=without)() if work.id in chosen]


COMBINED: tuple[Property, ...] = ("stochastic", "lower-level-rows", "finite-time")
"""Noise, linear lower-level rows and a finite-time guarantee."""
SECOND_ORDER: tuple[Property, ...] = ("implicit-gradient",)
LISTED = ("chen-2023", "yang-2023", "chen-2024-finding", "kwon-2024-complexity")
"""Improvements of unconstrained methods that the introduction lists."""
PENALTIES = ("kwon-2023", "liu-2022")
BASELINES = ("khanduri-2023", "khanduri-2025")
PARENT = ("kornowski-2024",)
GOLDSTEIN = ("zhang-2020", "cutkosky-2023", "kornowski-2024", "khanduri-2025")
"""Works on Goldstein stationarity that the paper quotes or builds on."""
CLASSES: tuple[Property, ...] = ("unconstrained-lower-level", "implicit-gradient", "nonsmooth")


def better_than(reading: str) -> Callable[[], list[CitedWork]]:
    """Works with a stochastic nonsmooth rate whose power of ε is closer to zero than the one called optimal."""
    power, name = statement("related-rates").assertion(reading).bound.exponents["epsilon"], "stochastic-nonsmooth"
    return lambda: [work for work in read() if name in work.rates and work.rates[name]["epsilon"] > power]


def without_factor() -> list[CitedWork]:
    """Goldstein works with a rate that is not proportional to 1/δ."""
    rates = {name: list(find(name).rates.values()) for name in GOLDSTEIN}
    return [find(name) for name in GOLDSTEIN if any(rate.get("goldstein_radius") != -1 for rate in rates[name])]


def none_of_three() -> list[CitedWork]:
    """Works on bilevel problems with noise and a constrained lower level, of none of the abstract's three kinds."""
    bilevel = [work for work in read() if work.properties & {"lower-level-rows", "fixed-lower-level-set"}]
    return [work for work in bilevel if work.has("stochastic", "finite-time") and not work.properties & set(CLASSES)]


NEW: tuple[Property, ...] = (*COMBINED, "moving-rows", "gradients-only")
COUNTS = {
    "no-finite-time-method": (
        Count("works with noise, linear rows and a finite-time guarantee", saying(*COMBINED), "==", 0),
        Count("works with these, moving rows and gradients alone", saying(*NEW), "==", 0),
    ),
    "three-kinds": (
        Count("works with noise of none of the three kinds", none_of_three, "==", 0),
        Count("works with noise and moving rows that use no second derivatives",
              saying("stochastic", "moving-rows", without=SECOND_ORDER), "==", 0),
    ),
    "follow-ups": (
        Count("listed works that use no penalty", among(LISTED, without=("penalty",)), "==", 0),
        Count("listed works that use neither a penalty nor finite differences",
              among(LISTED, without=("penalty", "finite-differences")), "==", 0),
    ),
    "parent-dual-oracle": (
        Count("sources that attach a condition to the rate", among(PARENT, "optimal-dual-oracle"), "==", 0),
        Count("sources that attach a condition to the rate", among(PARENT, "optimal-dual-oracle"), "==", 1),
    ),
    "best-known": (
        Count("works with a better stochastic nonsmooth rate than ε⁻⁴", better_than("as-written"), "==", 0),
        Count("works with a better stochastic nonsmooth rate than ε⁻³", better_than("repaired"), "==", 0),
    ),
    "radius-dependence": (
        Count("Goldstein works without the radius as a variable of its own",
              among(GOLDSTEIN, without=("radius-of-its-own",)), "==", 0),
        Count("Goldstein works with a rate that is not proportional to 1/δ", without_factor, "==", 0),
    ),
    "baselines-second-order": 2 * (
        Count("baselines described as implicit-gradient methods", among(BASELINES, *SECOND_ORDER), "==", 2),
    ),
    "doubly-stochastic": 2 * (
        Count("works that call themselves doubly stochastic", saying("doubly-stochastic"), "==", 1),
    ),
}  # fmt: skip
"""By step: what is counted as written, and repaired."""


def _register_count(step: str, written: Count, repaired: Count) -> None:
    @check(f"related-rates/{step}", instances=("toy1",))
    def counted(case: Case) -> Measurement:
        evidence, works = (written if case.as_written else repaired).measured()
        return Measurement((evidence,), note=works)


for _step, (_written, _repaired) in COUNTS.items():
    _register_count(_step, _written, _repaired)


@check("related-rates/penalty-constrained", instances=("toy1",))
def penalty_constrained(case: Case) -> Measurement:
    """Cited works without a penalty, or, where rows are meant, with none or with an unconstrained lower level."""
    kind: Property = "unconstrained-lower-level"
    meant = (kind,) if case.sense.constrained_by == "rows" else ()
    fitting = {work.id for work in among(PENALTIES, "penalty", without=meant)()}
    evidence, works = Count(
        "cited works that do not transform such a problem by a penalty",
        lambda: [work for work in among(PENALTIES)() if work.id not in fitting], "==", 0,
    ).measured()  # fmt: skip
    return Measurement((evidence,), note=works)


QUOTED_PENALTY_RATES = {"deterministic": -2, "partially-stochastic": -4, "fully-stochastic": -6}
"""Powers of ε as the paper quotes them."""
TO_NORM = 2
"""Powers of the squared norm's accuracy count twice in the norm's."""


@check("related-rates/penalty-rates", instances=("toy1",))
def penalty_rates(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """Quoted against sourced powers for three degrees of noise; logarithms are no power."""
    work = find("chen-2023")
    apart = max(abs(power - work.rates[setting]["epsilon"]) for setting, power in QUOTED_PENALTY_RATES.items())
    quantity = f"largest difference from the powers of {work.reference}"
    return Measurement((compare(quantity, float(apart), "==", 0.0, rung="cited"),), note=work.states)


@check("related-rates/momentum-rate", instances=("toy1",))
def momentum_rate(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """The sourced power of ε, counted to a norm of ε where the source counts to its square."""
    work = find("yang-2023")
    power = float(work.rates["to-squared-norm"]["epsilon"]) * (TO_NORM if work.has("squared-norm") else 1)
    return Measurement((_stated(work, "calls to a gradient of norm ε", power),), note=work.states)


@check("related-rates/kkt-rate", instances=("toy1",))
def kkt_rate(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """The sourced power of ε, and whether it is about ε-KKT points."""
    work = find("lu-2024")
    measure = compare("works about ε-KKT points", float(work.has("kkt-points")), ">=", 1.0, rung="cited")
    power = float(work.rates["constrained"]["epsilon"])
    return Measurement((_stated(work, "operations to an ε-KKT point", power), measure), note=work.states)


def _stated(work: CitedWork, quantity: str, power: float) -> RateEvidence:
    return RateEvidence(
        quantity=f"{quantity}, by {work.reference}, {work.place},", variable="epsilon", points=(), exponent=power,
        interval=(power, power), rung="cited",
    )  # fmt: skip
