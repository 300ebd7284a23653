"""Where implementations are compared, how large the numbers there are, and how exactly they can be asked for."""
