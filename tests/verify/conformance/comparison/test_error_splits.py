"""Where a subject's error comes from is said rightly: of planted mistakes, alone and two at once, and of none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.strangers import WeaklyOn
from tests.verify.conformance.subjects import Independent, IndependentlySingle, OnlyHypergradient
from verify.conformance.bugs.bent_subject import BentSubject, arrays_of, by_id
from verify.conformance.bugs.catalogue import find
from verify.conformance.bugs.model import Rules
from verify.conformance.bugs.null_subjects import null_subjects
from verify.conformance.comparison.causes import Inquiry
from verify.conformance.comparison.error_parts import ErrorSplit
from verify.conformance.comparison.error_splits import exponent, split_error
from verify.conformance.comparison.stage_comparison import Seen, ask
from verify.conformance.probes.probes import probes
from verify.method.lines import FORMULAS, Formulas
from verify.subjects import Call, MissingCapabilityError, ReferenceSubject
from verify.subjects.protocol import StageCalls
from verify.truth.error_causes import METHOD

PLACES = ("two-of-three", "toy2@0.001")


def seen_of(subject: Any, *places: str, names: tuple[str, ...] = ("own-pair",)) -> Seen:
    """What a subject answers to calls that give it nothing, at a few places."""
    stages = StageCalls(subject)
    wanted = [f"hypergradient/{place}/{name}/" for place in places or PLACES for name in names]
    asked = [probe for probe in probes() if probe.id.startswith(tuple(wanted))]
    assert asked
    seen = Seen(stages)
    seen.answers += ask(stages, asked).answers
    return seen


def split(subject: Any, *places: str) -> ErrorSplit:
    found = split_error(seen_of(subject, *places))
    assert found is not None
    return found


def own(found: ErrorSplit) -> list[str]:
    """The subject's causes as they are shown, largest first."""
    return [cause for cause in found.shown if cause not in METHOD]


def bent(edits: Formulas, rules: Rules = Rules()) -> BentSubject:  # noqa: B008  # it is frozen
    return type("Bent", (BentSubject,), {"edits": edits, "rules": rules})()


def both(*ids: str) -> BentSubject:
    """Several bugs of the catalogue at once."""
    bugs = [find(id_) for id_ in ids]
    edits = {procedure: lines for bug in bugs for procedure, lines in bug.formulas.items()}
    return bent(edits, next((bug.rules for bug in bugs if bug.rules != Rules()), Rules()))


class Transposed(ReferenceSubject):
    """Line 6 with the transposed A."""

    name = "transposed"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        full = BentSubject().completed(problem, x, call)
        a: Any = arrays_of(problem)
        rows = a.A @ x - a.B @ full.y_penalty - a.b
        return super().hypergradient(problem, x, full, rng) + call.alpha**-4 * (a.A - a.A.T) @ (full.rho * rows)


class WrongPower(ReferenceSubject):
    """Line 6 with alpha_2 = alpha**-3."""

    name = "wrong-power"

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        full = BentSubject().completed(problem, x, call)
        a: Any = arrays_of(problem)
        rows = full.rho * (a.A @ x - a.B @ full.y_penalty - a.b)
        return super().hypergradient(problem, x, full, rng) + (call.alpha**-3 - call.alpha**-4) * a.A.T @ rows


class Displaced(BentSubject):
    """A lower-level solution that is off by 0.001 beside the right multipliers."""

    name = "displaced"

    def lower_level(self, problem: Any, x: Any) -> Any:
        y_star, lam = super().lower_level(problem, x)
        return y_star + 1e-3, lam


class Early(BentSubject):
    """A penalty minimiser that keeps a tenth of its way from y* to go."""

    name = "early"

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        y = super().penalty_minimiser(problem, x, call, 0.0)
        return y + 0.1 * (np.asarray(call.y_star) - y)


PLANTED = [
    ("minimiser", Early()),
    ("minimiser", by_id("stops-by-distance")),
    ("minimiser", by_id("half-penalty-in-solve")),
    ("minimiser", by_id("drops-multiplier")),
    ("multipliers", by_id("inflated-multipliers")),
    ("multipliers", by_id("flipped-multipliers")),
    ("solution", Displaced()),
    ("inactive-weights", by_id("always-active")),
    ("active-weights", by_id("late-ramp")),
    ("formula", by_id("keeps-dual-term")),
    ("formula", by_id("flipped-penalty")),
    ("formula", by_id("one-sided-gap")),
    ("formula", WrongPower()),
]
WHOLE = {"multipliers": "lower-level", "solution": "lower-level", "inactive-weights": "weights",
         "active-weights": "weights"}  # fmt: skip


@pytest.mark.parametrize(("cause", "subject"), PLANTED, ids=[subject.name for _, subject in PLANTED])
def test_a_planted_mistake_is_the_leading_cause(cause: str, subject: Any) -> None:
    found = split(subject)
    assert found.deviates
    assert own(found) == [cause]
    assert found.parts[0].cause == cause
    assert (found.told, found.notes) == (("y_star", "lam", "rho", "y_penalty"), ())


@pytest.mark.parametrize(("cause", "subject"), PLANTED[::3], ids=[subject.name for _, subject in PLANTED[::3]])
def test_one_that_tells_no_stage_is_told_as_much_by_what_it_is_given(cause: str, subject: Any) -> None:
    found = split(OnlyHypergradient(subject))
    assert own(found)[0] == WHOLE.get(cause, cause)
    assert found.told == ()
    (note,) = found.notes
    assert note.startswith("ỹ*, λ̃, ρ and ỹ: it does not tell its own, so the right ones were handed over")


def test_a_transposed_matrix_is_the_formulas() -> None:
    assert own(split(Transposed(), "square")) == ["formula"]


@pytest.mark.parametrize(
    ("subject", "causes"),
    [
        (both("always-active", "keeps-dual-term"), ["inactive-weights", "formula"]),
        (both("inflated-multipliers", "flipped-penalty"), ["formula", "multipliers"]),
        (both("keeps-dual-term", "half-penalty-in-solve"), ["formula", "minimiser"]),
        (both("drops-multiplier", "shifted-rows"), ["inactive-weights", "minimiser", "active-weights"]),
    ],
)
def test_of_two_mistakes_both_are_told_the_larger_first(subject: Any, causes: list[str]) -> None:
    found = split(subject, "two-of-three")
    assert own(found) == causes
    assert [part.cause for part in found.parts if part.cause in causes] == causes


def test_the_other_mistake_is_told_where_another_instance_shows_it() -> None:
    found = split(both("hard-activation", "keeps-dual-term"), "two-of-three", "toy2@0.001")
    assert own(found) == ["formula"]
    assert "Another cause leads at α = 1/20, x = 0.001 on `toy2`: the weights of active rows" in found.sentence


def test_the_sentence_names_instance_sizes_and_growth() -> None:
    found = split(by_id("keeps-dual-term"), "two-of-three")
    assert found.sentence.startswith(
        "At α = 1/50, x = (1, 0.5) on `two-of-three` your answer is 1.3e+04 off ∇F: 1.3e+04 of it is the formula "
        "itself (α₁Aᵀλ̃ is left in it, growing like α⁻²), "
    )
    assert found.sentence.endswith("0.0034 the method's own bias (shrinking like α²).")
    lines = [*found.lines()]
    assert lines[2].split() == ["the", "formula", "itself", "1.3e+04", "+100", "%", "α⁻²"]
    assert found.alphas == (0.1, 0.05, 0.02, 0.01)


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (find("flipped-penalty").formulas["line_6"]["estimate"], "α₂Aᵀ(ρ∘h) has the wrong sign in it"),
        (find("drops-penalty-term").formulas["line_6"]["estimate"], "α₂Aᵀ(ρ∘h) is missing in it"),
        (find("half-penalty-term").formulas["line_6"]["estimate"], "α₂Aᵀ(ρ∘h) is halved in it"),
        (FORMULAS["line_6"]["estimate"].replace("grad_f", "0 * grad_f"), "∇_xf is missing in it"),
    ],
)
def test_a_term_of_line_6_is_named(estimate: str, words: str) -> None:
    assert words in split(bent({"line_6": {"estimate": estimate}}), "two-of-three").sentence


def test_what_cancels_is_said_to() -> None:
    found = split(by_id("rows-as-equations"), "two-of-three")
    assert own(found) == ["multipliers", "solution"]
    assert "the causes largely cancel, together they are 21" in found.sentence
    shares = {part.cause: part.share for part in found.parts}
    assert shares["multipliers"] > 100
    assert shares["solution"] < -100
    assert sum(shares.values()) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", ["zero", "constant", "random", "noise", "echo", "unmoved", "constant-unaided"])
def test_all_that_knows_nothing_is_off_by_is_the_formula(name: str) -> None:
    found = split(null_subjects()[name])
    assert own(found) == ["formula"]
    assert found.told == ()
    assert "its answers do not show which it uses" in found.notes[0]
    assert next(part.share for part in found.parts if part.cause == "formula") == pytest.approx(1, rel=0.05)
    assert "Another cause" not in found.sentence


@pytest.mark.parametrize("name", ["nan", "missing"])
def test_without_an_answer_there_is_no_split(name: str) -> None:
    assert split_error(seen_of(null_subjects()[name], "toy1")) is None


def test_answers_that_change_from_call_to_call_are_not_split() -> None:
    class Noisy(ReferenceSubject):
        rng = np.random.default_rng(3)

        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            return super().hypergradient(problem, x, call, rng) + self.rng.standard_normal(len(x))

    found = split(Noisy())
    assert "its error has no causes to tell apart: asked the same again it answers" in found.sentence
    assert (found.parts, found.error) == ((), None)
    assert len([*found.lines()]) == 2


def test_off_at_kinks_alone_there_is_no_gradient_to_be_off_from() -> None:
    found = split(WeaklyOn(), "weakly-active@0", "two-of-three")
    assert "x = 0 on `weakly-active` there is a kink" in found.sentence
    assert found.parts == ()


def test_the_truth_itself_has_no_error_to_split() -> None:
    found = split(by_id("returns-the-truth"), "toy2@0.001")
    assert "your answer is ∇F itself" in found.sentence
    assert len([*found.lines()]) == 2


@pytest.mark.parametrize("subject", [ReferenceSubject(), OnlyHypergradient(), Independent()])
def test_a_right_subject_is_told_one_line(subject: Any) -> None:
    found = split(subject)
    assert not found.deviates
    line, empty = found.lines()
    assert line.startswith("Its error: At α = 1/50, x = (1, 0.5) on `two-of-three`")
    assert "the method's own bias (shrinking like α²)" in line
    assert empty == ""
    assert set(own(found)) <= {"minimiser"}


def test_stages_it_tells_but_does_not_take_count_where_its_answer_shows_them() -> None:
    class Refusing(BentSubject):
        edits = find("inflated-multipliers").formulas

        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            if any(value is not None for value in call.stages.values()):
                raise MissingCapabilityError("it takes no stages")
            return super().hypergradient(problem, x, call, rng)

    assert own(split(Refusing(), "two-of-three")) == ["multipliers"]
    found = split(OnlyHypergradient(Refusing()), "two-of-three")
    assert own(found) == ["formula"]
    assert "a mistake there counts as the formula's" in found.notes[0]


def test_one_that_refuses_wrong_stages_is_split_all_the_same() -> None:
    class Strict(BentSubject):
        edits = find("flipped-multipliers").formulas

        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            if call.lam is not None and np.min(call.lam) < 0:
                raise ValueError("multipliers must be >= 0")
            return super().hypergradient(problem, x, call, rng)

    assert own(split(Strict(), "two-of-three")) == ["multipliers"]


@pytest.mark.parametrize("size", [1e200, 1e307])
def test_sizes_beyond_doubles_end_no_run(size: float) -> None:
    class Huge(ReferenceSubject):
        def lower_level(self, problem: Any, x: Any) -> Any:
            y_star, lam = super().lower_level(problem, x)
            return y_star + size, lam

        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            return super().hypergradient(problem, x, call, rng) + 1e200

    found = split_error(seen_of(Huge(), "two-of-three"))
    assert found is None or own(found)[0] in ("formula", "solution")


def test_stages_it_tells_but_does_not_use_are_seen() -> None:
    class TwoFaced(ReferenceSubject):
        """Its own lower level is right, that of its oracle call is not."""

        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            return by_id("inflated-multipliers").hypergradient(problem, x, call, rng)  # type: ignore[attr-defined]

    found = split(TwoFaced(), "two-of-three")
    assert own(found) == ["lower-level"]
    assert found.notes == (
        "Handed the lower-level pair, it answers otherwise than when it makes them: inside its call it uses other "
        "values than its stages tell, or something that hangs on how they are made.",
    )


def test_rounding_is_told_from_a_wrong_formula() -> None:
    assert (
        "the formula itself (its rounding, or a clip or another bend in it, is of this size)"
        in split(IndependentlySingle()).sentence
    )


def test_what_a_call_gave_is_not_the_subjects() -> None:
    found = split_error(seen_of(by_id("narrow-ramp"), "two-of-three", names=("own-pair", "inside")))
    assert found is not None
    assert "weights" in own(found)[0]
    assert {part.cause for part in found.parts if part.given} == {"solution"}
    assert found.notes[0].startswith("ỹ* and λ̃ were given in this call")
    assert found.alphas == (0.05,)


def test_a_cause_that_is_lost_beside_what_was_given_gets_no_table() -> None:
    at_y_star = bent({"line_6": {"grad_f": "f_xx @ x + f_xy @ y_0 + f_x"}})
    stages = StageCalls(at_y_star)
    names = ("two-of-three/own-pair/", "two-of-three-thin/lam-width/")
    seen = Seen(stages)
    seen.answers += ask(
        stages, [p for p in probes() if p.id.startswith(tuple(f"hypergradient/{name}" for name in names))]
    ).answers
    found = split_error(seen)
    assert found is not None
    assert found.error is not None
    part = next(part for part in found.parts if part.cause == "formula")
    assert 0 < part.size < 0.01 * found.error
    assert found.shown == ()
    assert "2.2 of it is the formula itself" in found.sentence
    assert found.sentence.endswith("itself is off by more than its tolerance.")


@pytest.mark.parametrize("subject", [by_id("always-active"), OnlyHypergradient(Early()), null_subjects()["zero"]])
def test_causes_add_up_exactly(subject: Any) -> None:
    seen = seen_of(subject, "two-of-three")
    for answer in seen.answers:
        measured = Inquiry(seen.stages, answer).at(answer.probe.call.alpha)
        assert (
            tuple(sum(values, Fraction(0)) for values in zip(*measured.parts.values(), strict=True)) == measured.error
        )


def test_the_split_changes_with_the_subject_and_with_nothing_else() -> None:
    once, again = split(by_id("late-ramp")), split(by_id("late-ramp"))
    assert once == again
    assert once != split(by_id("sure-activation"))


def test_it_costs_few_calls() -> None:
    class Counting(OnlyHypergradient):
        calls = 0

        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            self.calls += 1
            return super().hypergradient(problem, x, call, rng)

    subject = Counting(by_id("keeps-dual-term"))
    seen = seen_of(subject, "two-of-three", "toy1")
    before = subject.calls
    split_error(seen)
    assert subject.calls - before <= 80


def test_exponents_need_three_points_that_agree_above_rounding() -> None:
    alphas, none = (0.1, 0.05, 0.02, 0.01), (0.0,) * 4
    assert exponent(alphas, [a**-2 for a in alphas], none) == -2.0
    assert exponent(alphas, [a**2 + 10 * a**3 for a in alphas], none) is None
    assert exponent(alphas[:2], [1.0, 1.0], none[:2]) is None
    assert exponent(alphas, [0.0] * 4, none) is None
    assert exponent(alphas, [1.0] * 4, (0.0, 0.0, 0.0, 0.2)) is None
    assert exponent(alphas, [a**1.5 for a in alphas], none) == 1.5
