"""One result: a claim under a reading on an instance, asked of a subject."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from spec.atlas import Instance
from spec.atlas import find as find_instance
from spec.claims import find as find_claim
from spec.exact import plain
from verify.campaign.plan import Task, bound_under
from verify.checks.measuring.case import Case, Measurement, OverspentError, checks, enforce, find_profile
from verify.checks.measuring.premises import PremiseUnmetError, premises_met
from verify.evidence.budget import level_of
from verify.evidence.model import Counterexample, PremiseEvidence
from verify.evidence.streams import Ledger
from verify.report.model import Result
from verify.subjects import MissingCapabilityError, Subject, SubjectFaultError
from verify.subjects.protocol import Stages
from verify.verdict import Decision, NoEvidenceError, Verdict, decide


def perform(task: Task, subject: Subject) -> Result:
    """Produce one result; whatever the subject does, a result comes back."""
    started = time.perf_counter()
    instance = find_instance(task.instance)
    bound, reading = bound_under(find_claim(task.claim), task.reading)
    found = checks()[task.claim]
    case = Case(
        claim=task.claim, bound=bound, reading_name=task.reading, reading=reading, instance=instance,
        stages=Stages(subject), profile=find_profile(task.profile),
        rng=np.random.default_rng([task.seed, zlib.crc32(task.key.encode())]), seed=task.seed,
        level=level_of(task.effort), ledger=Ledger(given=task.continuation),
    )  # fmt: skip
    try:
        case.stages.require(found.needs)
        with threadpool_limits(1), np.errstate(all="ignore"):
            measured = found.function(case)
        enforce(found, measured.evidence, case.share.error, drew=case.ledger.drew)
        measured = replace(measured, evidence=(*_premises(task, measured), *measured.evidence))
        decision = decide(bound, measured.evidence)
    except PremiseUnmetError as unmet:
        measured = Measurement((unmet.evidence,))
        decision = decide(bound, measured.evidence)
    except MissingCapabilityError as missing_stage:
        measured = Measurement(())
        decision = Decision(Verdict.NOT_APPLICABLE, f"Not applicable: {missing_stage}.")
    except (SubjectFaultError, NoEvidenceError, OverspentError) as error:
        return fault(task, str(error), started)
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        return fault(task, f"the check failed: {type(error).__name__}: {error}", started)
    made = _result(task, instance, measured, decision, started)
    if decision.verdict is Verdict.INCONCLUSIVE and decision.rung == "statistical":
        return made.model_copy(update={"continuation": tuple(case.ledger.states())})
    return made


def _premises(task: Task, measured: Measurement) -> Iterator[PremiseEvidence]:
    """The claim's common premises that this instance meets, beside those the check examined itself."""
    statement, claim = find_claim(task.claim), find_claim(task.claim.split("/")[0])
    named = "repaired" if task.reading == "repaired" else "as-written"
    asked = {premise.id for premise in (*claim.premises, *statement.premises) if named in premise.readings}
    examined = {item.premise for item in measured.evidence if isinstance(item, PremiseEvidence)}
    met = premises_met(task.instance)
    yield from (met[premise] for premise in met if premise in asked - examined)


def _result(task: Task, instance: Instance, measured: Measurement, decision: Decision, started: float) -> Result:
    counterexample = None
    if decision.verdict is Verdict.REFUTED:
        counterexample = measured.counterexample or Counterexample(
            problem=plain(instance.problem.to_dict()),
            x=[str(value) for value in instance.x],
            values=measured.values,
            note=measured.note,
        )
    return _about(
        task, started, verdict=decision.verdict, sentence=decision.sentence, claimed=decision.claimed,
        measured=decision.measured, interval=decision.interval, loose_by=decision.loose_by, rung=decision.rung,
        evidence=measured.evidence, error_rates=decision.error_rates or {}, counterexample=counterexample,
    )  # fmt: skip


def fault(task: Task, why: str, started: float) -> Result:
    return _about(task, started, verdict=None, sentence=f"Fault: {why}", fault=why)


def _about(task: Task, started: float, **outcome: Any) -> Result:
    spent = time.perf_counter() - started
    return Result(**task.about, reproduce=task.command, seconds=spent, effort=task.effort, **outcome)
