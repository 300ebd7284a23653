"""What the formulas of statements come out as at a place: exactly, as an order in alpha, or in doubles with a bound."""
