"""The theorem's parameters against those its proof arrives at, as functions of L_F, ε and the radius, in rationals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, lcm

from verify.checks.measuring.case import Case, Measurement, check, compare, values_at
from verify.checks.measuring.finite_laws import ZERO, exactly
from verify.evidence.model import Point
from verify.evidence.rates import fit_rate

RADIUS, EPSILON, GAP = Fraction(1, 4), Fraction(1, 8), Fraction(3)
"""δ_G, ε and C₀ = F(x₀) - inf F where they are held."""
SLOPES = tuple(Fraction(2**k) for k in range(2, 11))
HALVINGS = tuple(Fraction(1, 2**k) for k in range(2, 11))


@dataclass(frozen=True)
class Parameters:
    """D, η, M, K of one text, leading constants 1."""

    D: Fraction
    M: Fraction
    K: Fraction

    @property
    def T(self) -> Fraction:  # noqa: N802  # the paper's letter
        """Outer steps, KM."""
        return self.K * self.M


def of_the_proof(radius: Fraction, epsilon: Fraction, gap: Fraction = GAP) -> Parameters:
    """1/√M = ε, D = δ/M, C₀/(DMK) = ε: solved in the proof's order, in which no L_F occurs."""
    M = 1 / epsilon**2
    D = radius / M
    return Parameters(D, M, gap / (D * M * epsilon))


def repaired(radius: Fraction, epsilon: Fraction, slope: Fraction, gap: Fraction = GAP) -> Parameters:
    """G = L_F: M = ⌈36G²/ε²⌉, D = δ/M, K = ⌈2C₀/(δε)⌉."""
    M = ceil(36 * slope**2 / epsilon**2)
    return Parameters(radius / M, Fraction(M), Fraction(ceil(2 * gap / (radius * epsilon))))


def best_step(D: Fraction, M: Fraction, G: Fraction) -> Fraction:
    """Minimiser of 2D²/η + ηMG²/2, for M a square: where its two parts are equal."""
    root = Fraction(isqrt(M.numerator), isqrt(M.denominator))
    eta = 2 * D / (G * root)
    return eta if 2 * D**2 / eta == eta * M * G**2 / 2 else ZERO


@check("goldstein-convergence/T-from-the-proof", instances=("kink",))
def steps_in_the_slope(case: Case) -> Measurement:
    """T = KM against L_F: from the proof's M and K as written, from the repaired ones."""
    made = {
        slope: of_the_proof(RADIUS, EPSILON) if case.as_written else repaired(RADIUS, EPSILON, slope)
        for slope in SLOPES
    }
    points = [Point(at=float(slope), measured=float(found.T)) for slope, found in made.items()]
    rate = fit_rate(points, quantity="T = KM", variable="L_F")
    return Measurement((rate,), values_at("T at L_F", points[:3]), f"ε = {EPSILON}, δ_G = {RADIUS}, C₀ = {GAP}.")


@check("goldstein-convergence/eta-scaling", instances=("kink",))
def step_size_in_the_slope(case: Case) -> Measurement:
    """The best η at the theorem's D and M = δ/D, G taken as 1 as written and as L_F repaired."""
    points = []
    for slope in SLOPES:
        D = RADIUS * EPSILON**2 / slope**2
        eta = best_step(D, RADIUS / D, Fraction(1) if case.as_written else slope)
        points.append(Point(at=float(slope), measured=float(eta)))
    rate = fit_rate(points, quantity="η that minimises the regret bound", variable="L_F")
    return Measurement((rate,), values_at("η at L_F", points[:3]), "2D²/η + ηMG²/2 is least at η = 2D/(G√M).")


@check("goldstein-convergence/block-count", instances=("kink",))
def block_count(case: Case) -> Measurement:
    """K against ε and against the radius; repaired, also that it is at least 1 however small C₀ is."""
    rates = []
    for name, pairs in (
        ("epsilon", [(RADIUS, e, e) for e in HALVINGS]), ("goldstein_radius", [(r, EPSILON, r) for r in HALVINGS])
    ):  # fmt: skip
        made = [of_the_proof(r, e) if case.as_written else repaired(r, e, Fraction(1)) for r, e, _ in pairs]
        points = [Point(at=float(at), measured=float(found.K)) for found, (*_, at) in zip(made, pairs, strict=True)]
        rates.append(fit_rate(points, quantity="K", variable=name))
    if case.as_written:
        small = of_the_proof(RADIUS, EPSILON, gap=RADIUS * EPSILON / 3)
        return Measurement(tuple(rates), {"K where C₀ = δε/3": str(small.K)})
    least = min(repaired(r, e, Fraction(1), gap=r * e / 3).K for r in HALVINGS for e in HALVINGS)
    return Measurement((*rates, compare("least number of blocks where C₀ = δε/3", float(least), ">=", 1.0)))


@check("goldstein-convergence/whole-steps", instances=("kink",))
def whole_steps(case: Case) -> Measurement:
    """Steps of T that belong to no block: for every T up to 60 and M up to 12 as written, for T = KM repaired."""
    budgets = [(T, M) for M in range(1, 13) for T in (range(M, 61) if case.as_written else range(M, 61, M))]
    left = {(T, M): T - (T // M) * M for T, M in budgets}
    worst = max(left, key=lambda key: left[key])
    found = exactly("largest number of steps outside all blocks", left[worst])
    return Measurement((found,), {"T": float(worst[0]), "M": float(worst[1])})


START = Fraction(1, 2)
"""Where the runs begin, in radii from the kink of |x|."""


@check("goldstein-convergence/theta-epsilon", instances=("kink",))
def distance_of_the_output(case: Case) -> Measurement:  # noqa: ARG001  # every check is given its case
    """Mean distance over the blocks of a run on |x| from within the radius: exact gradients, s_t = 1/2."""
    points = []
    for epsilon in HALVINGS[:3]:
        M, K = ceil(Fraction(9) / epsilon**2), 3
        points.append(Point(at=float(epsilon), measured=float(mean_distance(START * RADIUS, RADIUS / M, M, K))))
    rate = fit_rate(points, quantity="expected distance at the output", variable="epsilon")
    note = "Every block mean keeps within the radius of the kink, where the Goldstein subdifferential holds 0."
    return Measurement((rate,), values_at("distance at ε", points), note)


def mean_distance(start: Fraction, D: Fraction, M: int, K: int) -> Fraction:
    """Share of the K block means further than the radius from 0: there the distance is 1, elsewhere 0."""
    # In whole multiples of a unit that half a step is one of, too.
    unit = Fraction(1, 2 * lcm(start.denominator, D.denominator))
    x, whole, step, outside = int(start / unit), int(D / unit), 0, 0
    for _ in range(K):
        total = 0
        for _ in range(M):
            z = x + step // 2
            x += step
            total += z
            step = max(-whole, min(whole, step - whole * (1 if z >= 0 else -1)))
        outside += abs(total * unit / M) > RADIUS
    return Fraction(outside, K)
