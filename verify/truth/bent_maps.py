r"""Maps that are linear on each orthant, and where on the unit ball their values are longest.

.. math:: D(v) = \sum_i \max(v_i, 0)\, u_i + \min(v_i, 0)\, d_i,

a column :math:`u_i` for what an entry adds upwards and :math:`d_i` downwards; most rows have the same for both. On one
orthant D is a matrix. Where :math:`\lVert D\rVert` is longest over it, the entries that are not 0 and whose columns
differ have their signs for good, so that this point is an eigenvector of the Gram matrix of the columns in play: every
face of every orthant is looked through, the eigenvectors of the largest values first.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from spec.exact import Vector

MOST_BENT = 4
"""Entries with two columns up to which all faces are looked through; 3**4 of them."""
ON_A_FACE = 1e-9
"""A share below which an entry of a unit vector counts as 0: the face beside the orthant has the same value."""


def longest(up: Vector, down: Vector) -> Vector:
    """A unit vector with the longest value of the map with these columns, shapes (k, p); the first of equals.

    With more than ``MOST_BENT`` entries that bend, the longest of those with one sign for all of them.
    """
    bent = np.flatnonzero((up != down).any(axis=0))
    if len(bent) <= MOST_BENT:
        faces = list(product((1, -1, 0), repeat=len(bent)))
    else:
        faces = [(sign,) * len(bent) for sign in (1, -1)]
        single = [tuple(int(i == k) * sign for i in range(len(bent))) for k in range(len(bent)) for sign in (1, -1)]
        faces += single
    best, size = np.eye(up.shape[1])[0], -1.0
    for face in faces:
        columns = up.copy()
        columns[:, bent] = np.where(np.array(face) > 0, up[:, bent], down[:, bent]) * (np.array(face) != 0)
        at = _on_face(columns, bent, np.array(face))
        if at is not None and (length := float(np.linalg.norm(value(up, down, at)))) > size * (1 + ON_A_FACE):
            best, size = at, length
    return np.asarray(best)


def value(up: Vector, down: Vector, at: Vector) -> Vector:
    """The map at a vector."""
    return np.asarray(up @ np.maximum(at, 0.0) + down @ np.minimum(at, 0.0))


def _on_face(columns: Vector, bent: NDArray[np.intp], signs: NDArray[np.int_]) -> Vector | None:
    """The eigenvector of the largest value with these signs; none if there is none."""
    free = np.ones(columns.shape[1], dtype=bool)
    free[bent[signs == 0]] = False
    if not free.any():
        return None
    vectors = np.linalg.svd(columns[:, free])[2]
    for row in vectors:
        vector = np.zeros(columns.shape[1])
        vector[free] = row if row[np.argmax(np.abs(row))] > 0 else -row
        for at in (vector, -vector):
            if (at[bent] * signs >= -ON_A_FACE * (signs != 0)).all():
                return at
    return None
