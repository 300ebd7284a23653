"""Each rule finds the mistake planted for it, and is silent on the corrected text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from verify.proofs.paper.extraction import extract_of
from verify.proofs.paper.linting import MISSING_FILE, RULES, lint, missing_files
from verify.proofs.paper.tex import source_of

HEAD = r"\documentclass{article}\newtheorem{theorem}{Theorem}\newtheorem{assumption}{Assumption}" + "\n"


def document(body: str, head: str = HEAD) -> str:
    return f"{head}\\begin{{document}}\n{body}\n\\end{{document}}\n"


def found(text: str, rule: str):
    return lint(extract_of(source_of(text)), [rule])


THEOREM = r"\begin{theorem}\label{t} With $%s$ all is well. \end{theorem}"
PROOF = r"\begin{proof} We set $%s$ and are done. \end{proof}"
ALGORITHM = r"\begin{algorithm}\label{alg}\begin{algorithmic}%s\end{algorithmic}\end{algorithm}"
SUM = (
    r"\begin{align} a &= \underbrace{b}_{\text{regret}} + \underbrace{c}_{\text{gradient norm}} \label{e}\end{align}"
    r"\subsection{Part 1: gradient}\subsection*{Part 2: bounding the %s in \cref{e}} For the second term in \eqref{e}."
)
BOUND = r"\begin{assumption}\label{a} $\|\nabla f\| \leq \sigma$ \end{assumption}"
ITEMS = (
    r"\begin{assumption}\label{a}\begin{itemize}\item[(i)] $\|B\| \leq M$. \item[(ii)] $B$ has full rank on $I$."
    r"\end{itemize}\end{assumption}" + "\n\n"
)
PLANTED = {
    "environment-undeclared": (
        document(r"\begin{lemma} x \end{lemma}"),
        document(r"\begin{lemma} x \end{lemma}", HEAD + r"\declaretheorem[name=Lemma]{lemma}"),
    ),
    "label-missing": (document(r"\label{a} see \ref{b}"), document(r"\label{a} see \ref{a}")),
    "label-unused": (document(r"\label{a} see \ref{b} \label{b}"), document(r"\label{a} see \cref{a,b} \label{b}")),
    "label-doubled": (document(r"\label{a}\label{a}"), document(r"\label{a}\label{b}")),
    "reference-attribution": (
        document(ITEMS + r"Here $\|M\|$ is bounded by Assumption~\ref{a}(ii) throughout."),
        document(ITEMS + r"Here $\|M\|$ is bounded by Assumption~\ref{a}(i) throughout."),
    ),
    "part-missing": (document(r"\section{Part 2: more}"), document(r"\section{Part 1: one}\section{Part 2: more}")),
    "term-named": (document(SUM % "regret"), document(SUM % "gradient norm")),
    "file-unnamed": (document(r"\includegraphics[width=3cm]{ }"), document(r"\includegraphics{plot}")),
    "symbol-words": (
        document(r"The inner accuracy $\delta$ is small. The Goldstein radius $\delta > 0$ is given."),
        document(r"The inner accuracy $\delta$ is small. The Goldstein radius $\gamma > 0$ is given."),
    ),
    "symbol-formulas": (
        document(r"We define $w(x) = f(x) + 1$. Define $w(x) = g(x) + 1$."),
        document(r"We define $w(x) = f(x) + 1$. Define $w(x) = f(x)+1$."),
    ),
    "symbol-index": (
        document(ALGORITHM % r"\STATE $x_t = x_{t-1} + d$ \STATE $x_k = \sum_m z_m + 1$"),
        document(ALGORITHM % r"\STATE $x_t = x_{t-1} + d$ \STATE $\bar{x}_k = \sum_m z_m + 1$"),
    ),
    "symbol-bounds": (
        document(BOUND + BOUND.replace("{a}", "{b}").replace("f", "g")),
        document(BOUND + BOUND.replace("{a}", "{b}").replace("f", "g").replace("sigma", "tau")),
    ),
    "symbol-glyphs": (
        document(r"Let $\epsilon$ and $\varepsilon$ be small."),
        document(r"Let $\epsilon$ and $\epsilon$ be small."),
    ),
    "derived-or-assumed": (
        document(r"\begin{theorem}\label{t} With $a$ small so that $f$ is $\mu$-strongly convex. \end{theorem}"
                 r"\begin{proof} The lemma assumes that $f$ is $\mu$-strongly convex. \end{proof}"),
        document(r"\begin{theorem}\label{t} Suppose that $f$ is $\mu$-strongly convex. \end{theorem}"
                 r"\begin{proof} The lemma assumes that $f$ is $\mu$-strongly convex. \end{proof}"),
    ),
    "symbol-undefined": (
        document(r"The answer is $g_t$." + THEOREM % "a=1" + PROOF % r"|\tilde{g}_t| < 1"),
        document(r"The answer is $g_t$." + THEOREM % "a=1" + PROOF % "|g_t| < 1"),
    ),
    "constant-names": (
        document(r"Let $F$ is $L_F$-Lipschitz. By the $L$-Lipschitz property of $F$ this holds."),
        document(r"Let $F$ is $L_F$-Lipschitz. By the $L_F$-Lipschitz property of $F$ this holds."),
    ),
    "draw-missing": (
        document(r"\[ L(x) = f(x) + g(x) \] with $\tilde f(x;\xi)$, $\tilde g(x;\zeta)$ and $\tilde L(x;\xi)$"),
        document(r"\[ L(x) = f(x) + g(x) \] with $\tilde f(x;\xi)$, $\tilde g(x;\zeta)$ and $\tilde L(x;\xi,\zeta)$"),
    ),
    "mean-or-sure": (
        document(r"$\mathbb{E}[\|y - z\|] \leq 1$ and later $\|y-z\| \leq 1$"),
        document(r"$\mathbb{E}[\|y - z\|] \leq 1$ and later $\mathbb{E}\|y-z\| \leq 1$"),
    ),
    "domain": (
        document(r"\[\min_{x \in X} F(x)\]" + ALGORITHM % r"\STATE Input $x_0 \in \mathbb{R}^n$ \STATE $x_1 = x_0$"),
        document(r"\[\min_{x \in X} F(x)\]" + ALGORITHM % r"\STATE Input $x_0 \in X$ \STATE $x_1 = x_0$"),
    ),
    "pair-order": (
        document(r"$(\delta,\epsilon)$-Goldstein, $(\delta,\epsilon)$-Goldstein, ($\epsilon,\delta$)-Goldstein"),
        document(r"$(\delta,\epsilon)$-Goldstein, $(\delta,\epsilon)$-Goldstein, ($\delta,\epsilon$)-Goldstein"),
    ),
    "solver-names": (
        document(ALGORITHM % r"\STATE Compute $\tilde y$ by SGD \STATE x" + THEOREM % "a=1"
                 + "\n\\begin{proof}\nC1. Solve for $(\\tilde y)$: a method (SVRG) does.\n\\end{proof}"),
        document(ALGORITHM % r"\STATE Compute $\tilde y$ by SVRG \STATE x" + THEOREM % "a=1"
                 + "\n\\begin{proof}\nC1. Solve for $(\\tilde y)$: a method (SVRG) does.\n\\end{proof}"),
    ),
    "order-powers": (
        document(THEOREM % r"D = \Theta(\frac{\delta\epsilon^2}{L_F^2})" + PROOF % r"D = \Theta(\delta\epsilon^2)"),
        document(THEOREM % r"D = \Theta(\frac{\delta\epsilon^2}{L_F^2})"
                 + PROOF % r"D = \Theta(\delta\epsilon^2 L_F^{-2})"),
    ),
    "order-letters": (
        document(THEOREM % r"T = O(\epsilon^{-3})" + PROOF % r"T = \Theta(\epsilon^{-3})"),
        document(THEOREM % r"T = O(\epsilon^{-3})" + PROOF % r"T = O(\epsilon^{-3})"),
    ),
    "theta-bound": (
        document(r"\[ d(x) \leq b + O(\alpha) \] To achieve $d(x) = \Theta(\alpha)$, take more."),
        document(r"\[ d(x) \leq b + \Theta(\alpha) \] To achieve $d(x) = O(\alpha)$, take more."),
    ),
}  # fmt: skip


def test_every_rule_has_its_mistake():
    assert PLANTED.keys() == RULES.keys()


@pytest.mark.parametrize("rule", RULES)
def test_a_planted_mistake_is_found_where_it_is(rule):
    text = PLANTED[rule][0]
    findings = found(text, rule)
    assert len(findings) == 1
    assert findings[0].rule == rule
    assert findings[0].subject
    assert 1 <= findings[0].line <= text.count("\n") + 1


@pytest.mark.parametrize("rule", RULES)
def test_the_corrected_text_is_passed(rule):
    assert found(PLANTED[rule][1], rule) == []


@pytest.mark.parametrize("rule", RULES)
def test_what_stands_in_a_comment_is_not_said(rule):
    head, body = PLANTED[rule][0].split("\\begin{document}\n", 1)
    hidden = "".join(f"% {line}\n" for line in body.removesuffix("\\end{document}\n").splitlines())
    assert found(document(hidden + r"\section{x}", head), rule) == []


def test_a_lower_bound_by_a_constant_does_not_go_with_a_vanishing_order():
    statement = THEOREM % r"\alpha \geq \frac{2 C_f}{\mu_g}"
    remark = r"\begin{remark}\label{r} Set $\alpha = \Theta(\epsilon)$. \end{remark}"
    assert [one.subject for one in found(document(statement + remark), "order-powers")] == ["α"]
    small = statement.replace(r"\geq", r"\leq")
    assert found(document(small + remark), "order-powers") == []


def test_proportional_symbols_are_the_same_in_an_order():
    first, second = (
        THEOREM % r"N = \Theta(\sigma^2/\alpha^2)",
        THEOREM.replace("{t}", "{u}") % r"N = \Theta(\sigma^2/\epsilon^2)",
    )
    assert found(document(first + second), "order-powers")
    assert found(document(first + second + r" with $\alpha = \Theta(\epsilon)$"), "order-powers") == []


def test_a_product_of_orders_is_one_of_each_factor():
    text = THEOREM % r"T = O(\epsilon^{-3})" + PROOF % r"T \cdot N = \Theta(\epsilon^{-3}) \cdot \Theta(\epsilon^{-2})"
    assert [one.subject for one in found(document(text), "order-letters")] == ["T"]


@pytest.mark.parametrize(
    "text",
    [
        THEOREM % r"T = \Theta(\epsilon^{-3})" + PROOF % r"T = O(\epsilon^{-3})",
        r"In short $T = O(\epsilon^{-3})$. " + THEOREM % r"T = \Theta(\epsilon^{-3})",
        THEOREM % r"T = \Theta(\epsilon^{-3}),\ T = O(\epsilon^{-3})" + PROOF % r"T = \Theta(\epsilon^{-3})",
        THEOREM % r"T = \epsilon^{-3},\ T = O(\epsilon^{-3})" + PROOF % r"T = \Theta(\epsilon^{-3})",
        THEOREM % r"T = O(\epsilon^{-3})" + PROOF % r"T = \Theta(\delta^{-3})",
        THEOREM % r"T = O(\epsilon^{-3})" + PROOF % r"K = \Theta(\epsilon^{-3})",
        r"Others need $O(\epsilon^{-3})$, we need $\Theta(\epsilon^{-3})$. " + THEOREM % "a = 1",
    ],
    ids=["O after Θ", "O in passing", "Θ before", "an equality before", "other powers", "another quantity", "no names"],
)
def test_o_beside_theta_alone_is_no_contradiction(text):
    assert found(document(text), "order-letters") == []


def test_a_lower_bound_is_no_order_from_both_sides_either():
    text = THEOREM % r"\mu \geq c \alpha^{-2}" + PROOF % r"\mu = \Theta(\alpha^{-2})"
    assert [one.subject for one in found(document(text), "order-letters")] == ["μ"]
    assert found(document(text.replace(r"\Theta", r"\Omega")), "order-letters") == []


def test_the_abstract_is_held_to_the_statements_it_sums_up():
    def paper(abstract, statement):
        return document("\\begin{abstract}\nIn $" + abstract + "$ calls.\n\\end{abstract}\n" + THEOREM % statement)

    said, total = r"\Theta(\delta^{-1}\epsilon^{-5})", r"K = \tilde{O}(\delta^{-1}\epsilon^{-5})"
    assert len(found(paper(said, total), "order-letters")) == 1
    assert found(paper(r"\tilde{O}(\delta^{-1}\epsilon^{-5})", total), "order-letters") == []
    assert found(paper(said, total.replace(r"\tilde{O}", r"\Theta")), "order-letters") == []
    assert found(paper(said, total.replace("-5", "-4")), "order-letters") == []


def test_stationarity_is_promised_from_above_only():
    text = r"This gives $\Theta(\epsilon)$ stationarity."
    assert [one.subject for one in found(document(text), "theta-bound")] == ["stationarity"]
    assert found(document(text.replace(r"\Theta", "O")), "theta-bound") == []


def test_environments_of_an_unknown_class_are_not_judged():
    text = document(r"\begin{lemma} x \end{lemma}")
    assert found(text, "environment-undeclared")
    assert found(text.replace("{article}", "{llncs}"), "environment-undeclared") == []
    assert found(text.replace(r"\begin{document}", r"\input{macros}\begin{document}"), "environment-undeclared") == []


def test_files_are_looked_for_beside_the_source(tmp_path):
    extract = extract_of(source_of(document(r"\includegraphics{plot}\bibliography{refs}\input{\jobname}")))
    assert [one.subject for one in missing_files(extract, tmp_path)] == ["plot", "refs"]
    (tmp_path / "plot.pdf").touch()
    assert [(one.rule, one.subject) for one in missing_files(extract, tmp_path)] == [(MISSING_FILE, "refs")]


def test_an_unknown_rule_is_refused():
    with pytest.raises(InvalidInputError, match="must be one of environment-undeclared"):
        lint(extract_of(source_of(r"\section{x}")), ["no-such-rule"])


PIECES = st.sampled_from([piece for pair in PLANTED.values() for piece in pair[0].split()] + [
    "$", "$$", "{", "}", "\\", "_", "^", "\\[", "\\]", "\\frac", "\\tilde", "\\left(", "\\label{", "%", "\n\n", "O(",
    "‖", "\\begin{proof}", "\\end{proof}", "\\underbrace{", "\\text{$", "^{1/0}", "^{-}", "\\\\", "&", "é", "λ̃", "(",
    ")", ";",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=60).map(" ".join) | st.text(max_size=200))
def test_any_text_is_judged_or_refused(text):
    try:
        source = source_of(text)
    except InvalidInputError as refused:
        assert "\n" not in str(refused)
        return
    for finding in lint(extract_of(source)):
        assert 1 <= finding.line <= source.lines


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=40).map(" ".join))
def test_any_formula_within_a_document_is_judged(text):
    inside = re.sub(r"[{}%$]|\\begin|\\end", "", text)
    extract = extract_of(source_of(document(f"\\[ {inside} \\] and $ {inside} $ here")))
    assert all(finding.here in extract.passages for finding in lint(extract))
