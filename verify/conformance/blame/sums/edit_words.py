"""Edits in words and signs: ``line 6 = the right one + 2α₂Aᵀ(ρ∘b)``."""

from __future__ import annotations

from collections.abc import Sequence

from verify.conformance.blame.sums.answer_changes import spelt_number
from verify.conformance.blame.sums.right_sums import RIGHT_PARTS, Space
from verify.conformance.blame.sums.sparse_sums import Added, SumEdit

SUM_NAMES: dict[Space, str] = {"x": "line 6", "y": "the gradient that its penalty minimiser makes zero"}
ANSWER_NAMES: dict[Space, str] = {"x": "the right estimate", "y": "the right minimiser"}
GROUP_NAMES: dict[Space, dict[str, str]] = {
    "x": {"f": "∇_x f(x,ỹ)", "g": "α₁(∇_x g(x,ỹ) − ∇_x g(x,ỹ*))", "penalty": "α₂Aᵀ(ρ∘h(x,ỹ))", "dual": "α₁Aᵀλ̃"},
    "y": {"f": "∇_y f(x,y)", "g": "α₁(∇_y g(x,y) − Bᵀλ̃)", "penalty": "−α₂Bᵀ(ρ∘h(x,y))"},
}


def spelt_added(space: Space, added: Added) -> tuple[str, str]:
    """The sign of a summand and the rest of it; the minimiser's own y is written y."""
    size = abs(added.coefficient)
    number = "" if size == 1 else spelt_number(size)
    factor = f"{number}{added.power.name}"
    name = added.term.name
    gap = "·" if factor and (factor[-1].isdigit() or name[0].isdigit() or name[:3] in ("the", "max", "min")) else ""
    text = f"{factor}{gap}{name}" if name != "1" or not factor else factor
    return ("−" if added.coefficient < 0 else "+"), _in_space(space, text)


def _in_space(space: Space, text: str) -> str:
    """Where y is what is solved for, it is not ỹ yet."""
    return text if space == "x" else text.replace("ỹ*", "\0").replace("ỹ", "y").replace("\0", "ỹ*")


def _spelt_unit(space: Space, unit: tuple[str, tuple[int, ...]]) -> tuple[str, str]:
    group, members = unit
    name = GROUP_NAMES[space][group] if group else _in_space(space, RIGHT_PARTS[space][members[0]].name)
    return ("−", name[1:]) if name.startswith("−") else ("+", name)


def _signed(sign: str, text: str) -> str:
    return f"−{text}" if sign == "−" else text


def spelt_sum(space: Space, edit: SumEdit) -> str:
    """What is right but for the edit."""
    units = [_spelt_unit(space, unit) for unit in edit.units]
    added = [spelt_added(space, a) for a in edit.added]
    name = SUM_NAMES[space]
    if edit.is_swap:
        return f"{name} = the right one with {_signed(*added[0])} where {_signed(*units[0])} belongs"
    if units and not added:
        return f"{name} = the right one without {' and without '.join(_signed(*unit) for unit in units)}"
    if len(edit.dropped) == len(RIGHT_PARTS[space]):
        formula = " ".join(f"{sign} {text}" for sign, text in added).removeprefix("+ ")
        return f"{name} = {formula}, with nothing of the right one"
    less = [("−" if sign == "+" else "+", text) for sign, text in units]
    return f"{name} = the right one {' '.join(f'{sign} {text}' for sign, text in (*less, *added))}"


def sentence_of(space: Space, exchanged: Sequence[tuple[str, str]], edit: SumEdit, changed: str | None) -> str:
    """The sentence of an edited stage; pairs are what is exchanged and in which group, empty for everywhere."""
    clauses = []
    if edit.edits:
        clauses.append(spelt_sum(space, edit))
    if exchanged:
        start = f"{SUM_NAMES[space]} = the right one with " if not clauses else "and with "
        clauses.append(start + exchanged_words(space, exchanged))
    if changed is not None:
        answer = "what comes of it" if clauses else ANSWER_NAMES[space]
        clauses.append(f"it answers {changed.format(answer)}")
    return "; ".join(clauses)


def exchanged_words(space: Space, exchanged: Sequence[tuple[str, str]]) -> str:
    """What stands where something else belongs, and in which group."""
    groups = GROUP_NAMES[space]
    return " and with ".join(
        _in_space(space, what) + (f" in {groups[group]}" if group else "") for what, group in exchanged
    )
