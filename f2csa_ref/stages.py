"""Lines 2 to 5 of Algorithm 1: the stage values, computed or given."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from f2csa_ref.activation import activation_weights
from f2csa_ref.lower_level import LowerLevelSolution, lower_level
from f2csa_ref.objectives.model import Objectives
from f2csa_ref.objectives.vectors import as_vector
from f2csa_ref.penalty import PenaltyLagrangian, penalty_parameters
from f2csa_ref.penalty_minimiser import PenaltySolution, minimise
from f2csa_ref.sampling.draws import Draws
from f2csa_ref.sampling.shared_sample import SampledObjectives
from spec.exact import Vector
from spec.parameters import OracleParameters
from spec.reading import Reading


@dataclass(frozen=True)
class Stages:
    """Stage values given to an oracle call; a stage left ``None`` is computed.

    Args:
        y_star: Lower-level solution, shape (m,).
        lam: Multipliers, shape (p,).
        rho: Activation weights, shape (p,).
        y_penalty: Penalty minimiser, shape (m,).
    """

    y_star: Vector | None = None
    lam: Vector | None = None
    rho: Vector | None = None
    y_penalty: Vector | None = None


NOTHING_GIVEN = Stages()


@dataclass(frozen=True)
class Computed:
    """Lines 2 to 5 done.

    Args:
        lagrangian: With x, alpha, y_star, lam and rho; ``None`` where the lower level diverged.
        shift: ``y_penalty - y_star``, shape (m,).
        y_penalty: Penalty minimiser, shape (m,).
        lower: How the pair was found; ``None`` where both halves were given.
        penalty: How the minimiser was found; ``None`` where it was given.
    """

    lagrangian: PenaltyLagrangian | None
    shift: Vector
    y_penalty: Vector
    lower: LowerLevelSolution | None = None
    penalty: PenaltySolution | None = None


def compute_stages(
    q: Objectives,
    x: Vector,
    alpha: float,
    reading: Reading,
    parameters: OracleParameters,
    given: Stages,
    rng: np.random.Generator | None,
    draws: Draws | None,
    tol: float | None,
    counts: Counter[str],
) -> Computed:
    """Run lines 2 to 5 and count their calls; arguments as for ``hypergradient``."""
    # Line 2: alpha_1, alpha_2 and inner_tol follow from alpha.
    weights = penalty_parameters(alpha)

    # Line 3: the lower-level pair.
    lower = None
    if given.y_star is None or given.lam is None:
        g_y = draws.g_y if draws is not None else None
        lower = lower_level(q, x, reading=reading, parameters=parameters, rng=rng, draws=g_y)
        _count_lower_level(lower, counts)
    y_star = _chosen(given.y_star, lower.y_star if lower is not None else None, q.m, "given.y_star")
    lam = _chosen(given.lam, lower.lam if lower is not None else None, q.p, "given.lam")
    if lower is not None and lower.status == "diverged":
        nothing = np.full(q.m, np.nan)
        return Computed(None, nothing, nothing, lower)

    # Line 4: the activation, hence the smooth Lagrangian.
    rho = given.rho
    if rho is None:
        h_width = parameters.h_width(reading, weights.inner_tol, q.B_norm)
        h_star = q.h(x, y_star)
        rho = activation_weights(h_star, lam, h_width=h_width, lam_width=parameters.lam_width)
        counts.update(row_products=2)
    lagrangian = PenaltyLagrangian(q, x, weights, y_star, lam, as_vector(rho, q.p, "given.rho"))

    # Line 5: its minimiser.
    if given.y_penalty is not None:
        y_penalty = as_vector(given.y_penalty, q.m, "given.y_penalty")
        return Computed(lagrangian, y_penalty - y_star, y_penalty, lower)
    penalty = minimise(lagrangian, reading=reading, parameters=parameters, tol=tol)
    price = q.batch if isinstance(q, SampledObjectives) else 1
    evaluations = penalty.evaluations
    counts.update(grad_y_f=evaluations * price, grad_y_g=evaluations * price, row_products=2 * evaluations)
    return Computed(lagrangian, penalty.shift, penalty.y, lower, penalty)


def _chosen(given: Vector | None, computed: Vector | None, size: int, argument: str) -> Vector:
    """The given value, checked, else the computed one."""
    return computed if given is None and computed is not None else as_vector(given, size, argument)


def _count_lower_level(lower: LowerLevelSolution, counts: Counter[str]) -> None:
    if lower.method == "primal-dual":
        counts.update(grad_y_g=lower.gradient_samples, row_products=2 * lower.steps)
    elif lower.method == "projected-gradient":
        counts.update(grad_y_g=lower.gradient_samples, quadratic_programs=lower.steps)
    else:
        counts.update(quadratic_programs=1)
