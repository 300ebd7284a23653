"""What is wrong with noise that is made of given normals: its formula, number by number, beside the right one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from typing import Any, Literal

import numpy as np

from spec import Noise
from spec.exact import Vector
from verify.conformance.blame.explanations.explanation import Blame
from verify.conformance.blame.noise.noise_terms import (
    RIGHT_TERMS,
    SAME,
    NoiseTerm,
    NoisyCall,
    allowance,
    monomials,
    single_terms,
)
from verify.conformance.blame.questions import DrawnQuestions, drawn_place
from verify.conformance.places.places import rounded, with_noise
from verify.conformance.places.sizes import ANY_PROGRAM
from verify.conformance.probes.probes import Probe, probe_of
from verify.conformance.vectors import known_answers as known
from verify.subjects import MissingCapabilityError
from verify.subjects.protocol import StageCalls

Model = Literal["additive", "matrix", "jump"]
MODELS: tuple[Model, ...] = ("additive", "matrix")
JUMP: Model = "jump"
SHAPE = (5, 3, 2)
"""n, m, p: components enough to tell sums of the same normals apart."""
FIRST = range(600, 612)
"""Seeds of the calls in which formulas are looked for."""
LATER = range(650, 656)
"""Seeds of those that are held out."""
ALPHAS = (0.5, 0.3, 0.75, 0.4, 0.6)
SIGMAS = ("1/2", "3/4", "1/3", "1", "5/4", "2/3", "3/2")
COUNTS = (2, 3, 5, 4)
RIVALS = 3
"""Formulas that are listed where nothing asked tells them apart."""


@lru_cache(maxsize=64)
def drawn_call(seed: int, model: Model) -> Probe:
    """Line 6 under noise, every stage and every normal given; all scales change from seed to seed, g alone may jump."""
    place, rng = drawn_place(seed, SHAPE), np.random.default_rng([seed, 8])
    n, m, p = SHAPE
    draw, N_g = DrawnQuestions(rng), COUNTS[seed % len(COUNTS)]
    given: dict[str, Any] = {
        "y_star": rounded(draw.numbers(m)), "lam": rounded(np.abs(draw.numbers(p))),
        "rho": rounded(rng.integers(1, 9, p) / 8), "y_penalty": rounded(draw.numbers(m)),
    }  # fmt: skip
    widths = {"g_x": 1} if model == "jump" else {"f_x": n, "g_x": n}
    draws = {
        name: tuple(rounded(row) for row in np.round(rng.standard_normal((N_g, width)), 3))
        for name, width in widths.items()
    }
    sigma_f, sigma_g = SIGMAS[seed % len(SIGMAS)], SIGMAS[(3 * seed + 1 + seed // 7) % len(SIGMAS)]
    sigma_f = "0" if model == "jump" else sigma_f
    noise = Noise(model=model, sigma_f=sigma_f, sigma_g=sigma_g)  # type: ignore[arg-type]  # exact spellings are parsed
    alpha = Fraction(ALPHAS[seed % len(ALPHAS)])
    setting = place.setting(alpha=alpha, given=given, noise=noise, N_g=N_g, draws=draws)
    return probe_of(f"hypergradient/{place.name}/draws/{model}", known.hypergradient(setting, ANY_PROGRAM))


@dataclass(frozen=True)
class NoiseFormula:
    """The noise of line 6 as a subject seems to make it: by model and gradient, what it adds where a term belongs.

    ``None`` adds nothing. What is not named is right.
    """

    replaced: tuple[tuple[Model, str, NoiseTerm | None], ...]

    @property
    def sentence(self) -> str:
        """What it adds and what must be added; models that are wrong alike are told once."""
        return "; ".join(self._parts())

    @property
    def edits(self) -> int:
        """Gradients whose noise is wrong."""
        return max(1, len({slot for _, slot, _ in self.replaced}))

    def answer(self, probe: Probe) -> Vector | None:
        """The right estimate with this noise in place of the right one; none of calls without given normals."""
        call = probe.call
        if probe.stage != "hypergradient" or call.draws is None or call.y_penalty is None or call.y_star is None:
            return None
        if probe.problem.noise.model == "none":
            return None
        if not {*call.draws} >= ({"f_x"} if probe.problem.noise.model == "jump" else {"f_x", "g_x"}):
            return probe.expected if probe.problem.noise.model == "jump" else None
        at = NoisyCall(probe, probe.expected)
        at = NoisyCall(probe, probe.expected - sum(at.right.values()))
        return at.quiet + self.noise(at)

    def noise(self, at: NoisyCall) -> Vector:
        """What it adds to the estimate without noise, shape (n,)."""
        model, parts = at.probe.problem.noise.model, dict(at.right)
        # Where noise of g jumps, that of f is additive.
        model = "additive" if model == "jump" else model
        for of, slot, term in self.replaced:
            if of == model:
                parts[slot] = np.zeros(len(at.probe.x)) if term is None else term.value(at)
        return np.asarray(sum(parts.values()))

    def _parts(self) -> Iterator[str]:
        told: set[str] = set()
        for model, slot, term in self.replaced:
            other = [(of, its) for of, its_slot, its in self.replaced if its_slot == slot and of != model]
            alike = any(_same_change(model, term, of, its, slot) for of, its in other)
            if alike and slot in told:
                continue
            told |= {slot} if alike else set()
            under = "under either model of noise" if alike else f"under {model} noise"
            times = " (under matrix noise both times ‖(x,ỹ)‖)" if alike and slot == "f" and term is not None else ""
            yield f"{under} line 6 adds {_added(model, slot, term)}{times}"


def _same_change(model: Model, term: NoiseTerm | None, of: Model, its: NoiseTerm | None, slot: str) -> bool:
    """Whether two models' terms differ from the right ones by the same number."""
    rights = RIGHT_TERMS.get((model, slot)), RIGHT_TERMS.get((of, slot))
    if rights == (None, None):
        return term == its
    if rights[0] is None or rights[1] is None:
        return False
    if term is None or its is None:
        return term is its
    if term.size != rights[0].size or its.size != rights[1].size:
        return False
    return replace(term, size="") == replace(its, size="")


def _added(model: Model, slot: str, term: NoiseTerm | None) -> str:
    right = RIGHT_TERMS.get((model, slot))
    if right is None:
        return "nothing" if term is None else f"{term.words}, which does not belong there"
    words = f"no noise of {slot}" if term is None else term.words
    return f"{words} where {right.words} belongs"


def ask_call(stages: StageCalls, seed: int, model: Model) -> tuple[NoisyCall, Vector]:
    """A call, with the subject's own answer without noise, and what it adds to it under noise."""
    probe = drawn_call(seed, model)
    call = replace(probe.call, draws=None)
    quiet = stages.hypergradient(with_noise(probe.problem, Noise()), probe.x, call, np.random.default_rng(0))
    return NoisyCall(probe, quiet), np.asarray(probe.ask(stages) - quiet)


def explain_draws(stages: StageCalls) -> Blame | None:
    """What a subject makes of given normals, where it is wrong and a formula says what it is.

    ``None`` where it is right, takes no normals or supports no model of noise; without explanations where no formula
    gives it. A model that it does not support is left out.
    """
    if not stages.use_draws:
        return None
    by_model = {model: rows for model in MODELS if (rows := _asked(stages, FIRST, model))}
    choices = {model: _formulas(model, rows) for model, rows in by_model.items()}
    if all([] in formulas for formulas in choices.values()):
        return None
    effect = max(float(np.abs(got - sum(at.right.values())).max()) for rows in by_model.values() for at, got in rows)
    candidates = [NoiseFormula(tuple(chain(*chosen))) for chosen in product(*choices.values())]
    if not candidates:
        return Blame("samples", effect=effect)
    later = [row for model in by_model for row in _asked(stages, LATER, model)]
    rivals = [formula for formula in candidates if all(_gives(formula, at, got) for at, got in later)]
    rivals = sorted(rivals, key=_plainness)[:RIVALS]
    agrees = sum(map(len, by_model.values())) + len(later)
    return Blame("samples", rivals, agrees, len(later), 0.0, effect) if rivals else Blame("samples", effect=effect)


def _asked(stages: StageCalls, seeds: Sequence[int], model: Model) -> list[tuple[NoisyCall, Vector]]:
    """Calls under a model of noise; none where the subject does not support it."""
    with suppress(MissingCapabilityError):
        return [ask_call(stages, seed, model) for seed in seeds]
    return []


def _plainness(formula: NoiseFormula) -> tuple[int, int]:
    return formula.edits, len(formula.sentence)


def _gives(formula: NoiseFormula, at: NoisyCall, got: Vector) -> bool:
    limit = 10 * allowance(at) + SAME * float(np.abs(got).max())
    return bool((np.abs(formula.noise(at) - got) <= limit).all())


Replaced = list[tuple[Model, str, NoiseTerm | None]]


def _formulas(model: Model, rows: Sequence[tuple[NoisyCall, Vector]]) -> list[Replaced]:
    """Replacements that give all calls, the fewest first; one of none where the noise is right."""
    calls = [at for at, _ in rows]

    def left(*slots: str) -> list[Vector]:
        return [got - sum(at.right[slot] for slot in slots) for at, got in rows]

    if _is_zero(calls, left("f", "g")):
        return [[]]
    if not all(np.isfinite(got).all() for _, got in rows):
        return []
    changes: list[Replaced] = []
    slots = ("f", "g") if model == "matrix" else ("f",)
    for slot in slots:
        others = [other for other in slots if other != slot]
        rest = left(*others)
        terms: Sequence[NoiseTerm | None] = [None] if _is_zero(calls, rest) else single_terms(calls, rest)
        changes += [[(model, slot, term)] for term in terms if term != RIGHT_TERMS[model, slot]]
    changes += [[(model, "more", term)] for term in single_terms(calls, left("f", "g"))] if not changes else []
    if not changes:
        changes = [[(model, "f", one), (model, "g", two)] for one, two in _both(calls, left())]
    if not changes and _is_zero(calls, left()):
        changes = [[(model, slot, None) for slot in slots]]
    return changes


def _is_zero(calls: Sequence[NoisyCall], rest: Sequence[Vector]) -> bool:
    return all(float(np.abs(r).max()) <= 10 * allowance(at) for at, r in zip(calls, rest, strict=True))


def _both(calls: Sequence[NoisyCall], rest: Sequence[Vector]) -> Iterator[tuple[NoiseTerm, NoiseTerm]]:
    """Two terms at once."""
    names = [*calls[0].vectors]
    for i, one in enumerate(names):
        for two in names[i + 1 :]:
            numbers = [_two_multiples(at, r, one, two) for at, r in zip(calls, rest, strict=True)]
            if any(pair is None for pair in numbers):
                continue
            pairs = np.array(numbers, dtype=np.float64)
            firsts, seconds = monomials(calls, pairs[:, 0], one), monomials(calls, pairs[:, 1], two)
            yield from ((a, b) for a in firsts for b in seconds)


def _two_multiples(at: NoisyCall, rest: Vector, one: str, two: str) -> Vector | None:
    matrix = np.column_stack([at.vectors[one], at.vectors[two]])
    solution, _, rank, _ = np.linalg.lstsq(matrix, rest, rcond=None)
    numbers: Vector = np.asarray(solution, dtype=np.float64)
    off = float(np.abs(matrix @ numbers - rest).max())
    return numbers if rank == 2 and off <= 10 * allowance(at) + SAME * float(np.abs(rest).max()) else None
