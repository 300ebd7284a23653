# %% [markdown]
# # An estimate that grows as its accuracy improves
#
# F2CSA estimates the gradient of $F(x) = f(x, y^*(x))$, where $y^*(x)$ solves a constrained problem, from first-order
# information. Its accuracy is one number, α: the paper's Lemma "bias bound" says that the estimate is O(α) away from
# $\nabla F$. This notebook puts the lemma's third term to the test: by hand, with the suite, and on a solver of our
# own. Each number below is computed in its cell.

# %%
import numpy as np
from matplotlib.figure import Figure

import verify
from f2csa_ref import hypergradient
from spec import AS_WRITTEN, REPAIRED
from spec.atlas import find

toy = find("toy1")
print(toy.problem)
print(toy.purpose)
print(f"at x = {toy.x[0]}: {toy.known}")

# %% [markdown]
# The smallest problem whose constraint moves with x: minimise y subject to $y^* = \arg\min \{ y^2/2 : x \le y \}$.
# For x > 0 the row is active, $y^*(x) = x$, and the gradient of F is exactly 1.
#
# ## One oracle call, read in two ways
#
# Line 6 of Algorithm 1 holds λ̃ and ỹ* fixed and keeps the term $\alpha^{-2}A^\top\tilde\lambda$. The repaired reading
# differentiates through both, so that this term cancels.

# %%
x = np.array([float(value) for value in toy.x])
for alpha in (0.2, 0.1, 0.05, 0.025):
    written = hypergradient(toy.problem, x, alpha=alpha, reading=AS_WRITTEN).hypergradient[0]
    repaired = hypergradient(toy.problem, x, alpha=alpha, reading=REPAIRED).hypergradient[0]
    print(f"α = {alpha:<6g} as written {written:8.2f}   repaired {repaired:.5f}   ∇F = 1")

# %% [markdown]
# ## The suite on the same step
#
# `verify.run` asks the check of this proof step. A summary row holds what decided as numbers: what the text claims,
# what was measured, and how it was obtained.

# %%
report = verify.run(["bias-bound/T3"], instances=["toy1"], profile="smoke")
for row in report["bias-bound/T3"].summary:
    print(f"{row.reading:<11}{row.status:<10} claimed {row.claimed}, measured α^{row.measured:g}, {row.rung}")

# %% [markdown]
# `certified` means: not fitted to points. The error is a rational function of α, its order is derived, and a bound on a
# whole interval of α is proven by exact root counting. Where the program's own numbers have to agree, too, as they do
# for the repaired statement, the row names the weaker of the two. The proven bounds, each with a certificate that a
# separate program checks:

# %%
for result in report.results:
    for rate in (item for item in result.evidence if item.kind == "rate"):
        for bound in rate.bounds:
            sign = "≥" if bound.side == "lower" else "≤"
            print(
                f"{result.reading:<11}{rate.quantity} {sign} {bound.constant:.6g} · α^{bound.exponent}"
                f" for all α in (0, {bound.end:g}], {len(bound.certificates)} certificate(s)"
            )

# %% [markdown]
# Beside it stands what a program's own numbers say: the points of the sweep, in `records()` and, with pandas, in
# `report.to_pandas(points=True)`.

# %%
figure = Figure(figsize=(6, 3.2), dpi=80, layout="constrained")
axes = figure.subplots()
for record in report.records():
    swept = [point for point in record["points"] if point["usable"]]
    axes.loglog([point["at"] for point in swept], [point["measured"] for point in swept], "o-", label=record["reading"])
axes.set_xlabel("α")
axes.set_ylabel("T₃, distance to the exact gradient")
axes.legend(frameon=False)
figure  # noqa: B018  # a notebook shows the last value of a cell

# %% [markdown]
# ## Refuted by which problem?
#
# A refutation comes with a problem to follow by hand; where it was searched for, with the smallest there is.

# %%
refuted = next(row for row in report.summary if row.status == "REFUTED")
print("\n".join(refuted.smallest.derivation))
print("every smaller problem was examined:", refuted.smallest.minimal)

# %% [markdown]
# ## A solver of our own
#
# A subject is any class with some of the stages. This one follows the formula as it is printed; it is held against the
# repaired statements.


# %%
class AsPrinted:
    """Puts the stage values into the printed formula, held fixed."""

    name = "as-printed"

    def hypergradient(self, problem, x, call, rng):
        made = hypergradient(
            problem, x, alpha=call.alpha, reading=AS_WRITTEN, parameters=call.parameters, rng=rng, draws=call.draws
        )
        return made.hypergradient


mine = verify.run(
    ["bias-bound/T3", "bias-bound/black-box"], subject=AsPrinted(), instances=["toy1"], readings=["repaired"],
    profile="smoke",
)  # fmt: skip
for result in mine.results:
    print(result)
print(mine.coverage)

# %% [markdown]
# Its estimate leaves $\nabla F$ like α⁻²: the suite names the statement it breaks, and the problem that shows it.
# `verify.conform(subject)` goes on from here: which stage deviates, and what it computes instead.
