"""Algorithm 1 at speed: beside the pages, and held to them."""

from __future__ import annotations

from f2csa_ref.fast.batched import BatchedEstimate, BatchedOracle
from f2csa_ref.fast.oracle import Estimate, FastOracle

__all__ = ["BatchedEstimate", "BatchedOracle", "Estimate", "FastOracle"]
