"""What the numbers show, with their error rates: evidence, decisions about sampled quantities, rates."""
