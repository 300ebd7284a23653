"""Hypothesis strategies: exact numbers in every spelling, problems, points, and files that are nearly problems."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any, NamedTuple

from hypothesis import strategies as st

from spec import Quadratic, parse_problem


class Spelling(NamedTuple):
    """One way to write a number in a JSON file, and the number it means."""

    token: str
    value: Fraction


_SMALL = st.integers(-(10**6), 10**6)


def _integer(value: int) -> st.SearchStrategy[Spelling]:
    plain = [str(value), f"{value}.0", f"{value}.000", f"{value}e0", f"{value}E+0", f'"{value}"', f'" {value} "',
             f'"{value}/1"', f'"{3 * value}/3"', f'"{value}."']  # fmt: skip
    if value >= 0:
        plain += [f'"+{value}"', f'"0{value}"']
    if value == 0:
        plain += ["-0", "-0.0", "0e5", "0.0E-7", '"-0/5"', '"+.0"']
    if value % 100 == 0:
        plain += [f"{value // 100}e2", f"{value // 100}.0e+02"]
    return st.sampled_from(plain).map(lambda token: Spelling(token, Fraction(value)))


def _decimal(digits: int, places: int) -> st.SearchStrategy[Spelling]:
    value = Fraction(digits, 10**places)
    sign, body = ("-" if digits < 0 else ""), str(abs(digits)).rjust(places + 1, "0")
    point = f"{sign}{body[:-places]}.{body[-places:]}"
    forms = [
        point,
        f"{point}00",
        f"{digits}e-{places}",
        f"{digits}.0E-{places:02d}",
        f'"{point}"',
        f'"{digits}e-{places}"',
    ]
    if body[:-places] == "0":
        forms.append(f'"{sign}.{body[-places:]}"')
    return st.sampled_from(forms).map(lambda token: Spelling(token, value))


def _ratio(numerator: int, denominator: int, factor: int) -> Spelling:
    return Spelling(f'"{factor * numerator}/{factor * denominator}"', Fraction(numerator, denominator))


def spellings() -> st.SearchStrategy[Spelling]:
    """A number with one of its spellings: integers, decimals, ratios, reduced or not, signed zeros, exponents."""
    return st.one_of(
        st.one_of(st.just(0), st.integers(-9, 9).map(lambda k: 100 * k), _SMALL).flatmap(_integer),
        st.tuples(_SMALL, st.integers(1, 12)).flatmap(lambda drawn: _decimal(*drawn)),
        st.builds(_ratio, _SMALL, st.integers(1, 10**4), st.integers(1, 6)),
    )


def fractions(size: int = 9) -> st.SearchStrategy[Fraction]:
    """Small rationals."""
    return st.builds(Fraction, st.integers(-size, size), st.integers(1, 6))


def matrices(rows: int, columns: int, entries: st.SearchStrategy[Any] | None = None) -> st.SearchStrategy[list[Any]]:
    """Nested lists of a fixed shape."""
    row = st.lists(fractions() if entries is None else entries, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


def symmetric(drawn: list[list[Fraction]]) -> list[list[Fraction]]:
    """M + Mᵀ."""
    return [[drawn[i][j] + drawn[j][i] for j in range(len(drawn))] for i in range(len(drawn))]


def definite(drawn: list[list[Fraction]]) -> list[list[Fraction]]:
    """M Mᵀ + I."""
    size = range(len(drawn))
    return [[sum((drawn[i][k] * drawn[j][k] for k in size), Fraction(i == j)) for j in size] for i in size]


@st.composite
def quadratic_data(draw: st.DrawFn, most: int = 3) -> dict[str, Any]:
    """Plain data of a valid quadratic problem, entries as fractions; some blocks left out."""
    n, m, p = (draw(st.integers(1, most)) for _ in range(3))
    vector = {"x": st.lists(fractions(), min_size=n, max_size=n), "y": st.lists(fractions(), min_size=m, max_size=m)}
    blocks = {"xx": matrices(n, n).map(symmetric), "xy": matrices(n, m), "yy": matrices(m, m).map(symmetric), **vector}
    f = {name: draw(block) for name, block in blocks.items() if draw(st.booleans())}
    g = {name: draw(block) for name, block in blocks.items() if name != "yy" and draw(st.booleans())}
    g["yy"] = draw(matrices(m, m).map(definite))
    rows = {"A": draw(matrices(p, n)), "B": draw(matrices(p, m))}
    if draw(st.booleans()):
        rows["b"] = draw(st.lists(fractions(), min_size=p, max_size=p))
    made: dict[str, Any] = {"kind": "quadratic", "f": f, "g": g, "constraints": rows}
    if draw(st.booleans()):
        made["noise"] = draw(noises())
    return made


def noises() -> st.SearchStrategy[dict[str, Any]]:
    """Plain data of a noise model."""
    return st.fixed_dictionaries(
        {"model": st.sampled_from(["none", "additive", "matrix", "jump"]), "sigma_f": fractions().map(abs)},
        optional={
            "sigma_g": fractions().map(abs),
            "on": st.lists(st.sampled_from(["f.x", "f.y", "g.x", "g.y"]), max_size=5),
        },
    )


def quadratics(most: int = 3) -> st.SearchStrategy[Quadratic]:
    """Valid quadratic problems."""

    def parsed(data: dict[str, Any]) -> Quadratic:
        problem = parse_problem(data)
        assert isinstance(problem, Quadratic)
        return problem

    return quadratic_data(most).map(parsed)


def json_text(data: Any) -> str:
    """Plain data with fractions as a problem file."""
    return json.dumps(data, default=str)


_WRONG_NUMBERS = st.sampled_from(
    ["NaN", "Infinity", "-Infinity", "1e400", "1e-400", "1e150", "1e-150", "1e151", "1e9999999", "0e-999999999",
     "1e99999999999999999999", "9" * 5000, '"1/0"', '"1e3/2"', '"0x10"', '"1_0"', '"²"', '"١"', "true", "null",
     '""', '"1,5"', '" "', "1.5.2", "01", "+1", ".5", "1e", "-"]
)  # fmt: skip


def wrong_tokens() -> st.SearchStrategy[str]:
    """JSON tokens, valid or not, that are hardly ever what a file should hold at a place."""
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=6,
    )
    deep = st.sampled_from([50, 900, 970, 980, 5000]).flatmap(
        lambda k: st.sampled_from(["[" * k + "]" * k, '{"a":' * k + "1" + "}" * k])
    )
    return st.one_of(_WRONG_NUMBERS, values.map(json.dumps), deep)


_HOLE = "@hole@"


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


def _replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    made = copy.copy(data)
    made[path[0]] = _replaced(data[path[0]], path[1:], value)
    return made


@st.composite
def broken_files(draw: st.DrawFn) -> bytes:
    """A problem file with something wrong at one place: a value, a field, a few bytes, or its end."""
    data = draw(
        quadratic_data(2)
        | st.builds(lambda s: {"kind": "holder", "s": s}, fractions())
        | st.fixed_dictionaries(
            {"kind": st.just("generated"), "n": st.integers(1, 3)},
            optional={
                "family": st.sampled_from(["random-rows", "paper-experiment", "paper-literal"]),
                "m": st.integers(0, 3),
                "p": st.integers(0, 3),
                "condition": st.sampled_from([1, 10, 1e8, 0.5]),
                "seed": st.integers(0, 5),
            },
        )
    )
    place = draw(st.sampled_from(_places(data)))
    how = draw(st.sampled_from(["value", "value", "field", "drop", "bytes", "cut", "none"]))
    if how == "value":
        text = json_text(_replaced(data, place, _HOLE)).replace(f'"{_HOLE}"', draw(wrong_tokens()))
        return text.encode()
    if how == "field":
        data = data | {draw(st.sampled_from(["alpha", "kind", "g", "f", "", "noise", "symmetrise"])): draw(fractions())}
    if how == "drop":
        dropped = draw(st.sampled_from(sorted(data)))
        data = {key: value for key, value in data.items() if key != dropped}
    raw = json_text(data).encode()
    if how == "bytes":
        at = draw(st.integers(0, len(raw)))
        return raw[:at] + draw(st.binary(min_size=1, max_size=3)) + raw[at + draw(st.integers(0, 3)) :]
    return raw[: draw(st.integers(0, len(raw)))] if how == "cut" else raw
