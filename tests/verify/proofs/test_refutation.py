"""Minimal counterexamples: they break the claim, nothing smaller does, and their one line prints what they derive."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq_poly
from hypothesis import given
from hypothesis import strategies as st

from spec import InvalidInputError, parse_problem
from spec.claims import find
from verify.cli.main import invoke
from verify.proofs.notation import function, problem_in_words, term
from verify.proofs.refutation.candidates import RefutationCandidate, places, random_candidate, smallest_first
from verify.proofs.refutation.model import RefutationCase
from verify.proofs.refutation.search import _TARGETS, _search, minimal_counterexample, refutable, shrink
from verify.truth.algebra.rational_functions import RationalVector
from verify.truth.lower_level import lower_level

BROKEN = {
    "bias-bound": "-2",
    "bias-bound/T3": "-2",
    "bias-bound/T1": "-1",
    "bias-bound/T2": "0",
    "bias-bound/L-H-y": "-4",
    "bias-bound/L-H-lambda": "-2",
    "bias-bound/ramp": "0",
    "bias-bound/uniformity": "0",
    "bias-bound/hessian-lipschitz": "2/3",
    "dual-extraction": "-4",
    "dual-extraction/T1": "-4",
    "dual-extraction/constraint-difference": "0",
    "dual-extraction/ramp-slope": "-2",
    "solution-error/strong-convexity": "",
}
UNBROKEN = ("bias-bound/y-star-error", "solution-error", "solution-error/active-rows")


def breaks(claim, candidate, reading="as-written"):
    problem = candidate.problem
    if problem is None:
        return False
    statement = find(claim)
    case = RefutationCase(
        problem, candidate.x, statement.interpreted(reading), reading, statement.assertion(reading).bound
    )
    return _TARGETS[claim].decide(case) is not None


def size_of(refutation):
    """Sum of the absolute integers of a problem and its point."""
    numbers = []

    def walk(value):
        if isinstance(value, list):
            for item in value:
                walk(item)
        else:
            numbers.append(abs(Fraction(str(value))))

    for name in ("f", "g", "constraints"):
        for block in refutation.problem.get(name, {}).values():
            walk(block)
    return sum(numbers) + sum(abs(Fraction(value)) for value in refutation.x)


def test_every_claim_with_a_search_is_accounted_for():
    assert set(refutable()) == set(BROKEN) | set(UNBROKEN)


@pytest.mark.parametrize(("claim", "exponent"), BROKEN.items())
def test_broken_as_written(claim, exponent):
    found = minimal_counterexample(claim)
    assert found is not None
    assert found.exponent == exponent
    assert found.exhaustive
    if found.claimed:
        assert Fraction(found.exponent) < Fraction(found.claimed)
    assert parse_problem(found.problem).to_dict() == found.problem


@pytest.mark.parametrize("claim", UNBROKEN)
def test_not_broken_within_a_small_budget(claim):
    assert minimal_counterexample(claim, weight=4, tries=3) is None


@pytest.mark.parametrize("claim", sorted(refutable()))
def test_repaired_claims_are_not_broken(claim):
    assert minimal_counterexample(claim, "repaired", weight=4, tries=3) is None


def all_signs(weight):
    """Every integer problem up to a weight, no symmetry used: g.yy > 0 and B ≠ 0 alone."""
    blocks = [place.block for place in places(1, 1, 1)]
    for support in itertools.chain.from_iterable(
        itertools.combinations(range(len(blocks)), size) for size in range(2, weight + 1)
    ):
        if not {"g.yy", "B"} <= {blocks[k] for k in support}:
            continue
        for sizes in itertools.product(range(1, weight), repeat=len(support)):
            if sum(sizes) > weight:
                continue
            for signs in itertools.product((1, -1), repeat=len(support)):
                values = [0] * len(blocks)
                for k, size, sign in zip(support, sizes, signs, strict=True):
                    values[k] = size * sign
                if values[blocks.index("g.yy")] > 0:
                    yield RefutationCandidate(1, 1, 1, tuple(values))


@pytest.mark.parametrize("claim", sorted(set(BROKEN) - {"bias-bound/hessian-lipschitz"}))
def test_nothing_of_smaller_size_breaks_it(claim):
    weight = int(size_of(minimal_counterexample(claim)))
    assert not any(breaks(claim, candidate) for candidate in all_signs(weight - 1))


def test_enumeration_is_complete_up_to_signs_and_in_order():
    made = list(smallest_first(4))
    assert [c.size for c in made] == sorted(c.size for c in made)
    assert len(set(made)) == len(made)
    seen = {tuple(map(abs, c.values)) for c in made}
    assert seen == {tuple(map(abs, c.values)) for c in all_signs(4)}


@pytest.mark.parametrize("claim", ["bias-bound/T3", "bias-bound/ramp", "solution-error/strong-convexity"])
def test_the_same_on_every_call(claim):
    first = minimal_counterexample(claim)
    _search.cache_clear()
    assert minimal_counterexample(claim) == first


PRINTED = {
    "bias-bound": ("hypergradient", "estimate"),
    "bias-bound/T3": ("hypergradient", "estimate"),
    "bias-bound/T1": ("hypergradient", "estimate"),
    "bias-bound/T2": ("hypergradient", "estimate"),
    "bias-bound/L-H-y": ("hypergradient", "estimate at ỹ = 2"),
    "bias-bound/L-H-lambda": ("terms.dual", "α⁻²Aᵀλ̃ at λ̃ = 2"),
    "bias-bound/ramp": ("hypergradient", "estimate"),
    "bias-bound/hessian-lipschitz": ("hypergradient", "estimate"),
    "dual-extraction": ("hypergradient", "difference of the gradients"),
    "dual-extraction/T1": ("hypergradient", "difference of the gradients"),
}
"""What the one-line command prints, and which value of the derivation it is."""


CHOSEN = [
    ("bias-bound", "choose:dual_term=map"),
    ("bias-bound", "choose:dual_term=both-maps,ramp_width=delta"),
    ("bias-bound", "only:inner_stop"),
    ("bias-bound", "only:ramp_width"),
    ("bias-bound/T2", "only:multiplier_width"),
    ("dual-extraction", "only:multiplier_width"),
]


@pytest.mark.parametrize(
    ("claim", "reading", "printed"),
    [*((claim, "as-written", printed) for claim, printed in PRINTED.items()),
     *((claim, reading, PRINTED[claim]) for claim, reading in CHOSEN)],
)  # fmt: skip
def test_the_command_prints_what_is_derived(claim, reading, printed, tmp_path, capsys):
    found = minimal_counterexample(claim, reading)
    file = tmp_path / "problem.json"
    file.write_text(found.file, encoding="utf-8")
    assert invoke(["hypergradient", str(file), *found.arguments, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    value = output
    for key in printed[0].split("."):
        value = value[key]
    assert value == pytest.approx([float(Fraction(found.values[printed[1]]))], rel=1e-9, abs=1e-9)
    if "∇F" in found.values:
        assert output["exact"]["hypergradient"] == pytest.approx([float(Fraction(found.values["∇F"]))])
    assert " ".join(found.arguments) in found.command.replace("'", "")


@pytest.mark.parametrize(
    ("reading", "size"),
    [("as-written", "-1/2"), ("choose:dual_term=map", "-1/2"), ("choose:dual_term=frozen", "1/10")],
)
def test_the_bias_near_a_kink_is_what_the_command_prints(reading, size, tmp_path, capsys):
    # Frozen, f = 0 is enough: ε_λ is what stays of α₁Aλ*. Otherwise it takes an f, of whose gradient half is lost.
    found = minimal_counterexample("bias-bound/uniformity", reading)
    assert found.values["bias"] == size
    file = tmp_path / "problem.json"
    file.write_text(found.file, encoding="utf-8")
    assert invoke(["hypergradient", str(file), *found.arguments, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    bias = output["hypergradient"][0] - output["exact"]["hypergradient"][0]
    assert bias == pytest.approx(float(Fraction(found.values["bias"])), abs=1e-9)


def test_no_problem_breaks_uniformity_where_both_are_maps():
    assert minimal_counterexample("bias-bound/uniformity", "choose:dual_term=both-maps") is None


def test_the_solver_refuses_an_alpha_without_a_minimiser(tmp_path, capsys):
    found = minimal_counterexample("solution-error/strong-convexity")
    file = tmp_path / "problem.json"
    file.write_text(found.file, encoding="utf-8")
    assert invoke(["hypergradient", str(file), *found.arguments]) == 2
    assert "strongly convex" in capsys.readouterr().err


def test_the_ramp_reaches_half_way_where_it_is_said_to(tmp_path, capsys):
    found = minimal_counterexample("dual-extraction/ramp-slope")
    file = tmp_path / "problem.json"
    file.write_text(found.file, encoding="utf-8")
    assert invoke(["hypergradient", str(file), *found.arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rho"] == pytest.approx([0.5], abs=1e-6)


def test_the_derivation_says_what_is_claimed_and_found():
    found = minimal_counterexample("bias-bound/T3")
    assert found.derivation[0] == "f = 0, g = ½y², with x - y ≤ 0, at x = 1."
    assert any("O(α) is claimed" in line for line in found.derivation)
    shown = found.counterexample()
    assert shown.x == ["1"]
    assert found.derivation[-1] in shown.note


def two_strict_rows(candidate):
    """Two rows active with positive multipliers: no scalar problem has that."""
    problem = candidate.problem
    if problem is None:
        return False
    try:
        lower = lower_level.solve(problem, candidate.x)
    except InvalidInputError:
        return False
    return len(lower.strictly_active) >= 2


def test_larger_problems_shrink_until_nothing_smaller_near_breaks():
    rng = np.random.default_rng(5)
    found = next(c for c in (random_candidate(2, 2, 3, rng) for _ in range(5000)) if two_strict_rows(c))
    small = shrink(found, two_strict_rows)
    assert two_strict_rows(small)
    assert small.size < found.size
    assert (small.n, small.m, small.p) == (1, 2, 2)
    assert not any(two_strict_rows(near) for near in small.smaller() if near.size < small.size)


@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.integers(0, 99))
def test_smaller_neighbours_have_the_right_shape(n, m, p, seed):
    candidate = random_candidate(n, m, p, np.random.default_rng(seed))
    assert candidate.problem is not None
    for near in candidate.smaller():
        assert len(near.values) == len(places(near.n, near.m, near.p))
        assert near.size != candidate.size


def test_formulas():
    made = RationalVector((fmpq_poly([1, 0, -1]),), fmpq_poly([0, 0, 2, 3]))
    assert function(made) == "(1 - α²)/(2α² + 3α³)"
    assert term((Fraction(-1, 2),), 3) == "-1/2·α³"
    assert term((Fraction(1),), -2) == "α⁻²"
    f, g = {"x": [1, 0], "yy": [[2]]}, {"yy": [[3]], "xy": [[-1], [0]]}
    rows = {"A": [[0, 1]], "B": [[2]], "b": ["1/2"]}
    problem = parse_problem({"kind": "quadratic", "f": f, "g": g, "constraints": rows})
    assert problem_in_words(problem) == "f = y² + x₁, g = -x₁y + 3/2y², with x₂ - 2y - 1/2 ≤ 0"


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"claim": "bias-bund"}, "did you mean bias-bound"),
        ({"claim": "inner-cost"}, "must be one with a search"),
        ({"claim": "bias-bound", "reading": "both"}, "reading: must be as-written, repaired"),
        ({"claim": "bias-bound/T1", "reading": "choose:outer_batch=single"}, "reading: must be as-written, repaired"),
        ({"claim": "bias-bound", "weight": 1}, "weight: must be >= 2"),
        ({"claim": "bias-bound", "seed": -1}, "seed: must be >= 0"),
    ],
)
def test_wrong_input(arguments, match):
    with pytest.raises(InvalidInputError, match=match):
        minimal_counterexample(**arguments)


def test_command(tmp_path, capsys):
    out = tmp_path / "smallest.json"
    assert invoke(["refute", "bias-bound/T3", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "T₃ is α⁻² to leading order" in shown
    assert f"f2csa hypergradient {out} --x=1" in shown
    assert parse_problem(json.loads(out.read_text(encoding="utf-8"))).n == 1
    assert invoke(["refute", "bias-bound/T3", "--reading", "repaired", "--weight", "3", "--tries", "0"]) == 0
    assert "no counterexample" in capsys.readouterr().out
    assert invoke(["refute", "bias-bound/T3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exponent"] == "-2"
    assert invoke(["refute", "bias-bound/T3", "--reading", "both"]) == 2


def test_the_command_takes_the_readings_its_search_can_express(capsys):
    assert invoke(["refute", "bias-bound", "--reading", "choose:dual_term=map"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("bias-bound, choose:dual_term=map: broken")
    assert "ỹ* a map of x" in shown
    assert "The bias is -α⁻¹ to leading order" in shown
    for claim, value in (("bias-bound/T2", "map"), ("bias-bound/L-H-lambda", "cancelled")):
        assert invoke(["refute", claim, "--reading", f"choose:dual_term={value}"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "must be one that the search can express: as-written, repaired" in line
        assert "choose:dual_term" not in line.split("; got ")[0]


@pytest.mark.parametrize("text", ["y=1", "lam", "lam=one"])
def test_given_stages_are_checked(text, capsys):
    assert invoke(["hypergradient", "atlas:toy1", "--given", text]) == 2
    assert "--given" in capsys.readouterr().err
