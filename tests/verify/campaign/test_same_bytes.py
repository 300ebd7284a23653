"""The same report, byte for byte, however the work is cut; only ``times.json`` says how long it took."""

from __future__ import annotations

import importlib

import pytest

import verify
from verify.report.formats import times

# The package's name for the function hides the module's.
reference = importlib.import_module("f2csa_ref.many.hypergradient_runs")
CLAIMS = ("variance-bound/per-sample", "stochastic-oracles/noise-reaches-gradient", "inner-cost/svrg")


def files(folder, **how):
    """All files of a report but that of its times."""
    report = verify.run(CLAIMS, profile="smoke", instances=["toy1", "two-of-three"], **how)
    assert not report.faults
    return {path.name: path.read_bytes() for path in report.write(folder) if path.name != times.FILE}


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return files(tmp_path_factory.mktemp("one"), jobs=1)


def test_there_are_all_files(one):
    assert set(one) >= {"report.json", "evidence.json", "report.html", "report.md", "junit.xml"}


@pytest.mark.parametrize("jobs", [2, 3])
def test_any_number_of_workers_writes_what_one_does(one, jobs, tmp_path):
    assert files(tmp_path, jobs=jobs) == one


@pytest.mark.parametrize("cached", [1 << 10, 1 << 20])
def test_the_samplers_cache_does_not_show(one, cached, monkeypatch, tmp_path):
    monkeypatch.setattr(reference, "CACHED", cached)
    assert files(tmp_path, jobs=1) == one
