"""The same normals, whoever draws them."""

from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref.sampling import draws as module
from f2csa_ref.sampling.draws import BULK, compiled, normals, one_by_one


def generators():
    return [np.random.Generator(kind(3)) for kind in (np.random.PCG64, np.random.SFC64)]


@pytest.mark.parametrize("shape", [(3, 4), (BULK // 4, 5), (0, 3)])
def test_normals_are_numpys_own(shape):
    for ours, theirs in zip(generators(), generators(), strict=True):
        assert (normals(ours, shape) == theirs.standard_normal(shape)).all()
        assert ours.standard_normal() == theirs.standard_normal()


def test_the_loop_that_is_compiled_draws_the_same(monkeypatch):
    monkeypatch.setattr(module, "compiled", lambda: one_by_one)
    for ours, theirs in zip(generators(), generators(), strict=True):
        assert (normals(ours, (BULK, 1)) == theirs.standard_normal((BULK, 1))).all()


def test_without_numba_there_is_nothing_compiled(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    compiled.cache_clear()
    try:
        assert compiled() is None
    finally:
        compiled.cache_clear()
