"""The paper's stages, by which claims are grouped."""

from __future__ import annotations

from collections.abc import Iterator

from verify.report.findings.outline import Outline, StatementOutline

STAGES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("assumptions", "Assumptions", ("smoothness", "lipschitz-solution", "stochastic-oracles")),
    ("oracle", "The oracle's error", ("dual-extraction", "solution-error", "bias-bound", "variance-bound",
                                      "hypergradient-accuracy")),
    ("inner", "Inner loops", ("inner-cost", "inner-loop-remark")),
    ("outer", "Outer loop and total", ("goldstein-convergence", "sfo-complexity")),
    ("context", "Context and experiments", ("related-rates", "convergence-experiment", "scaling-experiment",
                                            "background", "consistency")),
)  # fmt: skip
"""Each stage's short name, its words, and its claims."""
OTHER = ("other", "Other claims")


def staged(outline: Outline) -> Iterator[tuple[str, str, list[StatementOutline]]]:
    """The run's claims stage by stage, in the paper's order; a stage without any is left out."""
    known = {claim.id: claim for claim in outline.claims}
    for name, words, ids in STAGES:
        claims = [known.pop(id_) for id_ in ids if id_ in known]
        if claims:
            yield name, words, claims
    if known:
        yield *OTHER, list(known.values())
