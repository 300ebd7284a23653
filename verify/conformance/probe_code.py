"""A stage call as Python to paste."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from spec.exact import plain
from verify.conformance.probes import Probe
from verify.subjects import Call


def code_of(probe: Probe, before: Probe | None = None) -> str:
    """Lines that ask ``subject`` and print what comes back beside what must.

    Args:
        probe: What is asked.
        before: A call of the same stage, on the same problem, to make first.
    """
    lines = []
    if probe.problem is not None:
        lines.append(f"problem = parse_problem({json.dumps(problem_of(probe))})")
    if before is not None:
        lines += ["# The call before matters.", *_question(before)[:-1], _question(before)[-1].removeprefix("got = ")]
    lines += _question(probe)
    lines.append('print("got     ", got)')
    lines.append(f'print("must be ", {array_code(probe.expected)})  # within {array_code(probe.tolerance)}')
    return "\n".join(lines) + "\n"


def _question(probe: Probe) -> list[str]:
    if probe.stage == "activation":
        lam: Any = probe.call.lam
        arguments = f"{array_code(probe.h)}, {array_code(lam)}, {probe.h_width!r}, {probe.call.parameters.lam_width!r}"
        return [f"got = subject.activation({arguments})  # h, lam, h_width, lam_width"]
    lines = [f"x = {array_code(probe.x)}"]
    if probe.stage == "lower_level":
        return [*lines, "got = np.concatenate(subject.lower_level(problem, x))  # y_star, then lam"]
    lines.append(f"call = {call_code(probe.call)}")
    if probe.stage == "penalty_minimiser":
        return [*lines, f"got = subject.penalty_minimiser(problem, x, call, {probe.tol!r})"]
    return [*lines, "got = subject.hypergradient(problem, x, call, np.random.default_rng(0))"]


def problem_of(probe: Probe) -> Any:
    """The problem file's content; ``None`` for the activation."""
    return None if probe.problem is None else plain(probe.problem.to_dict())


def x_of(probe: Probe) -> tuple[str, ...]:
    """The upper-level point, in full."""
    return tuple(repr(float(v)) for v in probe.x)


def size_of(probe: Probe) -> str:
    """How small it is, in words."""
    if probe.problem is None:
        return f"{len(probe.h)} row{'s' if len(probe.h) > 1 else ''}"
    n, m, p = probe.problem.n, probe.problem.m, probe.problem.p
    return f"n = {n}, m = {m}, {p} row{'s' if p != 1 else ''}"


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
            parts.append(f"{name}={array_code(value)}")
    if call.draws is not None:
        parts.append(
            "draws={" + ", ".join(f"{name!r}: {array_code(block)}" for name, block in call.draws.items()) + "}"
        )
    return f"Call({', '.join(parts)})"


def array_code(values: Any) -> str:
    """Numbers as Python."""
    return f"np.array({np.asarray(values).tolist()!r})"
