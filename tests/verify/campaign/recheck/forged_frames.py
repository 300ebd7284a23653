"""Counterexamples, flags and frames of a report forged: the second half of what a careful forger edits."""

from __future__ import annotations

import copy
from typing import Any

from tests.verify.campaign.recheck.forgeries import DUAL, Forgery, compared, measured_to_support
from tests.verify.campaign.recheck.tamperings import Data, result
from verify.campaign.plan import Task

# --- Counterexamples --------------------------------------------------------------------------------------------------

BROKEN = ("bias-bound/T3", "as-written")


def counterexample_problem(data: Data) -> None:
    found = result(data, *BROKEN)["counterexample"]
    found["problem"] = result(data, *BROKEN, "toy1")["counterexample"]["problem"]


def counterexample_point(data: Data) -> None:
    result(data, *BROKEN)["counterexample"]["x"][0] = "7"


def counterexample_values(data: Data) -> None:
    values = result(data, *BROKEN)["counterexample"]["values"]
    name = next(name for name, value in values.items() if isinstance(value, float) and value)
    values[name] *= 1.5


def counterexample_note(data: Data) -> None:
    result(data, *BROKEN)["counterexample"]["note"] = "By hand: nothing is wrong here."


def counterexample_of_scaled_rows(data: Data) -> None:
    found = result(data, "bias-bound/T3-uniform", "as-written", "toy1")["counterexample"]
    found["problem"]["constraints"]["B"] = [["1"]]


# --- The report as a whole --------------------------------------------------------------------------------------------


def incomplete(data: Data) -> None:
    data["complete"] = False


def seed(data: Data) -> None:
    """The seed, and every command with it; then a number that no sample is behind."""
    as_of(data, seed=7)
    compared(data, DUAL, "as-written")["measured"] *= 1.01


def seed_alone(data: Data) -> None:
    data["seed"] = 7


def profile(data: Data) -> None:
    """A profile whose numbers nobody recorded is no way out of the verdicts on record."""
    as_of(data, profile="full")
    measured_to_support(data)


def effort(data: Data) -> None:
    for one in data["results"]:
        one["effort"] = 4
    as_of(data)
    compared(data, DUAL, "as-written")["measured"] *= 1.01


def as_of(data: Data, **other: Any) -> None:
    """Seed, profile or subject of the report and of every command in it."""
    data |= other
    for one in data["results"]:
        task = Task(
            one["claim"], one["reading"], one["instance"], data["subject"], data["profile"], data["seed"], one["effort"]
        )
        one["reproduce"] = task.command


def versions(data: Data) -> None:
    data["environment"]["numpy"] = "not a version"


def version_left_out(data: Data) -> None:
    del data["environment"]["scipy"]


def machine_of_many_words(data: Data) -> None:
    data["environment"]["BLAS"] = "openblas; certified: by an authority"


def environment_added(data: Data) -> None:
    data["environment"]["certified by"] = "an authority"


def version_of_the_subject(data: Data) -> None:
    data["subject_version"] = "9.9"


def finding_added(data: Data) -> None:
    data["findings"] = ["bias-bound/T1 [repaired] on toy1: REFUTED"]


def expected_flag(data: Data) -> None:
    result(data, "bias-bound/T3")["expected"] = False


def expected_flag_removed(data: Data) -> None:
    result(data, "bias-bound/T3")["expected"] = None


def change_told(data: Data) -> None:
    data["changes"] = ["every exponent improved"]


def picture(data: Data) -> None:
    result(data, "bias-bound/T3")["pictures"] = [
        {"title": "T₃", "x_label": "α", "y_label": "T₃", "series": [{"name": "T₃", "x": [1.0], "y": [0.0]}]}
    ]


def continuation(data: Data) -> None:
    result(data, "variance-bound/per-sample")["continuation"] = [{"n": 1}]


def summary_title(data: Data) -> None:
    data["summary"][0]["title"] = "Proven"


def summary_doubled(data: Data) -> None:
    data["summary"].append(copy.deepcopy(data["summary"][0]))


def summary_rows_of_a_claim(data: Data) -> None:
    data["summary"] = [row for row in data["summary"] if row["claim"] != "consistency/figures"]


def drawn_result(data: Data) -> None:
    """A result on a drawn problem, which no record is of: it is run again."""
    row = copy.deepcopy(result(data, "dual-extraction/weights-gradient", "as-written", "toy1"))
    row |= {"instance": "drawn:box:1", "expected": None}
    item = next(e for e in row["evidence"] if e["kind"] == "comparison")
    item["measured"] = item["predicted"]
    data["results"].append(row)
    as_of(data)


def times(data: Data) -> None:
    result(data, "bias-bound/T3")["seconds"] = 1e-9
    data["seconds"] = 1e-9


def refuted_to_fault(data: Data) -> None:
    found = result(data, "bias-bound/black-box", "as-written", "toy1")
    found |= {"evidence": [], "verdict": None, "sentence": "Fault: time", "fault": "time", "counterexample": None}
    found |= {"claimed": "", "quantity": "", "measured": None, "interval": None, "rung": None, "error_rates": {}}


FRAMES: tuple[Forgery, ...] = (
    counterexample_problem, counterexample_point, counterexample_values, counterexample_note,
    counterexample_of_scaled_rows, drawn_result, incomplete, seed, seed_alone, profile, effort, versions,
    version_left_out, machine_of_many_words, environment_added, version_of_the_subject, change_told, picture,
    continuation,
)  # fmt: skip
"""Made to follow afterwards."""
PLAIN: tuple[Forgery, ...] = (
    refuted_to_fault, finding_added, expected_flag, expected_flag_removed, summary_title, summary_doubled,
    summary_rows_of_a_claim, times,
)  # fmt: skip
"""Left as they are: what they edit is what would be made to follow."""
