"""How quantities scale: exponents, orders at a limit, laws that bend, and why a rate is left undecided."""
