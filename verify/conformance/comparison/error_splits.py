"""Which estimate's error is split into its causes, how its parts grow as alpha falls, and the sentence on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from operator import itemgetter

from spec import InvalidInputError
from verify.conformance.comparison.causes import Inquiry, MeasuredCause, UnsteadyError, length, notes
from verify.conformance.comparison.error_parts import WORDS, CausePart, ErrorSplit, power_of_alpha
from verify.conformance.comparison.stage_comparison import Seen
from verify.conformance.probes.answers import INSIDE, StageAnswer, setting_of
from verify.conformance.probes.probes import FROM_SCRATCH, Probe
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.truth.error_causes import METHOD, ErrorCauses, is_split
from verify.truth.formulas import as_float
from verify.truth.lower_level.lower_level import DegenerateLowerLevelError

ALPHAS = (0.1, 0.05, 0.02, 0.01)
"""Where the parts of an error are looked at beside the instance's own alpha."""
SETTLED = 0.1
"""Two successive local exponents that differ by no more are one."""
CLEARLY = 10.0
"""Times rounding beyond which a size counts for an exponent."""
PLACES = 12
"""Other places at most that are asked about another cause."""
TRIED = 8
"""Instances at most that are tried where the worst ones are kinks."""
UNSPLIT = (InvalidInputError, SubjectFaultError, MissingCapabilityError, OverflowError)
"""Ends a split: a kink, no convex penalty at this alpha, a call that fails or is refused, sizes beyond doubles."""
TRUTH = 1e-3
"""Part of the method's own bias below which an answer has none."""


def split_error(seen: Seen) -> ErrorSplit | None:
    """Split the error of the wrong estimate that is off most, or of a right one; ``None`` where there is none to split.

    Estimates that compute every stage themselves come first. Kinks, where F has no gradient, are passed over.
    """
    quiet = [a for a in seen.of("hypergradient") if is_split(a.probe.problem) and not a.probe.needs_draws]
    wrong = sorted((answer for answer in quiet if not answer.excess <= 1), key=_first)
    # Near kinks the bias of the method itself is of order 1: no measure of it.
    fresh = [a for a in quiet if a.probe.given == FROM_SCRATCH and "@" not in a.probe.id]
    why = ""
    for answer in wrong[:TRIED] if wrong else _most_biased(fresh):
        inquiry = Inquiry(seen.stages, answer)
        try:
            measured = inquiry.at(answer.probe.call.alpha)
            sweep = _sweep(inquiry, measured)
            alone = [a for a in quiet if a.probe.given == FROM_SCRATCH]
            harmless = bool(alone) and all(a.excess <= 1 for a in alone)
            return _split(inquiry, sweep, _elsewhere(seen, wrong, measured), deviates=bool(wrong), harmless=harmless)
        except UnsteadyError as error:
            why = why or f"At {_where(answer.probe)} its error has no causes to tell apart: {error}."
        except DegenerateLowerLevelError:
            why = why or f"At {_where(answer.probe)} there is a kink: no gradient that its error could be split from."
        except UNSPLIT:
            continue
    return _nothing(wrong[0], why) if wrong and why else None


def _first(answer: StageAnswer) -> tuple[float, ...]:
    """Calls that leave most to the subject first, there the one that is off most."""
    probe = answer.probe
    return (probe.published, -[*INSIDE].index(probe.given), -length(answer.got - probe.expected))


def _most_biased(answers: Sequence[StageAnswer]) -> list[StageAnswer]:
    """The right answer at the smallest alpha whose method errs most."""
    least = min((answer.probe.call.alpha for answer in answers), default=0.0)
    biases: list[tuple[float, StageAnswer]] = []
    for answer in answers:
        if answer.probe.call.alpha == least:
            with suppress(InvalidInputError):
                gradient = ErrorCauses.at(setting_of(answer.probe, least)).gradient
                biases.append((length(answer.probe.expected - as_float(gradient)), answer))
    return [max(biases, key=itemgetter(0))[1]] if biases else []


def _sweep(inquiry: Inquiry, measured: MeasuredCause) -> list[MeasuredCause]:
    """The same call at other alphas, largest first, where it depends on alpha alone."""
    if inquiry.probe.given != FROM_SCRATCH:
        return [measured]
    causes = [measured]
    for alpha in ALPHAS:
        if alpha != measured.alpha:
            with suppress(*UNSPLIT):
                causes.append(inquiry.at(alpha))
    return sorted(causes, key=lambda one: -one.alpha)


def _elsewhere(
    seen: Seen, wrong: Sequence[StageAnswer], measured: MeasuredCause
) -> tuple[StageAnswer, MeasuredCause] | None:
    """A wrong estimate at another place whose largest cause is none of these, the one that is off most."""
    places: set[str] = set()
    for answer in wrong:
        if answer.probe.given != FROM_SCRATCH or answer.probe.published or len(places) == PLACES:
            break
        if _place(answer.probe) in places:
            continue
        places.add(_place(answer.probe))
        with suppress(UnsteadyError, *UNSPLIT):
            cause = Inquiry(seen.stages, answer).at(answer.probe.call.alpha)
            if cause.own and cause.own[0] not in measured.own and not cause.allows(cause.own[0]):
                return answer, cause
    return None


def _split(
    inquiry: Inquiry,
    sweep: list[MeasuredCause],
    elsewhere: tuple[StageAnswer, MeasuredCause] | None,
    *,
    deviates: bool,
    harmless: bool,
) -> ErrorSplit:
    probe = inquiry.probe
    measured = next(one for one in sweep if one.alpha == probe.call.alpha)
    alphas = tuple(one.alpha for one in sweep)
    parts = sorted((_part(cause, measured, sweep) for cause in measured.parts), key=lambda part: -part.size)
    bias = exponent(alphas, [one.size(*METHOD) for one in sweep], [0.0] * len(sweep))
    sentence = _sentence(measured, parts, f"At {_where(probe)}", bias)
    if elsewhere is not None:
        answer, rival = elsewhere
        sentence += (
            f" Another cause leads at {_where(answer.probe)}: {WORDS[rival.own[0]]}, {rival.size(rival.own[0]):.2g}."
        )
    # Of an error that is what was given, a table would show that alone.
    drowned = bool(measured.given) and measured.size(*measured.own) < DROWNED * length(measured.error)
    if drowned and harmless:
        sentence += " No estimate that computes every stage itself is off by more than its tolerance."
    shown = () if drowned or _is_truth(measured) else (*measured.own, *sorted(measured.given), *METHOD)
    return ErrorSplit(
        sentence=sentence, probe=probe.id, x=tuple(probe.x.tolist()), alpha=measured.alpha,
        error=length(measured.error), floor=measured.floor, shown=shown, deviates=deviates, told=measured.told,
        notes=tuple(notes(measured)) if shown else (), alphas=alphas,
        parts=tuple(part for part in parts if part.size > 0),
    )  # fmt: skip


def _part(cause: str, measured: MeasuredCause, sweep: Sequence[MeasuredCause]) -> CausePart:
    part, error = measured.parts[cause], measured.error
    square = sum(value * value for value in error)
    share = float(sum(a * b for a, b in zip(part, error, strict=True)) / square) if square else None
    floors = [0.0 if cause in METHOD else one.floor for one in sweep]
    sizes = [one.size(cause) for one in sweep]
    return CausePart(
        cause=cause, given=cause in measured.given, vector=tuple(map(float, part)), size=measured.size(cause),
        share=share, sizes=tuple(sizes), exponent=exponent([one.alpha for one in sweep], sizes, floors),
    )  # fmt: skip


def exponent(alphas: Sequence[float], sizes: Sequence[float], floors: Sequence[float]) -> float | None:
    """The power of alpha that the last three sizes follow, to a tenth; ``None`` where it has not settled."""
    if len(sizes) < 3 or any(
        size <= CLEARLY * floor or not size for size, floor in zip(sizes[-3:], floors[-3:], strict=True)
    ):
        return None
    logs = [(math.log(alpha), math.log(size)) for alpha, size in zip(alphas[-3:], sizes[-3:], strict=True)]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(logs)]
    return round(slopes[1], 1) + 0.0 if abs(slopes[1] - slopes[0]) <= SETTLED else None


def _sentence(measured: MeasuredCause, parts: Sequence[CausePart], where: str, bias: float | None) -> str:
    """The subject's causes, largest first, then the method's own bias."""
    error, own = length(measured.error), [part for name in measured.own for part in parts if part.cause == name]
    method = measured.size(*METHOD)
    if _is_truth(measured):
        return (
            f"{where} your answer is ∇F itself, where Algorithm 1 has a bias of {method:.2g}: it was not made by these "
            "stages, and there is no error to split."
        )
    told = [f"{part.size:.2g} {WORDS[part.cause]}{_more(part, measured)}" for part in own]
    told.append(f"{method:.2g} the method's own bias{_bracketed(*_grows(bias))}")
    told += [f"{size:.2g} what was given" for size in [measured.size(*measured.given)] if measured.given]
    told[0] = told[0].replace(" ", " of it is ", 1)
    cancel = ""
    if len(own) > 1 and own[0].size > CANCEL * measured.size(*measured.own):
        cancel = f"; the causes largely cancel, together they are {measured.size(*measured.own):.2g}"
    elif own and own[0].size > CANCEL * error:
        cancel = "; these largely cancel"
    return f"{where} your answer is {error:.2g} off ∇F: {', '.join(told)}{cancel}."


def _is_truth(measured: MeasuredCause) -> bool:
    """Whether the bias that the method must have is missing."""
    return bool(measured.own) and length(measured.error) <= TRUTH * measured.size(*METHOD)


DROWNED = 0.01
"""Share of an error below which what the subject makes of it is lost beside what was given."""
CANCEL = 2.0
"""Times the whole, beyond which its parts cancel."""


def _more(part: CausePart, measured: MeasuredCause) -> str:
    """Which term it is, whether it may be there, and how it grows, in brackets."""
    remarks = [measured.formula_off] if part.cause == "formula" and measured.formula_off else []
    remarks += ["which is allowed"] if measured.allows(part.cause) else []
    return _bracketed(*remarks, *_grows(part.exponent))


def _bracketed(*remarks: str) -> str:
    return f" ({', '.join(remarks)})" if remarks else ""


def _grows(order: float | None) -> Iterator[str]:
    if order is not None:
        yield (
            f"{'growing' if order < 0 else 'shrinking'} like {power_of_alpha(order)}"
            if order
            else "the same at every α"
        )


def _where(probe: Probe) -> str:
    shown = ", ".join(f"{value:g}" for value in probe.x[:4]) + (", …" if len(probe.x) > 4 else "")
    x = f"({shown})" if len(probe.x) > 1 else shown
    return f"α = {Fraction(probe.call.alpha).limit_denominator(1000)}, x = {x} on `{_place(probe).split('@')[0]}`"


def _place(probe: Probe) -> str:
    return probe.id if probe.published else probe.id.split("/")[1]


def _nothing(answer: StageAnswer, why: str) -> ErrorSplit:
    probe = answer.probe
    return ErrorSplit(sentence=why, probe=probe.id, x=tuple(probe.x.tolist()), alpha=probe.call.alpha, error=None,
                      floor=0.0, shown=(), deviates=True, told=(), notes=(), alphas=(), parts=())  # fmt: skip
