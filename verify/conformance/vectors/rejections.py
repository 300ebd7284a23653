"""Bad input: what every implementation must refuse instead of computing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from spec import REPAIRED, Noise
from spec.atlas import find
from verify.conformance.places import Place, place_of, rounded, with_noise
from verify.conformance.vectors.model import Parameters, Rejection, StageName, TestVector
from verify.conformance.vectors.writing import dense_blocks, number, numbers, stage_parameters
from verify.truth.algebra.rationals import Vector

Case = tuple[str, Callable[[], TestVector]]


def _bad(id_: str, breaks: tuple[str, str], notes: str, place: Place | None = None, **change: Any) -> Case:
    """A case: the argument that is wrong and the rule it breaks; where; and what is not as it is there."""

    def vector() -> TestVector:
        stage, fields = _STAGES[id_.partition("/")[0]], dict(change)
        if place is None:
            fields.setdefault("parameters", Parameters(h_width=0.5, lam_width=0.5))
        else:
            fields["x"] = numbers(change.get("x", place.x))
            fields["blocks"] = None if "problem" in change else dense_blocks(place.problem)
            fields.setdefault("problem", place.problem.to_dict())
            if stage != "lower_level":
                alpha = Fraction(str(change.get("alpha", "1/10")))
                derived = stage_parameters(place.setting(alpha=alpha)) if alpha > 0 else Parameters()
                stop = {"gradient_norm": 2.0**-30} if stage == "penalty_minimiser" else {}
                fields |= {"alpha": number(alpha), "reading": REPAIRED, "parameters": derived.model_copy(update=stop)}
        fields["given"] = {name: numbers(rounded(values)) for name, values in sorted(change.get("given", {}).items())}
        rejection = Rejection(argument=breaks[0], rule=breaks[1])
        return TestVector(id=f"rejects/{id_}", stage=stage, flags=("bad-input",), notes=notes, rejects=rejection,
                          **fields)  # fmt: skip

    return f"rejects/{id_}", vector


_STAGES: dict[str, StageName] = {
    "lower-level": "lower_level", "activation": "activation", "penalty-minimiser": "penalty_minimiser",
    "hypergradient": "hypergradient",
}  # fmt: skip


def rejections() -> Iterator[Case]:
    """Lower levels without a point, points and stages of the wrong shape, numbers out of range, bad problems."""
    yield from (*_infeasible(), *_shapes(), *_ranges(), *_problems())


def _infeasible() -> Iterator[Case]:
    found = find("infeasible")
    problem: Any = found.problem
    empty, rule = Place("infeasible", problem, tuple(found.x)), ("x", "must leave the lower level feasible")
    strata = ("infeasible",)
    yield _bad("lower-level/infeasible", rule, "Rows ask for y >= 1 and y <= -1 at once.", empty, strata=strata)
    yield _bad("hypergradient/infeasible", rule, "Nothing given: the oracle meets the empty lower level itself.",
               empty, strata=strata)  # fmt: skip
    toy = place_of("toy1")
    empty_row = toy.problem.to_dict() | {"constraints": {"A": [[1]], "B": [[0]], "b": [0]}}
    yield _bad("lower-level/row-without-y", rule, "The only row reads x <= 0 and x is 1: no y can help.", toy,
               strata=strata, problem=empty_row)  # fmt: skip


def _shapes() -> Iterator[Case]:
    where = place_of("two-of-three")
    for stage in ("lower-level", "hypergradient"):
        for label, notes, x in (("short", "One", where.x[:-1]), ("long", "Three", (*where.x, Fraction(0)))):
            yield _bad(f"{stage}/x-too-{label}", ("x", "must have length 2"),
                       f"{notes} entr{'y' if notes == 'One' else 'ies'}.", where, x=x)  # fmt: skip
    stages = _stages(where)
    for name in ("y_star", "lam", "rho", "y_penalty"):
        cut = stages | {name: stages[name][:-1]}
        yield _bad(f"hypergradient/{name.replace('_', '-')}-too-short",
                   (f"given.{name}", f"must have length {len(stages[name])}"), "One entry is missing.", where,
                   given=cut)  # fmt: skip
    cut = {"y_star": stages["y_star"], "lam": stages["lam"][:-1], "rho": stages["rho"]}
    yield _bad("penalty-minimiser/lam-too-short", ("given.lam", "must have length 3"), "One multiplier is missing.",
               where, given=cut)  # fmt: skip
    pair = {"h": (Fraction(0), Fraction(0)), "lam": (Fraction(1),)}
    yield _bad("activation/lengths-differ", ("lam", "must have the length of h"), "Two rows, one multiplier.",
               given=pair)  # fmt: skip
    noise = Noise.model_validate({"model": "additive", "sigma_f": "1/10", "sigma_g": "1/10"})
    noisy = Place(where.name, with_noise(where.problem, noise), where.x)
    yield _bad("hypergradient/draws-too-narrow", ("draws.f_x", "must have shape (1, 2)"),
               "One normal where two are used.", noisy, given=stages, draws={"f_x": [[0.5]]})  # fmt: skip


def _ranges() -> Iterator[Case]:
    where = place_of("toy1")
    stages = _stages(where)
    three = {name: stages[name] for name in ("y_star", "lam", "rho")}
    for label, alpha in (("zero", 0.0), ("negative", -0.1)):
        for stage, given in (("hypergradient", {}), ("penalty-minimiser", {"given": three})):
            yield _bad(f"{stage}/alpha-{label}", ("alpha", "must be > 0"),
                       "alpha_1 and alpha_2 are its negative powers.", where, alpha=alpha, **given)  # fmt: skip
    ramp = {"h": (Fraction(0),), "lam": (Fraction(1),)}
    for name in ("h_width", "lam_width"):
        for label, width in (("zero", 0.0), ("negative", -0.5)):
            widths = Parameters(h_width=0.5, lam_width=0.5).model_copy(update={name: width})
            yield _bad(f"activation/{name.replace('_', '-')}-{label}", (name, "must be > 0"), "A ramp has a width.",
                       given=ramp, parameters=widths)  # fmt: skip
    yield _bad("penalty-minimiser/rho-negative", ("given.rho", "must be >= 0"),
               "A negative weight pushes out of the feasible set.", where,
               given=three | {"rho": (Fraction(-1),)})  # fmt: skip
    flat = {"y_star": (Fraction(-1),), "lam": (Fraction(0),), "rho": (Fraction(0),)}
    yield _bad("penalty-minimiser/not-convex", ("alpha", "must leave the penalty Lagrangian strictly convex in y"),
               "alpha = 2 meets the hypothesis as written, where the penalty Lagrangian is concave.",
               place_of("concave-upper"), given=flat, alpha=2.0)  # fmt: skip


def _problems() -> Iterator[Case]:
    where = place_of("two-of-three")
    data = where.problem.to_dict()
    g, rows = data["g"], data["constraints"]
    ragged = [rows["B"][0], rows["B"][1][:-1], rows["B"][2]]
    for label, argument, rule, notes, change in (
        ("g-indefinite", "g.yy", "must be positive definite", "Eigenvalues -1, 1, 3.",
         {"g": g | {"yy": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}}),
        ("g-asymmetric", "g.yy", "must be symmetric", "Entries (0,1) and (1,0) differ; which one is meant?",
         {"g": g | {"yy": [[3, 1, 0], [0, 2, 0], [0, 0, 2]]}}),
        ("b-too-short", "constraints.b", "must have length 3", "Three rows, two right-hand sides.",
         {"constraints": rows | {"b": rows["b"][:-1]}}),
        ("b-ragged", "constraints.B", "rows must be of one length", "The second row is short.",
         {"constraints": rows | {"B": ragged}}),
        ("entry-not-a-number", "g.y", "must hold numbers", "A word where a number belongs.",
         {"g": g | {"y": [2, "one", -1]}}),
    ):  # fmt: skip
        yield _bad(f"lower-level/{label}", (f"problem.{argument}", rule), notes, where, problem=data | change)


def _stages(where: Place) -> dict[str, Vector]:
    lower = where.lower
    rho = tuple(Fraction(int(value > 0)) for value in lower.lam)
    return {"y_star": lower.y_star, "lam": lower.lam, "rho": rho, "y_penalty": lower.y_star}
