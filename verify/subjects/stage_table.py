"""The stages as a table: a row is what one takes and gives, in Python, in a program's messages and in docs/wire.md."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

Capability = Literal[
    "lower_level", "activation", "penalty_minimiser", "hypergradient", "optimise",
    "lower_level_runs", "penalty_runs", "hypergradient_runs",
]  # fmt: skip
Stage = Literal[Capability, "hypergradient_samples", "optimise_runs"]
"""A capability, or one of the two that are others many times over."""
Asked = Literal[Stage, "end_to_end"]
"""A stage, or a whole optimiser, which takes no oracle: no claim asks for one."""
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
STAGES: tuple[Stage, ...] = get_args(Stage)
END_TO_END: Literal["end_to_end"] = "end_to_end"
"""What :class:`verify.subjects.adapters.EndToEnd` offers."""
TOGETHER = "hypergradients_together"
"""How a program is asked for several estimates in one exchange; no stage of its own."""
REFUSED = "the subject does not support this "
"""How a line begins that says of a stage that is offered why it does not answer here; its name follows."""


class Value(NamedTuple):
    """A named value: its sizes, none for a number, and whether it may be ``None``."""

    name: str
    sizes: tuple[str, ...]
    optional: bool


def values(text: str) -> tuple[Value, ...]:
    """Read ``x[n] tol?``: names, each with its sizes, a question mark where it may be ``None``."""
    parts = re.findall(r"(\w+)(?:\[([^]]*)\])?(\?)?", text)
    return tuple(Value(name, tuple(sizes.split(",")) if sizes else (), bool(mark)) for name, sizes, mark in parts)


class StageRow:
    """One stage: the fields of its request and the parts of its answer, both as :func:`values` reads them."""

    def __init__(self, sends: str, gives: str) -> None:
        self.sends, self.gives = values(sends), values(gives)
        names = [value.name for value in self.sends]
        # In Python a generator stands for what is drawn from it, and the oracle is handed over.
        python = ["rng" if name == "seed" else name for name in names if name not in ("s", "block")]
        self.takes = ("oracle", *python) if "block" in names else tuple(python)
        """The arguments of its method, in order."""


_RUNS = "problem x[n] call seed replications"
ROWS: dict[Asked, StageRow] = {
    "lower_level": StageRow("problem x[n]", "y_star[m] lam[p]"),
    "activation": StageRow("h[p] lam[p] h_width lam_width", "rho[p]"),
    "penalty_minimiser": StageRow("problem x[n] call tol?", "y[m]"),
    "hypergradient": StageRow("problem x[n] call seed?", "hypergradient[n]"),
    "hypergradient_samples": StageRow(_RUNS, "hypergradients[replications,n]"),
    "lower_level_runs": StageRow(_RUNS, "y[replications,m] lam[replications,p]"),
    "penalty_runs": StageRow(_RUNS, "y[replications,m] calls"),
    "hypergradient_runs": StageRow(_RUNS, "hypergradients[replications,n] calls"),
    "optimise": StageRow("x0[n] parameters s[T]? block seed", "x_out[n] x_bar[K,n] path[T+1,n]"),
    "optimise_runs": StageRow("x0[R,n] parameters s[T,R]? block[R] seed keep_path", "x_bar[K,R,n] path[T+1,R,n]?"),
    "end_to_end": StageRow("problem x0[n] parameters alpha seed", "x_out[n] x_bar[K,n]? path[T+1,n]"),
}
"""All stages, in the order of docs/wire.md."""
