"""Checks, one module a claim: each spends the claim's premises and measures its conclusion."""
