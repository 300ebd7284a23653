"""docs/calibration.md: its format is the generator's, and what breaks a promise is in bold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from verify.campaign.calibration.calibration import kinds, summarise
from verify.campaign.calibration.calibration_page import CalibrationCounts, page
from verify.campaign.calibration.drift_price import Price
from verify.campaign.calibration.law_columns import DECISIONS, NOT_ASKED, SIZES, LawAchieved
from verify.campaign.calibration.noise_laws import NOISE_LAWS
from verify.campaign.calibration.sweeps import CROSSINGS, LOOKS, asked
from verify.cli.main import invoke

PUBLISHED = Path(__file__).parents[4] / "docs" / "calibration.md"
NUMBER = re.compile(r"[-+]?\d[\d.,]*(e-?\d+)?|[ *✓]+")


def achieved(error, *, refuted=0):
    return tuple(
        LawAchieved(law=law, decision=name, runs=100, wrong_runs=10, refuted=refuted, supported=0, left_open=3,
                    error=error, missed=1e-3)
        for law in NOISE_LAWS for name in DECISIONS if (name, law) not in NOT_ASKED
    )  # fmt: skip


def made(**changed) -> CalibrationCounts:
    table = summarise([([False] * len(kinds()), [False] * len(kinds()))] * 4, 1e-2)
    sweeps = tuple(table.whole.model_copy(update={"decision": f"{swept.name}, {how}"}) for swept, how in asked())
    table = table.model_copy(update={"laws": achieved(1e-2), "sweeps_refuted": sweeps, "sweeps_supported": sweeps})
    found = {name: {law: 0.1 for law in NOISE_LAWS if (name, law) not in NOT_ASKED} for name in SIZES}
    crossings = [f"a/(a + {s:g}), {how}" for s in CROSSINGS for how in ("bends once", "pole known")]
    given = {
        "table": table, "rarer": achieved(1e-3), "share": 1e-9, "prices": (Price(4, 1, 2, 1),) * 3,
        "crossings": tuple((name, (0.5,) * LOOKS) for name in crossings), "smallest": found, "smallest_runs": 10,
        "as_asked": {"mean": 0.01, "variance": 0.05},
    }  # fmt: skip
    return CalibrationCounts(**(given | changed))


def form(text):
    """Lines without their numbers, and without how a broken promise is set."""
    lines = text.replace("more than", "").splitlines()
    return [NUMBER.sub("", re.sub("broken|not shown", "kept", line)) for line in lines]


def test_the_published_page_has_the_generators_format():
    assert form(PUBLISHED.read_text(encoding="utf-8")) == form(page(made()))


def test_a_format_that_differs_is_noticed():
    changed = page(made()).replace("| Laplace |", "| Cauchy |")
    assert form(changed) != form(page(made()))


def test_broken_promises_are_in_bold():
    assert "**" not in page(made()).split("## Right subjects refuted")[0]
    shown = page(made(rarer=achieved(1e-3, refuted=30)))
    assert shown.count("**0.3 / 0 / 0.03**") == len(achieved(1e-3))


@pytest.mark.parametrize("arguments", [["--law-runs", "0", "--out", "new.md"], ["--out", "taken.md"]])
def test_a_page_without_laws_or_over_somebody_elses_is_refused(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.md").write_text("mine\n", encoding="utf-8")
    assert invoke(["calibrate", "--runs", "1", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert (tmp_path / "taken.md").read_text(encoding="utf-8") == "mine\n"
