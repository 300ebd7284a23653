"""The letters of counts and sums: steps and calls, batches, noise at right angles, the three-point identity, blocks."""

from __future__ import annotations

from itertools import product

from flint import fmpq

from verify.truth.theorems.library import add, inner, mean, norm, scale, vsum
from verify.truth.theorems.posed_problems import Draft, above, basis
from verify.truth.theorems.statement_values import Values
from verify.truth.theorems.step_places import part, positive, ramps


def vectors(draft: Draft) -> Values:
    """A gradient, a step and a point, and a step size."""
    return {"g": draft["g"], "step": draft["step"], "w": draft["w"], "eta": positive(draft["eta"])}


def cleared(draft: Draft) -> Values:
    """Two multipliers above the ramp's end."""
    values = ramps(draft)
    lam1, lam2 = (values["eps"] * (1 + abs(draft[name])) for name in ("lam", "lam_prime"))
    return values | {"lam1": lam1, "lam2": lam2}


def noise(draft: Draft) -> Values:
    """Noise of independent signs; its draws at right angles by as much as ``apart`` says."""
    count, start, size = 1 + int(12 * abs(draft["M"])) % 3, int(12 * abs(draft["s"])) % 2, positive(draft["size"])
    steps, E = count + start, basis(count + start + 1)
    along = part(draft["apart"])
    outcomes = list(product((-1, 1), repeat=steps))
    rows = [add(scale(along, E[t]), scale(1 - along, E[-1])) for t in range(steps)]
    V = size * size * max(inner(row, row) for row in rows)
    return {
        "noise": lambda t, o: scale(size * o[t], rows[t]), "s": start, "M": count, "P": None, "Vv": V,
        "E": mean(outcomes), "outcomes": outcomes, "naturals": range(steps), "V": E,
    }  # fmt: skip


def block_counts(draft: Draft) -> Values:
    """A whole number of blocks, as few as the theorem takes or one more."""
    C0, radius = positive(draft["C0"]), positive(draft["radius"])
    K = 1 + int(12 * abs(draft["K"])) % 6
    eps = 2 * C0 / (radius * (K - 1 + part(draft["share"]) if K > 1 else positive(draft["share"])))
    return {"C0": C0, "radius": radius, "K": K, "eps": eps}


def eta(draft: Draft) -> Values:
    """The step size of a block as long as the theorem takes, its root a rational."""
    G, eps, radius = (positive(draft[name]) for name in ("G", "eps", "radius"))
    root = 6 * G / eps * (1 + part(draft["more"]) * fmpq(41421, 100000))
    M = root * root
    return {"G": G, "eps": eps, "radius": radius, "M": M, "eta": 2 * (radius / M) / (G * root)}


def calls(draft: Draft) -> Values:
    """Calls of each step, as many as they may be or fewer."""
    T, (radius, eps, p) = 1 + int(12 * abs(draft["T"])) % 4, (positive(draft[name]) for name in ("radius", "eps", "p"))
    b = abs(draft["b"])
    of = [b / p * (1 - part(value) * part(draft["less"])) for value in draft["each"]]
    a = T * radius * eps**3 * (1 + part(draft["more"]))
    return {
        "T": T, "calls": (of * T).__getitem__, "a": a, "b": b, "radius": radius, "eps": eps, "p": p,
        "naturals": range(T),
    }  # fmt: skip


def whole_cost(draft: Draft) -> Values:
    """Steps and a condition number between two constants each."""
    radius, eps = positive(draft["radius"]), positive(draft["eps"])
    low, up = (positive(draft[name]) ** 2 for name in ("a", "c"))
    T, kappa = (1 + part(draft["T"])) * low / (radius * eps**3), (1 + part(draft["kappa"])) * up / eps**2
    return {
        "T": T, "kappa": kappa, "radius": radius, "eps": eps, "a": low, "c": up,
        "b": (1 + part(draft["T"])) * low * (1 + part(draft["more"])),
        "d": (1 + part(draft["kappa"])) * up * (1 + part(draft["more"])),
    }  # fmt: skip


def batch_costs(draft: Draft) -> Values:
    """A batch of the size wanted, rounded up by as much as it may be, or less."""
    alpha, s = positive(draft["alpha"]), abs(draft["s"])
    N = s / (alpha * alpha) + part(draft["share"])
    return {"T": abs(draft["T"]), "t": draft["t"], "N": N, "s": s, "alpha": alpha}


def condition_orders(draft: Draft) -> Values:
    """Constants of a condition number, alpha² at most half of what keeps the Hessian convex."""
    u, mu, Cg, beta = (positive(draft[name]) for name in ("u", "mu", "Cg", "beta"))
    u = u if u <= 1 else 1 / u
    return {
        "u": u, "mu": mu, "Cf": mu / (2 * u) * part(draft["Cf"]), "Cg": Cg, "b": abs(draft["b"]), "beta": beta,
    }  # fmt: skip


def two_estimates(draft: Draft) -> Values:
    """Two estimates within constants times alpha of a gradient."""
    alpha, g = positive(draft["alpha"]), draft["g"]
    off1, off2 = draft["off1"], draft["off2"]
    return {
        "alpha": alpha, "g": g, "e1": add(g, off1), "e2": add(g, off2), "K1": above(norm(off1)) / alpha,
        "K2": above(norm(off2)) / alpha,
    }  # fmt: skip


def attained(draft: Draft) -> Values:
    """An error within K alpha² of what the gradient left makes of it."""
    alpha, ly, K = positive(draft["alpha"]), draft["ly"], abs(draft["K"])
    off = max(fmpq(-1), min(fmpq(1), draft["off"]))
    return {"alpha": alpha, "ly": ly, "K": K, "ytr": ly * alpha, "error": ly * alpha + off * K * alpha * alpha}


def block(draft: Draft) -> Values:
    """Query points of a block, steps as long as they may be."""
    D, count = positive(draft["D"]), 1 + int(12 * abs(draft["M"])) % 7
    x, (a, b) = [draft["x"]], (draft["step"], draft["turn"])
    if not any(a):
        a = basis(len(a))[0]
    a = scale(D / above(norm(a)), a)
    steps = [a if k % 8 or draft["kind"] < 1 else scale(part(b), a) for k in range(8)]
    for step in steps:
        x.append(add(x[-1], step))
    p = int(12 * abs(draft["p"])) % count
    s = [fmpq(1) if k == p else part(draft["s"]) for k in range(8)]
    z = [add(at, scale(share, step)) for at, share, step in zip(x, s, steps, strict=False)]
    middle = scale(fmpq(1, count), vsum(count, z.__getitem__))
    return {
        "D": D, "M": count, "p": p, "t": 0, "mean": middle, "V": basis(len(a)), "naturals": range(count),
        "x": x.__getitem__, "step": steps.__getitem__, "z": z.__getitem__, "s": s.__getitem__,
    }  # fmt: skip
