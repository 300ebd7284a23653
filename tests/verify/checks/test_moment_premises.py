"""Every repaired statement whose premises are moments meets a law that spends them, or has nothing random to spend.

The statements are found by the words of their premises. A law of the pair's error is spent by the checks themselves; of
the noise a bound of the variance allows rare large draws, which a subject here has; what neither reaches must come out
the same under both noises, to the last digit.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from spec.claims import Premise, find, load_claims
from spec.exact import Vector
from tests.verify.checks.asking import case_of
from verify.campaign.calibration.noisy_reference import NoisyReference
from verify.campaign.plan import DEFAULT_SEED, Task, perform
from verify.checks.measuring.case import checks
from verify.report.model import Result
from verify.subjects import ReferenceSubject
from verify.truth.functions import SyntheticOracle
from verify.verdict import Verdict, decide

MOMENT = re.compile(r"mean square|in the mean|variance|unbiased|right mean|\\mathbb\{E\}|\\operatorname\{Var\}", re.I)
"""Words, and formulas for display, of a hypothesis that is a moment of something random."""
OF_THE_PAIR = ("hypergradient-accuracy", "hypergradient-accuracy/first-moment", "hypergradient-accuracy/sure-or-mean")
"""Statements whose check spends the moments of the pair's error, by its laws."""
OWN_ORACLE = "goldstein-convergence"
"""The check's own oracle answers there, with the largest variance that is stated: its noise is replaced."""


class Rare(NoisyReference):
    """Half of the variance lies in one draw of two hundred, of ten standard deviations: kurtosis 26."""

    name = "rare"

    @staticmethod
    def law(rng, k, n):
        rows = 0.5**0.5 * rng.standard_normal((k, n))
        # One draw says whether an entry is large, and to which side.
        lot = rng.random((k, n))
        large = lot < 1 / 200
        rows[large] += np.where(lot[large] < 1 / 400, -10.0, 10.0)
        return rows


def premises(full: str) -> list[Premise]:
    """The repaired text's own and its claim's, those with a formula left out: they are decided, not spent."""
    claim, statement = find(full.split("/")[0]), find(full)
    every = {premise.id: premise for premise in (*claim.premises, *statement.premises)}.values()
    return [p for p in every if p.id not in statement.goes_without and "repaired" in p.readings and not p.formula]


def under_moments() -> list[str]:
    """Statements with a check that ask for a moment."""
    known = (full for claim in load_claims().values() for full, _ in claim.statements())
    return [
        full
        for full in known
        if full in checks() and any(MOMENT.search(p.words("repaired") + p.latex) for p in premises(full))
    ]


def performed(full: str, subject: ReferenceSubject) -> Result:
    instance = checks()[full].instances[0]
    result = perform(Task(full, "repaired", instance, subject.name, "smoke", DEFAULT_SEED), subject)
    assert result.fault is None, result.fault
    return result


def rare_answer(oracle: SyntheticOracle, z: Vector) -> Vector:
    """What the check's oracle answers, its noise of the rare law."""
    noise = Rare.law(oracle.rng, z.size, 1).reshape(z.shape)
    return oracle.mean(z) + (oracle.variance / len(oracle.function.c)) ** 0.5 * noise


NOISY = [full for full in under_moments() if find(full).about == "subject"]
ITS_LAW = "stochastic-oracles/draws-as-stated"
"""The one statement on the law itself, which no bound hangs on."""
DRAWN = [full for full in NOISY if checks()[full].decisions and full != ITS_LAW]
STILL = [full for full in NOISY if not checks()[full].decisions]
"""Those whose check draws samples, and those whose check draws none."""


def test_the_law_has_the_moments_that_it_spends() -> None:
    rows = Rare.law(np.random.default_rng(1), 400_000, 1)
    assert abs(rows.mean()) < 0.01
    assert abs((rows**2).mean() - 1) < 0.02
    assert (rows**4).mean() > 20


@pytest.mark.parametrize("full", DRAWN)
def test_rare_large_noise_refutes_no_repaired_statement(full: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if full.startswith(OWN_ORACLE):
        monkeypatch.setattr(SyntheticOracle, "__call__", rare_answer)
    result = performed(full, Rare())
    # Too few samples of such a law is an answer; that it breaks the bound is not.
    assert result.verdict in (Verdict.SUPPORTED, Verdict.INCONCLUSIVE), result.sentence


@pytest.mark.parametrize("full", STILL)
def test_where_nothing_is_drawn_the_noise_changes_nothing(full: str) -> None:
    assert performed(full, Rare()).evidence == performed(full, NoisyReference()).evidence


@pytest.mark.parametrize("full", OF_THE_PAIR)
def test_the_error_of_the_pair_is_spent_by_a_law_that_refutes_a_mean(full: str) -> None:
    verdicts = {}
    for reading in ("as-written", "repaired"):
        case = case_of(full, reading, "two-of-three")
        verdicts[reading] = decide(case.bound, checks()[full].function(case).evidence).verdict
    assert verdicts == {"as-written": Verdict.REFUTED, "repaired": Verdict.SUPPORTED}


def test_every_statement_under_moments_is_attacked_or_is_no_program_s() -> None:
    left = [full for full in under_moments() if full not in (*DRAWN, *STILL)]
    # Of formulas and proofs: exact expectations over laws of their own, or no expectation at all; no sample is drawn.
    assert {full for full in left if checks()[full].decisions} == {ITS_LAW}
    assert {find(full).about for full in left if full != ITS_LAW} == {"mathematics"}
    assert len(DRAWN) > 20
    assert set(OF_THE_PAIR) <= set(under_moments())


def test_that_the_law_is_another_one_is_said_by_the_statement_on_it() -> None:
    found = performed(ITS_LAW, Rare())
    assert found.verdict is Verdict.REFUTED
    assert "another law than the problem states" in found.sentence
