"""A run on the fast oracle: the page's answers, its memory in the trace, and what it refuses."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.baselines.methods import F2csaParameters
from f2csa_ref.fast.in_runs import FastComputing, RememberingMomentum, counted, fast_oracle
from f2csa_ref.objectives import objectives_of
from f2csa_ref.solver.schedules import Constants, Pages, constants_by
from f2csa_ref.solver.trace import read_header
from f2csa_ref.whole_solve.solve import Setting, solve
from spec import InvalidInputError, OracleParameters, OuterParameters, parse_problem
from spec.atlas import find

CONSTANTS = Constants(lipschitz_F=50.0, gap=10.0, bias=0.1, variance=0.1)
SCHEDULE = OuterParameters(goldstein_radius=0.4, epsilon=0.1, D=0.1, eta=0.01, M=4, K=6)
NOISE = {"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"}
FAMILIES = {"box": {"family": "paper-experiment", "n": 8}, "rows": {"family": "coupled-rows", "n": 8, "p": 3},
            "many rows": {"family": "coupled-rows", "n": 6, "p": 7}}  # fmt: skip
LOWER = ("exact", "first-order")


def problem_of(family):
    return parse_problem({"kind": "generated", "seed": 2, "noise": NOISE} | FAMILIES[family])


def setting(n, lower="exact", *, fast=True, **changes):
    return Setting(x_0=(0.1,) * n, alpha=0.02, outer=SCHEDULE, constants=CONSTANTS, seed=5, **changes,
                   oracle=OracleParameters(lower_level=lower), method=F2csaParameters(fast=fast))  # fmt: skip


@pytest.mark.parametrize("lower", LOWER)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_takes_the_pages_way(family, lower):
    problem = problem_of(family)
    fast, page = solve(problem, setting(problem.n, lower)), solve(problem, setting(problem.n, fast=False))
    moved = np.abs(page.trace.x_bar[-1] - page.trace.x_bar[0]).max()
    # Both stop short of the minimisers by what alpha allows.
    assert np.abs(fast.trace.x_bar - page.trace.x_bar).max() <= 0.05 * moved
    first_order = "fully first-order: yes"
    assert (first_order in fast.notes) == (lower == "first-order")
    assert not any("first-order" in note for note in page.notes)


@pytest.mark.parametrize("lower", LOWER)
@pytest.mark.parametrize("family", FAMILIES)
def test_killed_anywhere_it_goes_on_bit_for_bit(tmp_path, family, lower):
    problem = problem_of(family)
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    solve(problem, setting(problem.n, lower), trace=whole)
    text = whole.read_bytes()
    for cut in (1, len(text) // 3, len(text) // 2):
        torn.write_bytes(text[: len(text) - cut])
        solve(problem, setting(problem.n, lower), trace=torn, resume=True)
        assert torn.read_bytes() == text
    assert Setting.from_header(read_header(whole)) == setting(problem.n, lower)


@pytest.mark.parametrize("memory", [None, {}, {"shift": [0.0]}, {"shift": "x", "weights": None, "lower": {}}])
def test_without_the_oracles_memory_it_does_not_go_on(memory):
    q, call = objectives_of(problem_of("box")), OracleCall(0.02)
    oracle = fast_oracle(q, call)
    method = RememberingMomentum(counted(oracle, Counter()), SCHEDULE, oracle=oracle)
    data = method.start(np.zeros(8), np.random.default_rng(0)).to_dict() | {"oracle": memory}
    with pytest.raises(InvalidInputError, match="must hold the oracle's memory"):
        method.restored(data, [], [])


def test_constants_are_estimated_as_by_the_pages():
    q, call = objectives_of(problem_of("box")), OracleCall(0.02)
    fast, page = (constants_by(how, np.zeros(8), call, rng=np.random.default_rng(0))
                  for how in (FastComputing(q, call), Pages(q)))  # fmt: skip
    assert fast.lipschitz_F == pytest.approx(page.lipschitz_F, rel=0.02)
    assert fast.gap == pytest.approx(page.gap, rel=0.02)
    assert fast.bias == pytest.approx(page.bias, rel=0.2)
    assert fast.variance == pytest.approx(page.variance, rel=0.2)


def test_what_is_not_quadratic_is_refused():
    smooth = find("holder-1-2").problem
    with pytest.raises(InvalidInputError, match="must be quadratic for the fast oracle"):
        solve(smooth, setting(1))
