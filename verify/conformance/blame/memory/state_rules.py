"""Ways in which answers may depend on earlier calls, each predicting a sequence of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.memory.alone import Alone
from verify.conformance.blame.memory.state_questions import SHORTENED, Question
from verify.conformance.probes.probes import Probe

EXACT = 1e-9
"""Relative difference below which two answers are one."""
NEAR = 1e-8
"""The same where another program made the answer that must come back."""
WORDS = {
    "problem": "the problem", "x": "x", "alpha": "α", "stages": "the given stages", "sizes": "the sizes n, m, p",
    **SHORTENED, "h": "h", "lam": "λ̃", "widths": "the widths", "rows": "the rows A, B, b",
}  # fmt: skip
"""What questions differ in."""


@dataclass(frozen=True)
class AskedState:
    """One question in a sequence: what came back, and what a subject without a past answers, to within ``allowed``.

    ``got`` is empty where the call ended in an error; it counts as a call then, not as an answer.
    """

    question: Question
    got: Vector
    own: Vector
    allowed: Vector
    alone: Alone

    def is_like(self, answer: Vector | None) -> bool:
        """Whether this came back."""
        if answer is None or answer.shape != self.got.shape:
            return False
        return bool((np.abs(self.got - answer) <= self.allowed + EXACT * (np.abs(self.got) + np.abs(answer))).all())

    def is_near(self, answer: Vector | None, times: float = 1.0) -> bool:
        """Whether this came back, to as many digits as two programs that solve exactly have in common."""
        if answer is None or answer.shape != self.got.shape:
            return False
        size = 1.0 + float(np.abs(self.own).max(initial=0.0)) + float(np.abs(self.got).max(initial=0.0))
        return bool((np.abs(self.got - answer) <= times * NEAR * size).all())

    @property
    def stands_alone(self) -> bool:
        """Whether the past made no difference."""
        return self.is_like(self.own)


Predict = Callable[[Sequence[AskedState], int], Vector | None]
"""The answer at a place of a sequence, from what came before."""


@dataclass(frozen=True)
class StateRule:
    """How answers seem to depend on earlier calls; ``replay`` is the shortest sequence that shows it."""

    sentence: str
    predict: Predict
    edits: int = 1
    replay: tuple[Probe, ...] = ()
    parts: int = 0
    """Things that a memory tells questions apart by."""
    near: bool = False
    """Whether predictions are made by another program than the subject."""
    of_problem: bool = False
    """Whether it is about all that a stage is made of, so that no stage inside it does the same."""

    def answer(self, probe: Probe) -> Vector | None:  # noqa: ARG002  # as every explanation
        """None: what comes back depends on the calls before; ``fits`` holds a sequence against it."""
        return None

    def fits(self, sequence: Sequence[AskedState], start: int = 0) -> bool:
        """Whether it predicts every answer of a sequence, from a place on."""
        return all(self._gives(sequence, i) for i in range(start, len(sequence)))

    def _gives(self, sequence: Sequence[AskedState], i: int) -> bool:
        if not sequence[i].got.size:
            return True
        prediction = self.predict(sequence, i)
        return sequence[i].is_near(prediction) if self.near else sequence[i].is_like(prediction)


@dataclass(frozen=True)
class Remembers:
    """Answers that earlier calls change, in no way known here."""

    sentence: str = (
        "the same question gets another answer when it is asked again: it draws numbers of its own, or keeps something "
        "from call to call in no way known here"
    )
    edits: int = 1

    def answer(self, probe: Probe) -> Vector | None:  # noqa: ARG002  # the protocol's question
        """Nothing can be foreseen."""
        return None


def same(first: Vector, second: Vector) -> bool:
    return bool((np.abs(first - second) <= EXACT * (np.abs(first) + np.abs(second))).all())


def _key(question: Question, by: Sequence[str]) -> tuple[object, ...]:
    return tuple(map(question.part, by))


def _first_alike(sequence: Sequence[AskedState], i: int, by: Sequence[str]) -> int:
    wanted = _key(sequence[i].question, by)
    return next(j for j in range(i + 1) if _key(sequence[j].question, by) == wanted)


def _from_memory(sequence: Sequence[AskedState], i: int, by: Sequence[str]) -> Vector | None:
    return sequence[_first_alike(sequence, i, by)].own


def _with_pair_from_memory(sequence: Sequence[AskedState], i: int, by: Sequence[str]) -> Vector | None:
    j = _first_alike(sequence, i, by)
    return sequence[i].own if j == i else _on_pair_of(sequence[i], sequence[j])


def _with_problem_from_memory(sequence: Sequence[AskedState], i: int, by: Sequence[str]) -> Vector | None:
    one, first = sequence[i], sequence[_first_alike(sequence, i, by)]
    same_problem = one.question.part("problem") == first.question.part("problem")
    return one.own if same_problem else one.alone.with_problem_of(one.question, first.question)


def _on_pair_of(one: AskedState, other: AskedState | None) -> Vector | None:
    answer = None if other is None else one.alone.with_pair_of(one.question, other.question)
    return one.own if answer is None else answer


def _kept_near(sequence: Sequence[AskedState], i: int, by: Sequence[str], reach: float) -> AskedState:
    """Whose pair is used where one is kept until x, in the largest entry, is further than so from where it was made."""
    solved: dict[tuple[object, ...], AskedState] = {}
    for one in sequence[: i + 1]:
        key = _key(one.question, by)
        if key not in solved or not _way(solved[key], one) <= reach:
            solved[key] = one
    return solved[_key(sequence[i].question, by)]


def _way(one: AskedState, other: AskedState) -> float:
    """How far two questions' x are apart, in the largest entry; infinite where they have not as many."""
    a, b = one.question.probe.x, other.question.probe.x
    return float(np.abs(a - b).max(initial=0.0)) if a.shape == b.shape else math.inf


def _answer_near(sequence: Sequence[AskedState], i: int, by: Sequence[str], reach: float) -> Vector | None:
    return _kept_near(sequence, i, by, reach).own


def _pair_near(sequence: Sequence[AskedState], i: int, by: Sequence[str], reach: float) -> Vector | None:
    solved = _kept_near(sequence, i, by, reach)
    return sequence[i].own if solved is sequence[i] else _on_pair_of(sequence[i], solved)


def _kept_while_near(walked: Sequence[AskedState]) -> Iterator[StateRule]:
    """Answers and pairs that are kept while x is near, of each problem or of whatever was asked last."""
    ways = sorted({way for one in walked for other in walked if 0 < (way := _way(one, other)) < math.inf})
    for by, words in ((("problem",), "of the same problem "), (("sizes",), "")):
        for below, above in pairwise(ways):
            near = f"the last x {words}that it was made for ({below:.3g} is near, {above:.3g} is not)"
            reach = math.sqrt(below * above)
            yield StateRule(f"the answer is kept while x is near {near}", partial(_answer_near, by=by, reach=reach),
                            parts=len(by) + 1)  # fmt: skip
            yield StateRule(f"the lower-level pair ỹ*, λ̃ is kept while x is near {near}",
                            partial(_pair_near, by=by, reach=reach), parts=len(by) + 1)  # fmt: skip


def _before(sequence: Sequence[AskedState], i: int) -> AskedState | None:
    """The call before, of the same sizes."""
    wanted = _key(sequence[i].question, ("sizes",))
    return next((one for one in reversed(sequence[:i]) if _key(one.question, ("sizes",)) == wanted), None)


def _previous(sequence: Sequence[AskedState], i: int) -> Vector | None:
    before = _before(sequence, i)
    return sequence[i].own if before is None else before.own


def _previous_pair(sequence: Sequence[AskedState], i: int) -> Vector | None:
    return _on_pair_of(sequence[i], _before(sequence, i))


def _added_up(sequence: Sequence[AskedState], i: int) -> Vector | None:
    """The right minimiser with the way from ỹ* that the call before went."""
    before, own = _before_of_m(sequence, i), sequence[i].own
    start = None if before is None else before.question.probe.call.y_star
    return own if before is None or start is None or not before.got.size else own + (before.got - start)


def _before_of_m(sequence: Sequence[AskedState], i: int) -> AskedState | None:
    """The call before with as many lower variables."""
    return next((one for one in reversed(sequence[:i]) if one.own.shape == sequence[i].own.shape), None)


def _pulled(sequence: Sequence[AskedState], i: int, share: float, answered: bool) -> Vector | None:
    before = _before(sequence, i)
    own = sequence[i].own
    if before is None:
        return own
    return own + share * ((before.got if answered else before.own) - own)


def _counted(sequence: Sequence[AskedState], i: int, step: float, grows: bool) -> Vector | None:
    return sequence[i].own * (1 + step * i) if grows else sequence[i].own + step * i


def after_the_same(sequence: Sequence[AskedState], i: int) -> Vector | None:
    """What came back the first time that this question followed the same one."""
    for j in range(1, i):
        if sequence[j].question is sequence[i].question and sequence[j - 1].question is sequence[i - 1].question:
            return sequence[j].got
    return sequence[i].got


def rules_of(walked: Sequence[AskedState]) -> Iterator[StateRule]:
    """Everything that is known to survive; whether it fits is for the caller to see."""
    names = tuple(walked[0].question.attributes)
    seen: set[tuple[int, ...]] = set()
    for count in range(len(names) + 1):
        for by in _keys(names, count):
            # Keys that mix up the same questions are one, by the name with the fewest parts.
            groups = _mixed_up(walked, by)
            if groups in seen:
                continue
            seen.add(groups)
            words = _memory(walked, names, by, groups) if by else "the first call, whatever is asked"
            yield StateRule(f"answers come from {words}", partial(_from_memory, by=by), parts=count)
            yield StateRule(f"the lower-level pair ỹ*, λ̃ comes from {words}", partial(_with_pair_from_memory, by=by),
                            parts=count)  # fmt: skip
            # A pair is made of the problem and x alone: where x is told apart, its memory is one of answers.
            of_pairs = walked[0].question.probe.stage == "lower_level" and not {"x", *SHORTENED}.isdisjoint(by)
            if "problem" not in by and not of_pairs:
                predict = partial(_with_problem_from_memory, by=by)
                yield StateRule(f"the blocks f, g, A, B, b come from {words}", predict, parts=count, of_problem=True)
    yield from _kept_while_near(walked)
    if walked[0].question.probe.stage == "penalty_minimiser":
        yield StateRule("the way from ỹ* that the call before went is added to the right one: a start that is kept and "
                        "not taken off what is solved", _added_up)  # fmt: skip
    yield StateRule("the answer is that of the call before", _previous)
    yield StateRule("the lower-level pair ỹ*, λ̃ is that of the call before", _previous_pair)
    for answered in (False, True):
        share = _share(walked, answered)
        if share is not None:
            yield StateRule(
                f"the answer keeps {share:.3g} of its distance from the one before: the solver starts there and stops "
                "early", partial(_pulled, share=share, answered=answered),
            )  # fmt: skip
    for grows in (False, True):
        step = _growth(walked, grows)
        if step is not None:
            what = "times itself" if grows else "in every entry"
            yield StateRule(f"the answer grows by {step:.3g} {what} with every call", partial(
                _counted, step=step, grows=grows))  # fmt: skip
    if _differs_by_predecessor(walked):
        yield StateRule("the answer depends on the call before it", after_the_same)


def _mixed_up(walked: Sequence[AskedState], by: Sequence[str]) -> tuple[int, ...]:
    """For each call the first one that has the same key."""
    first: dict[tuple[object, ...], int] = {}
    return tuple(first.setdefault(_key(one.question, by), i) for i, one in enumerate(walked))


def _memory(walked: Sequence[AskedState], names: Sequence[str], by: Sequence[str], groups: tuple[int, ...]) -> str:
    """What a memory is keyed on; where more would mix up the same calls, what may be in its key and what cannot be."""
    others = [name for name in names if name not in by and not (name == "x" and not SHORTENED.keys().isdisjoint(by))]
    lacking = [name for name in others if _mixed_up(walked, (*by, name)) != groups]
    # Sizes are told apart by all that has a shape.
    more = [name for name in others if name not in lacking and name != "sizes"]
    if not more or not lacking:
        return f"a memory keyed on {_listed(by)} alone"
    return f"a memory keyed on {_listed(by)}, if need be with {_listed(more)}: its key lacks {_listed(lacking)}"


def _keys(names: tuple[str, ...], count: int) -> Iterator[tuple[str, ...]]:
    """What a memory may be keyed on, so many things: some that are asked first, then x shortened in place of x."""
    if count < len(names):
        yield from combinations(names, count)
    for by in combinations(names, count):
        if "x" in by:
            yield from (tuple(how if name == "x" else name for name in by) for how in SHORTENED)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(WORDS[name] for name in names)


def _share(walked: Sequence[AskedState], answered: bool) -> float | None:
    """The share of the way back to the answer before, the same in all calls."""
    ways, offs = [], []
    for i, one in enumerate(walked):
        before = _before(walked, i)
        if before is not None:
            ways.append((before.got if answered else before.own) - one.own)
            offs.append(one.got - one.own)
    way, off = np.concatenate(ways or [np.zeros(1)]), np.concatenate(offs or [np.zeros(1)])
    share = float(way @ off / max(float(way @ way), 1e-300))
    return share if EXACT < abs(share) < 1 - EXACT else None


def _growth(walked: Sequence[AskedState], grows: bool) -> float | None:
    """What is added with every call, the same in all of them."""
    basis = np.concatenate([i * (one.own if grows else np.ones_like(one.own)) for i, one in enumerate(walked)])
    off = np.concatenate([one.got - one.own for one in walked])
    step = float(basis @ off / max(float(basis @ basis), 1e-300))
    return step if math.isfinite(step) and abs(step) > 1e-15 else None


def _differs_by_predecessor(walked: Sequence[AskedState]) -> bool:
    """Whether a question got different answers, and the same one after the same call."""
    different = any(
        one.question is other.question and not same(one.got, other.got) for one in walked for other in walked
    )
    return different and any(one.stands_alone for one in walked)
