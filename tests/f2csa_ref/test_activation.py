from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2csa_ref import activation_weights
from spec import InvalidInputError

reals = st.floats(-1e6, 1e6)


def weight(h, lam, h_width=0.1, lam_width=0.2):
    return float(activation_weights(np.array([h]), np.array([lam]), h_width=h_width, lam_width=lam_width)[0])


@pytest.mark.parametrize(
    ("h", "lam", "rho"),
    [(-0.2, 1, 0), (-0.1, 1, 0), (-0.05, 1, 0.5), (0, 1, 1), (5, 1, 1),
     (0, -1, 0), (0, 0, 0), (0, 0.1, 0.5), (0, 0.2, 1), (-0.05, 0.1, 0.25)],
)  # fmt: skip
def test_the_ramps_by_hand(h, lam, rho):
    assert weight(h, lam) == pytest.approx(rho)


@given(h=reals, lam=reals, more=st.floats(0, 10))
def test_weights_lie_in_the_unit_interval_and_grow_with_both_arguments(h, lam, more):
    rho = weight(h, lam)
    assert 0 <= rho <= 1
    assert weight(h + more, lam) >= rho
    assert weight(h, lam + more) >= rho


@pytest.mark.parametrize("name", ["h_width", "lam_width"])
@pytest.mark.parametrize("width", [0, -1, float("nan"), float("inf")])
def test_widths_must_be_positive(name, width):
    with pytest.raises(InvalidInputError, match=f"^{name}: must be > 0"):
        weight(0, 1, **{name: width})


def test_shapes_must_agree():
    with pytest.raises(InvalidInputError, match="lam: must have the shape"):
        activation_weights(np.zeros(2), np.zeros(3), h_width=1, lam_width=1)
