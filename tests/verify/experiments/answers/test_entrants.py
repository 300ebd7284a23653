"""Every entrant answers with the gradient of F, counts its work, and says what is not for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from spec.errors import InvalidInputError
from verify.experiments.answers import public_programs as adapters
from verify.experiments.answers.answering import Entrant, OutsideDomainError
from verify.experiments.answers.board_field import OURS, field_of
from verify.experiments.answers.ours import PageF2csa
from verify.experiments.answers.problems import drawn
from verify.experiments.answers.public_programs import PUBLIC, Public, missing
from verify.experiments.answers.truth import TrueGradients
from verify.experiments.costs import norm_of

WANTED = 1e-3


@pytest.mark.parametrize("entrant", OURS, ids=lambda entrant: entrant.name)
@pytest.mark.parametrize("kind", ["box", "5 rows"])
def test_some_effort_of_each_reaches_an_error_and_its_work_is_counted(entrant: Entrant, kind: str) -> None:
    q = drawn(kind, 12, 10.0, 1)
    x = np.random.default_rng(0).standard_normal(12)
    truth = TrueGradients(q)(x)
    scale = truth.length * q.mu_g / norm_of(q.g_xy)
    errors = []
    for ladder in entrant.ladders(WANTED, scale):
        answer = entrant.prepare(q, ladder[0]).at(x)
        errors.append(truth.error_of(answer.hypergradient))
        assert answer.work.in_products(q.m) is not None
        assert answer.work.bytes_read
        assert answer.work.draws == 0
    assert min(errors) <= WANTED
    assert entrant.version
    assert entrant.method in ("F2CSA", "implicit gradient")


def test_a_certified_page_bounds_its_error() -> None:
    q = drawn("5 rows", 12, 10.0, 1)
    x = np.random.default_rng(0).standard_normal(12)
    answer, truth = PageF2csa(certify=True).prepare(q, {"alpha": 0.05}).at(x), TrueGradients(q)(x)
    assert answer.error_bound is not None
    assert truth.error_of(answer.hypergradient) * truth.length <= answer.error_bound < np.inf
    assert PageF2csa().prepare(q, {"alpha": 0.05}).at(x).error_bound is None


@pytest.mark.parametrize("entrant", OURS, ids=lambda entrant: entrant.name)
def test_where_the_lower_level_is_infeasible_each_says_so(entrant: Entrant) -> None:
    q = drawn("5 rows", 10, 10.0, 1)
    q.B = np.vstack([q.B[:1], -q.B[:1]])
    q.A, q.b = np.zeros((2, 10)), np.array([-1.0, -1.0])
    with pytest.raises(OutsideDomainError):
        entrant.prepare(q, entrant.ladders(WANTED, 1.0)[0][0]).at(np.zeros(10))


def test_what_is_not_installed_is_a_line_and_the_rest_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Public("nobody", "none", ("no-such-package",), (), 10, adapters.daqp_and_lineax)
    monkeypatch.setattr("verify.experiments.answers.board_field.PUBLIC", (absent,))
    found = field_of()
    assert found.absent == ("nobody, which needs no-such-package (pip install)",)
    assert [entrant.name for entrant in found.entrants] == [entrant.name for entrant in OURS]
    assert missing(("numpy",)) == ""


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: public.name)
def test_a_public_program_answers_where_it_is_installed(public: Public) -> None:
    if missing(public.packages):
        pytest.skip(f"{public.name}, {missing(public.packages)}")
    q = drawn("5 rows", 12, 10.0, 1)
    x = np.random.default_rng(0).standard_normal(12)
    answering = public.prepare(q, public.ladders(WANTED, 1.0)[-1][0])
    assert TrueGradients(q)(x).error_of(answering.at(x).hypergradient) < WANTED
    assert all(name in public.version for name in public.packages)


def test_a_problem_too_large_for_a_public_program_is_said() -> None:
    small = Public("small", "none", (), (), 3, adapters.daqp_and_lineax)
    with pytest.raises(OutsideDomainError, match="not waited for beyond 3 variables"):
        small.prepare(drawn("box", 4, 10.0, 0), {})


ELSEWHERE = """
from verify.experiments.answers.ours import FastImplicitEntrant
class Mine(FastImplicitEntrant):
    name = "mine"
class Half:
    name = "half"
def broken():
    raise RuntimeError("no licence")
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "kept_elsewhere.py").write_text(ELSEWHERE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "kept_elsewhere"
    sys.modules.pop("kept_elsewhere", None)


def test_an_entrant_kept_elsewhere_takes_part(elsewhere: str) -> None:
    assert field_of([f"{elsewhere}:Mine"]).named("mine").method == "implicit gradient"


@pytest.mark.parametrize(
    ("what", "said"),
    [("Half", "must have method"), ("broken", "RuntimeError: no licence"), ("Nobody", "cannot be made")],
)
def test_what_is_no_entrant_is_refused(elsewhere: str, what: str, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        field_of([f"{elsewhere}:{what}"])


def test_a_name_twice_is_refused_and_so_is_a_path_without_a_factory(elsewhere: str) -> None:
    with pytest.raises(InvalidInputError, match="a name of its own"):
        field_of([f"{elsewhere}:Mine", f"{elsewhere}:Mine"])
    with pytest.raises(InvalidInputError, match="module:factory"):
        field_of([elsewhere])
