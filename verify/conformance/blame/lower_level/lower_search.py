"""Lower levels that answer as a subject does: read off, single changes, pairs of them, numbers measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import combinations, pairwise

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.holding_out import Limits, allowed_to
from verify.conformance.blame.lower_level.by_parts import ByParts, factors_read_off, settings_read_off
from verify.conformance.blame.lower_level.lower import ADDED, BLOCKS, REBUILT, RIGHT_LOWER, LowerProgram
from verify.conformance.blame.lower_level.lower_fits import BLUR, ReadOff
from verify.conformance.blame.lower_level.lower_outputs import NEUTRAL, OUTPUTS, Output
from verify.conformance.blame.lower_level.programs import FORMS, Pair, QuadraticProgram
from verify.conformance.blame.lower_level.unfinished import stopped_after
from verify.conformance.blame.measuring import fitted
from verify.conformance.probes.answers import StageAnswer

EXACT_ENOUGH = 1e-7
"""Answers of coarser accuracies are tried on single changes and on what is read off alone."""
WITH_NUMBERS = ("penalty", "barrier")
FACTORS = (0.0, -1.0, 2.0, 0.5)
FEW = 4
"""Answers that numbers are measured on where only y can be trusted."""
MET = 14
"""Answers that an iteration must pass."""
SIGNED = ("raised", "scaled", "at least", "at most")
"""Ends of the names of changes whose number may be negative."""
FAR = 1.0
FURTHER = tuple(LowerProgram((("A", 0.0), ("b", factor))) for factor in (0.0, -1.0))
"""Changes of two blocks that are one of A x − b."""


def plain_programs() -> Iterator[LowerProgram]:
    """Every program with one change that has nothing to measure."""
    for name in BLOCKS:
        yield from (RIGHT_LOWER.with_block(name, factor) for factor in FACTORS if not (name == "g_yy" and factor <= 0))
    for change, names in REBUILT.items():
        yield from (RIGHT_LOWER.with_block(name, change) for name in names)
    yield from (replace(RIGHT_LOWER, form=form) for form in FORMS if form not in (*WITH_NUMBERS, "program"))
    yield replace(RIGHT_LOWER, added=(("f", 1.0),))


def partly_changed() -> Iterator[LowerProgram]:
    """Programs with a change that stands only where rows are chosen, or only after that."""
    for program in (*plain_programs(), *FURTHER):
        if program.blocks:
            yield replace(program, where="choosing")
            yield replace(program, where="after")


def plain_outputs() -> Iterator[tuple[str, float]]:
    """Every change of what comes out that has nothing to measure."""
    yield from ((name, value) for name, output in OUTPUTS.items() for value in output.numbers)


def single_lower_edits() -> tuple[LowerProgram, ...]:
    """Every lower level that is right but for one change with nothing to measure."""
    outputs = (output for output in plain_outputs() if output[0] not in NEUTRAL)
    return (*plain_programs(), *(replace(RIGHT_LOWER, outputs=(output,)) for output in outputs))


def _added(name: str, value: float) -> LowerProgram:
    return replace(RIGHT_LOWER, added=((name, value),))


def _in_form(form: str, value: float) -> LowerProgram:
    return replace(RIGHT_LOWER, form=form, number=value)


class LowerSearch:
    """Looks for programs that give answers to within limits."""

    def __init__(self, answers: Sequence[StageAnswer], limits: Limits, accuracy: float = 0.0) -> None:
        self.accuracy = accuracy
        # What deviates most tells most: it is looked at first.
        self.answers = sorted(answers, key=lambda answer: -min(answer.excess, 1e12))
        self.limits = [allowed_to(answer, limits) for answer in self.answers]

    def lists(self) -> Iterator[Sequence[LowerProgram | ByParts]]:
        """Lists of explanations that give every answer, or may, those found most cheaply first."""
        yield self.fitting(single_lower_edits())
        yield self.fitting(dict.fromkeys(ReadOff(self.answers, self.accuracy).programs()))
        yield [*factors_read_off(self.answers, BLUR * self.accuracy)]
        yield self.fitting(partly_changed())
        yield self.halves([RIGHT_LOWER, *plain_programs()])
        if self.accuracy > EXACT_ENOUGH:
            return
        yield [*settings_read_off(self.answers, BLUR * self.accuracy, [*plain_programs(), *FURTHER])]
        ended = list(dict.fromkeys(self.unfinished(None)))
        yield self.fitting(ended)
        yield self.remade()
        by_half = (half for half in (True, False) if not self._fits(RIGHT_LOWER, half))
        yield self.halves(
            [*self.measured_programs(), *(program for half in by_half for program in self.unfinished(half))]
        )
        pairs = list(self.pairs())
        yield self.fitting(pairs)
        yield self.halves(pairs)

    def fitting(self, programs: Iterable[LowerProgram]) -> list[LowerProgram]:
        """Those that give every answer."""
        return [program for program in programs if self._fits(program, None)]

    def pairs(self) -> Iterator[LowerProgram]:
        """Two changes of the program."""
        for first, second in combinations(plain_programs(), 2):
            if first.form != "program" and second.form != "program":
                continue
            names = [name for name, _ in (*first.blocks, *second.blocks)]
            if len(set(names)) == len(names):
                form = first.form if second.form == "program" else second.form
                blocks = tuple(sorted((*first.blocks, *second.blocks), key=str))
                yield LowerProgram(blocks, (*first.added, *second.added), form)

    def halves(self, programs: Iterable[LowerProgram]) -> list[LowerProgram]:
        """Programs of which only y or only the multipliers are as answered, with what is done to the other half."""
        halves = []
        for program in programs:
            for of_y in (True, False):
                if self._fits(program, of_y):
                    halves += self._outputs(program, lam=of_y)
        return halves

    def _outputs(self, program: LowerProgram, *, lam: bool) -> list[LowerProgram]:
        options = [*plain_outputs(), *self._measured_outputs(program, lam=lam)]
        variants = [program, *(replace(program, outputs=(*program.outputs, output)) for output in options)]
        return [changed for changed in variants if changed != RIGHT_LOWER and self._fits(changed, None)]

    def _measured_outputs(
        self, program: LowerProgram, *, lam: bool, of_y: bool | None = None
    ) -> Iterator[tuple[str, float]]:
        for name, output in OUTPUTS.items():
            # Rows that are let go change both halves.
            if output.numbers or ("λ" in name) != lam or (of_y is None and output.lets_go):
                continue

            def off(value: float, name: str = name, output: Output = output) -> float:
                count = len(self.answers) if output.jumps else FEW
                return self.off(replace(program, outputs=(*program.outputs, (name, value))), of_y, count)

            if output.jumps:
                yield from ((name, value) for value in [min(self._sizes(program), key=off, default=None)] if value)
                continue
            value = fitted(off, 1e-8, 1e3, without=self.off(program, of_y), signed=name.endswith(SIGNED))
            if value is not None:
                yield name, value

    def _sizes(self, program: LowerProgram) -> list[float]:
        """Numbers between those multipliers, and those relative to the largest, that follow each other in size."""
        sizes: set[float] = set()
        for answer in self.answers:
            prediction = program.answer(answer.probe)
            lam = np.zeros(0) if prediction is None else prediction[answer.probe.problem.m :]
            largest = float(lam.max(initial=0.0))
            sizes |= {float(size) for size in (*lam, *(lam / largest if largest > 0 else ())) if size > 0}
        ordered = [0.5 * min(sizes, default=0.0), *sorted(sizes), 2.0 * max(sizes, default=0.0)]
        return [float(np.sqrt(a * b)) for a, b in pairwise(ordered) if b > a]

    def measured_programs(self) -> Iterator[LowerProgram]:
        """Programs with one number, as y alone tells it."""
        options: list[Callable[[float], LowerProgram]] = [partial(RIGHT_LOWER.with_block, name) for name in BLOCKS]
        options += [partial(_added, name) for name in ADDED]
        options += [partial(_in_form, form) for form in WITH_NUMBERS]
        without = self.off(RIGHT_LOWER, True)
        for program_of in options:

            def off(value: float, program_of: Callable[[float], LowerProgram] = program_of) -> float:
                return self.off(program_of(value), True)

            value = fitted(off, 1e-6, 1e6, without=without)
            if value is not None:
                yield program_of(value)

    def unfinished(self, of_y: bool | None) -> Iterator[LowerProgram]:
        """Iterations that end where the answers that are most off are, or one half of each."""
        met = zip(self._met_programs, self.answers, self.limits, strict=False)
        questions = [(program, partial(self._is_at, answer, limit, of_y)) for program, answer, limit in met]
        for form, number in stopped_after(questions):
            yield replace(RIGHT_LOWER, form=form, number=number)

    @cached_property
    def _met_programs(self) -> list[QuadraticProgram]:
        """Of the answers that are off most: what was to be solved."""
        probes = (answer.probe for answer in self.answers[:MET])
        return [RIGHT_LOWER.program(probe.problem.arrays, probe.x) for probe in probes]

    def _is_at(self, answer: StageAnswer, limit: Vector, of_y: bool | None, pair: Pair) -> bool:
        return bool((self._half(answer, np.abs(np.concatenate(pair) - answer.got) - limit, of_y) <= 0).all())

    def remade(self) -> list[LowerProgram]:
        """Multipliers changed after they were found, and y made from those."""
        options = [*plain_outputs(), *self._measured_outputs(RIGHT_LOWER, lam=True, of_y=False)]
        programs = [replace(RIGHT_LOWER, outputs=(output, ("y of λ", 0.0))) for output in options if "λ" in output[0]]
        programs += [replace(RIGHT_LOWER, outputs=(output,)) for output in options if OUTPUTS[output[0]].lets_go]
        return [
            program
            for program in programs
            if len({*program.outputs}) == len(program.outputs) and self._fits(program, None)
        ]

    def _half(self, answer: StageAnswer, values: Vector, of_y: bool | None) -> Vector:
        m = answer.probe.problem.m
        return values if of_y is None else values[:m] if of_y else values[m:]

    def off(self, program: LowerProgram, of_y: bool | None, count: int = FEW) -> float:
        """How far a program is off on a few answers, no entry counting more than any other that is far off."""
        total = 0.0
        for answer in self.answers[:count]:
            prediction = program.answer(answer.probe)
            difference = FAR + 0 * answer.got if prediction is None else np.abs(prediction - answer.got)
            total += float(np.minimum(self._half(answer, difference, of_y), FAR).sum())
        return total

    def _fits(self, program: LowerProgram, of_y: bool | None) -> bool:
        compared, told, off = 0, 0, 0
        for answer, limit in zip(self.answers, self.limits, strict=True):
            prediction, is_off = program.answer(answer.probe), not answer.excess <= 1
            off += is_off
            if prediction is None:
                continue
            compared += 1
            told += is_off
            if not (self._half(answer, np.abs(prediction - answer.got) - limit, of_y) <= 0).all():
                return False
        return 2 * compared >= len(self.answers) and 2 * told >= off
