"""The steps of a run whose oracle calls keep to a wanted error, and what their certificates came to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from f2csa_ref.accuracy.wanted_error import Accuracy, AccurateAnswer, answer_within
from f2csa_ref.algorithm_1 import OracleCall
from f2csa_ref.objectives import Objectives
from spec.exact import Vector


@dataclass(frozen=True)
class StepErrors:
    """What is certified of the errors of some ``steps``, ``met`` of which have a bound of at most what was wanted.

    ``without`` have no bound at all; ``largest`` is that of the others, and ``near_pieces`` the largest distance of an
    estimate without a bound from the hull of the adjoining pieces' gradients, where that is known: no bound of its
    error. ``why_not`` counts the reasons of steps that did not meet it. ``alpha`` and ``N_g`` are least and largest,
    ``attempts`` runs of Algorithm 1, ``certificate_counts`` the certificates' own calls. Where ``noisy`` each bound
    holds at its level. ``estimated`` are constants not known to be bounds, ``stated`` those taken on the caller's word.
    """

    steps: int = 0
    met: int = 0
    without: int = 0
    largest: float | None = None
    near_pieces: float | None = None
    why_not: dict[str, int] = field(default_factory=dict)
    alpha: tuple[float, float] | None = None
    N_g: tuple[int, int] | None = None
    attempts: int = 0
    certificate_counts: dict[str, int] = field(default_factory=dict)
    noisy: bool = False
    estimated: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: AccurateAnswer) -> StepErrors:
        """Of one step."""
        c = answer.certificate
        near = c.hull.distance if c.hull is not None and c.hull.applies and not c.applies else None
        # Reasons are counted without the rows that they name.
        why_not = {} if answer.met else {re.sub(r"rows [\d, ]+", "rows ", answer.why_not): 1}
        return cls(
            1, int(answer.met), int(not c.applies), c.bound if c.applies else None, near, why_not,
            (answer.alpha, answer.alpha), (answer.N_g, answer.N_g), answer.attempts,
            dict(answer.certificate_counts), c.noise.radius > 0, c.estimated, c.stated,
        )  # fmt: skip

    def __add__(self, other: StepErrors) -> StepErrors:
        return StepErrors(
            self.steps + other.steps, self.met + other.met, self.without + other.without,
            _largest(self.largest, other.largest), _largest(self.near_pieces, other.near_pieces),
            dict(Counter(self.why_not) + Counter(other.why_not)), _hull(self.alpha, other.alpha),
            _hull(self.N_g, other.N_g), self.attempts + other.attempts,
            dict(Counter(self.certificate_counts) + Counter(other.certificate_counts)), self.noisy or other.noisy,
            _union(self.estimated, other.estimated), _union(self.stated, other.stated),
        )  # fmt: skip

    @property
    def all_met(self) -> bool:
        """Whether every step met it."""
        return self.met == self.steps

    def to_dict(self) -> dict[str, Any]:
        """As a line of a trace has it, bit for bit."""
        listed = {name: getattr(self, name) and list(getattr(self, name)) for name in ("alpha", "N_g")}
        listed |= {name: list(getattr(self, name)) for name in ("estimated", "stated")}
        return asdict(self) | listed | {"all_met": self.all_met}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StepErrors:
        """What :meth:`to_dict` wrote."""
        values: dict[str, Any] = {name: data[name] for name in cls.__dataclass_fields__}
        for name, value in values.items():
            values[name] = tuple(value) if isinstance(value, list) else value
        return cls(**values)


class CertifiedSteps:
    """Answers of at most a wanted error; each begins its search for alpha where the last one ended."""

    def __init__(self, q: Objectives, accuracy: Accuracy, call: OracleCall, counts: Counter[str]) -> None:
        self.q, self.accuracy, self.call, self.counts = q, accuracy, call, counts
        self.alpha, self.errors = call.alpha, StepErrors()

    def answer(self, z: Vector, rng: np.random.Generator) -> Vector:
        """The estimate at z, (n,) to (n,)."""
        call = OracleCall(self.alpha, self.call.reading, self.call.parameters)
        answer = answer_within(self.q, z, self.accuracy, call, rng)
        if answer.met:
            self.alpha = answer.next_alpha
        self.errors += StepErrors.of(answer)
        self.counts.update(answer.counts)
        return answer.estimate.hypergradient

    def finished_block(self) -> dict[str, Any]:
        """What the block's steps came to; those of the next are counted anew."""
        errors, self.errors = self.errors, StepErrors()
        return errors.to_dict()

    def memory(self) -> dict[str, Any]:
        """Where the next search begins, and what the running block's steps came to."""
        return {"alpha": self.alpha, "errors": self.errors.to_dict()}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on from what :meth:`memory` wrote."""
        self.alpha, self.errors = float(memory["alpha"]), StepErrors.from_dict(memory["errors"])


def _largest(a: float | None, b: float | None) -> float | None:
    return b if a is None else a if b is None else max(a, b)


def _union(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*a, *b}))


def _hull(a: tuple[Any, Any] | None, b: tuple[Any, Any] | None) -> tuple[Any, Any] | None:
    return b if a is None else a if b is None else (min(a[0], b[0]), max(a[1], b[1]))
