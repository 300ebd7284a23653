"""Numerals and words read the way a careful author writes them."""

from __future__ import annotations

import math

import pytest

from spec.claims import Bound
from verify.evidence.model import ComparisonEvidence
from verify.report import wording
from verify.report.wording import sentence, typeset
from verify.verdict import Verdict


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (2.0, "2"),
        (-1.5, "−1.5"),
        (0.990099, "0.9901"),
        (10000.1, "10000"),
        (999999.0, "999999"),
        (1e-9, "1 × 10⁻⁹"),
        (-2.5e12, "−2.5 × 10¹²"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "undefined"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert wording.number(value) == text


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ((-2.004, -1.997), "[−2.004, −1.997]"),
        ((1.0, 1.0), "[1.00, 1.00]"),
        ((0.5, 3.5), "[0.50, 3.50]"),
        ((0.99999, 1.00001), "[1.000, 1.000]"),
        ((-1e-9, 1e-9), "[0.000, 0.000]"),
        ((2.0, math.inf), "[2.00, ∞]"),
        ((math.inf, math.inf), "[∞, ∞]"),
    ],
)
def test_interval(bounds: tuple[float, float], text: str) -> None:
    assert wording.interval(bounds) == text


@pytest.mark.parametrize(
    ("exponents", "tag", "text"),
    [
        ({"alpha": "1"}, "upper", "O(α)"),
        ({"alpha": "-4"}, "tight", "Θ(α⁻⁴)"),
        ({"alpha": "0"}, "upper", "O(1)"),
        ({"N_g": "-1"}, "equality", "∝ N_g⁻¹"),
        ({"epsilon": "-3", "goldstein_radius": "-1"}, "upper", "O(ε⁻³ δ⁻¹)"),
        ({}, "equality", "equality"),
        ({}, "upper", "upper bound"),
    ],
)
def test_bound(exponents: dict[str, str], tag: str, text: str) -> None:
    assert wording.bound(Bound(quantity="q", exponents=exponents, tag=tag)) == text


def test_a_comparison_that_fails_shows_it() -> None:
    made = ComparisonEvidence(quantity="q", measured=2.0, relation="<=", predicted=1.0)
    assert wording.comparison(made) == "2 ≰ 1"
    assert wording.comparison(made.model_copy(update={"predicted": 2.0, "tolerance": 1e-9})) == "2 ≤ 2 ± 1 × 10⁻⁹"


@pytest.mark.parametrize(
    ("status", "counts", "text"),
    [
        ("REFUTED", {"SUPPORTED": 2, "REFUTED": 4}, "refuted on 4 of 6 instances, supported on 2"),
        ("SUPPORTED", {"SUPPORTED": 3}, "supported on all 3 instances"),
        ("SUPPORTED", {"SUPPORTED": 1}, "supported on one instance"),
        ("REFUTED", {"SUPPORTED": 4}, "supported on all 4 instances"),
        ("FAULT", {}, ""),
    ],
)
def test_tally(status: str, counts: dict[str, int], text: str) -> None:
    assert wording.tally(status, counts) == text


def test_every_verdict_has_a_word_a_meaning_and_a_mark() -> None:
    assert set(Verdict) < set(wording.STATUSES)
    assert all(status.word and status.meaning and status.mark for status in wording.STATUSES.values())
    assert len({status.mark for status in wording.STATUSES.values()}) == len(wording.STATUSES)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("C_f and N_g", "C<sub>f</sub> and N<sub>g</sub>"),
        ("L_{H,y} = O(α^-4)", "L<sub>H,y</sub> = O(α<sup>−4</sup>)"),
        ("dual_term stays", "dual_term stays"),
        ("C_λδ and ∇_yg and M_∇h", "C<sub>λ</sub>δ and ∇<sub>y</sub>g and M<sub>∇h</sub>"),
        ("L_{λ̃,α}(x)", "L<sub>λ̃,α</sub>(x)"),
        ("alpha^+1.00 in [+1.00, 2]", "α<sup>1.00</sup> in [1.00, 2]"),
        ("O(alpha^1) <= 3 == 3", "O(α) ≤ 3 = 3"),
        ("z - z' at alpha-to-zero", "z − z&#39; at alpha-to-zero"),
        ("f_xx y*_hat", "f<sub>xx</sub> y*<sub>hat</sub>"),
        ("α²C_f, Δρ_i and ‖∇_yL_{λ*}‖", "α²C<sub>f</sub>, Δρ<sub>i</sub> and ‖∇<sub>y</sub>L<sub>λ*</sub>‖"),
        ("σ_hσ_λ in ∂_rF", "σ<sub>h</sub>σ<sub>λ</sub> in ∂<sub>r</sub>F"),
        ("R^m, (1+a)^2", "R<sup>m</sup>, (1+a)<sup>2</sup>"),
        ("from -2 to 5-3", "from −2 to 5-3"),
        ("<i> & a_1", "&lt;i&gt; &amp; a<sub>1</sub>"),
    ],
)
def test_typeset(text: str, html: str) -> None:
    assert typeset(text) == html


def test_a_sentence_opens_with_a_capital_and_links_the_steps_it_names() -> None:
    made = sentence("by its part a-b/T1, not a-b/T12", {"a-b/T1": "a-b.T1", "a-b": "a-b"})
    assert made == 'By its part <a href="#a-b.T1">a-b/T1</a>, not a-b/T12'
    assert sentence("g is smooth") == "g is smooth"
