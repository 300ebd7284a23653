"""docs/vectors.md followed literally in a clean directory, by an interpreter that does not see this package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from verify.conformance.vectors.generation import all_vectors
from verify.conformance.vectors.release import write

PAGE = Path(__file__).parents[4] / "docs" / "vectors.md"


def test_the_runner_and_the_example_work_as_printed(tmp_path: Path) -> None:
    runner, mine = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "runner.py").write_text(runner, encoding="utf-8")
    (tmp_path / "mine.py").write_text(mine, encoding="utf-8")
    write(tmp_path / "vectors")
    outcome = run(tmp_path)
    played = sum(vector.stage == "activation" for vector in all_vectors())
    assert outcome.stdout.splitlines()[-1] == f"{played} passed, 0 missed, {len(all_vectors()) - played} skipped"
    assert (outcome.returncode, outcome.stderr) == (0, "")

    # A hard switch in place of the ramp is named by the flags of what it misses.
    (tmp_path / "mine.py").write_text(
        mine.replace("np.clip(1 + h / widths[0], 0, 1)", "(h > -widths[0])"), encoding="utf-8"
    )
    outcome = run(tmp_path)
    missed = [line for line in outcome.stdout.splitlines() if line.startswith("activation/")]
    assert missed
    assert all("lam-ramp-alone" in line or "hard-activation" in line for line in missed)
    assert outcome.returncode == 1

    # A slip in the adapter is shown, and vectors that are not there are no success.
    (tmp_path / "mine.py").write_text("def answer(vector):\n    return vector['nothing']\n", encoding="utf-8")
    outcome = run(tmp_path)
    assert "(KeyError: 'nothing')" in outcome.stdout
    assert outcome.returncode == 1
    for path in (tmp_path / "vectors").iterdir():
        path.unlink()
    assert run(tmp_path).returncode == 1


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, "runner.py", "vectors"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_every_field_is_in_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    from verify.conformance.vectors.model import Parameters, TestVector

    for name in (*TestVector.model_fields, *Parameters.model_fields):
        if name != "ramp_constant":
            assert f"`{name}`" in text or f"`{name}." in text or f".{name}`" in text, name
