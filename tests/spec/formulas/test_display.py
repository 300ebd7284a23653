"""Formulas as people read them."""

from __future__ import annotations

import pytest
from latex2mathml.converter import convert

from spec.formulas import latex, load_quantities, parse_formula, plain_text

SHOWN = {
    "norm(T3) <= O(alpha^2)": ("‖t₃‖ = O(α²)", r"\lVert t_3\rVert = O(\alpha^{2})"),
    "rank(B[active]) == count(active)": ("rank(B_I) = |I|", r"\operatorname{rank}(B_{I})=|I|"),
    "2 * alpha^2 * C_f <= mu_g": ("2 α² C_f ≤ μ_g", r"2\,\alpha^{2}\,C_f\le \mu_g"),
    "sup(norm(T1), e_y) <= O(alpha)": (
        "sup(‖e_ỹ‖ ≤ 1) ‖t₁‖ = O(α)", r"\sup_{\lVert e_{\tilde y}\rVert\le1}\lVert t_1\rVert = O(\alpha)",
    ),
    "(alpha + 1) * alpha <= -(alpha - 2) / 3": ("(α + 1) α ≤ -(α - 2)/3", None),
    "alpha - (1 - alpha) >= 0": ("α - (1 - α) ≥ 0", None),
    "alpha / (2 * alpha) <= 1": ("α/(2 α) ≤ 1", r"\frac{\alpha}{2\,\alpha}\le 1"),
    "ceil(sigma^2 / alpha^2) == Theta(alpha^-2)": ("⌈σ²/α²⌉ = Θ(α⁻²)", None),
    "floor(budget / M) * M == budget": ("⌊T/M⌋ M = T", r"\lfloor \frac{T}{M}\rfloor\,M=T"),
    "norm(positive(lam_any)) >= 0": ("‖(λ)₊‖ ≥ 0", None),
    "all(lam_star[active] > 0) or alpha <= 1/2": ("λ*_I > 0 or α ≤ 1/2", None),
}  # fmt: skip


@pytest.mark.parametrize("text", SHOWN)
def test_a_formula_is_shown(text: str) -> None:
    node = parse_formula(text)
    plain, display = SHOWN[text]
    assert plain_text(node) == plain
    if display is not None:
        assert latex(node) == display
    assert "<math" in convert(latex(node))


def test_every_quantity_can_be_displayed() -> None:
    for quantity in load_quantities().values():
        assert "<math" in convert(quantity.latex), quantity.name
