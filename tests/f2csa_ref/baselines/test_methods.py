"""Every method by name: derived parameters, one run loop, resumed bit for bit."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from f2csa_ref.baselines import Wishes, parameters_of
from f2csa_ref.baselines.methods import MethodName
from f2csa_ref.solver.run_loop import CHECKPOINT
from f2csa_ref.solver.schedules import Constants, value_at
from f2csa_ref.solver.trace import read_header
from f2csa_ref.whole_solve.solve import DivergenceError, Setting, solve
from spec import InvalidInputError, Noise, OuterParameters
from spec.atlas import find

METHODS = get_args(MethodName)
RIVALS = METHODS[1:]
"""Of the first, tests of its own say the same."""
CONSTANTS = Constants(lipschitz_F=7.0, gap=1.0, bias=0.1, variance=0.1)
OUTER = OuterParameters(goldstein_radius=0.2, epsilon=0.5, D=0.02, eta=0.02, M=10, K=5)


def noisy():
    return find("experiment-1d").with_noise(Noise(model="matrix", sigma_f="1/10", sigma_g="1/10")).problem


def setting(name, **changes):
    wishes = Wishes(step_size=0.02) if name in ("ssigd", "dsblo", "dsblo-2", "pigd") else Wishes()
    outer = changes.get("outer", OUTER)
    method = parameters_of(name, CONSTANTS, outer, 1, wishes)
    fields = {"x_0": (2.5,), "alpha": 0.1, "outer": outer, "constants": CONSTANTS, "seed": 5, "method": method}
    return Setting(**(fields | changes))


def plain(report):
    return (report.trace.x_out.tolist(), report.trace.block, report.trace.x_bar.tolist(), report.counts, report.notes)


@pytest.mark.parametrize("name", METHODS)
def test_each_makes_its_calls_and_lowers_f(name):
    problem = find("experiment-1d").problem
    made = solve(problem, setting(name))
    assert made.trace.calls == 50
    assert value_at(problem, made.trace.x_last) < value_at(problem, np.array([2.5])) - 1e-3
    asked = 2 if name == "zeroth-order" else 1
    assert made.counts["quadratic_programs"] == 50 * asked


@pytest.mark.parametrize("name", RIVALS)
def test_a_run_killed_anywhere_and_resumed_ends_as_if_never_killed(tmp_path, name):
    short = setting(name, outer=OUTER.model_copy(update={"K": 3, "M": 7, "D": 0.2 / 7}))
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    expected = solve(noisy(), short, trace=whole)
    for cut in (1, 700):
        torn.write_bytes(whole.read_bytes()[:-cut])
        resumed = solve(noisy(), short, trace=torn, resume=True)
        assert 0 < resumed.resumed_at < 21
        assert plain(resumed) == plain(expected)
        assert torn.read_bytes() == whole.read_bytes()
    assert Setting.from_header(read_header(whole)) == short


def test_long_blocks_are_resumed_from_inside(tmp_path):
    name, M = "dsblo", CHECKPOINT + 20
    long = OUTER.model_copy(update={"M": M, "K": 1, "D": 0.2 / M})
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    expected = solve(find("toy1").problem, setting(name, outer=long), trace=whole)
    torn.write_text("".join(whole.read_text().splitlines(keepends=True)[:2]))
    resumed = solve(find("toy1").problem, setting(name, outer=long), trace=torn, resume=True)
    assert resumed.resumed_at == CHECKPOINT
    assert plain(resumed) == plain(expected)


def test_a_trace_of_another_method_is_refused(tmp_path):
    trace = tmp_path / "trace.jsonl"
    solve(noisy(), setting("ssigd"), trace=trace)
    with pytest.raises(InvalidInputError, match="same run; it differs in method"):
        solve(noisy(), setting("dsblo"), trace=trace, resume=True)


@pytest.mark.parametrize("name", METHODS)
def test_projection_keeps_x_in_its_box(name):
    # F(x) = y* = x falls without end; X = [1/2, inf) stops it.
    box = ((0.5,), (np.inf,))
    made = solve(find("toy1").problem, setting(name, x_0=(0.55,), project_onto=box))
    assert made.trace.x_bar.min() >= 0.5 - 1e-12
    assert made.trace.x_last[0] >= 0.5


def test_notes_say_what_was_used():
    short = OUTER.model_copy(update={"K": 1})
    made = {name: solve(noisy(), setting(name, outer=short)) for name in METHODS}
    notes = {name: " ".join(report.notes) for name, report in made.items()}
    factorised = made["dsblo"].counts.get("cholesky(1)", 0)
    assert f"second derivatives: yes, factorisations: {factorised} the" in notes["dsblo"]
    assert "second derivatives: no, factorisations: 0" in notes["parent"]
    assert "solved 10 times, by 10 quadratic programs" in notes["ssigd"]
    assert "solved 20 times, by 20 quadratic programs" in notes["zeroth-order"]
    ignored = {name for name, said in notes.items() if "took exact gradients" in said}
    assert ignored == {"dsblo", "parent", "pigd", "zeroth-order"}


def test_answers_that_outgrow_the_constants_end_the_run():
    tiny = Constants(lipschitz_F=1e-4, gap=1.0, bias=0.0, variance=0.0)
    with pytest.raises(DivergenceError, match="or step size"):
        solve(noisy(), setting("ssigd", constants=tiny))


@pytest.mark.parametrize(
    ("name", "wishes", "message"),
    [
        ("ssigd", Wishes(momentum=0.5), "--momentum: is for dsblo, dsblo-2 only, not ssigd"),
        ("f2csa", Wishes(step_size=0.5), "--step-size: is for pigd, ssigd, dsblo, dsblo-2 only, not f2csa"),
        ("ssigd", Wishes(step_size=-1), "ssigd.step_size: must be greater than 0"),
        ("dsblo", Wishes(momentum=1.0), "dsblo.beta: must be less than 1"),
        ("dsblo-2", Wishes(step_size=0), "--step-size: must be > 0"),
        ("zeroth-order", Wishes(smoothing=1.0), "smoothing: must be below the radius"),
        ("dsblo", Wishes(epsilon=1e6), "epsilon: must be below 32"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(name, wishes, message):
    with pytest.raises(InvalidInputError, match=message):
        parameters_of(name, CONSTANTS, OUTER, 1, wishes)


def test_parameters_are_derived_then_as_wished():
    made = parameters_of("dsblo-2", CONSTANTS, OUTER, 1, Wishes(step_size=0.25, linear_algebra="cg"))
    assert (made.option, made.gamma_2, made.linear_algebra) == ("II", 4.0, "cg")
    assert made.gamma_1 == pytest.approx(10 / 0.2)
    theorem = parameters_of("dsblo", CONSTANTS, OUTER, 1, Wishes(epsilon=0.5))
    assert theorem.beta == pytest.approx(1 - 0.25 / (960 * (0.1 + 98)))
    assert parameters_of("zeroth-order", CONSTANTS, OUTER, 1).smoothing == pytest.approx(0.1)
