"""Planted memories get their sentence and the sequence that shows them; right and random subjects get none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.blame.loop_subjects import PlantedLoop
from verify.conformance.blame.algorithm_2.loop_rule import LoopRule
from verify.conformance.blame.all_stages import copies_of
from verify.conformance.blame.memory.state import explain_state, follows
from verify.conformance.blame.memory.state_rules import StateRule
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.bugs.null_subjects import null_subjects
from verify.conformance.places.places import place_of
from verify.conformance.probes.pacing import Clock, TimeIsUpError
from verify.conformance.probes.probes import lower_level_probe
from verify.subjects import Call, ReferenceSubject, load_subject
from verify.subjects.loading import end
from verify.subjects.protocol import StageCalls
from verify.subjects.wire.client import WireSubject

Key = Callable[[Any, Any, Any], Any]


class Only:
    """One stage of the reference, with a memory."""

    name = "only"

    def __init__(self) -> None:
        self.right: Any = ReferenceSubject()
        self.kept: dict[Any, Any] = {}
        self.calls = 0
        self.last: Any = None

    def remember(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]


def text(problem: Any) -> str:
    return str(problem.to_dict())


class SolveWithoutAlpha(Only):
    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: Any) -> Any:
        key = text(problem), x.tobytes(), str(call.stages)
        return self.remember(key, lambda: self.right.penalty_minimiser(problem, x, call, tol))


def estimate(key: Key) -> type:
    class Estimate(Only):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            return self.remember(key(problem, x, call), lambda: self.right.hypergradient(problem, x, call, rng))

    return Estimate


def pair_kept(key: Key) -> type:
    class Pair(Only):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            if call.lam is None:
                y_star, lam = self.remember(key(problem, x, call), lambda: self.right.lower_level(problem, x))
                call = replace(call, y_star=y_star, lam=lam)
            return self.right.hypergradient(problem, x, call, rng)

    return Pair


class LowerByRows(Only):
    def lower_level(self, problem: Any, x: Any) -> Any:
        rows = tuple(block.tobytes() for block in (problem.arrays.A, problem.arrays.B, problem.arrays.b))
        return self.remember((rows, np.asarray(x).tobytes()), lambda: self.right.lower_level(problem, x))


class LowerByPoint(Only):
    def lower_level(self, problem: Any, x: Any) -> Any:
        return self.remember(x.tobytes(), lambda: self.right.lower_level(problem, x))


class LowerOfFirstProblem(Only):
    """What a problem is made of, kept by its sizes."""

    def lower_level(self, problem: Any, x: Any) -> Any:
        return self.right.lower_level(self.remember((problem.n, problem.m, problem.p), lambda: problem), x)


class SolveOfFirstProblem(Only):
    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        kept = self.remember((problem.n, problem.m, problem.p), lambda: problem)
        return self.right.penalty_minimiser(kept, x, call, 1e-12)


class EstimateOfFirstProblem(Only):
    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        kept = self.remember((problem.n, problem.m, problem.p), lambda: problem)
        return self.right.hypergradient(kept, x, call, rng)


class LowerNear(Only):
    """The last pair, as long as x has not moved by more than a hundredth."""

    def lower_level(self, problem: Any, x: Any) -> Any:
        at, pair = self.kept.get(text(problem), (None, None))
        if at is None or np.abs(at - x).max() > 0.01:
            at, pair = self.kept[text(problem)] = x.copy(), self.right.lower_level(problem, x)
        return pair


class WeightsByRows(Only):
    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return self.remember(h.tobytes(), lambda: self.right.activation(h, lam, h_width, lam_width))


class Previous(Only):
    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        key, made = len(x), self.right.hypergradient(problem, x, call, rng)
        answer, self.kept[key] = self.kept.get(key, made), made
        return answer


class WarmStart(Only):
    """One step of a solver from where the last call ended."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        y = self.right.penalty_minimiser(problem, x, call, 1e-12)
        start = self.kept.get(len(y), y)
        self.kept[len(y)] = y + 0.01 * (start - y)
        return self.kept[len(y)]


class AddsUp(Only):
    """A solver that starts from the last way from ỹ* and solves for the whole way all the same."""

    def penalty_minimiser(self, problem: Any, x: Any, call: Call, tol: float | None) -> Any:
        way = self.right.penalty_minimiser(problem, x, call, 1e-12) - call.y_star
        self.kept[len(x), len(way)] = self.kept.get((len(x), len(way)), 0 * way) + way
        return call.y_star + self.kept[len(x), len(way)]


class Drifts(Only):
    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        self.calls += 1
        return self.right.hypergradient(problem, x, call, rng) + 1e-3 * (self.calls - 1)


class Moody(Only):
    """Off where the question before was another one."""

    def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
        key, made = (text(problem), x.tobytes(), call.alpha), self.right.hypergradient(problem, x, call, rng)
        before, self.last = self.last, key
        return made if before in (None, key) else made + 1e-2


class KeepsPlace:
    """Runs go on from where the last one ended."""

    name = "keeps-place"

    def __init__(self) -> None:
        self.x: Any = None

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        start = x0 if self.x is None or len(self.x) != len(x0) else self.x
        run: Any = ReferenceSubject().optimise(oracle, start, parameters, rng)
        self.x = np.array(run.path[-1])
        return run


class KeepsStep:
    """Runs begin with the last step of the one before."""

    name = "keeps-step"

    def __init__(self) -> None:
        self.step: Any = None

    def optimise(self, oracle: Any, x0: Any, parameters: Any, rng: Any) -> Any:
        def first(s: Any) -> Any:
            return np.zeros_like(s.x) if self.step is None or len(self.step) != len(s.x) else self.step

        run: Any = PlantedLoop(first=first).optimise(oracle, x0, parameters, rng)
        self.step = run["path"][-1] - run["path"][-2]
        return run


OF_SIZES = "the blocks f, g, A, B, b come from a memory keyed on the sizes n, m, p alone"
PLANTED: dict[str, tuple[Any, str, str]] = {
    "by-x": (estimate(lambda p, x, c: x.tobytes()), "hypergradient", "answers come from a memory keyed on x alone"),
    "by-problem": (estimate(lambda p, x, c: text(p)), "hypergradient", "a memory keyed on the problem alone"),
    "by-sizes": (estimate(lambda p, x, c: (p.n, p.m, p.p)), "hypergradient", "keyed on the sizes n, m, p alone"),
    "without-alpha": (estimate(lambda p, x, c: (text(p), x.tobytes(), str(c.stages))), "hypergradient",
                      "keyed on the problem and x and the given stages alone"),
    "without-stages": (estimate(lambda p, x, c: (text(p), x.tobytes(), c.alpha)), "hypergradient",
                       "keyed on the problem and x and α alone"),
    "solve-without-alpha": (SolveWithoutAlpha, "penalty_minimiser",
                            "keyed on the given stages, if need be with the problem and x: its key lacks α"),
    "pair-by-problem": (pair_kept(lambda p, x, c: text(p)), "hypergradient",
                        "the lower-level pair ỹ*, λ̃ comes from a memory keyed on the problem alone"),
    "lower-by-x": (LowerByPoint, "lower_level", "a memory keyed on x alone"),
    "lower-by-rows": (LowerByRows, "lower_level", "a memory keyed on x and the rows A, B, b alone"),
    "lower-of-sizes": (LowerOfFirstProblem, "lower_level", OF_SIZES),
    "solve-of-sizes": (SolveOfFirstProblem, "penalty_minimiser", OF_SIZES),
    "estimate-of-sizes": (EstimateOfFirstProblem, "hypergradient", OF_SIZES),
    "lower-near": (LowerNear, "lower_level", "the answer is kept while x is near the last x of the same problem that"),
    "weights-by-h": (WeightsByRows, "activation", "a memory keyed on h alone"),
    "previous": (Previous, "hypergradient", "the answer is that of the call before"),
    "warm-start": (WarmStart, "penalty_minimiser", "keeps 0.01 of its distance from the one before"),
    "adds-up": (AddsUp, "penalty_minimiser", "the way from ỹ* that the call before went is added to the right one"),
    "drifts": (Drifts, "hypergradient", "grows by 0.001 in every entry with every call"),
    "moody": (Moody, "hypergradient", "the answer depends on the call before it"),
}  # fmt: skip


def renewed(make: Callable[[], Any]) -> Any:
    @contextmanager
    def renew() -> Iterator[StageCalls]:
        yield StageCalls(make())

    return renew


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_memory_gets_its_sentence(name: str) -> None:
    make, stage, words = PLANTED[name]
    (blame,) = explain_state(StageCalls(make()), renewed(make))
    assert blame.stage == stage
    sentences = [explanation.sentence for explanation in blame.explanations]
    assert len(sentences) == 1, sentences
    assert words in sentences[0]
    assert "must be" in sentences[0]
    assert blame.held_out > 0


@pytest.mark.parametrize("name", ["by-x", "previous", "pair-by-problem", "weights-by-h", "lower-by-x", "lower-near"])
def test_the_sequence_that_is_shown_shows_it(name: str) -> None:
    make, _, _ = PLANTED[name]
    (blame,) = explain_state(StageCalls(make()), renewed(make))
    rule = blame.explanations[0]
    assert isinstance(rule, StateRule)
    *before, last = rule.replay
    assert len(before) == 1
    fresh, alone = StageCalls(make()), StageCalls(make())
    for probe in before:
        probe.ask(fresh)
    assert not np.array_equal(last.ask(fresh), last.ask(alone))
    assert rule.answer(last) is None


def test_a_rule_is_held_against_another_order() -> None:
    make, stage, _ = PLANTED["by-x"]
    rule = explain_state(StageCalls(make()), renewed(make))[0].explanations[0]
    assert isinstance(rule, StateRule)
    assert stage == "hypergradient"
    assert follows("hypergradient", rule, renewed(make))
    assert not follows("hypergradient", rule, renewed(PLANTED["by-problem"][0]))
    assert not follows("hypergradient", rule, renewed(ReferenceSubject))


@pytest.mark.parametrize("name", ["by-x", "previous", "lower-by-x", "weights-by-h"])
def test_a_memory_is_named_without_copies_too(name: str) -> None:
    make, stage, words = PLANTED[name]
    found = explain_state(StageCalls(make()))
    assert [blame.stage for blame in found] == [stage]
    assert words in found[0].explanations[0].sentence


def test_runs_that_go_on_are_named() -> None:
    for make, words in ((KeepsPlace, "starts where the run before it ended"), (KeepsStep, "Δ survives")):
        (blame,) = explain_state(StageCalls(make()), renewed(make))
        (rule,) = blame.explanations
        assert isinstance(rule, LoopRule)
        assert words in rule.sentence
        assert blame.effect is not None
        assert blame.effect > 0


@pytest.mark.parametrize("make", [ReferenceSubject, PlantedLoop, lambda: by_id("keeps-dual-term")])
def test_what_keeps_nothing_is_blamed_for_nothing(make: Any) -> None:
    assert explain_state(StageCalls(make()), renewed(make)) == ()
    assert explain_state(StageCalls(make())) == ()


@pytest.mark.parametrize("name", ["zero", "constant", "random", "noise", "echo", "missing", "nan", "unmoved"])
def test_what_knows_nothing_remembers_nothing(name: str) -> None:
    for renew in (None, renewed(lambda: null_subjects()[name])):
        assert [
            e for blame in explain_state(StageCalls(null_subjects()[name]), renew) for e in blame.explanations
        ] == []


def test_right_answers_with_noise_are_no_memory() -> None:
    class Noisy(Only):
        def hypergradient(self, problem: Any, x: Any, call: Call, rng: Any) -> Any:
            made = self.right.hypergradient(problem, x, call, rng)
            return made + 1e-3 * np.random.default_rng().standard_normal(len(made))

    assert explain_state(StageCalls(Noisy()), renewed(Noisy)) == ()


def test_the_catalogued_memories_are_named() -> None:
    for id_, words in (("stale-lower-level", "the answer is that of the call before"),
                       ("frozen-lower-level",
                            "keyed on the problem, if need be with the rows A, B, b: its key lacks x")):  # fmt: skip
        make = partial(by_id, id_)
        lower = [b for b in explain_state(StageCalls(make()), renewed(make)) if b.stage == "lower_level"]
        assert [words in e.sentence for b in lower for e in b.explanations] == [True]


@pytest.mark.parametrize("name", ["verify.subjects.reference:ReferenceSubject", "command"])
def test_nothing_more_is_asked_of_a_copy_once_the_time_is_up(name: str) -> None:
    clock, probe = Clock(3600.0), lower_level_probe(place_of("toy1"))
    own = WireSubject(f"{sys.executable} -m verify.subjects.wire.serve reference") if name == "command" else None
    try:
        renew = copies_of(name, own or load_subject(name), clock)
        assert renew is not None
        with renew() as copy:
            assert probe.ask(copy).size
            clock.end()
            with pytest.raises(TimeIsUpError):
                probe.ask(copy)
    finally:
        if own is not None:
            end(own)
