"""Refutations: the smallest problem that breaks a claim, decided in exact arithmetic and derived by hand."""

from __future__ import annotations

from verify.refutation.search import Refutation, minimal_counterexample, refutable

__all__ = ["Refutation", "minimal_counterexample", "refutable"]
