"""The page of an experiment: what it says first, its pictures, its numbers, and nothing from outside."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

from verify.evidence.charts import Mark, Plot, Series
from verify.experiments.model import Experiment, Finding, as_csv
from verify.report.formats.experiment_page import files, render

FOUND = Experiment(
    name="scaling", title="What a step costs", lead="The rival <wins> at every d.", size="quick", seed=3,
    setting={"dimensions": [100, 200]}, sentences=("Counted first.",),
    findings=(
        Finding(statement="scaling-experiment/growth", quantity="power of d", measured=2.0, interval=(1.9, 2.1),
                sentence="It grows as d²."),
    ),
    plots=(
        Plot(title="Work", x_label="dimension d", y_label="operations", log_x=True, log_y=True,
             series=(Series(name="F2CSA", x=(100, 200), y=(1e6, 4e6), low=(9e5, 3e6), high=(2e6, 5e6)),
                     Series(name="implicit", x=(100, 200), y=(1e5, 8e5))),
             marks=(Mark(x=200, y=1e6, text="7.7 s"),)),
    ),
    rows=({"d": 100, "method": "F2CSA", "seconds": 0.1 + 0.2}, {"d": 200, "note": "a, \"b\""}),
    environment={"python": "3"},
)  # fmt: skip


def test_the_first_sentence_comes_first_and_is_escaped() -> None:
    page = render(FOUND)
    assert (
        page.index("The rival &lt;wins&gt; at every d.") < page.index("Counted first.") < page.index("It grows as d²")
    )
    assert 'id="scaling-experiment/growth"' in page


def test_pictures_have_labels_and_both_series() -> None:
    page = render(FOUND)
    start = page.index("<svg")
    picture = ET.fromstring(page[start : page.index("</svg>") + 6])
    said = "".join(picture.itertext())
    for text in ("dimension d", "operations", "F2CSA", "implicit", "7.7 s"):
        assert text in said
    assert "var(--ink)" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page


def test_the_same_experiment_gives_the_same_bytes() -> None:
    assert render(FOUND) == render(FOUND)


def test_the_files_hold_the_numbers_to_their_last_digit() -> None:
    written = files(FOUND)
    assert set(written) == {"scaling.json", "scaling.csv", "scaling.html", "scaling-1.svg", "scaling-1.pdf"}
    assert Experiment.model_validate_json(written["scaling.json"]) == FOUND
    assert json.loads(written["scaling.json"])["schema"] == "f2csa-experiment/1"
    assert as_csv(FOUND.rows).splitlines() == [
        "d,method,seconds,note", "100,F2CSA,0.30000000000000004,", '200,,,"a, ""b"""',
    ]  # fmt: skip
