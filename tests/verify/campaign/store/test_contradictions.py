"""Two results are one within bounds of rounding; a millionth, a word or a verdict is a contradiction."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import permutations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import verify
from tests.verify.campaign.store.tiny_runs import edit, rows
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.run_environment import MACHINE, environment, of_every_machine, versions
from verify.campaign.store.contradictions import COUNTED, contradiction
from verify.campaign.store.database import NAME
from verify.campaign.store.kept_results import Store, StoreRow
from verify.campaign.store.merging import ContradictionError, merge
from verify.campaign.store.stored_report import fullest, report_of
from verify.checks.measuring.long_runs import OUTCOMES
from verify.cli.main import invoke
from verify.evidence.model import ComparisonEvidence, RateEvidence
from verify.report.model import Result

ROOT = Path(__file__).parents[4]
CLAIMS = (
    "bias-bound/T1", "bias-bound/T3", "solution-error", "variance-bound/per-sample", "convergence-experiment/stable",
)  # fmt: skip
KERNELS = {
    "plain": {},
    "sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "prescott": {
        "OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    },
}  # fmt: skip
"""Settings by which OpenBLAS and numpy compute as on other processors; where they know none of these, as here."""


RUN = """
import json, sys
from pathlib import Path
import verify
report = verify.run(sys.argv[2:], profile="smoke", store=Path(sys.argv[1]))
assert report.exit_code == 0, report.findings
print(json.dumps(report.environment))
"""


@pytest.fixture(scope="module")
def machines() -> dict[str, dict[str, str]]:
    """What each of the runs says of where it ran, by the kernel's name."""
    return {}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, machines: dict[str, dict[str, str]]) -> dict[str, Path]:
    """The same run on several kernels, by name its folder; the plain one is this process's."""
    folders = {}
    for name, setting in KERNELS.items():
        folders[name] = tmp_path_factory.mktemp(name)
        if not setting:
            report = verify.run(CLAIMS, profile="smoke", store=folders[name] / NAME)
            assert report.exit_code == 0, report.findings
            machines[name] = report.environment
            continue
        command = [sys.executable, "-c", RUN, str(folders[name] / NAME), *CLAIMS]
        done = subprocess.run(
            command, env={**os.environ, **setting}, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr
        machines[name] = json.loads(done.stdout)
    return folders


def results(folder: Path) -> dict[str, Result]:
    return {row.address: found for row in rows(folder / NAME) if (found := row.read()[0]) is not None}


@pytest.fixture(scope="module")
def plain(made: dict[str, Path]) -> list[Result]:
    return list(results(made["plain"]).values())


def test_results_of_other_kernels_are_the_same_within_their_bounds(made: dict[str, Path]) -> None:
    mine = results(made["plain"])
    assert len(mine) == len(rows(made["plain"] / NAME))
    for name, folder in made.items():
        theirs = results(folder)  # believed: each follows from its evidence here, too
        assert theirs.keys() == mine.keys(), name
        assert [found for key in mine if (found := contradiction(mine[key], theirs[key]))] == []
        assert {key: result.verdict for key, result in theirs.items()} == {
            key: result.verdict for key, result in mine.items()
        }


def test_stores_of_two_kernels_merge_into_one_whatever_the_order(
    made: dict[str, Path], machines: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    texts = set()
    for k, order in enumerate(permutations(list(made)[1:])):
        out = tmp_path / f"{k}.sqlite"
        assert merge([made[name] / NAME for name in order], out).results == len(rows(made["plain"] / NAME))
        texts.add(json.dumps([(row.address, row.result) for row in rows(out)]))
    assert len(texts) == 1
    assert invoke(["merge", *(str(made[name]) for name in made), "--out", str(tmp_path / "all")]) == 0
    assert invoke(["report", str(tmp_path / "all")]) == 0
    stated = json.loads((tmp_path / "all" / "report.json").read_text())["environment"]
    each = [*machines.values()]
    assert stated == of_every_machine(each)
    assert invoke(["recheck", str(tmp_path / "all")]) == 0
    assert all(value in stated["BLAS"] for one in each for value in [one["BLAS"]])


def test_a_run_goes_on_from_what_another_kernel_kept_and_says_so(
    made: dict[str, Path], machines: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    merge([made["prescott"] / NAME], tmp_path / NAME)
    report = verify.run(CLAIMS[:1], profile="smoke", store=tmp_path / NAME)
    assert report.kept == len(report.results)
    assert report.environment == of_every_machine([environment(), machines["prescott"]])


def nehalem() -> ProcessPoolExecutor:
    """Workers that start with the setting of another processor."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def test_the_workers_of_an_executor_are_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "X86_V3 X86_V4 AVX512_ICL AVX512_SPR")
    asked: dict[str, Any] = {"profile": "smoke", "instances": ["two-of-three"], "store": tmp_path / NAME}
    there = verify.run(CLAIMS[:1], executor=nehalem, **asked)
    assert there.results
    assert not there.faults
    mine = environment()
    for name in MACHINE:
        assert mine[name] in there.environment[name].split(" or ")
    if "openblas" in mine["BLAS"] and "x86_64" in mine["system"]:
        assert "Nehalem" in there.environment["BLAS"]
    # Nothing but that is another report of what is kept.
    with Store(tmp_path / NAME, to_read=True) as kept:
        again = report_of(kept, fullest(kept), shipped_record())
    assert again.environment == there.environment


def forged(result: Result, change: Any) -> Result:
    """The result with one of its numbers changed."""
    evidence = [change(item) for item in result.evidence]
    return result.model_copy(update={"evidence": tuple(evidence)})


def larger(value: float) -> float:
    return value * (1 + 1e-6)


def comparison(name: str) -> Any:
    def change(item: Any) -> Any:
        if not isinstance(item, ComparisonEvidence) or getattr(item, name) in (0.0, None):
            return item
        return item.model_copy(update={name: larger(getattr(item, name))})

    return change


def coefficient(item: Any) -> Any:
    if not isinstance(item, RateEvidence) or not item.coefficient:
        return item
    return item.model_copy(update={"coefficient": item.coefficient * (1 + 1e-12)})


def point(item: Any) -> Any:
    """Each measured value of a deterministic sweep moved by four uncertainties, and by a millionth at least."""
    if not isinstance(item, RateEvidence) or item.rung != "numeric" or not any(p.measured for p in item.points):
        return item
    moved = [p.model_copy(update={"measured": larger(p.measured) + 4 * p.uncertainty}) for p in item.points]
    return item.model_copy(update={"points": tuple(moved)})


def uncertainty(item: Any) -> Any:
    if not isinstance(item, RateEvidence) or not any(p.uncertainty for p in item.points):
        return item
    moved = [p.model_copy(update={"uncertainty": p.uncertainty * 1.001 + p.measured * 1e-6}) for p in item.points]
    return item.model_copy(update={"points": tuple(moved)})


def constant(item: Any) -> Any:
    if not isinstance(item, RateEvidence) or not item.bounds:
        return item
    moved = [bound.model_copy(update={"constant": larger(bound.constant)}) for bound in item.bounds]
    return item.model_copy(update={"bounds": tuple(moved)})


def finding(item: Any) -> Any:
    return item.model_copy(update={"finding": f"{item.finding} or not"}) if item.kind == "premise" else item


LIES = {
    "predicted": comparison("predicted"), "tolerance": comparison("tolerance"), "coefficient": coefficient,
    "measured": point, "uncertainty": uncertainty, "constant": constant, "finding": finding,
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_a_number_that_is_changed_by_a_millionth_is_a_contradiction(plain: list[Result], name: str) -> None:
    lies = [(result, lie) for result in plain if (lie := forged(result, LIES[name])) != result]
    assert lies
    for result, lie in lies:
        assert contradiction(result, lie) != ""
        assert contradiction(lie, result) != ""


def test_what_was_measured_alone_is_held_to_a_millionth_too(plain: list[Result]) -> None:
    """Where the number has no uncertainty of its own: a rounding error, far below its tolerance, is let off."""
    found = 0
    for result in plain:
        for place, item in enumerate(result.evidence):
            own = isinstance(item, ComparisonEvidence) and item.rung != "statistical"
            if not own or "roundings" in item.quantity or abs(item.measured) * 1024 <= item.tolerance:
                continue
            # Of a number this small the digits on record are wider than a millionth.
            if abs(item.measured) < 1e-4 or result.claim.partition("/")[0] in OUTCOMES:
                continue
            evidence = list(result.evidence)
            evidence[place] = item.model_copy(update={"measured": larger(item.measured)})
            lie = result.model_copy(update={"evidence": tuple(evidence)})
            assert contradiction(result, lie).startswith(item.quantity)
            found += 1
    assert found > 10


@pytest.mark.parametrize("change", [{"verdict": "REFUTED"}, {"effort": 4}, {"quantity": "?"}, {"evidence": ()}])
def test_words_and_verdicts_are_the_same(plain: list[Result], change: dict[str, Any]) -> None:
    result = next(one for one in plain if one.verdict == "SUPPORTED" and one.evidence)
    assert contradiction(result, result) == ""
    assert contradiction(result, result.model_copy(update=change)) == next(iter(change))


def test_a_forged_store_is_refused_and_says_which_number(made: dict[str, Path], tmp_path: Path) -> None:
    merge([made["prescott"] / NAME], tmp_path / NAME)
    for row in rows(tmp_path / NAME):
        result = row.read()[0]
        assert result is not None
        lie = forged(result, comparison("predicted"))
        if lie == result or StoreRow.of(row.inputs, lie).read()[0] is None:
            continue
        changed = StoreRow.of(row.inputs, lie)
        edit(tmp_path / NAME, row, digest=changed.digest, result=changed.result, seconds=changed.seconds)
        break
    else:
        raise AssertionError("no result could be forged")
    with pytest.raises(ContradictionError, match="different evidence of the same run") as refused:
        merge([made["plain"] / NAME, tmp_path / NAME], tmp_path / "out.sqlite")
    assert any(item.quantity in str(refused.value) for item in lie.evidence if item.kind == "comparison")


def test_the_bound_is_below_a_millionth_on_either_side() -> None:
    assert 2 * COUNTED < 1e-6 / (1 + 1e-6)


def test_the_machine_is_stated_and_in_no_address() -> None:
    assert list(environment())[-len(MACHINE) :] == list(MACHINE)
    assert not set(MACHINE) & versions().keys()
    one, other = ({"numpy": "2"} | dict.fromkeys(MACHINE, name) for name in "ab")
    assert of_every_machine([one, other]) == {"numpy": "2"} | dict.fromkeys(MACHINE, "a or b")
    assert of_every_machine([of_every_machine([other, one]), one]) == of_every_machine([one, other])
