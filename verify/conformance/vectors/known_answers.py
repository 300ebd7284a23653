"""One stage call with its known answer: asked of a subject it is a probe, written down it is a test vector."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spec.exact import FloatArray
from verify.conformance.places import tolerances
from verify.conformance.places.sizes import ONE_EVALUATION, Allowance, Sizes, Sizing, sizes
from verify.conformance.places.tolerances import Errors, Penalty, RampTolerances
from verify.conformance.vectors.model import MAIN_OUTPUT, StageName
from verify.truth.algebra.numbers import Real, dyadic
from verify.truth.algebra.rationals import column, fractions
from verify.truth.stages import TERMS, ExactSetting, Values, evaluate, weights


@dataclass(frozen=True, eq=False)
class KnownAnswers:
    """A stage call, what must come out block by block, returned or on the way, and how exactly.

    ``stop`` is the ``gradient_norm`` or ``distance`` that ends the penalty solve, where there is one; ``scale`` the
    sizes of what an estimate adds up, to which rounding is relative.
    """

    stage: StageName
    setting: ExactSetting | RampTolerances
    values: dict[str, tuple[Real, ...]]
    limits: dict[str, Sizes]
    stop: dict[str, float] = field(default_factory=dict)
    scale: FloatArray | None = None

    @property
    def outputs(self) -> tuple[str, ...]:
        """The blocks that the stage's own method returns."""
        return tuple(name for name in MAIN_OUTPUT[self.stage] if name in self.values)


def lower_level(setting: ExactSetting, allowance: Allowance = ONE_EVALUATION) -> KnownAnswers:
    """The lower-level pair; where multipliers are not unique, their pull ``B' lam``."""
    lower = setting.lower
    limits = tolerances.lower_level(Sizing(setting, allowance), lower)
    values = {"y_star": lower.y_star}
    if lower.licq:
        values["lam"] = lower.lam
    else:
        values["dual_pull"] = fractions(setting.rows.B.transpose() * column(lower.lam))
    values["h"] = lower.h
    return KnownAnswers("lower_level", setting, dict(values), {name: limits[name] for name in values})


def activation(ramps: RampTolerances, allowance: Allowance = ONE_EVALUATION) -> KnownAnswers:
    """Weights of rows from numbers alone."""
    rho = weights(ramps.h, ramps.lam, dyadic(ramps.h_width), dyadic(ramps.lam_width))
    exactly = np.zeros(len(ramps.h))
    limits = tolerances.activation(ramps, (exactly, exactly), allowance) + allowance.weights
    return KnownAnswers("activation", ramps, {"rho": rho}, {"rho": limits})


def penalty_minimiser(
    setting: ExactSetting, allowance: Allowance = ONE_EVALUATION, gradient_norm: float | None = None
) -> KnownAnswers:
    """The penalty Lagrangian's minimiser from given stages, to a gradient norm; by default one just above rounding."""
    values = evaluate(setting)
    penalty = Penalty(Sizing(setting, allowance), values)
    norm = penalty.gradient_floor() if gradient_norm is None else gradient_norm
    limits = {"y_penalty": penalty.minimiser(norm)}
    return KnownAnswers("penalty_minimiser", setting, {"y_penalty": values.y_penalty}, limits, {"gradient_norm": norm})


def hypergradient(setting: ExactSetting, allowance: Allowance = ONE_EVALUATION) -> KnownAnswers:
    """An oracle call that computes what it is not given; its own minimiser is stopped by the reading's rule."""
    values = evaluate(setting)
    penalty = Penalty(Sizing(setting, allowance), values)
    blocks, limits, before = _before_the_minimiser(setting, values, allowance)
    stop: dict[str, float] = {}
    if "y_penalty" in setting.given:
        of_parts = penalty.estimate(before.rho)
    else:
        by_gradient = setting.reading.inner_stop == "gradient"
        stop = {"gradient_norm": float(setting.alpha)} if by_gradient else {"distance": float(setting.alpha**3)}
        of_parts = penalty.chain(before, **({"gradient_norm": 0.0, "distance": 0.0} | stop))
        blocks["y_penalty"], limits["y_penalty"] = values.y_penalty, of_parts.pop("y_penalty")
    if setting.draws:
        noise = tolerances.noise(penalty)
        of_parts |= {name: of_parts[name] + noise[name] for name in noise}
    whole = of_parts.pop("hypergradient", None)
    nothing = np.zeros(setting.problem.n)
    if whole is None:
        whole = sum((of_parts[term] for term in TERMS), nothing)
    # Its parts as they come out are added up once more.
    added = penalty.sizing.gamma * sum((sizes(values.terms[term]) for term in TERMS), nothing)
    blocks |= {f"terms.{term}": values.terms[term] for term in TERMS} | {"hypergradient": values.hypergradient}
    limits |= {f"terms.{term}": of_parts[term] for term in TERMS}
    limits["hypergradient"] = whole + added + allowance.estimate
    scale = 1.0 + sum(penalty.line_6().values(), nothing)
    return KnownAnswers("hypergradient", setting, blocks, limits, stop, scale)


def _before_the_minimiser(
    setting: ExactSetting, values: Values, allowance: Allowance
) -> tuple[dict[str, tuple[Real, ...]], dict[str, Sizes], Errors]:
    """Blocks and errors of the stages before the penalty minimiser: none of what is given."""
    sizing = Sizing(setting, allowance)
    blocks: dict[str, tuple[Real, ...]] = {}
    limits: dict[str, Sizes] = {}
    m, p = setting.problem.m, setting.problem.p
    y_error, lam_error, rho_error = np.zeros(m), np.zeros(p), np.zeros(p)
    if values.lower is not None:
        lower = tolerances.lower_level(sizing, values.lower)
        y_error, lam_error = lower["y_star"], lower["lam"]
        blocks, limits = {"y_star": values.y_star, "lam": values.lam}, {"y_star": y_error, "lam": lam_error}
    if "rho" not in setting.given:
        h_error = tolerances.rows(sizing, values.y_star, y_error)
        ramps = RampTolerances(values.h, values.lam, setting.h_width(), float(setting.lam_width))
        rho_error = tolerances.activation(ramps, (h_error, lam_error), allowance)
        blocks |= {"h": values.h, "rho": values.rho}
        limits |= {"h": h_error, "rho": rho_error}
    return blocks, limits, Errors(y_error, lam_error, rho_error)
