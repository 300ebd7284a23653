"""Oracle calls of a subject that takes no stage: an edit of its penalty solve, weights or line 6, or two of them.

Line 6 may have another sum, too, beside weights of its own: what is left once those are put right is searched as a line
6 is whose stages are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Explanation
from verify.conformance.blame.questions import line_6_question, solvable_place
from verify.conformance.blame.sums.edited_stage import EditedStage, ScopedExchange
from verify.conformance.blame.sums.exchanges import exchanges
from verify.conformance.blame.sums.handed_rows import handed_rows
from verify.conformance.blame.sums.own_weights import OWN_WEIGHTS, OwnWeights
from verify.conformance.blame.sums.right_sums import Space
from verify.conformance.blame.sums.single_edits import candidates
from verify.conformance.blame.sums.sparse_sums import SumEdit, drops
from verify.conformance.blame.sums.stage_search import StageSearch, Witness, witness_of
from verify.conformance.blame.sums.sum_blame import Asker
from verify.conformance.blame.whole_calls import play
from verify.conformance.probes.answers import StageAnswer
from verify.conformance.probes.probes import FROM_SCRATCH, Probe, chain_probe

USUAL = 0.1
"""Cost up to which exchanges are tried two by two."""
EXACTLY = 1e-6
"""Relative difference of answers within which two programs that solve exactly agree."""
SEARCHED = range(440, 452)
"""Seeds of the calls on which sums are looked for: no block of theirs is zero, so that terms are told apart."""
HELD_OUT = range(460, 472)
"""Seeds of calls that are asked only after explanations were found."""
ALPHAS = (0.25, 0.125, 0.5, 0.0625)
LOOKED_AT = 3
"""Answers that pairs are tried on first."""
LineEdits = Mapping[str, Explanation]


@dataclass
class _KeptLine6:
    """A right line 6 that keeps what it was given."""

    sentence: str = "as it is right"
    edits: int = 1
    probes: list[Probe] = field(default_factory=list)

    def answer(self, probe: Probe) -> Vector | None:
        """The right answer."""
        self.probes.append(probe)
        return probe.expected


def scratch_edits(answers: Sequence[StageAnswer], asker: Asker) -> tuple[LineEdits, list[StageAnswer]] | None:
    """What gives every answer, and calls asked since then, of which all came out so, too.

    ``None`` where nothing does, or several that further calls do not tell apart.
    """
    answers = sorted(answers, key=lambda answer: -answer.excess)
    levels = (_singles(), _sums_of_line_6([{}], asker), _sums_of_line_6(_own_weights(), asker), _pairs(answers))
    for level in levels:
        fitting = [stages for stages in level if _gives(stages, answers)]
        if not fitting:
            continue
        held = list(_asked(asker, HELD_OUT))
        rivals = [stages for stages in fitting if held and _gives(stages, held)]
        first = rivals[0] if rivals else {}
        if first and all(_are_alike(first, other, held) for other in rivals[1:]):
            return first, held
    return None


def _asked(asker: Asker, seeds: range) -> Iterator[StageAnswer]:
    """Calls on problems drawn for this, at the widths that are usual."""
    for seed in seeds:
        place = solvable_place(seed, is_flat=False)
        probe = chain_probe(place, ALPHAS[seed % len(ALPHAS)], FROM_SCRATCH, "scratch")
        got = asker(probe)
        if got is not None:
            yield StageAnswer(probe, got)


def _of_lines(space: Space, most: float = np.inf) -> Iterator[EditedStage]:
    """Single edits of line 6 or of the penalty Lagrangian's gradient."""
    for dropped in drops(space, pairs=False)[1:]:
        yield EditedStage(space, summed=SumEdit(space, dropped))
    for exchange in exchanges():
        if exchange.cost <= most:
            yield EditedStage(space, (ScopedExchange(exchange),), SumEdit(space))


def _own_weights() -> Iterator[LineEdits]:
    yield from ({"activation": edit} for edit in candidates("activation"))
    yield from ({"activation": OwnWeights(words)} for words in OWN_WEIGHTS)


def _sums_of_line_6(inner: Iterable[LineEdits], asker: Asker) -> Iterator[LineEdits]:
    """Edited stages with the cheapest edits of line 6 that give what is left where they are put right."""
    search = StageSearch("x", asker, line_6_question)
    answers, edits = list(_asked(asker, SEARCHED)), dict[bytes, list[EditedStage]]()
    for stages in inner:
        witnesses = list(filter(None, (_at_line_6(answer, stages) for answer in answers)))
        if len(witnesses) < len(answers) or len(answers) <= LOOKED_AT:
            continue
        # Most edits of weights are alike where rows are clear of the ramps.
        alike = b"".join(np.round(w.point.rho, 9).tobytes() for w in witnesses)
        if alike not in edits:
            edits[alike] = search.single(witnesses)
        yield from ({**stages, "hypergradient": edit} for edit in edits[alike])


def _at_line_6(answer: StageAnswer, stages: LineEdits) -> Witness | None:
    """A call's answer as one of its line 6, all stages given as the call makes them."""
    probe = _given(answer.probe, stages)
    if probe is None or not np.isfinite(answer.got).all():
        return None
    size = np.abs(answer.got) + np.abs(probe.expected)
    return witness_of(replace(probe, tolerance=EXACTLY / 4 * (size + EXACTLY)), answer.got)


def _singles() -> Iterator[LineEdits]:
    yield from ({"hypergradient": edit} for edit in _of_lines("x"))
    yield from ({"penalty_minimiser": edit} for edit in _of_lines("y"))
    yield from _own_weights()
    yield from ({"rows": rows} for rows in handed_rows())


def _pairs(answers: Sequence[StageAnswer]) -> Iterator[LineEdits]:
    """One edit of the penalty solve and one of line 6 that give the answers that are off most."""
    few = answers[:LOOKED_AT]
    for solve in _of_lines("y", USUAL):
        there = [_given(answer.probe, {"penalty_minimiser": solve}) for answer in few]
        for line in _of_lines("x", USUAL):
            pairs = (
                (line.answer(probe) if probe is not None else None, a) for probe, a in zip(there, few, strict=True)
            )
            if all(_is(prediction, answer) for prediction, answer in pairs):
                yield {"penalty_minimiser": solve, "hypergradient": line}


def _given(probe: Probe, stages: LineEdits) -> Probe | None:
    """What line 6 is given after edited stages."""
    recorded = _KeptLine6()
    play(probe, {**stages, "hypergradient": recorded})
    return recorded.probes[0] if recorded.probes else None


def _is(prediction: Vector | None, answer: StageAnswer) -> bool:
    if prediction is None or not np.isfinite(prediction).all():
        return False
    size = (
        np.abs(prediction).max(initial=0.0) + np.abs(answer.got).max(initial=0.0) + np.abs(answer.probe.expected).max()
    )
    return bool((np.abs(prediction - answer.got) <= EXACTLY * (size + EXACTLY)).all())


def _gives(stages: Mapping[str, Explanation], answers: Sequence[StageAnswer]) -> bool:
    return all(_is(play(answer.probe, stages), answer) for answer in answers)


def _are_alike(one: LineEdits, other: LineEdits, held: Sequence[StageAnswer]) -> bool:
    """Whether two explanations say the same wherever it was asked, to the last digits."""
    pairs = ((play(a.probe, one), play(a.probe, other)) for a in held)
    return all(a is not None and b is not None and np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in pairs)
