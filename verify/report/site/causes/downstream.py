"""What a failing statement takes with it: the claims that rest on it, by the dependencies on record, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from markupsafe import Markup

from spec.claims import Claim
from verify.report.site.frame import SiteFrame

SHORT: dict[str, str] = {
    "smoothness": "Smoothness", "lipschitz-solution": "Solution map", "stochastic-oracles": "Oracles",
    "dual-extraction": "Multipliers", "solution-error": "Shift", "bias-bound": "Bias", "variance-bound": "Variance",
    "hypergradient-accuracy": "Accuracy", "inner-cost": "Inner cost", "inner-loop-remark": "Inner loops",
    "goldstein-convergence": "Stationarity", "sfo-complexity": "Total cost", "related-rates": "Related work",
    "convergence-experiment": "Losses", "scaling-experiment": "Scaling", "background": "Background",
    "consistency": "Consistency",
}  # fmt: skip
"""Claims in a word or two, for boxes."""
_BOX, _ROW, _ACROSS = (86.0, 27.0), 50.0, 92.0
_PER_ROW = 3


@dataclass(frozen=True)
class Downstream:
    """The claims that rest on a statement, its own first; ``edges`` from a claim to one that rests on it."""

    statement: str
    claims: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]


def downstream(statement: str, claims: Mapping[str, Claim]) -> Downstream:
    """By what claims rest on, as a whole: a step's failure is its claim's, and passes to what rests on either."""
    own = statement.split("/", 1)[0]
    above = {
        name: sorted({full.split("/", 1)[0] for full in claim.rests_on} & claims.keys())
        for name, claim in claims.items()
    }
    order = list(TopologicalSorter(above).static_order())
    reached = {own}
    for name in order:
        if reached.intersection(above[name]):
            reached.add(name)
    affected = tuple(name for name in order if name in reached)
    affected = (own, *(name for name in affected if name != own))
    return Downstream(statement, affected, tuple((a, b) for b in affected for a in above[b] if a in reached))


def drawn(graph: Downstream, node: str, site: SiteFrame) -> Markup:
    """The statement on top, its claim below, then what rests on it, each row resting on those above."""
    depth = {graph.claims[0]: 0}
    for name in graph.claims[1:]:
        depth[name] = 1 + max(depth[a] for a, b in graph.edges if b == name)
    rows: list[list[str]] = []
    for level in range(max(depth.values()) + 1):
        names = [name for name in graph.claims if depth[name] == level]
        rows += [names[i : i + _PER_ROW] for i in range(0, len(names), _PER_ROW)]
    place = {name: (2 + _ACROSS * i, 52 + _ROW * r) for r, row in enumerate(rows) for i, name in enumerate(row)}
    width, height = _BOX
    body = [f'<path class="e hit" d="M{2 + width / 2:g} 26V52"/>']
    for a, b in graph.edges:
        (x1, y1), (x2, y2) = place[a], place[b]
        x1, x2, y1 = x1 + width / 2, x2 + width / 2, y1 + height
        bend = (y2 - y1) * 0.55
        body.append(f'<path class="e hit" d="M{x1:g} {y1:g}C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} {x2:g} {y2:g}"/>')
    body.append(_box(2, 1, 25, node, 12.5))
    for name, (x, y) in place.items():
        box = _box(x, y, height, SHORT.get(name, name), 3)
        href = site.href(name)
        body.append(f'<a href="{href}">{box}</a>' if href else box)
    size = (2 * 2 + _ACROSS * _PER_ROW - (_ACROSS - width), 54 + _ROW * (len(rows) - 1) + height)
    label = f"{node} breaks: " + ", ".join(SHORT.get(name, name) for name in graph.claims)
    opening = Markup('<svg class="dep" viewBox="0 0 {:g} {:g}" role="group" aria-label="{}">').format(*size, label)
    return opening + Markup("".join(body) + "</svg>")  # ids and words of ours


def _box(x: float, y: float, height: float, words: str, corner: float) -> str:
    width = _BOX[0]
    return (
        f'<g class="hit"><rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{corner:g}"/>'
        f'<text x="{x + width / 2:g}" y="{y + height / 2 + 4.5:g}" text-anchor="middle">{words}</text></g>'
    )
