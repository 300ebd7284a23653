"""Tasks: every claim, reading and instance that a run will ask about, and how one becomes a result."""

from __future__ import annotations

import shlex
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from spec import CHOICES, InvalidInputError
from spec.atlas import Instance, hold_instance, is_file, read_instance
from spec.atlas import find as find_instance
from spec.blocks.exact_json import plain
from spec.claims import Bound, Statement
from spec.claims import find as find_claim
from spec.drawn import is_drawn
from spec.drawn import names as draws_named
from spec.reading import KEEPING, NAMES, chosen_by
from verify.campaign.run_environment import THREADS
from verify.campaign.summary import selected
from verify.checks.measuring.case import (
    Case,
    Check,
    Measurement,
    OverspentError,
    Profile,
    checks,
    enforce,
    find_profile,
    kept_texts,
    of_family,
)
from verify.checks.measuring.estimates.silence import NoNoiseError
from verify.checks.measuring.formula_evidence import beside as formula_beside
from verify.checks.measuring.formula_evidence import (
    by_formula,
    has_a_value,
    is_beyond_programs,
    premises_asked,
    premises_decided,
    without_value,
)
from verify.checks.measuring.identity.identity import NotAsAsked, not_as_asked
from verify.checks.measuring.long_runs import LONG, TELLING
from verify.checks.measuring.meetable_premises import require_meetable
from verify.checks.measuring.premises import PremiseUnmetError, premises_met
from verify.checks.measuring.where_asked import is_place_of, require_asked
from verify.evidence.budget import level_of, stated_noise
from verify.evidence.model import VALUE, Counterexample, PremiseEvidence
from verify.evidence.streams import Ledger
from verify.proofs.kernel.standings import proven_by
from verify.report.model import NAMED, Result
from verify.report.rows.identified import Identified
from verify.subjects import MissingCapabilityError, Subject, SubjectFaultError
from verify.subjects.faults import described
from verify.subjects.protocol import TRUSTED, StageCalls
from verify.subjects.subject_names import REFERENCE
from verify.truth.functions_of_alpha.scenario import WITH_MAPS
from verify.truth.lower_level.lower_level import DegenerateLowerLevelError
from verify.truth.propositions.arithmetic import NoValueError
from verify.verdict import Decision, NoEvidenceError, Verdict, decide


@dataclass(frozen=True)
class Task(Identified):
    """One result to produce; plain data, so it crosses process boundaries.

    ``noise`` is the class that a project states; ``continuation`` holds the samples that an earlier run left undecided;
    ``posed`` is what the file of an instance holds, where it is of no atlas, so that no worker needs the file.
    """

    claim: str
    reading: str
    instance: str
    subject: str
    profile: str
    seed: int
    effort: int = 1
    noise: str = ""
    continuation: tuple[dict[str, Any], ...] = ()
    posed: str = ""

    @property
    def command(self) -> str:
        """The command that repeats exactly this result."""
        subject = "" if self.subject == REFERENCE else f" --subject {shlex.quote(self.subject)}"
        effort = "" if self.effort == 1 else f" --effort {self.effort}"
        noise = f" --noise {shlex.quote(self.noise)}" if self.noise else ""
        return (
            f"f2csa verify {self.claim} --reading {self.reading} --instance {shlex.quote(self.instance)} "
            f"--profile {self.profile} --seed {self.seed}{effort}{noise}{subject}"
        )


DEFAULT_SEED = 20_240_913


def plan(
    claims: Sequence[str], readings: Sequence[str], instances: Sequence[str], profile: Profile, subject: str, seed: int
) -> list[Task]:
    """All results a run will produce, in the report's order: of a foreign subject, what is about the subject alone."""
    if not readings:
        raise InvalidInputError("readings", "must name at least one reading")
    if seed < 0:
        raise InvalidInputError("seed", "must be >= 0", seed)
    instances = [name for instance in instances for name in _named(instance)]
    posed = {name: find_instance(name).text for name in instances if is_file(name)}
    tasks: list[Task] = []
    for full_id in statements_asked(claims, profile, subject):
        check, statement = checks()[full_id], find_claim(full_id)
        require_meetable(full_id, check.instances)
        for reading in _readings(statement, check, readings, profile, lattice=subject == REFERENCE):
            tasks += [
                Task(full_id, reading, instance, subject, profile.name, seed, posed=posed.get(instance, ""))
                for instance in _instances(statement, check, reading, instances, profile)
            ]
    points = [name for name in readings if name.startswith(("choose:", KEEPING))]
    if points and not tasks:
        raise InvalidInputError("reading", "must choose among the choices of a statement that is asked for", points[0])
    require_asked(posed, {task.instance for task in tasks}, claims)
    return tasks


def statements_asked(claims: Sequence[str], profile: Profile, subject: str) -> list[str]:
    """Full ids of what a run asks: of what is selected, what has a check and the profile does not leave out.

    Of a foreign subject that is what is about the subject alone.
    """
    chosen = selected(claims)
    if subject != REFERENCE:
        # What is true of the paper, or of mathematics, is no credit to a program.
        chosen = [full_id for full_id in chosen if find_claim(full_id).about == "subject"]
        if not chosen:
            raise InvalidInputError("claims", "must say something about a solver", ", ".join(claims))
    return [full_id for full_id in chosen if full_id in checks() and not profile.leaves_out(full_id, claims)]


def _named(instance: str) -> Iterator[str]:
    """The instances that a name stands for: itself, or a range of draws."""
    if is_drawn(instance):
        yield from draws_named(instance)
    elif is_file(instance):
        yield read_instance(instance).name
    else:
        yield find_instance(instance).name


def _readings(
    statement: Statement, check: Check, wanted: Sequence[str], profile: Profile, *, lattice: bool
) -> Iterator[str]:
    """The readings asked for; where both named ones are, and the profile goes into it, the rest of the lattice.

    Each choice is isolated, and of the reference, which can be asked for anything, every literal reading and every
    partial repair is judged, against the literal text and against the repaired one.
    """
    for name in dict.fromkeys(wanted):
        if name in NAMED:
            yield name
        elif name.startswith("only:") and name[5:] in {choice.field for choice in CHOICES}:
            if name[5:] in statement.choices:
                yield name
        elif name.startswith(("choose:", KEEPING)):
            if chosen_by(name).keys() <= set(statement.open_choices):
                yield name
        else:
            raise InvalidInputError("reading", NAMES, name)
    if profile.isolate and set(NAMED) <= set(wanted):
        # A statement that makes a single choice is isolated already.
        alone = [f"only:{choice}" for choice in statement.repairable] if len(statement.repairable) > 1 else []
        beside = [*statement.literal_readings, *statement.repairs.values(), *kept_texts(check)] if lattice else []
        yield from (name for name in dict.fromkeys([*alone, *beside]) if name not in wanted)
    elif profile.beside is not None and lattice and set(NAMED) <= set(wanted):
        # What fails under its first literal reading is refuted only where it fails under the others.
        yield from (name for name in statement.literal_readings if name not in wanted)


def _instances(
    statement: Statement, check: Check, reading: str, wanted: Sequence[str], profile: Profile
) -> Sequence[str]:
    if wanted:
        # Draws and files come after the atlas, in the order in which they are named.
        own = [name for name in check.instances if name in wanted]
        return own + [name for name in wanted if (is_drawn(name) or is_file(name)) and is_place_of(check, name)]
    if reading in NAMED or profile.beside is None:
        return profile.instances_of(check)
    # All choices repaired is next to the repaired reading: like what samples long, it is judged where it tells most.
    whole = bool(statement.repairable) and reading == statement.repairs[statement.repairable]
    whole = whole and reading not in statement.literal_readings
    # A hypothesis of its own may exclude the instance that tells most; many choices make many points.
    added = any("as-written" not in premise.readings for premise in statement.premises)
    plain = reading.startswith(KEEPING) and not (added and len(statement.repairable) < 3)
    few = whole or plain or of_family(check.claim, LONG)
    return check.instances[: 1 if few else TELLING.get(check.claim, profile.beside)]


def perform(task: Task, subject: Subject, bound: Bound | None = None, *, held: bool = True) -> Result:
    """Produce one result; whatever the subject does, a result comes back.

    ``bound``: what is held against the measurements, where that is not the claim's own. ``held``: whether a foreign
    subject's stages are held to what they are asked, beside what the check finds.
    """
    started = time.perf_counter()
    instance = hold_instance(task.instance, task.posed) if task.posed else find_instance(task.instance)
    statement = find_claim(task.claim)
    reading, sense = statement.interpreted(task.reading)
    bound = statement.assertion(task.reading).bound if bound is None else bound
    check = checks()[task.claim]
    case = Case(
        claim=task.claim, bound=bound, reading_name=task.reading, reading=reading, sense=sense,
        instance=instance, stages=StageCalls(subject), profile=find_profile(task.profile),
        rng=np.random.default_rng([task.seed, zlib.crc32(f"{task.claim}|{task.reading}|{instance.seeds_as}".encode())]),
        seed=task.seed, level=level_of(task.effort), noise=stated_noise(task.noise),
        ledger=Ledger(given=task.continuation),
    )  # fmt: skip
    try:
        case.stages.require(check.needs)
        measured = _measured(case, check, held=held)
        decision = decide(bound, measured.evidence)
    except MissingCapabilityError as missing_stage:
        measured = Measurement(())
        decision = Decision(Verdict.NOT_APPLICABLE, f"Not applicable: {missing_stage}.")
    except (SubjectFaultError, NoEvidenceError, OverspentError, UnlistedPremiseError) as error:
        return fault(task, str(error), started)
    except Exception as error:  # a check that fails on what a subject answers costs its own result
        return fault(task, f"the check failed: {described(error)}", started)
    own = bound == statement.assertion(task.reading).bound and task.reading == "repaired"
    # A theorem is about the formulas, not about a foreign program: one of the two is mistaken.
    about_formulas = statement.about == "mathematics" or (task.subject == REFERENCE and type(subject) in TRUSTED)
    against = own and about_formulas and decision.verdict is Verdict.REFUTED
    if against and (theorem := proven_by(task.claim)):
        return fault(task, f"{decision.sentence} But it is proven: {theorem}", started)
    result = _result(task, instance, measured, decision, started)
    if decision.verdict is Verdict.INCONCLUSIVE and decision.rung == "statistical":
        return result.model_copy(update={"continuation": tuple(case.ledger.states())})
    return result


@lru_cache(maxsize=1)
def _threads() -> ThreadpoolController:
    """The numerical libraries' threads; to look for the libraries takes longer than many a check."""
    return ThreadpoolController()


class UnlistedPremiseError(RuntimeError):
    """A check excused itself by a premise that its statement has not: a fault of the check."""


def _measured(case: Case, check: Check, *, held: bool) -> Measurement:
    """What a check brings back where the statement's premises hold, with what was decided of these before.

    Raises:
        UnlistedPremiseError: If a premise fails that the statement does not have under this reading.
    """
    statement, premises = find_claim(case.claim), premises_asked(case)
    decided = tuple(premises_decided(case, premises))
    if any(not premise.holds for premise in decided):
        return Measurement(decided)
    if (absent := without_value(case)) is not None:
        return Measurement((*decided, absent))
    wrong, by_itself = NotAsAsked(), is_beyond_programs(case)
    if by_itself and statement.about == "subject" and not case.stages.are_the_reference:
        raise MissingCapabilityError("no program is told that the weights are maps of x: only the formula is asked")
    try:
        with _threads().limit(limits=THREADS), np.errstate(all="ignore"):
            measured = by_formula(case) if by_itself else check.function(case)
            if held and not case.stages.are_the_reference:
                wrong = not_as_asked(case, check)
        enforce(check, measured.evidence, case.share.error, drew=case.ledger.drew)
    except NoNoiseError as silent:
        enforce(check, (silent.evidence,), case.share.error)
        return Measurement((silent.evidence,))
    except NoValueError as absent_here:
        # Its formula says what a statement names: where that has a value, it is the check that asks for more.
        if has_a_value(case):
            raise
        return Measurement((*decided, PremiseEvidence(premise=VALUE, holds=False, finding=str(absent_here))))
    except DegenerateLowerLevelError as edge:
        # F may have a gradient where y*(x) bends, since what bends cancels in it; a map of x has no derivative there.
        if case.reading.dual_term not in WITH_MAPS:
            raise
        finding = f"ỹ* and λ̃ have no derivative in x here: {edge}"
        return Measurement((*decided, PremiseEvidence(premise=VALUE, holds=False, finding=finding)))
    except PremiseUnmetError as unmet:
        measured = Measurement((unmet.evidence,))
    asked_for = {premise.id for premise in premises}
    examined = [item for item in measured.evidence if isinstance(item, PremiseEvidence)]
    for item in examined:
        if not item.holds and item.premise not in asked_for:
            raise UnlistedPremiseError(
                f"{case.claim} excused itself by “{item.premise}”, which it does not ask for here"
            )
    if any(not item.holds for item in examined):
        return measured
    measured = replace(measured, evidence=(*measured.evidence, *formula_beside(case, measured.evidence)))
    known = {item.premise for item in examined}
    met = premises_met(case.instance)
    others = [item for item in decided if item.premise not in known]
    others += [met[one] for one in met if one in asked_for - known - {item.premise for item in others}]
    return replace(
        measured, evidence=(*others, *wrong.evidence, *measured.evidence),
        counterexample=wrong.counterexample or measured.counterexample,
    )  # fmt: skip


def _result(task: Task, instance: Instance, measured: Measurement, decision: Decision, started: float) -> Result:
    counterexample = None
    # A text is refuted by its own words: no problem shows it.
    if decision.verdict is Verdict.REFUTED and find_claim(task.claim).about != "paper":
        counterexample = measured.counterexample or Counterexample(
            problem=plain(instance.problem.to_dict()),
            x=[str(value) for value in instance.x],
            values=measured.values,
            note=measured.note,
        )
    return _about(
        task, started, verdict=decision.verdict, sentence=decision.sentence, claimed=decision.claimed,
        quantity=decision.quantity, measured=decision.measured, interval=decision.interval, loose_by=decision.loose_by,
        rung=decision.rung, evidence=measured.evidence, error_rates=decision.error_rates or {},
        counterexample=counterexample, pictures=measured.pictures,
    )  # fmt: skip


def fault(task: Task, why: str, started: float) -> Result:
    return _about(task, started, verdict=None, sentence=f"Fault: {why}", fault=why)


def _about(task: Task, started: float, **outcome: Any) -> Result:
    spent = time.perf_counter() - started
    outcome["about"] = find_claim(task.claim).about
    return Result(**task.named, reproduce=task.command, seconds=spent, effort=task.effort, **outcome)
