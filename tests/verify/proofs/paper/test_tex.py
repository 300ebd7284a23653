"""A source is read with its lines kept, or refused in one line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec import InvalidInputError
from spec.text.extract import Passage
from verify.proofs.paper.findings import quoted
from verify.proofs.paper.monomials import factor, powers
from verify.proofs.paper.structure import document_of
from verify.proofs.paper.symbols import lone_symbol, pieces, plain, symbols
from verify.proofs.paper.tex import MAX_BYTES, read_source, source_of


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "must be TeX"),
        (b"just words", "must be TeX"),
        (b"\x80\x81\xff", "must be UTF-8 text"),
        (b"\\section{x}\0", "must be text"),
        (b"\\section{x", "line 1: is never closed; got {"),
        (b"\\section{x}\n}", "line 2: closes no brace; got }"),
        (b"\\begin{a}\n\\begin{b}\\end{a}", r"line 2: closes no environment; got \end{a}"),
        (b"\\begin{document}\n\\begin{a}\n", r"line 2: is never closed; got \begin{a}"),
        (b"\\section{x}" + b" " * MAX_BYTES, "must be at most"),
    ],
)
def test_what_is_no_source_is_refused_in_one_line(tmp_path, content, rule):
    file = tmp_path / "paper.tex"
    file.write_bytes(content)
    with pytest.raises(InvalidInputError) as refused:
        read_source(file)
    assert rule in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", [".", "none.tex", "\0"])
def test_what_cannot_be_read_is_refused(tmp_path, name):
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_source(tmp_path / name)


def test_comments_and_verbatim_are_blanked_and_lines_stay():
    text = (
        "\\section{x} % {\n\\% kept \\\\% gone }\n"
        "\\begin{verbatim}\n}$\\label{no}\n\\end{verbatim}\n\\verb|}| \\label{yes}"
    )
    source = source_of(text)
    assert len(source.text) == len(text)
    assert source.line(source.text.index("yes")) == 6
    assert [label for label, _ in document_of(source).labels] == ["yes"]


def test_halves_of_environments_in_definitions_are_allowed():
    source_of("\\documentclass{article}\\newcommand{\\be}{\\begin{equation}}\n\\begin{document}\nx\n\\end{document}\n")


@pytest.mark.parametrize(
    ("tex", "wanted"),
    [
        (r"\tilde{y}^*(x)", "y\u0303*(x)"),
        (r"\tilde\lambda^{*}", "λ\u0303*"),
        (r"y^{*}_{\lambda^*,\alpha}", "y*_{λ*,α}"),
        (r"\frac{\delta \epsilon^2}{L_F^{2}}", "((δ ϵ^2)/(L_F^2))"),
        (r"C_{\text{bias}}\,\alpha", "C_{bias} α"),
        (r"\|\mathbf{B}\| \leq M", "‖B‖ ≤ M"),
        (r"\mathbb{E}\bigl[a\bigr]", "𝔼 [a ]"),
        (r"\underbrace{a}_{\text{$T_1$}}", "a_{T_1}"),
        ("\\sqrt" * 300, ""),
        ("{" * 300 + "a" + "}" * 300, None),
    ],
)
def test_formulas_in_plain_characters(tex, wanted):
    assert wanted is None or plain(tex).strip("()^{}1/2") == wanted.strip("()^{}1/2")


@pytest.mark.parametrize(
    ("tex", "wanted"),
    [
        (r"\delta\epsilon^2", ["δ", "ϵ"]),
        (r"\tilde\lambda_i(x) + N_g", ["λ\u0303_i", "x", "N_g"]),
        (r"O(\alpha) + \Theta(\beta)", ["α", "β"]),
        (r"y^*_{\lambda,\alpha}", ["y*_{λ,α}"]),
        (r"\inf F \text{ where } z", ["F", "z"]),
        (r"C_{\text{sol}}/\mu", ["C_{sol}", "μ"]),
    ],
)
def test_symbols_of_a_formula(tex, wanted):
    assert symbols(plain(tex)) == wanted


@pytest.mark.parametrize(
    ("tex", "wanted"),
    [("x", "x"), (r"\sigma^2", "σ"), ("F(x)", "F"), (r"\rho_i(x)", "ρ_i"), ("x+y", None), (r"O(x)", None), ("", None)],
)
def test_a_symbol_alone(tex, wanted):
    assert lone_symbol(plain(tex)) == wanted


@pytest.mark.parametrize(
    ("tex", "wanted"),
    [
        (r"\delta^{-1}\epsilon^{-5}", {"δ": -1, "ϵ": -5}),
        (r"\frac{\delta\epsilon^2}{L_F^2}", {"δ": 1, "ϵ": 2, "L_F": -2}),
        (r"\sigma^2/\alpha^2", {"σ": 2, "α": -2}),
        (r"\frac{D}{\sqrt{M}}", {"D": 1, "M": Fraction(-1, 2)}),
        (r"\frac{1}{\epsilon^2} \cdot \epsilon", {"ϵ": -1}),
        (r"\kappa_g \log(1/\delta)", {"κ_g": 1}),
        (r"\frac{(F(x_0)-\inf F) L^2}{\epsilon}", {"(F(x_0)-infF)": 1, "L": 2, "ϵ": -1}),
        (r"\epsilon^{-1.5}", {"ϵ": Fraction(-3, 2)}),
        ("a + b", None),
        (r"\|a\|", None),
        ("a^b", None),
        (r"\alpha/\alpha", {}),
        ("", {}),
        ("a^{1/0}", None),
    ],
)
def test_powers_of_a_product(tex, wanted):
    assert powers(plain(tex)) == wanted


@pytest.mark.parametrize(
    ("tex", "wanted"),
    [
        (r"\frac{2 C_f}{\mu_g}", 2), (r"\alpha_1\mu_g/2", Fraction(1, 2)), (r"(2\alpha)^3/4", 2), ("a", 1),
        (r"\frac{1}{3^{2}} b", Fraction(1, 9)), (r"2^{1/2} a", 1), ("0 a", 1), ("a + b", 1), ("2^{999}", 1),
        ("0^{-1}", 1),
    ],
)  # fmt: skip
def test_the_number_before_a_product(tex, wanted):
    assert factor(plain(tex)) == wanted


def test_a_bound_is_quoted_with_its_number():
    passage = Passage(kind="order", line=1, name="α", says="≥", powers={"C_f": 1, "μ_g": -1}, factor=2)
    assert quoted(passage) == "α ≥ 2·C_f·μ_g^-1"


def test_environments_and_words_hold_no_symbols():
    for tex, wanted in {
        r"\begin{aligned} F &= f \end{aligned}": ["F", "f"],
        r"\begin{array}{rl} a \end{array}": ["a"],
        r"\underbrace{\|a - b\|}_{\text{Variance}} + c": ["a", "b", "c"],
        r"\underbrace{x\lambda}_{\text{Linear Term}}": ["x", "λ"],
        r"\underbrace{x}_{T_1}": ["x_{T_1}"],
        r"C_{\text{bias}} \alpha": ["C_{bias}", "α"],
        r"\tilde{y}^*_{\text{out}}": ["y\u0303*_{out}"],
    }.items():
        assert symbols(plain(tex)) == wanted, tex


def test_pieces_part_outside_of_brackets_only():
    assert pieces("a = f(x, y), b", ",") == ["a = f(x, y)", " b"]
    assert pieces("a ⏎ b, c", ",") == ["a ", " b", " c"]


PAPER = r"""
\begin{document}
\section{One}
\begin{restatable}[Name]{lemma}{again}
\label{l} $a$
\end{restatable}
\emph{Proof sketch.} For $b$,

and $c$.
\begin{theorem} $d$ \end{theorem}
\again*
\begin{proof} $e$ \end{proof}
\end{document}
"""


def test_places_are_statements_proofs_and_sections():
    document = document_of(source_of(PAPER))
    places = {formula.tex: document.place(formula.start) for formula in document.formulas}
    assert places == {
        "a": "l", "b": "proof of l", "c": "section One", "d": "theorem at line 10", "e": "proof of l",
    }  # fmt: skip


def test_macros_without_arguments_are_written_out():
    document = document_of(source_of("\\newcommand{\\EE}{\\mathbb{E}}\\section{x} $\\EE[a]$"))
    assert document.formulas[0].plain == "𝔼[a]"
