"""What was found wrong with a foreign subject, stage by stage; said beside its claims, and not in ``report.json``."""

from __future__ import annotations

from verify.evidence.model import FrozenData


class StageTold(FrozenData):
    """One stage of a subject, asked by itself on right inputs.

    Args:
        stage: Its name in the protocol, ``hypergradient`` or the like.
        status: ``agrees``, ``diverges``, ``undecided``, ``fault`` or ``not offered``.
        sentence: What was found.
        compared: How many answers were compared.
        diverging: How many of them are off.
    """

    stage: str
    status: str
    sentence: str
    compared: int = 0
    diverging: int = 0


class WrongTold(FrozenData):
    """What one stage computes instead.

    Args:
        stage: The stage.
        sentence: The formula or rule that gives its answers, and how many of them.
        effect: How far it takes the estimate, in words.
        rest: What that leaves unexplained of the answers that are off, or that nothing is left.
        known: Catalogued mistakes that it is, ``(id, what a user sees)``.
        lines: Lines of the user's source that make it wrong, ``(file:line, expression, what it should be)``; the
            expression is empty where the words are of the line alone.
        choices: Open choices of the paper that it makes as written, by field, where that is all it does.
        is_explained: Whether that is known; else the sentence says what it is not.
    """

    stage: str
    sentence: str
    effect: str
    rest: str = ""
    known: tuple[tuple[str, str], ...] = ()
    choices: tuple[str, ...] = ()
    lines: tuple[tuple[str, str, str], ...] = ()
    is_explained: bool = True

    @property
    def remedies(self) -> list[tuple[str, str]]:
        """Each line's place, and what should stand there."""
        return [(place, f"`{text}` {words}" if text else words) for place, text, words in self.lines]


class Letter(FrozenData):
    """Everything that a conformance run says to a subject's author beside the verdicts on claims.

    Args:
        stages: Every stage, in the order of the algorithms.
        first: The first that deviates; empty where none does.
        wrong: What is wrong, largest effect first.
        error: Where the error of its estimates comes from, a line each.
        smallest: How small an instance shows it, in a sentence.
        code: Python to paste that shows it.
        notes: What to know beside.
        is_whole: Whether all was asked that was to be.
    """

    stages: tuple[StageTold, ...]
    first: str = ""
    wrong: tuple[WrongTold, ...] = ()
    error: tuple[str, ...] = ()
    smallest: str = ""
    code: str = ""
    notes: tuple[str, ...] = ()
    is_whole: bool = True

    def causes(self) -> list[str]:
        """What is off in each stage, a line each, with what stays unexplained; one line where no stage is off."""
        lines = []
        for one in self.wrong:
            where = ", ".join(filter(None, [one.stage, one.effect]))
            lines.append(f"{where}: {' '.join(filter(None, [one.sentence, one.rest]))}")
            lines += [f"{one.stage}, {name}: {effect}" for name, effect in one.known]
            lines += [f"{one.stage}, {place}: {remedy}" for place, remedy in one.remedies]
        explained = {one.stage for one in self.wrong}
        off = [one for one in self.stages if one.status == "diverges" and one.stage not in explained]
        lines += [f"{one.stage}: {one.sentence}" for one in off]
        compared = any(one.compared for one in self.stages)
        lines = lines or ["no stage is off by itself where it was asked" if compared else "no stage was compared"]
        return lines if self.is_whole else [*lines, "not all was asked before that ended"]
