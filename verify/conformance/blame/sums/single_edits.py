"""Every single change of a stage that needs nothing to be measured, as an explanation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from spec import InvalidInputError
from verify.conformance.blame.activation.ramp_edits import single_ramp_edits
from verify.conformance.blame.explanations.explanation import Explanation
from verify.conformance.blame.lower_level.lower_search import single_lower_edits


def candidates(stage: Literal["lower_level", "activation"]) -> Iterator[Explanation]:
    """Explanations of one stage without any data, to be tried where the stage shows in later answers only.

    Those of the lower level have ``pair(problem, x)``, those of the activation ``weights(h, lam, h_width, lam_width)``,
    so that a call can go on from them.

    Raises:
        InvalidInputError: If it is another stage.
    """
    if stage not in ("lower_level", "activation"):
        raise InvalidInputError("stage", "must be lower_level or activation", stage)
    yield from single_lower_edits() if stage == "lower_level" else single_ramp_edits()
