"""The player of examples notices a page that is wrong; the table has a row for what is, and for nothing else."""

from __future__ import annotations

import re

import pytest

from tests.documents.pages import PAGES, ROOT, SOURCES, arguments, in_markdown, is_form, of_page
from tests.documents.playing import FalseExampleError, Player, held_against
from tests.documents.table import Row, row_of, rows
from verify.cli.main import PROGRAM, _parser

TABLE = rows()
ALL = [example for page in (*PAGES, *SOURCES) for example in of_page(page)]


def play(tmp_path, text, *table):
    (tmp_path / "folder").mkdir()
    return Player(tmp_path / "folder", table).play(list(in_markdown("page.md", text)))


def block(language, text):
    return f"```{language}\n{text}\n```\n"


SHELL = block("sh", "f2csa schema nonsense")
WRONG = {
    "a block that raises": (block("python", "1 / 0"), "page.md:2: ZeroDivisionError"),
    "a name that another page has": (block("python", "verify.run()"), "NameError"),
    "a file that raises": (block("python", "# mine.py\n1 / 0"), "ZeroDivisionError"),
    "a command of ours that is refused": (SHELL, "exit code must be 0; got 2 of 'f2csa schema nonsense'"),
    "an option that is not there": (block("sh", "f2csa schema problem --nonsense"), "exit code must be 0; got 2"),
    "a command of the shell": (block("sh", "cat nothing | cat && false"), "exit code must be 0; got 1"),
    "a command in running text": ("Say `f2csa schema nonsense` to see.\n", "got 2"),
    "a step of a workflow": (block("yaml", "      - run: f2csa schema nonsense"), "got 2"),
    "another output": (block("sh", "f2csa --version") + block("", "version 9"), "shown, and not printed: 'version 9'"),
    "a correction of nothing": (block("diff", "-a\n+b"), "0 files have the lines"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=list(WRONG))
def test_a_wrong_example_is_noticed(tmp_path, text, said):
    with pytest.raises(FalseExampleError, match=re.escape(said)):
        play(tmp_path, text)


def test_what_is_shown_is_compared_in_order(tmp_path):
    text = block("sh", "echo a; echo b")
    assert len(play(tmp_path, text + block("", "a\n…b"))) == 2
    (shown,) = in_markdown("page.md", block("", "b\n…\na"))
    with pytest.raises(FalseExampleError, match="not printed: 'a'"):
        held_against(shown, "a\nb\n")
    (nothing,) = in_markdown("page.md", block("", "…"))
    with pytest.raises(FalseExampleError, match="nothing is shown"):
        held_against(nothing, "a")


def test_a_page_is_one_namespace_and_one_folder(tmp_path):
    text = block("python", "a = 2") + block("python", "# mine.py\nvalue = 3") + block("diff", "-value = 3\n+value = 4")
    text += block("python", "import mine\n\nassert mine.value + a == 6\nopen('x', 'w').close()") + block(
        "sh", "test -f x"
    )
    assert len(play(tmp_path, text)) == 5


def test_an_exit_code_that_a_row_asks_for_is_asked_for(tmp_path):
    row = Row("page.md", "f2csa --version", "a reason", exit=1)
    with pytest.raises(FalseExampleError, match="must be 1; got 0"):
        play(tmp_path, block("sh", "f2csa --version"), row)


def test_what_a_row_replaces_must_be_there(tmp_path):
    with pytest.raises(FalseExampleError, match="must be there once"):
        play(tmp_path, block("python", "a = 1"), Row("page.md", "a = 1", "a reason", put={"b": "c"}))


def test_a_block_in_a_language_nobody_decided_on_is_refused():
    with pytest.raises(ValueError, match=r"got 'ruby' at page\.md:2"):
        list(in_markdown("page.md", block("ruby", "1")))


def test_a_row_without_a_reason_or_of_unknown_fields_is_refused():
    with pytest.raises(ValueError, match="must have page, example, why"):
        rows('[[example]]\npage = "a"\nexample = "b"\nnot_run = true\n')
    with pytest.raises(ValueError, match="must be those of Row"):
        rows('[[example]]\npage = "a"\nexample = "b"\nwhy = "c"\nskipped = true\n')


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.page}: {row.example[:50]}")
def test_a_row_is_about_an_example_and_what_it_refers_to_is_there(row):
    assert [example for example in ALL if row.fits(example)], "no such example"
    text = " ".join((ROOT / row.page).read_text(encoding="utf-8").split())
    assert " ".join(row.says.split()) in text
    if row.elsewhere:
        file, _, name = row.elsewhere.partition("::")
        (body,) = re.findall(rf"^def {name}\(.*?(?=^\S|\Z)", (ROOT / file).read_text(encoding="utf-8"), re.S | re.M)
        assert (
            (row.names or row.example) in (ROOT / file).read_text(encoding="utf-8")
            if row.names
            else row.example in body
        )
    if row.same_as:
        same = [example for example in of_page(row.same_as) if example.text == row.example]
        assert same
        assert not any((other := row_of(example, TABLE)) and other.is_left_out for example in same)


def test_no_example_has_two_rows():
    for example in ALL:
        row_of(example, TABLE)


def test_most_examples_run():
    left_out = [e for e in ALL if (row := row_of(e, TABLE)) and (row.not_run or row.elsewhere)]
    assert len(ALL) > 200
    assert len(left_out) < len(ALL) / 3


@pytest.mark.parametrize("form", [e for e in ALL if e.kind == "form" and e.text.startswith(f"{PROGRAM} ")], ids=str)
def test_a_form_names_a_command_and_options_that_are_there(form):
    words = re.findall(r"[\w-]+", form.text)[1:]
    command = _parser()
    if words[0] == "COMMAND":
        words = words[1:]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    known = {name for parameter in command.params for name in parameter.opts} | {"--help"}
    if command.name == "paper":
        known |= {n for each in command.commands.values() for parameter in each.params for n in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_a_command_alone_is_no_example_and_one_to_fill_in_is_a_form():
    assert [e.text for e in in_markdown("page.md", "`f2csa verify`, `f2csa verify --json`, `f2csa claims ID`")] == [
        "f2csa verify --json", "f2csa claims ID",
    ]  # fmt: skip
    assert arguments("f2csa baseline compare x.json") == ["x.json"]
    assert [is_form(words) for words in ("f2csa claims ID", "f2csa x … --a", "f2csa x [LIST]", "f2csa a/b --c")] == [
        True, True, True, False,
    ]  # fmt: skip
