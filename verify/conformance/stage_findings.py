"""What is said about one stage, from what came back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verify.conformance.model import Divergence, StageFinding
from verify.conformance.probes import FROM_PAIR, FROM_RHO, FROM_SCRATCH, WHOLE
from verify.subjects import MissingCapabilityError

if TYPE_CHECKING:
    from verify.conformance.answers import Answer, Asked
    from verify.conformance.signatures import Signature
    from verify.mutants.entry import Stage

INSIDE = {
    WHOLE: "with every stage given: line 6 alone",
    FROM_RHO: "given ỹ*, λ̃ and ρ: its own penalty solve and line 6",
    FROM_PAIR: "given ỹ* and λ̃: its own activation, penalty solve and line 6",
    FROM_SCRATCH: "given nothing: its own lower level and all that follows",
    "": "",
}
"""What a call computes by itself, innermost first."""


def missing(stage: Stage) -> StageFinding:
    """A stage that is not there."""
    return StageFinding(stage=stage, status="not offered", sentence=f"Not applicable: the subject offers no {stage}.")


def refused(stage: Stage, refusal: MissingCapabilityError | str) -> StageFinding:
    """A stage that says it does not do this."""
    return StageFinding(stage=stage, status="not offered", sentence=f"Not applicable: {refusal}.")


def besides(count: int, refusal: str) -> str:
    """What is added where a stage does not support some of what it is asked; nothing for ``count`` 0."""
    words = re.sub(r"^the subject does not support this \w+: ", "", refusal)
    return f" {count} more it says it does not support ({words})." if count else ""


def judged(stage: Stage, asked: Asked) -> StageFinding:
    """A stage whose right answers are known number by number."""
    answers, count = asked.answers, len(asked.answers)
    wrong = [answer for answer in answers if not answer.excess <= 1]
    worst = max((answer.excess for answer in answers), default=0.0)
    if wrong:
        # Inner work is named innermost first: line 6 alone, then the solve before it, and so on.
        order = [*INSIDE]
        shown = min(wrong, key=lambda answer: order.index(answer.probe.given))
        where = f" ({INSIDE[shown.probe.given]})" if shown.probe.given else ""
        sentence = f"{len(wrong)} of {count} answers are off; first {shown.probe.id}{where}: {_numbers(shown)}"
        return StageFinding(
            stage=stage, status="diverges", sentence=sentence, compared=count, diverging=len(wrong), worst=worst,
            divergence=Divergence(
                probe=shown.probe.id, what=(INSIDE[shown.probe.given] or f"{stage} on given inputs"),
                expected=tuple(shown.probe.expected.tolist()), got=tuple(shown.got.tolist()),
                tolerance=tuple(shown.probe.tolerance.tolist()), excess=shown.excess,
            ),
        )  # fmt: skip
    if asked.broken:
        rest = f" {count} other answer{' agrees' if count == 1 else 's agree'}." if count else ""
        return StageFinding(stage=stage, status="fault", sentence=f"{fault_line(asked)}.{rest}", compared=count,
                            worst=worst)  # fmt: skip
    if not count and not asked.late and asked.refused:
        return refused(stage, asked.refusal)
    sentence = f"{count} answers agree; the largest difference is {worst:.2g} of its tolerance."
    sentence += besides(asked.refused, asked.refusal)
    if asked.late:
        sentence += f" There was no time for {asked.late} more."
    return StageFinding(stage=stage, status="undecided" if asked.late else "agrees", sentence=sentence, compared=count,
                        worst=worst)  # fmt: skip


def fault_line(asked: Asked) -> str:
    """The first fault and where it was."""
    probe, fault = asked.broken[0]
    return f"{probe.id}: {fault}"


def _numbers(answer: Answer) -> str:
    apart = abs(answer.got - answer.probe.expected)
    at = int((apart / answer.probe.tolerance).argmax())
    vector = "it is a published test vector; " if answer.probe.published else ""
    entry = f"entry {at + 1} is" if len(answer.got) > 1 else "it is"
    return vector + (
        f"{entry} {answer.got[at]:.9g}, must be {answer.probe.expected[at]:.9g} "
        f"(tolerance {answer.probe.tolerance[at]:.1e})."
    )


def law_finding(stage: Stage, found: Signature, law: Signature, where: str) -> StageFinding:
    """A stage whose statistics are not those of the right law."""
    wrong = [name for name in found if name in law and found[name].apart(law[name]) > 1]
    name = wrong[0]
    got, right = found[name], law[name]
    excess = got.apart(right)
    sentence = (
        f"{len(wrong)} of {len(found)} statistics of {where} are off; first {name}: {got.value:.4g} ± "
        f"{got.error:.2g}, must be {right.value:.4g} ({got.shown})."
    )
    return StageFinding(
        stage=stage, status="diverges", sentence=sentence, compared=len(found), diverging=len(wrong),
        worst=max(found[n].apart(law[n]) for n in wrong),
        divergence=Divergence(probe=name, what=got.shown, expected=(right.value,), got=(got.value,), excess=excess),
    )  # fmt: skip
