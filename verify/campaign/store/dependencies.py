"""Which of the house's files a module depends on: all it imports, however deep, and the data these name."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import spec

PACKAGES = ("spec", "f2csa_ref", "verify")
BY_CONTENT = ("spec/claims", "spec/instances")
"""Folders of which a result depends on its own files, and on those that its check's modules name."""


class CodeHouse:
    """The sources under a folder that holds the three packages; read once, when first asked for.

    Only what a file imports for its types is left out; lazy imports count.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = Path(spec.__file__).parents[1] if root is None else root
        self._digests: dict[str, str] = {}
        self._imported: dict[str, frozenset[str]] = {}
        self._words: dict[str, frozenset[str]] = {}

    @cached_property
    def modules(self) -> dict[str, str]:
        """Files by the module that they are."""
        return {_module(file): file for file in self._files if file.endswith(".py")}

    @cached_property
    def data(self) -> tuple[str, ...]:
        """All other files of the packages."""
        return tuple(file for file in self._files if not file.endswith((".py", ".pyc", ".typed")))

    @cached_property
    def _files(self) -> list[str]:
        paths = [path for package in PACKAGES for path in (self.root / package).rglob("*") if path.is_file()]
        return sorted(path.relative_to(self.root).as_posix() for path in paths if "__pycache__" not in path.parts)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self._files)

    def closure(self, *names: str) -> frozenset[str]:
        """These modules, all they import, and all that these import in turn."""
        modules: set[str] = set()
        left = list(names)
        while left:
            name = left.pop()
            if name not in modules:
                modules.add(name)
                left += self._imports(name)
        return frozenset(modules)

    def named_data(self, modules: Iterable[str]) -> Iterator[str]:
        """Data files that one of the modules names: by file name, or by a folder of nothing but data.

        A file of :data:`BY_CONTENT` is named by its stem.
        """
        words = frozenset[str]().union(*map(self._named, modules))
        yield from (file for file, names in self._names_of_data.items() if not words.isdisjoint(names))

    @cached_property
    def _names_of_data(self) -> dict[str, tuple[str, ...]]:
        """What a module may name each data file by."""
        by_file: dict[str, tuple[str, ...]] = {}
        for file in self.data:
            path = Path(file)
            own = (path.stem, f"{path.stem}/") if self.counts_alone(file) else (path.name,)
            by_file[file] = (*own, *self._folders(path))
        return by_file

    def counts_alone(self, file: str) -> bool:
        """Whether it is one of those that a result depends on one by one."""
        return str(Path(file).parent) in BY_CONTENT

    def digest(self, file: str) -> str:
        """SHA-256 of a file's content."""
        if file not in self._digests:
            self._digests[file] = hashlib.sha256((self.root / file).read_bytes()).hexdigest()
        return self._digests[file]

    def digest_of(self, files: Iterable[str]) -> str:
        """SHA-256 over the names and contents of files."""
        lines = (f"{file} {self.digest(file)}\n" for file in sorted(set(files)))
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @cached_property
    def whole(self) -> str:
        """SHA-256 over everything."""
        return self.digest_of((*self.modules.values(), *self.data))

    def _folders(self, path: Path) -> Iterator[str]:
        """Folders of nothing but data that a file lies in, apart from those that count file by file."""
        for folder in path.parents[:-1]:
            if str(folder) not in BY_CONTENT and f"{folder.as_posix()}/__init__.py" not in self._known:
                yield f"{folder.name}/"

    def _imports(self, name: str) -> frozenset[str]:
        self._read(name)
        return self._imported[name]

    def _named(self, name: str) -> frozenset[str]:
        self._read(name)
        return self._words[name]

    def _read(self, name: str) -> None:
        if name in self._imported:
            return
        file = self.modules[name]
        package = name if file.endswith("/__init__.py") else name.rpartition(".")[0]
        imports, words = _read_source((self.root / file).read_text(encoding="utf-8"), package)
        # Who imports a module runs the packages it lies in.
        steps = (".".join(part.split(".")[:k]) for part in imports for k in range(1, part.count(".") + 2))
        self._imported[name] = frozenset(step for step in steps if step in self.modules)
        self._words[name] = words


@lru_cache(maxsize=1)
def installed() -> CodeHouse:
    """The sources of this very installation."""
    return CodeHouse()


@lru_cache(maxsize=2048)
def _read_source(text: str, package: str) -> tuple[frozenset[str], frozenset[str]]:
    """All names that a module of a package imports at run time, and all words it could name a file by."""
    imports: set[str] = set()
    words: set[str] = set()
    # A walk of its own: the standard library's takes twice as long, and every run with a store waits for it.
    left: list[Any] = [ast.parse(text)]
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            imports |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant):
            if word := _text(node):
                *folders, last = word.split("/")
                words |= {last, *(f"{folder}/" for folder in folders)}
        elif isinstance(node, ast.If) and _is_for_types(node.test):
            left += node.orelse
        else:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and (word := _text(node.right)):
                words.add(f"{word}/")
            for part in node.__dict__.values():
                if isinstance(part, ast.AST):
                    left.append(part)
                elif isinstance(part, list):
                    left += (one for one in part if isinstance(one, ast.AST))
    return frozenset(imports), frozenset(words)


_LONGEST = 200
"""Characters from which a text names no file."""


def _text(node: ast.AST) -> str:
    """A short text that stands in the code, else nothing."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < _LONGEST:
        return node.value
    return ""


def _module(file: str) -> str:
    parts = file.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_for_types(test: ast.expr) -> bool:
    named = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return named == "TYPE_CHECKING"
