"""The worked adapters: small, independent, and right; each runs where its runtime is at hand."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.verify.own_results import own_results
from verify.conformance.probes.playing import answers, misses
from verify.conformance.vectors.generation import all_vectors
from verify.subjects.loading import end, load_subject
from verify.subjects.protocol import StageCalls

EXAMPLES = Path(__file__).parents[2] / "examples"
ADAPTERS = {
    "torch": (EXAMPLES / "pytorch_subject" / "adapter.py", "examples.pytorch_subject.adapter:PyTorchSubject"),
    "jax": (EXAMPLES / "jax_subject" / "adapter.py", "examples.jax_subject.adapter:JaxSubject"),
    "node": (EXAMPLES / "node_subject" / "adapter.mjs", f"command:node {EXAMPLES / 'node_subject' / 'adapter.mjs'}"),
}
MOST_LINES = 100
EACH_NTH = 7
"""Of the test vectors, so many that every stage and stratum is met."""
CLAIMS = {
    "bias-bound/T3": ("two-of-three",),
    "bias-bound/conditional-mean": ("box-rational",),
    "bias-bound/hessian-lipschitz": ("holder-1-4",),
    "lipschitz-solution": ("rows-nearly-dependent", "licq-fails"),
    "dual-extraction/activation-locality": ("toy1",),
    "solution-error": ("toy1",),
    "variance-bound/f-noise-only": ("toy1",),
    "goldstein-convergence/clip": ("kink",),
    "goldstein-convergence/segment-mean": ("absolute-fixed",),
}


@pytest.fixture(scope="module", params=sorted(ADAPTERS))
def subject(request):
    """An adapter whose runtime is at hand."""
    if request.param == "node":
        if shutil.which("node") is None:
            pytest.skip("node is not installed")
    elif importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed; it is no dependency of this project")
    sys.path.insert(0, str(EXAMPLES.parent))
    try:
        made = load_subject(ADAPTERS[request.param][1])
        yield made
        end(made)
    finally:
        sys.path.remove(str(EXAMPLES.parent))


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_is_at_most_a_hundred_lines(name):
    assert len(ADAPTERS[name][0].read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*_subject/*.py")), ids=lambda path: "/".join(path.parts[-2:]))
def test_python_adapters_share_no_code_with_the_suite(path):
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add(str(node.module).partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1, "an adapter's own directory holds all it uses"
    assert imported - sys.stdlib_module_names <= {"numpy", "torch", "jax"}
    assert not {"importlib", "runpy", "subprocess"} & imported


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*_subject/*.mjs")), ids=lambda path: path.name)
def test_the_node_adapter_needs_no_packages(path):
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r'from "([^"]+)"', text)) <= {"node:fs", "./f2csa.mjs", "./oracle.mjs"}
    assert not re.search(r"\brequire\(|\bimport\(", text)


def test_the_repaired_claims_hold_for_an_adapter(subject):
    for claim, instances in CLAIMS.items():
        for result in own_results(claim, subject, instances=instances, profile="smoke"):
            assert result.verdict in ("SUPPORTED", "NOT_APPLICABLE"), (result.instance, result.sentence)


def test_an_adapter_answers_the_test_vectors(subject):
    stages, met = StageCalls(subject), set()
    for vector in all_vectors()[::EACH_NTH]:
        if vector.rejects is None and stages.offers(vector.stage):
            met.add(vector.stage)
            assert not misses(vector, answers(vector, stages)), vector.id
    assert met == {"lower_level", "activation", "penalty_minimiser", "hypergradient"}
