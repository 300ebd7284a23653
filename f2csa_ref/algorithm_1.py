"""Algorithm 1: the stochastic penalty-based hypergradient oracle; :func:`oracle` has its lines, numbered as there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from f2csa_ref.activation import activation_weights
from f2csa_ref.certificate.error_certificate import ErrorCertificate, certify
from f2csa_ref.certificate.map_constants import Assumed
from f2csa_ref.lower_level import LowerLevelSolution, lower_level_solver
from f2csa_ref.objectives import Objectives, as_vector, double_range, objectives_of
from f2csa_ref.penalty import TERMS, PenaltyLagrangian, penalty_parameters, total
from f2csa_ref.penalty_minimiser import PenaltySolution, penalty_minimiser
from f2csa_ref.sampling import DEFAULTS, Draws, check_draws, mean_noise, require_rng
from f2csa_ref.second_derivatives.solution_maps import solution_maps
from f2csa_ref.shared_sample import share
from spec.errors import InvalidInputError
from spec.exact import Vector
from spec.parameters import OracleParameters
from spec.problem import Problem
from spec.reading import REPAIRED, Reading


@dataclass(frozen=True)
class Stages:
    """Stage values given to a call, both y of shape (m,), lam and rho of shape (p,); what is ``None`` is computed."""

    y_star: Vector | None = None
    lam: Vector | None = None
    rho: Vector | None = None
    y_penalty: Vector | None = None

    def checked(self, m: int, p: int) -> Stages:
        """The same as finite vectors of the right length, or a refusal that names the one that is not."""
        sizes = {"y_star": m, "lam": p, "rho": p, "y_penalty": m}
        given = {name: value for name, value in vars(self).items() if value is not None}
        if not given:
            return self
        return Stages(**{name: as_vector(value, sizes[name], f"given.{name}") for name, value in given.items()})


NOTHING_GIVEN = Stages()


@dataclass(frozen=True)
class OracleCall:
    """What one oracle call is given besides problem, point and generator; each as :func:`hypergradient` says."""

    alpha: float
    reading: Reading = REPAIRED
    parameters: OracleParameters = DEFAULTS
    given: Stages = NOTHING_GIVEN
    draws: Draws | None = None
    tol: float | None = None
    certify: Assumed | None = None


@dataclass(frozen=True)
class Hypergradient:
    """Everything one oracle call saw; where the lower level diverged, all that would follow is nan.

    Shapes as in :class:`Stages`. ``hypergradient`` (n,) is the sum of the ``terms`` f, g_difference, dual and penalty,
    noise included. ``counts`` are calls as Algorithm 1 makes them: ``grad_x_f``, ``grad_y_f``, ``grad_x_g``,
    ``grad_y_g`` (one a sample), ``row_products`` (with A, B or a transpose), ``quadratic_programs``. Where stages were
    given, ``lower_level`` or ``penalty`` is ``None``. ``shift`` is ``y_penalty - y_star`` with the digits that rounding
    to y_penalty loses. ``certificate`` bounds the error, where asked for; its work is not in ``counts``.
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
    certificate: ErrorCertificate | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know before trusting the estimate, one sentence each."""
        notes = list(self.lower_level.notes) if self.lower_level is not None else []
        if self.penalty is not None and not self.penalty.converged:
            reached, tol = self.penalty.gradient_norm, self.penalty.tol
            notes.append(f"the penalty minimiser stopped by {self.penalty.status} at {reached:.1e}, not {tol:.1e}")
        return tuple(notes)


def oracle(
    q: Objectives, x: Vector, call: OracleCall, rng: np.random.Generator | None = None, *, noisy: bool = True
) -> Hypergradient:
    """Algorithm 1 at x, its input checked; a given stage is used as it is, and ``noisy`` is line 6's."""
    reading, parameters, draws, given = call.reading, call.parameters, call.draws, call.given.checked(q.m, q.p)

    # Line 2.  alpha_1 = alpha^-2, alpha_2 = alpha^-4, delta = alpha^3.
    weights = penalty_parameters(call.alpha)

    # Line 3.  (y*, lam) with error O(delta).
    lower, y_star, lam = None, given.y_star, given.lam
    if y_star is None or lam is None:
        normals = None if draws is None else draws.g_y
        lower = lower_level_solver(q, reading, parameters, rng, normals)(q, x)
        if lower.status == "diverged":
            return _diverged(x, lower)
        y_star, lam = lower.y_star if y_star is None else y_star, lower.lam if lam is None else lam

    # Line 4.  rho_i = sigma_h(h_i) sigma_lam(lam_i), hence the smooth Lagrangian L.
    rho, h_star = given.rho, q.h(x, y_star)
    if rho is None:
        h_width = parameters.h_width(reading, weights.inner_tol, q.B_norm)
        rho = activation_weights(h_star, lam, h_width=h_width, lam_width=parameters.lam_width)
    L = PenaltyLagrangian(q, x, weights, y_star, lam, rho, maps=lambda: solution_maps(q, x), rows=h_star)

    # Line 5.  y = argmin_y L(x, y), stopped as the reading says; w = y - y* keeps the digits that count in h.
    if given.y_penalty is None:
        penalty = penalty_minimiser(L, reading=reading, parameters=parameters, tol=call.tol)
        y, w = penalty.y, penalty.shift
    else:
        penalty, y, w = None, given.y_penalty, given.y_penalty - y_star

    # Line 6.  The mean of N_g samples of grad_x L(x, y; xi_j), each the exact gradient plus its noise.
    terms = L.terms_x(w, reading.dual_term)
    if noisy and q.noise.model != "none":
        noise_f, noise_g = mean_noise(L, w, reading.noise_pairing, parameters.N_g, rng if draws is None else draws)
        terms["f"] = terms["f"] + noise_f
        terms["g_difference"] = terms["g_difference"] + weights.alpha_1 * noise_g

    # Line 7.
    estimate = Hypergradient(y_star, lam, rho, y, terms, total(terms), _counts(call, lower, penalty), lower, penalty, w)
    if call.certify is None:
        return estimate
    samples = parameters.N_g if noisy else 0
    return replace(estimate, certificate=certify(L, w, terms["dual"], call.certify, reading.noise_pairing, samples))


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
    certify: bool | Assumed = False,
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
        certify: Whether to bound the error (:mod:`f2csa_ref.certificate.error_certificate`), or what may be
            assumed for that.

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
    assumed = (Assumed() if certify else None) if isinstance(certify, bool) else certify
    return checked_oracle(
        objectives_of(problem), x, OracleCall(alpha, reading, parameters, given, draws, tol, assumed), rng
    )


def checked_oracle(q: Objectives, x: Vector, call: OracleCall, rng: np.random.Generator | None) -> Hypergradient:
    """Algorithm 1 at any x, refused as :func:`hypergradient` says; a shared sample is drawn first, for all lines."""
    x = as_vector(x, q.n, "x")
    reading, parameters, draws, noisy = call.reading, call.parameters, call.draws, q.noise.model != "none"
    with double_range(q):
        if parameters.lower_level == "primal-dual" and reading.inner_solver == "shared-sample" and noisy:
            if draws is not None:
                raise InvalidInputError("draws", "cannot serve the shared-sample solver; give rng instead")
            if call.certify is not None:
                raise InvalidInputError("certify", "must be off with a shared sample: its noise is in every stage")
            # One sample, and one batch size, for lines 3, 5 and 6.
            parameters = parameters.model_copy(update={"N_g": parameters.shared_samples})
            q, noisy = share(q, parameters.N_g, require_rng(rng)), False
            call = replace(call, parameters=parameters)
        if draws is not None:
            check_draws(draws, q, parameters.N_g, reading.noise_pairing)
        elif noisy:
            require_rng(rng)
        return oracle(q, x, call, rng)


def _diverged(x: Vector, lower: LowerLevelSolution) -> Hypergradient:
    grad, rho, y = (np.full_like(v, np.nan) for v in (x, lower.lam, lower.y_star))
    terms = {name: grad.copy() for name in TERMS}
    return Hypergradient(lower.y_star, lower.lam, rho, y, terms, grad, lower.counts, lower, shift=y)


def _counts(call: OracleCall, lower: LowerLevelSolution | None, penalty: PenaltySolution | None) -> dict[str, int]:
    parts = [] if lower is None else [lower.counts]
    if call.given.rho is None:
        parts.append({"row_products": 2})
    if penalty is not None:
        parts.append(penalty.counts)
    samples = call.parameters.N_g
    parts.append({"grad_x_f": samples, "grad_x_g": 2 * samples, "row_products": 3})
    counts: dict[str, int] = {}
    for part in parts:
        for name, count in part.items():
            counts[name] = counts.get(name, 0) + count
    return counts
