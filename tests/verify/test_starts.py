"""What starts hundreds of times a day imports what it needs and no more: modules are counted, not seconds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from verify.cli.main import COMMANDS, _parser

LIST = "from verify.cli.main import invoke; invoke(['claims'])"
HELP = "from verify.cli.main import invoke; invoke(['verify', '--help'])"
STARTS = {
    "import f2csa_ref": (34, ("scipy", "sympy", "flint", "rich", "spec.claims", "f2csa_ref.solver",
                              "f2csa_ref.whole_solve", "f2csa_ref.baselines", "f2csa_ref.fast", "f2csa_ref.many")),
    "import verify.subjects.wire.serve": (26, ("scipy", "sympy", "flint", "rich", "spec.claims", "verify.checks",
                                               "verify.report", "f2csa_ref.solver", "f2csa_ref.whole_solve")),
    HELP: (14, ("numpy", "scipy", "sympy", "flint", "rich", "spec.claims")),
    LIST: (378, ("sympy", "matplotlib", "verify.campaign", "verify.conformance")),
}  # fmt: skip
"""By what is done: how many modules of ours it may import, and what it must not."""
ROOT = Path(__file__).parents[2]
OURS = {"spec", "f2csa_ref", "verify", "f2csa_command"}


@pytest.mark.parametrize("what", STARTS)
def test_a_start_imports_no_more_than_it_needs(what: str) -> None:
    most, without = STARTS[what]
    program = f"{what}\nimport sys\nsys.stderr.write('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stderr.splitlines()
    assert [name for name in loaded if any(name == each or name.startswith(f"{each}.") for each in without)] == []
    assert len([name for name in loaded if name.partition(".")[0] in OURS]) <= most


def test_the_parser_of_a_command_is_made_of_that_command_alone() -> None:
    assert set(_parser("claims").commands) == {"claims"}
    assert set(_parser("paper").commands) == {"paper"}
    whole = {name.partition(" ")[0] for name, _ in COMMANDS.values()}
    assert set(_parser().commands) == set(_parser("clams").commands) == whole


def test_what_is_imported_on_first_use_is_what_is_named() -> None:
    import f2csa_ref

    made = {name: getattr(f2csa_ref, name) for name in f2csa_ref.__all__}
    assert all(callable(each) or name == "Setting" for name, each in made.items())
    assert set(f2csa_ref.__all__) <= set(dir(f2csa_ref))
    with pytest.raises(AttributeError, match="has no attribute 'solver_of'"):
        _ = f2csa_ref.solver_of


def test_results_take_the_reference_from_the_modules_it_lies_in() -> None:
    # A result's address follows imports; a name that is looked up on first use leads to no file.
    late = re.compile(r"^\s*(?:import f2csa_ref$|from f2csa_ref import (?!algorithm_))", re.MULTILINE)
    found = [path for path in (ROOT / "verify").rglob("*.py") if late.search(path.read_text(encoding="utf-8"))]
    assert {path.relative_to(ROOT).as_posix() for path in found} == {
        "verify/cli/problems/point.py",
        "verify/cli/problems/error_bound.py",
    }  # no result is theirs
