"""Theorem Goldstein convergence, its proof and its geometry."""
