"""A problem solved: the run with its settings, and what its steps certify."""
