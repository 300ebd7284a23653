"""Implementations put to the vectors: right ones pass, wrong ones miss."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import f2csa_ref
from tests.verify.conformance.vectors import plain
from verify.conformance.probes.playing import answers, asked, misses, rejects
from verify.conformance.vectors.generation import all_vectors
from verify.conformance.vectors.model import TestVector
from verify.conformance.vectors.release import contents
from verify.subjects import MissingCapabilityError, ReferenceSubject
from verify.subjects.protocol import StageCalls, StageFaultError


def held() -> list[TestVector]:
    return [vector for vector in all_vectors() if vector.rejects is None]


def bad() -> list[TestVector]:
    return [vector for vector in all_vectors() if vector.rejects is not None]


@lru_cache(maxsize=1)
def reference_answers() -> dict[str, dict[str, Any]]:
    """All the reference shows, stage by stage."""
    stages, made = StageCalls(ReferenceSubject()), {}
    for vector in held():
        made[vector.id] = all_stages(vector) if vector.stage == "hypergradient" else answers(vector, stages)
    return made


def all_stages(vector: TestVector) -> dict[str, Any]:
    probe = asked(vector)
    call = probe.call
    r = f2csa_ref.hypergradient(
        vector.parsed_problem(),
        probe.x,
        alpha=call.alpha,
        reading=call.reading,
        parameters=call.parameters,
        given=f2csa_ref.Stages(call.y_star, call.lam, call.rho, call.y_penalty),
        draws=None if call.draws is None else f2csa_ref.Draws(**call.draws),
    )
    stages = {"y_star": r.y_star, "lam": r.lam, "rho": r.rho, "y_penalty": r.y_penalty}
    return stages | {f"terms.{name}": part for name, part in r.terms.items()} | {"hypergradient": r.hypergradient}


def test_the_reference_passes_every_vector() -> None:
    found = {vector.id: misses(vector, reference_answers()[vector.id]) for vector in held()}
    assert {id_: list(map(str, missed)) for id_, missed in found.items() if missed} == {}


def test_the_reference_as_a_subject_answers_the_same() -> None:
    stages = StageCalls(ReferenceSubject())
    for vector in [vector for vector in held() if vector.stage == "hypergradient"][::5]:
        assert misses(vector, answers(vector, stages)) == ()


def test_the_reference_refuses_bad_input() -> None:
    stages = StageCalls(ReferenceSubject())
    assert [vector.id for vector in bad() if not rejects(vector, stages)] == []


@pytest.mark.parametrize(("kind", "refuses"), [("error", True), ("hang", False), ("crash", False)])
def test_hanging_is_no_way_of_refusing(kind: str, refuses: bool) -> None:
    class Faulty(ReferenceSubject):
        def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
            raise StageFaultError("activation did something", kind)

    vector = next(vector for vector in bad() if vector.stage == "activation")
    if refuses:
        assert rejects(vector, StageCalls(Faulty()))
        return
    with pytest.raises(StageFaultError):
        rejects(vector, StageCalls(Faulty()))


def test_answering_bad_input_is_not_refusing_it() -> None:
    class Careless(ReferenceSubject):
        def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
            return np.ones_like(h)

    vector = next(vector for vector in bad() if vector.id == "rejects/activation/h-width-zero")
    assert not rejects(vector, StageCalls(Careless()))


def test_a_naive_implementation_passes_all_that_do_not_ask_for_the_stable_form() -> None:
    worst: dict[str, float] = {}
    for name, text in contents().items():
        if name in ("manifest.json", "rejects.json", "lower-level-runs.json"):
            continue
        for data in json.loads(text)["vectors"]:
            if "not-quadratic" in data["flags"] or "shift-form" in data["flags"]:
                continue
            found = plain.answer(data)
            for block, wanted in data["expected"].items():
                if block in found:
                    gap = np.abs(np.array(found[block]) - wanted["value"])
                    ratio = gap / np.maximum(wanted["tolerance"], 1e-300)
                    worst[name] = max(worst.get(name, 0.0), float(ratio.max()))
    assert set(worst) == {"activation.json", "lower-level.json", "penalty-minimiser.json", "hypergradient.json"}
    # Neither too tight: a right implementation stays far inside; nor generous beyond need: within two orders.
    assert max(worst.values()) < 0.2
    assert min(worst.values()) > 1e-3


def test_every_expected_entry_is_asked_for() -> None:
    """Moved by one and a half tolerances in one entry, an answer misses."""
    for vector in held():
        for name, block in vector.expected.items():
            value, tolerance = np.array(block.value), np.array(block.tolerance)
            i = int(np.argmax(tolerance))
            moved = value.copy()
            moved[i] += 1.5 * tolerance[i] + 4 * np.spacing(abs(value[i]) + 1e-300)
            assert misses(vector, {name: value}) == ()
            assert [miss.entry for miss in misses(vector, {name: moved})] == [i]


def test_a_value_wrong_by_a_hundredth_is_missed_by_the_reference() -> None:
    """The other way round: expected values that are off do not pass unnoticed."""
    for vector in held():
        if "loose-tolerance" in vector.flags:
            continue
        for name in vector.main_outputs:
            block = vector.expected[name]
            i = int(np.argmax(np.abs(block.value)))
            if block.value[i] == 0:
                continue
            wrong = list(block.value)
            wrong[i] *= 1.01
            changed = vector.model_copy(update={"expected": {name: block.model_copy(update={"value": tuple(wrong)})}})
            assert misses(changed, reference_answers()[vector.id])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_misses(value: float) -> None:
    vector = next(vector for vector in held() if vector.stage == "activation")
    assert misses(vector, {"rho": np.full(len(vector.expected["rho"].value), value)})


def test_supplied_draws_are_not_put_to_a_subject_that_ignores_them() -> None:
    class OwnDraws(ReferenceSubject):
        uses_draws = False

    vector = next(vector for vector in held() if vector.draws)
    with pytest.raises(MissingCapabilityError, match="draws"):
        answers(vector, StageCalls(OwnDraws()))


class _KeepsDualTerm(ReferenceSubject):
    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        return super().hypergradient(problem, x, replace(call, reading=call.reading.choose(dual_term="frozen")), rng)


class _IgnoresGiven(ReferenceSubject):
    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        return super().hypergradient(problem, x, replace(call, y_star=None, lam=None, rho=None, y_penalty=None), rng)


class _SwappedPairing(ReferenceSubject):
    def hypergradient(self, problem: Any, x: Any, call: Any, rng: Any) -> Any:
        other = {"common": "independent", "independent": "common"}[call.reading.noise_pairing]
        return super().hypergradient(problem, x, replace(call, reading=call.reading.choose(noise_pairing=other)), rng)


class _HardActivation(ReferenceSubject):
    def activation(self, h: Any, lam: Any, h_width: float, lam_width: float) -> Any:
        return ((h > -h_width) & (lam > 0)).astype(float)


class _WeakPenalties(ReferenceSubject):
    def penalty_minimiser(self, problem: Any, x: Any, call: Any, tol: float | None) -> Any:
        return super().penalty_minimiser(problem, x, replace(call, alpha=call.alpha**0.5), tol)


class _PlusSign(ReferenceSubject):
    def lower_level_runs(self, problem: Any, x: Any, call: Any, rng: Any, replications: int) -> Any:
        other = {"plus": "minus", "minus": "plus"}[call.reading.primal_dual_sign]
        changed = replace(call, reading=call.reading.choose(primal_dual_sign=other))
        return super().lower_level_runs(problem, x, changed, rng, replications)


class _Unconstrained(ReferenceSubject):
    def lower_level(self, problem: Any, x: Any) -> Any:
        a = getattr(problem, "quadratic", problem).arrays
        return np.linalg.solve(a.g_yy, -(a.g_y + a.g_xy.T @ x)), np.zeros(len(a.b))


@pytest.mark.parametrize(
    ("subject", "flag", "stage"),
    [
        (_KeepsDualTerm, "dual-term", "hypergradient"),
        (_SwappedPairing, "noise-pairing", "hypergradient"),
        (_HardActivation, "hard-activation", "activation"),
        (_WeakPenalties, "weak-penalties", "penalty_minimiser"),
        (_PlusSign, "step-sign", "lower_level_runs"),
        (_Unconstrained, "rows-ignored", "lower_level"),
    ],
)
def test_a_bug_misses_exactly_where_its_flag_is(subject: type[ReferenceSubject], flag: str, stage: str) -> None:
    """The flags are computed in exact numbers; here the bug is real code, and the two agree vector by vector."""
    stages = StageCalls(subject())
    for vector in held():
        if vector.stage != stage or "not-quadratic" in vector.flags:
            continue
        # Where the other reading is right, the bug is no bug: it is the same bug in reverse only for swaps.
        if subject is _KeepsDualTerm and vector.reading is not None and vector.reading.dual_term == "frozen":
            continue
        if subject is _SwappedPairing and not vector.draws:
            continue
        if flag == "step-sign" and "averaged" in vector.id and flag not in vector.flags:
            continue
        missed = bool(misses(vector, answers(vector, stages)))
        assert missed == (flag in vector.flags), vector.id


def test_ignoring_given_stages_is_missed_where_they_are_displaced() -> None:
    stages = StageCalls(_IgnoresGiven())
    displaced = [v for v in held() if v.stage == "hypergradient" and "given-ignored" in v.flags]
    assert len(displaced) >= 20
    assert all(misses(vector, answers(vector, stages)) for vector in displaced)
