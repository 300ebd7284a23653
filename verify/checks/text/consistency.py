"""The paper's text against itself: passages of its source compared by rules, as they stand and as corrected."""

from __future__ import annotations

from dataclasses import dataclass

from spec.claims import find as find_claim
from spec.text.extract import Extract, Passage, PassageKind, corrected_extract, load_extract
from verify.checks.measuring.case import Case, Measurement, check, compare
from verify.proofs.paper.findings import PaperFinding
from verify.proofs.paper.linting import RULES, lint

UNUSED = "label-unused"
"""A rule of good order: a label that nothing refers to contradicts nothing."""
ENOUGH = "passages that could contradict each other, number"
SHOWN = 4
"""Findings quoted beside a number of them."""


@dataclass(frozen=True)
class Compared:
    """What one step compares: by which rules, for which symbols or quantities (all if none), among which passages: at
    least two, but where one says it all.
    """

    rules: tuple[str, ...]
    kinds: tuple[PassageKind, ...]
    only: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    least: int = 2

    def findings(self, extract: Extract) -> list[PaperFinding]:
        """What the rules find about them."""
        return [finding for finding in lint(extract, self.rules) if self._meant(finding.subject)]

    def passages(self, extract: Extract) -> int:
        """How many passages were compared."""
        return sum(not self.only or passage.name in self.only for passage in extract.of(*self.kinds))

    def _meant(self, subject: str) -> bool:
        return (not self.only or subject in self.only) and subject not in self.besides


STEPS = {
    "labels": Compared(("label-missing", "label-doubled"), ("label", "reference")),
    "environments": Compared(("environment-undeclared",), ("environment", "declared")),
    "attributions": Compared(("reference-attribution",), ("reference",)),
    "parts": Compared(("part-missing", "term-named"), ("part", "term")),
    "figures": Compared(("file-unnamed",), ("file",)),
    "accuracy-and-radius": Compared(("symbol-words",), ("meaning",)),
    "noise-level": Compared(("symbol-bounds",), ("bound",)),
    "iterates-and-means": Compared(("symbol-index",), ("definition",)),
    "proof-terms": Compared(("symbol-formulas",), ("definition",), only=("T_1", "T_2", "T_3")),
    "activation-weights": Compared(("symbol-formulas",), ("definition",), besides=("T_1", "T_2", "T_3")),
    "undefined-variants": Compared(("symbol-undefined",), ("symbol",)),
    "glyphs": Compared(("symbol-glyphs",), ("glyphs",), least=1),
    "derived-or-assumed": Compared(("derived-or-assumed",), ("stance",)),
    "lipschitz-name": Compared(("constant-names",), ("constant",)),
    "random-draws": Compared(("draw-missing",), ("draw", "part-of")),
    "mean-or-sure": Compared(("mean-or-sure",), ("mean",)),
    "domain": Compared(("domain",), ("domain",)),
    "pair-order": Compared(("pair-order",), ("pair",)),
    "solver-names": Compared(("solver-names",), ("solver",)),
    "schedule-powers": Compared(("order-powers",), ("order",), besides=("T", "μ", "α")),
    "outer-calls": Compared(("order-powers", "order-letters"), ("order",), only=("T",)),
    "curvature": Compared(("order-powers", "order-letters"), ("order",), only=("μ",)),
    "accuracy-range": Compared(("order-powers",), ("order",), only=("α",)),
    "order-letters": Compared(("order-letters",), ("order",), besides=("T", "μ")),
    "upper-bounds": Compared(("theta-bound",), ("order", "upper")),
}
"""By step: together they take in every finding of every rule but that on unused labels, each once."""


def counted(extract: Extract, compared: Compared, quantity: str) -> Measurement:
    """How many findings there are, where there is something to compare; the first of them quoted with their lines."""
    findings = compared.findings(extract)
    seen = float(compared.passages(extract))
    values: dict[str, float | str] = {}
    for finding in findings[:SHOWN]:
        values[f"{_lines(finding)}, {finding.subject}"] = finding.why
    context: dict[str, float | str] = {"passages": seen}
    if findings:
        context["first"] = _lines(findings[0])
    number = compare(quantity, float(len(findings)), "==", 0.0, rung="cited", context=context)
    enough = compare(ENOUGH, seen, ">=", float(compared.least), rung="cited")
    return Measurement((number, enough), values, "; ".join(finding.why for finding in findings[:1]))


def _lines(finding: PaperFinding) -> str:
    return f"line {finding.line}" + (f" against line {finding.there.line}" if finding.there is not None else "")


def extract_for(case: Case) -> Extract:
    """The source's passages as they stand, or as corrected; where X is R^n, with the one written for the other."""
    extract = load_extract() if case.as_written else corrected_extract()
    decides = "upper_set" in find_claim(case.claim).open_choices
    if not (case.as_written and decides and case.sense.upper_set == "whole-space"):
        return extract
    passages = (_on_the_whole_space(one) if one.kind == "domain" else one for one in extract.passages)
    return extract.model_copy(update={"passages": tuple(passages)})


def _on_the_whole_space(passage: Passage) -> Passage:
    return passage.model_copy(update={"says": "ℝ^n"}) if passage.says == "X" else passage


def _register(claim: str, compared: Compared) -> None:
    @check(claim, instances=("toy1",))
    def contradictions(case: Case) -> Measurement:
        return counted(extract_for(case), compared, case.bound.quantity)


EVERYTHING = Compared(
    tuple(rule for rule in RULES if rule != UNUSED),
    tuple(dict.fromkeys(kind for compared in STEPS.values() for kind in compared.kinds)),
)
_register("consistency", EVERYTHING)
for _step, _compared in STEPS.items():
    _register(f"consistency/{_step}", _compared)
