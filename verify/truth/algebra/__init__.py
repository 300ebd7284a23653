"""Numbers that do not round: rationals, rational functions, roots, balls."""
