"""Wrong estimates that follow from a subject's own wrong stages: given what those answer, line 6 and the rest is right.

A stage that is told by itself and wrong makes every oracle call wrong that computes it. That is no mistake of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spec import InvalidInputError
from spec.exact import Vector
from verify.conformance.comparison.causes import REFUSED, Inquiry
from verify.conformance.places.sizes import ANY_PROGRAM
from verify.conformance.probes.answers import StageAnswer, setting_of
from verify.conformance.probes.probes import WHOLE
from verify.conformance.vectors import known_answers as known
from verify.subjects.protocol import GIVEN, StageCalls
from verify.truth.algebra.numbers import double
from verify.truth.error_causes import is_split

MOST = 256
"""Answers looked at; of more the rest counts as wrong."""


def consequences(stages: StageCalls, wrong: Sequence[StageAnswer]) -> list[StageAnswer]:
    """Those of a subject's wrong estimates that are right for the stages that it tells.

    They are no fault of the call only where one of these stages is found wrong by itself.
    """
    candidates = [answer for answer in wrong if _may_be(answer)][:MOST]
    return [answer for answer in candidates if _follows(stages, answer)]


def _may_be(answer: StageAnswer) -> bool:
    """Whether the call computes a stage itself, and all is known of it."""
    probe = answer.probe
    return probe.given not in ("", WHOLE) and not probe.needs_draws and is_split(probe.problem)


def _follows(stages: StageCalls, answer: StageAnswer) -> bool:
    expected = _expected(stages, answer)
    if expected is None:
        return False
    value, tolerance = expected
    with np.errstate(invalid="ignore"):
        return bool((np.abs(answer.got - value) <= np.maximum(tolerance, answer.probe.tolerance)).all())


def _expected(stages: StageCalls, answer: StageAnswer) -> tuple[Vector, Vector] | None:
    """The right estimate for the stages that the subject tells, and its tolerance."""
    probe = answer.probe
    try:
        setting = setting_of(probe)
        values, told = Inquiry(stages, answer).completed(setting, probe.call, own=True)
        if not told:
            return None
        given = dict(zip(GIVEN, (values.y_star, values.lam, values.rho, values.y), strict=True))
        answered = known.hypergradient(replace(setting, given=given), ANY_PROGRAM)
    except (*REFUSED, InvalidInputError):
        return None
    value = np.array([double(entry) for entry in answered.values["hypergradient"]])
    return value, np.asarray(answered.limits["hypergradient"])
