"""The formula language as a page: ``python -m verify.report.formats.formula_page > docs/formulas.md``."""

from __future__ import annotations

from spec.claims import load_claims
from spec.formulas import Quantity, load_quantities, plain_text
from spec.formulas.signatures import SIGNATURES
from spec.formulas.tree import ROW_SETS, shape_words

HEAD = """# The language of formulas

<!-- f2csa-verify -->

What a statement asserts, and what a premise asks for, stands in the claim files as one formula: a string, read once
into a typed tree, never evaluated as code. From that tree follow the measured quantity and the claimed powers, the
formula that reports show, its exact value at a point, its order as α → 0, its value in doubles with a bound of
rounding, the choices that it hangs on, and the sentence that Coq is asked to prove. A statement or a premise
without a formula says why (`no_formula`); a premise that is the conclusion of another statement of the text, and no
hypothesis on a problem, names that (`taken_from`).

```toml
[repaired]
text = "With exact stages the error of the estimator is O(α²)."
formula = "norm(T3) <= O(alpha^2)"
```

* Numbers, vectors and matrices have shapes; what does not fit is refused in one line that names the file and the key.
* `+ - * /` as usual, `^` a power by a whole or half number, `@` a product of matrices, `.T` a transpose; `v * w` of two
  vectors is their product entry by entry.
* `v[active]`: rows of a set ({rows}). `all(v >= 0)`: of every entry.
* `<= O(...)`, `>= Omega(...)`, `== Theta(...)`: an order, as α and ε tend to 0 together, or another variable alone.
* `sup(norm(...), e_lam)`: the largest value over errors of length at most 1. An error that stands free is tried: none,
  and each coordinate alone, up and down.
* `observed("words")`: a number that a check brings: of the program under test, of a law or a run, or of what was read.
  Held against it is what the formula says; exact numbers it decides.
* Functions: {functions}.

Relations are decided exactly, with square roots and eigenvalues as algebraic numbers; equality too. Of {statements}
statements {with_formula} have a formula, {without} say why they have none; of {premises} premises {asked} have one,
{taken} are taken from other statements. `f2csa claims CLAIM` shows them.

## Quantities

Those without a definition are given by a place: a problem, a point, an α. Where a choice of the paper's decides, each
of its values has a definition.

| name | shown | shape | is | definition |
|---|---|---|---|---|
"""


def page() -> str:
    """The whole page as Markdown."""
    statements = [statement for claim in load_claims().values() for _, statement in claim.statements()]
    premises = [premise for statement in statements for premise in statement.premises]
    head = HEAD.format(
        rows=", ".join(f"`{name}`" for name in ROW_SETS),
        functions=", ".join(f"`{name}`" for name in SIGNATURES),
        statements=len(statements),
        with_formula=sum(bool(s.repaired.formula or s.as_written.formula) for s in statements),
        without=sum(bool(s.no_formula) for s in statements),
        premises=len(premises),
        asked=sum(bool(premise.formula) for premise in premises),
        taken=sum(bool(premise.taken_from) for premise in premises),
    )
    return head + "".join(map(_row, load_quantities().values()))


def _row(quantity: Quantity) -> str:
    arguments = f"({', '.join(quantity.local)})" if quantity.arguments else ""
    cases = [
        f"{f'`{quantity.choice} = {value}`: ' if value else ''}{_cell(plain_text(node))}"
        for value, node in quantity.cases
    ]
    definition = "<br>".join(cases) or "given"
    return (
        f"| `{quantity.name}{arguments}` | {_cell(quantity.text)} | {shape_words(quantity.shape)} "
        f"| {_cell(quantity.says)} | {definition} |\n"
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
