"""Which evidence each result of the reference holds, as recorded by running: so that none can be left out unseen.

``python -m verify.campaign.recheck FOLDER`` records it anew (:mod:`verify.campaign.recheck.recording`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import resources
from pathlib import Path

from spec.claims import find as find_claim
from spec.formulas import plain_text, words_observed
from verify.checks.measuring.identity.identity import PREMISE
from verify.evidence.budget import Share
from verify.evidence.model import STANDS_FOR, ComparisonEvidence, Evidence, PremiseEvidence
from verify.report.model import ReportData, Result
from verify.verdict import Verdict

RECORD = resources.files("verify.campaign.recheck") / "records" / "evidence.json"
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def kind_of(item: Evidence, share: Share) -> str:
    """What a piece of evidence is, without its numbers: a premise with its finding, or a quantity with its rung."""
    if isinstance(item, PremiseEvidence):
        met = "met" if item.holds else "not met" if item.satisfiable else "cannot be met"
        return f"premise {item.premise}: {met}"
    name = _NUMBER.sub("#", item.quantity)
    relation = f" {item.relation}" if item.kind == "comparison" else f" in {item.variable}"
    # Which law the samples allowed is theirs; what is asked of them is not.
    law = STANDS_FOR.get(str(item.law), item.law)
    spent = "" if item.error_rate is None else f", {law}, share/{_parts(item.error_rate, share)}"
    return f"{item.role} {item.kind} ({item.rung}{spent}) of {name}{relation}"


def _parts(error: float, share: Share) -> str:
    """In how many parts a share was split; a fixed sample's share by its level is said as such."""
    parts, single = share.error / error, (share.level + 1) * (share.level + 2)
    return "level" if round(parts) == single else f"{parts:.4g}"


def asked(kind: str) -> str:
    """A kind as it is for every subject: an exact rate decides only where the subject agrees with it."""
    kind = re.sub(r"^(conclusion|support) rate \((certified|symbolic)\)", r"rate (\2)", kind)
    # Less noise than stated is held against an upper bound alone, and noise of another shape does not decide.
    return re.sub(r"^(?:conclusion|support) (comparison .*\(chi-square\).*) (?:==|<=)$", r"\1", kind)


@lru_cache(maxsize=1)
def recorded() -> dict[str, tuple[str, ...]]:
    """Kinds of evidence of each result of the reference, by ``claim|reading|instance``."""
    data = json.loads(RECORD.read_text(encoding="utf-8"))
    kinds = data["kinds"]
    return {
        f"{statement}|{instance}": tuple(kinds[k] for k in chosen)
        for statement, groups in data["results"].items()
        for chosen, instances in groups
        for instance in instances
    }


def missing(result: Result, share: Share, *, reference: bool) -> Iterator[str] | None:
    """Evidence that was left out, or does not belong there, one line each; ``None`` where none is on record.

    Of another subject than the reference an exact rate may decide or not, and what is refuted may be so by other means:
    leaving something out then hides nothing. A result without any evidence is not judged here.
    """
    expected = recorded().get(result.key)
    if expected is None or (result.verdict is Verdict.REFUTED and not reference):
        return None
    kinds = [kind_of(item, share) for item in result.evidence]
    if reference:
        return _missing(expected, kinds, [])
    own = [asked(kind) for kind, item in zip(kinds, result.evidence, strict=True) if _is_own(item)]
    return _missing(map(asked, _without_formula(result, expected)), map(asked, kinds), own)


def _without_formula(result: Result, expected: Iterable[str]) -> list[str]:
    """What is expected but for what the statement's formula decides: that stands beside the reference's alone."""
    node = find_claim(result.claim).assertion(result.reading).proposition
    if node is None or node.kind != "relation" or words_observed(node):
        return list(expected)
    texts = f" of {plain_text(node)}", f" of {plain_text(node.args[0])}"
    exact = "(symbolic)", "(certified)"
    return [kind for kind in expected if not any(f"{rung}{text}" in kind for rung in exact for text in texts)]


def _is_own(item: Evidence) -> bool:
    """Whether it may be about a foreign subject alone: what speaks against it flatters nobody."""
    return (isinstance(item, PremiseEvidence) and item.premise == PREMISE) or (
        isinstance(item, ComparisonEvidence) and not item.holds
    )


def _missing(expected: Iterable[str], present: Iterable[str], own: Iterable[str]) -> Iterator[str]:
    wanted, held = Counter(expected), Counter(present)
    for kind in wanted - held:
        yield f"must hold: {kind}"
    for kind in held - wanted - Counter(own):
        yield f"must not hold: {kind}"


def inventory(results: Iterable[Result], share: Share) -> dict[str, object]:
    """The record of what results hold, as written to the file: alike ones together."""
    kinds: dict[str, int] = {}
    by_statement: dict[str, dict[tuple[int, ...], list[str]]] = {}
    for result in results:
        chosen = tuple(kinds.setdefault(kind_of(item, share), len(kinds)) for item in result.evidence)
        by_statement.setdefault(f"{result.claim}|{result.reading}", {}).setdefault(chosen, []).append(result.instance)
    return {
        "kinds": list(kinds),
        "results": {key: list(map(list, groups.items())) for key, groups in by_statement.items()},
    }


def write(report: ReportData, share: Share, path: Path) -> None:
    """Record which evidence a report of the reference holds, a kind and a statement a line."""
    data = inventory(report.results, share)
    kinds = ",\n".join("  " + json.dumps(kind, ensure_ascii=False) for kind in data["kinds"])  # type: ignore[attr-defined]
    rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(groups)}" for key, groups in data["results"].items())  # type: ignore[attr-defined]
    path.write_text(f'{{\n "kinds": [\n{kinds}\n ],\n "results": {{\n{rows}\n }}\n}}\n', encoding="utf-8")
