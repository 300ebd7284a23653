"""What to paste: a few lines of Python that show the deviation on the smallest instance found."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np

from spec import InvalidInputError, OuterParameters
from spec.exact import plain
from verify.conformance import outer
from verify.conformance import sampled_stages as sampling
from verify.conformance.answers import Seen
from verify.conformance.model import Reproduction
from verify.conformance.probe_code import array_code, call_code, code_of, problem_of, size_of, x_of
from verify.conformance.probes import Probe
from verify.conformance.shrink import Smallest, shrink
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import Stages

Renew = Callable[[], AbstractContextManager[Stages]]
HEAD = """import numpy as np
from spec import OracleParameters, OuterParameters, Reading, parse_problem
from verify.subjects import Call, load_subject
from verify.subjects.protocol import Stages

subject = Stages({load})
"""
DETERMINISTIC = ("lower_level", "activation", "penalty_minimiser", "hypergradient")
SCHEDULES = ((1, 2), (1, 3), (2, 2), (1, 4), (2, 3), (1, 6), (2, 6), (1, 12), (1, 24))
"""Block lengths and numbers of blocks to try, shortest runs first."""


def reproduce(seen: Seen, load: str, renew: Renew | None = None) -> Reproduction | None:
    """Shrink the first divergence, or else show a fault; ``None`` where neither can be shown.

    Args:
        seen: What the subject showed.
        load: Python expression that loads the subject.
        renew: Makes a new copy of the subject, where that is possible: what is pasted will be one.
    """
    stage, head = seen.first, HEAD.format(load=load)
    if stage is None:
        return _of_fault(seen, head) if seen.broken else None
    if stage in DETERMINISTIC:
        order = {"all": 0, "y_star, lam, rho": 1, "y_star, lam": 2, "nothing": 3, "": 0}
        wrong = [answer for answer in seen.of(stage) if not answer.excess <= 1]
        first = min(
            wrong,
            key=lambda a: (a.probe.published, a.probe.needs_draws, order[a.probe.given], _size(a.probe), -a.excess),
        )
        return _of_probe(shrink(seen.stages, first.probe, first.got), head, renew)
    if stage == "samples":
        return _of_law(seen, head)
    if stage == "optimise":
        return _of_run(seen, head)
    return None


def _size(probe: Probe) -> int:
    problem = probe.problem
    return len(probe.h) if problem is None else problem.n + problem.m + problem.p


def _of_probe(smallest: Smallest, head: str, renew: Renew | None) -> Reproduction:
    probe, got, before = smallest.probe, smallest.got, smallest.before
    at = int(np.argmax(np.abs(got - probe.expected) / probe.tolerance))
    sentence = (
        f"Smallest instance found ({size_of(probe)}): {probe.stage} answers {got[at]:.9g} where it must be "
        f"{probe.expected[at]:.9g} (tolerance {probe.tolerance[at]:.1e})"
        + (", after another call." if before is not None else ".")
    )
    if renew is not None and not _shows(smallest, renew):
        sentence += " A new copy of the subject answers this rightly: its answers depend on earlier calls."
    return Reproduction(sentence=sentence, problem=problem_of(probe), x=x_of(probe), got=tuple(got.tolist()),
                        expected=tuple(probe.expected.tolist()), code=head + code_of(probe, before))  # fmt: skip


def _shows(smallest: Smallest, renew: Renew) -> bool:
    """Whether a new copy of the subject, asked this alone, is off too."""
    try:
        with renew() as stages:
            if smallest.before is not None:
                smallest.before.ask(stages)
            return not smallest.probe.excess_of(stages) <= 1
    except (SubjectFaultError, MissingCapabilityError, InvalidInputError):
        return True


def _of_fault(seen: Seen, head: str) -> Reproduction:
    probe, fault = min(seen.broken, key=lambda pair: _size(pair[0]))
    sentence = f"Smallest call that ends in a fault ({size_of(probe)}): {fault}."
    return Reproduction(sentence=sentence, problem=problem_of(probe), x=x_of(probe),
                        expected=tuple(probe.expected.tolist()), code=head + code_of(probe))  # fmt: skip


def _of_law(seen: Seen, head: str) -> Reproduction | None:
    sampled = seen.sampled
    assert sampled is not None  # the stage diverged, so it was sampled
    for setting in sampling.settings():
        wrong = [
            name for name, value in sampled.signature.items()
            if name.startswith(f"{setting.id}:") and value.apart(sampled.law[name]) > 1
        ]  # fmt: skip
        if not wrong:
            continue
        count, problem = sampled.counts[setting.id], plain(setting.problem.to_dict())
        got, expected = sampled.signature[wrong[0]], sampled.law[wrong[0]]
        code = head + "\n".join([
            f"problem = parse_problem({json.dumps(problem)})",
            f"x = {array_code(setting.probe.x)}",
            f"call = {call_code(setting.call)}",
            f"got = subject.hypergradient_samples(problem, x, call, np.random.default_rng(0), {count})",
            f"off = (got - {array_code(setting.probe.expected)}) / {setting.deviation!r}",
            'print("mean, must be 0 within chance:", off.mean(axis=0))',
            'print("variance, must be 1 within chance:", off.var())',
            'print("share of copies, must be 0:", 1 - len(np.unique(got, axis=0)) / len(got))',
        ]) + "\n"  # fmt: skip
        sentence = (
            f"Smallest setting found ({setting.id}): {wrong[0].split(': ')[1]} is {got.value:.4g} ± {got.error:.2g} "
            f"over {count} estimates where it must be {expected.value:.4g}."
        )
        return Reproduction(sentence=sentence, problem=problem, x=tuple(repr(float(v)) for v in setting.probe.x),
                            expected=(expected.value,), got=(got.value,), code=code)  # fmt: skip
    return None


def _of_run(seen: Seen, head: str) -> Reproduction | None:
    if seen.record is None:
        return _of_calls(head)
    wrong = next(c for c in outer.compare(seen.record, outer.right()) if c.excess > 1)
    trial = next(t for t in (*outer.trials(), outer.OUTPUT_TRIAL) if t.id == wrong.trial)
    shorter = _shortest_run(seen, trial, wrong.part)
    if shorter is not None:
        trial, wrong = shorter
    is_law = "where uniform" in wrong.sentence
    numbers = "" if is_law else f": {list(wrong.got)} where it must be {list(wrong.expected)}"
    sentence = f"Smallest run found ({trial.id}, T = {trial.parameters.T}): {wrong.sentence}{numbers}."
    return Reproduction(sentence=sentence, expected=wrong.expected, got=wrong.got,
                        code=head + _run_code(trial))  # fmt: skip


def _of_calls(head: str) -> Reproduction:
    """Algorithm 2 that does not ask T times."""
    trial = outer.trials()[0]
    T = trial.parameters.T
    return Reproduction(sentence=f"It does not ask its oracle T = {T} times ({trial.id}).", expected=(float(T),),
                        code=head + _run_code(trial))  # fmt: skip


def _run_code(trial: outer.Trial) -> str:
    q = trial.parameters
    return "\n".join([
        f"slopes = {array_code(trial.slopes)}",
        "asked = []",
        "def oracle(z):",
        "    asked.append(np.array(z))",
        f"    return np.where(z >= 0, 1.0, -1.0) * slopes + {trial.curvature!r} * z",
        f"q = OuterParameters(goldstein_radius={q.goldstein_radius!r}, epsilon={q.epsilon!r}, D={q.D!r}, "
        f"eta={q.eta!r}, M={q.M}, K={q.K})",
        f"run = subject.optimise(oracle, {array_code(trial.x0)}, q, np.random.default_rng(0))",
        'print("iterates ", run.path.tolist())',
        'print("asked at ", [z.tolist() for z in asked], len(asked), "times")',
        'print("means    ", run.x_bar.tolist())',
        'print("output   ", run.x_out.tolist())',
    ]) + "\n"  # fmt: skip


def _shortest_run(seen: Seen, trial: outer.Trial, part: str) -> tuple[outer.Trial, outer.Comparison] | None:
    q = trial.parameters
    for M, K in SCHEDULES:
        schedule = OuterParameters(goldstein_radius=q.goldstein_radius, epsilon=q.epsilon, D=q.D, eta=q.eta, M=M, K=K)
        short = replace(trial, parameters=schedule)
        try:
            one = outer.record(seen.stages, short, 0)
        except (SubjectFaultError, MissingCapabilityError, outer.WrongNumberOfCallsError):
            return None
        found = [c for c in outer.compare_run(one, outer.right()) if c.part == part and c.excess > 1]
        if found:
            return short, found[0]
    return None
