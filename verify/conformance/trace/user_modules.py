"""A subject loaded from its own source, rewritten; what cannot be rewritten is loaded as it is, and listed."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from verify.conformance.trace.seen_values import ValueWatch
from verify.conformance.trace.source_sites import SEEN, Rewriter
from verify.subjects.users_files import is_users


class _Loader(importlib.abc.Loader):
    """Runs a module's rewritten source."""

    def __init__(self, path: Path, watch: ValueWatch) -> None:
        self.path, self.watch = path, watch

    def exec_module(self, module: ModuleType) -> None:
        """Compile and run it; what Python cannot parse raises what it would raise by itself."""
        data = self.path.read_bytes()
        tree = ast.parse(data, str(self.path))
        source = importlib.util.decode_source(data)
        rewritten = Rewriter(source, self.watch.named(self.path), self.watch.sites).visit(tree)
        vars(module)[SEEN] = self.watch
        exec(compile(ast.fix_missing_locations(rewritten), str(self.path), "exec", dont_inherit=True), vars(module))


class Finder(importlib.abc.MetaPathFinder):
    """Finds what Python would find; modules of the user's own that are plain source get the rewriting loader."""

    def __init__(self, watch: ValueWatch) -> None:
        self.watch = watch

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's own specification, its loader exchanged where it is a plain source file of the user's."""
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return self._with_loader(spec)
        return None

    def _with_loader(self, spec: importlib.machinery.ModuleSpec) -> importlib.machinery.ModuleSpec:
        if not spec.has_location or spec.origin is None or not is_users(Path(spec.origin)):
            return spec
        path = Path(spec.origin)
        if type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _Loader(path, self.watch)
            self.watch.files.add(str(path))
        return spec


@contextmanager
def rewriting(watch: ValueWatch) -> Iterator[Finder]:
    """Modules that are imported within are rewritten where they are the user's."""
    finder = Finder(watch)
    sys.meta_path.insert(0, finder)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        importlib.invalidate_caches()
        yield finder
    finally:
        sys.meta_path.remove(finder)
        sys.dont_write_bytecode = written


def not_rewritten(watch: ValueWatch) -> dict[str, str]:
    """The user's files that were loaded as they are, by name, each with the reason."""
    reasons = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file not in watch.files and is_users(Path(file)):
            compiled = file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
            reasons[watch.named(Path(file))] = "compiled" if compiled else "loaded by an import hook of its own"
    return reasons


def calls_exec(watch: ValueWatch) -> list[str]:
    """Files of the user's that make code of text: what they make is not seen."""
    files = []
    for file in sorted(watch.files):
        tree = ast.parse(Path(file).read_bytes())
        calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        if any(isinstance(called, ast.Name) and called.id in ("exec", "eval") for called in calls):
            files.append(watch.named(Path(file)))
    return files


Kept = list[tuple[Any, Any]]
"""What lives as long as a module: each container with a copy of what it holds, each cache with nothing."""


def kept_by_modules(files: Collection[str]) -> Kept:
    """The dictionaries, lists, sets and caches of the modules of these files, of their classes and of defaults."""
    living: Kept = []
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) in files:
            for holder in (module, *(one for one in vars(module).values() if isinstance(one, type))):
                for name, value in list(vars(holder).items()):
                    if not name.startswith("__"):
                        living += _kept(value)
    return living


def _kept(value: Any) -> Kept:
    if type(value) in (dict, list, set):
        return [(value, value.copy())]
    if isinstance(value, functools._lru_cache_wrapper):
        return [(value, None)]
    defaults = getattr(value, "__defaults__", None) or ()
    return [(one, one.copy()) for one in defaults if type(one) in (dict, list, set)]


def restored(living: Kept) -> None:
    """Let all hold what it held."""
    for value, held in living:
        if held is None:
            value.cache_clear()
        elif isinstance(value, list):
            value[:] = held
        else:
            value.clear()
            value.update(held)


def forget(names: Sequence[str]) -> dict[str, Any]:
    """Take modules out of those that are loaded, and return them."""
    return {name: sys.modules.pop(name) for name in names if name in sys.modules}
