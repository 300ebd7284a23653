"""Values that a line takes over from an earlier call: each place, and each way to keep one, predicts all answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, Literal

import numpy as np

from spec.exact import Vector
from verify.conformance.blame.memory.remembered_lines import FALLING_STEPS, NEWTON_STEPS, REFINEMENTS, as_right, played
from verify.conformance.blame.memory.state_questions import Question, questions, tilted_place
from verify.conformance.blame.memory.state_rules import AskedState, StateRule
from verify.conformance.blame.noise.noise_draws import drawn_call
from verify.conformance.blame.questions import (
    chain_question,
    drawn_place,
    kept_by_reading,
    line_6_question,
    minimiser_question,
    noisy_question,
    solvable_place,
)
from verify.conformance.places.places import JudgedPlace
from verify.conformance.probes.probes import (
    FROM_PAIR,
    FROM_RHO,
    FROM_SCRATCH,
    GRADIENT_NORM,
    Probe,
    activation_probe,
    lower_level_probe,
    penalty_probe,
    widths_probe,
)
from verify.method.lines import Stage

Keeping = Literal[
    "before", "right before", "first", "problem", "x", "alpha", "problem alpha", "problem x", "matrices", "weights",
    "problem weights", "near weights", "problem near weights", "held problem", "held alpha", "held problem alpha",
    "held matrices", "problem x weights", "problem x near weights",
]  # fmt: skip
"""Which value of earlier calls is used."""
KEEPINGS: dict[Keeping, str] = {
    "before": "of the last call that had one of this size",
    "right before": "of the call right before, where it has this size",
    "first": "of the first call that had one of this size",
    "problem": "of the first call with this problem",
    "x": "of the first call at this x",
    "alpha": "of the first call with this α and this size",
    "problem alpha": "of the first call with this problem and α",
    "problem x": "of the first call with this problem at this x",
    "matrices": "of the first call with these f_yy, g_yy and B",
    "weights": "of the first call with this ρ",
    "problem weights": "of the first call with this problem and ρ",
    "problem x weights": "of the first call with this problem and ρ at this x, whatever α is",
    "problem x near weights": "of the first call with this problem and ρ at this x, whatever α is",
    "near weights": "of the first call with this ρ",
    "problem near weights": "of the first call with this problem and ρ",
    "held problem": "of the first of the calls in a row with this problem",
    "held alpha": "of the first of the calls in a row with this α",
    "held problem alpha": "of the first of the calls in a row with this problem and α",
    "held matrices": "of the first of the calls in a row with these f_yy, g_yy and B",
}
"""In words."""
HELD: frozenset[Keeping] = frozenset(keeping for keeping in KEEPINGS if keeping.startswith("held"))
"""Those that keep one value, until a call differs."""
BY_CALL: frozenset[Keeping] = HELD | {
    "problem", "x", "alpha", "problem alpha", "problem x", "matrices",
    "problem x weights", "problem x near weights",
}  # fmt: skip
"""Those that tell calls apart by what is asked."""
BY_WEIGHTS: frozenset[Keeping] = frozenset(keeping for keeping in KEEPINGS if keeping.endswith("weights"))
"""Those that tell calls apart by ρ as it is in the call; a program may round it otherwise than another does."""
WEIGHT_DIGITS = 9
SHAPES = ((2, 3, 2), (2, 2, 2), (3, 3, 2), (2, 3, 3))
"""n, m, p of lower levels: each two share some."""
SEEDS = (800, 801, 803, 808, 811, 802)
"""Of calls: two of two sizes each, and of others."""
NOISY_SEEDS = (500, 501, 502, 503, 505, 508, 509, 511)
"""The same under noise."""
FAR = (0.0, 2.0, -3.0)
"""By how much x is moved, so that other rows are active."""
LENGTH = 56
"""Questions in a row."""
CLEAR = 1e3
"""By how many times of what is allowed answers must be off to say anything."""
FEWEST = 3
"""Answers that are as far off, without which nothing is told."""


@dataclass(frozen=True)
class RememberedSpot:
    """Where a value is taken over: places of :mod:`.remembered_lines`, the line and the value in words."""

    places: frozenset[str]
    where: str
    what: str


def _spots(*rows: tuple[str, str, str]) -> tuple[RememberedSpot, ...]:
    return tuple(RememberedSpot(frozenset(places.split()), where, what) for places, where, what in rows)


IN_PAIR = _spots(
    ("c.x r.x", "the lower level", "x"),
    ("c.x", "the linear term of g in y, g_xyᵀx + g_y, in the lower level", "x"),
    ("r.x", "the rows' right side, Ax − b, in the lower level", "x"),
    ("active.c y_free.c", "the lower level", "the linear term g_xyᵀx + g_y"),
    ("y_free.c", "the minimiser without rows, in the lower level,", "the linear term g_xyᵀx + g_y"),
    ("active.c", "the choice of active rows in the lower level", "the linear term g_xyᵀx + g_y"),
    ("active.r lam_W.r", "the lower level", "the rows' right side Ax − b"),
    ("active.r", "the choice of active rows in the lower level", "the rows' right side Ax − b"),
    ("lam_W.r", "the solve for λ̃ on the active rows", "the rows' right side Ax − b"),
    ("active.c active.r", "the lower level", "the set of active rows"),
)
IN_WEIGHTS = _spots(
    ("ramp_h.h", "the activation", "h"),
    ("ramp_lam.lam", "the activation", "λ̃"),
    ("ramp_h.h ramp_lam.lam", "the activation", "h and λ̃"),
    ("ramp_h.h_width", "the activation", "the width of h's ramp"),
    ("ramp_lam.lam_width", "the activation", "the width of λ̃'s ramp"),
)
REFINED = {1: "", 2: ", refined once,", 3: ", refined twice,"}
IN_SOLVE = _spots(
    ("solve.x", "the penalty solve", "x"),
    ("solve.y_star", "the penalty solve", "ỹ*"),
    ("solve.lam", "the penalty solve", "λ̃"),
    ("solve.rho", "the penalty solve", "ρ"),
    ("solve.lam solve.rho", "the penalty solve", "λ̃ and ρ"),
    *((f"factor{k}.H", f"the penalty solve, made of {k} Newton step{'s' * (k > 1)} from ỹ*,", "the Hessian")
      for k in NEWTON_STEPS),
    *((f"from_zero{k}.H", f"the penalty solve{REFINED[k]}", "the Hessian")
      for k in REFINEMENTS),
    *((f"falling{k}.H", f"the penalty solve, made of at most {k} Newton steps from ỹ* that make the gradient smaller,",
       "the Hessian") for k in FALLING_STEPS),
)  # fmt: skip
OF_SCRATCH = "made.y,alone"
IN_CALL = _spots(
    ("h_star.x", "h(x,ỹ*) for the weights", "x"),
    ("h_star.y_star", "h(x,ỹ*) for the weights", "ỹ*"),
    ("made.rho", "an oracle call that is given none", "ρ"),
    ("made.y", "an oracle call that is given none", "ỹ"),
    (OF_SCRATCH, "an oracle call that is given nothing", "ỹ"),
    ("ramp_lam.lam solve.lam", "the oracle call, after the lower level,", "λ̃"),
    ("grad_f.x grad_g.x grad_g_star.x h.x", "line 6", "x"),
    ("grad_f.x", "∇_x f in line 6", "x"),
    ("grad_g.x", "∇_x g(x,ỹ) in line 6", "x"),
    ("grad_g_star.x", "∇_x g(x,ỹ*) in line 6", "x"),
    ("h.x", "h(x,ỹ) in line 6", "x"),
    ("grad_f.y grad_g.y h.y", "line 6", "ỹ"),
    ("grad_f.y", "∇_x f(x,ỹ) in line 6", "ỹ"),
    ("grad_g.y", "∇_x g(x,ỹ) in line 6", "ỹ"),
    ("h.y", "h(x,ỹ) in line 6", "ỹ"),
    ("grad_f.y grad_g.y", "∇_x f(x,ỹ) and ∇_x g(x,ỹ) in line 6", "ỹ"),
    ("grad_g_star.y_0", "∇_x g(x,ỹ*) in line 6", "ỹ*"),
    ("estimate.weights", "line 6", "ρ"),
    ("solve.rho estimate.weights", "the penalty solve and line 6", "ρ"),
    ("estimate.h", "line 6", "h(x,ỹ)"),
)
IN_NOISE = _spots(
    *((" ".join(f"size_{of}.{name}{when}" for name in names.split(" and ")), f"the size of the noise of {of}", names)
      for of, names in (("f", "x"), ("f", "ỹ"), ("f", "x and ỹ"), ("g", "ỹ"), ("g", "ỹ*"), ("g", "ỹ and ỹ*"))
      for when in ("", ",always")),
    ("z_f", "the noise of f", "the normals"),
    ("z_g", "the noise of g", "the normals"),
    ("z_f z_g", "the noise", "the normals"),
    ("noise_f", "line 6", "the noise of f"),
    ("noise_g", "line 6", "the noise of g, 0 where g has none,"),
    ("noise_g,matrix", "line 6", "the noise of g"),
    ("noise_f noise_g", "line 6", "the noise of f and of g"),
)  # fmt: skip
OF_STAGE: dict[Stage, tuple[RememberedSpot, ...]] = {
    "lower_level": IN_PAIR, "activation": IN_WEIGHTS, "penalty_minimiser": IN_SOLVE,
    "hypergradient": (*IN_CALL, *IN_SOLVE, *IN_WEIGHTS, *IN_PAIR), "samples": IN_NOISE,
}  # fmt: skip
"""Where each stage may take something over."""


_STEPS = {"factor": NEWTON_STEPS, "from_zero": REFINEMENTS, "falling": FALLING_STEPS}
OF_MATRICES = frozenset(f"{place}{k}.H" for place, counts in _STEPS.items() for k in counts)
"""Places of what is made of matrices alone."""
NUMBERS = frozenset({"ramp_h.h_width", "ramp_lam.lam_width"})
"""Places of what has one size in all calls."""


@dataclass
class Memory:
    """What a subject kept so far, at some places, in one way."""

    places: frozenset[str]
    keeping: Keeping
    slots: dict[Any, Any] = field(default_factory=dict)
    call: Any = None
    rho: bytes = b""

    def use(self, place: str, value: Any) -> Any:
        """What is used where a value belongs; the value is kept where that is so."""
        if place == "solve.rho":
            digits = WEIGHT_DIGITS if "near" in self.keeping else 17
            self.rho = np.round(np.asarray(value), digits).tobytes()
        if place not in self.places:
            return value
        shape = np.shape(value)
        if self.keeping in ("before", "right before"):
            slot: Any = (place, shape) if self.keeping == "before" else place
            before = self.slots.get(slot, value)
            self.slots[slot] = value
            return before if np.shape(before) == shape else value
        if self.keeping in HELD:
            if (key := (shape, self.call)) != self.slots.get(place, (key,))[0]:
                del self.slots[place]
            return self.slots.setdefault(place, (key, value))[1]
        by = self.rho if self.keeping in BY_WEIGHTS else b""
        slot = (place, shape, None if self.keeping == "first" else self.call, by)
        return self.slots.setdefault(slot, value)


@dataclass(eq=False)
class TakenOver:
    """Answers of a subject that takes one value over: its own, as first calls, and what the memory changes of them."""

    spot: RememberedSpot
    keeping: Keeping
    sequence: Sequence[AskedState] = ()
    answers: list[Vector | None] = field(default_factory=list)
    memory: Memory | None = None

    def __call__(self, sequence: Sequence[AskedState], i: int) -> Vector | None:
        """The answer at a place of a sequence."""
        if self.sequence is not sequence:
            self.sequence, self.answers = sequence, []
            self.memory = Memory(self.spot.places, self.keeping)
        while len(self.answers) <= i:
            self.answers.append(self._next(sequence[len(self.answers)]))
        return self.answers[i]

    def _next(self, one: AskedState) -> Vector | None:
        assert self.memory is not None  # made with the sequence
        if self.keeping in BY_CALL | BY_WEIGHTS:
            self.memory.call = tuple(
                one.question.told.get(name) for name in _told_apart_by(self.keeping) if name in one.question.told
            )
        right, with_memory = right_play(one.question.probe), played(one.question.probe, self.memory.use)
        return None if right is None or with_memory is None else one.own + (with_memory - right)


def _told_apart_by(keeping: Keeping) -> list[str]:
    """What calls are told apart by where a value is kept so."""
    return [word for word in keeping.split() if word not in ("held", "near", "weights")]


@lru_cache(maxsize=512)
def right_play(probe: Probe) -> Vector | None:
    """The answer of a stage that remembers nothing."""
    return played(probe, as_right)


@np.errstate(all="ignore")
def taken_over(stage: Stage, walked: Sequence[AskedState]) -> list[StateRule]:
    """All single values that, taken over, give every answer of a walk; none where too little is off."""
    if sum(not one.is_near(one.own, CLEAR) for one in walked) < FEWEST:
        return []
    rules: list[StateRule] = []
    known = walked[0].question.told
    for spot, keeping in product(OF_STAGE.get(stage, ()), KEEPINGS):
        if (keeping == "right before" and spot.places <= NUMBERS) or (
            keeping in BY_CALL and not known.keys() >= {*_told_apart_by(keeping)}
        ):
            continue
        if keeping in ("problem x weights", "problem x near weights"):
            if not spot.places <= {"made.y", OF_SCRATCH}:
                continue
        elif keeping in ("matrices", *BY_WEIGHTS, *HELD) and not spot.places <= OF_MATRICES:
            continue
        rule = StateRule(f"{spot.where} uses {spot.what} {KEEPINGS[keeping]}", TakenOver(spot, keeping), near=True)
        if any(other.sentence == rule.sentence for other in rules):
            continue
        if all(one.is_near(rule.predict(walked, i)) for i, one in enumerate(walked)):
            rules.append(rule)
    return rules


@kept_by_reading(4)
def value_questions(stage: Stage) -> tuple[Question, ...]:
    """Questions on which values that are kept from call to call can be told apart: all of them, and all sizes, vary."""
    alike = () if stage == "samples" else questions(stage, is_there=False)
    return (*alike, *(Question(probe) for probe in _varied(stage)))


def _varied(stage: Stage) -> Iterator[Probe]:
    if stage == "activation":
        for k in range(8):
            rng = np.random.default_rng([k, 31])
            rows, w, lw = 1 + k % 4, float(rng.integers(1, 9)) / 32, float(rng.integers(1, 9)) / 16
            h, lam = rng.uniform(-1.2, 0.3, rows) * w, rng.uniform(-0.2, 1.5, rows) * lw
            yield activation_probe(f"kept-{k}", h, lam, w, lw)
    elif stage == "lower_level":
        drawn = [drawn_place(820 + k, SHAPES[k % len(SHAPES)]) for k in range(2 * len(SHAPES))]
        places = (place.moved(by) for place in drawn for by in FAR)
        yield from (lower_level_probe(place) for place in places if place.has_one_pair)
    elif stage == "penalty_minimiser":
        yield from map(minimiser_question, (*SEEDS, *(seed + 16 for seed in SEEDS[:3])))
        # The second is the first at another x; at other alphas, no Hessian of theirs is one.
        for (k, place), high, off_pair in product(enumerate(_mixed_up()), (1, 2), (False, True)):
            alpha = high * (0.375 if k == 1 else 0.25)
            yield penalty_probe(place, alpha, tol=GRADIENT_NORM, name=f"kept{'-off' * off_pair}", off_pair=off_pair)
        # The first two with the same ρ at another α.
        yield from (_at_alpha(minimiser_question(seed, alpha=0.375)) for seed in SEEDS[:2])
        # Another problem with the same matrices, so that these are told from the problem.
        yield penalty_probe(tilted_place(_mixed_up()[0], Fraction(1, 4)), 0.375, tol=GRADIENT_NORM, name="kept")
    elif stage == "samples":
        yield from map(noisy_question, NOISY_SEEDS)
        yield from (drawn_call(600 + k, "additive") for k in range(4))
        yield from (drawn_call(600 + k, "matrix") for k in range(3))
    else:
        yield from map(line_6_question, SEEDS)
        for given in (FROM_RHO, FROM_PAIR, FROM_SCRATCH):
            yield from (chain_question(seed, given) for seed in (804, 808, 801, 812))
        # The first two with the same ρ at another α.
        yield from (_at_alpha(chain_question(seed, FROM_RHO, 0.125)) for seed in (804, 808))
        yield from (_at_alpha(chain_question(seed, FROM_SCRATCH, 0.125)) for seed in (804, 808))
        yield from (widths_probe(place, 0.05, "h") for place in _mixed_up())


def _at_alpha(probe: Probe) -> Probe:
    return replace(probe, id=f"{probe.id}/{probe.call.alpha:g}")


def _mixed_up() -> list[JudgedPlace]:
    """One problem at two points, and another at one of them: weights tell by which of the two they are kept."""
    one, two = (solvable_place(seed, is_flat=False) for seed in (804, 808))
    here = (one, one.moved(0.0625), two.at(f"{two.name}-there", one.x))
    return [place for place in here if place.has_one_pair]


def walk_of(count: int, seed: int) -> list[int]:
    """An order of questions in which many follow each other, the same for a seed; the last comes before all others.

    Then each follows the one before it: these differ least.
    """
    drawn = (int(k) for k in np.random.default_rng([seed, count]).integers(count, size=LENGTH))
    return [count - 1, *drawn, *range(count)]
