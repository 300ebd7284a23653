"""One problem of the board: every entrant brought to every error, then timed beside the unit, point by point."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from f2csa_ref.fast.first_order_lower import forget
from f2csa_ref.objectives import QuadraticObjectives
from spec.exact import Vector
from verify.experiments.answers.answering import Answer, Effort, Entrant, OutsideDomainError, Work
from verify.experiments.answers.board_field import field_of
from verify.experiments.answers.ours import FastImplicitEntrant
from verify.experiments.answers.problems import Points, drawn, points_of
from verify.experiments.answers.truth import BoardTruth, TrueGradients
from verify.experiments.costs import norm_of
from verify.experiments.model import Row

WANTED = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Relative errors of the hypergradient that all are brought to."""
UNIT = FastImplicitEntrant.name
"""Whose time is 1: it reaches every error."""
ENOUGH = 2
"""Ladders of efforts that reach an error, after which no further one is tried."""
SLOW = 0.5
"""Processor seconds of a preparation or an answer from which on an entrant is timed in one round."""
PATIENCE, LEAST_PATIENCE = 100.0, 0.25
"""An entrant whose answer takes so many times the unit's on its walk, and so many seconds, is not waited for."""
COLD, WALKING, FRESH, TOGETHER, PREPARING = "cold", "walking", "fresh", "fresh, together", "preparation"
clock = time.process_time
"""Of one thread: other work on the machine is not in it."""


@dataclass
class Round:
    """What one entrant at one effort took, by kind of point, and the largest error that it left."""

    seconds: dict[str, list[float]]
    work: dict[str, list[Work]]
    error: float


@dataclass
class Tried:
    """An entrant on a problem: which efforts leave which error where efforts are chosen."""

    entrant: Entrant
    q: QuadraticObjectives
    tuning: Sequence[BoardTruth]
    patience: float = float("inf")
    errors: dict[str, tuple[float, float]] = field(default_factory=dict)

    def candidates(self, wanted: float, scale: float) -> list[Effort]:
        """Those that leave no more than this error, of the first ladders with any, by their work.

        Raises:
            OutsideDomainError: If the entrant has no answer, or too late.
        """
        pairs: list[tuple[float, Effort]] = []
        ladders = 0
        for ladder in self.entrant.ladders(wanted, scale):
            held = False
            for effort in ladder:
                error, work = self._at(effort)
                if not error <= wanted:
                    break
                pairs.append((work, effort))
                held = True
            ladders += held
            if ladders == ENOUGH:
                break
        return [effort for _, effort in sorted(pairs, key=lambda item: item[0])]

    def _at(self, effort: Effort) -> tuple[float, float]:
        key = named(effort)
        if key not in self.errors:
            answering, worst, work = self.entrant.prepare(self.q, effort), 0.0, 0.0
            for at, truth in enumerate(self.tuning):
                began = clock()
                answer = answering.at(truth.x)
                if clock() - began > self.patience and (at or len(self.tuning) == 1):
                    raise OutsideDomainError(f"not waited for: an answer takes {PATIENCE:g} times the unit's or more")
                worst = max(worst, truth.error_of(answer.hypergradient) + truth.error)
                work += answer.work.in_products(self.q.m) or 0.0
            self.errors[key] = worst, work
        return self.errors[key]


def named(effort: Effort) -> str:
    """The effort as a key."""
    return repr(sorted(effort.items()))


@dataclass
class Race:
    """One problem with its points, and the rounds run on it so far."""

    q: QuadraticObjectives
    points: Points
    truths: Mapping[int, BoardTruth]
    unit: Entrant
    rounds: int
    run: dict[tuple[str, str], list[tuple[Round, Round]]] = field(default_factory=dict)

    def raced(self, entrant: Entrant, effort: Effort) -> list[tuple[Round, Round]]:
        """Rounds of the entrant, each beside one of the unit just before it; run once for each effort."""
        key = (entrant.name, named(effort))
        if key not in self.run:
            rounds: list[tuple[Round, Round]] = []
            while len(rounds) < self.rounds:
                rounds.append((self.round(self.unit, {}), self.round(entrant, effort)))
                if max(*rounds[-1][1].seconds[COLD], *rounds[-1][1].seconds[PREPARING]) > SLOW:
                    break
            self.run[key] = rounds
        return self.run[key]

    def round(self, entrant: Entrant, effort: Effort) -> Round:
        """Prepared, then the first answer, the walk, the fresh points, and these together where it can."""
        forget(self.q)
        began = clock()
        answering = entrant.prepare(self.q, effort)
        timing = Round({PREPARING: [clock() - began]}, {PREPARING: [answering.preparation]}, 0.0)
        for kind, at in ((COLD, (self.points.first,)), (WALKING, self.points.walk), (FRESH, self.points.fresh)):
            for x in at:
                began = clock()
                answer = answering.at(x)
                self._kept(timing, kind, clock() - began, [answer], [x])
        together = getattr(answering, "together", None)
        if together is not None:
            began = clock()
            answers = together(np.array(self.points.fresh))
            self._kept(timing, TOGETHER, clock() - began, answers, self.points.fresh)
        return timing

    def _kept(self, timing: Round, kind: str, took: float, answers: Sequence[Answer], at: Sequence[Vector]) -> None:
        timing.seconds.setdefault(kind, []).append(took)
        timing.work.setdefault(kind, []).extend(answer.work for answer in answers)
        for x, answer in zip(at, answers, strict=True):
            truth = self.truths[id(x)]
            timing.error = max(timing.error, truth.error_of(answer.hypergradient) + truth.error)


def measured(
    place: Mapping[str, Any],
    *,
    elsewhere: Sequence[str] = (),
    without: Sequence[str] = (),
    counts: Sequence[int] = (2, 6, 5, 5),
) -> list[Row]:
    """Rows of one problem: an entrant at an error and a kind of points each, and what kept others away.

    ``place`` says ``rows``, ``d``, ``condition`` and ``seed``; ``counts`` are the points to tune at, of the walk, fresh
    ones, and rounds; ``without`` names entrants that are left out at this size.
    """
    at: Row = dict(place)
    kind, d, condition, seed = (place[name] for name in ("rows", "d", "condition", "seed"))
    tuning, walk, fresh, rounds = counts
    q, entrants = drawn(kind, d, condition, seed), field_of(elsewhere)
    points, known = points_of(q, seed, tuning, walk, fresh), TrueGradients(q)
    for_tuning, truths = [known(x) for x in points.tuning], {id(x): known(x) for x in points.judged}
    scale = for_tuning[0].length * q.mu_g / max(norm_of(q.g_xy), 1e-300)
    race = Race(q, points, truths, entrants.named(UNIT), rounds)
    patience = PATIENCE * float(np.median(race.round(race.unit, {}).seconds[WALKING]))
    rows: list[Row] = []
    for entrant in entrants.entrants:
        if entrant.name in without:
            rows.append(at | {"entrant": entrant.name, "status": "left out: not run at this size"})
            continue
        tried = Tried(entrant, q, for_tuning, max(patience, LEAST_PATIENCE))
        rows.extend(at | row for row in _brought(tried, race, scale))
    return rows


def _brought(tried: Tried, race: Race, scale: float) -> Iterator[Row]:
    entrant = tried.entrant
    about: Row = {"entrant": entrant.name, "method": entrant.method, "implementation": entrant.implementation,
                  "version": entrant.version}  # fmt: skip
    for wanted in WANTED:
        try:
            efforts = tried.candidates(wanted, scale)
            # Chosen at some points, held to the error at all others.
            effort = next((e for e in efforts if race.raced(entrant, e)[0][1].error <= wanted), None)
        except OutsideDomainError as error:
            yield about | {"wanted": wanted, "status": f"left out: {error}"}
            continue
        if effort is None:
            least = min((error for error, _ in tried.errors.values()), default=np.inf)
            yield about | {"wanted": wanted, "status": "not reached", "error": float(least)}
            continue
        rounds = race.raced(entrant, effort)
        reached: Row = {"wanted": wanted, "status": "reached", "error": max(round.error for _, round in rounds),
                        "efforts tried": len(tried.errors), **effort}  # fmt: skip
        for row in _told(rounds, race.q.m):
            yield about | reached | row


def _told(rounds: Sequence[tuple[Round, Round]], m: int) -> Iterator[Row]:
    """A row a kind of points: quartiles of the ratios of time, mean counts of an answer, bytes over the unit's."""
    unit, own = rounds[-1]
    for kind, work in own.work.items():
        ratios = []
        for theirs, ours in rounds:
            base = theirs.seconds[kind] if kind in theirs.seconds else [sum(theirs.seconds[FRESH])]
            ratios += [a / b for a, b in zip(ours.seconds[kind], base, strict=True) if b > 0]
        low, middle, high = np.percentile(ratios, (25, 50, 75)).tolist()
        bytes_read = _mean([one.bytes_read for one in work])
        of_unit = _mean([one.bytes_read for one in unit.work[FRESH if kind == TOGETHER else kind]])
        yield {
            "points": kind, "time over the unit's": middle, "lower quartile": low, "upper quartile": high,
            "pairs": len(ratios), "products": _mean([one.products for one in work]),
            "factorisations": _mean([one.factorisations for one in work]),
            "all work in products": _mean([one.in_products(m) for one in work]),
            "draws": float(np.mean([one.draws for one in work])), "bytes": bytes_read,
            "bytes over the unit's": None if bytes_read is None or not of_unit else bytes_read / of_unit,
        }  # fmt: skip


def _mean(values: Sequence[Any]) -> float | None:
    return None if any(value is None for value in values) else float(np.mean(values))
