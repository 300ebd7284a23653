"""The generator of the wire's page: as printed there, in plain Python, as normals, and as messages carry it."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from spec import REPAIRED
from spec.problem import parse_problem
from verify.subjects import Call
from verify.subjects.wire import self_test
from verify.subjects.wire.client import WireSubject
from verify.subjects.wire.messages import Hello
from verify.subjects.wire.seeded_draws import GENERATOR, blocks_of, normals, uniforms, words
from verify.subjects.wire.self_test import TINY

PAGE = (Path(__file__).parents[4] / "docs" / "wire.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| (0x[0-9A-F]+), (0x[0-9A-F]+) \| (.*) \|$", PAGE, re.M)
MASK = 2**64 - 1


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_numbers_on_the_page_are_right(row):
    seed, first, second, printed = row
    assert words(int(seed), 2).tolist() == [int(first, 16), int(second, 16)]
    np.testing.assert_allclose(normals(int(seed), 4), [float(text) for text in printed.split(", ")], rtol=1e-15)


def test_the_page_has_three_rows_and_the_generators_name():
    assert len(ROWS) == 3
    assert GENERATOR in PAGE


def mixed(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


@pytest.mark.parametrize("seed", [0, 1, 987654321, 2**53 - 1])
def test_the_page_read_in_plain_python_gives_the_same(seed):
    u = [(mixed((seed + (i + 1) * 0x9E3779B97F4A7C15) & MASK) >> 11) * 2.0**-53 for i in range(6)]
    assert uniforms(seed, 6).tolist() == u
    pairs = [math.sqrt(-2 * math.log(1 - a)) for a in u[::2]]
    angles = [2 * math.pi * b for b in u[1::2]]
    expected = [r * turn(t) for r, t in zip(pairs, angles, strict=True) for turn in (math.cos, math.sin)]
    np.testing.assert_allclose(normals(seed, 6), expected, rtol=1e-14)
    np.testing.assert_array_equal(normals(seed, 5), normals(seed, 6)[:5])


def test_the_numbers_are_normal_and_independent():
    z = normals(20_240_913, 400_000)
    for power, moment in ((1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)):
        spread = math.sqrt((z ** (2 * power)).var() / len(z)) + 1e-3
        assert abs((z**power).mean() - moment) < 6 * spread
    for lag in (1, 2, 3):
        assert abs((z[lag:] * z[:-lag]).mean()) < 6 / math.sqrt(len(z))
    assert abs((normals(1, 100_000) * normals(2, 100_000)).mean()) < 6 / math.sqrt(100_000)


def test_blocks_take_their_numbers_one_after_another():
    found = blocks_of(7, {"g_x_star": (2, 1), "g_x": (1, 2), "f_x": (2, 3)})
    assert [*found] == ["f_x", "g_x", "g_x_star"]
    np.testing.assert_array_equal(np.concatenate([block.ravel() for block in found.values()]), normals(7, 10))


class Told(WireSubject):
    """A subject that is not there: keeps what it would be sent, and makes draws as it says."""

    def __init__(self, makes: bool) -> None:
        super().__init__("cat")
        self.asked: list = []
        said = {"protocol": "f2csa-wire/1", "name": "told", "language": "none", "version": "1",
                "capabilities": ["hypergradient", "hypergradient_samples"],
                "uses_draws": "seeded" if makes else True}  # fmt: skip
        self._talk._hello = Hello.model_validate(said)
        self._talk.ask = self.keep
        self._talk.sent = {"p1": None}

    def keep(self, stage, params, **_):
        self.asked.append(params)
        answers = {"hypergradient": np.zeros(2), "hypergradients": np.zeros((params.get("replications", 1), 2))}
        return type("Answer", (), answers)


@pytest.mark.parametrize("makes", [True, False])
def test_a_seed_is_sent_in_place_of_normals_where_the_subject_makes_them(makes):
    problem, subject = parse_problem(TINY), Told(makes)
    call = Call(alpha=0.5, reading=REPAIRED.choose(noise_pairing="independent"))
    subject.hypergradient(problem, np.zeros(2), call, np.random.default_rng(1))
    subject.hypergradient_samples(problem, np.zeros(2), call, np.random.default_rng(1), 5)
    first, second = (params["call"]["draws"] for params in subject.asked)
    shapes = {"f_x": [5, 2], "g_x": [5, 2], "g_x_star": [5, 2]}
    if makes:
        assert (first["generator"], second["shapes"]) == (GENERATOR, shapes)
        assert first["seed"] != second["seed"]
    else:
        assert {name: [len(block), len(block[0])] for name, block in second.items()} == shapes
    handed = Call(alpha=0.5, draws=blocks_of(3, {"f_x": (1, 2)}))
    subject.hypergradient(problem, np.zeros(2), handed, np.random.default_rng(1))
    assert subject.asked[-1]["call"]["draws"] == {"f_x": handed.draws["f_x"].tolist()}


def test_long_lists_become_the_seed_of_the_request():
    problem, subject, call = parse_problem(TINY), Told(False), Call(alpha=0.5)
    for replications in (10, 200_000):
        subject.hypergradient_samples(problem, np.zeros(2), call, np.random.default_rng(1), replications)
    few, *many = subject.asked
    assert len(few["call"]["draws"]["f_x"]) == 10
    assert sum(params["replications"] for params in many) == 200_000
    assert {params["call"]["draws"] is None for params in many} == {True}
    assert len({params["seed"] for params in many}) == len(many) > 1


class MeanOfNormals:
    """Stages that answer with the mean of the normals they are given, or make from a seed."""

    def hypergradient(self, problem, x, call, rng):
        return (self.made(int(rng.integers(self_test.SEEDS))) if call.draws is None else call.draws["f_x"]).mean(axis=0)

    def made(self, seed):
        return blocks_of(seed, {"f_x": (3, 2)})["f_x"]


class CosineAndSineExchanged(MeanOfNormals):
    def made(self, seed):
        return super().made(seed)[:, ::-1]


class NoNoise(MeanOfNormals):
    def hypergradient(self, problem, x, call, rng):
        return 0.0 * x


def test_the_self_test_catches_another_generator_and_none():
    assert self_test._seeded(MeanOfNormals()) == "a seed gives the answer that its normals give"
    with pytest.raises(self_test.CheckFailedError, match="stands for normals that begin with"):
        self_test._seeded(CosineAndSineExchanged())
    with pytest.raises(self_test.CheckFailedError, match="must be used"):
        self_test._seeded(NoNoise())
