"""Lower levels with mistakes nobody listed are described by programs that foresee their pairs; nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from spec import Quadratic, parse_problem
from tests.verify.conformance.blame.one_stage import (
    Pair,
    Solving,
    coarse,
    lower,
    quadratic_program,
    solving,
    transposed,
)
from verify.conformance.blame.accuracy.accuracy import DeclaredAccuracy
from verify.conformance.blame.all_stages import explain_all
from verify.conformance.blame.lower_level.lower import LowerProgram
from verify.conformance.blame.lower_level.lower_blame import explain_lower
from verify.conformance.blame.lower_level.lower_places import LOWER_MEASURING, LOWER_RESERVE, drawn_problems
from verify.conformance.blame.sums.single_edits import candidates
from verify.conformance.bugs.bent_subject import by_id
from verify.conformance.comparison.stage_comparison import look
from verify.conformance.places.places import JudgedPlace
from verify.conformance.probes.probes import Probe, lower_level_probe
from verify.subjects.protocol import StageCalls


def free(a: Any, x: Any) -> Any:
    return -np.linalg.solve(a.g_yy, a.g_xy.T @ x + a.g_y)


def pull(a: Any, x: Any, y: Any) -> Any:
    return a.g_yy @ y + a.g_xy.T @ x + a.g_y


def one_pass(a: Any, x: Any) -> Any:
    """Rows that the free minimiser violates are held."""
    q, r, y, lam = a.g_xy.T @ x + a.g_y, a.A @ x - a.b, free(a, x), np.zeros(len(a.b))
    held = np.flatnonzero(r - a.B @ y > 0)
    if len(held):
        W, none = a.B[held], np.zeros((len(held), len(held)))
        found = np.linalg.lstsq(np.block([[a.g_yy, -W.T], [W, none]]), np.concatenate([-q, r[held]]))[0]
        y, lam[held] = found[: len(y)], found[len(y) :]
    return y, lam


def by_parts(a: Any, x: Any, *, y: float = 1.0, terms: Any = (1.0, 1.0, 1.0), r: Any = None, G: Any = None) -> Any:
    """From the free minimiser and the rows that bind, with factors; ``r`` chooses rows, ``G`` stands for g_yy."""
    G = dict.fromkeys(("y₀", "K", "y"), a.g_yy) | (G or {})
    S = np.flatnonzero(lower(a, x, **({} if r is None else {"r": r}))[1] > 1e-9)
    y_0, lam, W = -np.linalg.solve(G["y₀"], a.g_xy.T @ x + a.g_y), np.zeros(len(a.b)), a.B[S]
    right = terms[0] * a.A[S] @ x - terms[1] * a.b[S] - terms[2] * W @ y_0
    lam[S] = np.linalg.solve(W @ np.linalg.solve(G["K"], W.T), right)
    return y * y_0 + np.linalg.solve(G["y"], a.B.T @ lam), lam


def all_rows(a: Any, x: Any) -> Any:
    p = len(a.b)
    system = np.block([[a.g_yy, -a.B.T], [a.B, np.zeros((p, p))]])
    found = np.linalg.lstsq(system, np.concatenate([-a.g_xy.T @ x - a.g_y, a.A @ x - a.b]))[0]
    return found[:-p], found[-p:]


def penalised(weight: float) -> Pair:
    def pair(a: Any, x: Any) -> Any:
        q, r, y = a.g_xy.T @ x + a.g_y, a.A @ x - a.b, free(a, x)
        for _ in range(60):
            W, over = a.B[r - a.B @ y > 0], r[r - a.B @ y > 0]
            y = np.linalg.solve(a.g_yy + weight * W.T @ W, weight * W.T @ over - q)
        return y, weight * np.maximum(r - a.B @ y, 0)

    return pair


def central(mu: float) -> Pair:
    """Newton's method on slack times multiplier = mu, from the right active set's solution pushed inside."""

    def pair(a: Any, x: Any) -> Any:
        q, r = a.g_xy.T @ x + a.g_y, a.A @ x - a.b
        y, lam = lower(a, x)
        slack, lam = np.maximum(a.B @ y - r, 1e-2), np.maximum(lam, 1e-2)
        for _ in range(200):
            F = np.concatenate([a.g_yy @ y + q - a.B.T @ lam, a.B @ y - r - slack, slack * lam - mu])
            p, m = len(r), len(y)
            J = np.block([[a.g_yy, np.zeros((m, p)), -a.B.T], [a.B, -np.eye(p), np.zeros((p, p))],
                          [np.zeros((p, m)), np.diag(lam), np.diag(slack)]])  # fmt: skip
            step = np.linalg.solve(J, -F)
            dy, ds, dl = step[:m], step[m : m + p], step[m + p :]
            size = min(1.0, 0.9 / max(float(np.max(-ds / slack)), float(np.max(-dl / lam)), 1e-9))
            y, slack, lam = y + size * dy, slack + size * ds, lam + size * dl
        return y, lam

    return pair


def ascent(steps: int, size: float) -> Pair:
    def pair(a: Any, x: Any) -> Any:
        q, r, lam = a.g_xy.T @ x + a.g_y, a.A @ x - a.b, np.zeros(len(a.b))
        for _ in range(steps):
            y = np.linalg.solve(a.g_yy, a.B.T @ lam - q)
            lam = np.maximum(0, lam + size * (r - a.B @ y))
        return np.linalg.solve(a.g_yy, a.B.T @ lam - q), lam

    return pair


def then(change: Any) -> Pair:
    """The right pair, changed."""
    return lambda a, x: change(a, x, *lower(a, x))


def with_f(a: Any, x: Any) -> Any:
    return lower(a, x, G=a.g_yy + a.f_yy, q=a.g_xy.T @ x + a.g_y + a.f_xy.T @ x + a.f_y)


def three_at_once(a: Any, x: Any) -> Any:
    y, lam = lower(a, x, q=0.7 * a.g_xy.T @ x + a.g_y, r=-a.A @ x - a.b)
    return y, 1.1 * lam


PLANTED: dict[str, tuple[Pair, str]] = {
    "no rows": (lambda a, x: (free(a, x), 0 * a.b), "the rows are left out"),
    "B flipped": (lambda a, x: lower(a, x, B=-a.B), "with −B in place of B"),
    "no A": (lambda a, x: lower(a, x, r=-a.b), "without A x"),
    "A flipped": (lambda a, x: lower(a, x, r=-a.A @ x - a.b), "with −A in place of A"),
    "no b": (lambda a, x: lower(a, x, r=a.A @ x), "without b"),
    "b flipped": (lambda a, x: lower(a, x, r=a.A @ x + a.b), "with −b in place of b"),
    "no g_xy": (lambda a, x: lower(a, x, q=a.g_y), "without g_xyᵀx"),
    "g_xy transposed": (lambda a, x: lower(a, x, q=transposed(a.g_xy).T @ x + a.g_y), "g_xy is transposed"),
    "no g_y": (lambda a, x: lower(a, x, q=a.g_xy.T @ x), "without g_y"),
    "yᵀGy without ½": (lambda a, x: lower(a, x, G=2 * a.g_yy), "with 2·g_yy in place of g_yy"),
    "diagonal": (lambda a, x: lower(a, x, G=np.diag(np.diag(a.g_yy))), "only the diagonal of g_yy"),
    "odd factor": (lambda a, x: lower(a, x, q=a.g_xy.T @ x + 1.37 * a.g_y), "with 1.37·g_y in place of g_y"),
    "B transposed": (lambda a, x: lower(a, x, B=transposed(a.B)), "B is transposed where it is square"),
    "A transposed": (lambda a, x: lower(a, x, r=transposed(a.A) @ x - a.b), "A is transposed where it is square"),
    "at zero": (lambda a, x: lower(a, 0 * x), "it is solved at x = 0"),
    "rows as equations": (all_rows, "every row is held as an equation"),
    "one pass": (one_pass, "held as an equation, without another look"),
    "other way round": (lambda a, x: quadratic_program(a.g_yy, a.g_xy.T @ x + a.g_y, -a.B, a.b - a.A @ x),
                        "held the other way round"),
    "1.1 λ": (then(lambda a, x, y, lam: (y, 1.1 * lam)), "1.1·λ is returned"),
    "−λ": (then(lambda a, x, y, lam: (y, -lam)), "−λ is returned"),
    "no λ": (then(lambda a, x, y, lam: (y, 0 * lam)), "λ = 0 is returned"),
    "λ in a box": (then(lambda a, x, y, lam: (y, np.minimum(lam, 0.5))), "λ is cut off at 0.5"),
    "λ by least squares": (then(lambda a, x, y, lam: (y, np.linalg.lstsq(a.B.T, pull(a, x, y))[0])), "over all rows"),
    "λ of the row before": (then(lambda a, x, y, lam: (y, np.roll(lam, 1))), "the λ of the row before it"),
    "λ of unit rows": (then(lambda a, x, y, lam: (y, lam * np.linalg.norm(a.B, axis=1))), "‖Bᵢ‖λᵢ is returned"),
    "regularised": (lambda a, x: lower(a, x, G=a.g_yy + 1e-3 * np.eye(len(a.g_y))), "0.001·I is added to g_yy"),
    "f too": (with_f, "g + 1·f is minimised"),
    "margin": (lambda a, x: lower(a, x, r=a.A @ x - a.b + 0.01), "h ≤ −0.01 is held"),
    "penalty": (penalised(1e3), "a penalty ½·1000·‖max(h, 0)‖²"),
    "barrier": (central(1e-3), "−hᵢλᵢ = 0.001 in every row"),
    "unfinished": (ascent(20, 0.1), "20 projected gradient steps of size 0.1 on λ"),
    "three at once": (three_at_once, "with 0.7·g_xy in place of g_xy; and 1.1·λ is returned"),
    "rounded": (then(lambda a, x, y, lam: (np.round(y, 3), np.round(lam, 3))), "rounded to 3 decimals"),
    "two y₀": (lambda a, x: by_parts(a, x, y=2.0), "with 2·y₀ in place of y₀"),
    "r alone": (lambda a, x: by_parts(a, x, terms=(1.0, 1.0, 0.0)), "without B_S y₀"),
    "rows chosen without b": (lambda a, x: by_parts(a, x, r=a.A @ x), "without b where the binding rows are chosen"),
    "f_yy in y₀": (lambda a, x: by_parts(a, x, G={"y₀": a.f_yy}), "f_yy stands in place of g_yy in y₀"),
    "f_yy in K": (lambda a, x: by_parts(a, x, G={"K": a.f_yy}), "f_yy stands in place of g_yy in K"),
    "f_yy in y": (lambda a, x: by_parts(a, x, G={"y": a.f_yy}), "f_yy stands in place of g_yy in g_yy⁻¹B_Sᵀλ_S"),
    "rows without b, 2y₀": (lambda a, x: by_parts(a, x, y=2.0, r=a.A @ x), "b where the binding rows are chosen; and"),
    "f_y for g_y": (lambda a, x: lower(a, x, q=a.g_xy.T @ x + a.f_y), "f_y stands in place of g_y"),
    "coarse, no b": (coarse(lambda a, x: lower(a, x, r=a.A @ x), 1e-6), "without b"),
    "coarse, 1.1 λ": (coarse(then(lambda a, x, y, lam: (y, 1.1 * lam)), 1e-5), "1.1·λ is returned"),
}  # fmt: skip


def fresh() -> Iterator[Probe]:
    """Problems drawn otherwise than those that explanations are found on: of ninths, not of eighths."""
    rng = np.random.default_rng(331)
    for k in range(8):
        n, m, p = ((2, 2, 2), (3, 2, 4), (3, 3, 3), (2, 3, 3))[k % 4]
        root, A, B = (rng.integers(-9, 10, size) / 9 for size in ((m, m), (p, n), (p, m)))
        x, y, slack = rng.integers(-9, 10, n) / 9, rng.integers(-9, 10, m) / 9, rng.integers(3, 12, p) / 9
        g = {"xy": rng.integers(-9, 10, (n, m)) / 9, "yy": root @ root.T + np.eye(m), "y": rng.integers(-30, 30, m) / 9}
        f = {"yy": np.eye(m), "xy": rng.integers(-9, 10, (n, m)) / 9, "y": rng.integers(-9, 10, m) / 9}
        rows = {"A": A, "B": B, "b": A @ x - B @ y + slack}
        problem = parse_problem({"kind": "quadratic", "f": f, "g": g, "constraints": rows})
        assert isinstance(problem, Quadratic)
        yield lower_level_probe(JudgedPlace(f"fresh-{k}", problem, tuple(Fraction(float(value)) for value in x)))


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_described_and_foreseen(name: str) -> None:
    pair, words = PLANTED[name]
    subject = Solving(pair)
    blame = explain_lower(StageCalls(subject))
    assert len(blame.explanations) == 1, [e.sentence for e in blame.explanations]
    explanation = blame.explanations[0]
    assert words in explanation.sentence
    assert explanation.edits == explanation.sentence.count("; and ") + 1
    assert blame.held_out >= 6 and blame.agrees >= blame.held_out and blame.apart <= 1
    assert subject.calls <= 200
    exactly = 2e-3 if "coarse" in name else 1e-6
    compared = 0
    for probe in fresh():
        said = explanation.answer(probe)
        if said is not None:
            compared += 1
            got = probe.ask(StageCalls(subject))
            np.testing.assert_allclose(said, got, atol=exactly * (1 + np.abs(got).max()))
    assert compared >= 3


def random_pair(a: Any, x: Any) -> Any:
    rng = np.random.default_rng()
    return rng.standard_normal(len(a.g_y)), rng.standard_normal(len(a.b))


NULLS: dict[str, Pair] = {
    "zero": lambda a, x: (0 * a.g_y, 0 * a.b),
    "constant": lambda a, x: (0 * a.g_y - 1000, 0 * a.b - 1000),
    "random": random_pair,
    "echo": lambda a, x: (np.resize(x, len(a.g_y)), np.resize(x, len(a.b))),
    "noisy": lambda a, x: tuple(u + 1e-3 * v for u, v in zip(lower(a, x), random_pair(a, x), strict=True)),
    "fixed noise": coarse(lower, 3e-3),
    "coarse alone": coarse(lower, 1e-5),
}


@pytest.mark.parametrize("name", ["right", *NULLS])
def test_what_is_right_or_knows_nothing_gets_no_name(name: str) -> None:
    blame = explain_lower(solving(NULLS.get(name, lower)))
    assert not blame.explanations and blame.agrees == 0


@pytest.mark.parametrize("bug", ["stale-lower-level", "frozen-lower-level"])
def test_what_a_subject_remembers_is_not_taken_for_a_term(bug: str) -> None:
    assert not explain_lower(StageCalls(by_id(bug))).explanations


def test_a_declared_accuracy_finds_what_exact_limits_hide() -> None:
    stages = solving(PLANTED["coarse, 1.1 λ"][0])
    (found,) = explain_lower(stages, accuracy=DeclaredAccuracy(1e-5, True)).explanations
    assert isinstance(found, LowerProgram) and found.outputs == (("λ scaled", 1.1),)


def test_drawn_problems_show_every_term() -> None:
    probes = drawn_problems()
    assert len(probes) == LOWER_MEASURING + LOWER_RESERVE
    for probe in probes:
        a = probe.problem.arrays
        lam = probe.expected[a.B.shape[1] :]
        assert a.b.any() and (a.A != 0).all() and (a.g_xy != 0).all()
        assert 0 < np.count_nonzero(lam) < len(lam) and lam[lam > 0].min() >= 1 / 16


def test_every_single_edit_answers_and_differs_from_the_right_pair() -> None:
    for program in candidates("lower_level"):
        assert isinstance(program, LowerProgram) and program.edits == 1
        said = [(program.answer(probe), probe.expected) for probe in drawn_problems()]
        answered = [(found, right) for found, right in said if found is not None]
        assert len(answered) >= 6, program.sentence
        assert any((np.abs(found - right) > 1e-6).any() for found, right in answered), program.sentence


def test_errors_on_some_problems_do_not_hide_what_others_show() -> None:
    def f_in_y(a: Any, x: Any) -> Any:
        if np.linalg.cond(a.f_yy) > 1e12:
            raise np.linalg.LinAlgError("singular")
        return by_parts(a, x, G={"y": a.f_yy})

    stages = solving(f_in_y)
    seen = look(stages)
    assert [finding.status for finding in seen.findings if finding.stage == "lower_level"] == ["fault"]
    (blame,) = (blame for blame in explain_all(stages, seen) if blame.stage == "lower_level")
    assert ["f_yy stands in place of g_yy" in e.sentence for e in blame.explanations] == [True]
