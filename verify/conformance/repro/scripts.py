"""Python to paste: a subject is asked one thing, and the last line says what it got and what that must be."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spec import Problem
from spec.blocks.exact_json import plain
from verify.conformance.probes.probes import Probe
from verify.subjects import Call, Subject, SubjectFaultError

NAMES = {
    "scipy": ("special",),
    "types": ("SimpleNamespace",),
    "spec": ("OracleParameters", "OuterParameters", "Reading", "parse_problem"),
    "verify.conformance": ("outer",),
    "verify.conformance.comparison.runs_together": ("arranged", "compare_together", "watch_together"),
    "verify.conformance.random_stages": ("of_samples",),
    "verify.subjects": ("Call", "SubjectFaultError", "load_subject"),
    "verify.subjects.protocol": ("StageCalls",),
    "verify.subjects.time_limits": ("timed_here",),
}
"""What a script may use, by the module that has it; only what it does use is imported."""
AGREES = "np.all((low <= got) & (got <= high))"
"""Whether what came out is right: every script ends with these three names set."""
LOADS = "load_subject("
"""How an expression begins that any process can evaluate."""


def script(load: str, lines: Sequence[str]) -> str:
    """Lines that ask ``subject``, with what they need before them; ``load`` is an expression that loads it."""
    body = [f"loaded = {load}", "subject = StageCalls(loaded)", *lines]
    text = "\n".join(body)
    imports = ["import numpy as np"]
    for module, names in NAMES.items():
        used = [name for name in names if re.search(rf"\b{name}\b", text)]
        imports += [f"from {module} import {', '.join(used)}"] if used else []
    return "\n".join([*imports, "", *body]) + "\n"


def of_probe(probe: Probe, before: Sequence[Probe] = (), *, fault: SubjectFaultError | None = None) -> list[str]:
    """Ask a probe after others; ``fault`` is what it ends in instead of a number."""
    lines = ["# Answers depend on the calls before:"] if before else []
    # One object stays one object: a subject may remember it by what it is, not by what it says.
    own = {id(question.problem): question.problem for question in (*before, probe) if question.problem is not None}
    names = {key: f"problem_{k}" if k > 1 else "problem" for k, key in enumerate(own, 1)}
    lines += [of_problem(problem, names[key]) for key, problem in own.items()]
    for earlier in before:
        *setting, asked_before = _question(earlier, names)
        lines += [*setting, asked_before.removeprefix("got = ")]
    *setting, statement = _question(probe, names)
    lines += setting
    if fault is not None:
        nothing = f"    got = np.full({len(probe.expected)}, np.nan)"
        tried = ["try:", f"    {statement}", "except SubjectFaultError as fault:", nothing, "    print(fault)"]
        limit = re.search(r"did not answer within ([0-9.e+-]+) s", str(fault))
        if limit is not None:
            tried = ["subject = StageCalls(timed)", *tried]
            tried = [f"with timed_here(loaded, {float(limit[1])!r}) as timed:", *(f"    {line}" for line in tried)]
        lines += tried
    else:
        lines.append(statement)
    lines += [
        f"must_be, within = {array(probe.expected)}, {array(probe.tolerance)}",
        "low, high = must_be - within, must_be + within",
        'print("got", got.tolist(), "must be", must_be.tolist())',
    ]
    return lines


def in_interval(got: str = "got") -> list[str]:
    """The last line where what came out must lie between two numbers, ``low`` and ``high``."""
    return [f'print("got", {got}, "must be in", [low, high])']


def _question(probe: Probe, names: Mapping[int, str]) -> list[str]:
    problem = names.get(id(probe.problem), "")
    if probe.stage == "activation":
        lam: Any = probe.call.lam
        arguments = f"{array(probe.h)}, {array(lam)}, {probe.h_width!r}, {probe.call.parameters.lam_width!r}"
        return ["# h, lam, h_width, lam_width", f"got = subject.activation({arguments})"]
    lines = [f"x = {array(probe.x)}"]
    if probe.stage == "lower_level":
        return [*lines, "# y_star, then lam", f"got = np.concatenate(subject.lower_level({problem}, x))"]
    lines.append(f"call = {of_call(probe.call)}")
    if probe.stage == "lower_level_runs":
        answer = f"subject.lower_level_runs({problem}, x, call, np.random.default_rng(0), 1)"
        return [*lines, f"got = np.concatenate([part[0] for part in {answer}])"]
    if probe.stage == "penalty_minimiser":
        return [*lines, f"got = subject.penalty_minimiser({problem}, x, call, {probe.tol!r})"]
    return [*lines, f"got = subject.hypergradient({problem}, x, call, np.random.default_rng(0))"]


def of_call(call: Call) -> str:
    """A call as Python."""
    parts = [f"alpha={call.alpha!r}"]
    changed = call.reading.differences(type(call.reading)())
    if changed:
        parts.append(f"reading=Reading({', '.join(f'{k}={v!r}' for k, v in changed.items())})")
    parameters = call.parameters.model_dump(exclude_defaults=True)
    if parameters:
        parts.append(f"parameters=OracleParameters({', '.join(f'{k}={v!r}' for k, v in parameters.items())})")
    parts += [f"{name}={array(value)}" for name, value in call.stages.items() if value is not None]
    if call.draws is not None:
        parts.append("draws={" + ", ".join(f"{name!r}: {array(block)}" for name, block in call.draws.items()) + "}")
    return f"Call({', '.join(parts)})"


def array(values: Any) -> str:
    """Numbers as Python."""
    return f"np.array({np.asarray(values).tolist()!r})"


def of_problem(problem: Problem, name: str = "problem") -> str:
    """A problem as Python."""
    return f"{name} = parse_problem({json.dumps(plain(problem.to_dict()))})"


def load_code(subject: Subject, name: str, loadable: bool) -> str:
    """Python that loads the subject again."""
    if loadable:
        return f"load_subject({name!r})"
    source = f"{type(subject).__module__}:{type(subject).__qualname__}"
    if "<locals>" in source or source.startswith("__main__") or not _made_of_nothing(type(subject)):
        return f"your_subject  # an instance of {type(subject).__qualname__}"
    return f"load_subject({source!r})"


def _made_of_nothing(kind: type) -> bool:
    """Whether a class needs no arguments."""
    try:
        inspect.signature(kind).bind()
    except (TypeError, ValueError):
        return False
    return True
