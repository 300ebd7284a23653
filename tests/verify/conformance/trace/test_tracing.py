"""The search in its process: what it finds, what it leaves out, and that nothing makes it run on."""

from __future__ import annotations

from pathlib import Path

from benchmarks.traced.measuring_lines import HERE
from tests.verify.conformance.trace.traced_subjects import RIGHT, TEN_LINES, WRONG, line_of, written
from verify.conformance.trace.tracing import search

PROGRAMS = HERE / "programs"
STAGE = {"hypergradient": ()}


def test_the_line_is_named_with_what_should_stand_there(folder: Path) -> None:
    source = written(folder, "traced_wrong", answer=WRONG)
    told: list[str] = []
    found = search(source, STAGE, 0.0, told.append)
    (line,) = found.lines
    assert (line.file, line.line) == ("traced_wrong.py", line_of(folder, "traced_wrong", "return direct"))
    assert line.text == "a.g_xy @ w / call.alpha"
    assert line.quantity == "α₁(∇_x g(x, ỹ) − ∇_x g(x, ỹ*))"
    assert line.wrong == line.asked >= 5
    assert told == ["looking for the line: hypergradient (1 of 1)"]
    assert not found.notes()


def test_a_right_program_gets_no_line_and_no_note(folder: Path) -> None:
    found = search(written(folder, "traced_right"), STAGE, 0.0)
    assert found.lines == ()
    assert found.notes() == []


def test_a_declared_accuracy_is_allowed(folder: Path) -> None:
    text = (PROGRAMS / "inline.py").read_text("utf-8")
    rough = text.replace("return start - np", "return start - (1 + 1e-8) * np")
    assert rough != text
    source = written(folder, "traced_rough", source=rough)
    assert search(source, {"penalty_minimiser": ()}, 0.0).lines
    assert not search(source, {"penalty_minimiser": ()}, 1e-7).lines


def test_a_condition_on_sizes_is_said(folder: Path) -> None:
    answer = WRONG.replace("call.alpha +", "(call.alpha if len(x) == len(w) else call.alpha**2) +")
    (line,) = search(written(folder, "traced_square", answer=answer), STAGE, 0.0).lines
    assert line.where == ", those with n = m"
    assert 2 <= line.wrong < line.asked


def test_two_mistakes_are_told_with_each_other_and_neither_alone(folder: Path) -> None:
    source = TEN_LINES.replace("call.y_penalty + a.f_x", "call.y_penalty").replace("h = a.A @ x -", "h = a.A @ x +")
    lines = search(written(folder, "traced_two", source=source), STAGE, 0.0).lines
    own = [line_of(folder, "traced_two", one) for one in ("h = a.A", "direct = a")]
    assert [line.line for line in lines] == own
    assert [line.beside for line in lines] == [f"traced_two.py:{line}" for line in reversed(own)]
    assert all(line.wrong == line.asked and "with neither alone" in line.sentence for line in lines)


def test_where_a_third_thing_is_wrong_no_two_are_named(folder: Path) -> None:
    source = TEN_LINES.replace("+ a.f_x\n", "\n").replace("h = a.A @ x - a", "h = a.A @ x + a")
    source = source.replace("w = call.y_penalty - call.y_star", "w = call.y_penalty + 3 * call.y_star**2")
    lines = search(written(folder, "traced_three", answer=RIGHT, source=source), STAGE, 0.0).lines
    assert not any(line.beside for line in lines)


def test_a_block_that_is_handed_on_lacks_no_terms_of_a_sum(folder: Path) -> None:
    source = TEN_LINES.replace("a = problem.arrays", "a = problem.arrays\n        linear = a.f_x")
    source = source.replace("a.f_xy @ call.y_penalty + a.f_x", "linear")
    lines = search(written(folder, "traced_block", answer=RIGHT, source=source), STAGE, 0.0).lines
    assert all(line.line != line_of(folder, "traced_block", "linear = a.f_x") for line in lines)


def test_the_row_that_should_be_read_is_said(folder: Path) -> None:
    before = (
        "def rows(a, rho, h):\n    total = 0\n    for i in range(len(h)):\n"
        "        total = total + rho[i] * h[i] * a.A[i - 1]\n    return total\n"
    )
    answer = RIGHT.replace("a.A.T @ (call.rho * h)", "rows(a, call.rho, h)")
    (line,) = search(written(folder, "traced_rows", before=before, answer=answer), STAGE, 0.0).lines
    assert line.line == line_of(folder, "traced_rows", "a.A[i - 1]")
    assert line.text == "a.A[i - 1]"
    assert "should be `a.A[i]`" in line.sentence


def test_a_run_that_hangs_outside_of_python_is_killed(folder: Path) -> None:
    before = "import time\ndef hold(v):\n    if abs(v - 1.0) > 1e-9:\n        time.sleep(600)\n    return v\n"
    source = written(folder, "traced_hang", before=before, answer=f"hold(call.alpha / call.alpha) * ({WRONG})")
    (line,) = search(source, STAGE, 0.0).lines
    assert line.line == line_of(folder, "traced_hang", "return hold")
    assert "∇_x g" in line.quantity


def test_a_search_is_ended_by_its_limit(folder: Path) -> None:
    before = "import time\ntime.sleep(600)\n"
    found = search(written(folder, "traced_slow", before=before), STAGE, 0.0, seconds=1.5)
    assert found.stopped
    assert found.notes() == ["The search for lines was ended after 2 s."]


def test_what_cannot_be_rewritten_is_said_and_not_blamed(folder: Path) -> None:
    before = f'exec("""def inner(a, w, call, h, direct):\\n    return {WRONG}""")'
    source = written(folder, "traced_exec", before=before, answer="inner(a, w, call, h, direct)")
    found = search(source, STAGE, 0.0)
    assert found.left_out == ("what traced_exec.py makes of text (exec or eval)",)
    assert all(line.line == line_of(folder, "traced_exec", "return inner") for line in found.lines)


def test_what_an_import_hook_loads_is_left_out(folder: Path) -> None:
    (folder / "traced_part.py").write_text("def change(a, w, call):\n    return a.g_xy @ w / call.alpha\n", "utf-8")
    before = (
        "import importlib.machinery as m, importlib.util as u, sys\n"
        "class Own(m.SourceFileLoader):\n    pass\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'traced_part':\n"
        f"            return u.spec_from_file_location(name, r'{folder}/traced_part.py',\n"
        f"                                             loader=Own(name, r'{folder}/traced_part.py'))\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from traced_part import change\n"
    )
    answer = RIGHT.replace("a.g_xy @ w / call.alpha**2", "change(a, w, call)")
    found = search(written(folder, "traced_hook", before=before, answer=answer), STAGE, 0.0)
    assert found.left_out == ("traced_part.py (loaded by an import hook of its own)",)
    assert all(line.file == "traced_hook.py" for line in found.lines)


def test_a_module_that_cannot_be_loaded_is_no_line(folder: Path) -> None:
    found = search(written(folder, "traced_broken", before="raise OSError('no')"), STAGE, 0.0)
    assert found.lines == ()
    assert "cannot be loaded" in found.no_line[0]


def test_what_a_subject_prints_is_no_message(folder: Path) -> None:
    before = 'print(\'{"kind": "line", "content": {}}\')\nprint("x" * 3000000)\n'
    found = search(written(folder, "traced_loud", before=before, answer=WRONG), STAGE, 0.0)
    assert len(found.lines) == 1
