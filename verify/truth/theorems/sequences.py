"""Plain vectors, sequences of Algorithm 2 and finite probability spaces: the letters of sections 12 and 13.

A draft gives directions and sizes; what the premises tie together is made from it.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from flint import fmpq

from verify.truth.theorems.library import Point, add, clip, inner, mean, norm, scale, sub, vsum
from verify.truth.theorems.posed_problems import Draft, above, basis, outward
from verify.truth.theorems.statement_values import Values


def vectors(draft: Draft) -> Values:
    """Two vectors, three of a common draw, and constants that bound them."""
    v, w, u = draft["v"], draft["w"], abs(draft["u"])
    gap = above(norm(sub(v, w)))
    distance = abs(draft["distance"])
    return {
        "v": v, "w": w, "ef": draft["ef"], "e1": v, "e2": w, "u": u, "distance": distance, "l": gap / distance,
        "V": tuple(basis(len(v))),
    }  # fmt: skip


def orthogonal(draft: Draft) -> Values:
    """Vectors at right angles: independent draws, and a bias beside noise."""
    a, b = abs(draft["a"]), abs(draft["b"])
    e = basis(4)
    count, s = 1 + int(abs(draft["count"])) % 4, draft["s"] * draft["s"]
    grad, bias = scale(draft["a"], e[1]), add(scale(draft["b"], e[1]), scale(draft["d"], e[2]))
    return {
        "ef": scale(a, e[0]), "e1": scale(b, e[1]), "e2": scale(b, e[2]), "u": abs(draft["u"]),
        "sf": a * a, "sg": b * b, "e": [scale(draft["s"], v) for v in e], "N": count, "s": s,
        "naturals": range(count), "V": tuple(e),
        "noise": scale(draft["s"], e[0]), "bias": bias, "grad": grad, "L": a,
        "beta": above(norm(bias)), "Vv": s,
    }  # fmt: skip


def listed(letters: Values) -> Values:
    """Sequences as functions of their index."""
    return {name: (value.__getitem__ if isinstance(value, list) else value) for name, value in letters.items()}


def orthogonal_listed(draft: Draft) -> Values:
    return listed(orthogonal(draft))


def run(draft: Draft) -> Values:
    """Steps of Algorithm 2 on any gradients: blocks, clipping, and query points on the way."""
    D, eta = abs(draft["D"]), abs(draft["eta"])
    start, (grad, bias, noise) = draft["start"], (list(draft[name]) for name in ("grad", "bias", "noise"))
    if norm(start) > D:
        start = scale(D / above(norm(start)), start)
    if draft["fraction"]:
        start = scale(D / above(norm(draft["start"])), draft["start"]) if any(draft["start"]) else start
    g = [add(add(a, b), c) for a, b, c in zip(grad, bias, noise, strict=True)]
    steps, x = [start], [draft["x"]]
    for value in g:
        x.append(add(x[-1], steps[-1]))
        steps.append(clip(None, D, sub(steps[-1], scale(eta, value))))
    s = [min(fmpq(1), abs(value)) for value in draft["parts"]]
    z = [add(at, scale(part, step)) for at, part, step in zip(x, s, steps, strict=False)]
    w = draft["w"]
    if norm(w) > D:
        w = scale(D / above(norm(w)), w)
    count = len(g)
    block = vsum(count, lambda m: grad[m])
    length = norm(block)
    witness = scale(-D / length, block) if length > 0 else scale(fmpq(0), block)
    shared = {
        "D": D, "eta": eta, "g": g, "step": steps, "w": w, "beta": max(above(norm(value)) for value in bias),
        "grad": grad, "bias": bias, "noise": noise, "M": count, "naturals": range(count), "V": tuple(basis(len(start))),
        "x": x, "z": z, "t": 0, "k": count - 1, "v": draft["start"],
    }  # fmt: skip
    return listed(shared) | {"witness": lambda _: {"w": witness}, "vector": block, "parts": s.__getitem__}


def run_block(draft: Draft) -> Values:
    """A block that starts at the second step, where there are two."""
    values = run(draft)
    return values | ({"s": 1, "M": values["M"] - 1} if values["M"] > 1 else {"s": 0})


def run_with_parts(draft: Draft) -> Values:
    values = run(draft)
    return values | {"s": values["parts"], "naturals": range(values["k"] + 1)}


def run_reference(draft: Draft) -> Values:
    values = run(draft)
    return values | {"s": values["vector"]}


def chances(draft: Draft) -> Values:
    """Algorithm 2 on the line, its noise one of two signs a step, every outcome followed.

    ``slope`` is the gradient of a linear F; ``mixed`` is how much of the noise F's own gradients take back; ``tied``
    lets all steps share their noise, or the first step depend on it, which the premises forbid.
    """
    tied = int(12 * abs(draft.get("tied", fmpq(0)))) % 4
    D, eta, count, blocks = abs(draft["D"]), abs(draft["eta"]), 1 + int(draft["M"]) % 3, 1 + int(draft["K"]) % 2
    size, bias, slope, mixed = draft["size"], draft["bias"], draft["slope"], draft["mixed"]
    steps = count * blocks
    outcomes = list(product((-1, 1), repeat=steps)) if size else [(1,) * steps]
    rows: dict[str, dict[Any, list[Point]]] = {name: {} for name in ("step", "grad", "g", "noise", "bias")}
    start = max(-D, min(D, draft["start"]))
    for o in outcomes:
        noise = [(size * (o[0] if tied == 2 else sign),) for sign in o]
        grad = [(slope - mixed * a[0],) for a in noise]
        g = [(a[0] + bias + b[0],) for a, b in zip(grad, noise, strict=True)]
        step = [(start * (o[0] if tied == 3 else 1),)]
        for value in g:
            step.append(clip(None, D, sub(step[-1], scale(eta, value))))
        for name, row in (("step", step), ("grad", grad), ("g", g), ("noise", noise), ("bias", [(bias,)] * steps)):
            rows[name][o] = row
    E = mean(outcomes)
    EF = [draft["F"]]
    for t in range(steps):
        EF.append(EF[-1] + _product(rows["grad"], rows["step"], t, E))
    moment = max(_product(rows["g"], rows["g"], t, E) for t in range(steps))
    G = outward(float(moment) ** 0.5, 1)
    floor = fmpq(1, 10**6)
    return {
        name: (lambda t, o, row=row: row[o][t]) for name, row in rows.items()
    } | {
        "D": D, "eta": eta, "beta": abs(bias), "G": G + floor, "Vv": size * size + floor, "M": count,
        "K": blocks, "E": E, "P": None, "V": basis(1),
        "EF": EF.__getitem__, "outcomes": outcomes, "naturals": range(steps), "s": count * (blocks - 1),
    }  # fmt: skip


def _product(left: dict[Any, list[Point]], right: dict[Any, list[Point]], t: int, E: Any) -> fmpq:
    """Mean of an inner product at a step."""
    expectation: fmpq = E(lambda o: inner(left[o][t], right[o][t]))
    return expectation


def horizon(draft: Draft) -> Values:
    """The same with the theorem's parameters for a wanted accuracy, noise-free: long blocks."""
    root, blocks = 1 + int(12 * abs(draft["M"])) % 7, 1 + int(abs(draft["K"])) % 3
    radius, slope, bias, count = abs(draft["radius"]), draft["slope"], draft["bias"], root * root
    G = abs(slope + bias) + abs(draft["slack"])
    D = radius / count
    eta = 2 * D / (G * root)
    there = chances({**draft, "D": D, "eta": eta, "M": 0, "K": 0, "size": fmpq(0)})
    steps = count * blocks
    step = [(max(-D, min(D, draft["start"] * D)),)]
    g = (slope + bias,)
    EF = [fmpq(0)]
    for _ in range(steps):
        EF.append(EF[-1] + slope * step[-1][0])
        step.append(clip(None, D, sub(step[-1], scale(eta, g))))
    fall = max(EF[0] - EF[-1], fmpq(0))
    eps = max(6 * G / root, 2 * fall / (radius * blocks))
    return there | {
        "step": lambda t, _: step[t], "g": lambda *_: g, "grad": lambda *_: (slope,), "bias": lambda *_: (bias,),
        "noise": lambda *_: (fmpq(0),), "M": count, "K": blocks, "EF": EF.__getitem__, "G": G, "Vv": G * G / 10**6,
        "C0": fall, "eps": eps, "radius": radius, "naturals": range(steps), "D": D, "eta": eta, "beta": abs(bias),
    }  # fmt: skip


def climb_and_fall(draft: Draft) -> Values:
    """Blocks on which the bias just undoes the gradient, so that F is climbed, and a last one that takes it all back.

    There the mean gradient is well above beta, as far as twice beta where one block in many is the last.
    """
    root, blocks = 20 + int(abs(draft["M"])) % 3, 3 + int(abs(draft["K"])) % 2
    beta, radius, count = abs(draft["beta"]), abs(draft["radius"]), root * root
    G, D, steps = beta * (blocks - 2), radius / count, count * blocks
    slopes = [beta] * (count * (blocks - 1)) + [-beta * (blocks - 1)] * count
    bias = [-beta] * (count * (blocks - 1)) + [beta] * count
    EF = [fmpq(0)]
    for slope in slopes:
        EF.append(EF[-1] + slope * D)
    there = chances(dict.fromkeys(("M", "K", "size", "bias", "slope", "mixed", "start", "F"), fmpq(0)) | {
        "D": D, "eta": fmpq(1),
    })  # fmt: skip
    return there | {
        "step": lambda *_: (D,), "grad": lambda t, _: (slopes[t],), "bias": lambda t, _: (bias[t],),
        "g": lambda t, _: (slopes[t] + bias[t],), "noise": lambda *_: (fmpq(0),), "M": count, "K": blocks,
        "EF": EF.__getitem__, "G": G, "Vv": G * G / 10**6, "C0": fmpq(0), "eps": 6 * G / root, "radius": radius,
        "D": D, "eta": 2 * D / (G * root), "beta": beta,
        "naturals": [*range(4), *(k * count + j for k in range(1, blocks) for j in (-1, 0, 1)), steps - 1],
    }  # fmt: skip


def parameters(draft: Draft) -> Values:
    """The theorem's parameters: as few steps as it allows, times what the draft adds."""
    G, radius, eps = (abs(draft[name]) for name in ("G", "radius", "eps"))
    root = 6 * G / eps * (1 + abs(draft["more_M"]))
    count, C0 = root * root, abs(draft["C0"])
    K = 2 * C0 / (radius * eps) * (1 + abs(draft["more_K"])) or fmpq(1)
    D = radius / count
    return {
        "G": G, "Vv": G * G * min(fmpq(1), abs(draft["part"])), "eps": eps, "C0": C0, "radius": radius,
        "beta": abs(draft["beta"]), "D": D, "eta": 2 * D / (G * root), "M": count, "K": K,
    }  # fmt: skip
