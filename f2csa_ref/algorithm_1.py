"""Algorithm 1: the stochastic penalty-based hypergradient oracle, under any reading."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from f2csa_ref.lower_level import LowerLevelSolution
from f2csa_ref.lower_level.primal_dual import require_rng
from f2csa_ref.objectives.model import Objectives, double_range, objectives_of
from f2csa_ref.objectives.vectors import as_vector
from f2csa_ref.penalty import TERMS, PenaltyLagrangian, total
from f2csa_ref.penalty_minimiser import PenaltySolution
from f2csa_ref.sampling.draws import (
    DEFAULTS,
    Draws,
    check_draws,
    noise_x_f,
    noise_x_g_difference,
    sample_draws,
)
from f2csa_ref.sampling.shared_sample import share
from f2csa_ref.stages import NOTHING_GIVEN, Computed, Stages, compute_stages
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters
from spec.problem import Problem
from spec.reading import REPAIRED, Reading

CHUNK = 1 << 19
"""Normals held at once (4 MiB) by one call."""


@dataclass(frozen=True)
class Hypergradient:
    """Everything one oracle call saw.

    Args:
        y_star: Lower-level solution y*_hat, shape (m,).
        lam: Multipliers lam_hat, shape (p,).
        rho: Activation weights, shape (p,).
        y_penalty: Penalty minimiser y_hat, shape (m,).
        terms: Parts ``f``, ``g_difference``, ``dual``, ``penalty`` of the estimate, each (n,), noise included.
        hypergradient: Their sum, shape (n,).
        counts: Calls as Algorithm 1 makes them: ``grad_x_f``, ``grad_y_f``, ``grad_x_g``, ``grad_y_g`` (one a
            sample), ``row_products`` (with A, B or a transpose), ``quadratic_programs``.
        lower_level: How the pair was found; ``None`` where both halves were given.
        penalty: How y_hat was found; ``None`` where it was given.
        shift: ``y_penalty - y_star`` with the digits that rounding to y_penalty loses, shape (m,).
    """

    y_star: Vector
    lam: Vector
    rho: Vector
    y_penalty: Vector
    terms: dict[str, Vector]
    hypergradient: Vector
    counts: dict[str, int] = field(default_factory=dict)
    lower_level: LowerLevelSolution | None = None
    penalty: PenaltySolution | None = None
    shift: Vector = field(default_factory=lambda: np.zeros(0))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know before trusting the estimate, one sentence each."""
        made = list(self.lower_level.notes) if self.lower_level is not None else []
        if self.penalty is not None and not self.penalty.converged:
            reached, tol = self.penalty.gradient_norm, self.penalty.tol
            made.append(f"the penalty minimiser stopped by {self.penalty.status} at {reached:.1e}, not {tol:.1e}")
        return tuple(made)


def hypergradient(
    problem: Problem | Objectives,
    x: Vector,
    *,
    alpha: float,
    reading: Reading = REPAIRED,
    parameters: OracleParameters = DEFAULTS,
    given: Stages = NOTHING_GIVEN,
    rng: np.random.Generator | None = None,
    draws: Draws | None = None,
    tol: float | None = None,
) -> Hypergradient:
    r"""Estimate the hypergradient at x by one run of Algorithm 1.

    :math:`\nabla\tilde F(x) = N_g^{-1} \sum_j \nabla_x \tilde L_{\tilde\lambda,\alpha}(x, \tilde y(x); \xi_j)`.

    Args:
        problem: Problem or objectives.
        x: Upper variable, shape (n,), finite.
        alpha: Accuracy parameter, > 0.
        reading: Resolution of the paper's open choices.
        parameters: N_g, ramp widths, solvers and their budgets.
        given: Stage values to use verbatim instead of computing them.
        rng: Source of noise; needed where the problem is noisy and ``draws`` is not given.
        draws: Standard normals to use instead, so that implementations compare exactly.
        tol: Norm of grad_y L at which the penalty minimiser stops, instead of the reading's rule.

    Returns:
        All stage values, the parts of the estimate and the counts. If the primal-dual iteration diverges, its
        pair is kept, later stages are nan, and ``notes`` says so.

    Raises:
        InvalidInputError: If an argument breaks its rule or the lower level is infeasible at x.
        LowerLevelError: If an exact lower-level solver fails.

    Source: Algorithm 1. Differs from the paper: lines 3 and 5 are free of noise by default (``parameters`` and
    ``reading`` choose the noisy ones); a shared sample, where chosen, serves lines 3, 5 and 6 alike.

    Example:
        >>> import numpy as np
        >>> from spec import parse_problem
        >>> toy = parse_problem({"kind": "quadratic", "f": {"y": [1]}, "g": {"yy": [[1]]},
        ...                      "constraints": {"A": [[1]], "B": [[1]]}})
        >>> hypergradient(toy, np.ones(1), alpha=0.1).hypergradient.round(6)
        array([0.990099])
    """
    q = objectives_of(problem)
    x = as_vector(x, q.n, "x")
    noisy, samples = q.noise.model != "none", parameters.N_g
    if noisy and parameters.lower_level == "primal-dual" and reading.inner_solver == "shared-sample":
        if draws is not None:
            raise InvalidInputError("draws", "cannot serve the shared-sample solver; give rng instead")
        samples = parameters.shared_samples
        q, noisy = share(q, samples, require_rng(rng)), False
    if noisy and draws is not None:
        check_draws(draws, q, samples, reading.noise_pairing)
    elif noisy:
        require_rng(rng)

    counts: Counter[str] = Counter()
    with double_range(q):
        # Lines 2 to 5.
        stages = compute_stages(q, x, alpha, reading, parameters, given, rng, draws, tol, counts)
        if stages.lagrangian is None:
            return _diverged(q, stages, counts)
        lagrangian, w = stages.lagrangian, stages.shift

        # Line 6: the mean of the samples' gradients in x, each the exact gradient plus its noise.
        terms = lagrangian.terms_x(w, reading.dual_term)
        if noisy:
            noise_f, noise_g = _mean_noise(lagrangian, w, reading, samples, rng, draws)
            terms["f"] = terms["f"] + noise_f
            terms["g_difference"] = terms["g_difference"] + lagrangian.alpha.alpha_1 * noise_g
        counts.update(grad_x_f=samples, grad_x_g=2 * samples, row_products=3)
        estimate = total(terms)
    return Hypergradient(
        y_star=lagrangian.y_star,
        lam=lagrangian.lam,
        rho=lagrangian.rho,
        y_penalty=stages.y_penalty,
        terms=terms,
        hypergradient=estimate,
        counts=dict(counts),
        lower_level=stages.lower,
        penalty=stages.penalty,
        shift=w,
    )


def _diverged(q: Objectives, stages: Computed, counts: Counter[str]) -> Hypergradient:
    lower = stages.lower
    y_star, lam = (lower.y_star, lower.lam) if lower is not None else (np.zeros(q.m), np.zeros(q.p))
    nothing = {name: np.full(q.n, np.nan) for name in TERMS}
    return Hypergradient(y_star, lam, np.full(q.p, np.nan), np.full(q.m, np.nan), nothing, np.full(q.n, np.nan),
                         dict(counts), lower, None, stages.shift)  # fmt: skip


def sample_noise(
    lagrangian: PenaltyLagrangian, w: Vector, reading: Reading, draws: Draws
) -> tuple[Matrix | None, Matrix | None]:
    """Noise of grad_x f and of the difference of grad_x g, one row a sample."""
    q, x, y_star = lagrangian.objectives, lagrangian.x, lagrangian.y_star
    pairing = reading.noise_pairing
    noise_f = noise_x_f(q, x, y_star + w, draws)
    return noise_f, noise_x_g_difference(q, x, y_star, w, pairing, draws)


def _mean_noise(
    lagrangian: PenaltyLagrangian,
    w: Vector,
    reading: Reading,
    samples: int,
    rng: np.random.Generator | None,
    draws: Draws | None,
) -> tuple[Vector, Vector]:
    """Mean of both noises over the samples, each (n,), drawn a chunk at a time."""
    q = lagrangian.objectives
    sums = np.zeros(q.n), np.zeros(q.n)
    at_once = samples if draws is not None else max(1, CHUNK // q.n)
    for first in range(0, samples, at_once):
        chunk = min(at_once, samples - first)
        used = draws if draws is not None else sample_draws(q, chunk, reading.noise_pairing, require_rng(rng))
        for noise, part in zip(sample_noise(lagrangian, w, reading, used), sums, strict=True):
            if noise is not None:
                part[: noise.shape[1]] += noise.sum(axis=0)
    return sums[0] / samples, sums[1] / samples
