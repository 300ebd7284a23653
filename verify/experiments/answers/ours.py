"""Our own entrants: both methods at speed, and their pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from f2csa_ref.algorithm_1 import OracleCall, hypergradient
from f2csa_ref.baselines.implicit_gradient import factorisations, implicit_gradient
from f2csa_ref.baselines.implicit_oracle import ImplicitOracle
from f2csa_ref.baselines.kkt_system import LinearSolveError
from f2csa_ref.fast import BatchedOracle, FastOracle
from f2csa_ref.fast.operators import Tally
from f2csa_ref.lower_level.solution import LowerLevelError
from f2csa_ref.objectives import QuadraticObjectives
from spec.errors import InvalidInputError
from spec.exact import Matrix, Vector
from spec.parameters import OracleParameters
from verify.experiments.answers.answering import Answer, Answering, Effort, OutsideDomainError, Work
from verify.experiments.work import WorkBlocks

F2CSA, IMPLICIT = "F2CSA", "implicit gradient"
ALPHAS = tuple(10 ** (-k / 2) for k in range(1, 17))
"""From .3 to 1e-8: below, rounding that alpha_2 = alpha^-4 amplifies is all that is left."""
SHARES = (0.1, 0.5, 2.0)
"""Inner residuals tried, in units of the one that alone would make the wanted error."""
REFUSED = (InvalidInputError, LowerLevelError, np.linalg.LinAlgError)


def version() -> str:
    """This package's."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return f"f2csa-verify {installed('f2csa-verify')}"
    except PackageNotFoundError:
        return "f2csa-verify, a checkout"


class OfThisPackage:
    """What all entrants of ours share."""

    @property
    def version(self) -> str:
        return version()


class PenaltyMethod(OfThisPackage):
    """Algorithm 1: α, and the residual of its minimiser."""

    method = F2CSA

    def ladders(self, wanted: float, scale: float) -> tuple[tuple[Effort, ...], ...]:
        return penalty_ladders(wanted, scale)


@contextmanager
def within_the_domain() -> Iterator[None]:
    """What the solvers refuse, as the protocol says it."""
    try:
        yield
    except (*REFUSED, LinearSolveError) as error:
        raise OutsideDomainError(str(error)) from None


def counted(tally: Tally, q: QuadraticObjectives, draws: int = 0) -> Work:
    """What a tally has counted: products by the bytes that they read, solutions with factors among them."""
    factors = tally.hessian_factorisations + tally.row_factorisations * (min(q.p, q.m) / q.m) ** 3
    return Work(tally.bytes_read / (8 * q.m**2), factors, draws, tally.bytes_read)


def since(now: Tally, before: Tally) -> Tally:
    """What was counted in between."""
    return Tally(**{name: count - getattr(before, name) for name, count in vars(now).items()})


@dataclass
class _Prepared:
    """An oracle with a tally: what it counts before and after a call is the call's."""

    oracle: Any
    samples: int = 1

    def __post_init__(self) -> None:
        self.preparation = counted(self.oracle.tally, self.oracle.q)

    def at(self, x: Vector, rng: np.random.Generator | None = None) -> Answer:
        """As :class:`Answering`."""
        before = Tally(**vars(self.oracle.tally))
        with within_the_domain():
            estimate = self.oracle(x) if isinstance(self.oracle, ImplicitOracle) else self.oracle(x, rng)
        q = self.oracle.q
        draws = self.samples if q.noise.model != "none" else 0
        return Answer(estimate.hypergradient, counted(since(self.oracle.tally, before), q, draws))


@dataclass(frozen=True)
class FastF2csa(PenaltyMethod):
    """Algorithm 1 by :class:`f2csa_ref.fast.FastOracle`; ``first_order`` factorises nothing of f or g."""

    first_order: bool = False

    @property
    def name(self) -> str:
        return "F2CSA, first-order" if self.first_order else "F2CSA"

    @property
    def implementation(self) -> str:
        return f"fast oracle, {'first-order' if self.first_order else 'exact'} lower level"

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> Answering:
        parameters = OracleParameters(lower_level="first-order" if self.first_order else "exact")
        with within_the_domain():
            return _Prepared(FastOracle(q, call_of(effort, parameters)))


def penalty_ladders(wanted: float, scale: float) -> tuple[tuple[Effort, ...], ...]:
    """α from large to small, for each the residual ``tol`` of its minimiser from tight to loose.

    A bias falls like α² at best, so that an α whose square is far above or below the error has no chance, or no need.
    """
    near = [alpha for alpha in ALPHAS if 1e-3 * wanted <= alpha**2 <= 1e2 * wanted] or [ALPHAS[-1]]
    return tuple(tuple({"alpha": alpha, "tol": share * wanted * scale} for share in SHARES) for alpha in near)


def call_of(effort: Effort, parameters: OracleParameters) -> OracleCall:
    """The effort as Algorithm 1 takes it."""
    return OracleCall(effort["alpha"], parameters=parameters, tol=effort.get("tol"))


@dataclass(frozen=True)
class FastImplicitEntrant(OfThisPackage):
    """The implicit gradient by :class:`f2csa_ref.baselines.implicit_oracle.ImplicitOracle`."""

    name = IMPLICIT
    method = IMPLICIT
    implementation = "prepared, with the lower level's own factor"

    def ladders(self, wanted: float, scale: float) -> tuple[tuple[Effort, ...], ...]:  # noqa: ARG002  # exact
        return (({},),)

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> Answering:  # noqa: ARG002  # it has none
        return _Prepared(ImplicitOracle(q))


@dataclass(frozen=True)
class BatchedF2csa(PenaltyMethod):
    """Algorithm 1 at many points at once on numpy; alone here, a point is a batch of one."""

    name = "F2CSA, batched"
    implementation = "batched oracle on numpy, first-order lower level"

    @property
    def version(self) -> str:
        return f"{version()}, numpy {np.__version__}"

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> Answering:
        parameters = OracleParameters(lower_level="first-order")
        with within_the_domain():
            return _Batched(BatchedOracle(q, call_of(effort, parameters)))


@dataclass
class _Batched:
    oracle: BatchedOracle

    def __post_init__(self) -> None:
        self.preparation = Work(0.0, 0.0, 0, 0)

    def at(self, x: Vector, rng: np.random.Generator | None = None) -> Answer:
        """As :class:`Answering`."""
        return self.together(x[None, :], rng)[0]

    def together(self, X: Matrix, rng: np.random.Generator | None = None) -> list[Answer]:
        """The answers at the rows of X, (K, n), in one go; each has an equal share of the work."""
        with within_the_domain():
            estimate = self.oracle(X, rng)
        vectors, m, K = estimate.counts["matrix_vector_products"], self.oracle.q.m, len(X)
        rows = estimate.counts["row_factorisations"] * (min(self.oracle.q.p, m) / m) ** 3
        # A block that serves many points is read once for all of them.
        share = Work(vectors / K, rows / K, 0, 8 * m**2 * estimate.counts["matrix_products"] // K)
        return [Answer(gradient, share) for gradient in np.asarray(estimate.hypergradient)]


@dataclass(frozen=True)
class PageF2csa(PenaltyMethod):
    """Algorithm 1 as it stands on its page, which keeps a lower level's factors; ``certify`` asks for a bound."""

    certify: bool = False

    @property
    def name(self) -> str:
        return "F2CSA, page with its bound" if self.certify else "F2CSA, page"

    @property
    def implementation(self) -> str:
        return "plain page, certified" if self.certify else "plain page"

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> Answering:
        return _Page(q, call_of(effort, OracleParameters()), self.certify)


@dataclass
class _Page:
    q: QuadraticObjectives
    call: OracleCall
    certify: bool

    def __post_init__(self) -> None:
        self.preparation, self.blocks = Work(0.0, 0.0, 0, 0), WorkBlocks.of(self.q)

    def at(self, x: Vector, rng: np.random.Generator | None = None) -> Answer:
        """As :class:`Answering`."""
        call = self.call
        with within_the_domain():
            estimate = hypergradient(
                self.q, x, alpha=call.alpha, parameters=call.parameters, tol=call.tol, rng=rng, certify=self.certify
            )
        certificate, noisy = estimate.certificate, self.q.noise.model != "none"
        return Answer(
            estimate.hypergradient, of_counts(self.blocks, estimate.counts, call.parameters.N_g if noisy else 0),
            None if certificate is None else certificate.bound,
        )  # fmt: skip


@dataclass(frozen=True)
class PageImplicit(OfThisPackage):
    """The implicit gradient as it stands on its page, which keeps a lower level's factors."""

    name = "implicit gradient, page"
    method = IMPLICIT
    implementation = "plain page"

    def ladders(self, wanted: float, scale: float) -> tuple[tuple[Effort, ...], ...]:  # noqa: ARG002  # exact
        return (({},),)

    def prepare(self, q: QuadraticObjectives, effort: Effort) -> Answering:  # noqa: ARG002  # it has none
        return _ImplicitPage(q)


@dataclass
class _ImplicitPage:
    q: QuadraticObjectives

    def __post_init__(self) -> None:
        self.preparation, self.blocks = Work(0.0, 0.0, 0, 0), WorkBlocks.of(self.q)

    def at(self, x: Vector, rng: np.random.Generator | None = None) -> Answer:
        """As :class:`Answering`."""
        noisy = self.q.noise.model != "none"
        with within_the_domain():
            estimate = implicit_gradient(self.q, x, rng=rng if noisy else None)
        return Answer(estimate.hypergradient, of_counts(self.blocks, estimate.counts, int(noisy)))


def of_counts(blocks: WorkBlocks, counts: Mapping[str, int], draws: int) -> Work:
    """A page's counts as work; the lower level is a factorisation of g_yy whatever the solver did."""
    m = blocks.m
    solves = counts.get("lower_level_solves", counts.get("quadratic_programs", 0))
    numbers = factorisations(dict(counts))
    largest = max((size for kind, size in numbers if kind == "cholesky"), default=0)
    if largest:
        numbers["cholesky", largest] -= min(solves, numbers["cholesky", largest])  # the lower level's own serves again
    extra = sum(number * (size / m) ** 3 * (2 if kind == "lu" else 1) for (kind, size), number in numbers.items())
    factors = solves + extra
    products = max(blocks.products(dict(counts)) - factors * m / 6, 0.0)
    return Work(products, factors, draws, round(8 * m**2 * (products + factors)))
