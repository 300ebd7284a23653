"""An iteration at many points at once: all take their steps together, and a point that is done leaves.

What a point gets does not depend on the others but for the rounding of products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from f2csa_ref.bounds import Indices
from f2csa_ref.fast.device_arrays import Array, Arrays

State: TypeAlias = dict[str, Array]
"""Arrays by name, a row a point: what changes, and what belongs to a point."""
Step: TypeAlias = Callable[[State], tuple[State, Array | None]]
"""What changes, and which points are done; ``None`` where none can be."""
Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


def run(arrays: Arrays, step: Step, state: State, keep: tuple[str, ...], budget: int) -> tuple[State, Counts, Indices]:
    """Step until every point is done or the budget is spent.

    Returns:
        The arrays named in ``keep``, the steps of each point, (K,), and the points that were not done.
    """
    order = np.arange(next(iter(state.values())).shape[0])
    steps = np.full(len(order), budget)
    parts: list[State] = []
    places: list[Indices] = []
    for taken in range(1, budget + 1):
        changed, done = step(state)
        state = state | changed
        if done is None:
            continue
        finished = arrays.host(done)
        if not finished.any():
            continue
        steps[order[finished]] = taken
        if finished.all() and not parts:
            return {name: state[name] for name in keep}, steps, order[:0]
        gone, stay = np.flatnonzero(finished), np.flatnonzero(~finished)
        parts.append({name: arrays.rows(state[name], gone) for name in keep})
        places.append(order[gone])
        order = order[stay]
        if not len(order):
            break
        state = {name: arrays.rows(values, stay) for name, values in state.items()}
    if len(order):
        parts.append({name: state[name] for name in keep})
        places.append(order)
    return {name: arrays.merged([part[name] for part in parts], places) for name in keep}, steps, order
