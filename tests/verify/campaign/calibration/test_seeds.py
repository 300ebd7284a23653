"""Sampled statements at many seeds: what is kept follows from the verdicts on record, and comes out again."""

from __future__ import annotations

import pytest

from spec.errors import InvalidInputError
from verify.campaign.baseline.storage import shipped_record
from verify.campaign.calibration import seeds
from verify.campaign.calibration.seeds import RECORD, Flip, Seeds, kept, run_seeds, shipped, tasks
from verify.campaign.plan import Task
from verify.cli.main import invoke

QUICK = ("inner-loop-remark", "repaired", "interior")
"""A statement whose verdict flipped at one seed in some hundred when a fixed sample had no further look."""


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(seeds, "_planned", lambda: (Task(*QUICK, "reference", "smoke", 0),))


def test_the_record_shipped_is_of_todays_statements_and_verdicts():
    found = shipped()
    assert found.follows
    assert found.results == len(tasks(0))
    assert found.seeds > 0
    assert not found.flips


def test_a_seed_of_the_record_comes_out_again(quick):
    ((row,),) = run_seeds([shipped().first])
    assert row == ("|".join(QUICK), shipped_record()["|".join(QUICK)])


def test_a_verdict_that_is_not_on_record_is_a_flip_and_in_the_digest(quick):
    key = "|".join(QUICK)
    right, other = [(key, "SUPPORTED")], [(key, "INCONCLUSIVE")]
    found = Seeds.of(7, [right, other, right])
    assert found.flips == (Flip(seed=8, key=key, verdict="INCONCLUSIVE"),)
    assert found.follows
    assert found.found == [right, other, right]
    assert not found.model_copy(update={"flips": ()}).follows
    assert not found.model_copy(update={"seeds": 2}).follows


def test_the_command_goes_on_where_it_ended(quick, tmp_path, capsys):
    path = tmp_path / "seeds.json"
    ask = ["calibrate", "--jobs", "1", "--record", str(path), "--seeds"]
    assert invoke([*ask, "1"]) == 0
    one = kept(path)
    assert invoke([*ask, "2"]) == 0
    assert one.seeds == 1
    assert kept(path).seeds == 2
    assert "2 sampled results at 2 seeds from 1,000 on, 1 each: 0 verdicts not on record" in capsys.readouterr().out


def test_what_is_no_record_of_todays_verdicts_is_refused(quick, tmp_path):
    path = tmp_path / "seeds.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInputError):
        kept(path)
    path.write_text(Seeds.of(7, []).model_copy(update={"seeds": 1}).written(), encoding="utf-8")
    with pytest.raises(InvalidInputError, match="remove it to begin anew"):
        kept(path)
    assert invoke(["calibrate", "--record", str(path)]) == 2
    assert RECORD.name == path.name
