"""The words of the statements: vectors, sums, clipping, expectation, and derivatives of polynomials.

Numbers are rationals or balls; vectors tuples of them. An expectation is the mean over finitely many outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, TypeAlias

from flint import arb, fmpq

Point: TypeAlias = tuple[Any, ...]


class Coords(tuple[Any, ...]):
    """Finitely many components, each asked for by its index as the kernel does."""

    __slots__ = ()

    def __call__(self, i: int) -> Any:
        return self[i]


_STEPS = (fmpq(1), fmpq(1, 3))
_STENCIL = ((-2, fmpq(1, 12)), (-1, fmpq(-2, 3)), (1, fmpq(2, 3)), (2, fmpq(-1, 12)))


def divided(up: Any, down: Any) -> Any:
    """A quotient, of integers too; 0 where the divisor is 0, as the kernel has it. Refused where a ball holds 0."""
    up, down = (fmpq(value) if isinstance(value, int) else value for value in (up, down))
    if not isinstance(down, arb):
        return up / down if down else fmpq(0)
    if down.contains(0):
        raise ArithmeticError("divided by a ball around 0")
    return up / down


def sqrt(value: Any) -> Any:
    """A square root, rational where there is one; 0 of a negative number, as the kernel has it."""
    if not isinstance(value, arb):
        value = fmpq(value)
        if value < 0:
            return fmpq(0)
        up, down = value.p.isqrt(), value.q.isqrt()
        return fmpq(up, down) if up * up == value.p and down * down == value.q else arb(value).sqrt()
    if not value >= 0 and not value < 0:
        return arb(0).union(value.upper().sqrt())  # a square within rounding of 0
    return value.sqrt() if value >= 0 else fmpq(0)


def same(left: Any, right: Any) -> bool:
    """Whether two numbers or vectors are equal, as far as balls can tell."""
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, arb) or isinstance(right, arb):
        return bool(arb(left).overlaps(arb(right)))
    return bool(left == right)


def inner(v: Point, w: Point) -> Any:
    return sum((a * b for a, b in zip(v, w, strict=True)), fmpq(0))


def norm(v: Point) -> Any:
    return sqrt(inner(v, v))


def add(v: Point, w: Point) -> Point:
    return tuple(a + b for a, b in zip(v, w, strict=True))


def scale(by: Any, v: Point) -> Point:
    return tuple(by * a for a in v)


def sub(v: Point, w: Point, i: int | None = None) -> Any:
    """A difference, or one component of it."""
    difference = tuple(a - b for a, b in zip(v, w, strict=True))
    return difference if i is None else difference[i]


def weigh(rho: Point, v: Point) -> Point:
    """Weights times components."""
    return tuple(a * b for a, b in zip(rho, v, strict=True))


def total(count: int, of: Callable[[int], Any]) -> Any:
    return sum((of(k) for k in range(count)), fmpq(0))


def vsum(count: int, of: Callable[[int], Point]) -> Point:
    vector = scale(fmpq(0), of(0))
    for k in range(count):
        vector = add(vector, of(k))
    return vector


def clip(_space: Any, most: Any, v: Point) -> Point:
    length = norm(v)
    return scale(divided(most, length), v) if length > most else v


def sigma_h(width: Any, z: Any) -> Any:
    return fmpq(1) if z >= 0 else fmpq(0) if z < -width else divided(width + z, width)


def slope(of: Callable[[Any], Any], x: Any) -> Any:
    """The derivative of a polynomial of degree four: a difference of five points, at two steps that have to agree."""
    quotients = [sum((weight * of(x + at * step) for at, weight in _STENCIL), fmpq(0)) / step for step in _STEPS]
    if not same(quotients[0], quotients[1]):
        raise ArithmeticError("no polynomial of degree four")
    return quotients[0]


def every(of: Callable[..., bool], *ranges: Iterable[Any]) -> bool:
    return all(of(*chosen) for chosen in product(*ranges))


def mean(outcomes: Sequence[Any]) -> Callable[[Callable[[Any], Any]], Any]:
    """Expectation over equally likely outcomes."""
    return lambda of: sum((of(o) for o in outcomes), fmpq(0)) / len(outcomes)


LIBRARY: dict[str, Any] = {
    "divided": divided, "sqrt": sqrt, "inner": inner, "norm": norm, "add": add, "scale": scale, "sub": sub,
    "weigh": weigh, "solvable": False,
    "sum": total, "vsum": vsum, "clip": clip, "sigma_h": sigma_h, "slope": slope, "every": every, "same": same,
    "INR": fmpq, "S": lambda k: k + 1, "Rabs": lambda a: -a if a < 0 else a, "Rmin": min, "Rmax": max,
    "derivable_pt_lim": lambda of, x, d: same(slope(of, x), d), "ok": lambda _: True,
    "V": None, "X": None, "W": None,
}  # fmt: skip
"""Every word by its name; ``E`` comes with the outcomes of a place."""
