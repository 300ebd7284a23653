"""Reports forged with care: after every edit all that follows from it is made to follow, by the suite's own code."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from tests.verify.campaign.recheck.tamperings import Data, certified, result, sweep
from verify.campaign.baseline.judging import hold_verdicts
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.recheck.obligations import asserted
from verify.campaign.recheck.rechecking import DECIDED
from verify.campaign.summary import summarise
from verify.evidence.model import RateEvidence
from verify.evidence.rates.rates import fit_rate
from verify.report.model import ReportData, Result
from verify.verdict import Verdict, decide

CLAIMS = [
    "bias-bound/T1", "bias-bound/T3", "bias-bound/T3-uniform", "bias-bound/black-box", "variance-bound/per-sample",
    "variance-bound/black-box", "stochastic-oracles/dual-accuracy", "dual-extraction/weights-gradient",
    "consistency/figures",
]  # fmt: skip
"""What a forger works on: sampled, swept, exact and cited numbers."""
Forgery = Callable[[Data], None]


def follow_up(data: Data) -> Data:
    """All that follows from the evidence as it now stands: fits, verdicts, summary, flags and findings."""
    report = ReportData.model_validate_json(json.dumps(data))
    results = [_decided(one) for one in report.results]
    judged, findings = hold_verdicts(results, shipped_record())
    asked = list(dict.fromkeys(row.claim for row in report.summary))
    made = report.model_copy(update={
        "results": tuple(judged), "summary": tuple(summarise(judged, asked, report.subject)),
        "findings": tuple(findings),
    })  # fmt: skip
    return dict(json.loads(made.model_dump_json(by_alias=True)))


def _decided(one: Result) -> Result:
    if not one.evidence or one.fault:
        return one
    evidence = tuple(_fitted(item) if isinstance(item, RateEvidence) else item for item in one.evidence)
    bound, _ = asserted(one.claim, one.reading)
    again = decide(bound, evidence)
    update: dict[str, Any] = {name: getattr(again, name) for name in DECIDED}
    if again.verdict is not Verdict.REFUTED:
        update["counterexample"] = None
    return one.model_copy(update=update | {"evidence": evidence, "error_rates": again.error_rates or {}})


def _fitted(rate: RateEvidence) -> RateEvidence:
    if rate.rung != "numeric" or not rate.points:
        return rate
    points = [point.model_copy(update={"usable": True}) for point in rate.points]
    again = fit_rate(points, quantity=rate.quantity, variable=rate.variable)
    names = ("exponent", "interval", "local_exponents", "settled", "floor", "points")
    return rate.model_copy(update={name: getattr(again, name) for name in names})


def compared(data: Data, claim: str, reading: str = "repaired", instance: str = "toy1", k: int = 0) -> Data:
    """The k-th comparison of a result."""
    found = [e for e in result(data, claim, reading, instance)["evidence"] if e["kind"] == "comparison"]
    return found[k]


def premise(data: Data) -> Data:
    return next(e for e in result(data, "bias-bound/T1")["evidence"] if e["kind"] == "premise")


def sampled(data: Data) -> Data:
    """A rate over samples."""
    return next(e for e in result(data, "variance-bound/per-sample")["evidence"] if e["kind"] == "rate" and e["points"])


# --- A refutation turned into support by one number -------------------------------------------------------------------

DUAL = "stochastic-oracles/dual-accuracy"


def measured_to_support(data: Data) -> None:
    found = compared(data, DUAL, "as-written")
    found["measured"] = found["predicted"]


def predicted_to_support(data: Data) -> None:
    found = compared(data, DUAL, "as-written")
    found["predicted"] = found["measured"]


def tolerance_to_support(data: Data) -> None:
    found = compared(data, DUAL, "as-written")
    found["tolerance"] = 2 * abs(found["measured"] - found["predicted"])


def relation_to_support(data: Data) -> None:
    compared(data, DUAL, "as-written")["relation"] = ">="


def exact_count_to_support(data: Data) -> None:
    compared(data, "dual-extraction/weights-gradient", "as-written")["measured"] = 0.0


def sweep_with_its_fit(data: Data) -> None:
    """A whole numeric sweep, no certificate beside it, tilted by one order; the fit is made again."""
    found = result(data, "bias-bound/black-box", "as-written", "toy1")
    rate = next(e for e in found["evidence"] if e["kind"] == "rate")
    for point in rate["points"]:
        point["measured"] *= point["at"]
        point["uncertainty"] *= point["at"]


def sampled_means_to_support(data: Data) -> None:
    for item in result(data, "variance-bound/black-box", "as-written", "toy1")["evidence"]:
        if item["kind"] == "comparison":
            item["measured"] = item["predicted"] / 2


def exchanged_evidence(data: Data) -> None:
    """Two instances' evidence and verdicts exchanged."""
    one, other = (result(data, "bias-bound/black-box", "repaired", name) for name in ("toy1", "two-of-three"))
    one["evidence"], other["evidence"] = other["evidence"], one["evidence"]


def exchanged_readings(data: Data) -> None:
    one, other = (result(data, "bias-bound/black-box", name, "toy1") for name in ("as-written", "repaired"))
    one["evidence"], other["evidence"] = other["evidence"], one["evidence"]


def sampled_bound_and_its_law(data: Data) -> None:
    """Two fields at once: a looser tolerance, and a power that would have seen a violation all the same."""
    for item in result(data, "variance-bound/black-box", "as-written", "toy1")["evidence"]:
        if item["kind"] == "comparison":
            item["tolerance"] = 2 * abs(item["measured"] - item["predicted"])
            item["detectable"] = item["wanted"]


def prediction_and_measurement(data: Data) -> None:
    """Both moved together, so that they agree as ever."""
    for item in result(data, "bias-bound/T1", "as-written")["evidence"]:
        for point in item.get("points") or ():
            point |= {
                name: point[name] * point["at"] for name in ("measured", "predicted", "uncertainty") if point[name]
            }


def text_of_the_paper(data: Data) -> None:
    """What is read off the paper's text."""
    for item in result(data, "consistency/figures", "as-written", "toy1")["evidence"]:
        if item["kind"] == "comparison":
            item["measured"] = item["predicted"]


def premise_to_excuse(data: Data) -> None:
    found = premise(data)
    found |= {"holds": False}


def refuted_to_missing_stage(data: Data) -> None:
    found = result(data, "bias-bound/black-box", "as-written", "toy1")
    sentence = "Not applicable: the subject offers no hypergradient."
    found |= {"evidence": [], "verdict": "NOT_APPLICABLE", "sentence": sentence, "counterexample": None}
    found |= {"claimed": "", "quantity": "", "measured": None, "interval": None, "rung": None, "error_rates": {}}


# --- Numbers that leave the verdict as it is --------------------------------------------------------------------------


def measured_by_a_millionth(data: Data) -> None:
    compared(data, DUAL, "as-written")["measured"] *= 1 + 1e-6


def sampled_point_by_a_millionth(data: Data) -> None:
    sampled(data)["points"][0]["measured"] *= 1 + 1e-6


def sampled_mean(data: Data) -> None:
    compared(data, "variance-bound/black-box")["measured"] *= 0.99


def sampled_uncertainty(data: Data) -> None:
    for point in sampled(data)["points"]:
        point["uncertainty"] *= 0.99


def sampled_exponent(data: Data) -> None:
    found = sampled(data)
    found["exponent"] += 1e-5


def sampled_interval(data: Data) -> None:
    found = sampled(data)
    low, high = found["interval"]
    middle = found["exponent"]
    found["interval"] = [middle - (middle - low) / 2, middle + (high - middle) / 2]


def samples_drawn(data: Data) -> None:
    sampled(data)["samples"] *= 100


def law_tested(data: Data) -> None:
    sampled(data)["checked"] = "the samples look Gaussian"


def detectable(data: Data) -> None:
    sampled(data)["detectable"] /= 10


def deterministic_point(data: Data) -> None:
    sweep(data, "bias-bound/T1")["points"][0]["measured"] *= 1 + 1e-6


def deterministic_uncertainty(data: Data) -> None:
    for point in sweep(data, "bias-bound/T1")["points"]:
        point["uncertainty"] /= 10


def predicted_of_a_sweep(data: Data) -> None:
    """Of the bias at inexact stages, which no certificate of T3 is about."""
    for item in result(data, "bias-bound/T1")["evidence"]:
        for point in item.get("points") or ():
            if point["predicted"] is not None:
                point["predicted"] *= 1 + 1e-6


def support_of_a_claim(data: Data) -> None:
    """A comparison beside the conclusion, made to say more."""
    found = result(data, "bias-bound/T3")
    item = next(e for e in found["evidence"] if e["kind"] == "comparison" and e["role"] == "support")
    item["measured"] *= 1.01


def context(data: Data) -> None:
    found = compared(data, "variance-bound/black-box")
    found["context"] = {"alpha": 1e-9}


def premises_finding(data: Data) -> None:
    premise(data)["finding"] = "the rows are independent, as everyone knows"


def closed_form_text(data: Data) -> None:
    certified(data, "bias-bound/T3", instance="toy1")["closed_form"]["text"] = "α³"


def closed_form_latex(data: Data) -> None:
    certified(data, "bias-bound/T3", instance="toy1")["closed_form"]["latex"] = r"\alpha^3"


def closed_form_removed(data: Data) -> None:
    certified(data, "bias-bound/T3", instance="toy1")["closed_form"] = None


def closed_form_values_left_out(data: Data) -> None:
    certified(data, "bias-bound/T3", instance="toy1")["closed_form"]["values"] = []


def worst_coefficient_smaller(data: Data) -> None:
    """Where unit errors combine, a smaller coefficient is within what the certificates allow."""
    certified(data, "bias-bound/T1")["coefficient"] /= 10


def bounds_doubled(data: Data) -> None:
    found = certified(data, "bias-bound/T3")
    found["bounds"].append(copy.deepcopy(found["bounds"][0]))


NUMBERS: tuple[Forgery, ...] = (
    measured_to_support, predicted_to_support, tolerance_to_support, relation_to_support, exact_count_to_support,
    sweep_with_its_fit, sampled_means_to_support, exchanged_evidence, exchanged_readings, sampled_bound_and_its_law,
    prediction_and_measurement, text_of_the_paper, premise_to_excuse, refuted_to_missing_stage,
    measured_by_a_millionth, sampled_point_by_a_millionth, sampled_mean, sampled_uncertainty, sampled_exponent,
    sampled_interval, samples_drawn, law_tested, detectable, deterministic_point, deterministic_uncertainty,
    predicted_of_a_sweep, support_of_a_claim, context, premises_finding, closed_form_text, closed_form_latex,
    bounds_doubled, closed_form_removed, closed_form_values_left_out, worst_coefficient_smaller,
)  # fmt: skip
"""Forged evidence, made to follow afterwards."""
