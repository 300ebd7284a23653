"""The split of an answer's error adds up exactly, and one wrong stage is one cause."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import REPAIRED, InvalidInputError
from tests.verify.truth.problems import TOY1, problems_at_points, random_rows, regular_instances, small_fractions
from verify.truth.enclosures.error_enclosure import Estimated, enclose
from verify.truth.error_causes import CAUSES, METHOD, PARTS, ErrorCauses, StageValues, is_split
from verify.truth.lower_level import lower_level
from verify.truth.lower_level.lower_level import DegenerateLowerLevelError
from verify.truth.stages import ExactSetting, evaluate

ALPHAS = (Fraction(1, 10), Fraction(1, 50))


def added(parts):
    return tuple(sum(values, Fraction(0)) for values in zip(*parts.values(), strict=True))


def apart(first, second):
    return tuple(a - b for a, b in zip(first, second, strict=True))


def vectors(size):
    return st.tuples(*[small_fractions] * size)


def drawn_stages(data, q):
    weights = st.tuples(*[st.fractions(0, 2, max_denominator=8)] * q.p)
    return StageValues(*(data.draw(of) for of in (vectors(q.m), vectors(q.p), weights, vectors(q.m))))


def shifted(told, size):
    """Every stage off, each in its own way."""
    return StageValues(*(
        tuple(v + size * Fraction((-1) ** k * (k + 1), 7 + j) for k, v in enumerate(values))
        for j, values in enumerate((told.y_star, told.lam, told.rho, told.y))
    ))  # fmt: skip


def right(setting):
    found = evaluate(setting)
    return StageValues(found.y_star, found.lam, found.rho, found.y_penalty)


REGULAR = [
    *((family.problem, family.x) for _, family in regular_instances()),
    *((random_rows(1 + k % 3, 2 + k % 2, 3 + k % 2, k), (Fraction(0),) * (1 + k % 3)) for k in range(6)),
]


@pytest.fixture(scope="module")
def places():
    found = []
    for problem, x in REGULAR:
        with suppress(DegenerateLowerLevelError):
            found += [ErrorCauses.at(ExactSetting(problem, x, alpha)) for alpha in ALPHAS]
    assert len(found) >= 50
    return found


def test_the_identity_is_equal_at_any_stages(places):
    for here in places:
        for told in (right(here.setting), shifted(right(here.setting), Fraction(1))):
            assert added(here.parts(told)) == apart(here.formula(told), here.gradient)


def test_at_the_exact_pair_it_is_the_split_of_the_enclosure_in_balls(places):
    for here in places[::5]:
        told = replace(shifted(right(here.setting), Fraction(1, 3)), y_star=here.setting.lower.y_star,
                       lam=here.setting.lower.lam)  # fmt: skip
        s, shift = here.setting, apart(told.y, told.y_star)
        found = enclose(s.problem, s.x, Estimated(s.alpha, told.y_star, shift, told.lam, told.rho))
        parts = here.parts(told)
        for name, part in found.parts.items():
            assert [float(v) for v in parts[name]] == pytest.approx(part.mid, rel=1e-12, abs=1e-9), name
        assert not any(parts["multipliers"] + parts["solution"])


def test_each_of_its_summands_counts(places):
    missed = dict.fromkeys(PARTS[:-1], 0)
    for here in places:
        told = shifted(right(here.setting), Fraction(1))
        parts = here.parts(told)
        for name in missed:
            missed[name] += any(parts[name])
    assert min(missed.values()) > 0, missed


@given(problems_at_points(), st.data())
@settings(max_examples=25, deadline=None)
def test_causes_add_up_exactly_on_random_problems(problem_at, data):
    problem, x = problem_at
    alpha, term = data.draw(st.sampled_from(ALPHAS)), data.draw(st.sampled_from(["cancelled", "frozen"]))
    try:
        here = ErrorCauses.at(ExactSetting(problem, x, alpha, REPAIRED.choose(dual_term=term)))
    except InvalidInputError:
        return
    told, answer = drawn_stages(data, problem), data.draw(vectors(problem.n))
    assert added(here.parts(told)) == apart(here.formula(told), here.gradient)
    causes = here.split(told, answer)
    assert tuple(causes) == CAUSES
    assert added(causes) == apart(answer, here.gradient)


@pytest.mark.parametrize("answer", [Fraction(0), Fraction(-1000), Fraction(1, 3)])
def test_answers_that_know_nothing_are_off_by_their_formula(places, answer):
    for here in places[::4]:
        made = (answer,) * here.setting.problem.n
        causes = here.split(right(here.setting), made)
        assert added(causes) == apart(made, here.gradient)
        assert causes["formula"] == apart(made, here.formula(right(here.setting)))
        assert not any(any(causes[name]) for name in CAUSES if name not in ("formula", *METHOD))


def test_where_every_stage_is_right_the_methods_bias_is_left(places):
    for here in places:
        exact = evaluate(here.setting).hypergradient
        causes = here.split(right(here.setting), exact)
        assert apart(exact, here.gradient) == added({name: causes[name] for name in METHOD})
        assert not any(any(causes[name]) for name in CAUSES if name not in METHOD)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_methods_bias_has_its_closed_form(alpha):
    """One moving row, f linear: nothing along the shift of y, and alpha^2 / (1 + alpha^2) by the row's gap."""
    here = ErrorCauses.at(ExactSetting(TOY1, (Fraction(1),), alpha))
    causes = here.split(right(here.setting), here.formula(right(here.setting)))
    assert [abs(causes[name][0]) for name in METHOD] == [0, alpha**2 / (1 + alpha**2)]


def wrong(setting, cause):
    """Stages with one thing wrong, and everything after it made rightly from that."""
    q, lower, told = setting.problem, setting.lower, right(setting)
    if cause == "minimiser":
        return replace(told, y=tuple(v + Fraction(k + 1, 1000) for k, v in enumerate(told.y)))
    stages = {"y_star": told.y_star, "lam": told.lam}
    if cause == "solution":
        stages["y_star"] = tuple(v + Fraction(k + 1, 10**7) for k, v in enumerate(told.y_star))
    elif cause == "multipliers":
        stages["lam"] = tuple(Fraction(11, 10) * v for v in told.lam)
    else:
        rows, value = (lower.inactive, Fraction(1)) if cause == "inactive-weights" else (lower.active, Fraction(1, 9))
        stages["rho"] = tuple(value if i in rows else told.rho[i] for i in range(q.p))
    found = evaluate(replace(setting, given=stages))
    return StageValues(found.y_star, found.lam, found.rho, found.y_penalty)


@pytest.mark.parametrize("cause", ["minimiser", "inactive-weights", "active-weights", "multipliers", "solution"])
def test_one_wrong_stage_is_one_cause(places, cause):
    shown = 0
    for here in places:
        told, exact = wrong(here.setting, cause), right(here.setting)
        causes = here.split(told, here.formula(told))
        # Its size by line 6 itself, not by the identity.
        assert causes[cause] == apart(here.formula(told), here.formula(exact))
        assert not any(any(causes[name]) for name in CAUSES if name not in (cause, *METHOD))
        shown += any(causes[cause])
    assert shown > 10


def test_a_kept_dual_term_is_a_part_of_its_own(places):
    for here in places[::6]:
        s = here.setting
        kept = replace(here, setting=replace(s, reading=REPAIRED.choose(dual_term="frozen")))
        told = shifted(right(s), Fraction(1, 3))
        causes, without = kept.split(told, kept.formula(told)), here.split(told, here.formula(told))
        assert causes["dual"] == apart(kept.formula(told), here.formula(told))
        assert causes | {"dual": without["dual"]} == without


def test_what_cannot_be_split_is_refused_in_one_line():
    with pytest.raises(DegenerateLowerLevelError):
        ErrorCauses.at(ExactSetting(TOY1, (Fraction(0),)))
    with pytest.raises(InvalidInputError, match="dual_term: must be frozen or cancelled"):
        ErrorCauses.at(ExactSetting(TOY1, (Fraction(1),), reading=REPAIRED.choose(dual_term="map")))
    here = ErrorCauses.at(ExactSetting(TOY1, (Fraction(1),), Fraction(1, 10)))
    told = right(here.setting)
    with pytest.raises(InvalidInputError, match=r"^lam: must have length 1"):
        here.split(replace(told, lam=()), (Fraction(1),))
    with pytest.raises(InvalidInputError, match=r"^answer: must have length 1"):
        here.split(told, (Fraction(1), Fraction(2)))
    with pytest.raises(InvalidInputError, match=r"^rho: must leave the penalty Lagrangian a stationary point"):
        here.split(replace(told, rho=(Fraction(-1, 100),)), (Fraction(1),))


def test_the_gradient_is_that_of_F(places):
    for here in places[::7]:
        assert here.gradient == lower_level.hypergradient(here.setting.problem, here.setting.x)
    assert is_split(TOY1)
