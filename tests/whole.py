"""Tests that are many of a kind: a command runs all and keeps a record, every other run plays a sample of them.

``python -m pytest --whole -n 2`` runs all of :data:`MANY`, and nothing else where no file is named, and writes down in
``whole.json`` which passed, with digests of their ids and of the data they are about. Every other run holds that record
against its own tests and data (``tests/meta/test_whole.py``), and plays one in so many of each kind, others whenever a
source changes; a test that is named, by its id or with ``-k``, is played whatever the sample.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from verify.campaign.store.dependencies import CodeHouse

HERE = Path(__file__).parent
RECORD = HERE / "whole.json"
RUN = "python -m pytest --whole -n 2"
"""The command that makes the record anew."""


@dataclass(frozen=True)
class Kind:
    """One test function: how many of its tests there are to one that is played, and the data that they are about."""

    one_in: int
    data: tuple[str, ...] = ()


_BUGS, _EDITS = ("verify/conformance/bugs/rows",), ("verify/method/loop_edits.toml",)
_CLAIMS = ("spec/claims",)
MANY = {
    "verify/campaign/recheck/test_forgeries.py::test_a_forged_report_is_refused_or_what_nothing_decides_is_said": Kind(
        4, ("verify/campaign/recheck/records",)
    ),
    "verify/checks/test_audit_numbers.py::test_a_dozen_instances_carry_a_certificate_under_the_repaired_reading": Kind(
        4
    ),
    "verify/checks/test_audit_numbers.py::test_exponents": Kind(4),
    "verify/checks/test_lemmas_on_any_problem.py::test_a_repaired_lemma_holds_wherever_its_premises_do": Kind(4),
    "verify/checks/test_moment_premises.py::test_rare_large_noise_refutes_no_repaired_statement": Kind(6),
    "verify/checks/test_moment_premises.py::test_where_nothing_is_drawn_the_noise_changes_nothing": Kind(4),
    "verify/checks/test_null_optimisers.py::test_who_ignores_the_oracle_is_credited_with_no_step": Kind(4),
    "verify/checks/test_outer_loop_claims.py::test_verdicts_under_both_readings": Kind(4),
    "verify/checks/test_worst_errors.py::test_a_weight_that_switches_on_is_found_whatever_row_it_is_on": Kind(4),
    "verify/checks/measuring/test_budget.py::test_what_is_registered_as_sure_comes_out_the_same_for_other_draws": Kind(
        4
    ),
    "verify/conformance/test_conform.py::test_checks_that_ask_for_other_choices_are_known": Kind(4),
    "verify/conformance/test_diagnosis.py::test_a_mutant_diverges_first_where_it_is_wrong_and_is_named": Kind(5, _BUGS),
    "verify/conformance/test_diagnosis.py::test_a_mutant_is_named_by_its_oracle_call_alone": Kind(5, _BUGS),
    "verify/conformance/test_gates.py::test_nothing_that_knows_nothing_is_supported": Kind(4),
    "verify/conformance/test_unearned.py::test_nothing_is_supported": Kind(4),
    "verify/conformance/blame/test_call_blame.py::test_what_a_call_hands_on_is_told": Kind(4),
    "verify/conformance/blame/test_loop.py::test_a_planted_mistake_gets_its_sentence": Kind(4),
    "verify/conformance/blame/test_lower_blame.py::test_a_planted_mistake_is_described_and_foreseen": Kind(4),
    "verify/conformance/blame/test_sum_blame.py::test_line_6": Kind(4),
    "verify/conformance/blame/test_sum_blame.py::test_minimiser": Kind(4),
    "verify/conformance/blame/test_weights_blame.py::test_a_planted_mistake_is_described_and_foreseen": Kind(4),
    "verify/conformance/bugs/test_kill_matrix.py::test_the_reference_passes_where_mutants_are_caught": Kind(5, _BUGS),
    "verify/conformance/bugs/test_kill_matrix.py::test_what_must_catch_a_mutant_catches_it": Kind(5, _BUGS),
    "verify/method/test_loop_edits.py::test_a_choice_of_the_output_is_told_over_many_runs": Kind(4, _EDITS),
    "verify/method/test_loop_edits.py::test_an_edit_is_told_in_its_words": Kind(4, _EDITS),
    "verify/method/test_loop_edits.py::test_draws_of_a_law_are_told": Kind(4, _EDITS),
    "verify/truth/propositions/test_axes.py::test_no_statement_lacks_a_choice_that_it_hangs_on": Kind(4, _CLAIMS),
}
"""By a test function's id under this folder."""


def digest(lines: list[str]) -> str:
    """Of lines, whatever their order; short, for it only has to differ where they do."""
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def digest_of_data(kind: Kind) -> str:
    """Of the content of all files that the kind's tests are about."""
    folders = [HERE.parent / name for name in kind.data]
    files = [
        file
        for at in folders
        for file in ([at] if at.is_file() else at.rglob("*"))
        if file.suffix in (".toml", ".json")
    ]
    return digest([f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files])


def recorded() -> dict[str, dict[str, Any]]:
    """What passed when all were run last, by function."""
    kept: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return kept


def kind_of(nodeid: str) -> str:
    """The function that a test is one of, as :data:`MANY` has it."""
    return nodeid.partition("[")[0].removeprefix("tests/")


def sampled(ids: list[str], one_in: int, state: str) -> set[str]:
    """One in so many, at least one: others for another ``state`` of the sources."""
    return set(sorted(ids, key=lambda one: zlib.crc32(f"{state} {one}".encode()))[: -(-len(ids) // one_in)])


@dataclass(eq=False)
class Whole:
    """Chooses what is played, and writes down what passed where all was."""

    config: pytest.Config
    ids: dict[str, list[str]] = field(default_factory=dict)
    """All tests of each kind that was collected, played or not."""
    passed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    failed: set[str] = field(default_factory=set)

    @property
    def named(self) -> bool:
        """Whether single tests are asked for."""
        return any("::" in argument for argument in self.config.args) or bool(self.config.option.keyword)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the sample, or all of the kinds where these are asked for."""
        found: dict[str, list[str]] = defaultdict(list)
        for item in items:
            if kind_of(item.nodeid) in MANY:
                found[kind_of(item.nodeid)].append(item.nodeid)
        self.ids = dict(found)
        if self.config.option.whole:
            kept = [item for item in items if kind_of(item.nodeid) in MANY]
        elif self.named:
            return
        else:
            state = CodeHouse().whole
            played = {one for name, ids in found.items() for one in sampled(ids, MANY[name].one_in, state)}
            kept = [item for item in items if kind_of(item.nodeid) not in MANY or item.nodeid in played]
        self.config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In the process that reports."""
        name = kind_of(report.nodeid)
        if name in MANY and report.when == "call" and report.passed:
            self.passed[name].add(report.nodeid)
        elif name in MANY and not report.passed:
            self.failed.add(name)

    def pytest_sessionfinish(self) -> None:
        """The record of every kind that ran and of which nothing failed; others stay as they are."""
        if not self.config.option.whole or self.named or hasattr(self.config, "workerinput"):
            return
        made = recorded() if RECORD.is_file() else {}
        for name, ids in self.passed.items():
            made[name] = {
                "passed": len(ids), "ids": digest([*ids]), "data": digest_of_data(MANY[name]),
                "sources": CodeHouse().whole[:16],
            }  # fmt: skip
        made = {name: made[name] for name in MANY if name in made and name not in self.failed}
        RECORD.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")


CHOOSING = pytest.StashKey[Whole]()
"""Where a session keeps its own."""
