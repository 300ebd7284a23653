"""What looks like conformance and is none: one run that excuses all, refusals, processes that differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import verify
from verify.conformance.comparison.stage_comparison import look
from verify.subjects import MissingCapabilityError, ReferenceSubject
from verify.subjects.protocol import StageCalls


class OneFarOut(ReferenceSubject):
    """Computes no run; one of them is so far out that means and spreads are known to nothing."""

    name = "one-far-out"
    size = 1e3

    def lower_level_runs(self, problem, x, call, rng, replications):
        y, lam = np.zeros((replications, problem.m)), np.zeros((replications, problem.p))
        y[0] = lam[0] = self.size
        return y, lam


class FarBeyond(OneFarOut):
    size = 1e78


class Chooses(ReferenceSubject):
    """Answers one kind of call and refuses all others."""

    name = "chooses"

    def hypergradient(self, problem, x, call, rng):
        if call.y_penalty is None or call.alpha != 0.1:
            raise NotImplementedError("not this one")
        return super().hypergradient(problem, x, call, rng)


@pytest.mark.parametrize("subject", [OneFarOut(), FarBeyond()])
def test_one_run_far_out_excuses_no_law(subject):
    (runs,) = look(StageCalls(subject), only=["runs"]).findings
    assert runs.status == "diverges"


def test_what_refuses_most_is_told_first():
    (estimates,) = look(StageCalls(Chooses()), only=["hypergradient"]).findings
    assert estimates.refuses
    letter = str(verify.conform(Chooses(), claims=["dual-extraction/ramp-slope"]))
    assert "no deviation in what it answers: hypergradient refuses" in letter.splitlines()[0]


class RefusesAll(ReferenceSubject):
    """Refuses every estimate."""

    name = "refuses-all"

    def hypergradient(self, *_):
        raise MissingCapabilityError("not today")

    hypergradient_samples = hypergradient


def test_claims_asked_for_by_name_and_refused_are_no_success():
    found = verify.conform(RefusesAll(), claims=["bias-bound/T3"])
    assert found.exit_code == 3
    assert any("none of the claims asked for could be asked" in fault for fault in found.faults)


def test_a_deviation_is_a_finding_where_no_claim_asked_for_could_be_asked_too():
    class Refuses(RefusesAll):
        def lower_level(self, problem, x):
            y_star, lam = super().lower_level(problem, x)
            return y_star, 2 * lam

    found = verify.conform(Refuses(), claims=["bias-bound/T3"])
    assert found.first == "lower_level"
    assert found.exit_code == 1
    assert any("None of the claims asked for could be asked" in note for note in found.notes)


def test_a_process_that_offers_less_than_another_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shrinks.py").write_text(
        "import pathlib\n"
        "from verify.subjects import ReferenceSubject\n"
        "seen = pathlib.Path(__file__).with_suffix('.seen')\n"
        "class Small:\n"
        "    name = 'small'\n"
        "    def activation(self, *given):\n"
        "        return ReferenceSubject().activation(*given)\n"
        "Subject = Small if seen.exists() else ReferenceSubject\n"
        "seen.touch()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = verify.conform("shrinks:Subject", claims=["bias-bound/T3"], jobs=2)
    assert found.exit_code == 3
    assert any("in one process and" in fault or "other stages" in fault for fault in found.faults)


class Unwritten:
    """Has every stage, and refuses every call."""

    name = "unwritten"

    def lower_level(self, problem, x):
        raise NotImplementedError

    def penalty_minimiser(self, problem, x, call, tol):
        raise NotImplementedError

    def hypergradient(self, problem, x, call, rng):
        raise NotImplementedError


class OneWritten(Unwritten):
    name = "one-written"

    def activation(self, h, lam, h_width, lam_width):
        return ReferenceSubject().activation(h, lam, h_width, lam_width)


def test_who_refuses_every_call_conforms_to_nothing():
    found = verify.conform(Unwritten(), estimates=2_000)
    assert found.nothing_compared
    assert found.exit_code == 3
    assert str(found).startswith("unwritten: nothing it was asked applies to it; no comparison was made")


def test_stages_that_refuse_every_call_are_told_in_the_first_line():
    found = verify.conform(OneWritten(), claims=["dual-extraction/activation-locality"], estimates=2_000)
    first = str(found).splitlines()[0]
    assert "no deviation in what it answers: lower_level refuses" in first
    assert "penalty_minimiser refuses" in first
    assert "hypergradient refuses" in first
    assert "activation" not in first
