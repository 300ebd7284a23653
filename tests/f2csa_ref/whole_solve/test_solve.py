from __future__ import annotations

import hashlib
import json
import re

import numpy as np
import pytest

from f2csa_ref.solver.run_loop import CHECKPOINT
from f2csa_ref.solver.schedules import Constants
from f2csa_ref.solver.trace import read_header
from f2csa_ref.whole_solve.solve import DivergenceError, Setting, digest, solve
from spec import InvalidInputError, Noise, OuterParameters, parse_problem
from spec.atlas import find

CONSTANTS = Constants(lipschitz_F=7.0, gap=1.0, bias=0.1, variance=0.1)
SCHEDULE = OuterParameters(goldstein_radius=0.2, epsilon=0.1, D=0.02, eta=0.02, M=10, K=8)


def noisy():
    return find("experiment-1d").with_noise(Noise(model="matrix", sigma_f="1/10", sigma_g="1/10")).problem


def setting(**changes):
    return Setting(**({"x_0": (2.5,), "alpha": 0.1, "outer": SCHEDULE, "constants": CONSTANTS, "seed": 5} | changes))


def plain(report):
    return (report.trace.x_out.tolist(), report.trace.block, report.trace.x_bar.tolist(), report.counts)


def test_it_runs_the_schedule_and_counts_every_call():
    told = []
    made = solve(noisy(), setting(), on_block=told.append)
    assert [block.k for block in told] == list(range(8))
    assert made.trace.calls == 80
    assert made.counts["grad_x_f"] == 80
    assert made.blocks[-1].F < made.blocks[0].F


@pytest.mark.parametrize("cut", [0, 1, 37, 200, 999, 2500, 4321])
def test_a_run_killed_anywhere_and_resumed_ends_as_if_never_killed(tmp_path, cut):
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    expected = solve(noisy(), setting(), trace=whole)
    torn.write_bytes(whole.read_bytes()[: len(whole.read_bytes()) - cut])
    resumed = solve(noisy(), setting(), trace=torn, resume=True)
    assert plain(resumed) == plain(expected)
    assert torn.read_bytes() == whole.read_bytes()


def test_long_blocks_are_resumed_from_inside(tmp_path):
    long = SCHEDULE.model_copy(update={"M": CHECKPOINT + 40, "K": 1, "D": 0.2 / (CHECKPOINT + 40)})
    whole, torn = tmp_path / "whole.jsonl", tmp_path / "torn.jsonl"
    expected = solve(find("toy1").problem, setting(outer=long), trace=whole)
    lines = whole.read_text().splitlines(keepends=True)
    torn.write_text("".join(lines[:2]))
    resumed = solve(find("toy1").problem, setting(outer=long), trace=torn, resume=True)
    assert resumed.resumed_at == CHECKPOINT
    assert plain(resumed) == plain(expected)


def test_an_interruption_leaves_a_trace_to_go_on_from(tmp_path):
    def stop(block):
        if block.k == 4:
            raise KeyboardInterrupt

    trace = tmp_path / "trace.jsonl"
    with pytest.raises(KeyboardInterrupt):
        solve(noisy(), setting(), trace=trace, on_block=stop)
    resumed = solve(noisy(), setting(), trace=trace, resume=True)
    assert resumed.resumed_at == 50
    assert plain(resumed) == plain(solve(noisy(), setting()))


def test_a_trace_of_another_run_is_refused(tmp_path):
    trace = tmp_path / "trace.jsonl"
    solve(noisy(), setting(), trace=trace)
    with pytest.raises(InvalidInputError, match="same run; it differs in seed"):
        solve(noisy(), setting(seed=6), trace=trace, resume=True)
    trace.write_text("not a trace\n")
    with pytest.raises(InvalidInputError, match=r"must be a trace of f2csa-trace/1"):
        solve(noisy(), setting(), trace=trace, resume=True)


def test_a_trace_that_was_changed_is_refused_as_it_is(tmp_path):
    trace = tmp_path / "trace.jsonl"
    solve(noisy(), setting(), trace=trace)
    lines = trace.read_text().splitlines(keepends=True)
    unsealed = "".join(re.sub(r', "sha256": "\w+"', "", line) for line in lines)
    for text, said in (
        ("".join([*lines[:3], *lines[4:]]), "up to line 4 something was changed"),
        ("".join([lines[0].replace('"K": 8', '"K": 9'), *lines[1:]]), "up to line 1 something was changed"),
        (unsealed, "as an earlier version's: begin the run anew"),
    ):
        trace.write_text(text)
        with pytest.raises(InvalidInputError, match=said):
            solve(noisy(), setting(), trace=trace, resume=True)
        assert trace.read_text() == text


def lengthened(entry):
    return entry | {"x_bar": [*entry["x_bar"], 0.0]} if entry["kind"] == "block" else entry


def spoiled(entry):
    return entry | {"rng": {"bit_generator": "PCG64"}} if entry["kind"] == "state" else entry


def infinite(entry):
    return entry | {"grad_mean": [float("nan")]} if entry["kind"] == "block" else entry


def renumbered(entry):
    return entry | {"k": entry["k"] + 1} if entry["kind"] == "block" else entry


@pytest.mark.parametrize("change", [lengthened, spoiled, infinite, renumbered])
def test_what_does_not_fit_together_is_refused_whoever_sealed_it(tmp_path, change):
    whole, trace = tmp_path / "whole.jsonl", tmp_path / "trace.jsonl"
    solve(noisy(), setting(), trace=whole)
    header, *lines = whole.read_text().splitlines(keepends=True)
    text = header
    for line in lines:
        entry = {name: value for name, value in change(json.loads(line)).items() if name != "sha256"}
        text += json.dumps(entry)[:-1]
        if entry["kind"] == "state":
            text += ", "
            text += f'"sha256": "{hashlib.sha256(text.encode()).hexdigest()[:16]}"'
        text += "}\n"
    trace.write_text(text)
    with pytest.raises(InvalidInputError, match="must hold blocks and states that fit together"):
        solve(noisy(), setting(), trace=trace, resume=True)


def test_the_header_says_everything_and_reads_back(tmp_path):
    trace = tmp_path / "trace.jsonl"
    made = setting(project_onto=((-np.inf,), (3.0,)), output="smallest")
    solve(noisy(), made, trace=trace)
    assert Setting.from_header(read_header(trace)) == made
    kinds = [json.loads(line)["kind"] for line in trace.read_text().splitlines()]
    assert kinds == ["header", *["block", "state"] * 8]


def test_projection_keeps_x_in_its_box():
    # F(x) = y* = x falls without end; X = [1/2, inf) stops it.
    toy = find("toy1").problem
    made = solve(toy, setting(x_0=(1.0,), project_onto=((0.5,), (np.inf,))))
    assert made.trace.x_bar.min() >= 0.5 - 1e-12
    assert solve(toy, setting(x_0=(1.0,))).trace.x_bar.min() < 0.5


def test_answers_that_outgrow_the_constants_end_the_run():
    tiny = Constants(lipschitz_F=1e-3, gap=1.0, bias=0.0, variance=0.0)
    with pytest.raises(DivergenceError, match="give a larger L_F"):
        solve(noisy(), setting(constants=tiny))


def test_constants_that_prove_too_small_are_noted():
    small = Constants(lipschitz_F=0.5, gap=1e-3, bias=0.0, variance=0.0, estimated=("gap",))
    notes = " ".join(solve(noisy(), setting(constants=small)).notes)
    assert "estimated, not given: gap" in notes
    assert "give a larger L_F" in notes
    assert "give a larger gap" in notes


def test_digests_tell_problems_apart():
    a, b = find("toy1").problem, find("toy2").problem
    assert digest(a) != digest(b)
    assert digest(a) == digest(parse_problem(a.to_dict()))
