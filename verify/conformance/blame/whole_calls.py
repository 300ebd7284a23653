"""Oracle calls that compute some stages themselves, played with explanations in the place of stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Explanation
from verify.conformance.bugs.bent_subject import arrays_of, lagrangian
from verify.conformance.places.places import rounded
from verify.conformance.probes.probes import Probe
from verify.truth.formulas import as_float
from verify.truth.geometry import ramp
from verify.truth.lower_level import lower_level
from verify.truth.stages import ExactSetting

WeighedLine: TypeAlias = Literal["solve", "line 6"]
"""Lines that weigh rows."""
Handed: TypeAlias = tuple[Vector, Vector, float, float]
"""Row values, multipliers, and the widths of both ramps."""


@lru_cache(maxsize=1024)
def _right_pair(probe: Probe) -> tuple[Vector, Vector]:
    solved = lower_level.solve(probe.problem, rounded(probe.x))
    return as_float(solved.y_star), as_float(solved.lam)


@lru_cache(maxsize=1024)
def _h_width(probe: Probe) -> float:
    call = probe.call
    chosen = ExactSetting(
        problem=probe.problem, x=rounded(probe.x), alpha=Fraction(call.alpha), reading=call.reading,
        ramp_constant=Fraction(float(call.parameters.ramp_constant)),
    )  # fmt: skip
    return chosen.h_width()


def play(probe: Probe, wrong: Mapping[str, Explanation]) -> Vector | None:
    """The oracle call's answer where some stages are as explained; ``None`` where one of them has no answer.

    Noise is added as the right answer has it.
    """
    if arrays_of(probe.problem) is None:
        return None
    right = _right_chain(probe)
    if not wrong:
        return right
    whole: object = wrong.get("hypergradient")
    if isinstance(whole, AskedOtherwise):
        return whole.whole(probe)
    return _chain(probe, wrong, probe.expected - right)


@lru_cache(maxsize=1024)
def _right_chain(probe: Probe) -> Vector:
    answer = _chain(probe, {}, np.zeros(len(probe.expected)))
    assert answer is not None  # right stages always answer
    return answer


def _chain(probe: Probe, wrong: Mapping[str, Explanation], noise: Vector) -> Vector | None:
    q: Any = arrays_of(probe.problem)
    call, x = probe.call, probe.x
    given: dict[str, Any] = {name: value for name, value in call.stages.items() if value is not None}
    anew = "rho" not in given and isinstance(wrong.get("pair"), SolvesAnew)
    if "y_star" not in given or "lam" not in given or anew:
        pair = _pair(probe, wrong)
        if pair is None:
            return None
        own = {"y_star": pair[0], "lam": pair[1]}
        given = given | own if anew else own | given
    h = q.A @ x - q.B @ given["y_star"] - q.b
    makes_weights = "rho" not in given
    if makes_weights:
        rho = _weights((probe, replace(probe, call=replace(call, **given))), wrong, h, given["lam"])
        if rho is None:
            return None
        given["rho"] = rho
    reweighed: object = wrong.get("reweighed") if makes_weights else None
    rho = given["rho"]
    if isinstance(reweighed, ReweighedLines):
        given["rho"] = reweighed.reweighed(replace(probe, call=replace(call, **given)), "solve")
        if given["rho"] is None:
            return None
    changed: object = wrong.get("overwritten")
    if makes_weights and isinstance(changed, InPlace):
        rows = changed.overwritten(h, replace(probe, call=replace(call, **given)), _h_width(probe))
        q = replace(q, b=q.A @ x - q.B @ given["y_star"] - rows)
    around = lagrangian(q, x, replace(call, **given))
    if "y_penalty" not in given:
        try:
            y = np.asarray(around.minimiser())
        except np.linalg.LinAlgError:
            return None
        if "penalty_minimiser" in wrong:
            other = wrong["penalty_minimiser"].answer(_asked(probe, "penalty_minimiser", y, given))
            if other is None:
                return None
            y = other
        given["y_penalty"] = y
    if isinstance(reweighed, ReweighedLines):
        given["rho"] = rho
        given["rho"] = reweighed.reweighed(replace(probe, call=replace(call, **given)), "line 6")
        if given["rho"] is None:
            return None
        around = lagrangian(q, x, replace(call, **given))
    answer = around.estimate(given["y_penalty"], call.reading.dual_term) + noise
    moving: object = wrong.get("moving")
    if makes_weights and isinstance(moving, MovingRows):
        answer = answer + moving.added(_asked(probe, "hypergradient", answer, given), _h_width(probe))
    if "hypergradient" not in wrong:
        return np.asarray(answer)
    return wrong["hypergradient"].answer(_asked(probe, "hypergradient", np.asarray(answer), given))


def _asked(probe: Probe, stage: Any, expected: Vector, given: dict[str, Any]) -> Probe:
    return replace(probe, stage=stage, expected=expected, tolerance=np.ones(len(expected)),
                   call=replace(probe.call, **given))  # fmt: skip


def _pair(probe: Probe, wrong: Mapping[str, Explanation]) -> tuple[Vector, Vector] | None:
    y_star, lam = _right_pair(probe)
    if "lower_level" not in wrong:
        return y_star, lam
    both = np.concatenate([y_star, lam])
    answer = wrong["lower_level"].answer(_asked(probe, "lower_level", both, {}))
    return None if answer is None else (answer[: len(y_star)], answer[len(y_star) :])


def _weights(asked_at: tuple[Probe, Probe], wrong: Mapping[str, Explanation], h: Vector, lam: Vector) -> Vector | None:
    """Weights at a probe, as it was asked and with the pair that is used."""
    asked_probe, probe = asked_at
    h_width, lam_width = _h_width(asked_probe), float(probe.call.parameters.lam_width)
    fed: object = wrong.get("rows")
    if isinstance(fed, FedActivation):
        handed = fed.feed(probe, (h, lam, h_width, lam_width))
        if handed is None:
            return None
        h, lam, h_width, lam_width = handed
    if not h_width > 0 or not lam_width > 0:
        return None
    rho = ramp(h, lam, h_width, lam_width)
    if "activation" not in wrong:
        return rho
    call = replace(probe.call, lam=lam, parameters=probe.call.parameters.model_copy(update={"lam_width": lam_width}))
    question = _asked(replace(probe, call=call), "activation", rho, {})
    return wrong["activation"].answer(replace(question, problem=None, h=h, h_width=h_width))


@runtime_checkable
class AskedOtherwise(Protocol):
    """A right call that is asked something else, so that all of its stages are."""

    def whole(self, probe: Probe) -> Vector | None:
        """What it answers."""


@runtime_checkable
class SolvesAnew(Protocol):
    """A call that solves its lower level where it makes the weights itself, be a pair given or not."""

    solves_anew: bool


@runtime_checkable
class MovingRows(Protocol):
    """What line 6 has besides where a call makes the weights itself, and they move with x."""

    def added(self, probe: Probe, h_width: float) -> Vector:
        """The summand, shape (n,), all stages of the probe being given."""


@runtime_checkable
class InPlace(Protocol):
    """What the lines after the weights have where row values belong."""

    def overwritten(self, h: Vector, probe: Probe, h_width: float) -> Vector:
        """What row values have become, shape (p,), all stages of the probe before ỹ being given."""


@runtime_checkable
class ReweighedLines(Protocol):
    """Weights that one line of a call has in place of those it made."""

    def reweighed(self, probe: Probe, line: WeighedLine) -> Vector | None:
        """The weights of a line, all stages before it being given."""


@runtime_checkable
class FedActivation(Protocol):
    """What an oracle call hands to its activation where that is not what it should."""

    def feed(self, probe: Probe, right: Handed) -> Handed | None:
        """Row values, multipliers and both widths from the right ones."""
