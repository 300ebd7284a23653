"""What the site has beside docs/: README, CONTRIBUTING and CHANGELOG as pages, files that links lead to, and the API.

A hook of MkDocs (mkdocs.yml); nothing is written into docs/.
"""

from __future__ import annotations

import inspect
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Documents at the root, and their pages."""
_LINK = re.compile(r"(\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]*)?(\))")
_CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.S | re.M)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and what they link to."""
    linked: set[str] = set()
    for name, page in PAGES.items():
        text = _relinked((ROOT / name).read_text(encoding="utf-8"), "", linked)
        files.append(File.generated(config, page, content=text))
    for file in [*files.documentation_pages()]:
        if file.abs_src_path is not None:
            text = _relinked(Path(file.abs_src_path).read_text(encoding="utf-8"), "docs", linked)
            files.remove(file)
            files.append(File.generated(config, file.src_uri, content=text))
    for name in sorted(linked):
        source = ROOT / name
        # Shown as text, whatever it is.
        files.append(File.generated(config, f"source/{name}.txt", content=source.read_text(encoding="utf-8")))
    files.append(File.generated(config, "api.md", content=api()))
    return files


def _relinked(text: str, folder: str, linked: set[str]) -> str:
    """The text with links that lead to pages or files of this repository leading to those of the site."""

    def lead(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[2]))
        anchor = match[3] or ""
        if target in PAGES:
            return f"{match[1]}{PAGES[target]}{anchor}{match[4]}"
        if target.startswith("docs/"):
            return f"{match[1]}{target.removeprefix('docs/')}{anchor}{match[4]}"
        if (ROOT / target).is_dir():
            return f"{match[1]}{_listing(target, linked)}{match[4]}"
        linked.add(target)
        return f"{match[1]}source/{target}.txt{match[4]}"

    parts = _CODE.split(text)
    return "".join(part if k % 2 else _LINK.sub(lead, part) for k, part in enumerate(parts))


def _listing(folder: str, linked: set[str]) -> str:
    """For a folder, the first file a reader wants: its README, else the first of its sources."""
    inside = sorted(path for path in (ROOT / folder).iterdir() if path.is_file())
    first = next((path for path in inside if path.name == "README.md"), None) or next(
        path for path in inside if path.suffix in (".py", ".mjs", ".cpp", ".rs", ".toml") and path.stat().st_size
    )
    name = first.relative_to(ROOT).as_posix()
    linked.add(name)
    return f"source/{name}.txt"


def api() -> str:
    """The public names of ``verify``: each with its signature, what its docstring says, and its public methods."""
    import verify

    parts = ["# Python\n", f"{verify.__doc__}\n"]
    for name in verify.__all__:
        parts += _described(f"verify.{name}", getattr(verify, name), "##")
    return "\n".join(parts) + "\n"


def _described(name: str, thing: Any, heading: str) -> Iterator[str]:
    yield f"{heading} `{name}`\n"
    is_model = inspect.isclass(thing) and hasattr(thing, "model_fields")
    if not is_model and not (inspect.isclass(thing) and issubclass(thing, Exception)):
        yield f"```python\n{name}{_signature(thing)}\n```\n"
    yield from _sections(inspect.cleandoc(thing.__doc__ or ""))
    if inspect.isclass(thing):
        for key, method in list(vars(thing).items()):
            told = method.fget if isinstance(method, property) else getattr(method, "__func__", method)
            if not key.startswith(("_", "model_")) and inspect.isfunction(told) and told.__doc__:
                yield from _described(f"{name.rpartition('.')[2]}.{key}", told, f"{heading}#")


def _signature(thing: Any) -> str:
    """On one line where it is short, else a parameter a line."""
    shown = inspect.signature(thing)
    line = str(shown).replace("'", "")
    if len(line) <= 70:
        return line
    parameters = [p for p in shown.parameters.values() if p.name not in ("self", "cls")]
    rows, keyword = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword:
            rows.append("    *,")
            keyword = True
        rows.append(f"    {parameter},".replace("'", ""))
    _, arrow, returns = line.rpartition(") -> ")
    return "\n".join(["(", *rows, f"{arrow}{returns}" if arrow else ")"])


def _sections(text: str) -> Iterator[str]:
    """A docstring as Markdown: its words, ``Args`` and the like as lists, examples as code."""
    text = re.sub(r":[a-z]+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")
    for block in re.split(r"\n(?=(?:Args|Returns|Raises|Yields|Example|Source):\n)", text):
        title, _, body = block.partition(":\n")
        if title == "Example":
            yield f"Example:\n\n```pycon\n{inspect.cleandoc(body)}\n```\n"
        elif title in ("Args", "Raises"):
            rows = re.findall(r"^ {4}([\w-]+): (.+(?:\n {5,}.+)*)", body, re.M)
            listed = [f"- `{name}`: {' '.join(told.split())}" for name, told in rows]
            yield "\n".join([f"{title}:\n", *listed, ""])
        elif title in ("Returns", "Yields", "Source"):
            yield f"{title}: {' '.join(body.split())}\n"
        else:
            yield f"{block}\n"
