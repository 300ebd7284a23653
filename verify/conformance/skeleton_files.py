"""Skeletons of an implementation, a language each: what is written, and which commands go with it.

A skeleton answers the activation, which is a formula, and says of every other stage that it is not written: a fault on
one line, so that nothing empty ever passes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from spec.errors import InvalidInputError
from spec.files import find_named, write_files
from spec.settings import load_settings

WORKFLOW = ".github/workflows/f2csa.yml"
GUIDE = "F2CSA.md"
SETTINGS = "f2csa.toml"


@dataclass(frozen=True)
class Skeleton:
    """One language's files and commands.

    Args:
        sources: Files, by the name each is written under: the name it has in the package.
        solver: The file whose functions are to be written.
        glue: The file that answers the suite.
        python: The subject's name where it is a Python class, else empty.
        program: The command line of a program that speaks the wire, else empty.
        build: The command that compiles it, else empty.
        packages: What pip installs beside the suite.
    """

    sources: Mapping[str, str]
    solver: str
    glue: str
    python: str = ""
    program: str = ""
    build: str = ""
    packages: str = ""

    @property
    def conform(self) -> str:
        """The options of ``f2csa conform`` that name it."""
        return f"--python {self.python}" if self.python else f'--command "{self.program}"'

    @property
    def name(self) -> str:
        """Its name as ``--subject`` takes it."""
        return self.python if self.python else f"command:{self.program}"


def _class_of(module: str, packages: str = "") -> Skeleton:
    file = f"{module}.py"
    return Skeleton({file: f"{file}.in"}, file, file, python=f"{module}:Subject", packages=packages)


def _program_of(glue: str, *others: str, program: str, build: str = "") -> Skeleton:
    return Skeleton({name: name for name in (glue, *others)}, others[0], glue, program=program, build=build)


SKELETONS: dict[str, Skeleton] = {
    "python": _class_of("my_solver"),
    "torch": _class_of("my_solver", packages="torch"),
    "cpp": _program_of(
        "main.cpp", "solver.hpp", "json.hpp", program="./my_solver", build="g++ -std=c++20 -O2 -o my_solver main.cpp"
    ),
    "rust": _program_of(
        "main.rs", "solver.rs", "json.rs", program="./my_solver", build="rustc --edition 2021 -O -o my_solver main.rs"
    ),
    "node": _program_of("subject.mjs", "solver.mjs", program="node subject.mjs"),
}
"""By the language's name."""


def find_skeleton(language: str) -> Skeleton:
    """The skeleton of a language.

    Raises:
        InvalidInputError: If there is none.
    """
    rule = f"must be one of {', '.join(SKELETONS)}"
    return find_named(SKELETONS, language, "language", rule, "docs/wire.md says how any other language answers")


def skeleton_texts(language: str) -> dict[str, str]:
    """Every file of a language's skeleton, by its path in the folder: sources, settings, CI workflow, guide."""
    skeleton = find_skeleton(language)
    texts = {name: _text(language, template) for name, template in skeleton.sources.items()}
    step = f"      - run: {skeleton.build}\n" if skeleton.build else ""
    filled = {
        "@NAME@": skeleton.name, "@CONFORM@": skeleton.conform, "@SOLVER@": skeleton.solver,
        "@GLUE@": skeleton.glue, "@BUILD@": f"{skeleton.build}\n" if skeleton.build else "", "@BUILD_STEP@": step,
        "@PACKAGES@": f" {skeleton.packages}" if skeleton.packages else "",
    }  # fmt: skip
    for path, template in ((WORKFLOW, "f2csa.yml"), (GUIDE, GUIDE), (SETTINGS, SETTINGS)):
        text = _text("common", template)
        for mark, value in filled.items():
            text = text.replace(mark, value)
        texts[path] = text
    return texts


def write_skeleton(language: str, folder: Path, *, force: bool = False) -> list[Path]:
    """Write a skeleton into a folder, made where it is missing; returns the files' paths.

    Args:
        language: One of :data:`SKELETONS`.
        folder: Where to.
        force: Whether files that are there already are replaced.

    Raises:
        InvalidInputError: If there is no such skeleton, the folder cannot be written, or a file is there and must not
            be replaced; then nothing is written.
    """
    texts = skeleton_texts(language)
    if folder.is_dir() and not (folder / SETTINGS).exists() and (there := load_settings(folder)).source:
        rule = f"must not have settings already: {SETTINGS} would stand beside them"
        raise InvalidInputError("--out", rule, there.source)
    if os.path.lexists(folder) and not folder.is_dir():
        raise InvalidInputError("--out", "must be a folder", str(folder))
    held = [name for name in texts if os.path.lexists(folder / name)]
    if held and not force:
        rule = "must not hold files that init would replace (--force replaces them)"
        raise InvalidInputError("--out", rule, ", ".join(str(folder / name) for name in held))
    return write_files(folder, texts)


def _text(folder: str, name: str) -> str:
    place = resources.files("verify.conformance") / "skeletons" / folder / name
    return place.read_text(encoding="utf-8")
