"""A subject that chooses what it answers is credited with nothing beyond: who picks the questions proves little."""

from __future__ import annotations

import verify
from verify.subjects import ReferenceSubject


class Reference:
    """The reference's answers under another name, but where ``refuses`` says so."""

    name = "choosy"

    def refuses(self, problem, call) -> bool:
        raise AssertionError(problem, call)

    def hypergradient(self, problem, x, call, rng):
        if self.refuses(problem, call):
            raise NotImplementedError("not this one")
        return ReferenceSubject().hypergradient(problem, x, call, rng)


class AnswersAll(Reference):
    def refuses(self, problem, call) -> bool:
        return False


class OneVariable(Reference):
    def refuses(self, problem, call) -> bool:
        return problem.n > 1


class NoThreeRows(Reference):
    """Answers on problems that nobody has a table of, and not on the one with two of three rows active."""

    def refuses(self, problem, call) -> bool:
        return problem.p == 3


class KnownAlphas(Reference):
    """Has what the sweeps ask for, and nothing between."""

    def refuses(self, problem, call) -> bool:
        return call.alpha not in {0.1, *(0.2 / 2**j for j in range(12))}


def statuses(subject, **asked) -> dict[str, str]:
    report = verify.run(["bias-bound/T3"], subject=subject, readings=["repaired"], profile="smoke", **asked)
    return {row.claim: str(row.status) for row in report.summary}


BOTH = ["toy1", "two-of-three"]


def test_one_that_answers_everywhere_is_supported():
    assert statuses(AnswersAll(), instances=BOTH) == {"bias-bound/T3": "SUPPORTED"}


def test_one_that_refuses_the_harder_problem_is_not():
    assert statuses(NoThreeRows(), instances=["toy1"]) == {"bias-bound/T3": "SUPPORTED"}
    report = verify.run(
        ["bias-bound/T3"], subject=NoThreeRows(), readings=["repaired"], profile="smoke", instances=BOTH
    )
    (row,) = report.summary
    assert row.status == "INCONCLUSIVE"
    assert row.sentence.startswith("Supported where it answers; on two-of-three the subject does not support this")
    assert {str(result.verdict) for result in report.results} == {"SUPPORTED", "NOT_APPLICABLE"}


def test_nor_is_one_that_answers_on_published_problems_alone():
    """What it answers on these may be known by heart: it is asked on larger ones as well."""
    assert statuses(OneVariable(), instances=["toy1"]) == {"bias-bound/T3": "NOT_APPLICABLE"}


def test_nor_is_one_that_answers_at_the_alphas_of_the_sweep_alone():
    assert statuses(KnownAlphas(), instances=BOTH) == {"bias-bound/T3": "NOT_APPLICABLE"}
