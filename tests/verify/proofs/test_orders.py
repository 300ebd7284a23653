"""The order calculus: flags come from the data, and vanish when the data are put right."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError, load_claims
from spec.base_orders import load_base_orders
from verify.cli.main import invoke
from verify.proofs.orders.expressions import evaluate, names_in, parse, split
from verify.proofs.orders.inference import Following
from verify.proofs.orders.ledger import OrderLedger
from verify.proofs.orders.order import (
    ONE,
    ZERO,
    LogInequality,
    NoOrderError,
    Order,
    at_least,
    implied,
    solution,
    witness,
)
from verify.proofs.orders.table import first_breaks, order_table

READINGS = ("as-written", "repaired")
FIRST_BREAKS = {
    "smoothness": "bounded-gradient",
    "stochastic-oracles": "experiment-noise",
    "dual-extraction": "activation-locality",
    "solution-error": "strong-convexity",
    "bias-bound": "L-H-y",
    "variance-bound": "per-sample",
    "hypergradient-accuracy": "first-moment",
    "inner-cost": "linear-rate",
    "inner-loop-remark": "penalty-solve",
    "goldstein-convergence": "second-moment",
    "sfo-complexity": "lipschitz-constant",
}


def edited(full_id, reading, index=0, **changes):
    """The claims with one inference changed."""
    claims = dict(load_claims())
    name, _, step_id = full_id.partition("/")
    field = reading.replace("-", "_")

    def change(statement):
        assertion = getattr(statement, field)
        orders = list(assertion.orders)
        orders[index] = orders[index].model_copy(update=changes)
        return statement.model_copy(update={field: assertion.model_copy(update={"orders": tuple(orders)})})

    claim = claims[name]
    if step_id:
        steps = tuple(change(step) if step.id == step_id else step for step in claim.steps)
        claims[name] = claim.model_copy(update={"steps": steps})
    else:
        claims[name] = change(claim)
    return claims


def redefined(reading, **definitions):
    """The base orders with some definitions of one reading changed."""
    base = load_base_orders()
    field = reading.replace("-", "_")
    return base.model_copy(update={field: getattr(base, field) | definitions})


def row(full_id, reading, *, index=0, **data):
    return [r for r in order_table(full_id, **data) if (r.step, r.reading) == (full_id, reading)][index]


def first_broken_step(claim, reading, **data):
    """Where a proof first breaks; ``None`` if every order follows, or none is asserted."""
    found = {(item.claim, item.reading): item.broken for item in first_breaks(**data)}
    return found.get((claim, reading))


@pytest.mark.parametrize(("claim", "step"), FIRST_BREAKS.items())
def test_where_each_proof_first_breaks(claim, step):
    broken = first_broken_step(claim, "as-written")
    assert broken is not None
    assert broken.step == f"{claim}/{step}"
    assert broken.following in (Following.CONTRADICTION, Following.DOES_NOT_FOLLOW)


@pytest.mark.parametrize("claim", FIRST_BREAKS)
def test_every_repaired_order_follows(claim):
    assert first_broken_step(claim, "repaired") is None


def test_breaks_list_every_proof_with_orders():
    found = first_breaks()
    assert {item.claim for item in found} == set(FIRST_BREAKS)
    assert all(item.broken is None for item in found if item.reading == "repaired")
    assert all(item.steps > 0 for item in found)


@pytest.mark.parametrize(
    ("full_id", "asserted", "derived", "in_words"),
    [
        ("bias-bound/L-H-y", "O(1)", "O(α⁻⁴)", "by definition"),
        ("bias-bound/T3", "O(α)", "O(α⁻²)", "frozen"),
        ("bias-bound/hessian-lipschitz", "O(α)", "O(1)", "first-order expansion"),
        ("dual-extraction/ramp-slope", "O(δ⁻¹)", "O(δ⁻²)", "linear ramp"),
        ("dual-extraction/constraint-difference", "O(α³)", "O(1)", "any fixed point"),
        ("solution-error/strong-convexity", "Ω(αμ_g)", "", "does not give"),
        (
            "solution-error",
            "O(α)",
            "O(α⁻⁸), granting what is plugged in",
            "solution-error/strong-convexity asserts Ω(α)",
        ),
        ("bias-bound/ramp", "O(α)", "", "Needs ‖B‖·‖ỹ* - y*‖ ≤ width"),
        ("variance-bound/per-sample", "O(1)", "O(α⁻⁴)", "two independent draws"),
        ("hypergradient-accuracy/first-moment", "O(α²)", "O(α⁻¹)", "rare error"),
        ("goldstein-convergence/second-moment", "O(L_F²)", "O(L_F² + β²)", "bias"),
        ("goldstein-convergence/lipschitz-scaling", "O(1)", "O(L_F)", "L_F"),
        ("sfo-complexity/lipschitz-constant", "O(1)", "O(L_F²)", "convergence theorem"),
    ],
)
def test_what_is_flagged_as_written(full_id, asserted, derived, in_words):
    found = row(full_id, "as-written")
    assert found.following is Following.DOES_NOT_FOLLOW
    assert (found.asserted, found.derived) == (asserted, derived)
    assert in_words in found.why


def test_lower_limit_on_alpha_contradicts_its_limit():
    found = row("bias-bound/alpha-to-zero", "as-written")
    assert found.following is Following.CONTRADICTION
    assert "α ≥ C_f/μ_g" in found.why
    assert "α → 0" in found.why


def test_a_step_that_only_inherits_names_its_source():
    found = row("bias-bound/T1", "as-written")
    assert found.following is Following.INHERITS
    assert found.broken_by == ("bias-bound/L-H-y",)
    assert found.derived == "O(α⁻¹)"


@pytest.mark.parametrize(
    ("full_id", "reading", "changes"),
    [
        ("bias-bound/L-H-y", "as-written", {"asserted": "alpha_2"}),
        ("bias-bound/L-H-y", "as-written", {"bound_by": "C_f"}),
        ("bias-bound/L-H-lambda", "as-written", {"asserted": "alpha_1"}),
        ("bias-bound/T3", "as-written", {"bound_by": "penalty_ideal"}),
        ("bias-bound/alpha-to-zero", "as-written", {"hypotheses": ("alpha <= mu_g / C_f",)}),
        ("bias-bound/uniformity", "as-written", {"hypotheses": ("lam_min >= 1",)}),
        ("solution-error/strong-convexity", "as-written",
         {"hypotheses": ("alpha <= (mu_g / C_f)^(1/2)",), "asserted": "alpha_1 * mu_g"}),
        ("dual-extraction/ramp-slope", "as-written", {"asserted": "inner_tol^-2"}),
        ("dual-extraction/activation-locality", "as-written", {"asserted": "inner_tol"}),
        ("goldstein-convergence/second-moment", "as-written", {"asserted": "L_F^2 + beta^2"}),
        ("sfo-complexity/lipschitz-constant", "as-written", {"asserted": "L_F^2"}),
        ("smoothness/bounded-gradient", "as-written", {"hypotheses": ("mu_g * radius >= 1",)}),
        ("variance-bound/per-sample", "as-written", {"bound_by": "sigma2 + alpha_1^2 * penalty_gap^2"}),
    ],
)  # fmt: skip
def test_a_flag_vanishes_when_the_order_is_put_right(full_id, reading, changes):
    assert row(full_id, reading).following is not Following.FOLLOWS
    assert row(full_id, reading, claims=edited(full_id, reading, **changes)).following is Following.FOLLOWS


@pytest.mark.parametrize(
    ("definitions", "steps"),
    [
        ({"h_width": "inner_tol"}, ["dual-extraction/ramp-slope", "dual-extraction/activation-locality",
                                    "bias-bound/ramp"]),
        ({"y_gap": "inner_tol"}, ["dual-extraction/constraint-difference"]),
        ({"pair_variance": "alpha^4"}, ["variance-bound/per-sample", "variance-bound/g-noise-only",
                                        "inner-cost/batch-size"]),
        ({"second_moment": "inner_tol^2"}, ["hypergradient-accuracy/first-moment"]),
        ({"step_size": "inner_tol^2"}, ["inner-cost/svrg"]),
        ({"hessian_modulus": "alpha"}, ["bias-bound/hessian-lipschitz"]),
    ],
)  # fmt: skip
def test_flags_vanish_when_a_definition_is_put_right(definitions, steps):
    base = redefined("as-written", **definitions)
    for full_id in steps:
        assert row(full_id, "as-written").following is not Following.FOLLOWS
        assert row(full_id, "as-written", base=base).following is Following.FOLLOWS, full_id


@pytest.mark.parametrize(
    ("full_id", "changes"),
    [
        ("bias-bound/T3", {"asserted": "alpha^3"}),
        ("bias-bound/T2", {"asserted": "alpha^2"}),
        ("bias-bound/alpha-to-zero", {"hypotheses": ("alpha >= mu_g",)}),
        ("inner-cost/condition-number", {"asserted": "alpha^-1"}),
        ("inner-cost/strong-convexity", {"asserted": "alpha^-3"}),
    ],
)
def test_a_flag_appears_when_a_repaired_order_is_overstated(full_id, changes):
    claims = edited(full_id, "repaired", **changes)
    assert row(full_id, "repaired").following is Following.FOLLOWS
    assert row(full_id, "repaired", claims=claims).following is not Following.FOLLOWS


def test_granting_what_a_step_hides_moves_the_break_to_the_next_step():
    honest = edited("bias-bound/L-H-y", "as-written", asserted="alpha_2")
    assert row("bias-bound/T1", "as-written", claims=honest).following is Following.DOES_NOT_FOLLOW
    assert first_broken_step("bias-bound", "as-written", claims=honest).step == "bias-bound/T1"


def test_agreeing_constants_of_two_lemmas_are_not_flagged():
    claims = edited("solution-error/strong-convexity", "as-written", asserted="alpha_1 * mu_g",
                    hypotheses=("alpha <= (mu_g / C_f)^(1/2)",))  # fmt: skip
    found = row("solution-error", "as-written", claims=claims)
    assert "asserts Ω" not in found.why
    assert found.following is Following.INHERITS  # of the gradient lemma


def test_a_quantity_is_bounded_once():
    with pytest.raises(InvalidInputError, match="must not bound a quantity twice"):
        order_table(claims=edited("bias-bound/T3", "repaired", quantity="T2"))


def test_unknown_names_are_refused():
    with pytest.raises(InvalidInputError, match="must use known names; got nonsense"):
        order_table(claims=edited("bias-bound/T3", "repaired", bound_by="nonsense"))


def test_orders_that_rest_on_themselves_are_refused():
    with pytest.raises(InvalidInputError, match="must not rest on themselves"):
        order_table(claims=edited("bias-bound/T3", "repaired", bound_by="T3"))


@pytest.mark.parametrize("reading", READINGS)
def test_every_expression_of_the_data_is_sound(reading):
    ledger = OrderLedger(load_claims(), load_base_orders(), reading)
    assert len(ledger.entries) > 40
    for entry in ledger.entries:
        assert entry.inference.by.rstrip(".") == entry.inference.by, entry.full_id
    base = load_base_orders()
    for text in [*base.definitions.values(), *base.links.values(), *base.as_written.values(), *base.repaired.values()]:
        parse(text)
    known = {*base.limits, *base.parameters, *base.constants, *ledger.definitions, *(q for q, _ in ledger.sources)}
    other = OrderLedger(load_claims(), base, next(r for r in READINGS if r != reading))
    assert set(base.symbols) <= known | set(other.definitions) | {q for q, _ in other.sources}, "a symbol of nothing"


def powers(**exponents):
    return {name: Fraction(value) for name, value in exponents.items()}


def test_implied_inequalities():
    small = at_least({}, powers(a=1))
    assert implied([at_least(powers(a=1), powers(a=2))], [small])
    assert not implied([at_least(powers(a=2), powers(a=1))], [small])
    # C <= a m does not give C <= a^-2 m, unless a <= 1.
    assumed = at_least(powers(a=1, m=1), powers(C=1))
    wanted = at_least(powers(a=-2, m=1), powers(C=1))
    assert not implied([wanted], [assumed])
    assert implied([wanted], [assumed, small])


EXPONENT = st.integers(-3, 3).map(Fraction)
POWERS = st.dictionaries(st.sampled_from("abc"), EXPONENT, max_size=3).map(
    lambda found: {name: value for name, value in found.items() if value}
)


@given(st.lists(st.builds(LogInequality, POWERS, st.integers(-2, 2).map(Fraction)), max_size=5))
def test_a_solution_satisfies_its_system(system):
    found = solution(system)
    if found is not None:
        for item in system:
            assert sum(power * found[name] for name, power in item.powers.items()) >= item.constant


@given(st.lists(st.tuples(POWERS, POWERS), max_size=3), POWERS, POWERS)
def test_no_witness_means_no_counterexample_on_a_grid(premises, larger, smaller):
    assumed = [at_least(*pair) for pair in premises]
    wanted = at_least(larger, smaller)
    if witness([wanted], assumed) is None:
        for a in range(-3, 4):
            for b in range(-3, 4):
                for c in range(-3, 4):
                    at = {"a": a, "b": b, "c": c}
                    if all(sum(p * at[n] for n, p in item.powers.items()) >= 0 for item in assumed):
                        assert sum(p * at[n] for n, p in wanted.powers.items()) >= 0


ONE_TERM = st.integers(-4, 4).map(lambda power: Order.of({"alpha": Fraction(power)}))
ORDERS = st.lists(ONE_TERM, min_size=1, max_size=3).map(lambda parts: sum(parts[1:], parts[0]))
TO_ZERO = [at_least({}, {"alpha": Fraction(1)})]


@given(ORDERS, ORDERS)
def test_orders_in_one_variable_compare_as_their_smallest_powers(first, second):
    low, high = (min(dict(m).get("alpha", 0) for m in order.monomials) for order in (first, second))
    assert first.is_within(second, TO_ZERO) == (low >= high)
    assert first.dominant(TO_ZERO) == Order.of({"alpha": Fraction(low)})
    assert (first * second).dominant(TO_ZERO) == Order.of({"alpha": Fraction(low + high)})


def test_zero_is_within_everything_and_nothing_within_zero():
    assert ZERO.is_within(ONE, TO_ZERO)
    assert not ONE.is_within(ZERO, TO_ZERO)
    assert ZERO.shown({}) == "0"


def test_incomparable_terms_both_stay():
    made = Order.of(powers(L_F=2)) + Order.of(powers(beta=2))
    assert made.dominant([]) == made
    assert made.shown({"beta": "β"}) == "L_F² + β²"


def lookup(name, side):
    if name == "upper_only" and side == "lower":
        raise NoOrderError("upper_only has no bound from below")
    return Order.of({name: Fraction(1)})


def test_expressions():
    assert evaluate("a^2 * b / c", lookup) == Order.of(powers(a=2, b=1, c=-1))
    assert evaluate("(a + b)^(1/2)", lookup) == Order.of(powers(a="1/2")) + Order.of(powers(b="1/2"))
    assert evaluate("0", lookup) == ZERO
    assert names_in("a * (b + a) / c") == ("a", "b", "c")
    assert split("a <= b") == ("b", "a")


def test_a_divisor_is_bounded_from_below():
    with pytest.raises(NoOrderError, match="no bound from below"):
        evaluate("1 / upper_only", lookup)
    with pytest.raises(NoOrderError, match="quotient by a sum"):
        evaluate("1 / (a + b)", lookup)


@pytest.mark.parametrize("text", ["a - b", "2 * a", "f(a)", "a^b", "a +", "__import__('os')"])
def test_other_expressions_are_refused(text):
    with pytest.raises(InvalidInputError, match="expression: must"):
        parse(text)


def test_an_inequality_has_two_sides():
    with pytest.raises(InvalidInputError, match="A <= B"):
        split("a < b")


def test_command(capsys):
    assert invoke(["orders"]) == 0
    shown = capsys.readouterr().out
    assert "bias-bound, as written: first breaks at L-H-y" in shown
    assert "bias-bound, repaired: all" in shown
    assert invoke(["orders", "bias-bound/T1"]) == 0
    assert "rests on a broken step" in capsys.readouterr().out
    assert invoke(["orders", "related-rates"]) == 0
    assert "no order is inferred" in capsys.readouterr().out
    assert invoke(["orders", "bias-bound", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {found["claim"] for found in rows} == {"bias-bound"}
    assert invoke(["orders", "bias-bund"]) == 2
    assert "did you mean bias-bound" in capsys.readouterr().err
