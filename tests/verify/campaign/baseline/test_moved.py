"""A pull request's comment says what moved, briefly, and says so where nothing did."""

from __future__ import annotations

import pytest

from tests.verify.campaign.baseline.reports import exact, level, rate, report, result
from verify.campaign.baseline.judging import judge
from verify.campaign.baseline.model import Baseline
from verify.campaign.baseline.moved import MARK, ROWS, render_comment
from verify.report.report_files import Report
from verify.verdict import Verdict

S, R = Verdict.SUPPORTED, Verdict.REFUTED


def comment(old: Report, new: Report) -> str:
    recorded = Baseline.of(old)
    judged, comparison = judge(new, recorded)
    found = Baseline.of(new) if any(one.verdict for one in new.results) else None
    text = render_comment(comparison, recorded, found, complete=judged.complete)
    assert text == render_comment(comparison, recorded, found, complete=judged.complete)
    assert text.startswith(f"{MARK}\n**F2CSA claims: ")
    return text


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


def test_nothing_moved_says_so_with_what_was_compared() -> None:
    same = report(result(rate()))
    assert comment(same, same) == f"{MARK}\n**F2CSA claims: nothing moved** (1 result and 2 numbers compared)\n"


def test_an_order_that_moved_with_its_verdict_is_one_line_over_all_instances() -> None:
    def of(power: float, verdict: Verdict) -> Report:
        found = (result(rate(1.0, power), verdict=verdict, instance=f"toy{k}") for k in range(5))
        return report(*found)

    text = comment(of(2.0, S), of(1.0, R))
    assert "**F2CSA claims: 5 changes for the worse**" in text
    moved = "**supported → refuted**; bias went from α² to α¹"
    assert lines(text) == [f"- `bias-bound/T3` repaired: {moved} (on `toy0`, `toy1`, `toy2` and 2 more)"]


@pytest.mark.parametrize(
    ("power", "said"),
    [(1.0, "α¹"), (0.0, "α⁰"), (-2.0, "α⁻²"), (1.5, "α^1.50 [1.49, 1.51]"), (-0.5, "α^−0.50 [−0.51, −0.49]")],
)
def test_orders_are_said_as_powers(power: float, said: str) -> None:
    text = comment(report(result(rate(1.0, 2.0))), report(result(rate(1.0, power))))
    assert f"- `bias-bound/T3` repaired: bias went from α² to {said} (on `toy1`)" in text


def test_orders_whose_intervals_meet_did_not_move() -> None:
    wide = report(result(rate(1.0, 2.0, interval=(0.5, 2.5)), verdict=R))
    assert "went from" not in comment(report(result(rate())), wide)


def test_lost_evidence_constants_and_faults_have_their_sections() -> None:
    old = report(result(exact()), result(level(), instance="toy2"), result(rate(), instance="toy3"))
    new = report(result(exact(constant=2.0)), result(verdict=None, instance="toy3"))
    text = comment(old, new)
    assert "\nConstants:\n\n- `bias-bound/T3` repaired: proven bound bias" in text
    assert "\nLost or weaker evidence:\n\n- `bias-bound/T3` repaired: no longer in the run; on record SUPPORTED" in text
    assert "\nFaults: no verdict:\n\n- bias-bound/T3 \\[repaired\\] on toy3: it crashed\n" in text
    assert "1 fault and 2 changes for the worse" in text


def test_what_got_better_fails_nothing_and_is_folded() -> None:
    text = comment(report(result(rate(), verdict=R)), report(result(rate())))
    assert "**F2CSA claims: nothing got worse, 1 change beside**" in text
    assert text.index("<details>") < text.index("**refuted → supported**") < text.index("</details>")


def test_an_interrupted_run_is_told_and_many_lines_are_counted() -> None:
    old = report(*(result(rate(), claim=f"bias-bound/T{k}") for k in range(ROWS + 3)))
    new = report(*(result(rate(), verdict=R, claim=f"bias-bound/T{k}") for k in range(ROWS + 3)), complete=False)
    text = comment(old, new)
    assert "\nThe run was interrupted: only what was done is compared.\n" in text
    assert len(lines(text)) == ROWS + 1
    assert lines(text)[-1] == "- and 3 more"


def test_a_subject_s_words_cannot_break_the_comment() -> None:
    new = report(result(verdict=None, fault="</details> | **bold** <b> `x`"))
    assert "\\<b\\>" in comment(report(result(rate())), new)
