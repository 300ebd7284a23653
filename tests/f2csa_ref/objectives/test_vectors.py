from __future__ import annotations

import numpy as np
import pytest

from f2csa_ref.objectives.vectors import as_vector
from spec import InvalidInputError


@pytest.mark.parametrize("value", [[1.0, 2.0], [np.nan], [np.inf], "a", [[1.0]], None])
def test_as_vector_names_the_argument(value):
    with pytest.raises(InvalidInputError, match=r"^x: must"):
        as_vector(value, 1, "x")
