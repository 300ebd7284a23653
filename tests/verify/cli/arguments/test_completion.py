"""Completion in bash, zsh and fish: what is sourced, where it is put, and what is offered."""

from __future__ import annotations

import os
import subprocess

import pytest

from spec.atlas import ORDER, atlas
from spec.claims import load_claims
from tests.copies import script
from verify.cli.arguments import completion
from verify.cli.main import invoke


def answered(python, shell, line, **environment):
    """What the command tells a shell that asks how a line goes on."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))} if shell == "bash" else {}
    asked = {"_F2CSA_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line} | words | environment
    made = subprocess.run(
        [*python, "-m", "verify"],
        capture_output=True,
        text=True,
        env=os.environ | asked,
        timeout=60,
        check=False,
    )
    assert made.stderr == ""
    return made


@pytest.mark.parametrize("shell", completion.KNOWN)
def test_the_script_of_a_shell_calls_the_command(shell, capsys):
    assert invoke(["--show-completion", shell]) == 0
    out = capsys.readouterr().out
    assert f"_F2CSA_COMPLETE=complete_{shell}" in out
    assert "f2csa" in out


def test_the_script_of_bash_completes_in_bash(copied, tmp_path):
    program = tmp_path / "f2csa"
    program.write_text(script(copied, "-m verify"))
    program.chmod(0o755)
    sourced = subprocess.run(
        [*copied, "-m", "verify", "--show-completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    ask = "COMP_WORDS=(f2csa hyper); COMP_CWORD=1; _f2csa_completion f2csa; printf '%s\\n' \"${COMPREPLY[@]}\""
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    made = subprocess.run(
        ["bash", "-c", f"{sourced}\n{ask}"], capture_output=True, text=True, env=environment, timeout=60, check=True
    )
    assert made.stdout.split() == ["hypergradient"]


@pytest.mark.parametrize(
    ("shell", "where"),
    [("bash", ".bash_completions/f2csa.sh"), ("zsh", ".zfunc/_f2csa"), ("fish", ".config/fish/completions/f2csa.fish")],
)
def test_installing_puts_it_where_the_shell_looks(shell, where, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert invoke(["--install-completion", shell]) == 0
    assert str(tmp_path / where) in capsys.readouterr().out
    assert "_F2CSA_COMPLETE" in (tmp_path / where).read_text()


def test_the_users_own_shell_is_the_default(monkeypatch, capsys):
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert invoke(["--show-completion"]) == 0
    assert "complete_fish" in capsys.readouterr().out


@pytest.mark.parametrize(("shell", "given"), [("/bin/ksh", "got 'ksh'"), ("", "$SHELL names none")])
def test_another_shell_is_refused_in_one_line(shell, given, monkeypatch, capsys):
    monkeypatch.setenv("SHELL", shell)
    assert invoke(["--install-completion"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "bash, zsh or fish" in line
    assert given in line


def test_each_shell_is_offered_commands_claims_and_instances(copied):
    assert answered(copied, "bash", "f2csa verify bias-bound/T3").stdout.split() == [
        "bias-bound/T3",
        "bias-bound/T3-uniform",
    ]
    assert '"verify"' in answered(copied, "zsh", "f2csa ve").stdout
    fish = answered(copied, "fish", "f2csa verify --instance toy", _TYPER_COMPLETE_FISH_ACTION="get-args")
    assert fish.stdout.split() == ["toy1", "toy2"]
    assert answered(copied, "fish", "f2csa ve", _TYPER_COMPLETE_FISH_ACTION="is-args").returncode == 0
    assert answered(copied, "fish", "f2csa verify --out x", _TYPER_COMPLETE_FISH_ACTION="is-args").returncode == 1


def test_the_names_offered_are_the_names_there_are():
    assert set(completion.claims("")) == set(load_claims())
    steps = {full_id for full_id, _ in load_claims()["bias-bound"].statements()} - {"bias-bound"}
    assert set(completion.claims("bias-bound/")) == steps
    assert set(completion.instances("")) == set(ORDER)
    assert set(completion.strata("")) == {name for instance in atlas().values() for name in instance.strata}
    assert completion.profiles("s") == ["smoke"]
    assert completion.readings("") == ["as-written", "repaired"]
