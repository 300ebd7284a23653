"""Every term of Algorithm 1 is seen by probes and by the instances of a conform run; a hole shows."""

from __future__ import annotations

import numpy as np
import pytest

from spec.atlas import atlas
from verify.checks.measuring.case import PROFILES, checks
from verify.checks.measuring.long_runs import EVERY_TERM
from verify.conformance import coverage as module
from verify.conformance.coverage import coverage, table
from verify.conformance.places.places import every_term_places, place_of
from verify.conformance.probes.line_terms import LINES, line_5, line_6
from verify.conformance.probes.probes import GRADIENT_NORM, lower_level_probe, off_truth, penalty_probe, probes


def test_every_term_is_seen_at_several_places():
    rows = coverage()
    assert {row.line for row in rows} == {*LINES}
    assert [f"line {row.line}: {row.term}" for row in rows if not row.is_covered] == []
    assert "NOT COVERED" not in table(rows)


@pytest.mark.parametrize(
    ("line", "term"),
    [("6", "−α₂Aᵀ(ρ∘b)"), ("6", "A for Aᵀ"), ("6", "g_xx x + g_x, not cancelled"), ("5", "f_xy for f_xyᵀ"), ("3", "b")],
)
def test_a_hole_is_reported(line, term):
    """On problems with b = 0, A = 0 or one variable of each kind these terms are zero."""
    poor = [probe for probe in probes() if "/toy" in probe.id and not probe.id.startswith("hypergradient/toy2")]
    (row,) = (row for row in coverage(poor) if (row.line, row.term) == (line, term))
    assert not row.by
    assert not row.is_covered
    assert "NOT COVERED" in table([row])


def test_the_command_fails_where_a_term_is_unseen(monkeypatch, capsys):
    monkeypatch.setattr(module, "probes", lambda: (lower_level_probe(place_of("toy1")),))
    assert module.main() == 1
    assert "NOT COVERED" in capsys.readouterr().out


def test_the_terms_of_line_5_add_up_to_the_right_answer():
    """What is left out is measured against the solution itself, so the equations must be the right ones."""
    for place in every_term_places():
        probe = penalty_probe(place, 0.1, tol=GRADIENT_NORM, name="off-pair", off_pair=True)
        a, call = probe.problem.arrays, probe.call
        without_f_y = probe.expected + line_5(probe)["f_y"]
        rows = call.rho[:, None] * a.B
        H = a.f_yy + a.g_yy / 0.1**2 + a.B.T @ rows / 0.1**4
        np.testing.assert_allclose(H @ (without_f_y - probe.expected), a.f_y, rtol=1e-6)


def test_the_terms_of_line_6_are_those_of_the_exact_estimate():
    for place in every_term_places():
        probe = off_truth(place, 0.1)
        left_out = line_6(probe)
        whole = ("f_x", "f_xx x", "f_xy ỹ", "α₁g_xy ỹ", "−α₁g_xy ỹ*", "α₂Aᵀ(ρ∘Ax)", "−α₂Aᵀ(ρ∘Bỹ)", "−α₂Aᵀ(ρ∘b)")
        total = -sum(left_out[name] for name in whole)
        np.testing.assert_allclose(total, probe.expected, rtol=1e-9, atol=1e-9)


def test_the_conform_profile_meets_every_term_on_rows_that_bind_and_move():
    """For every deterministic check of the estimate that offers them, beside the instances it had."""
    moving, shifted, oblong = set(), set(), set()
    for name in EVERY_TERM:
        problem = getattr(atlas()[name].problem, "quadratic", atlas()[name].problem)
        lower, a = place_of(name).lower, problem.arrays
        binding = [i for i in lower.strictly_active if a.A[i].any()]
        moving |= {name} if binding else set()
        shifted |= {name} if any(a.b[i] for i in binding) else set()
        oblong |= {name} if problem.n != problem.m and (a.f_yy != np.diag(np.diag(a.f_yy))).any() else set()
    assert moving == shifted == {*EVERY_TERM}
    assert oblong
    profile = PROFILES["conform"]
    for claim in ("bias-bound", "bias-bound/T1", "bias-bound/conditional-mean", "solution-error", "lipschitz-solution"):
        assert {*EVERY_TERM, "toy1"} <= {*profile.instances_of(checks()[claim])}
    assert profile.instances_of(checks()["inner-cost/output-accuracy"]) == ("toy1",)
    assert PROFILES["ci"].instances_of(checks()["bias-bound"]) == checks()["bias-bound"].instances
