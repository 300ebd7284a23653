"""The class of noise that a project states: what may support, named in the result; refutations hold in all of them."""

from __future__ import annotations

import json
from itertools import pairwise
from math import inf

import numpy as np
import pytest

from spec import InvalidInputError
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.cli.main import invoke
from verify.evidence.anytime import UNIT, NoiseClass, VarianceBets
from verify.evidence.bets.betting import NOTHING, VarianceBound
from verify.evidence.budget import FALSE_SUPPORTS, TOTAL_ERROR, Share
from verify.evidence.samples.moments import Moments
from verify.evidence.streams import Sampler, Streams

STATED = ("gaussian", "kurtosis<=3", "kurtosis<=10", "bounded<=4", "second-moment")


def decided(law, stated, *, factor=1.0, seed=0):
    def draw(rng, k):
        return factor**0.5 * NOISE_LAWS[law](rng, k, 2)

    share = Share(1.4e-9, noise=None if stated is None else NoiseClass.named(stated))
    decision = VarianceBound("v", share, level=2.0, width=2, wanted=0.2, relation="<=", block=512)
    return decision.run(Sampler(draw, Streams((seed, 1)), Moments(np.zeros(2)), 512))


@pytest.mark.parametrize("stated", STATED)
def test_a_refutation_from_above_holds_in_every_class(stated):
    found = decided("Gauss", stated, factor=1.5)
    assert not found.holds
    assert found.refuted_under == NOTHING


def test_a_support_is_within_the_class_stated_and_costs_what_that_leaves_open():
    found = {stated: decided("Rademacher", stated) for stated in STATED}
    assert all(one.holds for one in found.values())
    assert found["kurtosis<=3"].supported_under == "kurtosis at most 3"
    assert found["bounded<=4"].supported_under == "squared lengths at most 4 times their mean"
    assert [found[name].powered for name in STATED] == [True, True, True, True, False]
    assert found["kurtosis<=3"].samples < found["kurtosis<=10"].samples


def test_outliers_support_nothing_beyond_their_kurtosis():
    broken = decided("1 % contaminated", "gaussian")
    assert "they are not Gaussian, as is stated" in broken.broken
    assert "beyond kurtosis at most 10" in decided("1 % contaminated", "kurtosis<=10").broken
    assert decided("1 % contaminated", "kurtosis<=100", factor=0.5).broken is None


def test_bounded_lengths_are_bounded_by_their_chord():
    """Every law on [0, T] of mean one has E exp(-bZ) at most that of the law on 0 and T, which meets it."""
    found, top = NoiseClass.named("bounded<=4"), 4 * UNIT / (UNIT - 1)
    for bet in (0.01, 0.3, 1.0):
        two_points = np.log(1 - 1 / top + np.exp(-bet * top) / top)
        assert float(found._log_mgf(np.array(bet))) == pytest.approx(two_points)


def test_second_moments_alone_never_support():
    bets = VarianceBets.against(1.0, 1, 0.2)
    bets.add(np.ones((4096, 1)) * np.resize([1.0, -1.0], (4096, 1)))
    found = NoiseClass.named("second-moment")
    assert found.most(bets, (4096.0, 4095.0), 1, found.bet(1, 0.2), 1e-3) == inf


def test_what_supports_falsely_has_a_budget_of_the_run():
    full = Share(TOTAL_ERROR)
    assert full.unseen == full.missed
    parts = [Share(TOTAL_ERROR / 881).part(n) for n in (1, 10)]
    assert 881 * parts[0].unseen == pytest.approx(FALSE_SUPPORTS)
    assert 10 * parts[1].unseen == pytest.approx(parts[0].unseen)


@pytest.mark.parametrize(
    "text", ["", "Gaussian", "kurtosis<=0.5", "kurtosis<=nan", "kurtosis<=1e400", "bounded<=", "t5"]
)
def test_another_class_is_refused_in_one_line(text, tmp_path, capsys):
    with pytest.raises(InvalidInputError, match="noise: must be gaussian, kurtosis<=K, bounded<=B or second-moment"):
        NoiseClass.named(text)
    assert invoke(["verify", "stochastic-oracles", "--noise", text or "x", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_run_says_under_which_class_it_was_and_keeps_its_results_apart(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = [
        "verify",
        "stochastic-oracles/bounded-variance",
        "--instance",
        "toy1",
        "--reading",
        "repaired",
        "--jobs",
        "1",
        "--out",
        "r",
    ]
    said = []
    for settings in ('noise = "kurtosis<=4"\n', 'noise = "second-moment"\n'):
        (tmp_path / "f2csa.toml").write_text(settings, encoding="utf-8")
        invoke(asked)
        (result,) = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))["results"]
        said.append((result["verdict"], result["sentence"], result["reproduce"]))
    (first, sentence, command), (second, _, other) = said
    assert (first, second) == ("SUPPORTED", "INCONCLUSIVE")
    assert "Supported under: kurtosis at most 4." in sentence
    assert "--noise 'kurtosis<=4'" in command
    assert "--noise second-moment" in other
    environment = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))["environment"]
    assert environment["class of noise"] == "second-moment"
    capsys.readouterr()
    # It is refused for other numbers than are on record, and for nothing that it says of itself.
    assert invoke(["recheck", "r/report.json"]) == 1
    refused = capsys.readouterr().out
    assert "on record" in refused
    assert not any(word in refused for word in ("environment", "reproduce", "power", "error_rate"))
    assert all(a != b for a, b in pairwise(said))
