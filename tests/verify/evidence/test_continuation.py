"""Going on from an undecided result gives the numbers that one long run gives."""

from __future__ import annotations

import json

import numpy as np
import pytest

import verify
from spec import InvalidInputError
from verify.checks.measuring.case import checks
from verify.checks.measuring.estimates import samples as draws
from verify.cli.main import invoke
from verify.evidence.bets.betting import MeanBound, VarianceBound
from verify.evidence.budget import Share, level_of
from verify.evidence.decisions import VarianceDecision
from verify.evidence.intervals import EmpiricalBernstein
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import BLOCK, BoundedSampler, Ledger, Sampler, Streams
from verify.report.model import Result
from verify.subjects import ReferenceSubject

CLAIM = "variance-bound/per-sample"


AS_ASKED = 16
"""At most so many samples are drawn, each time anew, to see that they are what is asked."""


class Foreign(ReferenceSubject):
    """The reference's answers of another program: no formula decides of it, what is drawn does."""

    name = "foreign"


@pytest.fixture
def few(monkeypatch):
    """So few samples at the least effort that the rate stays open."""
    checks()  # imported before, or they would keep the patched sizes
    monkeypatch.setattr(draws, "RATE_BLOCK", 256)
    monkeypatch.setattr(draws, "RATE_LOOKS", 1)


def plain(result: Result) -> str:
    return result.model_copy(update={"seconds": 0.0, "expected": None}).model_dump_json()


def one(**how):
    report = verify.run([CLAIM], readings=["repaired"], instances=["toy1"], **{"subject": Foreign(), **how})
    (result,) = report.results
    assert result.fault is None, result.fault
    return result


def test_going_on_is_the_same_as_one_long_run(few, tmp_path):
    store = tmp_path / "store.sqlite"
    first = one(store=store, resume=False)
    assert str(first.verdict) == "INCONCLUSIVE"
    assert first.continuation
    second = one(store=store, resume=True, effort=4)
    third = one(store=store, resume=True, effort=256)
    assert plain(second) == plain(one(effort=4))
    assert plain(third) == plain(one(effort=256))
    assert str(third.verdict) == "SUPPORTED"
    assert not third.continuation


def test_what_was_drawn_is_not_drawn_again(few, tmp_path):
    class Counting(Foreign):
        drawn = 0

        def hypergradient_samples(self, problem, x, call, rng, replications):
            self.drawn += replications * (replications > AS_ASKED)
            return super().hypergradient_samples(problem, x, call, rng, replications)

    subject, at_once, store = Counting(), Counting(), tmp_path / "store.sqlite"
    one(subject=subject, store=store, resume=False)
    first = subject.drawn
    one(subject=subject, store=store, resume=True, effort=64)
    one(subject=at_once, effort=64)
    assert first < subject.drawn == at_once.drawn


def test_what_is_decided_is_not_run_again(tmp_path):
    store = tmp_path / "store.sqlite"
    first = one(store=store, resume=False)
    assert str(first.verdict) == "SUPPORTED"
    again = one(store=store, resume=True, effort=4)
    assert plain(again) == plain(first)
    assert again.effort == 1


def test_the_command_says_how_to_go_on_and_does(few, tmp_path, capsys):
    narrowed = ["--instance", "toy1", "--reading", "repaired", "--jobs", "1", "--out", str(tmp_path)]
    # Of the reference; its formulas decide some of the steps.
    arguments = ["verify", "variance-bound/independence", "variance-bound/per-sample", *narrowed]
    invoke(arguments)
    assert "--resume --effort 4" in capsys.readouterr().out
    invoke([*arguments, "--resume", "--effort", "256"])
    assert "undecided" not in capsys.readouterr().out
    results = json.loads((tmp_path / "report.json").read_text())["results"]
    further = [one for one in results if one["effort"] > 1]
    assert further
    for result in further:
        assert result["verdict"] == "SUPPORTED"
        assert result["effort"] == 256
        assert "--effort 256" in result["reproduce"]
    # Asked for again with the least effort, there is what that alone comes out with.
    invoke(arguments)
    assert f"{len(results)} of {len(results)} results were kept" in capsys.readouterr().out


@pytest.mark.parametrize("effort", ["0", "2", "3", "16384"])
def test_an_effort_is_a_power_of_four(effort, tmp_path, capsys):
    assert invoke(["verify", CLAIM, "--effort", effort, "--out", str(tmp_path)]) == 2
    assert "effort: must be a power of 4" in capsys.readouterr().err


def test_all_efforts_together_spend_one_share():
    spent = sum(Share(1e-3, level=level).single.error for level in range(2000))
    assert 0.99e-3 < spent <= 1e-3
    assert [level_of(4**k) for k in range(4)] == [0, 1, 2, 3]
    assert Share(1e-3, level=2).times(10) == 160
    with pytest.raises(InvalidInputError):
        level_of(5)


def normal(rng, count):
    return rng.standard_normal((count, 2))


def test_a_decision_beyond_its_planned_looks_goes_on_where_it_stopped():
    def sampler():
        return Sampler(normal, Streams((1, 2)), Moments(np.zeros(2)), block=64)

    def decide(kind, level, given=None):
        begun = sampler()
        if given is not None:
            begun.restore(json.loads(json.dumps(given)))
        share = Share(1e-6, level=level)
        made = {
            "planned": VarianceDecision("v", share, level=2.0, width=2, wanted=0.02, limit=4096, block=64),
            "variance": VarianceBound("v", share, level=2.0, width=2, wanted=0.02, limit=1024, block=64),
            "mean": MeanBound("m", share, width=2, second_moment=2.0, wanted=0.02, limit=4096, block=64),
        }[kind].run(begun)
        return made, begun.state()

    for kind in ("planned", "variance", "mean"):
        short, state = decide(kind, 0)
        assert not short.powered
        assert decide(kind, 2, state) == decide(kind, 2)
        assert decide(kind, 2)[0].samples > 4 * short.samples


def test_a_confidence_sequence_goes_on_where_it_stopped():
    def begun():
        return BoundedSampler(lambda rng, k: rng.random(k), Streams((3, 4)), EmpiricalBernstein(1e-6, BLOCK))

    long, short, later = begun(), begun(), begun()
    long.reach(3 * BLOCK)
    short.reach(BLOCK)
    later.restore(json.loads(json.dumps(short.state())))
    later.reach(3 * BLOCK)
    assert later.state() == long.state()
    low, high = later.sequence.interval()
    assert low < 0.5 < high


def test_a_ledger_sees_every_use_of_a_generator():
    for use in (lambda rng: rng.random(), lambda rng: rng.spawn(1), lambda rng: rng.integers(2)):
        rng, ledger = np.random.default_rng(0), Ledger()
        ledger.watch(rng)
        assert not ledger.drew
        use(rng)
        assert ledger.drew
