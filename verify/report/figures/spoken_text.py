"""Texts for readers who hear a page: a drawing's label has no tags to set an index or a power with."""

from __future__ import annotations

import re

from markupsafe import Markup

from spec.formulas.powers import superscript
from verify.report.wording import typeset

_INDEX = re.compile(r"<sub>([^<]*)</sub>")
_POWER = re.compile(r"<sup>([^<]*)</sup>")
_NUMBER = re.compile(r"[−-]?\d+(?:[./]\d+)?")


def heard(text: str) -> str:
    """The text without signs that only a typesetter reads: ``N_g`` is heard as ``N g``, ``1e-06`` as ``10⁻⁶``."""
    shown = _INDEX.sub(r" \1", str(typeset(text)))
    return Markup(_POWER.sub(_raised, shown)).striptags()  # as it was escaped


def _raised(match: re.Match[str]) -> str:
    power = match[1]
    return superscript(power.replace("−", "-")) if _NUMBER.fullmatch(power) else f" to the {power}"
