"""The code beside the algorithms is the code that runs, and no line of an algorithm goes without."""

from __future__ import annotations

import inspect
from textwrap import dedent

import pytest

from f2csa_ref.algorithm_1 import oracle
from f2csa_ref.algorithm_2 import advance
from spec.text.argument import load_argument
from verify.report.site.paper.algorithm_code import MODULES, code_of

BLOCK_ENDS = {1: set(), 2: {8}}
"""Lines that only end a block."""


@pytest.mark.parametrize("algorithm", [1, 2])
def test_every_line_has_its_code_once(algorithm: int) -> None:
    (lines,) = (len(passage.steps) for passage in load_argument().passages if passage.algorithm == algorithm)
    served = [n for code in code_of(algorithm).values() for n in range(code.lines[0], code.lines[1] + 1)]
    assert served == sorted(set(range(1, lines + 1)) - BLOCK_ENDS[algorithm])


@pytest.mark.parametrize("algorithm", [1, 2])
def test_it_stands_in_the_module_where_it_says(algorithm: int) -> None:
    text = inspect.getsource(MODULES[algorithm]).splitlines()
    for code in code_of(algorithm).values():
        assert dedent("\n".join(text[code.first - 1 : code.last])).rstrip() == code.text
        assert code.file == f"f2csa_ref/algorithm_{algorithm}.py"
        assert code.text.strip()


@pytest.mark.parametrize(("algorithm", "function", "first"), [(1, oracle, 2), (2, advance, 5)])
def test_it_leaves_nothing_of_the_function_out(algorithm: int, function: object, first: int) -> None:
    source = dedent(inspect.getsource(function))
    body = source[source.index(f"# Line {first}.") :]
    shown = [line.strip() for n, code in code_of(algorithm).items() if n >= first for line in code.text.splitlines()]
    assert {line.strip() for line in body.splitlines() if line.strip()} <= set(shown)
