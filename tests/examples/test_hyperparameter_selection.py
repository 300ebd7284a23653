from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "examples" / "hyperparameter_selection.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("hyperparameter_selection", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def small(example):
    """Six features in three groups; the first group says the label, the others are noise."""
    rng = np.random.default_rng(0)

    def part(count):
        labels = rng.choice([-1.0, 1.0], count)
        features = rng.standard_normal((count, 6))
        features[:, :2] += labels[:, None]
        return features, labels

    return example.Data(part(30), part(60), part(60))


def test_the_gradients_are_those_of_the_values(example, small):
    bilevel, rng, step = example.objectives(small), np.random.default_rng(1), 1e-6
    x, y = rng.uniform(-1, 0, 3), rng.uniform(0, 1, 6)
    for i, e in enumerate(np.eye(3) * step):
        slope = (bilevel.g(x + e, y) - bilevel.g(x - e, y)) / (2 * step)
        assert bilevel.grad_x_g(x, y)[i] == pytest.approx(slope, rel=1e-6)
    for i, e in enumerate(np.eye(6) * step):
        for value, gradient in ((bilevel.g, bilevel.grad_y_g), (bilevel.f, bilevel.grad_y_f)):
            slope = (value(x, y + e) - value(x, y - e)) / (2 * step)
            assert gradient(x, y)[i] == pytest.approx(slope, rel=1e-5)


def test_choosing_weights_lowers_the_validation_loss_within_the_box(example, small):
    report = example.select(small, calls=40)
    assert report.blocks[-1].F < report.blocks[0].F
    assert (report.trace.x_bar >= example.LOWEST - 1e-9).all()
    assert (report.trace.x_bar <= example.HIGHEST + 1e-9).all()


def test_the_bundled_data_are_split_as_said(example):
    pytest.importorskip("sklearn", reason="the data ship with scikit-learn")
    data = example.load()
    assert [len(labels) for _, labels in (data.train, data.validation, data.test)] == [100, 200, 269]
    assert set(np.unique(data.train[1])) == {-1.0, 1.0}
    assert example.problem().n == 3
