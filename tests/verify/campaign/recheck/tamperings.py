"""What may be changed in a report so that it no longer follows: one function a change, and what a refusal then says."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

from tests.verify.truth.problems import TOY1
from verify.truth.certificates.certification import WantedBound, certify
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import Scenario, exact_error

Data = dict[str, Any]


def result(data: Data, claim: str, reading: str = "repaired", instance: str = "two-of-three") -> Data:
    (found,) = [r for r in data["results"] if (r["claim"], r["reading"], r["instance"]) == (claim, reading, instance)]
    return found


def certified(data: Data, claim: str, reading: str = "repaired", instance: str = "two-of-three") -> Data:
    (found,) = [e for e in result(data, claim, reading, instance)["evidence"] if e.get("rung") == "certified"]
    return found


def sweep(data: Data, claim: str, rung: str = "numeric", reading: str = "repaired") -> Data:
    evidence = result(data, claim, reading)["evidence"]
    return next(e for e in evidence if e["kind"] == "rate" and e["rung"] == rung and e["points"])


def verdict(data: Data) -> None:
    result(data, "bias-bound/T3", "as-written")["verdict"] = "SUPPORTED"


def verdict_and_its_sentence(data: Data) -> None:
    found = result(data, "bias-bound/T3", "as-written")
    found |= {"verdict": "SUPPORTED", "counterexample": None, "sentence": result(data, "bias-bound/T3")["sentence"]}


def exponent(data: Data) -> None:
    certified(data, "bias-bound/T3")["exponent"] = 3.0


def exponent_of_a_sweep(data: Data) -> None:
    sweep(data, "bias-bound/T3")["exponent"] = 3.0


def interval(data: Data) -> None:
    found = sweep(data, "bias-bound/T3")
    found["interval"] = [found["interval"][0] - 0.5, found["interval"][1] + 0.5]


def points(data: Data) -> None:
    for point in sweep(data, "bias-bound/T1")["points"]:
        point["measured"] *= point["at"]


def points_with_their_fit(data: Data) -> None:
    """All that follows from the points is changed along; only the certificate stays."""
    found = sweep(data, "bias-bound/T3")
    for point in found["points"]:
        point["measured"] *= 1.5


def predicted_points(data: Data) -> None:
    for point in sweep(data, "bias-bound/T3")["points"]:
        point["predicted"] = point["measured"]


def usable_points(data: Data) -> None:
    sweep(data, "variance-bound/per-sample", "statistical")["points"][0]["usable"] = False


def sampled_points(data: Data) -> None:
    for point in sweep(data, "variance-bound/per-sample", "statistical")["points"]:
        point["measured"] *= point["at"] ** -4
        point["uncertainty"] *= point["at"] ** -4


def constant(data: Data) -> None:
    certified(data, "bias-bound/T1")["bounds"][0]["constant"] *= 0.9


def end(data: Data) -> None:
    certified(data, "bias-bound/T1")["bounds"][0]["end"] = 1.0


def tightness(data: Data) -> None:
    certified(data, "bias-bound/T1")["bounds"][0]["tightness"] = 1.0


def worst_case(data: Data) -> None:
    certified(data, "bias-bound")["bounds"][0]["worst_case"] = True


def coefficient(data: Data) -> None:
    certified(data, "bias-bound/T3")["coefficient"] /= 2


def closed_form(data: Data) -> None:
    certified(data, "bias-bound/T3", instance="toy1")["closed_form"]["values"][0][1] *= 1.01


def certificate_constant(data: Data) -> None:
    proof = certified(data, "bias-bound/T3")["bounds"][0]["certificates"][0]
    proof["constant_squared"] = str(Fraction(proof["constant_squared"]) / 4)


def reference(data: Data) -> None:
    proof = certified(data, "bias-bound/T3")["bounds"][0]["certificates"][0]
    proof["reference"] = [str(Fraction(value) + 1) for value in proof["reference"]]


def certificate_of_an_easier_problem(data: Data) -> None:
    other = certified(data, "bias-bound/T3", instance="toy1")
    certified(data, "bias-bound/T3").update(copy.deepcopy(other))


def certificate_of_another_reading(data: Data) -> None:
    certified(data, "bias-bound/T3", "as-written").update(copy.deepcopy(certified(data, "bias-bound/T3")))


def certificate_of_another_quantity(data: Data) -> None:
    certified(data, "bias-bound/T2").update(copy.deepcopy(certified(data, "bias-bound/T3")))


def certificate_of_a_smaller_error(data: Data) -> None:
    """T1 on toy1 with nearly nothing spent: a valid proof, with a constant ten times better."""
    spent = Scenario(rho=(Fraction(1),), gradient_error=(exact_error(1, [Fraction(1, 10)]),))
    proof = certify(PenaltyFamily.at(TOY1, [1]), spent, WantedBound(1, "T1"), Fraction(1, 4))
    found = certified(data, "bias-bound/T1", instance="toy1")
    found["bounds"][0] |= {
        "certificates": [json.loads(proof.model_dump_json())], "constant": proof.constant * (1 + 1e-9),
        "tightness": proof.tightness,
    }  # fmt: skip
    found["coefficient"] /= 10


def certificate_with_a_number_that_fills_the_memory(data: Data) -> None:
    certified(data, "bias-bound/T3")["bounds"][0]["certificates"][0]["constant_squared"] = "1e999999999"


def certificate_that_is_none(data: Data) -> None:
    certified(data, "bias-bound/T3")["bounds"][0]["certificates"][0] = {"x": []}


def reference_that_is_not_used(data: Data) -> None:
    proof = certified(data, "bias-bound/T1")["bounds"][0]["certificates"][0]
    proof["reference"] = [str(Fraction(value) + 1) for value in proof["reference"]]


def points_no_run_produces(data: Data) -> None:
    for point in sweep(data, "bias-bound/T1")["points"]:
        point["at"] = 0.0


def one_unit_error_left_out(data: Data) -> None:
    certified(data, "bias-bound/T1")["bounds"][0]["certificates"].pop()


def certificate_left_out(data: Data) -> None:
    certified(data, "bias-bound/T3")["bounds"] = []


def dropped_evidence(data: Data) -> None:
    found = result(data, "dual-extraction/active-rows")
    found["evidence"] = [item for item in found["evidence"] if item.get("rung") != "symbolic"]


def dropped_premise(data: Data) -> None:
    found = result(data, "solution-error")
    found["evidence"] = [item for item in found["evidence"] if item.get("premise") != "licq"]


def failed_premise(data: Data) -> None:
    found = result(data, "bias-bound/T3", "as-written")
    for item in found["evidence"]:
        if item["kind"] == "premise":
            item["holds"] = False


def all_evidence_dropped(data: Data) -> None:
    found = result(data, "bias-bound/T3", "as-written")
    found |= {"evidence": [], "verdict": "NOT_APPLICABLE", "counterexample": None, "sentence": "Not applicable: none."}


def support_for_conclusion(data: Data) -> None:
    for item in result(data, "bias-bound/T3")["evidence"]:
        item |= {"role": "support"} if item.get("rung") == "certified" else {}


def dropped_result(data: Data) -> None:
    data["results"].remove(result(data, "bias-bound/T2"))


def dropped_statement(data: Data) -> None:
    left_out = "solution-error/active-rows"
    for part in ("results", "summary"):
        data[part] = [row for row in data[part] if row["claim"] != left_out]


def doubled_result(data: Data) -> None:
    data["results"].append(result(data, "bias-bound/T2"))


def fault_for_refutation(data: Data) -> None:
    result(data, "bias-bound/T3", "as-written")["fault"] = "it crashed"


def summary_status(data: Data) -> None:
    data["summary"][0]["status"] = "INCONCLUSIVE"


def summary_row_left_out(data: Data) -> None:
    data["summary"].pop()


def smallest_counterexample(data: Data) -> None:
    next(row for row in data["summary"] if row["smallest"])["smallest"] = None


def error_rate(data: Data) -> None:
    sweep(data, "variance-bound/per-sample", "statistical")["error_rate"] *= 100


def smaller_error_rate(data: Data) -> None:
    found = result(data, "variance-bound/per-sample")
    sweep(data, "variance-bound/per-sample", "statistical")["error_rate"] /= 10
    found["error_rates"] = {name: value / 10 for name, value in found["error_rates"].items()}


def stated_error_rates(data: Data) -> None:
    result(data, "variance-bound/per-sample")["error_rates"] = {"interval misses": 1e-9}


def rung(data: Data) -> None:
    sweep(data, "bias-bound/T1")["rung"] = "certified"


def command(data: Data) -> None:
    result(data, "bias-bound/T1")["reproduce"] += " --effort 4"


def instance(data: Data) -> None:
    result(data, "bias-bound/T1")["instance"] = "box-rational"


def credit(data: Data) -> None:
    result(data, "bias-bound/T3")["about"] = "mathematics"


def counterexample(data: Data) -> None:
    result(data, "bias-bound/T3", "as-written")["counterexample"] = None


TAMPERINGS = (
    verdict, verdict_and_its_sentence, exponent, exponent_of_a_sweep, interval, points, points_with_their_fit,
    predicted_points, usable_points, sampled_points, constant, end, tightness, worst_case, coefficient, closed_form,
    certificate_constant, reference, certificate_of_an_easier_problem, certificate_of_another_reading,
    certificate_of_another_quantity, certificate_of_a_smaller_error, certificate_that_is_none,
    certificate_with_a_number_that_fills_the_memory, reference_that_is_not_used, points_no_run_produces,
    one_unit_error_left_out, certificate_left_out,
    dropped_evidence, dropped_premise, failed_premise, all_evidence_dropped, support_for_conclusion, dropped_result,
    dropped_statement, doubled_result, fault_for_refutation, summary_status, summary_row_left_out,
    smallest_counterexample, error_rate, smaller_error_rate, stated_error_rates, rung, command, credit, instance,
    counterexample,
)  # fmt: skip
OF_CLAIMS = (dropped_evidence, dropped_premise, dropped_statement)
"""Those that change a claim, or leave a step of one out: a report of it has all its steps."""
OF_ALL_PARTS = (worst_case,)
"""What is about the claim whose certificates are of no worst case: the sum of its parts."""
FIELDS = {
    "verdict": "verdict", "exponent": "exponent", "interval": "interval", "points": "T₁.*points|T₁.*exponent",
    "constant": "constant", "end": "end", "tightness": "tightness must be 1.", "worst_case": "worst_case must be false",
    "reference": "certificate.reference", "certificate_of_an_easier_problem": "problem must be that of two-of-three",
    "certificate_of_another_reading": "dual_term must be frozen", "certificate_of_another_quantity": "must be T2",
    "certificate_of_a_smaller_error": "unit error|length 1", "dropped_evidence": "evidence must hold",
    "dropped_result": "bias-bound/T2.*results must hold it",
    "dropped_statement": "solution-error/active-rows.*results must hold",
    "summary_status": "summary of .*status", "error_rate": "error_rate must be",
    "smaller_error_rate": "evidence must hold",
    "points_with_their_fit": "role must be support|the certificate's value",
    "all_evidence_dropped": "evidence must not be empty", "failed_premise": "premise",
}  # fmt: skip
"""What a refusal says, by the name of what was done."""
