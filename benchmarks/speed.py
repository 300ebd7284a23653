"""The comparisons: oracle call, lower level, penalty solve, sampling."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import daqp
import numpy as np
import scipy.linalg
import scipy.stats

from benchmarks.certificates import certificates, pages
from benchmarks.peers import numpy_prototype
from benchmarks.timing import STREAMED, Row, minima, stream
from f2csa_ref import (
    OracleCall,
    PenaltyLagrangian,
    Stages,
    activation_weights,
    hypergradient,
    hypergradient_samples,
    lower_level,
    objectives_of,
    penalty_minimiser,
)  # fmt: skip
from f2csa_ref.baselines.fast_implicit import FastImplicit
from f2csa_ref.baselines.implicit_oracle import ImplicitOracle
from f2csa_ref.baselines.kkt_system import LinearAlgebra
from f2csa_ref.fast import Estimate, FastOracle
from f2csa_ref.lower_level import proximal
from f2csa_ref.objectives import QuadraticObjectives
from f2csa_ref.sampling import compiled, one_by_one
from spec import REPAIRED, Generated, InvalidInputError, OracleParameters, parse_problem
from spec.exact import Vector

ALPHA, N_G = 0.05, 30
NOISE = {"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"}
ORACLES = (("coupled-rows", 100, 5), ("coupled-rows", 200, 50), ("coupled-rows", 1000, 50),
           ("paper-experiment", 100, None), ("paper-experiment", 1000, None))  # fmt: skip
LARGE = (("paper-experiment", 4000, None),)
LowerName = Literal["exact", "first-order"]
LOWER: tuple[LowerName, ...] = ("exact", "first-order")
IMPLICIT: dict[LinearAlgebra, str] = {"best": "Cholesky", "cg": "conjugate gradients"}
CG_TOL = 1e-3
"""Relative residual that leaves an error of the size of F2CSA's bias at this alpha."""
FRESH = 1.0
"""Length of a step after which nothing of the last answer is of use: active rows change at each."""
MOST_OF = {"page": 200, "numpy prototype": 1000, "daqp alone": 1000}
"""Largest size at which a peer is worth waiting for."""
STREAMED_FROM = 1000
"""Size below which the blocks stay in the cache, so that no stream from memory bounds a call."""
GROWTH = (250, 350, 500, 700, 1000, 1400, 2000, 2800, 4000)


def drawn(family: str, n: int, p: int | None) -> Generated:
    """A noisy problem of condition 10."""
    data = {"kind": "generated", "family": family, "n": n, "seed": 1, "noise": NOISE}
    problem = parse_problem(data | ({} if p is None else {"p": p}))
    assert isinstance(problem, Generated)
    problem.arrays  # noqa: B018  # fills the cache, which is no part of what is measured
    return problem


def path(n: int, step: float) -> Iterator[Vector]:
    """Points as an outer loop visits them, without an end."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(n)
    for _ in itertools.count():
        x = x + step * rng.standard_normal(n) / np.sqrt(n)
        yield x


def walking(call: Callable[[Vector], object], n: int, step: float = 1e-3) -> Callable[[], object]:
    """The call at the next point of a path."""
    points = path(n, step)
    return lambda: call(next(points))


def named(n: int, p: int | None) -> str:
    """A size in words."""
    return f"d = {n}, " + ("box" if p is None else f"p = {p} coupled")


def oracle_calls(large: bool) -> Iterator[Row]:
    """One call of Algorithm 1 along a path, N_g = 30: against its page, the shortest numpy, the implicit gradient."""
    for family, n, p in (*ORACLES, *(LARGE if large else ())):
        for lower in LOWER:
            yield from _oracle_call(drawn(family, n, p), named(n, p), lower)


def _oracle_call(problem: Generated, size: str, lower: LowerName) -> Iterator[Row]:
    rng, n = np.random.default_rng(0), problem.n
    oracle = FastOracle(problem, OracleCall(ALPHA, parameters=OracleParameters(N_g=N_G, lower_level=lower)))
    answers: list[Estimate] = []

    def ours(x: Vector) -> None:
        answers[:] = [oracle(x, rng)]

    page = OracleParameters(N_g=N_G)
    peers: dict[str, Callable[[Vector], object]] = {
        "page": lambda x: hypergradient(problem, x, alpha=ALPHA, parameters=page, rng=rng),
        "numpy prototype": lambda x: numpy_prototype(problem, x, ALPHA, N_G, rng),
    }
    q, pair = objectives_of(problem), lower_level(problem, next(path(n, 0.0)))
    assert isinstance(q, QuadraticObjectives)  # by the family
    for algebra, said in IMPLICIT.items():
        implicit = FastImplicit(q, algebra, CG_TOL)
        peers[f"implicit gradient by {said}, pair given"] = partial(implicit, lower=pair)
    peers["implicit gradient, prepared, with its own lower level"] = ImplicitOracle(q)
    kept = {name: peer for name, peer in peers.items() if n <= MOST_OF.get(name, n)}
    if n <= MOST_OF["page"]:
        shortest, page_alone = peers["numpy prototype"], peers["page"]
        seconds, theirs, pages = minima(*(walking(call, n, FRESH) for call in (ours, shortest, page_alone)))
        yield Row(f"oracle call, {lower}, fresh points", size, "numpy prototype", seconds, theirs)
        if lower == "exact":
            yield Row("page, fresh points", size, "numpy prototype", pages, theirs)
    parties = [walking(peer, n) for peer in kept.values()]
    seconds, *others = minima(walking(ours, n), *parties)
    for peer, theirs in zip(kept, others, strict=True):
        yield Row(f"oracle call, {lower}", size, peer, seconds, theirs)
    if n < STREAMED_FROM:
        return
    # Apart, for slow peers would leave time for few repeats.
    seconds, streamed = minima(walking(ours, n), stream(), seconds=2.0)
    rate = STREAMED / streamed
    bound, products = answers[0].bytes_read / rate, answers[0].counts["matrix_products"]
    note = f"{products} products, {rate / 1e9:.0f} GB/s"
    yield Row(f"oracle call, {lower}", size, "bytes to read / stream rate", seconds, bound, note)


def lower_levels(large: bool) -> Iterator[Row]:
    """Line 3 alone, cold and along a path, against daqp and proxsuite alone."""
    for family, n, p in (*ORACLES, *(LARGE if large else ())):
        yield from _lower_level(drawn(family, n, p), named(n, p))


def _lower_level(problem: Generated, size: str) -> Iterator[Row]:
    n, a, x = problem.n, problem.arrays, next(path(problem.n, 0.0))
    c, r = a.g_xy.T @ x + a.g_y, a.A @ x - a.b
    parties: dict[str, Callable[[], object]] = {"page, cold": lambda: lower_level(problem, x)}
    for lower in LOWER:
        oracle = FastOracle(problem, OracleCall(ALPHA, parameters=OracleParameters(lower_level=lower)))
        parties[f"fast, {lower}, along a path"] = walking(partial(_line_3, oracle), n)
    peers: dict[str, Callable[[], object]] = {"daqp alone": lambda: daqp.solve(a.g_yy.copy(), c, -a.B, -r)}
    if proximal.installed():
        peers["proxsuite alone"] = lambda: proximal.proximal_program(a.g_yy, c, -a.B, -r)
    if n > MOST_OF["daqp alone"]:
        peers = {}
    measured = minima(*parties.values(), *peers.values(), most=200 if n <= 1000 else 5)
    ours = dict(zip(parties, measured, strict=False))
    theirs = dict(zip(peers, measured[len(parties) :], strict=True)) or {"page, cold": ours.pop("page, cold")}
    for (what, seconds), (peer, others) in itertools.product(ours.items(), theirs.items()):
        yield Row(f"lower level: {what}", size, peer, seconds, others)


def _line_3(oracle: FastOracle, x: Vector) -> object:
    return oracle.lower.solve(x, oracle.g_xy.back(x) + oracle.q.g_y, oracle.rows.reach(x))


def penalty_solves(large: bool) -> Iterator[Row]:  # noqa: ARG001  # all are small
    """Line 5 alone at one point, against the page and a dense Cholesky solve."""
    for family, n, p in ORACLES:
        yield from _penalty_solve(drawn(family, n, p), named(n, p), next(path(n, 0.0)))
    yield from _penalty_solve(drawn("random-rows", 100, 25), named(100, 25) + ", condition 250", np.zeros(100))


def _penalty_solve(problem: Generated, size: str, x: Vector) -> Iterator[Row]:
    q: Any = objectives_of(problem)
    oracle, lower = FastOracle(problem, OracleCall(ALPHA)), lower_level(q, x)
    h_width = OracleParameters().h_width(REPAIRED, ALPHA**3, q.B_norm)
    rho = activation_weights(q.h(x, lower.y_star), lower.lam, h_width=h_width, lam_width=0.1)
    L = PenaltyLagrangian(q, x, oracle.weights, lower.y_star, lower.lam, rho)
    slope, weights = L.grad_y(np.zeros(q.m)), oracle.weights
    gradients = {}

    def ours() -> None:
        oracle.shift = np.zeros_like(oracle.shift)
        gradients["ours"] = oracle._minimised(slope, rho).steps + 1

    def page() -> None:
        gradients["page"] = penalty_minimiser(L).evaluations

    def dense() -> Vector:
        H = q.f_yy + weights.alpha_1 * q.g_yy + (q.B.T * (weights.alpha_2 * rho)) @ q.B
        w: Vector = scipy.linalg.cho_solve(scipy.linalg.cho_factor(H), -slope)
        return w

    mine, theirs, direct = minima(ours, page, dense, most=50)
    yield Row("penalty solve", size, "page", mine, theirs, f"{gradients['ours']} gradients against {gradients['page']}")
    yield Row("penalty solve", size, "dense Cholesky", mine, direct)


def sampling(large: bool) -> Iterator[Row]:  # noqa: ARG001  # nothing here is large
    """Estimates given all stages, against numpy drawing the normals that they need, into new memory alike."""
    for n, model, pairing in itertools.product((10, 50), ("additive", "matrix"), ("common", "independent")):
        yield _sampling(n, model, pairing)


def _sampling(n: int, model: str, pairing: str) -> Row:
    blocks = 3 if pairing == "independent" else 1 if model == "additive" else 2
    count = 2_000_000 // n
    noise = NOISE | {"model": model}
    problem = parse_problem({"kind": "generated", "family": "paper-experiment", "n": n, "noise": noise})
    y, zero = np.full(n, 0.25), np.zeros(2 * n)
    given = Stages(y_star=y, lam=zero, rho=zero, y_penalty=y + 0.01)
    call, rng = OracleCall(0.1, REPAIRED.choose(noise_pairing=pairing), given=given), np.random.default_rng(0)
    mine, theirs = minima(
        lambda: hypergradient_samples(problem, np.zeros(n), call, rng=rng, replications=count),
        lambda: rng.standard_normal((count, blocks * n)),
        most=30,
    )
    extras = "without extras" if compiled(one_by_one) is None else "with numba"
    note = f"{count / mine / 1e6:.2f} M estimates/s, {extras}"
    return Row(f"sampling: {model}, {pairing}", f"d = {n}", "numpy's normals alone", mine, theirs, note)


def growth(large: bool) -> Iterator[str]:
    """Exponent of an oracle call's time in d over the box family, with its 95 % interval."""
    sizes = [d for d in GROWTH if large or d <= 2000]
    for lower in LOWER:
        seconds = [_one_call(d, lower) for d in sizes]
        fit = scipy.stats.linregress(np.log(sizes), np.log(seconds))
        half = float(scipy.stats.t.ppf(0.975, len(sizes) - 2) * fit.stderr)
        yield (
            f"An oracle call, {lower} lower level, box, d = {sizes[0]} to {sizes[-1]}: time grows like "
            f"d^{fit.slope:.2f}, 95 % interval [{fit.slope - half:.2f}, {fit.slope + half:.2f}]."
        )


def _one_call(d: int, lower: LowerName) -> float:
    parameters, rng = OracleParameters(N_g=N_G, lower_level=lower), np.random.default_rng(0)
    oracle = FastOracle(drawn("paper-experiment", d, None), OracleCall(ALPHA, parameters=parameters))
    return minima(walking(lambda x: oracle(x, rng), d), most=30)[0]


TABLES = {
    "oracle": oracle_calls,
    "lower-level": lower_levels,
    "penalty": penalty_solves,
    "sampling": sampling,
    "certificate": certificates,
    "report": pages,
}


def chosen(names: list[str], known: list[str]) -> list[str]:
    """The tables asked for, by default all that are known.

    Raises:
        InvalidInputError: If there is no such table.
    """
    for name in names:
        if name not in known:
            raise InvalidInputError("TABLE", f"must be one of {', '.join(known)}", name)
    return names or known
