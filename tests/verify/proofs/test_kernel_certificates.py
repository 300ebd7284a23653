"""A certificate that the checker accepts is a theorem for the kernel, named by its content; a tampered one is none."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec import InvalidInputError
from tests.verify.truth.problems import regular_instances
from verify.cli.main import invoke
from verify.cli.statements import prove_certificates
from verify.proofs.kernel.certificate_checking import SOUND, prove_terms, put_to_the_kernel, spread
from verify.proofs.kernel.certificate_terms import IMPORTS, content_hash, coq_term
from verify.proofs.kernel.coq_run import CoqRun
from verify.proofs.kernel.coq_sources import FOLDER, needed, read_sources
from verify.proofs.kernel.theorems import load_theorems
from verify.truth.certificates.certificate import Certificate
from verify.truth.certificates.certification import WantedBound, certify
from verify.truth.certificates.checker import check
from verify.truth.certificates.integer_polynomials import is_positive
from verify.truth.functions_of_alpha.penalty_functions import PenaltyFamily
from verify.truth.functions_of_alpha.scenario import Scenario, exact_error

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not on the path")
FAMILIES: dict[str, PenaltyFamily] = dict(regular_instances())


def made(name: str, quantity: str, exponent: int, side: str = "upper", **scenario: object) -> Certificate:
    bound = WantedBound(exponent=exponent, quantity=quantity, side=side)  # type: ignore[arg-type]
    return certify(FAMILIES[name], Scenario(**scenario), bound, Fraction(1, 8))  # type: ignore[arg-type]


def unit(name: str, part: str) -> list[int]:
    problem = FAMILIES[name].problem
    return [1] + [0] * ((problem.m if part == "y" else problem.p) - 1)


KINDS = {
    "bias": made("toy1", "bias", 2),
    "bias, frozen, from below": made("two-of-three", "bias", -2, "lower", dual_term="frozen"),
    "bias, both maps": made("toy1", "bias", 2, dual_term="both-maps"),
    "bias, y* off": made("moving-box", "bias", 1, y_star_error=(exact_error(3, unit("moving-box", "y")),)),
    "T1": made("toy1", "T1", -1, y_error=(exact_error(3, unit("toy1", "y")),)),
    "T1, gradient": made("two-of-three", "T1", 1, gradient_error=(exact_error(1, unit("two-of-three", "y")),)),
    "T2": made("two-of-three", "T2", 1, lam_error=(exact_error(3, unit("two-of-three", "lam")),)),
    "T3": made("box-rational", "T3", 2),
    "T3 from below": made("two-of-three", "T3", 2, "lower"),
    "shift": made("toy1", "solution-shift", 5, lam_error=(exact_error(3, unit("toy1", "lam")),)),
    "penalty shift": made("scalar-rational", "penalty-shift", 2),
}  # fmt: skip


def changed(certificate: Certificate, **parts: object) -> Certificate:
    return certificate.model_copy(update=parts)


def first_changed(vector: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return (vector[0] + 1, *vector[1:])


GOOD, BELOW = KINDS["bias"], KINDS["T3 from below"]
TAMPERED = {
    "constant": changed(GOOD, constant_squared=GOOD.constant_squared * Fraction(9, 10)),
    "constant, from below": changed(BELOW, constant_squared=BELOW.constant_squared * 2),
    "exponent": changed(GOOD, exponent=3),
    "side": changed(GOOD, side="lower", constant_squared=GOOD.constant_squared * 2),
    "numerator": changed(GOOD, numerators=(first_changed(GOOD.numerators[0]),)),
    "denominator": changed(GOOD, denominator=first_changed(GOOD.denominator)),
    "interval": changed(BELOW, alpha_0=Fraction(100)),
    "reference": changed(GOOD, reference=first_changed(GOOD.reference)),
    "solution": changed(GOOD, y_star=first_changed(GOOD.y_star)),
    "multiplier": changed(GOOD, lam=first_changed(GOOD.lam)),
    "quantity": changed(KINDS["T1"], quantity="bias"),
    "dual term": changed(GOOD, scenario=GOOD.scenario.model_copy(update={"dual_term": "frozen"})),
    "weights": changed(GOOD, scenario=GOOD.scenario.model_copy(update={"rho": (Fraction(1, 2),)})),
    "point": changed(GOOD, x=first_changed(GOOD.x)),
}  # fmt: skip


for kind, spent in (("bias, y* off", "y_star_error"), ("T1", "y_error"), ("T1, gradient", "gradient_error"),
                    ("T2", "lam_error")):  # fmt: skip
    scenario = KINDS[kind].scenario
    (error,) = getattr(scenario, spent)
    turned = error.model_copy(update={"direction": tuple(-value for value in error.direction)})
    TAMPERED[f"{spent} turned"] = changed(KINDS[kind], scenario=scenario.model_copy(update={spent: (turned,)}))
    TAMPERED[f"{spent} left out"] = changed(KINDS[kind], scenario=scenario.model_copy(update={spent: ()}))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoqRun]:
    """The checker, compiled once."""
    run = CoqRun(tmp_path_factory.mktemp("checker"), shutil.which("coqc") or "", read_sources())
    assert run.compile(needed(dict(run.sources), load_theorems().order, {SOUND.split(".")[0]})) == []
    yield run


@pytest.mark.parametrize("name", KINDS)
def test_the_other_checker_accepts_the_same(name: str) -> None:
    check(KINDS[name])


@needs_coq
def test_the_kernel_accepts_every_kind_and_refuses_each_tampered_one(compiled: CoqRun) -> None:
    good = [coq_term(certificate) for certificate in KINDS.values()]
    bad = {name: coq_term(certificate) for name, certificate in TAMPERED.items()}
    accepted, refused = prove_terms(compiled, [*good, *bad.values()])
    assert accepted == {term.name for term in good}
    assert refused == dict.fromkeys((term.name for term in bad.values()), "its check comes out false")


@needs_coq
def test_the_kernel_itself_refuses_the_theorem_of_a_tampered_certificate(compiled: CoqRun) -> None:
    term = coq_term(TAMPERED["constant"])
    (compiled.place / "tampered.v").write_text(IMPORTS + term.definitions + term.theorem, encoding="utf-8")
    done = compiled.coqc("tampered.v")
    assert done.returncode
    assert term.theorem.split()[0] == "Theorem"


@needs_coq
def test_both_checkers_find_the_same_polynomials_positive(compiled: CoqRun) -> None:
    # Squares of near roots need several halvings; negative ones and roots inside are to be refused.
    several = [[k * k + more, -32 * k, 256] for k in range(1, 16) for more in (0, 1)] + [[1], [-1], [0, 1], [1, -1]]

    @settings(max_examples=200, derandomize=True, database=None)
    @given(st.lists(st.integers(-40, 40), min_size=1, max_size=7).filter(any), st.integers(0, 60))
    def draw(polynomial: list[int], raised: int) -> None:
        several.append([polynomial[0] + raised, *polynomial[1:]] if polynomial[0] + raised else polynomial)

    draw()
    spelt = "; ".join(f"[{'; '.join(f'({value})' for value in one)}]" for one in several)
    head = "From Coq Require Import List ZArith.\nFrom f2csa Require Import polynomials.\nImport ListNotations.\n"
    asked = f"Open Scope Z_scope.\nEval vm_compute in map (is_positive DEPTH) [{spelt}].\n"
    (compiled.place / "agree.v").write_text(head + asked, encoding="utf-8")
    found = [word == "true" for word in re.findall(r"\b(?:true|false)\b", compiled.coqc("agree.v").stdout)]
    assert found == [is_positive(one) for one in several]
    assert min(found.count(True), found.count(False)) > 30


def test_a_theorem_is_named_by_all_that_its_certificate_holds() -> None:
    names = {coq_term(certificate).name for certificate in [*KINDS.values(), *TAMPERED.values()]}
    assert len(names) == len(KINDS) + len(TAMPERED)
    assert coq_term(GOOD).name == f"bound_{content_hash(GOOD)[:16]}"
    again = Certificate.model_validate_json(GOOD.model_dump_json())
    assert coq_term(again) == coq_term(GOOD)


def test_what_the_kernel_has_no_words_for_is_told() -> None:
    convexity = tuple(premise.model_copy(update={"modulus": Fraction(1, 2)}) for premise in GOOD.convexity)
    with pytest.raises(InvalidInputError, match="modulus 0"):
        coq_term(changed(GOOD, convexity=convexity))


def test_a_sample_is_spread_and_holds_each_once() -> None:
    several = list(KINDS.items())
    assert spread([*several, *several], None) == several
    assert [name for name, _ in spread(several, 3)] == [several[k][0] for k in (0, 3, 7)]


def test_without_coq_nothing_is_accepted() -> None:
    outcome = put_to_the_kernel([("here", GOOD), ("there", KINDS["T3"])], coqc=None)
    assert [one.state for one in outcome.findings] == ["not checked"] * 2
    assert outcome.faults == ()


def test_sources_that_are_not_on_record_are_not_relied_on(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "coq"))
    with (folder / "definite.v").open("a", encoding="utf-8") as file:
        file.write("(* *)\n")
    outcome = put_to_the_kernel([("here", GOOD)], folder=folder)
    assert outcome.faults == ("definite.v is not the file on record: it was edited since",)
    assert outcome.count("accepted") == 0


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    report = ["bias-bound/T3", "--instance", "toy1", "--profile", "smoke", "--out", str(tmp_path)]
    assert invoke(["verify", *report]) in (0, 1)
    capsys.readouterr()
    monkeypatch.setattr(prove_certificates, "put_to_the_kernel", lambda several: put_to_the_kernel(several, coqc=None))
    assert invoke(["prove", "--certificates", str(tmp_path), "--limit", "2"]) == 3
    assert capsys.readouterr().out == "2 certificates: 2 not put to the kernel here (no coqc).\n"
    assert invoke(["prove", "--certificates", str(tmp_path), "--json", "--out", str(tmp_path / "terms")]) == 3
    told = json.loads(capsys.readouterr().out)
    held = {row["hash"] for row in told["certificates"]}
    assert all(row["theorem"] == f"bound_{row['hash'][:16]}" for row in told["certificates"])
    assert len(held) == len(told["certificates"]) == 3
    written = (tmp_path / "terms" / "certificates.v").read_text(encoding="utf-8")
    assert all(f"Theorem {row['theorem']} : certified" in written for row in told["certificates"])
    for wrong in (["toys.kink"], ["--kernel"], ["--record"], ["--limit", "0"]):
        assert invoke(["prove", "--certificates", str(tmp_path), *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    for alone in (["--limit", "2"], ["--out", str(tmp_path)]):
        assert invoke(["prove", *alone]) == 2
