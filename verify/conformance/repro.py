"""What to paste: a few lines of Python that show the deviation on the smallest instance found."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from spec import InvalidInputError, OuterParameters
from spec.exact_json import plain
from verify.conformance import outer
from verify.conformance.answers import INSIDE, Answer
from verify.conformance.found import Reproduction
from verify.conformance.probes import Probe
from verify.conformance.random_stages import sample_settings
from verify.conformance.shrink import Smallest, shrink
from verify.conformance.stage_comparison import PROBED, Seen
from verify.subjects import Call, MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import Stages

Renew = Callable[[], AbstractContextManager[Stages]]
HEAD = """import numpy as np
from spec import OracleParameters, OuterParameters, Reading, parse_problem
from verify.subjects import Call, load_subject
from verify.subjects.protocol import Stages

subject = Stages({load})
"""
SCHEDULES = ((1, 2), (1, 3), (2, 2), (1, 4), (2, 3), (1, 6), (2, 6), (1, 12), (1, 24))
"""Block lengths and numbers of blocks to try, shortest runs first."""


def reproduce(seen: Seen, load: str, renew: Renew | None = None) -> Reproduction | None:
    """Shrink the first divergence, or else show a fault; ``None`` where neither can be shown.

    ``load`` is a Python expression that loads the subject; ``renew`` makes a new copy of it, as what is pasted will be.
    """
    stage, head = seen.first, HEAD.format(load=load)
    if stage is None and seen.broken:
        probe, fault = min(seen.broken, key=lambda pair: _size(pair[0]))
        return _of_probe(f"Smallest call that ends in a fault ({_size_in_words(probe)}): {fault}.", probe, (),
                         head + _code(probe))  # fmt: skip
    if stage in PROBED:
        first = min((answer for answer in seen.of(stage) if not answer.excess <= 1), key=_simplest)
        return _of_smallest(shrink(seen.stages, first.probe, first.got), head, renew)
    if stage == "samples":
        return _of_law(seen, head)
    return _of_run(seen, head) if stage == "optimise" else None


def _simplest(answer: Answer) -> tuple[float, ...]:
    """Innermost work and small problems first; vectors and probes that cannot be shrunk last."""
    probe = answer.probe
    inside = [*INSIDE].index(probe.given)
    return (probe.published, probe.needs_draws, inside, _size(probe), -answer.excess)


def _size(probe: Probe) -> int:
    problem = probe.problem
    return len(probe.h) if problem is None else int(problem.n + problem.m + problem.p)


def _size_in_words(probe: Probe) -> str:
    problem, rows = probe.problem, len(probe.h) if probe.problem is None else probe.problem.p
    in_words = f"{rows} row{'' if rows == 1 else 's'}"
    return in_words if problem is None else f"n = {problem.n}, m = {problem.m}, {in_words}"


def _of_smallest(smallest: Smallest, head: str, renew: Renew | None) -> Reproduction:
    probe, got, before = smallest.probe, smallest.got, smallest.before
    at = int(np.argmax(np.abs(got - probe.expected) / probe.tolerance))
    sentence = (
        f"Smallest instance found ({_size_in_words(probe)}): {probe.stage} answers {got[at]:.9g} where it must be "
        f"{probe.expected[at]:.9g} (tolerance {probe.tolerance[at]:.1e})"
        + (", after another call." if before is not None else ".")
    )
    if renew is not None and not _shows(smallest, renew):
        sentence += " A new copy of the subject answers this rightly: its answers depend on earlier calls."
    return _of_probe(sentence, probe, tuple(got.tolist()), head + _code(probe, before))


def _of_probe(sentence: str, probe: Probe, got: tuple[float, ...], code: str) -> Reproduction:
    problem = None if probe.problem is None else plain(probe.problem.to_dict())
    return Reproduction(sentence=sentence, problem=problem, x=_spelt(probe.x), got=got,
                        expected=tuple(probe.expected.tolist()), code=code)  # fmt: skip


def _spelt(x: Any) -> tuple[str, ...]:
    """A point, in full."""
    return tuple(repr(float(value)) for value in x)


def _shows(smallest: Smallest, renew: Renew) -> bool:
    """Whether a new copy of the subject, asked this alone, is off too."""
    try:
        with renew() as stages:
            if smallest.before is not None:
                smallest.before.ask(stages)
            return not smallest.probe.excess_of(stages) <= 1
    except (SubjectFaultError, MissingCapabilityError, InvalidInputError):
        return True


def _of_law(seen: Seen, head: str) -> Reproduction | None:
    sampled = seen.sampled
    assert sampled is not None  # the stage diverged, so it was sampled
    for setting in sample_settings():
        wrong = [
            name for name, value in sampled.signature.items()
            if name.startswith(f"{setting.id}:") and value.apart(sampled.law[name]) > 1
        ]  # fmt: skip
        if not wrong:
            continue
        count, problem = sampled.counts[setting.id], plain(setting.problem.to_dict())
        got, expected = sampled.signature[wrong[0]], sampled.law[wrong[0]]
        code = head + "\n".join([
            _problem_code(setting.problem),
            f"x = {_array(setting.x)}",
            f"call = {_call(setting.call)}",
            f"got = subject.hypergradient_samples(problem, x, call, np.random.default_rng(0), {count})",
            f"off = (got - {_array(setting.mean)}) / {setting.deviation!r}",
            'print("mean, must be 0 within chance:", off.mean(axis=0))',
            'print("variance, must be 1 within chance:", off.var())',
            'print("share of copies, must be 0:", 1 - len(np.unique(got, axis=0)) / len(got))',
        ]) + "\n"  # fmt: skip
        sentence = (
            f"Smallest setting found ({setting.id}): {wrong[0].split(': ')[1]} is {got.value:.4g} ± {got.error:.2g} "
            f"over {count} estimates where it must be {expected.value:.4g}."
        )
        return Reproduction(sentence=sentence, problem=problem, x=_spelt(setting.x),
                            expected=(expected.value,), got=(got.value,), code=code)  # fmt: skip
    return None


def _of_run(seen: Seen, head: str) -> Reproduction:
    if seen.record is None:
        trial = outer.TRIALS[0]
        T = trial.parameters.T
        return Reproduction(sentence=f"It does not ask its oracle T = {T} times ({trial.id}).", expected=(float(T),),
                            code=head + _run_code(trial))  # fmt: skip
    wrong = next(c for c in outer.compare(seen.record, outer.RIGHT) if c.excess > 1)
    trial = next(t for t in (*outer.TRIALS, outer.OUTPUT_TRIAL) if t.id == wrong.trial)
    trial, wrong = _shortest_run(seen, trial, wrong)
    numbers = "" if wrong.is_law else f": {list(wrong.got)} where it must be {list(wrong.expected)}"
    sentence = f"Smallest run found ({trial.id}, T = {trial.parameters.T}): {wrong.sentence}{numbers}."
    return Reproduction(sentence=sentence, expected=wrong.expected, got=wrong.got,
                        code=head + _run_code(trial))  # fmt: skip


def _shortest_run(seen: Seen, trial: outer.Trial, wrong: outer.Comparison) -> tuple[outer.Trial, outer.Comparison]:
    q = trial.parameters
    for M, K in SCHEDULES:
        schedule = OuterParameters(goldstein_radius=q.goldstein_radius, epsilon=q.epsilon, D=q.D, eta=q.eta, M=M, K=K)
        short = replace(trial, parameters=schedule)
        try:
            one = outer.record(seen.stages, short, 0)
        except (SubjectFaultError, MissingCapabilityError, outer.WrongNumberOfCallsError):
            break
        found = [c for c in outer.compare_run(one, outer.RIGHT) if c.part == wrong.part and c.excess > 1]
        if found:
            return short, found[0]
    return trial, wrong


def _run_code(trial: outer.Trial) -> str:
    q = trial.parameters
    return "\n".join([
        f"slopes = {_array(trial.slopes)}",
        "asked = []",
        "def oracle(z):",
        "    asked.append(np.array(z))",
        f"    return np.where(z >= 0, 1.0, -1.0) * slopes + {trial.curvature!r} * z",
        f"q = OuterParameters(goldstein_radius={q.goldstein_radius!r}, epsilon={q.epsilon!r}, D={q.D!r}, "
        f"eta={q.eta!r}, M={q.M}, K={q.K})",
        f"run = subject.optimise(oracle, {_array(trial.x0)}, q, np.random.default_rng(0))",
        'print("iterates ", run.path.tolist())',
        'print("asked at ", [z.tolist() for z in asked], len(asked), "times")',
        'print("means    ", run.x_bar.tolist())',
        'print("output   ", run.x_out.tolist())',
    ]) + "\n"  # fmt: skip


def _code(probe: Probe, before: Probe | None = None) -> str:
    """Lines that ask ``subject``, perhaps after a call before, and print what comes back beside what must."""
    lines = [] if probe.problem is None else [_problem_code(probe.problem)]
    if before is not None:
        lines += ["# The call before matters.", *_question(before)[:-1], _question(before)[-1].removeprefix("got = ")]
    lines += _question(probe)
    lines.append('print("got     ", got)')
    lines.append(f'print("must be ", {_array(probe.expected)})  # within {_array(probe.tolerance)}')
    return "\n".join(lines) + "\n"


def _question(probe: Probe) -> list[str]:
    if probe.stage == "activation":
        lam: Any = probe.call.lam
        arguments = f"{_array(probe.h)}, {_array(lam)}, {probe.h_width!r}, {probe.call.parameters.lam_width!r}"
        return [f"got = subject.activation({arguments})  # h, lam, h_width, lam_width"]
    lines = [f"x = {_array(probe.x)}"]
    if probe.stage == "lower_level":
        return [*lines, "got = np.concatenate(subject.lower_level(problem, x))  # y_star, then lam"]
    lines.append(f"call = {_call(probe.call)}")
    if probe.stage == "penalty_minimiser":
        return [*lines, f"got = subject.penalty_minimiser(problem, x, call, {probe.tol!r})"]
    return [*lines, "got = subject.hypergradient(problem, x, call, np.random.default_rng(0))"]


def _call(call: Call) -> str:
    """A call as Python."""
    parts = [f"alpha={call.alpha!r}"]
    changed = call.reading.differences(type(call.reading)())
    if changed:
        parts.append(f"reading=Reading({', '.join(f'{k}={v!r}' for k, v in changed.items())})")
    parameters = call.parameters.model_dump(exclude_defaults=True)
    if parameters:
        parts.append(f"parameters=OracleParameters({', '.join(f'{k}={v!r}' for k, v in parameters.items())})")
    for name in ("y_star", "lam", "rho", "y_penalty"):
        value = getattr(call, name)
        if value is not None:
            parts.append(f"{name}={_array(value)}")
    if call.draws is not None:
        parts.append("draws={" + ", ".join(f"{name!r}: {_array(block)}" for name, block in call.draws.items()) + "}")
    return f"Call({', '.join(parts)})"


def _array(values: Any) -> str:
    """Numbers as Python."""
    return f"np.array({np.asarray(values).tolist()!r})"


def _problem_code(problem: Any) -> str:
    return f"problem = parse_problem({json.dumps(plain(problem.to_dict()))})"
