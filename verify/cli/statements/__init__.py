"""Commands on what the paper says: its claims, its source, and the proofs of both."""
