from __future__ import annotations

import io

import pytest
from rich.console import Console

from verify.cli.output.bar import Bar
from verify.cli.output.console import ProgressLines
from verify.cli.output.pace import LEAST, Pace, spoken, to_go


@pytest.mark.parametrize(
    ("made", "left", "seconds", "expected"),
    [
        (10, 30, 20.0, 60.0),
        (100, 1, 50.0, 0.5),
        (LEAST, 2 * LEAST, 7.0, 14.0),
        (LEAST - 1, 100, 7.0, None),
        (0, 100, 7.0, None),
        (100, 0, 7.0, None),
    ],
)
def test_the_rest_is_taken_to_cost_what_was_made(made, left, seconds, expected):
    assert to_go(made, left, seconds) == expected


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "about 5 s"), (12.0, "about 10 s"), (43.0, "about 45 s"), (57.0, "about 55 s"), (58.0, "about 1 min"),
        (100.0, "about 2 min"), (3600.0, "about 60 min"), (5369.0, "about 89 min"), (5400.0, "about 2 h"),
        (86400.0, "about 24 h"),
    ],
)  # fmt: skip
def test_a_time_to_go_is_said_as_roughly_as_it_is_known(seconds, words):
    assert spoken(seconds) == words


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def told(pace, clock, *hearings):
    for now, done, total, what in hearings:
        clock.now = now
        pace(done, total, what)
    return pace


def test_a_line_says_what_is_done_and_what_is_to_go():
    lines = ProgressLines(clock := Clock())
    clock.now = 3.0
    assert lines.line == "3 s: starting"
    told(lines, clock, (4.0, 1, 1912, "a"), (65.4, 1200, 1912, "bias-bound/T3|repaired|toy1"))
    assert lines.line == "65 s: 1,200 of 1,912 done, about 40 s to go, last bias-bound/T3 repaired toy1"
    told(lines, clock, (100.0, 1912, 1912, "z"))
    assert lines.line == "100 s: 1,912 of 1,912 done, last z"


def test_what_an_earlier_run_left_is_no_pace():
    clock = Clock()
    pace = told(Pace(clock), clock, (1.0, 1001, 1100, "a"))
    assert pace.to_go(1.0) == ""
    told(pace, clock, (20.0, 1010, 1100, "b"))
    assert pace.to_go(20.0) == "about 3 min to go"  # ten in 20 s, 90 left


def test_a_stage_after_another_counts_anew():
    clock = Clock()
    pace = told(Pace(clock), clock, (1.0, 1, 20, "one"), (100.0, 20, 20, "one"), (110.0, 0, 10, "two"))
    assert pace.to_go(110.0) == ""
    told(pace, clock, (120.0, 5, 10, "two"))
    assert (pace.stage, pace.to_go(120.0)) == (2, "about 10 s to go")


def frame(bar, width=80):
    """What the terminal shows."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(bar.shown.get_renderable())
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_the_bar_keeps_its_place_whatever_was_done_last(width):
    bar = Bar(Console(file=io.StringIO()), clock := Clock())
    places = set()
    for done, what in ((1, "a"), (60, "bias-bound/T3|repaired|" + "x" * 90), (900, "é [b] |"), (934, "b")):
        told(bar, clock, (float(done), done, 934, what))
        (line,) = frame(bar, width)
        assert len(line) == width
        assert f"{done:>3}/934 0:00:00" in line or f"{done:>3}/934 -:--:--" in line
        places.add(line.index("/934"))
    assert len(places) == 1


def test_a_bar_goes_forward_only():
    bar = Bar(Console(file=io.StringIO()), clock := Clock())
    told(bar, clock, (1.0, 1, 20, "one"), (2.0, 20, 20, "one"), (3.0, 0, 10, "two"), (9.0, 8, 10, "two"))
    first, second = frame(bar)
    assert "20/20" in first
    assert " 8/10" in second
    assert "about 5 s to go" in second
    assert "to go" not in first
