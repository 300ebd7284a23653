"""Bad input: what every implementation must refuse instead of computing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from spec import REPAIRED, Noise
from spec.atlas import find
from verify.conformance.places import Place, place_of, with_noise
from verify.conformance.vectors.decimals import number, numbers
from verify.conformance.vectors.model import Numbers, Parameters, Rejection, TestVector
from verify.conformance.vectors.writing import dense_blocks, stage_parameters
from verify.truth.algebra.rationals import Vector

Change = dict[str, Any]


def rejections() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    """Lower levels without a point, points and stages of the wrong shape, numbers out of range, bad problems."""
    yield from (*_infeasible(), *_shapes(), *_ranges(), *_problems())


def _infeasible() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    found = find("infeasible")
    problem: Any = found.problem
    bad = Place("infeasible", problem, tuple(found.x), "two rows that no y satisfies")
    rule = "must leave the lower level feasible"
    yield _rejected("lower-level/infeasible", "lower_level", bad, "x", rule, "Rows ask for y >= 1 and y <= -1 at once.")
    yield _rejected("hypergradient/infeasible", "hypergradient", bad, "x", rule,
                    "Nothing given: the oracle meets the empty lower level itself.")  # fmt: skip
    toy = place_of("toy1")
    empty_row = toy.problem.to_dict() | {"constraints": {"A": [[1]], "B": [[0]], "b": [0]}}
    yield _rejected("lower-level/row-without-y", "lower_level", toy, "x", rule,
                    "The only row reads x <= 0 and x is 1: no y can help.", problem=empty_row)  # fmt: skip


def _shapes() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    where = place_of("two-of-three")
    short, long = where.x[:-1], (*where.x, Fraction(0))
    for stage, prefix in (("lower_level", "lower-level"), ("hypergradient", "hypergradient")):
        yield _rejected(f"{prefix}/x-too-short", stage, where, "x", "must have length 2", "One entry.", x=short)
        yield _rejected(f"{prefix}/x-too-long", stage, where, "x", "must have length 2", "Three entries.", x=long)
    stages = _stages(where)
    for name in ("y_star", "lam", "rho", "y_penalty"):
        cut = stages | {name: stages[name][:-1]}
        yield _rejected(f"hypergradient/{name.replace('_', '-')}-too-short", "hypergradient", where, f"given.{name}",
                        f"must have length {len(stages[name])}", "One entry is missing.", given=cut)  # fmt: skip
    cut = {"y_star": stages["y_star"], "lam": stages["lam"][:-1], "rho": stages["rho"]}
    yield _rejected("penalty-minimiser/lam-too-short", "penalty_minimiser", where, "given.lam", "must have length 3",
                    "One multiplier is missing.", given=cut)  # fmt: skip
    pair = {"h": (Fraction(0), Fraction(0)), "lam": (Fraction(1),)}
    yield _rejected("activation/lengths-differ", "activation", None, "lam", "must have the length of h",
                    "Two rows, one multiplier.", given=pair)  # fmt: skip
    noise = Noise.model_validate({"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"})
    noisy = Place(where.name, with_noise(where.problem, noise), where.x, where.purpose)
    narrow = {"f_x": [[0.5]]}
    yield _rejected("hypergradient/draws-too-narrow", "hypergradient", noisy, "draws.f_x", "must have shape (1, 2)",
                    "One normal where two are used.", given=stages, draws=narrow)  # fmt: skip


def _ranges() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    where = place_of("toy1")
    stages = _stages(where)
    three = {name: stages[name] for name in ("y_star", "lam", "rho")}
    for label, alpha in (("zero", 0.0), ("negative", -0.1)):
        yield _rejected(f"hypergradient/alpha-{label}", "hypergradient", where, "alpha", "must be > 0",
                        "alpha_1 and alpha_2 are its negative powers.", alpha=alpha)  # fmt: skip
        yield _rejected(f"penalty-minimiser/alpha-{label}", "penalty_minimiser", where, "alpha", "must be > 0",
                        "alpha_1 and alpha_2 are its negative powers.", alpha=alpha, given=three)  # fmt: skip
    ramp = {"h": (Fraction(0),), "lam": (Fraction(1),)}
    for name in ("h_width", "lam_width"):
        for label, width in (("zero", 0.0), ("negative", -0.5)):
            widths = Parameters(h_width=0.5, lam_width=0.5).model_copy(update={name: width})
            yield _rejected(f"activation/{name.replace('_', '-')}-{label}", "activation", None, name, "must be > 0",
                            "A ramp has a width.", given=ramp, parameters=widths)  # fmt: skip
    negative = three | {"rho": (Fraction(-1),)}
    yield _rejected("penalty-minimiser/rho-negative", "penalty_minimiser", where, "given.rho", "must be >= 0",
                    "A negative weight pushes out of the feasible set.", given=negative)  # fmt: skip
    hollow = place_of("concave-upper")
    flat = {"y_star": (Fraction(-1),), "lam": (Fraction(0),), "rho": (Fraction(0),)}
    yield _rejected("penalty-minimiser/not-convex", "penalty_minimiser", hollow, "alpha",
                    "must leave the penalty Lagrangian strictly convex in y",
                    "alpha = 2 meets the hypothesis as written, where the penalty Lagrangian is concave.",
                    given=flat, alpha=2.0)  # fmt: skip


def _problems() -> Iterator[tuple[str, Callable[[], TestVector]]]:
    where = place_of("two-of-three")
    data = where.problem.to_dict()
    g, rows = data["g"], data["constraints"]
    indefinite = data | {"g": g | {"yy": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}}
    yield _rejected("lower-level/g-indefinite", "lower_level", where, "problem.g.yy", "must be positive definite",
                    "Eigenvalues -1, 1, 3.", problem=indefinite)  # fmt: skip
    asymmetric = data | {"g": g | {"yy": [[3, 1, 0], [0, 2, 0], [0, 0, 2]]}}
    yield _rejected("lower-level/g-asymmetric", "lower_level", where, "problem.g.yy", "must be symmetric",
                    "Entries (0,1) and (1,0) differ; which one is meant?", problem=asymmetric)  # fmt: skip
    misfit = data | {"constraints": rows | {"b": rows["b"][:-1]}}
    yield _rejected("lower-level/b-too-short", "lower_level", where, "problem.constraints.b", "must have length 3",
                    "Three rows, two right-hand sides.", problem=misfit)  # fmt: skip
    ragged = data | {"constraints": rows | {"B": [rows["B"][0], rows["B"][1][:-1], rows["B"][2]]}}
    yield _rejected("lower-level/b-ragged", "lower_level", where, "problem.constraints.B", "rows must be of one length",
                    "The second row is short.", problem=ragged)  # fmt: skip
    worded = data | {"g": g | {"y": [2, "one", -1]}}
    yield _rejected("lower-level/entry-not-a-number", "lower_level", where, "problem.g.y", "must hold numbers",
                    "A word where a number belongs.", problem=worded)  # fmt: skip


def _stages(where: Place) -> dict[str, Vector]:
    lower = where.setting().lower
    rho = tuple(Fraction(int(value > 0)) for value in lower.lam)
    return {"y_star": lower.y_star, "lam": lower.lam, "rho": rho, "y_penalty": lower.y_star}


def _rejected(
    id_: str,
    stage: str,
    where: Place | None,
    argument: str,
    rule: str,
    notes: str,
    *,
    problem: Change | None = None,
    x: Vector | None = None,
    alpha: float | None = None,
    given: Mapping[str, Vector] | None = None,
    draws: Change | None = None,
    parameters: Parameters | None = None,
) -> tuple[str, Callable[[], TestVector]]:
    full = f"rejects/{id_}"

    def make() -> TestVector:
        made: dict[str, Any] = {"id": full, "stage": stage, "flags": ("bad-input",), "notes": notes}
        made["rejects"] = Rejection(argument=argument, rule=rule)
        made["given"] = {name: _numbers(values) for name, values in sorted((given or {}).items())}
        made["parameters"] = parameters or (Parameters(h_width=0.5, lam_width=0.5) if where is None else Parameters())
        if where is not None:
            made["problem"] = problem or where.problem.to_dict()
            made["strata"] = ("infeasible",) if "infeasible" in id_ or "row-without" in id_ else ()
            made["blocks"] = dense_blocks(where.problem) if problem is None else None
            made["x"] = numbers(where.x if x is None else x)
            made["draws"] = draws or {}
            if stage != "lower_level":
                chosen = Fraction(1, 10) if alpha is None else Fraction(str(alpha))
                made["alpha"], made["reading"] = number(chosen), REPAIRED
                if chosen > 0:
                    made["parameters"] = stage_parameters(where.setting(alpha=chosen))
                if stage == "penalty_minimiser":
                    made["parameters"] = made["parameters"].model_copy(update={"gradient_norm": 2.0**-30})
        return TestVector.model_validate(made)

    return full, make


def _numbers(values: Vector) -> Numbers:
    return numbers(Fraction(float(value)) for value in values)
