"""The letter: what fails because a stage is off stands under that stage, the rest by itself."""

from __future__ import annotations

from verify.conformance.found import ClaimFinding, Diagnosis, StageFinding
from verify.conformance.model import Conformance

FAILED = (
    "bias-bound/T3 on toy1: refuted.",
    "bias-bound/T3 on kink: refuted.",
    "bias-bound on toy1: refuted.",
    "inner-cost on toy1: refuted.",
)


def claim(name: str, asks: str = "") -> ClaimFinding:
    return ClaimFinding(claim=name, status="REFUTED", on_record=False, sentence="It fails.", reproduce="-", asks=asks)


def letter(*diagnoses: Diagnosis) -> list[str]:
    names = {"bias-bound/T3": "hypergradient", "bias-bound": "hypergradient", "inner-cost": ""}
    found = Conformance(
        environment={}, seed=1, subject="mine", profile="conform", first=None, reproduction=None, faults=(),
        seconds=1.0,
        stages=(StageFinding(stage="hypergradient", status="diverges", sentence="3 answers are off."),),
        diagnoses=diagnoses, claims=tuple(claim(name, asks) for name, asks in names.items()),
        findings=("hypergradient: 3 answers are off.", *FAILED),
    )  # fmt: skip
    return [line for line in str(found).splitlines() if line.startswith("  ✗ ") and "answers are off" not in line]


def test_claims_that_ask_for_a_stage_that_is_described_stand_in_one_line_under_it() -> None:
    assert letter(Diagnosis(stage="hypergradient", sentence="1.03 times the right estimate")) == [
        "  ✗ 2 that ask for hypergradient, which is off as told above: bias-bound/T3, bias-bound",
        "  ✗ inner-cost on toy1: refuted.",
    ]


def test_where_nothing_describes_the_stage_each_result_stands_by_itself() -> None:
    assert letter() == [f"  ✗ {line}" for line in FAILED]
