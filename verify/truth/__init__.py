"""What must come out: ground truth by exact algebra, derived from the formulas, never taken from the reference."""
