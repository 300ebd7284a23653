"""What is proven for every problem, as one page: ``python -m verify.report.formats.proven_page > docs/theorems.md``."""

from __future__ import annotations

import sys

from spec.claims import Claim, load_claims
from verify.proofs.kernel.proof_record import load_record
from verify.proofs.kernel.standings import counts, standings
from verify.proofs.kernel.theorems import TheoremTable, load_theorems
from verify.report.formats.markdown import escape

HEAD = """\
<!-- f2csa-verify -->
# What is proven for every problem

A theorem here holds in every dimension, for all data that meet its premises, at every α in the range stated, or it is
of one toy problem that its words name; Coq {version} checked it, from the standard library alone. The only axioms are
those of the library's real numbers: {axioms}. The sources are in `verify/proofs/kernel/coq/`, each statement with a
comment in the paper's letters; what the kernel printed, and a hash of each file, is on record in `proofs.json` beside
them. `f2csa prove` checks them again and refuses what is not on record; without `coqc` it says "recorded, not
re-checked here", which is less. `f2csa verify` never runs Coq: its report shows each statement's theorems as recorded.

The theorems are about the formulas. Whether a program follows the formulas is measured, so a statement's verdict in a
report rests on its own evidence, and *proven* stands beside it. A premise that a theorem asks for is granted by the
statement's own words, by a premise of it or its claim, by an assumption of the paper or by what is proven whole; what
is not is a gap, *premise more* below, computed from `theorems.toml`. Derivatives of y\\* and λ\\* enter by the
differentiated KKT system (premise “{kkt}”); random vectors as an inner-product space, expectation as a monotone linear
mean.

A report's certified bounds, each about one problem, rest on the kernel as well where
`f2csa prove --certificates REPORT` puts them to it: the check of a certificate is proven right (`certificate_sound`)
and evaluated there; see [recheck.md](recheck.md).
"""


def page(table: TheoremTable) -> str:
    """The page as Markdown."""
    totals, record = counts(), load_record()
    axioms = sorted({axiom for theorem in record.theorems.values() for axiom in theorem.axioms})
    head = HEAD.format(
        version=record.coq, axioms=", ".join(f"`{axiom}`" for axiom in axioms), kkt=escape(table.premises["kkt"].text)
    )
    told = (
        f"{len(table.theorem)} theorems in {len(table.order)} files. Of the repaired statements {totals['proven']} are "
        f"proven ({totals['gaps']} with a premise more), {totals['part']} in part, {totals['left']} not, each with its "
        f"reason; {counts('as-written')['proven']} are refuted as written.\n"
    )
    claims = [f"## {escape(claim.title)} (`{claim.id}`)\n\n{_claim(claim, table)}" for claim in load_claims().values()]
    return "\n".join([head, told, *claims, f"## The theorems\n\n{_theorems(table)}"])


def _claim(claim: Claim, table: TheoremTable) -> str:
    rows = []
    for full, _ in claim.statements():
        for standing in standings(full):
            gaps = [f"*premise more:* {escape(text)}" for text in standing.gaps]
            short = [f"*not in the theorems:* {escape(text)}" for text in standing.lacks]
            by = ", ".join(f"`{name}`" for name in standing.row.by)
            rows.append(f"| `{full}` | {standing.grade} | {by} | {'<br>'.join([*gaps, *short])} |")
        if full in table.reasons:
            rows.append(f"| `{full}` | not proven | | {escape(table.reasons[full])} |")
    return "\n".join(["| Statement | Standing | By | Beyond, or why not |", "|---|---|---|---|", *rows]) + "\n"


def _theorems(table: TheoremTable) -> str:
    rows = []
    for theorem in table.theorem:
        asks = "; ".join(table.premises[one].text for one in theorem.asks) or "what it says"
        ratio = "" if theorem.ratio is None else f"{theorem.ratio:g}"
        rows.append(f"| `{theorem.coq}` | {escape(theorem.says)} | {escape(asks)} | {ratio} |")
    head = ["| Theorem | Says | Premises | Largest value/bound on record |", "|---|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(load_theorems()))
