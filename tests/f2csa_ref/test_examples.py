"""The examples in the docstrings run as printed."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name", ["activation", "algorithm_1", "algorithm_2", "fast.batched", "fast.oracle", "objectives"]
)
def test_docstring_examples(name):
    result = doctest.testmod(importlib.import_module(f"f2csa_ref.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
