"""Values with a proven error: balls, the true pair, and what one estimate is off by."""
