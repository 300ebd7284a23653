"""Probes under another reading: the same questions, what must come out as that reading has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from spec import InvalidInputError, Noise, Quadratic, Reading
from verify.conformance.places.places import JudgedPlace, rounded, with_noise
from verify.conformance.places.sizes import ANY_PROGRAM
from verify.conformance.probes.probes import Probe, probe_of
from verify.conformance.random_stages import StageSetting, sample_settings
from verify.conformance.vectors import known_answers as known
from verify.conformance.vectors.known_answers import KnownAnswers
from verify.truth.algebra.numbers import dyadic
from verify.truth.stages import ExactSetting

UNTOUCHED = ("lower_level", "activation")
"""Stages whose right answers no reading changes."""


def under(reading: Reading, probes: Iterable[Probe]) -> Iterator[Probe]:
    """Each probe with what must come out under a reading; left out are those that have no answer under it."""
    for probe in probes:
        try:
            counterpart = _under(reading, probe)
        except InvalidInputError:
            continue
        if counterpart is not None and np.isfinite(counterpart.tolerance).all():
            yield counterpart


def _under(reading: Reading, probe: Probe) -> Probe | None:
    if probe.stage in UNTOUCHED:
        return probe
    call = probe.call
    if not isinstance(probe.problem, Quadratic) or probe.published:
        return None
    if call.draws is not None and reading.noise_pairing != call.reading.noise_pairing:
        return None
    setting = ExactSetting(
        problem=probe.problem, x=rounded(probe.x), alpha=Fraction(call.alpha), reading=reading, N_g=call.parameters.N_g,
        ramp_constant=dyadic(call.parameters.ramp_constant), lam_width=dyadic(call.parameters.lam_width),
        given={name: rounded(value) for name, value in call.stages.items() if value is not None},
        draws={name: tuple(rounded(row) for row in block) for name, block in (call.draws or {}).items()},
    )  # fmt: skip
    answer = _answer(setting, probe)
    recipe = probe.elsewhere

    def elsewhere(place: JudgedPlace) -> Probe:
        assert recipe is not None  # else there is none here either
        counterpart = _under(reading, recipe(place))
        if counterpart is None:
            raise InvalidInputError("reading", "has no answer there")
        return counterpart

    return replace(probe_of(probe.id, answer, tol=probe.tol), elsewhere=None if recipe is None else elsewhere)


def _answer(setting: ExactSetting, probe: Probe) -> KnownAnswers:
    """What must come out of it."""
    if probe.stage == "hypergradient":
        return known.hypergradient(setting, ANY_PROGRAM)
    if probe.tol is not None or setting.reading.inner_stop == "gradient":
        gradient_norm = probe.call.alpha if probe.tol is None else probe.tol
        return known.penalty_minimiser(setting, ANY_PROGRAM, gradient_norm)
    # Stopped by its distance α³, whatever its gradient is.
    answer = known.penalty_minimiser(setting, ANY_PROGRAM)
    limits = answer.limits["y_penalty"] + ANY_PROGRAM.stop * probe.call.alpha**3
    return replace(answer, limits={"y_penalty": limits})


class PairedApart(StageSetting):
    """Where estimates are drawn whose noise of g at ỹ and at ỹ* is independent: it does not cancel."""

    @property
    def deviation(self) -> float:
        """Standard deviation of a component of an estimate."""
        call, x, noise = self.call, self.x, self.problem.noise
        points: Any = [x, call.y_penalty, call.y_star]
        at_x, at_y, at_y_star = (float(v @ v) for v in points)
        upper, lower = (1.0, 2.0) if noise.model == "additive" else (at_x + at_y, 2 * at_x + at_y + at_y_star)
        square = noise.scale("f.x") ** 2 * upper + call.alpha**-4 * noise.scale("g.x") ** 2 * lower
        return float(np.sqrt(square / call.parameters.N_g))


def samplings(reading: Reading) -> tuple[StageSetting, ...]:
    """Where estimates are drawn under a reading, each with the mean and the deviation that it has there."""
    settings = []
    for setting in sample_settings():
        call = replace(setting.call, reading=reading)
        quiet = with_noise(setting.problem, Noise())
        (probe,) = under(
            reading, [Probe(setting.id, "hypergradient", setting.mean, setting.mean, quiet, setting.x, call)]
        )
        kind = PairedApart if reading.noise_pairing == "independent" else StageSetting
        settings.append(kind(setting.id, setting.stage, setting.problem, setting.x, call, probe.expected))
    return tuple(settings)
