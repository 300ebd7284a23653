"""The functions of the formula language, and what comes out of each for what goes in."""

from __future__ import annotations

from collections.abc import Callable

from spec.formulas.tree import ORDER, ORDERS, ROWS, TRUTH, Shape

Shapes = tuple[Shape, ...]
Signature = Callable[[Shapes], Shape | None]
"""The shape of what comes out; ``None`` if the function does not take these."""

_SPECIAL = (TRUTH, ROWS, ORDER)


def is_vector(shape: Shape) -> bool:
    return len(shape) == 1 and shape not in _SPECIAL


def is_matrix(shape: Shape) -> bool:
    return len(shape) == 2 and TRUTH[0] not in shape


def is_square(shape: Shape) -> bool:
    return is_matrix(shape) and shape[0] == shape[1]


def _of_one(holds: Callable[[Shape], bool], out: Callable[[Shape], Shape] = lambda _: ()) -> Signature:
    return lambda shapes: out(shapes[0]) if len(shapes) == 1 and holds(shapes[0]) else None


def _number_to(out: Shape) -> Signature:
    return lambda shapes: out if shapes == ((),) else None


def _extreme(shapes: Shapes) -> Shape | None:
    numbers = len(shapes) > 1 and not any(shapes)
    return () if numbers or (len(shapes) == 1 and is_vector(shapes[0])) else None


def _solve(shapes: Shapes) -> Shape | None:
    fits = len(shapes) == 2 and is_square(shapes[0]) and shapes[1] and shapes[1][0] == shapes[0][0]
    return shapes[1] if fits and shapes[1] not in _SPECIAL else None


def _beside(shapes: Shapes) -> Shape | None:
    fits = len(shapes) == 2 and all(map(is_matrix, shapes)) and shapes[0][0] == shapes[1][0]
    return (shapes[0][0], f"{shapes[0][1]}+{shapes[1][1]}") if fits else None


def _above(shapes: Shapes) -> Shape | None:
    if len(shapes) != 2 or len(shapes[0]) != len(shapes[1]) or not all(is_vector(s) or is_matrix(s) for s in shapes):
        return None
    return (f"{shapes[0][0]}+{shapes[1][0]}", *shapes[0][1:]) if shapes[0][1:] == shapes[1][1:] else None


def _supremum(shapes: Shapes) -> Shape | None:
    return () if len(shapes) == 2 and shapes[0] == () and is_vector(shapes[1]) else None


SIGNATURES: dict[str, Signature] = {
    "norm": _of_one(lambda s: is_vector(s) or is_matrix(s)),
    "eig_min": _of_one(is_square),
    "eig_max": _of_one(is_square),
    "det": _of_one(is_square),
    "rank": _of_one(is_matrix),
    "row_squares": _of_one(is_matrix, lambda s: s[:1]),
    "sum": _of_one(is_vector),
    "count": _of_one(lambda s: s == ROWS),
    "sqrt": _number_to(()),
    "abs": _number_to(()),
    "ceil": _number_to(()),
    "floor": _number_to(()),
    "min": _extreme,
    "max": _extreme,
    "sup": _supremum,
    "clip": _of_one(is_vector, lambda s: s),
    "inside": _of_one(is_vector, lambda s: s),
    "positive": _of_one(is_vector, lambda s: s),
    "diag": _of_one(is_vector, lambda s: s * 2),
    "solve": _solve,
    "beside": _beside,
    "above": _above,
    "all": _of_one(lambda s: s[1:] == TRUTH, lambda _: TRUTH),
    **{name: _number_to(ORDER) for name in ORDERS},
}
"""``norm`` of a vector is Euclidean, of a matrix spectral; ``clip`` cuts entries to [0, 1], ``positive`` at 0,
``inside`` is 1 for those in (0, 1), else 0; ``row_squares`` of a matrix are the squared lengths of its rows;
``sup(number, e)`` is the largest value over errors e of length at most 1; ``beside`` and ``above`` join blocks;
``all(v >= 0)`` is of each entry."""
