"""What counts as a finding on draws, and what simpler numbers there are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spec import InvalidInputError
from verify.campaign.soak.model import SoakReport
from verify.campaign.soak.simpler_problems import simpler
from verify.campaign.soak.unexpected import unexpected
from verify.cli.runs.soak import lines, seconds_of
from verify.report.rows.draws_model import DrawnProblems, DrawRow

RECORD = {
    "bias-bound/T3|as-written|toy1": "REFUTED",
    "bias-bound/T3|as-written|toy2": "SUPPORTED",
    "bias-bound/T3|repaired|toy1": "SUPPORTED",
    "bias-bound/T2|as-written|toy1": "SUPPORTED",
}


def row(claim: str, reading: str, family: str, **verdicts: int) -> DrawRow:
    named = {verdict: tuple(f"drawn:{family}:{k}" for k in range(min(count, 3))) for verdict, count in verdicts.items()}
    return DrawRow(claim=claim, reading=reading, family=family, verdicts=verdicts, named=named)


def test_a_refutation_is_a_finding_where_the_record_has_none() -> None:
    rows = (
        row("bias-bound/T3", "as-written", "rows", REFUTED=4, SUPPORTED=1),
        row("bias-bound/T3", "repaired", "rows", SUPPORTED=5),
        row("bias-bound/T3", "repaired", "box", SUPPORTED=3, REFUTED=2),
        row("bias-bound/T3", "repaired", "experiment", REFUTED=1),
        row("bias-bound/T2", "as-written", "rows", REFUTED=1),
        row("bias-bound/T2", "repaired", "rows", INCONCLUSIVE=2, UNSETTLED=3, NOT_APPLICABLE=1),
    )
    found = [*unexpected(DrawnProblems(each=5, rows=rows), RECORD)]
    assert [(one.claim, one.reading, one.outcome, one.families, one.first) for one in found] == [
        ("bias-bound/T3", "repaired", "REFUTED", {"box": 2, "experiment": 1}, "drawn:box:0"),
        ("bias-bound/T2", "as-written", "REFUTED", {"rows": 1}, "drawn:rows:0"),
    ]
    assert found[0].draws == 3


def test_a_fault_is_a_finding_whatever_is_on_record() -> None:
    rows = (row("bias-bound/T3", "as-written", "rows", REFUTED=1, FAULT=1),)
    assert [one.outcome for one in unexpected(DrawnProblems(each=2, rows=rows), RECORD)] == ["FAULT"]


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("8h", 28800), ("2d", 172800)])
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1s", "1w", "s", "1e3s", "999999999d", "١s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(InvalidInputError, match="--for: must be a time"):
        seconds_of(text)


def test_simpler_numbers_end_with_the_number_itself() -> None:
    assert simpler(Fraction(0)) == (0,)
    assert simpler(Fraction(-2)) == (0, 1, -1, 2, -2)
    assert simpler(Fraction(3), positive=True) == (1, 2, 3)
    assert simpler(Fraction(5, 2))[-1] == Fraction(5, 2)
    assert all(value.denominator <= 2 for value in simpler(Fraction(5, 2)))


def test_nothing_asked_is_no_success() -> None:
    empty = SoakReport(
        subject="mine", profile="smoke", seed=0, draws=1, complete=True, results=0, verdicts={}
    )  # fmt: skip
    assert empty.exit_code == 3
    assert "nothing was asked: no success" in [*lines(empty, 1.0, "soak.json")]
