"""One cost model: what is counted of a call here is what the experiment on scaling counts of it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from f2csa_ref.baselines.fast_implicit import FastImplicit
from f2csa_ref.baselines.implicit_gradient import implicit_gradient
from f2csa_ref.objectives import QuadraticObjectives
from verify.experiments import work
from verify.experiments.benchmark_problems import Course
from verify.experiments.compared_methods import DSBLO_2, F2CSA, PIGD, SSIGD, ZEROTH, Contender
from verify.experiments.costs import place
from verify.experiments.work import WorkBlocks, factoring

ALL_DENSE = WorkBlocks(m=6)
FAMILY = WorkBlocks(m=6, g_xx=0, g_xy=0)


def test_each_kind_of_call_is_counted() -> None:
    # f_xx, f_xy, g_xy for x; three steps in f_yy + g_yy, one more in g_yy; f_xyᵀx once.
    assert ALL_DENSE.products({"grad_x_f": 1, "grad_x_g": 2, "grad_y_f": 3, "grad_y_g": 4}) == 2 + 1 + 3 + 1 + 1
    assert ALL_DENSE.products({"cross_products": 1, "f_values": 1}) == 4
    # A solution is m/6 + 2 products and one for what x adds, however many programs its parts are.
    assert ALL_DENSE.products({"lower_level_solves": 1, "quadratic_programs": 7}) == 4
    assert FAMILY.products({"quadratic_programs": 1}) == 3


def test_products_with_the_identity_are_free() -> None:
    at = Course("paper", 0.1, 6, 10.0, 0)
    assert isinstance(at.objectives, QuadraticObjectives)
    assert WorkBlocks.of(at.objectives) == FAMILY
    assert FAMILY.products({"grad_x_g": 2}) == FAMILY.products({"cross_products": 3}) == 0
    coupled = Course("coupled", 0.1, 6, 10.0, 0).objectives
    assert isinstance(coupled, QuadraticObjectives)
    assert WorkBlocks.of(coupled).A == 2.0


def test_multipliers_of_held_coordinates_are_asked_for_only_where_bounds_move() -> None:
    assert FAMILY.products({"hessian_products": 1}) == 0
    assert WorkBlocks(m=6, A=2.0).products({"hessian_products": 1}) == 1


def test_a_factor_of_the_lower_level_is_used_again() -> None:
    both = {"lower_level_solves": 1, "cholesky(6)": 1}
    assert FAMILY.products(both) == pytest.approx(FAMILY.products({"lower_level_solves": 1}) + 1)
    # Without a lower level solved here the factor is made: k³/3 operations, in units of 2m².
    assert FAMILY.products({"cholesky(6)": 1}) == pytest.approx(1 + 6**3 / 3 / (2 * 36))
    assert factoring({"cholesky(3)": 2}, at_hand=1) == pytest.approx(3**3 / 3 + 2 * 2 * 9)


def test_an_implicit_gradient_costs_what_it_costs_in_the_experiment_on_scaling() -> None:
    here = place(40, 10.0, 0)
    _, counts = FastImplicit(here.q, "best")(here.x, here.lower)
    page = implicit_gradient(here.q, here.x, lower=here.lower)
    assert WorkBlocks.of(here.q).products(page.counts) * 2 * 40**2 == pytest.approx(work.operations(counts, 40))


def test_every_answer_pays_for_its_lower_level() -> None:
    at = Course("paper", 0.1, 12, 10.0, 0)
    assert isinstance(at.objectives, QuadraticObjectives)
    blocks, spent = WorkBlocks.of(at.objectives), {}
    for name in (F2CSA, SSIGD, DSBLO_2, PIGD, ZEROTH):
        counts: Counter[str] = Counter()
        method, rng = Contender(name, 0.1).method(at, counts), np.random.default_rng(0)
        method.step(method.start(at.x_0, rng), rng)
        spent[name] = blocks.products(counts)
    # m/6 + 2, both gradients of f, and one solution with the factor at hand.
    assert spent[SSIGD] == pytest.approx(12 / 6 + 2 + 4 + 1, abs=0.5)
    assert spent[DSBLO_2] == pytest.approx(spent[SSIGD], abs=0.5)
    assert spent[F2CSA] > spent[SSIGD]
    assert spent[ZEROTH] >= 2 * (12 / 6 + 2)
