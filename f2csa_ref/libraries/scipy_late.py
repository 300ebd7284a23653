"""What of scipy the algorithms call, imported when it is first asked for: together a quarter of a second.

``sp.cho_solve`` is ``scipy.linalg.cho_solve`` itself, an attribute of this module from the first use on.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.linalg import cho_factor as cho_factor
    from scipy.linalg import cho_solve as cho_solve
    from scipy.linalg import cholesky as cholesky
    from scipy.linalg import eigvalsh as eigvalsh
    from scipy.linalg import lu_factor as lu_factor
    from scipy.linalg import lu_solve as lu_solve
    from scipy.linalg import qr as qr
    from scipy.linalg import solve_triangular as solve_triangular
    from scipy.linalg.blas import dsymv as dsymv
    from scipy.linalg.blas import ssymv as ssymv
    from scipy.linalg.lapack import dpotrf as dpotrf
    from scipy.linalg.lapack import dpotrs as dpotrs
    from scipy.linalg.lapack import dtrtrs as dtrtrs
    from scipy.special import chdtri as chdtri
    from scipy.special import ndtr as ndtr

_HOMES = (
    ("scipy.linalg.blas", {"dsymv", "ssymv"}),
    ("scipy.linalg.lapack", {"dpotrf", "dpotrs", "dtrtrs"}),
    ("scipy.special", {"chdtri", "ndtr"}),
    (
        "scipy.linalg",
        {"cho_factor", "cho_solve", "cholesky", "eigvalsh", "lu_factor", "lu_solve", "qr", "solve_triangular"},
    ),
)


def __getattr__(name: str) -> Any:
    for home, names in _HOMES:
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(home), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
