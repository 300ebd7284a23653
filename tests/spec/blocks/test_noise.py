from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import given
from pydantic import ValidationError

from spec import InvalidInputError, Noise, loads_problem, parse_problem
from spec.blocks.noise import NoiseModel, NoisyGradient
from tests.strategies import json_text, noises

GRADIENTS = get_args(NoisyGradient)


@given(noises())
def test_noise_round_trips_inside_a_problem(data: dict[str, Any]) -> None:
    made = loads_problem(json_text({"kind": "holder", "s": 1, "noise": data}))
    assert Fraction(made.noise.sigma_f) == data["sigma_f"]
    assert set(made.noise.on) == set(data.get("on", GRADIENTS))
    again = parse_problem(made.to_dict())
    assert again == made
    assert again.to_dict() == made.to_dict()


def test_the_default_noise_is_none_and_is_not_written() -> None:
    assert "noise" not in parse_problem({"kind": "holder", "s": 1, "noise": {}}).to_dict()
    assert all(Noise().scale(gradient) == 0.0 for gradient in GRADIENTS)


@pytest.mark.parametrize(("model", "gradient"), list(itertools.product(get_args(NoiseModel), GRADIENTS)))
def test_each_gradient_has_its_level_scale(model: NoiseModel, gradient: NoisyGradient) -> None:
    noise = Noise(model=model, sigma_f=Fraction(1, 2), sigma_g=3)
    expected = 0.0 if model == "none" else {"f": 0.5, "g": 3.0}[gradient[0]]
    assert noise.scale(gradient) == expected
    others: Any = [other for other in GRADIENTS if other != gradient]
    assert Noise(model=model, sigma_f=1, sigma_g=1, on=others).scale(gradient) == 0.0


def test_the_order_and_repetition_of_noisy_gradients_do_not_matter() -> None:
    assert Noise(on=("g.y", "f.x", "f.x")) == Noise(on=("f.x", "g.y"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"sigma_f": -1}, "problem.noise.sigma_f: must be >= 0; got -1"),
        ({"sigma_g": "-1/3"}, "problem.noise.sigma_g: must be >= 0; got -1/3"),
        ({"sigma_g": "nan"}, "problem.noise.sigma_g: must be an integer"),
        ({"sigma_g": 1e200}, "problem.noise.sigma_g: must be 0 or of magnitude"),
        ({"sigma": 1}, "problem.noise.sigma: is not a field of this block; got 1"),
        ({"on": ["f.z"]}, "problem.noise.on.0: must be 'f.x', 'f.y', 'g.x' or 'g.y'; got f.z"),
    ],
)
def test_wrong_noise_is_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_problem({"kind": "holder", "s": 1, "noise": data})
    assert str(caught.value).startswith(message)


def test_noise_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Noise().model = "jump"  # type: ignore[misc]  # that it cannot be assigned is what is tested
