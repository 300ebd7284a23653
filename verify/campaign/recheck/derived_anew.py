"""What a report shows beside its verdicts, derived again from the spec: counterexamples' problems, closed forms.

Whoever the subject is: neither depends on its answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from spec import Quadratic
from spec.atlas import Instance
from spec.atlas import find as find_instance
from spec.blocks.exact_json import plain
from spec.reading import is_repaired_text
from verify.campaign.recheck.proven_bounds import AGREEMENT, checked
from verify.checks.bias_bound.row_scales import SHOWN, scaled
from verify.checks.goldstein_convergence.second_moment import between_rows
from verify.checks.measuring.case import find_profile
from verify.evidence.model import CertifiedBound, ComparisonEvidence, RateEvidence
from verify.report.model import Result
from verify.truth.algebra.rationals import Vector
from verify.truth.certificates.certificate import Certificate
from verify.truth.functions_of_alpha.closed_forms import Printed, closed_form
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import Quantity, Scenario
from verify.verdict import Verdict

Shortcoming = tuple[str, str]
"""A field and the rule it breaks."""


def counterexample_broken(result: Result) -> Iterator[Shortcoming]:
    """A refutation by a problem comes with that problem and point, which are the instance's; nothing else does."""
    wanted = result.verdict is Verdict.REFUTED and result.about != "paper"
    shown = result.counterexample
    if (shown is not None) != wanted:
        yield "counterexample", "must come with a refutation by a problem, and with nothing else"
    elif shown is not None:
        instance = _problem_asked(result)
        if json.dumps(plain(shown.problem)) != json.dumps(plain(instance.problem.to_dict())):
            yield "counterexample.problem", f"must be that of {instance.name}"
        if shown.x != [str(value) for value in instance.x]:
            yield "counterexample.x", f"must be the point of {instance.name}"


def _problem_asked(result: Result) -> Instance:
    """The instance, or what a check makes of it."""
    instance = find_instance(result.instance)
    if result.claim in SHOWN:
        return scaled(instance, SHOWN[result.claim], as_written=not is_repaired_text(result.reading))
    return between_rows(instance) if result.claim == "goldstein-convergence/second-moment" else instance


def closed_forms_broken(result: Result, profile: str) -> Iterator[Shortcoming]:
    """Closed forms of rates with a certificate of one scenario, printed anew and held against the sweep's values."""
    instance = find_instance(result.instance)
    problem = getattr(instance.problem, "quadratic", instance.problem)
    for rate in result.evidence:
        if not isinstance(rate, RateEvidence) or rate.rung != "certified" or not isinstance(problem, Quadratic):
            continue
        own = next((bound for bound in rate.bounds if len(bound.certificates) == 1), None)
        certificate = None if own is None else checked(json.dumps(own.certificates[0]))[0]
        if own is not None and certificate is not None:
            broken = _form_broken(rate, own, certificate, instance, problem, find_profile(profile).alphas)
            yield from ((f"{rate.quantity}: closed_form{field}", rule) for field, rule in broken)
    leaves = [item for item in result.evidence if isinstance(item, ComparisonEvidence) and not item.holds]
    if any(AGREEMENT.fullmatch(item.quantity) for item in leaves):
        forms = [item.closed_form for item in result.evidence if isinstance(item, RateEvidence)]
        if any(form is not None and form.measured for form in forms):
            yield "closed_form.measured", "must be false: the subject leaves the exact values"


def _form_broken(
    rate: RateEvidence, bound: CertifiedBound, certificate: Certificate, instance: Instance, problem: Quadratic,
    alphas: Sequence[float],
) -> Iterator[Shortcoming]:  # fmt: skip
    printed = _printed(problem, tuple(map(Fraction, instance.x)), certificate.scenario, certificate.quantity)
    shown = rate.closed_form
    if (shown is None) != (printed is None):
        yield "", f"must {'not ' if printed is None else ''}be shown for a problem of this size"
    elif shown is not None and printed is not None:
        for name in ("text", "latex", "whole"):
            if getattr(shown, name) != getattr(printed, name):
                yield f".{name}", f"must be {getattr(printed, name)}, as derived from the problem"
        at = {alpha for alpha, _ in shown.values}
        if not {alpha for alpha in alphas if alpha <= bound.end} <= at <= set(alphas):
            yield ".values", "must be at each alpha of the sweep in the interval of the bound"


@lru_cache(maxsize=1024)
def _printed(problem: Quadratic, x: Vector, scenario: Scenario, quantity: Quantity) -> Printed | None:
    """A closed form as it is printed: the same for all readings that allow its scenario."""
    derived = closed_form(PenaltyFamily.at(problem, x), scenario, quantity)
    return None if derived is None else derived.printed
