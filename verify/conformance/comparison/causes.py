"""Where the error of a subject's estimate comes from: its stages, its formula, or the method itself.

The stages it tells are put right one after the other in exact numbers (:mod:`verify.truth.error_causes`); of those it
does not tell, the right ones are handed over one after the other, and what its answer loses by that is their part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from spec import InvalidInputError
from spec.exact import FloatArray
from verify.conformance.comparison.error_parts import WORDS
from verify.conformance.places.places import rounded
from verify.conformance.places.sizes import ANY_PROGRAM, Allowance
from verify.conformance.probes.answers import StageAnswer, setting_of
from verify.conformance.probes.probes import Probe
from verify.conformance.vectors import known_answers as known
from verify.subjects import Call, Capability, MissingCapabilityError, SubjectFaultError
from verify.subjects.protocol import GIVEN, StageCalls
from verify.truth.algebra.rationals import Vector
from verify.truth.error_causes import METHOD, ErrorCauses, StageValues
from verify.truth.formulas import as_float
from verify.truth.stages import ExactSetting, activation, estimate, minimiser, row_values

DISPLACED = Fraction(1, 64)
"""How far ỹ and ρ are moved to see whether an answer uses those it is given."""
HALF = Fraction(1, 2)
REFUSED = (MissingCapabilityError, SubjectFaultError)
"""Handed over stages may be refused, or be too much for a subject that wants them right."""
LITTLE = 0.01
"""Share of an error below which what is allowed is not worth a word."""
NUDGED = 1e-5
"""How far, relatively, ỹ is moved to see whether line 6 is off by rounding: more than a single-precision digit."""
ROUNDING = replace(ANY_PROGRAM, residual=0.0, stop=0.0)
SOLVED = replace(ANY_PROGRAM, stop=0.0)
"""What the lower level's solver may leave as well; line 5 may leave what its stopping rule allows."""
TERMS = {
    ("dual", Fraction(1)): "α₁Aᵀλ̃ is left in it",
    ("penalty", Fraction(-1)): "α₂Aᵀ(ρ∘h) is missing in it",
    ("penalty", Fraction(-1, 2)): "α₂Aᵀ(ρ∘h) is halved in it",
    ("penalty", Fraction(-2)): "α₂Aᵀ(ρ∘h) has the wrong sign in it",
    ("g_difference", Fraction(-1)): "α₁(∇_xg(x, ỹ) - ∇_xg(x, ỹ*)) is missing in it",
    ("g_difference", Fraction(-2)): "α₁(∇_xg(x, ỹ) - ∇_xg(x, ỹ*)) has the wrong sign in it",
    ("f", Fraction(-1)): "∇_xf is missing in it",
}
"""What line 6 is off by where that is a multiple of one of its terms."""
ALIKE = 1e-5
"""Relative difference up to which an error is such a multiple."""
ROUNDS = "its rounding, or a clip or another bend in it, is of this size"
"""Line 6 is no straight function of ỹ to so many digits: nothing more is known of it."""
LADDER = {"lower-level": 2, "weights": 3, "minimiser": 4}
"""What a subject's own work is owed to that is spared by giving it so many stages more."""
OF_GIVEN = {
    "y_star": ("solution",), "lam": ("multipliers",), "rho": ("inactive-weights", "active-weights"),
    "y_penalty": ("minimiser",),
}  # fmt: skip
"""Causes that lie in a given stage."""


class UnsteadyError(RuntimeError):
    """The same question is answered otherwise than before."""


@dataclass(frozen=True)
class MeasuredCause:
    """An answer's error, shape (n,), by causes, all exact.

    Up to ``floor`` a part may be rounding. ``told`` are stages taken from the subject; ``takes`` says whether line 6
    uses what it is given. ``given`` are causes that lie in what the call gave; ``formula_off`` says
    what line 6 is off by, if that is known.
    """

    setting: ExactSetting
    parts: Mapping[str, Vector]
    error: Vector
    floor: float
    told: tuple[str, ...]
    takes: bool
    given: frozenset[str] = frozenset()
    formula_off: str = ""

    def size(self, *causes: str) -> float:
        """Length of the sum of some causes."""
        known_parts = [self.parts[cause] for cause in causes if cause in self.parts]
        return length([sum(values, Fraction(0)) for values in zip(*known_parts, strict=True)])

    @property
    def own(self) -> list[str]:
        """The subject's causes above rounding, largest first."""
        mine = [cause for cause in self.parts if cause not in METHOD and cause not in self.given]
        least = LITTLE * length(self.error)
        shown = (c for c in mine if self.size(c) > self.floor and (self.size(c) > least or not self.allows(c)))
        return sorted(shown, key=self.size, reverse=True)

    def allows(self, cause: str) -> bool:
        """Whether honest solvers may leave as much."""
        return cause != "formula" and self.size(cause) <= (self._stopped if cause == "minimiser" else self._solved)

    @property
    def alpha(self) -> float:
        return float(self.setting.alpha)

    @cached_property
    def _solved(self) -> float:
        """What may be left by the lower level's solver."""
        return limit(self.setting, SOLVED)

    @cached_property
    def _stopped(self) -> float:
        """What may be left by line 5."""
        return limit(self.setting, ANY_PROGRAM)


@dataclass(frozen=True)
class _Stages:
    """The stages an answer is split at, which of them the subject told, and whether it uses what it is given."""

    values: StageValues
    names: tuple[str, ...]
    takes: bool
    floor: float


def length(values: Any) -> float:
    """Euclidean length."""
    return math.hypot(*(float(value) for value in values))


@dataclass
class Inquiry:
    """One oracle call, put to a subject at any alpha with more and more of its stages given."""

    stages: StageCalls
    answer: StageAnswer
    """The call, and what was answered before."""
    taken: bool | None = None

    @property
    def probe(self) -> Probe:
        return self.answer.probe

    @cached_property
    def here(self) -> ErrorCauses:
        """The point, and its derivatives; refused where there is a kink."""
        return ErrorCauses.at(setting_of(self.probe, self.probe.call.alpha))

    def at(self, alpha: float) -> MeasuredCause:
        """The causes at one alpha.

        Raises:
            InvalidInputError: Where the penalty is not convex, or F has no gradient.
            SubjectFaultError: If a call fails.
            MissingCapabilityError: If the subject refuses it.
            UnsteadyError: If the probe's call is answered otherwise than before.
        """
        setting = setting_of(self.probe, alpha)
        here = self.here if alpha == self.probe.call.alpha else replace(self.here, setting=setting)
        floor = limit(setting, ROUNDING)
        base = replace(self.probe.call, alpha=alpha)
        answer, before = self._ask(base), self.answer.got
        if alpha == self.probe.call.alpha and length(answer - before) > floor:
            raise UnsteadyError(f"asked the same again it answers {answer.tolist()} after {before.tolist()}")
        right, _ = self.completed(setting, base, own=False)
        takes = self._takes(base, right, floor)
        with suppress(InvalidInputError):  # of stages that no penalty can be built on
            told, names = self.completed(setting, base, own=True)
            # Stages that are told count where they are used: handed over, or seen in the answer.
            if names and (takes or self._explained(here, base, told, answer, floor)):
                return self._measured(here, base, answer, _Stages(told, names, takes, floor))
        return self._measured(here, base, answer, _Stages(right, (), takes, floor))

    def _explained(self, here: ErrorCauses, base: Call, told: StageValues, answer: FloatArray, floor: float) -> bool:
        """Whether an answer is what line 6 makes of the stages told; one that never changes is so by chance."""
        off = length([a - b for a, b in zip(rounded(answer), here.formula(told), strict=True)])
        return off <= floor and length(answer - self._ask(replace(base, alpha=base.alpha / 2))) > floor

    def _measured(self, here: ErrorCauses, base: Call, answer: FloatArray, used: _Stages) -> MeasuredCause:
        told, floor = used.values, used.floor
        parts: dict[str, Vector] = {}
        last, rough = rounded(answer), False
        with suppress(*REFUSED):
            rough = used.takes and self._rounds(here, base, told, floor)
        for cause, count in LADDER.items() if not rough else ():
            # Where line 6 uses no ỹ that it is given, its solve cannot be told from it.
            if used.takes or count < len(GIVEN):
                with suppress(*REFUSED):
                    there = rounded(self._ask(_with(base, told, count)))
                    parts[cause] = tuple(a - b for a, b in zip(last, there, strict=True))
                    last = there
        for cause, part in here.split(told, last).items():
            parts[cause] = tuple(a + b for a, b in zip(part, parts.get(cause, (Fraction(0),) * len(part)), strict=True))
        error = tuple(a - b for a, b in zip(rounded(answer), here.gradient, strict=True))
        given = frozenset(cause for name, value in base.stages.items() if value is not None for cause in OF_GIVEN[name])
        off = ROUNDS if rough else _term_off(here, told, parts["formula"], floor)
        return MeasuredCause(here.setting, parts, error, floor, used.names, used.takes, given, off)

    def _rounds(self, here: ErrorCauses, base: Call, told: StageValues, floor: float) -> bool:
        """Whether line 6 is off by rounding: by more than a function of ỹ without curvature can be."""
        off: list[list[Fraction]] = []
        for times in range(4):
            at = replace(told, y=rounded(as_float(told.y) + times * NUDGED * (1 + abs(as_float(told.y)))))
            answer = rounded(self._ask(_with(base, at, len(GIVEN))))
            off.append([a - b for a, b in zip(answer, here.formula(at), strict=True)])
            if length(off[0]) <= floor:
                return False
        bent = ([a - 2 * b + c for a, b, c in zip(*off[k : k + 3], strict=True)] for k in range(2))
        return max(map(length, bent)) > max(floor, LITTLE * length(off[0]))

    def _ask(self, call: Call) -> FloatArray:
        return self.stages.hypergradient(self.probe.problem, self.probe.x, call)

    def completed(self, setting: ExactSetting, base: Call, *, own: bool) -> tuple[StageValues, tuple[str, ...]]:
        """All stages of a call as doubles, the subject's own or the right ones, and the names of those it told."""
        at: dict[str, Vector] = dict(setting.given)
        names: list[str] = []

        def complete(stage: Capability, ask: Callable[[], Any], right: Mapping[str, Callable[[], Vector]]) -> None:
            if own and self.stages.offers(stage) and not at.keys() & right.keys():
                with suppress(*REFUSED):
                    answer = ask()
                    values = answer if isinstance(answer, tuple) else (answer,)
                    at.update(zip(right, map(rounded, values), strict=True))
                    names.extend(right)
            for name, compute in right.items():
                if name not in at:
                    at[name] = rounded(compute())

        stages, problem, x, width = self.stages, self.probe.problem, self.probe.x, base.parameters.lam_width
        complete("lower_level", lambda: stages.lower_level(problem, x),
                 {"y_star": lambda: setting.lower.y_star, "lam": lambda: setting.lower.lam})  # fmt: skip
        y_star, lam, h = at["y_star"], at["lam"], row_values(setting, at["y_star"])
        complete("activation", lambda: stages.activation(as_float(h), as_float(lam), setting.h_width(), width),
                 {"rho": lambda: activation(setting, h, lam)})  # fmt: skip
        rho = at["rho"]
        call = _with(base, StageValues(y_star, lam, rho, ()), 3)
        complete("penalty_minimiser", lambda: stages.penalty_minimiser(problem, x, call, None),
                 {"y_penalty": lambda: minimiser(setting, y_star, lam, rho)})  # fmt: skip
        return StageValues(y_star, lam, rho, at["y_penalty"]), tuple(names)

    def _takes(self, base: Call, told: StageValues, floor: float) -> bool:
        """Whether line 6 uses the ỹ and ρ that it is given; looked at once."""
        if self.taken is None:
            self.taken = False
            moved = replace(told, y=tuple(v + DISPLACED * (-2) ** (k % 5) for k, v in enumerate(told.y)))
            moved = replace(moved, rho=tuple(v + (DISPLACED if v < HALF else -DISPLACED) for v in told.rho))
            with suppress(*REFUSED):
                there, then = (self._ask(_with(base, stages, len(GIVEN))) for stages in (told, moved))
                self.taken = length(there - then) > floor
        return self.taken


def limit(setting: ExactSetting, allowance: Allowance) -> float:
    """How far an estimate may be off by an allowance."""
    return length(known.hypergradient(setting, allowance).limits["hypergradient"])


LETTERS = {"y_star": "ỹ*", "lam": "λ̃", "rho": "ρ", "y_penalty": "ỹ"}


def notes(measured: MeasuredCause) -> Iterator[str]:
    """How far a split rests on what the subject tells."""
    given = [name for name in GIVEN if name in measured.setting.given]
    silent = [LETTERS[name] for name in GIVEN if name not in (*measured.told, *given)]
    if given:
        yield f"{_listed([LETTERS[name] for name in given])} were given in this call, on purpose not always exact."
    if silent and measured.takes:
        yield (
            f"{_listed(silent)}: it does not tell its own, so the right ones were handed over, and what that changes "
            "is their part."
        )
    elif silent:
        yield (
            f"{_listed(silent)}: its answers do not show which it uses, so the right ones stand in, and a mistake "
            "there counts as the formula's."
        )
    across = [c for c in ("lower-level", "weights") if c in measured.own and not silent]
    if across:
        words = _listed([WORDS[cause] for cause in across])
        yield (
            f"Handed {words}, it answers otherwise than when it makes them: inside its call it uses other values than "
            "its stages tell, or something that hangs on how they are made."
        )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _with(base: Call, told: StageValues, count: int) -> Call:
    """The call with the first so many stages given."""
    values = told.y_star, told.lam, told.rho, told.y
    stages: dict[str, Any] = {name: as_float(v) for name, v in zip(GIVEN[:count], values, strict=False)}
    return replace(base, **stages)


def _term_off(here: ErrorCauses, told: StageValues, off: Vector, floor: float) -> str:
    """Which term line 6 has too much or too little of, if it is one."""
    reading = here.setting.reading.choose(dual_term="frozen")
    terms: Any = estimate(replace(here.setting, reading=reading), told.y, told.y_star, told.lam, told.rho)
    for (name, times), words in TERMS.items():
        left = length([a - times * b for a, b in zip(off, terms[name], strict=True)])
        if left <= min(floor, ALIKE * length(off)) and length(off) > 10 * floor:
            return words
    return ""
