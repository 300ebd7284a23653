"""Conformance of other implementations: where they deviate, what the deviation is, the smallest case that shows it."""

from __future__ import annotations

from verify.conformance.judge import conform, write
from verify.conformance.model import Conformance, Diagnosis, Match, Reproduction, StageFinding

__all__ = ["Conformance", "Diagnosis", "Match", "Reproduction", "StageFinding", "conform", "write"]
