"""A vector put to a subject: what it answers, and which answers miss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec import OracleParameters
from spec.exact import Vector
from verify.conformance.probes.probes import Probe
from verify.conformance.vectors.model import TestVector
from verify.subjects import Call, MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import StageCalls, StageFaultError

_UNUSED_ALPHA = 0.1
"""For the stage whose calls carry an alpha but do not use it."""


@dataclass(frozen=True)
class Miss:
    """One expected block that an answer misses, in the entry that misses most, in tolerances."""

    block: str
    entry: int
    computed: float
    wanted: float
    tolerance: float

    @property
    def ratio(self) -> float:
        """Distance in tolerances."""
        gap = abs(self.computed - self.wanted)
        return gap / self.tolerance if self.tolerance > 0 else (np.inf if gap > 0 else 0.0)

    def __str__(self) -> str:
        return (
            f"{self.block}[{self.entry}] is {self.computed!r}, must be {self.wanted!r} within {self.tolerance:.3g}"
            f" ({self.ratio:.3g} tolerances away)"
        )


def asked(vector: TestVector) -> Probe:
    """A vector as a question, also one that must be rejected.

    Raises:
        InvalidInputError: If the problem or a number is refused before a subject sees it.
    """
    p, default = vector.parameters, OracleParameters()
    given: dict[str, Any] = {name: np.array(numbers.value) for name, numbers in vector.given.items()}
    blocks = [vector.expected[name] for name in vector.main_outputs]
    value, tolerance = (
        np.concatenate([[], *(getattr(block, name) for block in blocks)]) for name in ("value", "tolerance")
    )
    if vector.stage == "activation":
        # A width that is no width is the subject's to refuse.
        parameters = OracleParameters.model_construct(lam_width=p.lam_width or 0.0)
        call = Call(alpha=_UNUSED_ALPHA, lam=given["lam"], parameters=parameters)
        return Probe(vector.id, vector.stage, value, tolerance, call=call, h=given["h"], h_width=p.h_width or 0.0)
    problem, x = vector.parsed_problem(), np.array(vector.x.value if vector.x is not None else ())
    if vector.reading is None:
        return Probe(vector.id, vector.stage, value, tolerance, problem, x)
    parameters = OracleParameters(
        N_g=p.N_g or 1,
        lam_width=p.lam_width if p.lam_width is not None else default.lam_width,
        ramp_constant=p.ramp_constant if p.ramp_constant is not None else 1.0,
        lower_level_steps=p.lower_level_steps or default.lower_level_steps,
        eta_y=p.eta_y,
        eta_lam=p.eta_lam,
    )
    draws = {name: np.array(rows, dtype=np.float64) for name, rows in vector.draws.items()}
    alpha = vector.alpha.value if vector.alpha is not None else _UNUSED_ALPHA
    call = Call(alpha=alpha, reading=vector.reading, parameters=parameters, draws=draws or None, **given)
    return Probe(vector.id, vector.stage, value, tolerance, problem, x, call, p.gradient_norm)


def answers(vector: TestVector, stages: StageCalls) -> dict[str, Vector]:
    """What a subject answers, by block, also to a vector that must be rejected; ``dual_pull`` beside multipliers.

    Raises:
        MissingCapabilityError: If the subject lacks the stage, or the vector supplies draws it does not use.
        SubjectFaultError: If it raises, or answers with anything but finite numbers of the right shape.
        InvalidInputError: If the problem itself is refused before the subject sees it.
    """
    probe = asked(vector)
    if probe.needs_draws and not stages.use_draws:
        raise MissingCapabilityError("the subject does not take its normals from draws")
    blocks = probe.blocks(stages)
    if vector.stage == "lower_level" and vector.blocks is not None:
        blocks["dual_pull"] = blocks["lam"] @ np.array(vector.blocks["B"])
    return blocks


def misses(vector: TestVector, blocks: Mapping[str, Vector]) -> tuple[Miss, ...]:
    """Which of the answers given miss what is expected; blocks not answered are not asked for.

    The rule, entry by entry: ``|computed - value| <= tolerance``.
    """
    missed = []
    for block, computed in sorted(blocks.items()):
        wanted = vector.expected.get(block)
        if wanted is None:
            continue
        worst = max(
            (
                Miss(block, i, float(a), b, limit)
                for i, (a, b, limit) in enumerate(zip(computed, wanted.value, wanted.tolerance, strict=True))
            ),
            key=lambda miss: miss.ratio if miss.ratio == miss.ratio else np.inf,
        )
        # Written so that what is not a number misses.
        if not worst.ratio <= 1.0:
            missed.append(worst)
    return tuple(missed)


def rejects(vector: TestVector, stages: StageCalls) -> bool:
    """Whether bad input is refused: the subject raises, or answers with no finite numbers of the right shape.

    Also true where the problem itself is refused before the subject sees it.

    Raises:
        StageFaultError: If the subject hangs, dies or talks nonsense: no way of refusing.
        MissingCapabilityError: If it lacks the stage.
    """
    try:
        answers(vector, stages)
    except StageFaultError as fault:
        if fault.kind != "error":
            raise
        return True
    except (SubjectFaultError, ValueError):
        return True
    return False
