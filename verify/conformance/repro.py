"""What to paste: a few lines of Python that show the deviation on the smallest instance found."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spec import OuterParameters
from verify.conformance import outer, sampling
from verify.conformance.model import Reproduction
from verify.conformance.shrink import Smallest, shrink
from verify.conformance.stage_comparison import Seen
from verify.subjects import MissingCapabilityError, SubjectFaultError
from verify.tasks import plain

if TYPE_CHECKING:
    from verify.conformance.probes import Probe
    from verify.subjects import Call

HEAD = """import numpy as np
from spec import OracleParameters, OuterParameters, Reading, parse_problem
from verify.subjects import Call, load_subject
from verify.subjects.protocol import Stages

subject = Stages({load})
"""
DETERMINISTIC = ("lower_level", "activation", "penalty_minimiser", "hypergradient")
SCHEDULES = ((1, 2), (1, 3), (2, 2), (1, 4), (2, 3), (1, 6), (2, 6), (1, 12), (1, 24))
"""Block lengths and numbers of blocks to try, shortest runs first."""


def reproduce(seen: Seen, load: str) -> Reproduction | None:
    """Shrink the first divergence and write the repro; ``None`` where nothing diverges.

    Args:
        seen: What the subject showed.
        load: Python expression that loads the subject.
    """
    stage = seen.first
    if stage is None:
        return None
    head = HEAD.format(load=load)
    if stage in DETERMINISTIC:
        order = {"all": 0, "y_star, lam, rho": 1, "y_star, lam": 2, "nothing": 3, "": 0}
        wrong = [answer for answer in seen.of(stage) if not answer.excess <= 1]
        first = min(
            wrong,
            key=lambda a: (a.probe.published, a.probe.needs_draws, order[a.probe.given], _size(a.probe), -a.excess),
        )
        return _of_probe(shrink(seen.stages, first.probe, first.got), head)
    if stage == "samples":
        return _of_law(seen, head)
    if stage == "optimise":
        return _of_run(seen, head)
    return None


def _size(probe: Probe) -> int:
    problem = probe.problem
    return len(probe.h) if problem is None else problem.n + problem.m + problem.p


def _of_probe(smallest: Smallest, head: str) -> Reproduction:
    probe, got = smallest.probe, smallest.got
    lines = [head]
    if probe.stage == "activation":
        lam: Any = probe.call.lam
        arguments = f"{_array(probe.h)}, {_array(lam)}, {probe.h_width!r}, {probe.call.parameters.lam_width!r}"
        lines.append(f"got = subject.activation({arguments})  # h, lam, h_width, lam_width")
        size = f"{len(probe.h)} row{'s' if len(probe.h) > 1 else ''}"
        data: Any = None
        x: tuple[str, ...] = ()
    else:
        problem: Any = probe.problem
        data = plain(problem.to_dict())
        x = tuple(repr(float(v)) for v in probe.x)
        lines.append(f"problem = parse_problem({json.dumps(data)})")
        lines.append(f"x = {_array(probe.x)}")
        if smallest.before is not None:
            lines.append(f"subject.lower_level(problem, {_array(smallest.before.x)})  # the call before matters")
        if probe.stage == "lower_level":
            lines.append("got = np.concatenate(subject.lower_level(problem, x))  # y_star, then lam")
        elif probe.stage == "penalty_minimiser":
            lines.append(f"call = {call_code(probe.call)}")
            lines.append(f"got = subject.penalty_minimiser(problem, x, call, {probe.tol!r})")
        else:
            lines.append(f"call = {call_code(probe.call)}")
            lines.append("got = subject.hypergradient(problem, x, call, np.random.default_rng(0))")
        size = f"n = {problem.n}, m = {problem.m}, {problem.p} row{'s' if problem.p != 1 else ''}"
    lines.append('print("got     ", got)')
    lines.append(f'print("must be ", {_array(probe.expected)})  # within {_array(probe.tolerance)}')
    at = int(np.argmax(np.abs(got - probe.expected) / probe.tolerance))
    sentence = (
        f"Smallest instance found ({size}): {probe.stage} answers {got[at]:.9g} where it must be "
        f"{probe.expected[at]:.9g} (tolerance {probe.tolerance[at]:.1e})"
        + (", after another call." if smallest.before is not None else ".")
    )
    return Reproduction(sentence=sentence, problem=data, x=x, expected=tuple(probe.expected.tolist()),
                        got=tuple(got.tolist()), code="\n".join(lines) + "\n")  # fmt: skip


def call_code(call: Call) -> str:
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
    return f"np.array({np.asarray(values).tolist()!r})"


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
            f"x = {_array(setting.probe.x)}",
            f"call = {call_code(setting.call)}",
            f"got = subject.hypergradient_samples(problem, x, call, np.random.default_rng(0), {count})",
            f"off = (got - {_array(setting.probe.expected)}) / {setting.deviation!r}",
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
        return None
    wrong = next(c for c in outer.compare(seen.record, outer.right()) if c.excess > 1)
    trial = next(t for t in (*outer.trials(), outer.OUTPUT_TRIAL) if t.id == wrong.trial)
    shorter = _shortest_run(seen, trial, wrong.part)
    if shorter is not None:
        trial, wrong = shorter
    q = trial.parameters
    lines = [
        f"slopes = {_array(trial.slopes)}",
        "asked = []",
        "def oracle(z):",
        "    asked.append(np.array(z))",
        f"    return np.where(z >= 0, 1.0, -1.0) * slopes + {trial.curvature!r} * z",
        f"q = OuterParameters(goldstein_radius={q.goldstein_radius!r}, epsilon={q.epsilon!r}, D={q.D!r}, "
        f"eta={q.eta!r}, M={q.M}, K={q.K})",
        f"run = subject.optimise(oracle, {_array(trial.x0)}, q, np.random.default_rng(0))",
        'print("iterates ", run.path.tolist())',
        'print("asked at ", [z.tolist() for z in asked])',
        'print("means    ", run.x_bar.tolist())',
        'print("output   ", run.x_out.tolist())',
    ]
    is_law = "where uniform" in wrong.sentence
    numbers = "" if is_law else f": {list(wrong.got)} where it must be {list(wrong.expected)}"
    sentence = f"Smallest run found ({trial.id}, T = {q.T}): {wrong.sentence}{numbers}."
    return Reproduction(sentence=sentence, expected=wrong.expected, got=wrong.got,
                        code=head + "\n".join(lines) + "\n")  # fmt: skip


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
