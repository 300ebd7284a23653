"""A result's address changes with what it depends on, the code included, and with nothing else."""

from __future__ import annotations

import ast
import json
import shutil
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import CodeType, FrameType

import pytest

from verify.campaign.plan import Task, perform, plan
from verify.campaign.run_environment import environment
from verify.campaign.store.addresses import Addresses, address_of, sources_of
from verify.campaign.store.dependencies import PACKAGES, CodeHouse, installed
from verify.checks.measuring.case import checks, find_profile
from verify.subjects import ReferenceSubject

VERSIONS = {"numpy": "2"}


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return plan([], ["as-written", "repaired"], [], find_profile("smoke"), "reference", 0)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("house")
    for package in PACKAGES:
        shutil.copytree(installed().root / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def addresses(root: Path, tasks: list[Task]) -> dict[Task, str]:
    known = Addresses(VERSIONS, "", house=CodeHouse(root))
    return {task: address_of(known.inputs(task)) for task in tasks}


@pytest.fixture(scope="module")
def before(copied: Path, tasks: list[Task]) -> dict[Task, str]:
    return addresses(copied, tasks)


def changed(copied: Path, file: str, tasks: list[Task], before: dict[Task, str]) -> set[Task]:
    """Tasks whose address is another once a file is."""
    path = copied / file
    content = path.read_bytes()
    path.write_bytes(content + b"\n")
    try:
        after = addresses(copied, tasks)
    finally:
        path.write_bytes(content)
    return {task for task in tasks if after[task] != before[task]}


def module_of(task: Task) -> str:
    return checks()[task.claim].function.__module__


def test_a_changed_check_concerns_its_own_claims_alone(copied, tasks, before) -> None:
    found = changed(copied, "verify/checks/text/related_rates.py", tasks, before)
    assert found == {task for task in tasks if module_of(task) == "verify.checks.text.related_rates"}
    assert 0 < len(found) < len(tasks) / 10


@pytest.mark.parametrize("file", ["verify/campaign/plan.py", "verify/verdict.py", "f2csa_ref/algorithm_1.py"])
def test_what_everything_runs_through_concerns_everything(file, copied, tasks, before) -> None:
    assert changed(copied, file, tasks, before) == set(tasks)


@pytest.mark.parametrize("file", ["verify/report/figures/drawing.py", "verify/cli/main.py", "verify/campaign/run.py"])
def test_what_nothing_depends_on_concerns_nothing(file, copied, tasks, before) -> None:
    assert changed(copied, file, tasks, before) == set()


def test_a_shared_part_concerns_all_who_import_it_and_nobody_else(copied, tasks, before) -> None:
    found = changed(copied, "verify/checks/measuring/finite_laws.py", tasks, before)
    house = installed()
    users = {task for task in tasks if "verify.checks.measuring.finite_laws" in house.closure(module_of(task))}
    assert found == users
    assert 0 < len(users) < len(tasks)


def test_a_claim_and_an_instance_concern_their_own(copied, tasks, before) -> None:
    found = changed(copied, "spec/instances/holder-1-4.toml", tasks, before)
    assert {task for task in tasks if task.instance == "holder-1-4"} <= found
    assert len(found) < len(tasks) / 2
    found = changed(copied, "spec/claims/variance-bound.toml", tasks, before)
    assert {task for task in tasks if task.claim.startswith("variance-bound")} <= found
    assert len(found) < len(tasks) / 2


def test_every_data_file_that_a_result_could_read_is_named_somewhere() -> None:
    house = installed()
    left = set(house.data) - set(house.named_data(house.modules))
    assert {file.rpartition("/")[0] for file in left} <= {"verify/report/templates", "verify/report/site/causes"}


def test_each_input_makes_another_address(tasks: list[Task]) -> None:
    task = tasks[0]
    known = Addresses(VERSIONS, "", house=installed())
    others = [
        replace(task, seed=1), replace(task, effort=4), replace(task, profile="ci"), replace(task, subject="a:b"),
        replace(task, reading="only:dual_term"), replace(task, instance="toy2" if task.instance == "toy1" else "toy1"),
    ]  # fmt: skip
    found = {known.inputs(other) for other in (task, *others)}
    found |= {Addresses(VERSIONS, "2", house=installed()).inputs(task)}
    found |= {Addresses({"numpy": "3"}, "", house=installed()).inputs(task)}
    found |= {Addresses(VERSIONS, "", "digest", house=installed()).inputs(task)}
    assert len({address_of(inputs) for inputs in found}) == len(others) + 4
    assert known.inputs(replace(task, continuation=({"a": 1},))) == known.inputs(task)


TINY = {
    "spec/__init__.py": "",
    "spec/rows.toml": "",
    "spec/claims/one.toml": "",
    "spec/claims/two.toml": "",
    "verify/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import verify.never\n",
    "verify/never.py": "",
    "verify/first.py": "import numpy\n\ndef f():\n    from verify.deep import inner\n    return inner.x\n",
    "verify/deep/__init__.py": "from . import beside\n",
    "verify/deep/beside.py": "",
    "verify/deep/inner.py": "from ..second import x\nFILE = 'rows.toml'\n",
    "verify/second.py": "x = open(HERE / 'tables')\nCLAIM = 'one/T1'\n",
    "verify/tables/data.json": "",
    "verify/tables/more.json": "",
    "verify/other/data.csv": "",
}


def test_every_form_of_import_counts_but_those_for_types(tmp_path: Path) -> None:
    for name, text in TINY.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    house = CodeHouse(tmp_path)
    found = house.closure("verify.first")
    assert found == {
        "verify", "verify.first", "verify.deep", "verify.deep.beside", "verify.deep.inner", "verify.second",
    }  # fmt: skip
    assert set(house.named_data(found)) == {
        "spec/rows.toml", "spec/claims/one.toml", "verify/tables/data.json", "verify/tables/more.json",
    }  # fmt: skip
    assert house.closure("verify.deep.beside") == {"verify.deep.beside"}
    before = house.whole
    (tmp_path / "verify/other/data.csv").write_text("1")
    assert CodeHouse(tmp_path).whole != before


def test_what_a_result_runs_through_is_what_it_depends_on(tasks: list[Task]) -> None:
    """Every function called while a result is found lies in a file of its address."""
    house = installed()
    base = house.closure("verify.campaign.plan")
    for claim in ("bias-bound/T3", "dual-extraction", "stochastic-oracles/unbiasedness", "consistency"):
        task = next(task for task in tasks if task.claim.startswith(claim))
        known = {house.modules[module] for module in house.closure(module_of(task)) | base}
        called: set[CodeType] = set()

        def notice(frame: FrameType, event: str, _argument: object, seen: set[CodeType] = called) -> None:
            if event == "call":
                seen.add(frame.f_code)

        sys.setprofile(notice)
        try:
            result = perform(task, ReferenceSubject())
        finally:
            sys.setprofile(None)
        assert result.fault is None
        # What is run once, when a module is loaded, may be any; functions are what was asked for.
        paths = {Path(code.co_filename) for code in called if code.co_name != "<module>"}
        ours = {path.relative_to(house.root).as_posix() for path in paths if path.is_relative_to(house.root)}
        assert ours & {house.modules[module_of(task)]}
        assert {file for file in ours if file.split("/")[0] in PACKAGES} <= known


def test_a_strangers_files_are_known_without_running_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("solver.py").write_text("raise SystemExit(0)\n")
    first = sources_of("solver:Subject")
    Path("beside.py").write_text("x = 1\n")
    second = sources_of("solver:Subject")
    Path("solver.py").write_text("raise SystemExit(1)\n")
    third = sources_of("solver:Subject")
    Path("run.sh").write_text("echo\n")
    fourth = sources_of("command:sh run.sh 'unclosed")
    fifth = sources_of("command:sh run.sh")
    assert len({first, second, third, fourth, fifth}) == 5
    Path("run.sh").write_text("echo 1\n")
    assert sources_of("command:sh run.sh") != fifth
    assert sources_of("reference") == ""
    assert "solver" not in sys.modules
    assert sources_of("nowhere.at.all:X") == sources_of("also.nowhere:X")
    assert sources_of(ReferenceSubject()) != sources_of(object())


def test_a_module_is_found_where_it_is_imported_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine", "other.py").write_text("x = 1\n")
    Path("mine.py").write_text("Subject = 1\n")
    served = "command:python -m verify.subjects.wire.serve mine:Subject"
    before = [sources_of(name) for name in ("mine:Subject", served, "command:python -m mine")]
    Path("mine.py").write_text("Subject = 2\n")
    after = [sources_of(name) for name in ("mine:Subject", served, "command:python -m mine")]
    assert all(one != two for one, two in zip(before, after, strict=True))


COMPUTES_NOTHING = {"pydantic_core", "markupsafe", "threadpoolctl"}
"""The first comes with pydantic, each with one version; the others spell words and count threads."""


def test_whatever_a_result_is_computed_with_is_in_its_address_by_version(tasks):
    house, imported = installed(), set()
    for module in house.closure("verify.campaign.plan", *{module_of(task) for task in tasks}):
        for node in ast.walk(ast.parse((house.root / house.modules[module]).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).partition(".")[0])
    foreign = imported - sys.stdlib_module_names - set(PACKAGES) - COMPUTES_NOTHING
    assert {"numpy", "sympy", "flint"} <= foreign
    known = metadata.packages_distributions()
    assert {known[name][0] for name in foreign} <= environment().keys()
    stated = json.loads(Addresses(environment(), "").inputs(tasks[0]))["environment"]
    assert stated["sympy"] == metadata.version("sympy")
