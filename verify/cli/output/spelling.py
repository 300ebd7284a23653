"""What a terminal without Greek letters shows: the paper's symbols spelt in ASCII, ``α⁻²`` as ``alpha^-2``."""

from __future__ import annotations

import codecs
import os
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from rich.padding import Padding
from rich.table import Table
from rich.text import Span, Text

HANDLER = "f2csa-spelt"
"""Name of the codec error handler that spells what an encoding cannot show."""
ASCII = "f2csa_ascii"
PROBE = "α⁻²≤✓λ̃"
"""What an encoding must have to be left alone."""
WORDS: dict[str, str] = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "µ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho",
    "σ": "sigma", "ς": "sigma", "τ": "tau", "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
    "Α": "alpha", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma",
    "Φ": "Phi",
    "Ψ": "Psi", "Ω": "Omega", "∇": "grad", "∈": "in", "∉": "not in", "∞": "inf", "√": "sqrt", "∑": "sum", "∏": "prod",
    "∫": "int", "∃": "exists", "∀": "for all", "✓": "ok", "∎": "qed", "✗": "FAIL", "∅": "void",
}  # fmt: skip
"""Symbols that become a word, kept apart from the letters beside it."""
SIGNS: dict[str, str] = {
    "≤": "<=", "≥": ">=", "≠": "!=", "≰": "!<=", "≱": "!>=", "≈": "~=", "∝": "~", "∼": "~", "−": "-", "–": "-",
    "—": "--", "×": "x", "·": "*", "⋅": "*", "∘": "o", "○": "o", "•": "*", "±": "+-", "‖": "||", "∥": "||", "∂": "d",
    "⊙": "*", "→": "->", "←": "<-", "↦": "->", "⇒": "=>", "⇔": "<=>", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'",
    "′": "'", "…": "...", "⋯": "...", "⟨": "<", "⟩": ">", "∪": "u", "∩": "n", "⊂": "<", "⊆": "<=", "⊥": "_|_",
    "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")", "«": '"', "»": '"', "≍": "~", "≪": "<<", "≫": ">>", "⊤": "T",
    "⟹": "=>", "⟦": "[[", "⟧": "]]", "⪰": ">=", "∓": "-+", "≡": "==", "◆": "[x]",
    "◇": "[ ]", "⬖": "[/]", "⏎": "; ",
    "ℓ": "l", "§": "sec. ", "⁄": "/", "\u0303": "~", "\u0302": "^", "\u0304": "-", "∧": "and", "∨": "or", "¬": "not ",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2011": "-", "█": "#", "━": "-", "─": "-", "│": "|",
}  # fmt: skip
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵀᵏᵗˢᵐᵖᵈᵃᵇᐟ", "0123456789+-=()niTktsmpdab/", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+-=()aehijklmnoprstuvx", strict=True))
_SCRIPTS: tuple[tuple[str, Mapping[str, str]], ...] = (("^", RAISED), ("_", LOWERED))


def each_spelt(text: str) -> list[str]:
    """The ASCII that stands for each character; a word's space is with the character it precedes."""
    pieces: list[str] = []
    script, word, last = "", False, " "
    for at, character in enumerate(text):
        piece, before = _plain(character), script
        script = next((sign for sign, letters in _SCRIPTS if character in letters), "")
        if not script and before == "^" and character == "·" and text[at + 1 : at + 2] in RAISED:
            script, piece = before, "."  # the point of α⁰·⁵
        elif script and script != before:
            piece = script + piece
        accent = unicodedata.combining(character) > 0
        is_word = character in WORDS or (word and accent)
        if (is_word and not accent and last.isalnum()) or (piece[:1].isalpha() and (word or (before and not script))):
            piece = f" {piece}"
        if piece:
            last, word = piece[-1], is_word
        pieces.append(piece)
    return pieces


def spelt(text: str) -> str:
    """The text in ASCII: ``‖λ̃‖ ≤ 2α⁻²`` is ``||lambda~|| <= 2 alpha^-2``."""
    return text if text.isascii() else "".join(each_spelt(text))


def _plain(character: str) -> str:
    if character.isascii():
        return character
    for letters in (WORDS, SIGNS, RAISED, LOWERED):
        if character in letters:
            return letters[character]
    parts = unicodedata.normalize("NFKD", character)
    if parts == character:
        return "?"
    return "".join(part if part.isascii() else SIGNS.get(part, WORDS.get(part, "")) for part in parts) or "?"


def can_show(stream: TextIO | None) -> bool:
    """Whether a stream's encoding has the paper's symbols; one without an encoding takes any text."""
    encoding = getattr(stream, "encoding", None)
    if encoding is None:
        return True
    try:
        PROBE.encode(encoding)
    except (UnicodeError, LookupError):
        return False
    return True


def is_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the surroundings ask for ASCII: a terminal said to be dumb, or the C locale, by name."""
    if environment.get("TERM") == "dumb":
        return True
    unicode = environment.get("PYTHONUTF8") == "1" or "utf" in environment.get("PYTHONIOENCODING", "").lower()
    return environment.get("LC_ALL", "") in ("C", "POSIX") and not unicode


def settle(stream: Any, *, ascii_wanted: bool) -> None:
    """Make a standard stream spell what it cannot, or is not to, show; no text is a fault then."""
    codecs.register_error(HANDLER, _spell_unencodable)
    codecs.register(_our_ascii)
    if ascii_wanted or not can_show(stream):
        stream.reconfigure(encoding=ASCII, errors=HANDLER)
    else:
        # All but half a character.
        stream.reconfigure(errors="replace")


def _our_ascii(name: str) -> codecs.CodecInfo | None:
    """ASCII by a name of its own: the option parser prints past a stream that has the common one."""
    if name != ASCII:
        return None
    known = codecs.lookup("ascii")
    return codecs.CodecInfo(
        known.encode, known.decode, known.streamreader, known.streamwriter, known.incrementalencoder,
        known.incrementaldecoder, name=ASCII,
    )  # fmt: skip


def _spell_unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text, start, end = error.object, error.start, error.end
    # The letters beside it say whether a space is due.
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    pieces = each_spelt(before + text[start:end] + after)
    middle = "".join(pieces[len(before) : len(pieces) - len(after)])
    return middle + (" " if after and pieces[-1].startswith(" ") and after != " " else ""), end


def in_ascii(shown: Any) -> Any:
    """What a console is to print, spelt before it is laid out, so that columns stay columns."""
    if isinstance(shown, str):
        return spelt(shown)
    if isinstance(shown, Text):
        return _spelt_text(shown)
    if isinstance(shown, Padding):
        shown.renderable = in_ascii(shown.renderable)
    elif isinstance(shown, Table):
        for name in ("caption", "title"):
            setattr(shown, name, in_ascii(getattr(shown, name)))
        for column in shown.columns:
            column.header = in_ascii(column.header)
            column._cells = [in_ascii(cell) for cell in column._cells]
    else:
        respell: Callable[[Callable[[str], str]], Any] | None = getattr(shown, "respelt", None)
        return shown if respell is None else respell(spelt)
    return shown


def _spelt_text(text: Text) -> Text:
    pieces = each_spelt(text.plain)
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    copy = text.copy()
    copy.plain = "".join(pieces)
    copy.spans = [Span(ends[min(s.start, len(pieces))], ends[min(s.end, len(pieces))], s.style) for s in text.spans]
    return copy
