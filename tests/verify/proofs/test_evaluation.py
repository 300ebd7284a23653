"""The ledger's inequalities in numbers: they hold on the atlas, and false ones are seen to be false."""

from __future__ import annotations

import json

import pytest

from spec.base_orders import load_base_orders
from tests.verify.proofs.test_orders import edited
from verify.cli.main import invoke
from verify.proofs.orders import evaluation
from verify.proofs.orders.evaluation import DEFINITION, evaluations

WITHOUT_VALUES = {
    "stochastic-oracles": "random draws, by radius or distance",
    "hypergradient-accuracy": "means over all randomness",
    "inner-cost": "iteration counts and noise floors, but for the three about the curvature of L",
    "inner-loop-remark": "iteration counts",
    "goldstein-convergence": "runs of Algorithm 2",
    "sfo-complexity": "counts of whole runs",
}
"""Claims whose quantities are no functions of alpha at one point."""
ALSO_WITHOUT = {
    "dual-extraction/T1": "no weight changes at a regular point",
    "dual-extraction/T2": "no weight changes at a regular point",
    "dual-extraction": "its parts have no value",
    "bias-bound/uniformity": "a supremum over x",
    "bias-bound/hessian-lipschitz": "zero for quadratic problems",
    "bias-bound/ramp": "as written its proviso fails",
    "variance-bound": "sample means",
    "variance-bound/independence": "sample sums",
}
FEW = ("toy1", "toy2", "two-of-three", "random-2x3x4")


def broken(**data):
    return {(line.step, line.reading) for line in evaluations(**data) if not line.holds}


def test_every_inequality_holds_on_the_atlas():
    found = evaluations()
    assert [f"{line.step} {line.reading}: {line.worst} {line.why}" for line in found if not line.holds] == []
    evaluated = [line for line in found if line.instances]
    assert len(evaluated) >= 55
    assert min(line.instances for line in evaluated) == len(evaluation.ATLAS)
    curvature = {"inner-cost/strong-convexity", "inner-cost/smoothness", "inner-cost/condition-number"}
    for line in found:
        root = line.step.partition("/")[0]
        silent = root in WITHOUT_VALUES or line.step in ALSO_WITHOUT or line.step == DEFINITION
        assert line.instances or silent, line
        assert not line.instances or root not in WITHOUT_VALUES or line.step in curvature, line


@pytest.mark.parametrize(
    ("definitions", "step"),
    [
        ({"penalty_ideal": "C_f * penalty_gap"}, DEFINITION),  # toy1: C_f = 0
        ({"penalty_gap": "grad_y_f / alpha_2"}, DEFINITION),
        ({"row_gap": "C_f * grad_y_f / alpha_2"}, DEFINITION),
    ],
)
def test_a_false_definition_is_seen(definitions, step):
    base = load_base_orders()
    base = base.model_copy(update={"definitions": base.definitions | definitions})
    assert {(step, "as-written"), (step, "repaired")} <= broken(base=base, names=FEW)


@pytest.mark.parametrize(
    ("full_id", "reading", "bound_by"),
    [
        ("bias-bound/ramp", "repaired", "penalty_ideal"),
        ("bias-bound/T1", "repaired", "stop / alpha_1"),
        ("bias-bound/T2", "repaired", "dual_error"),
        ("bias-bound/T3", "as-written", "penalty_ideal"),
        ("bias-bound/L-H-y", "repaired", "C_f + alpha_1 * C_g"),
        ("bias-bound/L-H-lambda", "as-written", "norm_A"),
        ("variance-bound/pairing-alone", "repaired", "alpha_1^2 * pair_variance"),
        ("solution-error", "repaired", "alpha * moving_change / mu"),
        ("solution-error/strong-convexity", "repaired", "alpha_2 * mu_g"),
        ("solution-error/gradient-difference", "repaired", "dual_error"),
        ("inner-cost/condition-number", "repaired", "C_g / mu_g"),
    ],
)
def test_a_false_inequality_is_seen(full_id, reading, bound_by):
    claims = edited(full_id, reading, bound_by=bound_by)
    assert (full_id, reading) in broken(claims=claims, names=FEW)


def test_command(capsys, monkeypatch):
    monkeypatch.setattr(evaluation, "ATLAS", FEW)
    assert invoke(["orders", "bias-bound", "--atlas"]) == 0
    shown = capsys.readouterr().out
    assert "0 are false" in shown
    assert "bias-bound/T3, repaired: T₃ ≤ cost of the penalty: holds on" in shown
    assert invoke(["orders", "--atlas", "--json"]) == 0
    assert all(line["holds"] for line in json.loads(capsys.readouterr().out))
    assert invoke(["orders", "bias-bund", "--atlas"]) == 2


def test_a_false_inequality_is_printed_first_and_exits_with_one(capsys, monkeypatch):
    base = load_base_orders()
    wrong = base.model_copy(update={"definitions": base.definitions | {"penalty_ideal": "C_f * penalty_gap"}})
    monkeypatch.setattr(evaluation, "load_base_orders", lambda: wrong)
    assert invoke(["orders", "--atlas"]) == 1
    first = " ".join(capsys.readouterr().out.split())[:400]
    assert "false on toy1: the bound is zero and the quantity is not" in first
