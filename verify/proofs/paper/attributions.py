"""Labels, references and what is attributed to them, numbered parts, terms of a sum that are named, files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from spec.text.extract import LONGEST, Passage
from verify.proofs.paper.structure import THEOREM_LIKE, Document, Heading
from verify.proofs.paper.symbols import plain, shown, symbols
from verify.proofs.paper.tex import braced

_REFERENCE = re.compile(
    r"\\(?:[cC]ref|ref|eqref|autoref|pageref|nameref|vref|hyperref)\*?\s*[\[{]([^\]{}\n]{1,200})[\]}]"
    r"(?:\s|\\,|~)*(?:\((?P<item>[ivx]{1,4}|\d|[a-h])\)(?!\s*--))?"
)
_ITEM = re.compile(r"\\item\s*\[\s*\(?([ivx]{1,4}|\d|[a-h])[).]\s*\]")
_NAMED = r"(?:Assumptions?|Lemmas?|Theorems?|Propositions?|Corollar(?:y|ies)|Definitions?)"
_BEFORE = re.compile(rf"(?:our\s+|the\s+)?{_NAMED}[\s~]*\Z")
_PASSIVE = re.compile(
    r"\b(?:is|are)\s+(?:\w{1,12}ly\s+)?(?:bounded|given|ensured|guaranteed|implied|provided)\s+by\s*\Z"
)
_CONDITION = re.compile(r"(?P<said>⟦\d+⟧)\s*\(\s*(?:from|by|see)?\s*\Z")
_LEADING = re.compile(r"(?:\A|\s)(?:By|by|From|from)\s+\Z")
_ON = re.compile(r"\A\s*on\s+(?P<said>[^).,;]{1,200})")
_WHICH = re.compile(
    r"\A\s*,?\s*(?P<how>which|states that|gives|shows that|implies that|we know that|for)\s+(?P<said>[^.;]{1,240})"
)
_THEN = re.compile(r"\A\s*,\s*(?P<said>[^.;]{1,240})")
_PART = re.compile(r"\b(Part|Step|Case|Phase)\s+(\d{1,2})\b")
_ORDINALS = ("first", "second", "third", "fourth")
_FILE = re.compile(
    r"\\(includegraphics|input|include|bibliography|addbibresource)\s*(?:\[[^\[\]]{0,200}\])?\s*\{([^{}\n]{0,200})\}"
)
_DECLARED = re.compile(
    r"\\(?:newtheorem|declaretheorem|newenvironment|NewDocumentEnvironment|newtcbtheorem|newmdtheoremenv)\*?"
    r"\s*(?:\[[^\[\]]{0,300}\])?\s*\{([^{}\n]{1,60})\}"
)
BARE_CLASSES = ("article", "report", "book", "scrartcl", "scrreprt", "scrbook", "extarticle", "minimal")
"""Document classes that bring no theorem-like environment along."""
_ARGUMENTS = re.compile(r"\([a-z](?:\s*,\s*[a-z])*\)")
"""What a function is of: it is in every statement on that function."""
_WINDOW = 400


def environments(document: Document) -> Iterator[Passage]:
    """Theorem-like environments, declared and used; none are said to be used where a class or file may declare them."""
    for match in _DECLARED.finditer(document.text):
        yield Passage(kind="declared", line=document.line(match.start()), name=match[1].strip() or "?")
    loaded = re.search(r"\\documentclass\s*(?:\[[^\[\]]{0,300}\])?\s*\{([^{}]{1,60})\}", document.text)
    elsewhere = re.search(r"\\(?:(?:input|include)\b|usepackage\s*(?:\[[^\[\]]*\])?\s*\{\s*\.{0,2}/)", document.text)
    if loaded is None or loaded[1].strip() not in BARE_CLASSES or elsewhere:
        return
    for span in document.spans:
        if span.name in THEOREM_LIKE or (span.macro and span.name != "equation"):
            yield Passage(kind="environment", line=document.line(span.start), name=span.name, place=span.key[:LONGEST])


def references(document: Document) -> Iterator[Passage]:
    """Every label and every reference, with what the words beside it attribute to it."""
    passages = [passage for match in _REFERENCE.finditer(document.text, document.source.body)
             for passage in _referred(document, match)]  # fmt: skip
    items_by_label: dict[str, set[str]] = {}
    for passage in passages:
        label, _, item = passage.name.partition(" (")
        if item and passage.symbols:
            items_by_label.setdefault(label, set()).add(item.removesuffix(")"))
    for label, offset in document.labels:
        environment = document.labelled[label].name if label in document.labelled else ""
        line = document.line(offset)
        inside = _symbols_at(document, label, "")
        yield Passage(kind="label", line=line, name=label[:LONGEST], says=environment, symbols=inside)
        for item in sorted(items_by_label.get(label, ())):
            name, inside = f"{label} ({item})", _symbols_at(document, label, item)
            yield Passage(kind="label", line=line, name=name[:LONGEST], says=environment, symbols=inside)
    yield from passages


def _symbols_at(document: Document, label: str, item: str) -> tuple[str, ...]:
    span = document.labelled.get(label)
    if span is None:
        return _symbols_beside(document, label)
    start, stop = span.start, span.stop
    if item:
        items = list(_ITEM.finditer(document.text, start, stop))
        at = next((i for i, match in enumerate(items) if match[1] == item), None)
        if at is not None:
            start = items[at].start()
            stop = items[at + 1].start() if at + 1 < len(items) else stop
    inside = (name for formula in document.formulas_in(start, stop) for name in symbols(formula.plain))
    return tuple(dict.fromkeys(name[:LONGEST] for name in inside))


def _symbols_beside(document: Document, label: str) -> tuple[str, ...]:
    """Symbols of the line of a displayed formula that carries a label, or of all of it where it has one."""
    formula = document.displays.get(label)
    if formula is None:
        return ()
    lines = re.split(r"\\\\", formula.tex) if formula.tex.count("\\label") > 1 else [formula.tex]
    line = next((line for line in lines if f"\\label{{{label}}}" in line), formula.tex)
    return _symbols_in(document.expanded(line))


@lru_cache(maxsize=64)
def _symbols_in(tex: str) -> tuple[str, ...]:
    return tuple(name[:LONGEST] for name in symbols(plain(tex)))


def _referred(document: Document, match: re.Match[str]) -> Iterator[Passage]:
    line, place = document.line(match.start()), document.place(match.start())
    labels = [label.strip() for label in match[1].split(",") if label.strip()]
    item = match["item"] or ""
    for label in labels:
        name = f"{label} ({item})" if item else label
        claims = _attributed(document, match) if len(labels) == 1 else []
        for words in claims or [""]:
            formula = plain(document.expanded(words))
            inside = tuple(symbol[:LONGEST] for symbol in symbols(_ARGUMENTS.sub(" ", formula)) or symbols(formula))
            says = shown(formula, 80) if inside else ""
            yield Passage(kind="reference", line=line, name=name[:LONGEST], says=says, place=place[:LONGEST],
                          symbols=inside)  # fmt: skip


def _attributed(document: Document, match: re.Match[str]) -> list[str]:
    """Formulas of the clauses that are attributed to a reference by name, one text a clause."""
    text = document.text
    before, after = text[max(0, match.start() - _WINDOW) : match.start()], text[match.end() : match.end() + _WINDOW]
    before = re.split(r"\n[ \t]*\n|(?<=[a-z)$])\.\s", before)[-1]
    after = re.split(r"\n[ \t]*\n|(?<=[\w)$}])\.\s", after)[0]
    masked: list[str] = []

    def mask(formula: re.Match[str]) -> str:
        masked.append(formula[1])
        return f"⟦{len(masked) - 1}⟧"

    if before.count("$") % 2:
        before = before.partition("$")[2]
    before = re.sub(r"\$([^$]*)\$", mask, before)
    after = re.sub(r"\$([^$]*)\$", mask, after).partition("$")[0]
    named = _BEFORE.search(before)
    if named is None:
        return []
    clauses = _clauses(before[: named.start()], after)
    formulas = [" , ".join(masked[int(at)] for at in re.findall(r"⟦(\d+)⟧", clause)) for clause in clauses]
    return [formula for formula in formulas if formula.strip()]


def _clauses(before: str, after: str) -> list[str]:
    on, passive, condition = _ON.match(after), _PASSIVE.search(before), _CONDITION.search(before)
    if on:
        return [on["said"]]
    if condition:
        return [condition["said"]]
    if passive:
        return _split(re.split(r"[.;]", before[: passive.start()])[-1])[-1:]
    which = _WHICH.match(after)
    if which:
        parts = _split(which["said"])
        return parts if which["how"] == "which" else parts[:1]
    then = _THEN.match(after) if _LEADING.search(before) else None
    return _split(then["said"])[:1] if then else []


def _split(clause: str) -> list[str]:
    return [part for part in re.split(r",\s|\band\b", clause) if "⟦" in part]


def parts(document: Document) -> Iterator[Passage]:
    """Numbered headings, and headings that name one term of a displayed sum before a text on another."""
    for heading in document.headings:
        line = document.line(heading.start)
        numbered = _PART.match(heading.text)
        if numbered:
            proof = next((p.key for p in document.proofs if p.start <= heading.start < p.stop), "")
            where = f"proof of {proof}"[:LONGEST] if proof else ""
            yield Passage(kind="part", line=line, name=numbered[1], says=shown(heading.text, 60), place=where,
                          number=int(numbered[2]))  # fmt: skip
        yield from _terms(document, heading)


def _terms(document: Document, heading: Heading) -> Iterator[Passage]:
    referred = _REFERENCE.search(heading.text)
    label = referred[1] if referred else ""
    following = document.text[heading.stop : heading.stop + 300]
    told = re.search(rf"\b({'|'.join(_ORDINALS)})\s+term\s+in\s+\\\w*ref\{{{re.escape(label)}\}}", following)
    names = _underbraced(document, label) if label and told else []
    words = set(re.findall(r"[a-z]{3,}", heading.text.lower()))
    named = [at for at, name in enumerate(names, 1) if name and set(re.findall(r"[a-z]{3,}", name.lower())) <= words]
    if told and len(named) == 1:
        place = document.place(heading.start)[:LONGEST]
        yield Passage(kind="term", line=document.line(heading.start), name=label, says="heading", number=named[0],
                      place=place)  # fmt: skip
        yield Passage(kind="term", line=document.line(heading.stop + told.start()), name=label, says="text",
                      number=_ORDINALS.index(told[1]) + 1, place=place)  # fmt: skip


def _underbraced(document: Document, label: str) -> list[str]:
    """Words under the braces of the displayed formula that holds a label, in order."""
    formula = document.displays.get(label)
    names = []
    for match in re.finditer(r"\\underbrace\s*(?=\{)", formula.tex if formula else ""):
        inner = braced(formula.tex, match.end()) if formula else None
        stop = match.end() + len(inner or "") + 2
        after = formula.tex[stop : stop + 200] if formula and inner is not None else ""
        below = re.match(r"\s*_\s*\{\s*\\text\s*\{([^{}]*)\}", after)
        names.append(below[1] if below else "")
    return names


def files(document: Document) -> Iterator[Passage]:
    """Files that are included, by their names as written."""
    for match in _FILE.finditer(document.text):
        for name in match[2].split(",") if match[1] == "bibliography" else [match[2]]:
            yield Passage(kind="file", line=document.line(match.start()), name=name.strip(), says=match[1])
