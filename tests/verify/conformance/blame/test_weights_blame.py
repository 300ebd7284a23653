"""Activations with mistakes nobody listed are described by rules that foresee their weights; nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.verify.conformance.blame.one_stage import Weigh, Weighing, right_weights, weighing
from verify.conformance.blame.activation.ramps import WeightRule
from verify.conformance.blame.activation.weights_blame import explain_activation
from verify.conformance.blame.sums.single_edits import candidates
from verify.conformance.comparison.stage_comparison import ask
from verify.conformance.probes.probes import Probe, activation_probe, probes
from verify.subjects.protocol import StageCalls

FRESH_SEED = 977


def ramp(t: Any) -> Any:
    return np.clip(t, 0, 1)


def cubic(t: Any) -> Any:
    return t * t * (3 - 2 * t)


def sigmoid(t: Any) -> Any:
    return 1 / (1 + np.exp(-t))


def share(values: Any, of: float) -> Any:
    return values / of if of > 0 else values


def off_below(least: float, rho: Any) -> Any:
    return np.where(rho < least, 0.0, rho)


PLANTED: dict[str, tuple[Weigh, str]] = {
    "step": (lambda h, m, w, v: np.where((h > -w) & (m > 0), 1.0, 0.0), "step: 1 where it should be more than 0"),
    "sure": (lambda h, m, w, v: np.where((h >= 0) & (m >= v), 1.0, 0.0), "step: 1 where it should be 1"),
    "closed step": (lambda h, m, w, v: np.where((h >= -w) & (m > 0), 1.0, 0.0), "the end included"),
    "all": (lambda h, m, w, v: np.ones_like(h), "every row gets weight 1"),
    "h alone": (lambda h, m, w, v: ramp(1 + h / w), "without the ramp of λ"),
    "λ alone": (lambda h, m, w, v: ramp(m / v), "without the ramp of h"),
    "late": (lambda h, m, w, v: right_weights(h - w, m, w, v), "the ramp of h begins one width later"),
    "centred": (lambda h, m, w, v: ramp(0.5 + h / w) * ramp(m / v), "the ramp of h begins 0.5 widths later"),
    "open": (lambda h, m, w, v: np.maximum(1 + h / w, 0) * np.maximum(m / v, 0), "not cut off at 1"),
    "cubic of all": (lambda h, m, w, v: cubic(right_weights(h, m, w, v)), "3ρ² − 2ρ³ in place of ρ"),
    "cubic ramps": (lambda h, m, w, v: cubic(ramp(1 + h / w)) * cubic(ramp(m / v)), "the cubic 3t² − 2t³"),
    "neighbour": (lambda h, m, w, v: np.roll(right_weights(h, m, w, v), 1), "the weight of the row before it"),
    "swapped widths": (lambda h, m, w, v: right_weights(h, m, v, w), "widths are exchanged"),
    "sign of h": (lambda h, m, w, v: right_weights(-h, m, w, v), "with −h in place of h"),
    "smaller": (lambda h, m, w, v: np.minimum(ramp(1 + h / w), ramp(m / v)), "the smaller of both ramps"),
    "too wide": (lambda h, m, w, v: right_weights(h, m, 3.7 * w, v), "3.7·w wide in place of w"),
    "fixed width": (lambda h, m, w, v: right_weights(h, m, 2e-3, v), "0.002 wide, whatever w is"),
    "width squared": (lambda h, m, w, v: right_weights(h, m, w, v * v), "w_λ² wide in place of w_λ"),
    "guard": (lambda h, m, w, v: right_weights(h, m, w + 1e-5, v), "h is divided by w + 1e-05 in place of w"),
    "sigmoids": (lambda h, m, w, v: sigmoid(h / w) * sigmoid(m / v), "the sigmoid 1/(1 + exp(−1"),
    "steep sigmoid": (lambda h, m, w, v: sigmoid(10 * (h / w + 0.5)) * ramp(m / v), "1/(1 + exp(−10(t − ½)))"),
    "small ones off": (lambda h, m, w, v: off_below(0.1, right_weights(h, m, w, v)), "below 0.1 are taken for 0"),
    "sum 1": (lambda h, m, w, v: right_weights(h, m, w, v) / (right_weights(h, m, w, v).sum() + 1e-12), "by their sum"),
    "complement": (lambda h, m, w, v: 1 - right_weights(h, m, w, v), "1 − ρ in place of ρ"),
    "largest": (lambda h, m, w, v: 0 * h + right_weights(h, m, w, v).max(), "every row gets the largest weight"),
    "scaled": (lambda h, m, w, v: 0.99 * right_weights(h, m, w, v), "ρ is multiplied by 0.99"),
    "window": (lambda h, m, w, v: np.where(h <= 0, right_weights(h, m, w, v), 0.0), "0 beyond its upper end"),
    "two at once": (lambda h, m, w, v: right_weights(h, m, v, w) ** 2, "the square of the ramps' product"),
    "half at most": (lambda h, m, w, v: np.clip(1 + h / w, 0, 0.5) * ramp(m / v), "cut off at 0.5 in place of 1"),
    "upside down": (lambda h, m, w, v: ramp(1 + h / w) * ramp(np.divide(v, m, where=m != 0, out=np.full_like(m, 9.0))),
                    "with w_λ/λ in place of λ/w_λ"),
    "another row's h": (lambda h, m, w, v: right_weights(np.roll(h, 1), m, w, v), "with the h of the row before"),
    "doubled, with a guard": (lambda h, m, w, v: 2 * right_weights(h, m, w + 1e-4, v), "ρ is multiplied by 2"),
    "beside the largest": (lambda h, m, w, v: ramp(1 + h / w) * ramp(share(m, m.max())), "with λ/max λ in place"),
    "tent beside the largest": (lambda h, m, w, v: ramp(1 - np.abs(h) / w) * ramp(share(m, m.max())),
                                "−|h| in place of h; and with λ/max λ in place of λ/w_λ"),
    "by the sum of λ": (lambda h, m, w, v: ramp(1 + h / w) * ramp(share(m, m.sum()) / v), "with λ/Σλ in place of λ"),
    "tent and smaller": (lambda h, m, w, v: np.minimum(ramp(1 - np.abs(h) / w), ramp(m / v)), "−|h| in place of h"),
}  # fmt: skip


def fresh() -> Iterator[Probe]:
    """Rows drawn otherwise than those that rules are found on."""
    rng = np.random.default_rng(FRESH_SEED)
    for k in range(20):
        w, v = (float(width) for width in 10 ** rng.uniform(-2, 0, 2))
        p = int(rng.integers(1, 7))
        yield activation_probe(f"fresh-{k}", rng.uniform(-1.4, 0.4, p) * w, rng.uniform(-0.4, 1.4, p) * v, w, v)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_described_and_foreseen(name: str) -> None:
    weigh, words = PLANTED[name]
    subject = Weighing(weigh)
    blame = explain_activation(StageCalls(subject))
    assert len(blame.explanations) == 1, [e.sentence for e in blame.explanations]
    explanation = blame.explanations[0]
    assert words in explanation.sentence
    assert blame.held_out >= 6 and blame.agrees >= blame.held_out and blame.apart <= 1
    assert subject.calls <= 200
    for probe in fresh():
        said = explanation.answer(probe)
        assert said is not None
        np.testing.assert_allclose(said, probe.ask(StageCalls(subject)), atol=2e-9)


NULLS: dict[str, Weigh] = {
    "zero": lambda h, m, w, v: np.zeros_like(h),
    "half": lambda h, m, w, v: np.full_like(h, 0.5),
    "random": lambda h, m, w, v: np.random.default_rng().standard_normal(len(h)),
    "noisy": lambda h, m, w, v: right_weights(h, m, w, v) + 1e-4 * np.random.default_rng().standard_normal(len(h)),
    "fixed noise": lambda h, m, w, v: right_weights(h, m, w, v) + 1e-3 * np.sin(1e4 * (h + m)),
}  # fmt: skip


@pytest.mark.parametrize("name", ["right", *NULLS])
def test_what_is_right_or_knows_nothing_gets_no_name(name: str) -> None:
    blame = explain_activation(weighing(NULLS.get(name, right_weights)))
    assert not blame.explanations and not blame.described and blame.agrees == 0


@pytest.mark.parametrize("factor", [1e-2, 1e-6])
def test_a_width_far_too_small_is_no_hard_switch(factor: float) -> None:
    sentences = [
        e.sentence
        for e in explain_activation(weighing(lambda h, m, w, v: right_weights(h, m, factor * w, v))).explanations
    ]
    assert len(sentences) == 1 and f"{factor:g}·w wide" in sentences[0] and "step" not in sentences[0]


def test_an_unknown_shape_is_described_by_its_profile() -> None:
    blame = explain_activation(weighing(lambda h, m, w, v: ramp(1 + h / w) ** 1.3 * np.log1p(ramp(m / v) * (np.e - 1))))
    assert not blame.explanations
    assert "at λ = 0.375·w_λ the weight is 0.497349 where 0.375 belongs" in blame.described


def test_weights_that_are_no_product_have_no_profile() -> None:
    def tangled(h: Any, lam: Any, w: float, v: float) -> Any:
        t, s = ramp(1 + h / w), ramp(lam / v)
        return t * s * (1 + 0.3 * np.sin(5 * t * s + t))

    blame = explain_activation(weighing(tangled))
    assert not blame.explanations and not blame.described


def test_what_is_seen_so_far_is_explained_too() -> None:
    stages = weighing(PLANTED["sign of h"][0])
    assert explain_activation(stages).agrees == 22
    seen = ask(stages, [probe for probe in probes() if probe.stage == "activation"]).answers
    assert explain_activation(stages, seen).agrees == 22 + len(seen)


def test_every_single_edit_runs_and_differs_from_the_right_weights() -> None:
    rows = [*fresh(), *(probe for probe in probes() if probe.stage == "activation")]
    for rule in candidates("activation"):
        assert isinstance(rule, WeightRule) and rule.edits <= 2
        said = [(rule.answer(probe), probe.expected) for probe in rows]
        assert any(found is not None and (np.abs(found - right) > 1e-8).any() for found, right in said), rule.sentence
