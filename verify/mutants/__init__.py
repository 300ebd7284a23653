"""A catalogue of wrong implementations: each with what it does wrong, what a user would see, and what must catch it."""

from __future__ import annotations

from verify.mutants.catalogue import CATALOGUE, by_id, find
from verify.mutants.entry import BugType, Catch, Mutant, Stage

__all__ = ["CATALOGUE", "BugType", "Catch", "Mutant", "Stage", "by_id", "find"]
