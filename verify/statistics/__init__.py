"""Decisions about sampled quantities with known error rates: budget, laws, sequences, rates, sampling."""

from __future__ import annotations

from verify.statistics.budget import POWER, TOTAL_ERROR, Share, enforce, full_run_decisions, share
from verify.statistics.decisions import MeanDecision, SquareDecision, VarianceDecision
from verify.statistics.laws import SquareLaw
from verify.statistics.moments import Moments
from verify.statistics.rates import Estimate, fit_power_law
from verify.statistics.sampling import BLOCK, Streams
from verify.statistics.sequential import EmpiricalBernstein, Looks

__all__ = [
    "BLOCK",
    "POWER",
    "TOTAL_ERROR",
    "EmpiricalBernstein",
    "Estimate",
    "Looks",
    "MeanDecision",
    "Moments",
    "Share",
    "SquareDecision",
    "SquareLaw",
    "Streams",
    "VarianceDecision",
    "enforce",
    "fit_power_law",
    "full_run_decisions",
    "share",
]
