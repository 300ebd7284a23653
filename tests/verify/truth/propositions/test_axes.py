"""Each statement is asked under every choice that its formula hangs on: the axes found by evaluation are declared."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec.atlas import find as instance
from spec.claims import find, load_claims
from spec.reading import Reading
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.case import checks
from verify.checks.measuring.formula_evidence import by_formula
from verify.subjects import ReferenceSubject
from verify.truth.geometry import quadratic_of
from verify.truth.propositions.axes import axes, axes_of
from verify.truth.propositions.sites import Site

WITH_FORMULA = sorted(
    full for claim in load_claims().values() for full, one in claim.statements() if one.as_written.proposition
)
PLACES = ("toy1", "two-of-three", "weakly-active", "drawn:weakly-active:19", "drawn:weakly-active:502", "drawn:rows:3")
NOT_ASKED = {"bias-bound/uniformity", "bias-bound/uniformity-radius", "bias-bound/black-box-kinks",
             "goldstein-convergence/bias-hypothesis", "hypergradient-accuracy/hypotheses"}  # fmt: skip
"""What hangs on a further choice and has no formula that could show it: test_audit_numbers asks their checks."""


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
    # What is declared as found is found; of what a check observes a formula shows nothing.
    assert full_id in NOT_ASKED or set(statement.axes) <= found


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


@pytest.mark.parametrize(("full_id", "field"), [(full, field) for full in ASKED for field in find(full).axes])
def test_each_axis_reaches_the_program(full_id: str, field: str) -> None:
    where = next(name for name in checks()[full_id].instances if not name.startswith("holder"))
    subject = Recording()
    task = Task(full_id, f"choose:{field}={LITERAL[field]}", where, "reference", "smoke", DEFAULT_SEED)
    assert perform(task, subject).fault is None
    if field == "multiplier_width":
        assert subject.widths == {True}
    else:
        assert {getattr(reading, field) for reading in subject.readings} == {LITERAL[field]}
