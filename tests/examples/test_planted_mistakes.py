"""Each example with one mistake planted is told so, in the stage that is wrong; without it, it agrees."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import sys
from typing import get_args

import pytest

from tests.examples.planted import COMPILERS, EXAMPLES, MISTAKES, Planted, built
from tests.whole import digest
from verify.conformance.blame.all_stages import explain_all
from verify.conformance.comparison.stage_comparison import look
from verify.method.lines import Stage
from verify.subjects.loading import end, load_subject
from verify.subjects.protocol import StageCalls
from verify.subjects.wire import self_test

RUNTIMES = {"node_subject": "node", **{example: command[0] for example, command in COMPILERS.items()}}
MODULES = {"pytorch_subject": "torch", "jax_subject": "jax"}
CLASSES = {"pytorch_subject": "PyTorchSubject", "jax_subject": "JaxSubject"}


def require(example: str) -> None:
    if example in RUNTIMES and shutil.which(RUNTIMES[example]) is None:
        pytest.skip(f"{RUNTIMES[example]} is not installed")
    if example in MODULES and importlib.util.find_spec(MODULES[example]) is None:
        pytest.skip(f"{MODULES[example]} is not installed; it is no dependency of this project")


def about(example: str) -> pytest.MarkDecorator:
    """An example, told by its files."""
    files = sorted(file for file in (EXAMPLES / example).glob("*") if file.is_file())
    return pytest.mark.about(digest([file.read_text(encoding="utf-8") for file in files]))


@pytest.fixture(scope="module", params=[pytest.param(name, marks=about(name)) for name in sorted(COMPILERS)])
def compiled(request, tmp_path_factory):
    """A compiled example as it is."""
    require(request.param)
    return built(request.param, tmp_path_factory.mktemp("compiled"))


def test_a_compiled_example_speaks_the_wire(compiled):
    lines = self_test.run_self_test(compiled.removeprefix("command:"))
    assert {"seeded draws", "optimise_runs"} <= {line.check for line in lines}
    assert [line for line in lines if not line.ok] == []


def test_a_compiled_example_agrees_in_every_stage(compiled):
    subject = load_subject(compiled)
    try:
        seen = look(StageCalls(subject))
    finally:
        end(subject)
    status = {finding.stage: finding.status for finding in seen.findings}
    assert {stage for stage, found in status.items() if found == "agrees"} == {*status} - {"runs"}


@pytest.mark.parametrize(
    "mistake", [pytest.param(mistake, marks=about(mistake.example)) for mistake in MISTAKES], ids=lambda one: one.id
)
def test_a_planted_mistake_is_caught_in_its_stage(mistake: Planted, tmp_path, monkeypatch):
    require(mistake.example)
    name = built(mistake.example, tmp_path, mistake)
    if mistake.example in MODULES:
        monkeypatch.syspath_prepend(str(tmp_path))
        name = f"{mistake.example}.adapter:{CLASSES[mistake.example]}"
    subject, upto = load_subject(name), get_args(Stage).index(mistake.stage) + 1
    try:
        stages = StageCalls(subject)
        seen = look(stages, only=get_args(Stage)[:upto])
        told = [blame for blame in explain_all(stages, seen) if blame.stage == mistake.stage]
    finally:
        end(subject)
        for module in [module for module in sys.modules if module.partition(".")[0] == mistake.example]:
            del sys.modules[module]
    assert seen.first == mistake.stage, [(finding.stage, finding.sentence) for finding in seen.findings]
    sentences = [explanation.sentence for blame in told for explanation in blame.explanations]
    assert sentences
    assert all(mistake.sentence in sentence for sentence in sentences), sentences
