"""A place that was found, as a line with its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.conformance.trace.model import TracedLine
from verify.conformance.trace.named_values import SUM, Named
from verify.conformance.trace.patches.patch_search import Patch
from verify.conformance.trace.quantity_fits import Table, fits_of, is_same, multiplied
from verify.conformance.trace.seen_values import SeenValues
from verify.conformance.trace.value_replacement import RepairingPlace
from verify.method.factors import spelt

FACTORS = {1.0: "", -1.0: "minus ", 2.0: "twice ", 0.5: "half "}
REACHED = ("ỹ", "λ̃", "w = ", "(ỹ")
"""How quantities begin that a solver's loop ends at."""


@dataclass(frozen=True)
class StageLine:
    """What came of the search for one stage.

    Args:
        stage: The stage.
        wrong: Wrong questions of the innermost kind that is wrong.
        total: All of that kind.
        places: Where all are put right: one; two, for two mistakes; none.
        patches: Changes of the source that put all right, instead of places: one, or two that do together.
        is_doubtful: Whether the change is of something that is right as it is.
        failed: Why changes of the source could not be tried; empty where they were.
        where: On what questions alone it is wrong, where one condition says so.
        late: Whether time ran out.
    """

    stage: str
    wrong: int
    total: int
    places: tuple[RepairingPlace, ...] = ()
    patches: tuple[Patch, ...] = ()
    is_doubtful: bool = False
    failed: str = ""
    where: str = ""
    late: bool = False


def traced_lines(result: StageLine) -> list[TracedLine]:
    """The lines of a stage."""
    return [*(_line(result, place) for place in result.places), *_changed(result)]


def _changed(result: StageLine) -> Iterator[TracedLine]:
    """What stands there and what should become of it."""
    for patch in result.patches:
        beside = [one.place for one in result.patches if one is not patch]
        content: dict[str, Any] = {
            "stage": result.stage, "file": patch.file, "line": patch.edit.line, "text": _short(patch.edit.text),
            "quantity": _short(patch.edit.instead), "wrong": result.wrong, "asked": result.total,
            "beside": "".join(beside),
            "where": result.where, "is_doubtful": result.is_doubtful,
        }  # fmt: skip
        yield TracedLine.model_validate(content)


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."


def _line(result: StageLine, place: RepairingPlace) -> TracedLine:
    site, suspect = place.site, place.suspect
    quantity = f"{FACTORS[suspect.scale]}{suspect.named.name}"
    is_loop = place.from_nothing and site.next_loop > 0 and suspect.named.name.startswith(REACHED)
    content: dict[str, Any] = {
        "stage": result.stage, "file": site.file, "line": site.next_loop if is_loop else site.line,
        "text": _short(site.text), "quantity": quantity,
        "instead": instead(place), "wrong": place.wrong, "asked": place.total, "where": place.where,
        "unknown": ", ".join(place.unknown), "is_loop": is_loop, "beside": place.beside,
    }  # fmt: skip
    return TracedLine.model_validate(content)


def instead(place: RepairingPlace) -> str:
    """What is there instead on every wrong question, where one word says it."""
    if place.misread:
        return place.misread
    told = [set(_said(place, computed, table)) for computed, table in place.computed]
    common = set.intersection(*told) if told else set()
    return min(common, key=lambda words: (words.endswith("times that"), len(words), words), default="")


def _said(place: RepairingPlace, computed: SeenValues, table: Table) -> Iterator[str]:
    """All that can be said of one question."""
    named = table.by_name[place.suspect.named.name]
    scaled = Named(named.name, multiplied(named.value, place.suspect.scale), named.kind)
    fit = next((fit for fit in fits_of(scaled, computed) if fit.how == place.suspect.how), None)
    if fit is None or not computed.when or any(isinstance(value, tuple) for value in computed.values):
        return
    gap = SeenValues(
        [np.asarray(v) - np.reshape(w, np.shape(v)) for v, w in zip(computed.values, fit.wants, strict=True)],
        computed.when, computed.clocks,
    )  # fmt: skip
    if _square(computed) and all(is_same(np.transpose(v), w) for v, w in zip(computed.values, fit.wants, strict=True)):
        yield "; it is its transpose"
    for seen, words in ((computed, ("", "minus ")), (gap, ("that + ", "that − "))):
        for sign, word in ((1.0, words[0]), (-1.0, words[1])):
            if any(np.any(value) for value in seen.values):
                yield from (f"; it is {word}{one.name}" for one in table.names_of(seen, sign) if one.kind <= SUM)
    yield _ratio(computed.values, fit.wants)


def _square(seen: SeenValues) -> bool:
    return all(np.ndim(v) == 2 and v.shape[0] == v.shape[1] > 1 for v in seen.values)


def _ratio(values: Sequence[Any], wants: Sequence[Any]) -> str:
    got, want = (np.concatenate([np.ravel(v) for v in part]) for part in (values, wants))
    size = float(want @ want)
    factor = float(got @ want) / size if size else 0.0
    return f"; it is {spelt(factor)} times that" if size and is_same(got, factor * want) and factor != 1 else ""
