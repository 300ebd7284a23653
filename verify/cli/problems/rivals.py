"""What ``f2csa solve --method`` needs of a rival: its constants, and one call of its oracle."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.algorithm_2 import Oracle
from f2csa_ref.baselines.iterates import Surroundings
from f2csa_ref.baselines.methods import F2csaParameters, Rival, answers_of
from f2csa_ref.fast.in_runs import FastComputing
from f2csa_ref.objectives import Objectives
from f2csa_ref.solver.schedules import AVERAGED, Computing, Constants, Pages
from f2csa_ref.whole_solve.certified_steps import CertifiedSteps
from f2csa_ref.whole_solve.solve import Setting
from spec.exact import Vector

VARIANCE_SAMPLES = 64


def constants_of(
    spec: Rival, around: Surroundings, x_0: Vector, constants: Constants, rng: np.random.Generator
) -> Constants:
    """Bias and variance of the rival's own answers at x_0, unless they were given; L_F and the gap are F's."""
    estimated = set(constants.estimated)
    changed: dict[str, Any] = {}
    if "variance" in estimated and spec.name in ("parent", "pigd"):
        changed["variance"] = 0.0
    elif "variance" in estimated:
        few = replace(around, samples=min(around.samples, AVERAGED))
        answer = answers_of(spec, few)
        answers = np.array([answer(x_0, rng) for _ in range(VARIANCE_SAMPLES)])
        changed["variance"] = float(answers.var(axis=0, ddof=1).sum()) * few.samples / around.samples
    if "bias" in estimated and spec.name not in ("parent", "pigd"):
        # Of perturbation and smoothing: F moves by what they move y*, not the gradient where F is smooth.
        changed["bias"] = 0.0
    return replace(constants, **changed)


def computing(q: Objectives, setting: Setting) -> Computing:
    """How a run of this setting computes answers of Algorithm 1 and values of F."""
    if isinstance(setting.method, F2csaParameters) and setting.method.fast:
        return FastComputing(q, call_of(setting))
    return Pages(q)


def call_of(setting: Setting) -> OracleCall:
    """What every call of the setting's oracle is asked."""
    return OracleCall(setting.alpha, setting.reading, setting.oracle)


def one_call(q: Objectives, setting: Setting, how: Computing, rng: np.random.Generator) -> Oracle:
    """One call of the method's oracle, to be timed."""
    if setting.accuracy is not None:
        steps = CertifiedSteps(q, setting.accuracy, call_of(setting), Counter())
        return lambda x: steps.answer(x, rng)
    if isinstance(setting.method, F2csaParameters):
        return how.answers(call_of(setting), rng)
    answers = answers_of(setting.method, Surroundings(q, setting.outer, setting.alpha, setting.oracle.N_g))
    return lambda x: answers(x, rng)


def parameters_line(setting: Setting) -> str:
    """A run's parameters on one line."""
    shown = setting.shown_schedule
    if isinstance(setting.method, F2csaParameters):
        return f"D = {setting.outer.D:.4g}, eta = {setting.outer.eta:.4g}, bound {setting.outer.epsilon:.4g}"
    own = {name: value for name, value in shown.items() if name not in ("M", "K", "T", "goldstein_radius")}
    pairs = ", ".join(f"{k} = {v:.4g}" if isinstance(v, float) else f"{k} = {v}" for k, v in own.items())
    return f"{setting.method.name}: {pairs}"
