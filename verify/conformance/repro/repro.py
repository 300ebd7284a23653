"""What to paste: a few lines of Python that show the deviation on the smallest instance found.

Each is run once more in a fresh process before it is shown; one that needs the calls before it brings them along.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spec.blocks.exact_json import plain
from verify.conformance.blame.accuracy.accuracy import DeclaredAccuracy, declared_accuracy, widened
from verify.conformance.comparison.stage_comparison import PROBED, Seen
from verify.conformance.found import Reproduction
from verify.conformance.probes.answers import INSIDE, StageAnswer
from verify.conformance.probes.probes import Probe
from verify.conformance.repro import law_repro, outer_repro
from verify.conformance.repro.replay import Again, needed_before, replay
from verify.conformance.repro.scripts import LOADS, of_probe, script
from verify.conformance.repro.shrink import Smallest, shrink
from verify.method.lines import Stage

ONCE_MORE = " A fresh process shows it, too."
"""Added where it does."""
NOT_AGAIN = " It was not run again in a fresh process: no name loads this object."
"""Added where it cannot be."""


def reproduce(seen: Seen, load: str, again: Again = replay) -> Reproduction | None:
    """Shrink the first divergence, or else show a fault; ``None`` where neither can be shown.

    ``load`` is a Python expression that loads the subject; ``again`` runs a script in a fresh process.
    """
    if seen.first is not None:
        return reproduce_stage(seen, seen.first, load, again)
    if not seen.broken:
        return None
    probe, _ = min(seen.broken, key=lambda pair: _size(pair[0]))
    return reproduce_stage(seen, probe.stage, load, again)


def reproduce_stage(seen: Seen, stage: str, load: str, again: Again = replay) -> Reproduction | None:
    """The same for one stage that diverges, or ends in a fault; ``None`` where it does neither."""
    if stage in ("samples", "runs"):
        case = law_repro.of_law(seen, stage, load)
        return None if case is None else _confirmed(case, again, "its random numbers are its own")
    if stage == "optimise":
        case = outer_repro.of_run(seen, load)
        return None if case is None else _confirmed(case, again, "its run depends on what was asked before")
    known: Any = stage
    own = [answer for answer in seen.of(known) if answer not in seen.follow] if stage in PROBED else []
    wrong = [answer for answer in own if not answer.excess <= 1]
    if wrong:
        return _of_answers(seen, wrong, load, again)
    broken = [pair for pair in seen.broken if pair[0].stage == stage]
    if not broken:
        return None
    probe, fault = min(broken, key=lambda pair: _size(pair[0]))
    sentence = f"Smallest call that ends in a fault ({_size_in_words(probe)}): {fault}."
    code = script(load, of_probe(probe, fault=fault))
    return _confirmed(_of_probe(sentence, probe, (), code), again, "it fails only after other calls")


def failing(seen: Seen) -> tuple[Stage, ...]:
    """Stages that diverge or end in a fault, in order."""
    return tuple(finding.stage for finding in seen.findings if finding.status in ("diverges", "fault"))


def _simplest(answer: StageAnswer) -> tuple[float, ...]:
    """Innermost work and small problems first; vectors and probes that cannot be shrunk last."""
    probe = answer.probe
    inside = [*INSIDE].index(probe.given)
    return (probe.published, probe.needs_draws, inside, _size(probe), -answer.excess)


def _size(probe: Probe) -> int:
    problem = probe.problem
    return len(probe.h) if problem is None else int(problem.n + problem.m + problem.p)


def _size_in_words(probe: Probe) -> str:
    problem, rows = probe.problem, len(probe.h) if probe.problem is None else probe.problem.p
    in_words = f"{rows} row{'' if rows == 1 else 's'}"
    return in_words if problem is None else f"n = {problem.n}, m = {problem.m}, {in_words}"


def _of_answers(seen: Seen, wrong: list[StageAnswer], load: str, again: Again) -> Reproduction:
    """Of answers that are off: the simplest one, shrunk; where it needs earlier calls, the earliest one after them."""
    simplest = min(wrong, key=_simplest)
    smallest = shrink(seen.stages, _as_accurate(simplest.probe, declared_accuracy(seen.stages)), simplest.got)
    before = () if smallest.before is None else (smallest.before,)
    after = ", after another call" if before else ""
    case = _of_probe(f"Smallest instance found ({_size_in_words(smallest.probe)}): {_numbers(smallest)}{after}.",
                     smallest.probe, tuple(smallest.got.tolist()),
                     script(load, of_probe(smallest.probe, before)))  # fmt: skip
    if not load.startswith(LOADS):
        return _with(case, NOT_AGAIN)
    rerun = again(case.code)
    if rerun.shows is None:
        return _with(case, f" It could not be run again in a fresh process ({rerun.last_line}).")
    return _with(case, ONCE_MORE) if rerun.shows else _after_others(seen, wrong[0], load, again) or _with(
        case, " A fresh process, asked this alone or after all that was asked before, answers rightly."
    )  # fmt: skip


def _as_accurate(probe: Probe, accuracy: DeclaredAccuracy) -> Probe:
    """The same probe, which allows for a declared accuracy on smaller problems too; else its error would be shown."""
    build = probe.elsewhere
    if build is None or accuracy.value == 0:
        return probe
    return replace(probe, elsewhere=lambda place: widened(build(place), accuracy))


def _after_others(seen: Seen, first: StageAnswer, load: str, again: Again) -> Reproduction | None:
    """The earliest answer that is off, with the fewest earlier calls that it needs; ``None`` if these do not do."""
    at = next(k for k, answer in enumerate(seen.answers) if answer is first)
    earlier = [answer.probe for answer in seen.answers[:at]]
    if not earlier:
        return None
    needed = needed_before(lambda calls: again(script(load, of_probe(first.probe, calls))).shows is True, earlier)
    if needed is None:
        return None
    count = "the call" if len(needed) == 1 else f"the {len(needed)} calls"
    sentence = (
        f"Needs the earlier calls: {_numbers(Smallest(first.probe, first.got))}, though a fresh process answers this "
        f"rightly when it is asked alone; after {count} below it is off there, too."
    )
    return _of_probe(sentence, first.probe, tuple(first.got.tolist()), script(load, of_probe(first.probe, needed)))


def _numbers(smallest: Smallest) -> str:
    probe, got = smallest.probe, smallest.got
    at = int(np.argmax(np.abs(got - probe.expected) / probe.tolerance))
    return (
        f"{probe.stage} answers {got[at]:.9g} where it must be {probe.expected[at]:.9g} "
        f"(tolerance {probe.tolerance[at]:.1e})"
    )


def _confirmed(case: Reproduction, again: Again, otherwise: str) -> Reproduction:
    """With what a fresh process says of it."""
    if f" = {LOADS}" not in case.code:
        return _with(case, NOT_AGAIN)
    rerun = again(case.code)
    if rerun.shows is None:
        return _with(case, f" It could not be run again in a fresh process ({rerun.last_line}).")
    return _with(case, ONCE_MORE if rerun.shows else f" A fresh process does not show it: {otherwise}.")


def _with(case: Reproduction, more: str) -> Reproduction:
    return case.model_copy(update={"sentence": case.sentence + more})


def _of_probe(sentence: str, probe: Probe, got: tuple[float, ...], code: str) -> Reproduction:
    problem = None if probe.problem is None else plain(probe.problem.to_dict())
    return Reproduction(sentence=sentence, problem=problem, x=tuple(repr(float(value)) for value in probe.x), got=got,
                        expected=tuple(probe.expected.tolist()), code=code)  # fmt: skip
