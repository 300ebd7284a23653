"""The change that puts all right is found and told, and what makes up for a mistake elsewhere is not."""

from __future__ import annotations

import gc
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.verify.conformance.trace.traced_subjects import RIGHT, TEN_LINES, line_of, written
from verify.conformance.trace.patches.patch_search import PatchSearch
from verify.conformance.trace.tracing import search

STAGE = {"hypergradient": ()}
ROWS = """
def rows(a, rho, h):
    total, done = [0.0 for _ in range(a.A.shape[1])], set()
    for i in (0, *range(len(h))):
        if i in done:
            {jump}
        done.add(i)
        for j in range(len(total)):
            total[j] += float(a.A[i, j]) * rho[i] * h[i]
    return total
"""
BY_ROWS = RIGHT.replace("a.A.T @ (call.rho * h)", "np.array(rows(a, call.rho, h))")


@pytest.mark.parametrize(
    ("name", "right", "wrong", "instead"),
    [
        ("patched_width", "call.alpha**4", "call.alpha**3", "call.alpha ** 4"),
        ("patched_block", "a.B @ call.y_penalty", "a.B @ call.y_star", "call.y_penalty"),
        ("patched_term", "+ a.f_xy @ call.y_penalty", "+ a.g_xy @ call.y_penalty", "a.f_xy"),
        ("patched_rows", "call.rho * h", "call.rho * h[::-1][::-1] * call.rho", "call.rho * h[::-1][::-1]"),
    ],
)  # fmt: skip
def test_what_belongs_there_is_told(folder: Path, name: str, right: str, wrong: str, instead: str) -> None:
    source = TEN_LINES.replace("{answer}", RIGHT).replace(right, wrong)
    (line,) = search(written(folder, name, source=source), STAGE, 0.0).lines
    assert line.line == line_of(folder, name, wrong)
    assert instead in line.quantity
    assert f"should be {line.quantity} (wrong on " in line.sentence


def test_what_is_kept_by_too_little_is_told_by_what_its_key_lacks(folder: Path) -> None:
    before = """
kept = {}

def dual(a, alpha, rho, h):
    key = rho.tobytes() + h.tobytes() + a.A.tobytes()
    if key not in kept:
        kept[key] = a.A.T @ (rho * h) / alpha**4
    return kept[key]
"""
    answer = RIGHT.replace("a.A.T @ (call.rho * h) / call.alpha**4", "dual(a, call.alpha, call.rho, h)")
    source = written(folder, "patched_key", before=before, answer=answer)
    # Each subject is as new: what one kept, no other has.
    (line,) = search(source, STAGE, 0.0).lines
    assert line.line == line_of(folder, "patched_key", "key = ")
    assert line.text == "rho.tobytes() + h.tobytes() + a.A.tobytes()"
    assert "or " not in line.quantity


def test_a_jump_that_leaves_too_much_out_is_told(folder: Path) -> None:
    source = written(folder, "patched_jump", before=ROWS.replace("{jump}", "break"), answer=BY_ROWS)
    (line,) = search(source, STAGE, 0.0).lines
    assert (line.text, line.quantity) == ("break", "`continue`")
    right = written(folder, "patched_no_jump", before=ROWS.replace("{jump}", "continue"), answer=BY_ROWS)
    assert search(right, STAGE, 0.0).lines == ()


def test_two_changes_are_told_with_each_other(folder: Path) -> None:
    source = TEN_LINES.replace("{answer}", RIGHT).replace("a.f_xx @ x +", "a.f_xx @ x -")
    source = source.replace("call.alpha**2", "call.alpha**3")
    lines = search(written(folder, "patched_two", source=source), STAGE, 0.0).lines
    assert {line.line for line in lines} == {
        line_of(folder, "patched_two", "direct = a"), line_of(folder, "patched_two", "call.alpha**3"),
    }  # fmt: skip
    assert all(line.beside for line in lines)


def test_a_program_that_hangs_when_it_is_changed_is_no_hindrance(folder: Path) -> None:
    before = """
def count(v):
    k = 0
    while k < 5:
        k += 1
    return v * k / 5
"""
    answer = RIGHT.replace("a.g_xy @ w", "count(a.g_xy @ w)").replace("call.alpha**4", "call.alpha**3")
    (line,) = search(written(folder, "patched_while", before=before, answer=answer), STAGE, 0.0).lines
    assert line.quantity == "`call.alpha ** 4`"


KEPT_GLOBALLY = """
kept = None
def square(alpha):
    global kept
    if kept is None:
        kept = alpha**2
    return kept
"""
KEPT_AS_DEFAULT = """
def square(alpha, *, kept={}):
    if 'a' not in kept:
        kept['a'] = alpha**2
    return kept['a']
"""


def test_a_run_is_not_ended_within_a_callback_of_the_collector() -> None:
    ends: Any = SimpleNamespace(was_ended=False)

    def rings(_phase: str, _counts: dict[str, int]) -> None:
        signal.raise_signal(signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, lambda number, frame: PatchSearch._end(ends, number, frame))
    gc.callbacks.append(rings)
    try:
        # Raised there it is printed and ignored, which a test's warnings would show.
        gc.collect()
        gc.callbacks.remove(rings)
        assert not ends.was_ended
        with pytest.raises(BaseException) as ended:
            signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ended.type.__name__ == "_EndedError" and ends.was_ended


@pytest.mark.parametrize(("name", "before"), [("patched_global", KEPT_GLOBALLY), ("patched_default", KEPT_AS_DEFAULT)])
def test_what_other_runs_left_behind_makes_no_change_right(folder: Path, name: str, before: str) -> None:
    answer = RIGHT.replace("call.alpha**2", "square(call.alpha)")
    (line,) = search(written(folder, name, before=before, answer=answer), STAGE, 0.0).lines
    assert line.quantity == "done always"
    assert line.line == line_of(folder, name, "    if ")


def test_of_two_functions_of_one_name_the_wrong_one_is_changed(folder: Path) -> None:
    before = (
        "HANDLERS = []\n@HANDLERS.append\ndef _(v, alpha):\n    return v / alpha**2\n"
        "@HANDLERS.append\ndef _(v, alpha):\n    return v / alpha**3\n"
    )
    answer = RIGHT.replace("a.g_xy @ w / call.alpha**2", "HANDLERS[0](a.g_xy @ w, call.alpha)")
    answer = answer.replace("a.A.T @ (call.rho * h) / call.alpha**4", "HANDLERS[1](a.A.T @ (call.rho * h), call.alpha)")
    (line,) = search(written(folder, "patched_names", before=before, answer=answer), STAGE, 0.0).lines
    assert line.line == line_of(folder, "patched_names", "alpha**3")
    assert line.quantity == "`v / alpha ** 4`"


def test_a_source_with_a_mark_of_its_encoding_is_changed_too(folder: Path) -> None:
    source = written(folder, "patched_mark", answer=RIGHT.replace("call.alpha**2", "call.alpha**3"))
    file = folder / "patched_mark.py"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    (line,) = search(source, STAGE, 0.0).lines
    assert "call.alpha ** 2" in line.quantity
