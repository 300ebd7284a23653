"""Repros kept as tests of the user's own project: a pytest file a finding, red now and green once it is right."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from spec import InvalidInputError
from spec.errors import unwritable
from verify.conformance.found import Reproduction
from verify.conformance.repro.scripts import AGREES
from verify.method.lines import Stage
from verify.subjects.subject_names import COMMAND

MARK = "# Written by f2csa conform --save-cases, which replaces this file as long as it begins with this line."
"""How a file of ours begins, and nobody else's does."""
CLAIMS = "claims"
"""What a file is called after its subject where the claims alone fail."""
TESTED = 20
"""Failed results of claims that become tests."""
_LONGEST = 60


def prepare(folder: Path, subject: str, *, force: bool = False) -> None:
    """Make the folder; refuse to lose a file there that is not ours, unless forced.

    Raises:
        InvalidInputError: If the folder cannot be made, or a file of somebody else's has a name that may be needed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"must be a folder that can be made ({error.strerror})"
        raise InvalidInputError("--save-cases", rule, str(folder)) from None
    for name in (*get_args(Stage), CLAIMS):
        file = file_of(folder, subject, name)
        if file.exists() and not force and not _is_ours(file):
            rule = "must hold no file of yours under a name it needs; --force replaces it"
            raise InvalidInputError("--save-cases", rule, str(file))


def save(folder: Path, subject: str, cases: Mapping[str, Reproduction]) -> list[Path]:
    """Write one file for each stage that deviates."""
    return [_write(folder, subject, stage, _case(subject, stage, case)) for stage, case in cases.items()]


def save_claims(folder: Path, subject: str, failed: Sequence[tuple[str, str]], run: tuple[str, int]) -> list[Path]:
    """Write one file of failed results, each a claim and an instance; ``run`` is the profile and the seed."""
    profile, seed = run
    tests = [
        f"def test_{_word(f'{subject} {claim} {instance}')}() -> None:\n"
        f"    report = verify.run([{claim!r}], subject={subject!r}, readings=['repaired'], instances=[{instance!r}],\n"
        f"                        profile={profile!r}, seed={seed})\n"
        "    assert report.results\n"
        "    wrong = [result.sentence for result in report.results if result.verdict in (Verdict.REFUTED, None)]\n"
        "    assert not wrong, wrong\n"
        for claim, instance in dict.fromkeys(failed[:TESTED])
    ]
    if not tests:
        return []
    head = f'"""Claims that {_quoted(subject)} fails."""\n\nimport verify\nfrom verify.verdict import Verdict\n'
    return [_write(folder, subject, CLAIMS, "\n\n".join([head, *tests]))]


def file_of(folder: Path, subject: str, name: str) -> Path:
    """Where a finding is kept."""
    return folder / f"test_{_word(subject)}_{name}.py"


def is_case(path: Path) -> bool:
    """Whether a file is one of ours."""
    return path.name.startswith("test_") and _is_ours(path)


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline().rstrip("\n") == MARK
    except OSError:
        return False


def _write(folder: Path, subject: str, name: str, text: str) -> Path:
    file = file_of(folder, subject, name)
    try:
        file.write_text(f"{MARK}\n{text}", encoding="utf-8")
    except OSError as error:
        raise unwritable(error, "--save-cases", "cannot be written", str(file)) from None
    return file


def _case(subject: str, stage: str, case: Reproduction) -> str:
    lines = case.code.splitlines()
    count = next(k for k, line in enumerate(lines) if line and not line.startswith(("import ", "from ")))
    imports, body = [line for line in lines[:count] if line], lines[count:]
    if subject.startswith(COMMAND):
        imports.append("from verify.subjects.loading import end")
        body.append("end(loaded)")
    body.append(f'assert {AGREES}, f"got {{got}}, must be in [{{low}}, {{high}}]"')
    test = f"def test_{_word(subject)}_{stage}() -> None:\n{textwrap.indent(chr(10).join(body), '    ')}\n"
    told = textwrap.fill(_quoted(f"{stage} of {subject}. {case.sentence}"), 116)
    return f'"""{told}\n"""\n\n' + "\n".join(imports) + f"\n\n\n{test}"


def _word(text: str) -> str:
    """A text as part of a name: a command by the file it runs and what follows."""
    words = re.sub(r"\W+", "_", text.removeprefix(COMMAND), flags=re.ASCII).strip("_").lower()
    return words[-_LONGEST:].strip("_") or "subject"


def _quoted(text: str) -> str:
    """A text as it may stand in a docstring."""
    return text.replace("\\", "/").replace('"""', "'''").rstrip('"')
