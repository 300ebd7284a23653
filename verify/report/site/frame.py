"""The frame of the report's pages: what they are drawn from, how they link to each other, and what surrounds them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from spec.claims import Claim, load_claims
from verify.report import mathml, prose, wording
from verify.report.figures.drawing import Drawing
from verify.report.figures.plots import stylesheet
from verify.report.findings import proven
from verify.report.findings.outline import Outline, StatementOutline, outline
from verify.report.findings.reading_outline import ReadingOutline
from verify.report.model import NAMED, ReportData, Result
from verify.report.site.words import cell_numbers as numbers
from verify.report.site.words import number_signs
from verify.report.site.words.cell_numbers import CellNumber
from verify.report.site.words.glossary import explained
from verify.report.site.words.repeated_parts import said_once
from verify.verdict import Verdict

FRONT = "report.html"
"""The front page, which is whole by itself; all others lie in a folder beside it and share its style."""
FOLDER = "pages/"
STYLE, SCRIPT = f"{FOLDER}style.css", f"{FOLDER}site.js"
MARK = "/* f2csa-verify */"
"""What a style sheet or a script of ours begins with (:data:`spec.files.MARKS`)."""
APART = "-evidence.html"
"""How the file of a page ends that has the evidence of a long claim's steps."""
LIVING = f"{FOLDER}algorithm.html"
"""The page of the living Algorithm 1."""
MENU: tuple[tuple[str, str], ...] = (
    (FRONT, "The story"), (LIVING, "Break it yourself"),
    (f"{FOLDER}paper.html", "The paper, annotated"), (f"{FOLDER}objections.html", "Objections"),
    (f"{FOLDER}matrix.html", "All claims"),
    (f"{FOLDER}archive.html", "Archive"), (f"{FOLDER}glossary.html", "Symbols"),
)  # fmt: skip
"""Pages of the menu, by file; one that a report does not have is left out."""
OF_A_PROGRAM = "The program"
"""What the menu calls the front page of a report on a program that is not the reference: it tells no story."""


@dataclass(frozen=True)
class Page:
    """One page: where it goes (relative to the report's folder), its title, and what stands in ``<main>``.

    ``beside``: files that it alone asks for, path and text; its style sheets among them are linked in its head.
    """

    file: str
    title: str
    body: Markup
    description: str = ""
    beside: tuple[tuple[str, str], ...] = ()

    @property
    def is_front(self) -> bool:
        """Whether it lies beside the folder, and carries its style in itself."""
        return not self.file.startswith(FOLDER)

    @property
    def styles(self) -> tuple[str, ...]:
        """Its own style sheets."""
        return tuple(file for file, _ in self.beside if file.endswith(".css"))


@dataclass(frozen=True)
class SiteFrame:
    """What pages are drawn from; :attr:`base` is how the folder of pages is reached from the page being drawn."""

    report: ReportData
    outline: Outline
    drawing: Drawing
    claims: Mapping[str, Claim]
    base: str = ""
    files: tuple[str, ...] = ()
    """All pages of the report, once they are known; the menu shows those of them that it names."""
    _memory: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, report: ReportData, claims: Mapping[str, Claim] | None = None) -> SiteFrame:
        """All of a report, joined with the claims on record, those of ``spec`` by default."""
        arranged = outline(report, claims)
        return cls(report, arranged, Drawing(), load_claims() if claims is None else claims)

    @property
    def at_front(self) -> SiteFrame:
        """The same for the front page, from which the folder's pages are further away."""
        return replace(self, base=FOLDER)

    @cached_property
    def statements(self) -> Mapping[str, StatementOutline]:
        """Claims and steps of the run by full id."""
        return {entry.id: entry for entry in self.outline.statements}

    @cached_property
    def _by_command(self) -> Mapping[str, Result]:
        return {result.reproduce: result for result in self.report.results if result.reproduce}

    def deciding(self, reading: ReadingOutline) -> Result | None:
        """The result that decides a statement under a reading: its own, or that of a part it falls with."""
        own = reading.results[0] if reading.results else None
        if not reading.reproduce or (own is not None and own.reproduce == reading.reproduce):
            return own
        return self._by_command.get(reading.reproduce, own)

    def number(self, reading: ReadingOutline) -> CellNumber:
        """What a cell shows of a statement under a reading."""
        known: dict[str, CellNumber] = self._memory.setdefault("numbers", {})
        if reading.anchor not in known:
            known[reading.anchor] = self._with_theorems(reading, numbers.number_of(reading, self.deciding(reading)))
        return known[reading.anchor]

    def _with_theorems(self, reading: ReadingOutline, number: CellNumber) -> CellNumber:
        """With what theorems say; of a report on the paper alone, as none of that is a program's."""
        if not self.report.is_of_the_paper or reading.reading != "repaired" or reading.status != Verdict.SUPPORTED:
            return number
        firm = proven.firm_order(reading)
        order, by = (firm.order, firm.how) if firm else ("", "")
        return replace(number, grade=proven.grade(reading.claim), firm=order, firm_by=by)

    def cell(self, entry: StatementOutline, reading: str) -> CellNumber | None:
        """The number of a statement under a named reading; none where it was not run."""
        if reading in entry.named:
            return self.number(entry.named[reading])
        if entry.missing:
            word = numbers.word(entry.missing)
            return CellNumber(entry.missing, word, Markup.escape(word), word)
        return None

    def restated(self, entry: StatementOutline) -> str:
        """How the repaired text's claim differs from the printed one, ``claim weakened to O(α⁻¹)``; mostly empty."""
        return numbers.restated(entry.named.get("as-written"), entry.named.get("repaired"))

    def to_file(self, file: str) -> str:
        """The address of a page of the report, ``pages/matrix.html``, from the page being drawn."""
        if self.base:
            return file
        return file.removeprefix(FOLDER) if file.startswith(FOLDER) else f"../{file}"

    def living(self, **changed: str) -> str:
        """The address of the living Algorithm 1, repaired but for some choices; empty where the report has none."""
        if LIVING not in self.files:
            return ""
        reading = "&".join(["repaired", *(f"{field}={value}" for field, value in changed.items())])
        return f"{self.to_file(LIVING)}#{reading}" if changed else self.to_file(LIVING)

    def href(self, statement: str, reading: str = "") -> str:
        """The address of a statement on its claim's page, ``bias-bound.html#bias-bound/T3``; empty outside of the run.

        With a reading, that of its section there.
        """
        if statement not in self.statements:
            return ""
        at = f"{statement}.{reading.replace(':', '.')}" if reading else statement
        return f"{self.base}{claim_file(statement)}#{at}"

    def row(self, statement: str) -> str:
        """The address of a statement's row among all claims; empty outside of the run."""
        return f"{self.base}matrix.html#{statement}" if statement in self.statements else ""

    def link(self, statement: str, words: str | Markup | None = None) -> Markup:
        """A link to a statement, in plain words where it is not in the run."""
        shown = words if words is not None else Markup("<code>{}</code>").format(statement)
        href = self.href(statement)
        return Markup('<a href="{}">{}</a>').format(href, shown) if href else Markup("{}").format(shown)

    def sentence(self, text: str) -> Markup:
        """The text set as prose, opening with a capital, with the steps that it names linked."""
        return self._linked(wording.sentence(text), text)

    def clause(self, text: str) -> Markup:
        """The same within a sentence."""
        return self._linked(wording.typeset(text), text)

    def _linked(self, markup: Markup, text: str) -> Markup:
        shown = Markup(
            _TICKED.sub(lambda match: f"<code>{match[1] or match[2]}</code>", str(explained(markup)))
        )  # escaped already
        for name in sorted((name for name in _names_in(text) if name in self.statements), key=len, reverse=True):
            link = str(Markup('<a href="{}">{}</a>').format(self.href(name), name))
            shown = Markup(re.sub(rf"(?<![\w/#-]){re.escape(name)}(?![\w/-])", link.replace("\\", r"\\"), str(shown)))
        return shown

    def formula(self, latex: str, *, inline: bool = False) -> Markup:
        """A formula as MathML."""
        return mathml.formula(latex, inline=inline)

    @property
    def menu(self) -> Sequence[tuple[str, str]]:
        """The pages that every page leads to, file and words."""
        front = {} if self.report.is_of_the_paper else {FRONT: OF_A_PROGRAM}
        return [(file, front.get(file, words)) for file, words in MENU if file in self.files]


_TICKED = re.compile(r"`([^`<>]+)`|(?<![\w/.>-])([a-z][a-z_]*\.[A-Za-z]\w*_\w+)(?![\w/])")
"""What is set as code: what stands in back-ticks, and names of theorems."""
_STEP = re.compile(r"(?<![\w/-])[a-z][a-z-]+/[A-Za-z0-9-]+")


def _names_in(text: str) -> Iterable[str]:
    """Ids of steps in a text; a claim's bare name may be an ordinary word."""
    return dict.fromkeys(_STEP.findall(text))


RESERVED = ("algorithm", "matrix", "archive", "glossary", "objections", "paper")
"""Names of pages that no claim's page may take."""


def claim_file(statement: str) -> str:
    """The page of a claim and its steps, within the folder: ``bias-bound.html``; of an odd name, a plain one."""
    name = statement.split("/", 1)[0]
    plain = re.sub(r"[^A-Za-z0-9-]", "_", name)
    return f"{name}.html" if plain == name and name not in RESERVED else f"claim-{plain}.html"


def render(page: Page, site: SiteFrame) -> str:
    """A whole page; the same page of the same report gives the same bytes."""
    here = site.at_front if page.is_front else site
    style = Markup(stylesheet_text().replace("</", "<\\/")) if page.is_front else None  # our own file
    script = Markup(script_text().replace("</", "<\\/")) if page.is_front else None  # our own file
    whole = template("layout.html.j2").render(
        page=page, site=here, report=site.report, prose=prose, style=style, script=script
    )
    return said_once(whole)


@lru_cache(maxsize=1)
def stylesheet_text() -> str:
    """The style sheet of all pages, its font for formulas within."""
    font = base64.b64encode(_file("stix-two-math-subset.woff2")).decode("ascii")
    face = (
        "/* Formulas are set in a subset of STIX Two Math, Copyright 2001-2021 The STIX Fonts Project Authors,\n"
        "   SIL Open Font License 1.1: https://openfontlicense.org */\n"
        f'@font-face {{ font-family: "Formulas"; src: url(data:font/woff2;base64,{font}) format("woff2"); }}\n'
    )
    return f"{MARK}\n{_file('style.css').decode('utf-8')}\n{stylesheet()}\n{face}"


@lru_cache(maxsize=1)
def script_text() -> str:
    """The small script of all pages; each of them works without it."""
    return f"{MARK}\n{_file('site.js').decode('utf-8')}"


def _file(name: str) -> bytes:
    return (resources.files("verify.report") / "templates" / "site" / name).read_bytes()


@lru_cache(maxsize=32)
def template(name: str) -> Template:
    """A template of the site by name; everything put into it is escaped unless it is markup already."""
    environment = _environment()
    return environment.get_template(f"site/{name}")


def template_names() -> list[str]:
    """The site's templates that are rendered themselves, each as :func:`template` takes it."""
    return [name.removeprefix("site/") for name in _environment().list_templates(["j2"]) if name.startswith("site/")]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("verify.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"set": wording.typeset, "reading_title": wording.reading_title}
    environment.globals |= {
        "words": wording, "numbers": numbers, "named": NAMED, "mark": numbers.drawn_mark, "figure": numbers.figure,
        "signs": number_signs,
    }  # fmt: skip
    return environment


def drawn(name: str, site: SiteFrame, **more: Any) -> Markup:
    """A template's text as markup: the body of a page."""
    return Markup(template(name).render(site=site, report=site.report, outline=site.outline, **more))  # escaped there
