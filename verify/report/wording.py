"""The words and numerals of a report."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from markupsafe import Markup, escape

from spec.claims import Bound, Claim, Statement
from spec.formulas.powers import raised, superscript
from verify.evidence.model import LETTERS, ClosedForm, ComparisonEvidence, RateEvidence
from verify.evidence.rates.undecided import NOT_SETTLED as NOT_SETTLED
from verify.evidence.rates.undecided import rough as rough
from verify.report import signs
from verify.report.model import Result
from verify.verdict import Verdict

FAULT, NOT_CHECKED, LEFT_OPEN, MIXED = signs.FAULT, signs.NOT_CHECKED, signs.LEFT_OPEN, signs.MIXED
STATUSES: Mapping[str, signs.Status] = signs.STATUSES

ABOUT = {
    "mathematics": "About mathematics: problems and formulas are examined, no program takes part and none is credited.",
    "paper": "About the paper itself: its data, or what it quotes; no program is credited.",
}
"""What a statement that is not about a solver is about."""

QUESTIONS: dict[str, dict[str, str]] = {
    "can-be-met": {
        Verdict.SUPPORTED: "can be met", Verdict.REFUTED: "cannot be met", Verdict.VACUOUS: "cannot be met",
    },
    "falls-inside": {
        Verdict.SUPPORTED: "experiment falls inside", Verdict.REFUTED: "experiment falls outside",
    },
}  # fmt: skip
"""Words of a verdict where something else is asked than whether a statement holds."""
PLAIN: dict[str, str] = {Verdict.SUPPORTED: "holds", Verdict.REFUTED: "fails"}
UNSAID = {"silent": "not in the text; {}", "consequence": "not in the text, follows from it; {}"}
"""What stands before the verdict on a statement that the text does not make."""
TEXTS = {
    "said": "As written", "implied": "As the text takes for granted", "silent": "Not in the text",
    "consequence": "Our consequence of the text",
}  # fmt: skip
"""The literal reading's heading, by how a statement stands to the paper's words."""

READINGS: dict[str, tuple[str, str]] = {
    "as-written": ("As written", "The literal text; only the choices that this very statement makes are taken so."),
    "repaired": ("Repaired", "The choices and hypotheses under which the mathematics is believed to hold."),
    "only": ("One choice alone", "A single choice as written and all others repaired, to isolate its effect."),
}

RUNGS: dict[str, str] = {
    "proven": "A theorem for every problem that meets its premises, machine-checked; of a statement, not of a result.",
    "proven in part": "Machine-checked theorems of a part of it; what they leave out stands on the statement's page.",
    "derived": "The order follows from those of its parts, step by step (`f2csa orders`); constants are not said.",
    "certified": "Exact algebra: holds for every value in an interval, on this instance.",
    "symbolic": "An exact series; its leading term and exponent are derived.",
    "numeric": "A sweep of computed values, each with its rounding error.",
    "statistical": "Random samples, with the probability of a false refutation and of a false support.",
    "cited": "Nothing was computed: a fact from the named source, set beside what the paper quotes.",
}

VARIABLES = LETTERS | {"radius": "R", "h_width": "τδ", "lam_width": "ε_λ", "sigma_min_B": "σ_min(B)",
                       "kappa_g": "κ_g"}  # fmt: skip
"""Letters of the paper for whatever is measured along."""
_NAMED = {"y_star": "y*", "lam_star": "λ*", "grad_F": "∇F", "mu_g": "μ_g"}
"""Letters of the paper for other values by name."""


def status_of(result: Result) -> str:
    """The result's verdict, or ``FAULT``."""
    return FAULT if result.verdict is None else str(result.verdict)


def word(status: str) -> str:
    """A status as prose has it."""
    return STATUSES[status].word if status in STATUSES else status.lower().replace("_", " ")


def is_said(statement: Statement | None) -> bool:
    """Whether the text makes a statement, in words or by taking it for granted."""
    return statement is None or statement.relation not in UNSAID


def asks_of_experiment(statement: Statement | None) -> bool:
    """Whether what is asked is on which side of an assumption the paper's experiment falls."""
    return statement is not None and statement.question == "falls-inside"


def told(status: str, statement: Statement | None, reading: str) -> str:
    """A status in the words that suit a statement: what is asked of it, and whether the text says it."""
    words = QUESTIONS.get(statement.question, {}).get(status) if statement else None
    if statement is None or is_said(statement) or reading == "repaired":
        return words or word(status)
    return UNSAID[statement.relation].format(words or PLAIN.get(status, word(status)))


def mark(status: str) -> str:
    """Its character, if it has one."""
    sign = STATUSES.get(status) or signs.SHADES.get(status)
    return sign.mark if sign else ""


def marked(status: str) -> str:
    """``✓ supported``."""
    return f"{mark(status)} {word(status)}".strip()


def choice_of(reading: str) -> str:
    """The field isolated by a reading ``only:FIELD``, else the empty string."""
    return reading.removeprefix("only:") if reading.startswith("only:") else ""


def reading_title(reading: str, statement: Statement | None = None) -> str:
    """A reading as a heading has it; the literal one says how the statement stands to the text."""
    field = choice_of(reading)
    if field:
        return f"Only {field} as written"
    if reading == "as-written" and statement is not None:
        return TEXTS[statement.relation]
    return READINGS[reading][0] if reading in READINGS else reading


def number(value: float, digits: int = 4) -> str:
    """A number for reading: a true minus sign, ``∞``, powers of ten beyond six digits."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        shown = f"{value:.{digits}g}"
        return (f"{value:.0f}" if "e" in shown else shown).replace("-", "−")
    mantissa, _, tens = f"{value:.{digits - 1}e}".partition("e")
    shown = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{shown} × 10{superscript(int(tens))}".replace("-", "−")


def exponent(value: float, decimals: int = 2) -> str:
    """An exponent: fixed decimals, so that a column of them compares by eye."""
    if not math.isfinite(value):
        return number(value)
    # Adding zero turns a rounded -0.0 into 0.0.
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def interval(bounds: tuple[float, float]) -> str:
    """An interval with two decimals, or three where it is narrow."""
    low, high = bounds
    width = high - low
    decimals = 2 if not math.isfinite(width) or width <= 0 else min(3, max(2, -math.floor(math.log10(width))))
    return f"[{exponent(low, decimals)}, {exponent(high, decimals)}]"


def letter(variable: str) -> str:
    """A swept variable as the paper writes it."""
    known = VARIABLES.get(variable) or _NAMED.get(variable)
    return known or (variable.replace("_", " ") if len(variable) > 4 else variable)


def bound(claimed: Bound) -> str:
    """A claimed bound in one line: ``O(α¹)``, or the relation of a plain comparison."""
    if not claimed.exponents:
        return "equality" if claimed.tag == "equality" else f"{claimed.tag} bound"
    powers = " ".join(raised(letter(name), exponent) for name, exponent in claimed.exponents.items())
    symbol = {"upper": "O", "lower": "Ω", "tight": "Θ", "equality": "∝"}[claimed.tag]
    return f"∝ {powers}" if symbol == "∝" else f"{symbol}({powers})"


def comparison(evidence: ComparisonEvidence) -> str:
    """``measured ≤ predicted (± tolerance)``."""
    relation = {"<=": "≤", ">=": "≥", "==": "="}[evidence.relation]
    if not evidence.holds:
        relation = {"<=": "≰", ">=": "≱", "==": "≠"}[evidence.relation]
    slack = f" ± {number(evidence.tolerance, 2)}" if evidence.tolerance else ""
    return f"{number(evidence.measured, 6)} {relation} {number(evidence.predicted, 6)}{slack}"


def is_fitted(evidence: RateEvidence) -> bool:
    """Whether its exponent is a fit to points; others are derived, proven, or read in a source."""
    derived = evidence.coefficient is not None or evidence.rung not in ("numeric", "statistical")
    return not derived and math.isfinite(evidence.exponent)


def is_settled(evidence: RateEvidence) -> bool:
    """Whether its exponent may be shown with digits and interval: no fit that its own evidence calls unsettled."""
    return evidence.settled or not is_fitted(evidence)


def rate(evidence: RateEvidence) -> str:
    """``exponent 2.00 [1.99, 2.01] in α``, ``about −9 in ε, not settled``, or that the quantity is exactly zero."""
    if evidence.exponent == math.inf:
        return exact(evidence) if evidence.held_at else f"exactly zero at every {letter(evidence.variable)}"
    if not evidence.points:
        return exact(evidence)
    name = letter(evidence.variable)
    if not is_settled(evidence):
        return f"exponent about {number(rough(evidence.exponent))} in {name}, {NOT_SETTLED}"
    return f"exponent {exponent(evidence.exponent)} {interval(evidence.interval)} in {name}"


def exact(evidence: RateEvidence) -> str:
    """``exactly ∝ α², ≤ 1.94·α up to α = 0.25``: a derived exponent and the bounds proven with it, by the formulas."""
    whose = "by the formulas " if evidence.held_at else ""
    if evidence.exponent == math.inf:
        return f"{whose}exactly zero"
    name = letter(evidence.variable)

    def times(constant: float, exponent: float) -> str:
        return number(constant, 4) + (f"·{raised(name, exponent)}" if exponent else "")

    lead = ""
    if evidence.coefficient is not None:
        lead = f"{whose}exactly {times(evidence.coefficient, evidence.exponent)} + …"
    proven = [
        f"{'≤' if bound.side == 'upper' else '≥'} {times(bound.constant, bound.exponent)} up to {name} = {bound.end:g}"
        for bound in evidence.bounds
    ]
    return "; ".join([*([lead] if lead else []), *(["proven " + " and ".join(proven)] if proven else [])])


def closed(form: ClosedForm) -> str:
    """The formula, said to be only its first terms, or not this subject's, where it is so."""
    return (
        form.text + ("" if form.whole else " (first terms)") + ("" if form.measured else ", which this subject leaves")
    )


def context(values: Mapping[str, float | str]) -> str:
    """Where something was measured: ``α = 0.1, instance row = 2``."""
    return ", ".join(
        f"{letter(name)} = {value if isinstance(value, str) else number(value)}" for name, value in values.items()
    )


def listing(parts: Iterable[str]) -> str:
    """``a, b and c``."""
    words = list(parts)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else ""


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 claim``, ``2 claims``."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def tally(status: str, counts: Mapping[str, int]) -> str:
    """How the instances came out: ``refuted on 4 of 6 instances, supported on 2``."""
    total = sum(counts.values())
    known = sorted((name for name in counts if counts[name]), key=lambda name: name != status)
    if len(known) == 1:
        return f"{word(known[0])} on {f'all {total} instances' if total > 1 else 'one instance'}"
    shown = [f"{word(name)} on {counts[name]}" for name in known]
    if shown:
        shown[0] += f" of {counted(total, 'instance')}"
    return ", ".join(shown)


def place(claim: Claim) -> str:
    """What the paper calls the claim: ``Lemma``, ``Theorem``; nothing for context."""
    return "" if claim.kind == "context" else claim.kind.capitalize()


_GREEKS = "α-ωΑ-Ωℒℓ"
_BASE = rf"\)|[{_GREEKS}]\u0303?|(?<![A-Za-z_.])(?:[Dd]?[A-Za-z]\u0303?|Var|clip|sup|inf|min|max|dist)"
"""What carries an index: a Greek letter anywhere, a Latin one that ends no longer name."""
_INDEX = r"\{[^{}]{1,24}\}|∇h|[α-ωΑ-Ω]|ỹ\*?|[A-Za-z0-9]{1,4}(?![A-Za-z0-9_])"
_SUBSCRIPT = re.compile(rf"((?:{_BASE})[*′]?)_({_INDEX})")
_NABLA = re.compile(r"(∇²)_(\{[^{}]{1,24}\}|[a-z]{2})|([∇∂])_(\{[^{}]{1,24}\}|[a-zα-ω])")
_POWER = re.compile(r"(?<=[\w)\u0303>])\^(\{[^}]{1,24}\}|\([^()]{1,8}\)|[-−+]?\d+(?:[./]\d+)?|[A-Za-z*]\b|\*)")
_ONE = re.compile(r"\^1(?![\d./])")
_TENS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]\d+)\b")
_MINUS = re.compile(r"(?<![\w.)])-(?=\d)| - ")
_PLUS = re.compile(r"(?<![\w.)])\+(?=\d)")
_SIGNS = (
    ("&lt;=", "≤"), ("&gt;=", "≥"), ("==", "="), ("delta_G", "δ_G"), ("sigma_min_B", "σ_min(B)"), ("kappa_g", "κ_g"),
)  # fmt: skip
_GREEK = {"alpha": "α", "delta": "δ", "epsilon": "ε", "eta": "η", "kappa": "κ", "lambda": "λ", "mu": "μ", "rho": "ρ",
          "sigma": "σ", "tau": "τ"}  # fmt: skip

_SPELT = re.compile(rf"(?<![\w.-])({'|'.join(_GREEK)})(?![\w-]|\.\w)")
_WORD = re.compile(r"[a-z]{2,}\b")


@lru_cache(maxsize=16_384, typed=True)  # a report says most things several times; markup is not text that looks like it
def typeset(text: str) -> Markup:
    """The text as HTML, with subscripts, powers (of ten, too), relations and Greek letters set; all else is escaped.

    Names of several letters, such as ``dual_term``, are left alone.
    """
    shown = _TENS.sub(_ten, str(escape(text)))
    shown = _PLUS.sub("", shown)
    for plain, sign in _SIGNS:
        shown = shown.replace(plain, sign)
    shown = _SPELT.sub(lambda match: _GREEK[match[1]], shown)
    shown = _NABLA.sub(_indexed, _ONE.sub("", shown))
    for _ in range(2):  # an index may end where the next letter stands
        shown = _SUBSCRIPT.sub(_indexed, shown)
    shown = _POWER.sub(lambda match: f"<sup>{match[1].strip('{}+()').replace('-', '−')}</sup>", shown)
    return Markup(_MINUS.sub(lambda match: match[0].replace("-", "−"), shown))  # escaped above


def _ten(match: re.Match[str]) -> str:
    power = f"10^{int(match[2])}"
    return power if match[1] == "1" else f"{match[1]} × {power}"


def _indexed(match: re.Match[str]) -> str:
    base, index = (part for part in match.groups() if part is not None)
    return f"{base}<sub>{index.strip('{}')}</sub>"


def sentence(text: str, anchors: Mapping[str, str] | None = None) -> Markup:
    """The text set as prose, opening with a capital, with the steps it names linked to their sections."""
    opening = text[:1].upper() + text[1:] if _WORD.match(text) else text
    shown = typeset(opening)
    # Only steps: a claim's bare name may be an ordinary word.
    names = [name for name in anchors or {} if "/" in name and name in text]
    for name in sorted(names, key=len, reverse=True):
        link = str(Markup('<a href="#{}">{}</a>').format((anchors or {})[name], name))
        shown = Markup(re.sub(rf"(?<![\w/-]){re.escape(name)}(?![\w/-])", link.replace("\\", r"\\"), str(shown)))
    return shown
