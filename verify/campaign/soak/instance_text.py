"""An instance as the text of a TOML file, such as those of ``spec/instances``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from spec.atlas import Instance
from spec.exact import parse_entry, to_json_value
from spec.files import BY_US


def instance_text(instance: Instance, purpose: str, comment: str = "") -> str:
    """The file's text: a comment, the purpose, the point and the problem, exact."""
    comment_lines = ["".join(c if c.isprintable() else " " for c in line) for line in comment.splitlines()]
    lines = [BY_US, *(f"# {line}" for line in comment_lines), ""]
    lines += [f"purpose = {json.dumps(purpose, ensure_ascii=False)}"]
    lines += [
        f"x = {_value([to_json_value(parse_entry(value)) for value in instance.x])}",
        "",
        *_table("problem", _sparse(instance)),
    ]
    return "\n".join(lines) + "\n"


def _sparse(instance: Instance) -> dict[str, Any]:
    """The problem without blocks that are zero and need not be there."""
    data = instance.problem.to_dict()
    for part, blocks in data.items():
        if part in ("f", "g", "constraints"):
            needed = {"g": ("yy",), "constraints": ("A", "B")}.get(part, ())
            data[part] = {name: block for name, block in blocks.items() if name in needed or not _is_zero(block)}
    return {part: block for part, block in data.items() if block != {}}


def _is_zero(block: Any) -> bool:
    return all(map(_is_zero, block)) if isinstance(block, list) else block == 0


def _table(name: str, data: dict[str, Any]) -> Iterator[str]:
    yield f"[{name}]"
    yield from (f"{key} = {_value(value)}" for key, value in data.items() if not isinstance(value, dict))
    for key, value in data.items():
        if isinstance(value, dict):
            yield ""
            yield from _table(f"{name}.{key}", value)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
