"""What rests on a failing statement, by the dependencies on record."""

from __future__ import annotations

import pytest

from spec.claims import load_claims
from tests.verify.report.site.story_reports import failing
from verify.report.site.causes.downstream import SHORT, downstream, drawn
from verify.report.site.frame import SiteFrame

CLAIMS = load_claims()


def above(name: str) -> set[str]:
    return {full.split("/")[0] for full in CLAIMS[name].rests_on} & CLAIMS.keys()


@pytest.mark.parametrize("name", CLAIMS)
def test_it_is_all_that_rests_on_it_and_nothing_else(name: str) -> None:
    found = set(downstream(name, CLAIMS).claims)
    closed = {name}
    while more := {other for other in CLAIMS if above(other) & closed} - closed:
        closed |= more
    assert found == closed


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_stand_after_what_they_rest_on(name: str) -> None:
    found = downstream(f"{name}/step", CLAIMS)
    assert found.claims[0] == name
    assert all(found.claims.index(a) < found.claims.index(b) for a, b in found.edges)
    assert {b for _, b in found.edges} == set(found.claims) - {name}


def test_the_bias_takes_accuracy_stationarity_and_cost_with_it() -> None:
    found = downstream("bias-bound/T3", CLAIMS).claims
    assert {"hypergradient-accuracy", "goldstein-convergence", "sfo-complexity"} < set(found)


def test_the_drawing_names_and_links_what_is_in_the_run() -> None:
    site = SiteFrame.of(failing())
    svg = drawn(downstream("bias-bound/T3", CLAIMS), "T₃", site)
    assert "T₃ breaks: Bias, " in svg
    assert 'href="sfo-complexity.html#sfo-complexity"' in svg
    assert "goldstein-convergence.html" not in svg
    assert "Stationarity" in svg


def test_every_claim_has_a_short_name() -> None:
    assert SHORT.keys() == CLAIMS.keys()
