"""Enclosures of an estimate's error hold the truth, are tight, and agree with the reference's certificate."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.error_bounds import SECOND, cases
from f2csa_ref import hypergradient
from spec import InvalidInputError, Quadratic
from spec.atlas import find
from verify.truth.enclosures.error_enclosure import PARTS, Estimated, enclose


def made(case, answer):
    stages = (answer.y_star, answer.shift, answer.lam, answer.rho)
    return Estimated(case.call.alpha, *(stage.tolist() for stage in stages), case.call.reading.dual_term,
                     answer.hypergradient.tolist())  # fmt: skip


@pytest.fixture(scope="module")
def enclosed():
    found = []
    for case in cases(60, seed=1):
        answer = case.answer(SECOND)
        found.append((case, answer, enclose(case.problem, case.x.tolist(), made(case, answer))))
    return found


def test_the_exact_error_lies_inside_and_the_enclosure_is_tight(enclosed):
    for case, answer, found in enclosed:
        assert found.decided
        error = case.error(answer)
        assert found.lower * (1 - 1e-12) <= error <= found.upper * (1 + 1e-12)
        assert found.upper - found.lower <= 1e-13 * (1 + np.linalg.norm(answer.hypergradient))
        assert found.upper <= answer.certificate.bound


def test_the_parts_are_the_error_and_each_counts(enclosed):
    missed = dict.fromkeys(PARTS, 0)
    for case, answer, found in enclosed:
        gap = np.array([float(Fraction(a) - b) for a, b in zip(answer.hypergradient.tolist(), case.truth, strict=True)])
        parts = {name: part.mid for name, part in found.parts.items()}
        size = 1e-13 * (1 + np.linalg.norm(answer.hypergradient) + sum(map(np.linalg.norm, parts.values())))
        assert np.linalg.norm(sum(parts.values()) - gap) <= size
        for name in PARTS:
            missed[name] += np.linalg.norm(sum(parts.values()) - parts[name] - gap) > size
            # The reference's have the rounding of its own h in them.
            allowed = size + 1e-15 * case.call.alpha**-4 * (1 + np.abs(case.problem.arrays.A).sum())
            assert np.linalg.norm(parts[name] - answer.certificate.parts[name]) <= 10 * allowed
    assert min(missed.values()) > 0


def test_rounding_is_small_where_noise_is_left_out(enclosed):
    case, answer, found = enclosed[0]
    quiet = Estimated(**{**vars(made(case, answer)), "estimate": None})
    formula = enclose(case.problem, case.x.tolist(), quiet)
    assert "rounding" not in formula.parts
    assert formula.upper == pytest.approx(found.upper, abs=1e-9)


def test_at_a_kink_nothing_is_claimed():
    toy = find("toy1").problem
    found = enclose(toy, [0], Estimated(Fraction(1, 10), [0], [0], [0], [0], "cancelled", [0.5]))
    assert not found.decided
    assert (found.lower, found.upper, found.undecided) == (0.0, float("inf"), (0,))


def test_vectors_that_do_not_fit_are_named():
    toy = find("toy1").problem
    with pytest.raises(InvalidInputError, match=r"^shift: must have length 1"):
        enclose(toy, [1], Estimated(Fraction(1, 10), [1], [0, 0], [1], [1]))


def test_an_error_that_may_be_nothing_has_a_finite_bound_at_any_scale():
    problem = Quadratic.model_validate({
        "kind": "quadratic", "f": {"xx": [[1]], "x": [1], "xy": [["1/3"]], "y": [1]},
        "g": {"xy": [[1]], "y": [1], "yy": [["1e150"]]},
        "constraints": {"A": [[1], [1]], "B": [[1], [-1]], "b": [5, 3]},
    })  # fmt: skip
    answer = hypergradient(problem, np.ones(1), alpha=1e-3)
    stages = (answer.y_star, answer.shift, answer.lam, answer.rho)
    found = enclose(problem, [1], Estimated(1e-3, *(stage.tolist() for stage in stages), "cancelled",
                                            answer.hypergradient.tolist()))  # fmt: skip
    assert found.decided
    assert 0 <= found.lower <= found.upper < 1e-15
