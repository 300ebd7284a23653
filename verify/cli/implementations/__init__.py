"""Commands for whoever writes an implementation: its skeleton, its judgement, its files."""
