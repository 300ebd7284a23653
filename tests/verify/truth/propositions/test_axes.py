"""Each statement is asked under every choice that its formula hangs on: the axes found by evaluation are declared."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec.atlas import find as instance
from spec.claims import find, load_claims
from spec.formulas import parse_formula
from spec.reading import Reading, chosen_by
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.case import checks
from verify.checks.measuring.formula_evidence import by_formula
from verify.subjects import ReferenceSubject
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.axes import axes, axes_of
from verify.truth.propositions.deciding import in_the_limit
from verify.truth.propositions.rounded_values import DoubleArithmetic
from verify.truth.propositions.sites import Site
from verify.truth.propositions.valuation import value_of

WITH_FORMULA = sorted(
    full for claim in load_claims().values() for full, one in claim.statements() if one.as_written.proposition
)
PLACES = ("toy1", "two-of-three", "weakly-active", "drawn:weakly-active:19", "drawn:weakly-active:502", "drawn:rows:3")
OF_THE_WEIGHTS = parse_formula("weights_term(y_star, lam_star, y_min(y_star, lam_star)) == zero_x").args[0]
NOT_ASKED = {"bias-bound/uniformity", "bias-bound/uniformity-radius", "bias-bound/black-box-kinks",
             "goldstein-convergence/bias-hypothesis", "hypergradient-accuracy/hypotheses",
             "dual-extraction/multiplier-derivative"}  # fmt: skip
"""What hangs on a further choice and has no formula that could show it: test_audit_numbers and
test_weights_in_x ask their checks."""


def place(name: str, at: Fraction | None = None, power: int | None = None) -> Site:
    found = instance(name)
    problem = quadratic_of(found.problem)
    x = tuple(map(Fraction, found.x)) if at is None else (at,)
    return Site(problem, x, path=None if power is None else ((1,) * problem.n, power))


SITES = [
    *(place(name) for name in PLACES),
    *(place("toy2", Fraction(0), power) for power in (2, 3)),
    place("weakly-active", power=2),
]
"""Regular points, rows that are weakly active, drawn problems, and paths to kinks."""


@pytest.mark.parametrize("full_id", WITH_FORMULA)
def test_no_statement_lacks_a_choice_that_it_hangs_on(full_id: str) -> None:
    statement, found = find(full_id), axes_of(full_id, SITES)
    assert found <= set(statement.open_choices)
    # What is declared as found is found; of what a check observes a formula shows nothing, nor of a hypothesis.
    asked = {field for premise in (*find(full_id.split("/")[0]).premises, *statement.premises) if premise.under
             for field in chosen_by(premise.under)}  # fmt: skip
    assert full_id in NOT_ASKED or set(statement.axes) - asked <= found


def test_what_has_no_formula_and_hangs_on_further_choices_is_named() -> None:
    declared = {full for claim in load_claims().values() for full, one in claim.statements() if one.axes}
    assert declared - {full for full in WITH_FORMULA if full not in NOT_ASKED} == NOT_ASKED


def test_a_premise_excuses_what_it_excludes() -> None:
    # On a path to a kink the multiplier is smaller than ε_λ, which this statement rules out.
    formula = find("dual-extraction/weighted-rows").as_written.proposition
    assert formula is not None
    assert "multiplier_width" in axes(formula, SITES)
    assert "multiplier_width" not in axes_of("dual-extraction/weighted-rows", SITES)


def test_a_choice_that_no_definition_makes_is_no_axis() -> None:
    assert axes_of("bias-bound/penalty-weights", SITES) == set()


class Recording(ReferenceSubject):
    """The reference, with what its stages are told beside the point."""

    def __init__(self) -> None:
        super().__init__()
        self.widths: set[bool] = set()
        self.readings: set[Reading] = set()

    def hypergradient(self, problem, x, call, rng=None):  # type: ignore[no-untyped-def]  # as the stage
        self._note(call)
        return super().hypergradient(problem, x, call, rng)

    def penalty_minimiser(self, problem, x, call, tol=None):  # type: ignore[no-untyped-def]  # as the stage
        self._note(call)
        return super().penalty_minimiser(problem, x, call, tol)

    def _note(self, call):  # type: ignore[no-untyped-def]  # as the stages
        self.widths.add(call.parameters.lam_width == call.alpha**3)
        self.readings.add(call.reading)


ASKED = [
    full for full in WITH_FORMULA
    if find(full).axes and full in checks() and checks()[full].function is not by_formula
    and {"hypergradient", "penalty_minimiser"} & set(checks()[full].needs)
]  # fmt: skip


LITERAL = {
    "multiplier_width": "shrinking",
    "dual_term": "both-maps",
    "ramp_width": "tau-delta",
    "inner_stop": "distance",
}


BEYOND_PROGRAMS = {"weights", "constants"}
"""What no program is told: a formula decides it, or a hypothesis."""


@pytest.mark.parametrize(
    ("full_id", "field"), [(full, field) for full in ASKED for field in find(full).axes if field not in BEYOND_PROGRAMS]
)
def test_each_axis_reaches_the_program(full_id: str, field: str) -> None:
    where = next(name for name in checks()[full_id].instances if not name.startswith("holder"))
    subject = Recording()
    task = Task(full_id, f"choose:{field}={LITERAL[field]}", where, "reference", "smoke", DEFAULT_SEED)
    assert perform(task, subject).fault is None
    if field == "multiplier_width":
        assert subject.widths == {True}
    else:
        assert {getattr(reading, field) for reading in subject.readings} == {LITERAL[field]}


def test_weights_that_are_maps_change_what_a_formula_says_beside_a_kink_alone() -> None:
    formula = find("bias-bound/T3").as_written.proposition
    assert formula is not None
    maps = {"dual_term": "both-maps"}
    away, beside = place("toy1"), place("toy2", Fraction(0), 2)
    for where, moves in ((away, False), (beside, True)):
        found = [in_the_limit(formula, where, maps | {"weights": value}) for value in ("frozen", "map")]
        assert (found[0] != found[1]) is moves
    # The largest is ½ (dλ*/dx) / ε_λ, where the row has almost no weight: 5 on the smallest instance, ε_λ a tenth.
    steep = Site(beside.problem, (Fraction(1, 10**6),)).at(Fraction(1, 10), maps | {"weights": "map"})
    assert 4.99 < float(value_of(formula.args[0], steep)) < 5


def test_weights_off_their_ramps_do_not_move() -> None:
    regular = place("two-of-three").at(Fraction(1, 10), {"weights": "map"})
    assert not any(map(float, regular.arithmetic.entries(value_of(OF_THE_WEIGHTS, regular))))


def test_a_program_is_no_judge_of_weights_that_are_maps_and_earns_nothing_there() -> None:
    reading = "choose:dual_term=map,weights=map"
    for subject, verdict in ((ReferenceSubject(), "SUPPORTED"), (Recording(), "NOT_APPLICABLE")):
        found = perform(Task("bias-bound/T3", reading, "toy1", "reference", "smoke", DEFAULT_SEED), subject)
        assert found.verdict == verdict
    assert "no program is told" in found.sentence


def test_doubles_say_where_they_do_not_know_on_which_side_of_a_ramps_end_they_are() -> None:
    a = DoubleArithmetic()
    found = a.function("inside", [a.vector([Fraction(v) for v in (-1, 0, "1/2", 1, 2)])], [("p",)])
    assert found.value.ravel().tolist() == [0, 0, 1, 0, 0]
    # 0 is exact as a double; beside 1 lie roundings of it on either side.
    assert found.bound.ravel().tolist() == [0, 0, 0, 1, 0]
