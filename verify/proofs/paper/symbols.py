"""TeX formulas in plain characters, and the symbols in them."""

from __future__ import annotations

import re

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "varphi": "ϕ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ",
}  # fmt: skip
"""Two glyphs of one letter stay two here: whether they are one symbol is for the reader to say."""
_SIGNS = {
    "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "in": "∈", "cdot": "·", "times": "×", "nabla": "∇", "partial": "∂",
    "infty": "∞", "to": "→", "rightarrow": "→", "mid": "|", "neq": "≠", "sim": "∼", "approx": "≈", "asymp": "≍",
    "coloneqq": ":=", "sum": "∑", "int": "∫", "implies": "⟹", "langle": "⟨", "rangle": "⟩", "subseteq": "⊆",
    "lfloor": "⌊", "rfloor": "⌋", "top": "⊤", "ldots": "…", "dots": "…", "cdots": "…", "bigcup": "∪", "lVert": "‖",
    "rVert": "‖", "Vert": "‖", "quad": "  ", "qquad": "  ",
}  # fmt: skip
_WORDS = ("text", "textbf", "textit", "mbox", "operatorname", "operatorname*", "mathrm")
_BARE = ("mathbf", "boldsymbol", "bm", "mathit", "vec", "mathcal", "mathscr")
_OPERATORS = ("min", "max", "inf", "sup", "lim", "log", "exp", "ln", "argmin", "arg", "Pr", "det", "dim", "dist")
_ACCENTS = {"tilde": "\u0303", "widetilde": "\u0303", "hat": "\u0302", "widehat": "\u0302", "bar": "\u0304",
            "overline": "\u0304"}  # fmt: skip
_WITH_COLUMNS = ("array", "alignedat", "tabular")
_BLACKBOARD = {"R": "ℝ", "N": "ℕ", "E": "𝔼", "Z": "ℤ", "P": "ℙ"}
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\[^A-Za-z]|[{}]|[^\\{}]")
LANDAU = ("O", "O\u0303", "Θ", "Θ\u0303", "Ω")
"""Letters that, before a parenthesis, state an order."""
_DEEPEST = 40
_WORD_MARKS = re.compile(r"«[^»]*»")
_LETTER_BEFORE = r"(?<=[A-Za-zα-ωΑ-Ωϵϕℓℝℕ𝔼ℤℙ\u0302-\u0304*′'])"
"""What words below a line belong to, as in ``C_{bias}``; below a brace they are a remark."""
_SYMBOL = re.compile(
    r"([A-Za-zα-ωΑ-Ωϵϕℓ][\u0302-\u0304]?)((?:\^?\*|[′'])*)(?:_(\{[^{}]*\}|[\wα-ωϵ*][\u0302-\u0304]?))?"
    r"((?:\^?\*|\^\{\*\})*)"
)


def plain(tex: str) -> str:
    r"""A formula in plain characters: ``\tilde{y}^*(x)`` as ``ỹ*(x)``, ``\frac{a}{b}`` as ``(a)/(b)``, words in «»."""
    shown, _ = _sequence(_TOKEN.findall(tex), 0, 0)
    shown = re.sub(r"\s\s+", "  ", shown)
    shown = re.sub(r"\^\{\*\}|\^\*", "*", shown)
    shown = re.sub(r"([_^])\{([^{}_^+\-,;=\s])\}", r"\1\2", shown)
    shown = re.sub(r"\s*([_^])\s*", r"\1", shown)
    shown = re.sub(_LETTER_BEFORE + r"_(?:\{«([^»{}]*)»\}|«([^»{}]*)»)", r"_{\1\2}", shown)
    return " ".join(re.sub(r"[~&]", " ", shown).split())


def _sequence(tokens: list[str], at: int, depth: int) -> tuple[str, int]:
    parts: list[str] = []
    while at < len(tokens) and tokens[at] != "}":
        piece, at = _piece(tokens, at, depth)
        parts.append(piece)
    return "".join(parts), at


def _piece(tokens: list[str], at: int, depth: int) -> tuple[str, int]:
    token = tokens[at]
    if depth >= _DEEPEST:
        return "", len(tokens)
    if token == "{":
        inner, at = _sequence(tokens, at + 1, depth + 1)
        return "{" + inner + "}", at + 1
    if not token.startswith("\\"):
        return token, at + 1
    name = token[1:]
    if name in ("|",):
        return "‖", at + 1
    if name == "\\":
        return " ⏎ ", at + 1
    if name in ("frac", "tfrac", "dfrac"):
        above, at = _argument(tokens, at + 1, depth)
        below, at = _argument(tokens, at, depth)
        return f"(({above})/({below}))", at
    if name == "sqrt":
        inner, at = _argument(tokens, at + 1, depth)
        return f"({inner})^{{1/2}}", at
    if name in ("begin", "end"):
        environment, at = _argument(tokens, at + 1, depth)
        if name == "begin" and environment in _WITH_COLUMNS:
            _, at = _argument(tokens, at, depth)
        return " ", at
    if name in ("label", "tag", "mathbb", *_ACCENTS, *_WORDS, *_BARE, "underbrace", "mathop"):
        inner, at = _argument(tokens, at + 1, depth)
        if name == "underbrace" and "".join(tokens[at : at + 1]) == "_":
            # Words below a brace are a remark on all that is above it, and no index of its last letter.
            below, stop = _argument(tokens, at + 1, depth)
            if re.fullmatch(r"\s*«[^»]*»\s*", below):
                return f"{inner} {below} ", stop
        return _wrapped(name, inner), at
    return _named(name), at + 1


def _named(name: str) -> str:
    if name.removesuffix("*") in _OPERATORS:
        return f"«{name}»"
    known = _GREEK.get(name) or _SIGNS.get(name)
    if known is not None:
        return known
    # A macro of the author's own says nothing here; spacing and sizes say nothing anywhere.
    return name if len(name) == 1 and name in "{}%$#" else " "


def _wrapped(name: str, inner: str) -> str:
    if name in ("label", "tag"):
        return ""
    if name in _ACCENTS:
        bare = inner.strip()
        return bare[:1] + _ACCENTS[name] + bare[1:] if bare else ""
    if name == "mathbb":
        return _BLACKBOARD.get(inner.strip(), inner)
    if name in _WORDS:
        # A formula may stand in words again, and then it is what is meant.
        nested = re.fullmatch(r"\s*\$(.*)\$\s*", inner)
        return nested[1] if nested else f"«{inner}»"
    return inner


def _argument(tokens: list[str], at: int, depth: int) -> tuple[str, int]:
    while at < len(tokens) and tokens[at].isspace():
        at += 1
    if at >= len(tokens) or tokens[at] == "}":
        return "", at
    piece, at = _piece(tokens, at, depth + 1)
    return (piece[1:-1] if piece.startswith("{") and piece.endswith("}") else piece), at


def shown(formula: str, longest: int = 100) -> str:
    """A formula of plain characters for printing: no marks, one line, bounded length."""
    text = " ".join(formula.replace("«", "").replace("»", "").replace("⏎", " ").split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def symbols(formula: str) -> list[str]:
    """Symbols of a formula of plain characters, in order of first occurrence: letter, accent, star and subscript."""
    names = []
    marked = _WORD_MARKS.sub(" ", formula)
    for match in _SYMBOL.finditer(marked):
        letter, stars, below, more = match.groups()
        if letter in LANDAU and re.match(r"\s*\(", marked[match.end() :]):
            continue
        names.append(symbol_name(letter, "*" if "*" in stars + more else "", below or ""))
    return list(dict.fromkeys(names))


def symbol_name(letter: str, star: str, below: str) -> str:
    """A symbol as it is named throughout: ``y*_{λ,α}``, ``N_g``."""
    inner = "".join(below.removeprefix("{").removesuffix("}").replace("«", "").replace("»", "").split())
    index = f"_{inner}" if len(inner) == 1 or re.fullmatch(r".\u0303", inner) else f"_{{{inner}}}"
    return f"{letter}{star}{index if inner else ''}"


def lone_symbol(formula: str) -> str | None:
    """The symbol that a formula consists of, alone, to a power or with its arguments; nothing otherwise."""
    match = _SYMBOL.match(text := formula.strip())
    if match is None:
        return None
    rest = text[match.end() :].strip()
    if match[1] in LANDAU and rest.startswith("("):
        return None
    if rest and not re.fullmatch(r"\^(?:\d|\{\d\})|\([^()=]*(?:\([^()]*\))*[^()=]*\)", rest):
        return None
    return next(iter(symbols(match[0])), None)


_OPEN, _CLOSE = "([{⟨⌊", ")]}⟩⌋"


def pieces(formula: str, marks: str) -> list[str]:
    """A formula of plain characters, parted at some characters outside of brackets, and at line ends."""
    parts = []
    for line in re.split(r"⏎|⟹", formula):
        depth, start = 0, 0
        for at, character in enumerate(line):
            depth += (character in _OPEN) - (character in _CLOSE)
            if depth <= 0 and character in marks:
                parts.append(line[start:at])
                start = at + 1
        parts.append(line[start:])
    return parts
